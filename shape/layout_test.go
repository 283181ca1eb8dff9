package shape_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth/shape"
)

func TestDense(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		s := randomLayout(rng, 4, 4).Shape
		for i, at := range elements(shape.Dense(s)) {
			if at != i {
				t.Fatalf("element %d of dense %v lies at %d", i, s, at)
			}
		}
	}
}

// TestDenseAxes finds the dense axes by looking at the elements: the inner
// axes are dense when, with the outer indices at 0, they count up by one.
func TestDenseAxes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		l := randomLayout(rng, 4, 4)
		rank := len(l.Shape)
		want := rank
		if !slices.Contains(l.Shape, 0) {
			for want = 0; want < rank; want++ {
				inner := shape.Layout{Shape: l.Shape[rank-1-want:], Strides: l.Strides[rank-1-want:]}
				if !counts(elements(inner)) {
					break
				}
			}
		}
		if got := l.DenseAxes(); got != want || l.IsDense() != (want == rank) {
			t.Fatalf("%v has %d dense axes (dense: %v), want %d", l, got, l.IsDense(), want)
		}
	}
}

func counts(at []int) bool {
	for i, x := range at {
		if x != i {
			return false
		}
	}
	return true
}

func TestLayoutEqual(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for range 20000 {
		l := randomLayout(rng, 3, 3)
		m := shape.Layout{Shape: l.Shape.Clone(), Strides: slices.Clone(l.Strides), Offset: l.Offset}
		for a := range m.Strides {
			if rng.IntN(2) == 0 {
				m.Strides[a] = rng.IntN(5) - 1
			}
		}
		if rng.IntN(4) == 0 {
			m.Offset++
		}
		if got, want := l.Equal(m), slices.Equal(elements(l), elements(m)); got != want {
			t.Fatalf("%v equals %v: %v, want %v", l, m, got, want)
		}
		if len(l.Shape) > 0 && l.Equal(shape.Layout{Shape: l.Shape[1:], Strides: l.Strides[1:], Offset: l.Offset}) {
			t.Fatalf("%v equals itself without an axis", l)
		}
	}
}

func TestBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 4))
	for range 20000 {
		l := randomLayout(rng, 4, 4)
		at := elements(l)
		lo, hi := 0, 0
		if len(at) > 0 {
			lo, hi = slices.Min(at), slices.Max(at)+1
		}
		if gotLo, gotHi := l.Bounds(); gotLo != lo || gotHi != hi {
			t.Fatalf("bounds of %v are [%d, %d), want [%d, %d)", l, gotLo, gotHi, lo, hi)
		}
	}
}

func TestWithin(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	for range 20000 {
		l := randomLayout(rng, 4, 4)
		lo, hi := l.Bounds()
		n := rng.IntN(40)
		if rng.IntN(2) == 0 {
			n = max(hi-rng.IntN(2), 0)
		}
		want := lo >= 0 && hi <= n
		if err := l.Within(n); want != (err == nil) {
			t.Fatalf("%v within %d elements: %v, want %v", l, n, err, want)
		}
	}
	s := shape.Shape{3, 3}
	for _, l := range []shape.Layout{
		{Shape: s, Strides: []int{1}},
		{Shape: shape.Shape{-1}, Strides: []int{1}},
		{Shape: s, Strides: []int{math.MaxInt, 1}},
		{Shape: s, Strides: []int{math.MinInt, 1}, Offset: 9},
		{Shape: s, Strides: []int{math.MaxInt/2 + 1, math.MaxInt/2 + 1}}, // the bounds overflow to [0, 1)
		{Shape: s, Strides: []int{3, 1}, Offset: math.MaxInt},
		{Shape: s, Strides: []int{3, 1}, Offset: math.MinInt},
		{Shape: shape.Shape{1}, Strides: []int{1}, Offset: 10},
	} {
		if err := l.Within(10); err == nil {
			t.Errorf("%v is within 10 elements", l)
		}
	}
	if err := (shape.Layout{Shape: shape.Shape{0}, Strides: []int{1}, Offset: 99}).Within(0); err != nil {
		t.Errorf("an empty layout: %v", err)
	}
}

