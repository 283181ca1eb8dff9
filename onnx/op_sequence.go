package onnx

import (
	"errors"
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/internal/op/view"
	"github.com/berth-go/berth/internal/wire"
	"github.com/berth-go/berth/shape"
)

// sequenceOps are the operators on sequences and optional values. A sequence is a list
// of values of the graph: none of these operators moves a byte, but for those that split
// and join tensors.
var sequenceOps = []row{
	{"", "ConcatFromSequence", 11, 1, 1, convertConcatFromSequence},
	{"", "Identity", 1, 1, 1, convertIdentity},
	{"", "Optional", 15, 0, 1, convertOptional},
	{"", "OptionalGetElement", 15, 1, 1, convertOptionalGetElement},
	{"", "OptionalHasElement", 15, 0, 1, convertOptionalHasElement},
	{"", "SequenceAt", 11, 2, 2, convertSequenceAt},
	{"", "SequenceConstruct", 11, 1, many, convertSequenceConstruct},
	{"", "SequenceEmpty", 11, 0, 0, convertSequenceEmpty},
	{"", "SequenceErase", 11, 1, 2, convertSequenceErase},
	{"", "SequenceInsert", 11, 2, 3, convertSequenceInsert},
	{"", "SequenceLength", 11, 1, 1, convertSequenceLength},
	{"", "SplitToSequence", 11, 1, 2, convertSplitToSequence},
}

// returns sets the only output.
func (c *call) returns(s symbol) []graph.Value {
	check(c.imp.hold(len(s.items)))
	c.outs = []symbol{s}
	return nil
}

// sequence returns the items of input i, which must be a sequence.
func (c *call) sequence(i int) []symbol {
	s := c.symbols[i]
	if s.kind == slotted {
		c.wait(i)
	}
	if s.kind != sequence {
		c.failf("input %d %q is not a sequence", i, c.node.node.Inputs[i])
	}
	return s.items
}

// tensorAt returns input i, which must be a tensor.
func (c *call) tensorAt(i int) symbol {
	s := c.symbols[i]
	if s.kind == slotted {
		c.wait(i)
	}
	if s.kind != tensor {
		c.failf("input %d %q is not a tensor", i, c.node.node.Inputs[i])
	}
	return s
}

// itemIndex returns the index that input i holds into n items, counted from the end where
// it is negative. It may be at most last.
func (c *call) itemIndex(i, n, last int) int {
	c.tensorAt(i)
	at := c.knownInt(i)
	if at < 0 {
		at += n
	}
	if at < 0 || at > last {
		c.failf("the position is %d, of %d items", c.knownInt(i), n)
	}
	return at
}

func convertIdentity(c *call) []graph.Value { return c.returns(c.symbols[0]) }

// convertOptional returns its input, or an empty optional of the type that the attribute
// states.
func convertOptional(c *call) []graph.Value {
	if len(c.symbols) > 0 {
		return c.returns(c.symbols[0])
	}
	if c.attr("type", wire.AttrType) == nil {
		c.failf("there is neither an input nor attribute \"type\"")
	}
	return c.returns(symbol{})
}

func convertOptionalGetElement(c *call) []graph.Value {
	s := c.symbols[0]
	if s.kind == slotted && !s.opaque {
		c.wait(0)
	}
	if s.kind == noValue {
		c.failf("the optional input is empty")
	}
	return c.returns(s)
}

func convertOptionalHasElement(c *call) []graph.Value {
	has := len(c.symbols) > 0 && c.symbols[0].kind != noValue
	if has && c.symbols[0].kind == slotted && !c.symbols[0].opaque {
		c.wait(0)
	}
	return c.returns(tensorSymbol(constant([]bool{has})))
}

func convertSequenceEmpty(c *call) []graph.Value {
	c.attr("dtype", wire.AttrInt)
	return c.returns(symbol{kind: sequence})
}

func convertSequenceConstruct(c *call) []graph.Value {
	items := make([]symbol, len(c.symbols))
	for i := range items {
		items[i] = c.tensorAt(i)
	}
	c.checkItems(items)
	return c.returns(symbol{kind: sequence, items: items})
}

// checkItems fails if tensors of different element types are in one sequence.
func (c *call) checkItems(items []symbol) {
	for _, s := range items {
		if s.kind == tensor && items[0].kind == tensor && (s.tensor.Type().DType != items[0].tensor.Type().DType || s.text != items[0].text) {
			c.failf("the sequence has items of types %v and %v", items[0].tensor.Type().DType, s.tensor.Type().DType)
		}
	}
}

