// Package find has functions whose results have as many elements as the data
// says. They are no ops: the extents of an op's result follow from its types.
//
// # Where to find what
//
//	find.go   elements that are not zero, elements that differ
//	boxes.go  boxes that do not overlap
package find

import (
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
)

// NonZero returns the places, in row-major order, of the elements of dense data
// that are not zero, of either sign. NaN is not zero, and true is not. It takes no
// types of low precision.
func NonZero(t dtype.Type, data []byte) []int64 {
	switch t.Size() {
	case 1:
		return nonZero(t, kernel.Cast[uint8](data))
	case 2:
		return nonZero(t, kernel.Cast[uint16](data))
	case 4:
		return nonZero(t, kernel.Cast[uint32](data))
	}
	return nonZero(t, kernel.Cast[uint64](data))
}

func nonZero[T kernel.Word](t dtype.Type, data []T) []int64 {
	places := []int64{}
	for i, bits := range data {
		if t.IsFloat() {
			bits <<= 1 // without the sign
		}
		if bits != 0 {
			places = append(places, int64(i))
		}
	}
	return places
}

// Unravel returns the indices, axis by axis, of places in row-major order: all of
// the first axis, then all of the second, and so on.
func Unravel(places []int64, dims []int) []int64 {
	indices := make([]int64, len(dims)*len(places))
	for i, place := range places {
		for axis := len(dims) - 1; axis >= 0; axis-- {
			indices[axis*len(places)+i] = place % int64(dims[axis])
			place /= int64(dims[axis])
		}
	}
	return indices
}

// Unique finds the rows of a matrix that differ; keys hold it row by row, and are
// equal where its elements are. The rows that differ are taken in ascending order,
// or else as they appear first.
//
//	first    the row at which each of them appears first
//	inverse  for each row of the matrix, which of them it is
//	counts   how many rows are each of them
func Unique(keys []uint64, rows int, ascending bool) (first, inverse, counts []int64) {
	width := len(keys) / max(rows, 1)
	compare := func(i, j int64) int {
		a, b := int(i)*width, int(j)*width
		return slices.Compare(keys[a:a+width], keys[b:b+width])
	}
	order := make([]int64, rows)
	for i := range order {
		order[i] = int64(i)
	}
	slices.SortStableFunc(order, compare)
	inverse = make([]int64, rows)
	first, counts = []int64{}, []int64{}
	for i, row := range order {
		if i == 0 || compare(order[i-1], row) != 0 {
			first, counts = append(first, row), append(counts, 0)
		}
		last := len(first) - 1
		inverse[row] = int64(last)
		counts[last]++
	}
	if ascending {
		return first, inverse, counts
	}
	return byAppearance(first, inverse, counts)
}

// byAppearance puts what Unique found in the order of first.
func byAppearance(first, inverse, counts []int64) (_, _, _ []int64) {
	order := make([]int, len(first)) // from new places to old ones
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return int(first[i] - first[j]) })
	place := make([]int64, len(order)) // from old places to new ones
	newFirst, newCounts := make([]int64, len(order)), make([]int64, len(order))
	for i, old := range order {
		place[old] = int64(i)
		newFirst[i], newCounts[i] = first[old], counts[old]
	}
	for row, old := range inverse {
		inverse[row] = place[old]
	}
	return newFirst, inverse, newCounts
}
