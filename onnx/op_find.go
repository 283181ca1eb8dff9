package onnx

import (
	"math/bits"
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/find"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/internal/op/reduce"
	"github.com/berth-go/berth/internal/op/view"
)

// findOps are the operators whose results have as many elements as the data
// says. They are computed while the graph is built, from data that must be known.
var findOps = []row{
	{"", "Compress", 9, 2, 2, compress},
	{"", "NonMaxSuppression", 10, 2, 5, nonMaxSuppression},
	{"", "NonZero", 9, 1, 1, nonZero},
	{"", "Unique", 11, 1, 1, unique},
}

// compress takes the elements, or the slices along an axis, for which a
// condition holds: those beyond its end are left out, and of the condition what
// is beyond theirs.
func compress(c *call) []graph.Value {
	x, axis := c.flatOr(c.hasAttr("axis"))
	if t := c.in[1].Type(); t.DType != dtype.Bool || len(t.Shape) != 1 {
		c.failf("the condition is %v, want truth values along one axis", t)
	}
	c.charge(1, c.shape(1).Elems())
	places := find.NonZero(dtype.Bool, c.peek(1, c.in[1]))
	extent := int64(x.Type().Shape[axis])
	places = slices.DeleteFunc(places, func(at int64) bool { return at >= extent })
	return list(c.one(move.Gather{Axis: axis}, x, c.found(places, len(places))))
}

// flatOr returns input 0 and the attribute axis or, where there is none, all
// elements of the input along one axis.
func (c *call) flatOr(hasAxis bool) (x graph.Value, axis int) {
	if !hasAxis {
		return c.reshape(c.in[0], c.shape(0).Elems()), 0
	}
	return c.in[0], c.axis(c.int("axis", 0), c.rank(0))
}

// nonZero returns the indices of all elements that are not zero: a row for each
// axis, and one for a single element of rank 0 as well.
func nonZero(c *call) []graph.Value {
	dims := []int(c.shape(0))
	if len(dims) == 0 {
		dims = []int{1}
	}
	c.charge(0, c.shape(0).Elems(), len(dims))
	places := find.NonZero(c.in[0].Type().DType, c.peek(0, c.in[0]))
	return list(c.found(find.Unravel(places, dims), len(dims), len(places)))
}

// unique returns the elements, or the slices along an axis, that differ, and
// where they are.
func unique(c *call) []graph.Value {
	x, axis := c.flatOr(c.hasAttr("axis"))
	rows := x.Type().Shape[axis]
	perm := slices.DeleteFunc(upTo(len(x.Type().Shape)), func(a int) bool { return a == axis })
	byRow := c.one(view.Permute{Perm: slices.Insert(perm, 0, axis)}, x)
	c.charge(0, x.Type().Shape.Elems(), bits.Len(uint(rows)))
	keys := reduce.Keys(x.Type().DType, c.peek(0, byRow))
	first, inverse, counts := find.Unique(keys, rows, c.flag("sorted", true))
	n := len(first)
	at := c.found(first, n)
	return list(c.one(move.Gather{Axis: axis}, x, at), at, c.found(inverse, rows), c.found(counts, n))
}

// nonMaxSuppression takes no boxes at all unless it is told how many.
func nonMaxSuppression(c *call) []graph.Value {
	boxes, scores := c.in[0].Type(), c.in[1].Type()
	if boxes.DType != dtype.Float32 || len(boxes.Shape) != 3 || boxes.Shape[2] != 4 {
		c.failf("the boxes are %v, want float32[batches, boxes, 4]", boxes)
	}
	if scores.DType != dtype.Float32 || len(scores.Shape) != 3 || scores.Shape[0] != boxes.Shape[0] || scores.Shape[2] != boxes.Shape[1] {
		c.failf("the scores are %v, want float32[%d, classes, %d] for boxes %v", scores, boxes.Shape[0], boxes.Shape[1], boxes)
	}
	b := find.Boxes{Batches: boxes.Shape[0], Classes: scores.Shape[1], Boxes: boxes.Shape[1], Centered: c.flag("center_point_box", false)}
	most, overlap := 0, 0.0
	if c.has(2) {
		most = c.knownInt(2)
	}
	if c.has(3) {
		if overlap = c.knownScalar(3).Float64(); !(overlap >= 0 && overlap <= 1) {
			c.failf("the threshold of overlaps is %v, not in [0, 1]", overlap)
		}
	}
	var least *float32
	if c.has(4) {
		v := float32(c.knownScalar(4).Float64())
		least = &v
	}
	c.charge(0, b.Batches, b.Classes, b.Boxes, min(most, b.Boxes))
	c.charge(1, b.Batches, b.Classes, b.Boxes, min(most, b.Boxes))
	b.Corners = kernel.Cast[float32](c.peek(0, c.in[0]))
	b.Scores = kernel.Cast[float32](c.peek(1, c.in[1]))
	found := b.NonMaxSuppression(most, float32(overlap), least)
	return list(c.found(found, len(found)/3, 3))
}
