package onnx

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/find"
	"github.com/berth-go/berth/internal/op/reduce"
	"github.com/berth-go/berth/shape"
)

// findOps are the operators whose results have as many elements as the data says. They
// run on the host, and what follows is built for the shapes that they find.
var findOps = []row{
	{"", "Compress", 9, 2, 2, hosted(compress)},
	{"", "NonMaxSuppression", 10, 2, 5, hosted(nonMaxSuppression)},
	{"", "NonZero", 9, 1, 1, hosted(nonZero)},
	{"", "Unique", 11, 1, 1, hosted(unique)},
}

// An axisOr is the attribute axis, or that there is none: then all elements are along one.
type axisOr struct {
	axis  int
	given bool
}

func (c *call) axisOrAll() axisOr { return axisOr{c.int("axis", 0), c.hasAttr("axis")} }

// of returns the shape of x as the operator looks at it, and the axis in it.
func (a axisOr) of(x *Array) (shape.Shape, int, error) {
	if !a.given {
		return shape.Shape{x.dims.Elems()}, 0, nil
	}
	axis, err := shape.Axis(a.axis, len(x.dims))
	return x.dims, axis, err
}

// take makes output i the elements of x, of the given shape, at some places along an axis.
func (h *hostCall) take(i int, x *Array, dims shape.Shape, axis int, places []int64) error {
	to := dims.Clone()
	to[axis] = len(places)
	y, err := h.result(i, x.typ, x.ids, to...)
	if err != nil {
		return err
	}
	outer, inner := 1, x.typ.Size()
	for _, d := range dims[:axis] {
		outer *= d
	}
	for _, d := range dims[axis+1:] {
		inner *= d
	}
	for o := range outer {
		for k, at := range places {
			copy(y.data[(o*len(places)+k)*inner:][:inner], x.data[(o*dims[axis]+int(at))*inner:])
		}
	}
	return nil
}

// integers makes output i a tensor of the given numbers, if the node names it.
func (h *hostCall) integers(i int, data []int64, dims ...int) error {
	if i >= len(h.out) {
		return nil
	}
	y, err := h.result(i, dtype.Int64, false, dims...)
	if err == nil {
		copy(kernel.Cast[int64](y.data), data)
	}
	return err
}

// compress takes the elements, or the slices along an axis, for which a
// condition holds: those beyond its end are left out, and of the condition what
// is beyond theirs.
func compress(c *call) hostFunc {
	along := c.axisOrAll()
	return func(h *hostCall) error {
		x, err := h.array(0)
		if err != nil {
			return err
		}
		condition, err := h.array(1)
		if err != nil {
			return err
		}
		if condition.typ != dtype.Bool || len(condition.dims) != 1 {
			return fmt.Errorf("the condition is %s, want truth values along one axis", TypeOf(condition))
		}
		dims, axis, err := along.of(x)
		if err != nil {
			return err
		}
		places := find.NonZero(dtype.Bool, condition.data)
		places = slices.DeleteFunc(places, func(at int64) bool { return at >= int64(dims[axis]) })
		return h.take(0, x, dims, axis, places)
	}
}

// nonZero returns the indices of all elements that are not zero: a row for each
// axis, and so none for an element of rank 0.
func nonZero(*call) hostFunc {
	return func(h *hostCall) error {
		x, err := h.numbers(0)
		if err != nil {
			return err
		}
		places := find.NonZero(x.typ, x.data)
		return h.integers(0, find.Unravel(places, x.dims), len(x.dims), len(places))
	}
}

