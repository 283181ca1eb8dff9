package schedule

import (
	"fmt"
	"math"
	"slices"
)

// A Problem is a directed acyclic graph of steps and the values between them.
type Problem struct {
	// Steps is the number of steps; they are numbered from 0.
	Steps int
	// Seed is the order to compare with, a permutation of the steps in which
	// every value is written before it is read; nil is 0, 1, 2, ...
	Seed []int
	// Values are what the steps write and read.
	Values []Value
	// After lists, for each step, further steps that must have run before it.
	// It may be shorter than Steps.
	After [][]int
}

// A Value is a block of bytes that steps write and read. It is alive from the
// first of the steps that touch it, which are Writer, Readers and Also, to the
// last.
type Value struct {
	// Bytes is the size.
	Bytes int64
	// Writer is the step that writes the value, or -1 for what exists before
	// the program and costs nothing.
	Writer int
	// Readers are the steps that read the value, directly or through a view.
	// Each must come after Writer.
	Readers []int
	// Also lists further steps that need the bytes, such as those that write
	// parts of a concatenation in place, and those that read such a part.
	// They may come before Writer or after it.
	Also []int
	// Kept says that the value is never freed.
	Kept bool
	// Over lists values whose bytes this one may take over, best first: the
	// first of them that has just as many bytes, dies in the step that first
	// touches this value, is not kept, and is not taken by another value.
	Over []int
}

// validate reports what is wrong with p.
func (p *Problem) validate() error {
	if p.Steps < 0 || p.Steps > math.MaxInt32 {
		return fmt.Errorf("schedule: %d steps", p.Steps)
	}
	if len(p.After) > p.Steps {
		return fmt.Errorf("schedule: After has entries for %d steps, there are %d", len(p.After), p.Steps)
	}
	for s, list := range p.After {
		for _, before := range list {
			if before < 0 || before >= p.Steps {
				return fmt.Errorf("schedule: step %d is to come after step %d of %d", s, before, p.Steps)
			}
		}
	}
	total := int64(0)
	for i := range p.Values {
		v := &p.Values[i]
		if v.Bytes < 0 {
			return fmt.Errorf("schedule: value %d has %d bytes", i, v.Bytes)
		}
		if total > math.MaxInt64/4-v.Bytes {
			return fmt.Errorf("schedule: the sizes of the values overflow at value %d, of %d bytes", i, v.Bytes)
		}
		total += v.Bytes
		if v.Writer < -1 || v.Writer >= p.Steps {
			return fmt.Errorf("schedule: value %d is written by step %d of %d", i, v.Writer, p.Steps)
		}
		for _, s := range slices.Concat(v.Readers, v.Also) {
			if s < 0 || s >= p.Steps {
				return fmt.Errorf("schedule: value %d is touched by step %d of %d", i, s, p.Steps)
			}
		}
		for _, o := range v.Over {
			if o < 0 || o >= len(p.Values) || o == i {
				return fmt.Errorf("schedule: value %d is to take over value %d of %d", i, o, len(p.Values))
			}
		}
	}
	return Check(p, p.seed())
}

// seed returns the order to compare with.
func (p *Problem) seed() []int {
	if p.Seed != nil {
		return p.Seed
	}
	return identity[int](p.Steps)
}