func convertSequenceAt(c *call) []graph.Value {
	items := c.sequence(0)
	return c.returns(items[c.itemIndex(1, len(items), len(items)-1)])
}

func convertSequenceInsert(c *call) []graph.Value {
	items := c.sequence(0)
	at := len(items)
	if c.has(2) {
		at = c.itemIndex(2, len(items), len(items))
	}
	items = slices.Insert(slices.Clone(items), at, c.tensorAt(1))
	c.checkItems(items)
	return c.returns(symbol{kind: sequence, items: items})
}

func convertSequenceErase(c *call) []graph.Value {
	items := c.sequence(0)
	at := len(items) - 1
	if c.has(1) {
		at = c.itemIndex(1, len(items), len(items)-1)
	}
	if at < 0 {
		c.failf("the sequence has no items")
	}
	return c.returns(symbol{kind: sequence, items: slices.Delete(slices.Clone(items), at, at+1)})
}

func convertSequenceLength(c *call) []graph.Value {
	return c.returns(tensorSymbol(constant([]int64{int64(len(c.sequence(0)))})))
}

// convertSplitToSequence splits a tensor into parts of given sizes, of one size, the last
// one perhaps smaller, or of 1, then without the axis unless keepdims says otherwise.
func convertSplitToSequence(c *call) []graph.Value {
	x := c.tensorAt(0)
	dims := x.tensor.Type().Shape
	axis := c.axis(c.int("axis", 0), len(dims))
	keep := c.flag("keepdims", true) || c.has(1)
	var sizes []int
	size := 1
	if c.has(1) {
		c.tensorAt(1)
		if c.rank(1) == 1 {
			sizes = c.known(1)
		} else if size = c.knownInt(1); size < 1 {
			c.failf("split is %d", size)
		}
	}
	if sizes == nil {
		if n := dims[axis] / size; n > mostListed {
			c.failf("split %d cuts an axis of extent %d into %d parts, at most %d are supported", size, dims[axis], n, mostListed)
		}
		for at := 0; at < dims[axis]; at += size {
			sizes = append(sizes, min(size, dims[axis]-at))
		}
	}
	var items []symbol
	at := 0
	for _, n := range sizes {
		if n < 0 || n > dims[axis]-at {
			c.failf("split %v does not cut an axis of extent %d", sizes, dims[axis])
		}
		v := c.sliceAxis(x.tensor, axis, at, at+n, 1)
		if at += n; !keep {
			v = c.reshape(v, slices.Delete(dims.Clone(), axis, axis+1)...)
		}
		items = append(items, symbol{kind: tensor, tensor: v, text: x.text})
	}
	if at != dims[axis] {
		c.failf("split %v does not cut an axis of extent %d", sizes, dims[axis])
	}
	return c.returns(symbol{kind: sequence, items: items})
}

// convertConcatFromSequence joins tensors along an axis, with new_axis along a new one.
func convertConcatFromSequence(c *call) []graph.Value {
	c.require("axis")
	items := c.sequence(0)
	if len(items) == 0 {
		c.failf("the sequence has no items")
	}
	for i, s := range items {
		if s.kind != tensor {
			c.failf("item %d of the sequence is not a tensor", i)
		}
	}
	c.checkItems(items)
	rank := len(items[0].tensor.Type().Shape)
	fresh := c.flag("new_axis", false)
	if fresh {
		rank++
	}
	axis := c.axis(c.int("axis", 0), rank)
	parts := make([]graph.Value, len(items))
	for i, s := range items {
		if parts[i] = s.tensor; fresh {
			parts[i] = c.one(view.Reshape{Shape: slices.Insert(s.tensor.Type().Shape.Clone(), axis, 1)}, s.tensor)
		}
	}
	return c.returns(symbol{kind: tensor, tensor: c.one(move.Concat{Axis: axis}, parts...), text: items[0].text})
}

// emptyLike makes the array one without elements, of the type that a scan output is
// declared with: none along the first, new axis, and 0 where an extent is open.
func (a *Array) emptyLike(t *wire.Type) error {
	elem, dims := dtype.Float32, []int{0}
	ids := false
	if t != nil && t.Tensor != nil {
		if t.Tensor.Elem == wire.String {
			elem, ids = dtype.Int64, true
		} else if known, err := elementType(t.Tensor.Elem); err == nil {
			elem = known
		}
		if t.Tensor.Shape != nil {
			for _, d := range t.Tensor.Shape.Dims {
				dims = append(dims, max(int(d.Value), 0))
			}
		}
	}
	if err := errors.Join(shape.Shape(dims).Check(), checkRank(dims)); err != nil {
		return err
	}
	a.become(elem, dims, ids)
	return nil
}