func TestAt(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	for range 500 {
		l := randomLayout(rng, 4, 4)
		at := elements(l)
		eachIndex(l.Shape, func(index []int) {
			if got := l.At(index...); got != at[0] {
				t.Fatalf("%v at %v is %d, want %d", l, index, got, at[0])
			}
			at = at[1:]
		})
	}
}

func TestPermute(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 6))
	for range 5000 {
		l := randomLayout(rng, 4, 4)
		perm := rng.Perm(len(l.Shape))
		got, err := l.Permute(perm)
		if err != nil {
			t.Fatal(err)
		}
		eachIndex(got.Shape, func(index []int) {
			from := make([]int, len(index))
			for i, p := range perm {
				from[p] = index[i]
			}
			if got.At(index...) != l.At(from...) {
				t.Fatalf("%v permuted by %v is %v: element %v is not element %v", l, perm, got, index, from)
			}
		})
	}
	l := shape.Dense(shape.Shape{2, 3, 4})
	for _, perm := range [][]int{nil, {0, 1}, {0, 1, 2, 3}, {0, 1, 1}, {0, 1, 3}, {-1, 0, 1}} {
		if got, err := l.Permute(perm); err == nil {
			t.Errorf("permutation %v of %v: no error, but %v", perm, l, got)
		}
	}
}

// TestSlice tries every start, count and step around every small axis.
func TestSlice(t *testing.T) {
	for d := range 5 {
		l := shape.Layout{Shape: shape.Shape{2, d}, Strides: []int{7, -3}, Offset: 50}
		for start := -2; start < 7; start++ {
			for n := -1; n < 7; n++ {
				for _, step := range []int{-6, -2, -1, 0, 1, 2, 3, math.MinInt, math.MaxInt} {
					got, err := l.Slice(1, start, n, step)
					if valid := inAxis(start, n, step, d); valid != (err == nil) {
						t.Fatalf("%d elements from %d by %d of an axis of %d: %v, want valid %v", n, start, step, d, err, valid)
					} else if !valid {
						continue
					}
					if !got.Shape.Equal(shape.Shape{2, n}) {
						t.Fatalf("shape %v, want [2 %d]", got.Shape, n)
					}
					eachIndex(got.Shape, func(i []int) {
						if got.At(i...) != l.At(i[0], start+i[1]*step) {
							t.Fatalf("%d elements from %d by %d of %v: %v has the wrong element %v", n, start, step, l, got, i)
						}
					})
				}
			}
		}
	}
	for _, axis := range []int{-1, 2} {
		if _, err := shape.Dense(shape.Shape{2, 3}).Slice(axis, 0, 1, 1); err == nil {
			t.Errorf("no error for axis %d", axis)
		}
	}
}

// inAxis says whether the elements start, start+step, ... exist, one by one.
func inAxis(start, n, step, d int) bool {
	if n < 0 || n > d || step == 0 {
		return false
	}
	for i, at := 0, start; i < n; i++ {
		if at < 0 || at >= d {
			return false
		}
		if next := at + step; (next > at) != (step > 0) {
			return i == n-1 // overflow: far outside
		} else {
			at = next
		}
	}
	return true
}

func TestBroadcastTo(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	for range 20000 {
		l := randomLayout(rng, 3, 4)
		to := randomLayout(rng, 4, 4).Shape
		if rng.IntN(2) == 0 { // make it fit more often
			to = append(to, l.Shape...)
			for a := range l.Shape {
				if l.Shape[a] == 1 {
					to[len(to)-len(l.Shape)+a] = rng.IntN(4)
				}
			}
		}
		common, err := shape.Broadcast(l.Shape, to)
		valid := err == nil && common.Equal(to)
		got, err := l.BroadcastTo(to)
		if valid != (err == nil) {
			t.Fatalf("%v to %v: %v, want valid %v", l, to, err, valid)
		} else if !valid {
			continue
		}
		eachIndex(to, func(i []int) {
			from := slices.Clone(i[len(to)-len(l.Shape):])
			for a, d := range l.Shape {
				if d == 1 {
					from[a] = 0
				}
			}
			if got.At(i...) != l.At(from...) {
				t.Fatalf("%v to %v is %v: element %v is wrong", l, to, got, i)
			}
		})
	}
	for _, to := range []shape.Shape{{-1}, {shape.MaxElems, shape.MaxElems}} {
		if got, err := shape.Dense(shape.Shape{1}).BroadcastTo(to); err == nil {
			t.Errorf("no error for %v, but %v", to, got)
		}
	}
}

