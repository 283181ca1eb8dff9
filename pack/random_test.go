package pack

import (
	"math/rand/v2"
	"strconv"
)

// A shape says what random problems are made of.
type shape struct {
	n            int   // buffers
	time         int64 // lifetimes are within [0, time)
	life         int64 // and at most this long
	size         int64 // at most
	aligns       []int64
	parts, fixed bool
}

var shapes = map[string]shape{
	"plain":      {n: 5, time: 6, life: 4, size: 4},
	"aligned":    {n: 5, time: 5, life: 4, size: 4, aligns: []int64{1, 2, 4}},
	"equal":      {n: 5, time: 5, life: 4, size: 5, aligns: []int64{2}},
	"parts":      {n: 4, time: 5, life: 5, size: 4, parts: true},
	"fixed":      {n: 5, time: 5, life: 4, size: 4, fixed: true},
	"everything": {n: 4, time: 5, life: 5, size: 4, aligns: []int64{1, 2}, parts: true, fixed: true},
}

// random makes a problem of this shape. Fixed offsets do not contradict each
// other: they are taken from a first fit.
func (s shape) random(rng *rand.Rand) []Buffer {
	buffers := make([]Buffer, s.n)
	for i := range buffers {
		b := &buffers[i]
		b.ID = strconv.Itoa(i)
		b.Start = rng.Int64N(s.time)
		b.End = b.Start + 1 + rng.Int64N(min(s.life, s.time-b.Start))
		b.Size = rng.Int64N(s.size + 1)
		if len(s.aligns) > 0 {
			b.Align = s.aligns[rng.IntN(len(s.aligns))]
		}
		if s.parts && rng.IntN(2) == 0 {
			for range 1 + rng.IntN(3) {
				p := Part{Start: b.Start + rng.Int64N(b.End-b.Start), Lower: rng.Int64N(b.Size + 1)}
				p.End = p.Start + 1 + rng.Int64N(b.End-p.Start)
				p.Upper = p.Lower + rng.Int64N(b.Size-p.Lower+1)
				b.Parts = append(b.Parts, p)
			}
		}
	}
	if s.fixed {
		p, err := newProblem(buffers)
		if err != nil {
			panic(err)
		}
		offsets := fitInOrder(p, identity(len(buffers)))
		for i, in := range p.inputs {
			if rng.IntN(4) == 0 {
				buffers[in].Fixed, buffers[in].Offset = true, offsets[i]
			}
		}
	}
	return buffers
}

// optimum is the smallest arena there is, by trying every offset of every
// buffer: obvious, and fit for a handful of small buffers.
func optimum(buffers []Buffer) int64 {
	for capacity := int64(0); ; capacity++ {
		if fits(buffers, make([]int64, 0, len(buffers)), capacity) {
			return capacity
		}
	}
}

// fits extends offsets of the first buffers to all of them.
func fits(buffers []Buffer, offsets []int64, capacity int64) bool {
	k := len(offsets)
	if k == len(buffers) {
		return true
	}
	b := buffers[k]
	for o := int64(0); o+b.Size <= capacity; o += max(b.Align, 1) {
		if b.Fixed && o != b.Offset {
			continue
		}
		clash := false
		for j := range k {
			clash = clash || collide(&buffers[j], offsets[j], &b, o)
		}
		if !clash && fits(buffers, append(offsets, o), capacity) {
			return true
		}
	}
	return false
}

// collide compares two buffers byte by byte and moment by moment.
func collide(a *Buffer, ao int64, b *Buffer, bo int64) bool {
	for time := max(a.Start, b.Start); time < min(a.End, b.End); time++ {
		for at := max(ao, bo); at < min(ao+a.Size, bo+b.Size); at++ {
			if occupies(a, time, at-ao) && occupies(b, time, at-bo) {
				return true
			}
		}
	}
	return false
}

func occupies(b *Buffer, time, at int64) bool {
	if len(b.Parts) == 0 {
		return true
	}
	for _, p := range b.Parts {
		if p.Start <= time && time < p.End && p.Lower <= at && at < p.Upper {
			return true
		}
	}
	return false
}

// shuffled returns the buffers in another order, and where each came from.
func shuffled(rng *rand.Rand, buffers []Buffer) ([]Buffer, []int) {
	from := rng.Perm(len(buffers))
	out := make([]Buffer, len(buffers))
	for i, k := range from {
		out[i] = buffers[k]
	}
	return out, from
}
