package schedule

import (
	"fmt"
	"slices"
)

// Check reports whether order is a permutation of the steps of p in which every
// value is written before it is read, and every step comes after those it must
// follow. It shares no code with what chooses orders.
func Check(p *Problem, order []int) error {
	if len(order) != p.Steps {
		return fmt.Errorf("schedule: an order of %d steps, of %d", len(order), p.Steps)
	}
	position := make([]int, p.Steps)
	for s := range position {
		position[s] = -1
	}
	for i, s := range order {
		if s < 0 || s >= p.Steps {
			return fmt.Errorf("schedule: step %d of %d, at position %d", s, p.Steps, i)
		}
		if position[s] >= 0 {
			return fmt.Errorf("schedule: step %d is at positions %d and %d", s, position[s], i)
		}
		position[s] = i
	}
	for i := range p.Values {
		v := &p.Values[i]
		if v.Writer < 0 {
			continue
		}
		for _, r := range v.Readers {
			if position[r] <= position[v.Writer] {
				return fmt.Errorf("schedule: value %d is read by step %d, at position %d, and written by step %d, at position %d",
					i, r, position[r], v.Writer, position[v.Writer])
			}
		}
	}
	for s, list := range p.After {
		for _, before := range list {
			if position[s] <= position[before] {
				return fmt.Errorf("schedule: step %d, at position %d, is to come after step %d, at position %d",
					s, position[s], before, position[before])
			}
		}
	}
	return nil
}

// Peak returns the most bytes alive at once when the steps run in the given
// order, which must be a valid one.
func Peak(p *Problem, order []int) int64 {
	peak := int64(0)
	for _, b := range Profile(p, order) {
		peak = max(peak, b)
	}
	return peak
}

// Profile returns the bytes alive at each position of an order, which must be a
// valid one: those of the values that are touched no later and no earlier than
// there, less those that a value takes over there.
func Profile(p *Problem, order []int) []int64 {
	position := make([]int, p.Steps)
	for i, s := range order {
		position[s] = i
	}
	first, last := make([]int, len(p.Values)), make([]int, len(p.Values))
	for i := range p.Values {
		v := &p.Values[i]
		if v.Writer < 0 {
			continue
		}
		first[i], last[i] = position[v.Writer], position[v.Writer]
		for _, s := range slices.Concat(v.Readers, v.Also) {
			first[i], last[i] = min(first[i], position[s]), max(last[i], position[s])
		}
		if v.Kept {
			last[i] = p.Steps
		}
	}

	change := make([]int64, p.Steps+2)
	for i := range p.Values {
		if v := &p.Values[i]; v.Writer >= 0 {
			change[first[i]] += v.Bytes
			change[last[i]+1] -= v.Bytes
		}
	}
	alive := make([]int64, p.Steps)
	sum := int64(0)
	for i := range alive {
		sum += change[i]
		alive[i] = sum
	}

	taken := make([]bool, len(p.Values))
	for i := range p.Values {
		v := &p.Values[i]
		if v.Writer < 0 {
			continue
		}
		for _, o := range v.Over {
			over := &p.Values[o]
			if over.Writer >= 0 && over.Bytes == v.Bytes && !taken[o] && last[o] == first[i] {
				alive[first[i]] -= v.Bytes
				taken[o] = true
				break
			}
		}
	}
	return alive
}
