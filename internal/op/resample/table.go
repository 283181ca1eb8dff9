package resample

import (
	"math"
	"slices"

	"github.com/berth-go/berth/internal/kernel"
)

// A table lists, for each element of the output's axis, the elements of the input
// that count, with their weights: numbers first[j] to first[j+1], half open. None
// means that the element lies outside the input.
type table[A kernel.Float] struct {
	first  []int
	at     []int // strides included
	weight []A   // the sum for each element is 1
	plain  bool  // element j is element j of the input
}

// bind makes the table of an axis whose elements in the input are a stride apart.
func (t *table[A]) bind(p *placement, stride int) {
	// As many as any axis that is no longer has, so that a later bind allocates nothing:
	// twice the reach and one more for each element of the output, and the scale is
	// out/in but for half an element.
	most := 8*p.in + 4*p.out
	t.first = append(slices.Grow(t.first[:0], p.out+1), 0)
	t.at, t.weight = slices.Grow(t.at[:0], most), slices.Grow(t.weight[:0], most)
	t.plain = p.in == p.out
	for j := range p.out {
		switch x := p.place(j); {
		case p.outside(x):
			t.plain = false
		case p.Mode == Nearest:
			t.add(p.nearest(x), 1)
		default:
			t.around(p, x)
		}
		from := t.first[j]
		t.first = append(t.first, len(t.at))
		t.plain = t.plain && len(t.at) == from+1 && t.at[from] == j
	}
	for i := range t.at {
		t.at[i] *= stride
	}
}

// add appends an element that counts for the next one of the output.
func (t *table[A]) add(element int, weight float64) {
	t.at, t.weight = append(t.at, element), append(t.weight, A(weight))
}

// around adds the elements around a place. Those outside the input count as the
// one at its end.
func (t *table[A]) around(p *placement, x float64) {
	// All places that far outside are the same, and floats count reliably there.
	x = min(max(x, -1-p.reach()), float64(p.in)+p.reach())
	low, high := math.Ceil(x-p.reach()), math.Floor(x+p.reach())
	last := float64(p.in - 1)
	sum := 0.0
	for i := low; i <= high; i++ {
		if !p.exclude || i >= 0 && i <= last {
			sum += p.weight(i - x)
		}
	}
	if sum == 0 {
		t.add(p.inside(x), 1)
		return
	}
	for i := low; i <= high; {
		element := p.inside(i)
		weight := 0.0
		for ; i <= high && p.inside(i) == element; i++ {
			if !p.exclude || i >= 0 && i <= last {
				weight += p.weight(i - x)
			}
		}
		if weight != 0 {
			t.add(element, weight/sum)
		}
	}
}
