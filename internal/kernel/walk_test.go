package kernel

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestWalk compares the elements a Walk visits with a plain nest of loops.
func TestWalk(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		rank := rng.IntN(5)
		dims := make([]int, rank)
		a, b := make([]int, rank), make([]int, rank)
		for i := range dims {
			dims[i] = rng.IntN(4)
			a[i] = rng.IntN(7) - 3
		}
		n := 1
		for i := rank - 1; i >= 0; i-- { // b is dense, so that axes do merge
			b[i] = n
			n *= max(dims[i], 1)
		}
		if rng.IntN(2) == 0 {
			copy(a, b)
		}
		var want [][2]int
		index := make([]int, rank)
		var nest func(axis int)
		nest = func(axis int) {
			if axis == rank {
				var at [2]int
				for i, x := range index {
					at[0] += x * a[i]
					at[1] += x * b[i]
				}
				want = append(want, at)
				return
			}
			for index[axis] = range dims[axis] {
				nest(axis + 1)
			}
		}
		nest(0)

		var w Walk
		w.Bind(dims, a, b)
		var got [][2]int
		for row := range w.Rows {
			var at [2]int
			w.Seek(row, at[:])
			for i := range w.Len {
				got = append(got, [2]int{at[0] + i*w.Inner[0], at[1] + i*w.Inner[1]})
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("shape %v strides %v %v:\ngot  %v\nwant %v", dims, a, b, got, want)
		}

		got = got[:0]
		for elem := 0; elem < len(want); {
			var at [2]int
			end := elem + 1 + rng.IntN(len(want)-elem)
			n := w.Locate(elem, end, at[:])
			if n < 1 || elem+n > end {
				t.Fatalf("shape %v: %d elements from %d on, of at most %d", dims, n, elem, end-elem)
			}
			for i := range n {
				got = append(got, [2]int{at[0] + i*w.Inner[0], at[1] + i*w.Inner[1]})
			}
			elem += n
		}
		if !slices.Equal(got, want) {
			t.Fatalf("shape %v strides %v %v: located\ngot  %v\nwant %v", dims, a, b, got, want)
		}
	}
}