// unique returns the elements, or the slices along an axis, that differ, and
// where they are.
func unique(c *call) hostFunc {
	along, ascending := c.axisOrAll(), c.flag("sorted", true)
	if c.symbols[0].kind == tensor {
		n := c.shape(0).Elems()
		c.charge(0, n, bits.Len(uint(n)))
	}
	return func(h *hostCall) error {
		x, err := h.array(0)
		if err == nil && !x.ids {
			x, err = h.numbers(0)
		}
		if err != nil {
			return err
		}
		dims, axis, err := along.of(x)
		if err != nil {
			return err
		}
		rows := x
		if axis != 0 {
			if rows, err = h.moveAxis(&Array{}, x, axis, 0); err != nil {
				return err
			}
		}
		first, inverse, counts := find.Unique(h.keys(rows), dims[axis], ascending)
		n := len(first)
		if err := h.take(0, x, dims, axis, first); err != nil {
			return err
		}
		if err := h.integers(1, first, n); err != nil {
			return err
		}
		if err := h.integers(2, inverse, dims[axis]); err != nil {
			return err
		}
		return h.integers(3, counts, n)
	}
}

// keys returns a number for each element, in the order of the elements, and the same
// number for equal ones.
func (h *hostCall) keys(x *Array) []uint64 {
	if !x.ids {
		return reduce.Keys(x.typ, x.data)
	}
	ids := kernel.Cast[int64](x.data)
	list := slices.Clone(ids)
	slices.SortFunc(list, func(a, b int64) int { return cmp.Compare(h.texts.text(a), h.texts.text(b)) })
	rank := make(map[int64]uint64, len(list))
	for _, id := range slices.Compact(list) {
		rank[id] = uint64(len(rank))
	}
	keys := make([]uint64, len(ids))
	for i, id := range ids {
		keys[i] = rank[id]
	}
	return keys
}

// numbers returns input i, a tensor of numbers of no low precision, or of truth values.
func (h *hostCall) numbers(i int) (*Array, error) {
	a, err := h.array(i)
	if err == nil && (a.ids || a.typ.IsLowPrecision()) {
		err = fmt.Errorf("input %d is %s: element %w", i, TypeOf(a), ErrType)
	}
	return a, err
}

// nonMaxSuppression takes no boxes at all unless it is told how many.
func nonMaxSuppression(c *call) hostFunc {
	centred := c.flag("center_point_box", false)
	for i := range 2 {
		if c.symbols[i].kind == tensor {
			n := c.shape(i).Elems()
			c.charge(i, n, n)
		}
	}
	return func(h *hostCall) error {
		boxes, err := h.array(0)
		if err != nil {
			return err
		}
		scores, err := h.array(1)
		if err != nil {
			return err
		}
		if boxes.typ != dtype.Float32 || len(boxes.dims) != 3 || boxes.dims[2] != 4 {
			return fmt.Errorf("the boxes are %s, want float32[batches, boxes, 4]", TypeOf(boxes))
		}
		if scores.typ != dtype.Float32 || len(scores.dims) != 3 || scores.dims[0] != boxes.dims[0] || scores.dims[2] != boxes.dims[1] {
			return fmt.Errorf("the scores are %s, want float32[%d, classes, %d] for boxes %v", TypeOf(scores), boxes.dims[0], boxes.dims[1], boxes.dims)
		}
		b := find.Boxes{
			Batches: boxes.dims[0], Classes: scores.dims[1], Boxes: boxes.dims[1], Centered: centred,
			Corners: kernel.Cast[float32](boxes.data), Scores: kernel.Cast[float32](scores.data),
		}
		most, overlap := int64(0), float32(0)
		var least *float32
		if h.has(2) {
			if most, err = oneOf[int64](h.in[2]); err != nil {
				return fmt.Errorf("the number of boxes: %w", err)
			}
		}
		if h.has(3) {
			if overlap, err = oneOf[float32](h.in[3]); err != nil {
				return fmt.Errorf("the threshold of overlaps: %w", err)
			}
			if !(overlap >= 0 && overlap <= 1) {
				return fmt.Errorf("the threshold of overlaps is %v, not in [0, 1]", overlap)
			}
		}
		if h.has(4) {
			v, err := oneOf[float32](h.in[4])
			if err != nil {
				return fmt.Errorf("the threshold of scores: %w", err)
			}
			least = &v
		}
		found := b.NonMaxSuppression(int(min(most, int64(b.Boxes))), overlap, least)
		return h.integers(0, found, len(found)/3, 3)
	}
}
