package shape_test

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth/shape"
	"pgregory.net/rapid"
)

func TestShapeCheck(t *testing.T) {
	const root = 1 << (bits.UintSize/2 - 4) // the power of 2 next to the root of MaxElems
	for _, s := range []shape.Shape{nil, {}, {0}, {3, 0, 2}, {1, 1, 1}, {shape.MaxElems}, {shape.MaxElems, 1, 0}, {root, root}} {
		if err := s.Check(); err != nil {
			t.Errorf("%v: %v", s, err)
		}
	}
	for _, c := range []struct {
		s    shape.Shape
		want string
	}{
		{shape.Shape{2, -1}, "axis 1 has the negative extent -1"},
		{shape.Shape{math.MinInt}, "negative"},
		{shape.Shape{shape.MaxElems + 1}, "more than"},
		{shape.Shape{2 * root, root}, "more than"},
		{shape.Shape{16 * root, 16 * root}, "more than"}, // whose product an int would hold as 0
		{shape.Shape{math.MaxInt, math.MaxInt, math.MaxInt}, "more than"},
		{shape.Shape{0, shape.MaxElems, shape.MaxElems}, "more than"},
		{shape.Shape{shape.MaxElems, shape.MaxElems, 0}, "more than"},
	} {
		if err := c.s.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want one with %q", c.s, err, c.want)
		}
	}
}

func TestShapeElems(t *testing.T) {
	for _, c := range []struct {
		s    shape.Shape
		want int
		text string
	}{{nil, 1, "[]"}, {shape.Shape{0}, 0, "[0]"}, {shape.Shape{2, 3, 4}, 24, "[2 3 4]"}, {shape.Shape{5, 0}, 0, "[5 0]"}} {
		if got := c.s.Elems(); got != c.want {
			t.Errorf("%v has %d elements, want %d", c.s, got, c.want)
		}
		if got := c.s.String(); got != c.text {
			t.Errorf("printed as %s, want %s", got, c.text)
		}
	}
}

func TestShapeClone(t *testing.T) {
	s := shape.Shape{1, 2}
	c := s.Clone()
	c[0] = 9
	if s[0] != 1 || !s.Equal(shape.Shape{1, 2}) || s.Equal(c) || s.Equal(shape.Shape{1}) {
		t.Errorf("%v after its clone was changed to %v", s, c)
	}
}

func TestAxis(t *testing.T) {
	for rank := range 4 {
		for axis := -6; axis < 6; axis++ {
			got, err := shape.Axis(axis, rank)
			want := axis
			if axis < 0 {
				want += rank
			}
			if valid := want >= 0 && want < rank; valid != (err == nil) || valid && got != want {
				t.Errorf("axis %d of rank %d: %d, %v", axis, rank, got, err)
			}
		}
	}
}

func TestAxes(t *testing.T) {
	for _, c := range []struct {
		axes []int
		rank int
		want []int // nil: an error
	}{
		{nil, 3, []int{0, 1, 2}},
		{nil, 0, []int{}},
		{[]int{-1, 0}, 3, []int{0, 2}},
		{[]int{2, 1, 0}, 3, []int{0, 1, 2}},
		{[]int{1, -2}, 3, nil},
		{[]int{0}, 0, nil},
		{[]int{3}, 3, nil},
	} {
		got, err := shape.Axes(c.axes, c.rank)
		if (err == nil) != (c.want != nil) || err == nil && !slices.Equal(got, c.want) {
			t.Errorf("axes %v of rank %d: %v, %v, want %v", c.axes, c.rank, got, err, c.want)
		}
	}
}

// TestBroadcast compares with the rule as it is defined: pad with ones on the
// left, then every axis takes the one extent that is not 1.
func TestBroadcast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dims := rapid.SliceOfN(rapid.IntRange(0, 3), 0, 4)
		var shapes []shape.Shape
		rank := 0
		for range rapid.IntRange(0, 3).Draw(t, "n") {
			s := dims.Draw(t, "shape")
			shapes = append(shapes, s)
			rank = max(rank, len(s))
		}
		want, ok := make(shape.Shape, rank), true
		for a := range want {
			extents := map[int]bool{}
			for _, s := range shapes {
				if i := a - (rank - len(s)); i >= 0 && s[i] != 1 {
					extents[s[i]] = true
				}
			}
			want[a] = 1
			for d := range extents {
				want[a] = d
			}
			ok = ok && len(extents) < 2
		}
		got, err := shape.Broadcast(shapes...)
		if ok != (err == nil) || ok && !got.Equal(want) {
			t.Fatalf("%v: %v, %v, want %v", shapes, got, err, want)
		}
	})
}

func TestBroadcastLimits(t *testing.T) {
	if s, err := shape.Broadcast(shape.Shape{shape.MaxElems, 1}, shape.Shape{shape.MaxElems}); err == nil {
		t.Errorf("no error for 2^80 elements, but %v", s)
	}
	if s, err := shape.Broadcast(shape.Shape{-1}, shape.Shape{1}); err == nil {
		t.Errorf("no error for a negative extent, but %v", s)
	}
	_, err := shape.Broadcast(shape.Shape{2, 3}, shape.Shape{4, 1})
	if err == nil || !strings.Contains(err.Error(), "[2 3]") || !strings.Contains(err.Error(), "[4 1]") {
		t.Errorf("error %v does not name both shapes", err)
	}
}

// randomLayout returns a layout of small extents with any strides.
func randomLayout(rng *rand.Rand, maxRank, limit int) shape.Layout {
	rank := rng.IntN(maxRank + 1)
	l := shape.Layout{Shape: make(shape.Shape, rank), Strides: make([]int, rank), Offset: rng.IntN(20)}
	n := 1
	for a := rank - 1; a >= 0; a-- {
		l.Shape[a] = rng.IntN(limit)
		if rng.IntN(3) > 0 {
			l.Shape[a] = max(l.Shape[a], 1)
		}
		l.Strides[a] = n
		switch rng.IntN(6) {
		case 0:
			l.Strides[a] = 0
		case 1:
			l.Strides[a] = -n
		case 2:
			l.Strides[a] = rng.IntN(12) - 4
		}
		n *= max(l.Shape[a], 1)
	}
	return l
}

// elements lists where the elements of l lie, in row-major order.
func elements(l shape.Layout) []int {
	out := []int{}
	eachIndex(l.Shape, func(index []int) {
		at := l.Offset
		for a, i := range index {
			at += i * l.Strides[a]
		}
		out = append(out, at)
	})
	return out
}

func eachIndex(s shape.Shape, f func(index []int)) {
	index := make([]int, len(s))
	var nest func(axis int)
	nest = func(axis int) {
		if axis == len(s) {
			f(index)
			return
		}
		for index[axis] = range s[axis] {
			nest(axis + 1)
		}
	}
	nest(0)
}
