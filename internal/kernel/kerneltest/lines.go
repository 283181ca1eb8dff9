package kerneltest

import (
	"math/rand/v2"
	"slices"

	"github.com/berth-go/berth/shape"
)

// LinesOf lists the elements of a tensor line by line: for each index of the
// axes not in along, in row-major order, the row-major numbers of the
// elements with that index.
func LinesOf(dims []int, along ...int) [][]int {
	lines := make([][]int, shape.Shape(Without(dims, along, false)).Elems())
	e := 0
	ForEachIndex(dims, func(index []int) {
		line := Flat(Without(dims, along, false), Without(index, along, false))
		lines[line] = append(lines[line], e)
		e++
	})
	return lines
}

// LineShape returns a random shape of at least minRank axes, now and then
// with an axis long enough for several blocks of an accumulation.
func LineShape(rng *rand.Rand, minRank int) []int {
	dims := Shape(rng, 4, 8)
	for len(dims) < minRank {
		dims = append(dims, Extent(rng, 12))
	}
	if len(dims) > 0 && rng.IntN(3) == 0 {
		long := [...]int{65, 200, 513, 1100, 2100}
		dims[rng.IntN(len(dims))] = long[rng.IntN(len(long))]
		for shape.Shape(dims).Elems() > 20000 {
			dims[slices.Index(dims, slices.Min(withoutOne(dims)))] = 1
		}
	}
	return dims
}

func withoutOne(dims []int) []int {
	return slices.DeleteFunc(slices.Clone(dims), func(d int) bool { return d == 1 })
}

// Without returns dims, or an index, with the given axes gone, or of extent 1, as a reduction
// leaves them.
func Without(dims, axes []int, keep bool) []int {
	out := []int{}
	for a, d := range dims {
		switch {
		case !slices.Contains(axes, a):
			out = append(out, d)
		case keep:
			out = append(out, 1)
		}
	}
	return out
}

// SomeAxes returns a random subset of the axes of a rank.
func SomeAxes(rng *rand.Rand, rank int) []int {
	axes := rng.Perm(rank)[:rng.IntN(rank+1)]
	slices.Sort(axes)
	return axes
}

// SomeDense returns for operands of a rank how many trailing axes to make
// dense, so that fast paths are met as often as general ones.
func SomeDense(rng *rand.Rand, rank int) int {
	if rng.IntN(2) == 0 {
		return rank
	}
	return rng.IntN(rank + 1)
}
