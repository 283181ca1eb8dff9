package pack

import "fmt"

// A CapacityError says that no placement within the capacity was found.
type CapacityError struct {
	Required   int64 // the smallest arena found, in bytes
	Capacity   int64 // the bytes that were available
	LowerBound int64 // no placement needs fewer bytes
	Proven     bool  // no placement within Capacity exists
}

func (e *CapacityError) Error() string {
	if e.Proven {
		return fmt.Sprintf("pack: capacity of %d bytes is too small: proven infeasible, best arena %d bytes, lower bound %d bytes",
			e.Capacity, e.Required, e.LowerBound)
	}
	return fmt.Sprintf("pack: capacity of %d bytes not reached: best arena %d bytes, lower bound %d bytes",
		e.Capacity, e.Required, e.LowerBound)
}

// A BufferError says what is wrong with one buffer of the input.
type BufferError struct {
	Index  int    // position in the input
	ID     string // its ID, may be empty
	Reason string
}

func (e *BufferError) Error() string {
	return fmt.Sprintf("pack: buffer %s: %s", bufferName(e.Index, e.ID), e.Reason)
}

// bufferName is how errors speak of a buffer.
func bufferName(index int, id string) string {
	if id == "" {
		return fmt.Sprintf("#%d", index)
	}
	return fmt.Sprintf("%q (#%d)", id, index)
}