// TestReshape searches for strides by brute force: Reshape must find a layout
// exactly when there is one.
func TestReshape(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 8))
	found, none := 0, 0
	for range 40000 {
		l := randomLayout(rng, 4, 4)
		to := regroup(rng, l.Shape.Elems())
		got, ok := l.Reshape(to)
		want := elements(l)
		if ok {
			found++
			if !got.Shape.Equal(to) || !slices.Equal(elements(got), want) {
				t.Fatalf("%v reshaped to %v is %v, whose elements are others", l, to, got)
			}
			continue
		}
		none++
		if s, exists := stridesFor(to, want); exists {
			t.Fatalf("%v has no reshape to %v, but strides %v make one", l, to, s)
		}
	}
	if found < 1000 || none < 1000 {
		t.Errorf("%d layouts found, %d not: the test is one-sided", found, none)
	}
}

// stridesFor returns strides under which the elements of s lie at the given
// places. The stride of an axis can only be the distance between its first
// two elements.
func stridesFor(s shape.Shape, at []int) ([]int, bool) {
	strides := make([]int, len(s))
	if len(at) == 0 {
		return strides, true
	}
	behind := 1 // elements of the axes behind
	for a := len(s) - 1; a >= 0; a-- {
		if s[a] > 1 {
			strides[a] = at[behind] - at[0]
		}
		behind *= s[a]
	}
	return strides, slices.Equal(elements(shape.Layout{Shape: s, Strides: strides, Offset: at[0]}), at)
}

// regroup returns a random shape with n elements.
func regroup(rng *rand.Rand, n int) shape.Shape {
	s := shape.Shape{}
	if n == 0 {
		s = append(s, rng.IntN(3), 0, rng.IntN(3))
		return s
	}
	for n > 1 || rng.IntN(3) == 0 {
		if d := 1 + rng.IntN(min(n, 12)); n%d == 0 {
			s = append(s, d)
			n /= d
		}
	}
	return s
}

func TestReshapeWrongCount(t *testing.T) {
	l := shape.Dense(shape.Shape{2, 3})
	for _, s := range []shape.Shape{nil, {5}, {2, 3, 0}, {7}, {-2, -3}} {
		if got, ok := l.Reshape(s); ok {
			t.Errorf("%v reshaped to %v: %v", l, s, got)
		}
	}
}

// TestViewsShareNothing changes what a view returns and looks at its source.
func TestViewsShareNothing(t *testing.T) {
	l := shape.Dense(shape.Shape{2, 3})
	views := map[string]func() (shape.Layout, error){
		"permute":   func() (shape.Layout, error) { return l.Permute([]int{0, 1}) },
		"slice":     func() (shape.Layout, error) { return l.Slice(0, 0, 2, 1) },
		"broadcast": func() (shape.Layout, error) { return l.BroadcastTo(shape.Shape{2, 3}) },
		"reshape": func() (shape.Layout, error) {
			v, _ := l.Reshape(shape.Shape{2, 3})
			return v, nil
		},
	}
	for name, view := range views {
		v, err := view()
		if err != nil {
			t.Fatal(err)
		}
		v.Shape[0], v.Strides[0] = 99, 99
		if !l.Equal(shape.Dense(shape.Shape{2, 3})) {
			t.Errorf("changing the result of %s changed its source to %v", name, l)
		}
	}
	if got, want := l.String(), "[2 3]:[3 1]+0"; got != want {
		t.Errorf("printed as %s, want %s", got, want)
	}
}
