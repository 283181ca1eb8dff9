package pack

import "fmt"

// A Fault is a kind of mistake that [Check] finds in a placement.
type Fault string

const (
	FaultCount      Fault = "count"      // not one offset for each buffer
	FaultNegative   Fault = "negative"   // an offset below zero
	FaultMisaligned Fault = "misaligned" // an offset that is no multiple of the alignment
	FaultMoved      Fault = "moved"      // a fixed buffer elsewhere than at its offset
	FaultOutside    Fault = "outside"    // a buffer that ends beyond the capacity
	FaultOverlap    Fault = "overlap"    // two buffers share a byte while both are live
)

// A FaultError is what [Check] returns: the kind of fault and the buffers at fault.
type FaultError struct {
	Fault Fault
	A, B  int // input indices; B is -1 unless two buffers are at fault, A is -1 for FaultCount
	Text  string
}

func (e *FaultError) Error() string { return fmt.Sprintf("pack: %s: %s", e.Fault, e.Text) }

// Check says whether offsets, one for each buffer, are a placement of buffers
// within capacity bytes; a capacity of 0 is no limit. The error is a
// [*FaultError] about the first fault found, or a [*BufferError] about an input
// that has no meaning.
//
// It compares every buffer with every other, part by part, and shares nothing
// with the strategies.
func Check(buffers []Buffer, offsets []int64, capacity int64) error {
	if len(offsets) != len(buffers) {
		return &FaultError{FaultCount, -1, -1, fmt.Sprintf("%d offsets for %d buffers", len(offsets), len(buffers))}
	}
	for i, b := range buffers {
		name := bufferName(i, b.ID)
		o := offsets[i]
		if b.Start >= b.End || b.Size < 0 || b.Align < 0 {
			return &BufferError{i, b.ID, fmt.Sprintf("lifetime [%d, %d), size %d, alignment %d make no sense", b.Start, b.End, b.Size, b.Align)}
		}
		if o < 0 {
			return &FaultError{FaultNegative, i, -1, fmt.Sprintf("buffer %s is at offset %d", name, o)}
		}
		if b.Align > 1 && o%b.Align != 0 {
			return &FaultError{FaultMisaligned, i, -1, fmt.Sprintf("buffer %s is at offset %d, no multiple of %d", name, o, b.Align)}
		}
		if b.Fixed && o != b.Offset {
			return &FaultError{FaultMoved, i, -1, fmt.Sprintf("buffer %s is at offset %d, fixed at %d", name, o, b.Offset)}
		}
		end := o + b.Size
		if end < o {
			return &FaultError{FaultOutside, i, -1, fmt.Sprintf("buffer %s at offset %d with %d bytes ends beyond 64 bits", name, o, b.Size)}
		}
		if capacity > 0 && end > capacity {
			return &FaultError{FaultOutside, i, -1, fmt.Sprintf("buffer %s ends at %d, beyond the capacity of %d bytes", name, end, capacity)}
		}
	}
	for i := range buffers {
		for j := range i {
			for _, a := range pieces(&buffers[i]) {
				for _, b := range pieces(&buffers[j]) {
					sameTime := a.Start < b.End && b.Start < a.End
					aLower, aUpper := offsets[i]+a.Lower, offsets[i]+a.Upper
					bLower, bUpper := offsets[j]+b.Lower, offsets[j]+b.Upper
					empty := aLower == aUpper || bLower == bUpper
					if sameTime && !empty && aLower < bUpper && bLower < aUpper {
						return &FaultError{FaultOverlap, j, i, fmt.Sprintf(
							"buffers %s and %s share the bytes [%d, %d) during [%d, %d)",
							bufferName(j, buffers[j].ID), bufferName(i, buffers[i].ID),
							max(aLower, bLower), min(aUpper, bUpper), max(a.Start, b.Start), min(a.End, b.End))}
					}
				}
			}
		}
	}
	return nil
}

// pieces returns the parts of b, or the one that stands for all of it.
func pieces(b *Buffer) []Part {
	if len(b.Parts) > 0 {
		return b.Parts
	}
	return []Part{{b.Start, b.End, 0, b.Size}}
}
