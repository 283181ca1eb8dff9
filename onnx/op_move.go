package onnx

import (
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/move"
)

// moveOps are the operators that join, pick and place elements.
var moveOps = []row{
	{"", "Concat", 1, 1, many, convertConcat},
	{"", "Gather", 1, 2, 2, opOf(func(c *call) graph.Op { return move.Gather{Axis: c.int("axis", 0)} })},
	{"", "GatherElements", 11, 2, 2, opOf(func(c *call) graph.Op { return move.GatherElements{Axis: c.int("axis", 0)} })},
	{"", "GatherND", 11, 2, 2, convertGatherND},
	{"", "Scatter", 9, 3, 3, opOf(func(c *call) graph.Op { return move.ScatterElements{Axis: c.int("axis", 0)} })},
	{"", "ScatterElements", 11, 3, 3, opOf(func(c *call) graph.Op { return move.ScatterElements{Axis: c.int("axis", 0), Reduction: c.reduction()} })},
	{"", "ScatterND", 11, 3, 3, opOf(func(c *call) graph.Op { return move.ScatterND{Reduction: c.reduction()} })},
	{"", "Pad", 1, 1, 1, convertPadAttributes},
	{"", "Pad", 11, 2, 3, convertPadInputs},
	{"", "Pad", 18, 2, 4, convertPadInputs},
	{"", "Tile", 1, 3, 3, convertTileAxis},
	{"", "Tile", 6, 2, 2, convertTile},
	{"", "OneHot", 9, 3, 3, convertOneHot},
	{"", "Trilu", 14, 1, 2, convertTrilu},
	{"", "ReverseSequence", 10, 2, 2, opOf(reverseSequence)},
	{"", "Col2Im", 18, 3, 3, convertCol2Im},
	{"", "TensorScatter", 24, 2, 3, convertTensorScatter},
}

// convertConcat joins its inputs. Only before opset 4 is there a default axis.
func convertConcat(c *call) []graph.Value {
	if c.opset() >= 4 {
		c.require("axis")
	}
	for i := range c.in {
		if !c.has(i) {
			c.failf("input %d is missing", i)
		}
	}
	return list(c.one(move.Concat{Axis: c.int("axis", 1)}, c.in...))
}

func convertGatherND(c *call) []graph.Value {
	c.attrSince(12, "batch_dims")
	return list(c.one(move.GatherND{BatchDims: c.int("batch_dims", 0)}, c.in...))
}

// reduction returns what a scatter does with the element that is there:
// nothing before version 16, and no more than add and mul before 18.
func (c *call) reduction() move.Reduction {
	c.attrSince(16, "reduction")
	names := map[string]move.Reduction{"none": move.ReductionNone, "add": move.ReductionAdd, "mul": move.ReductionMul}
	if c.opset() >= 18 {
		names["max"], names["min"] = move.ReductionMax, move.ReductionMin
	}
	return choice(c, "reduction", "none", names)
}

// padMode returns the attribute mode.
func (c *call) padMode() move.PadMode {
	names := map[string]move.PadMode{"constant": move.PadConstant, "edge": move.PadEdge, "reflect": move.PadReflect}
	if c.opset() >= 19 {
		names["wrap"] = move.PadWrap
	}
	return choice(c, "mode", "constant", names)
}

// convertPadAttributes converts Pad before version 11. Version 1 has another
// name for the pads.
func convertPadAttributes(c *call) []graph.Value {
	name := "pads"
	if c.opset() < 2 {
		name = "paddings"
	}
	c.require(name)
	value := c.castTo(constant([]float64{c.float("value", 0)}), c.in[0].Type().DType)
	return list(c.one(move.Pad{Mode: c.padMode(), Pads: c.ints(name)}, c.in[0], value))
}

// convertPadInputs converts Pad whose pads are an input: before and behind
// every axis, or from version 18 on only the axes that another input lists.
func convertPadInputs(c *call) []graph.Value {
	o := move.Pad{Mode: c.padMode(), Pads: c.known(1)}
	if rank := c.rank(0); c.has(3) {
		axes := c.known(3)
		if len(o.Pads) != 2*len(axes) {
			c.failf("there are %d pads for %d axes, want two for each", len(o.Pads), len(axes))
		}
		full := make([]int, 2*rank)
		for i, axis := range c.axes(axes, rank) {
			full[axis], full[rank+axis] = o.Pads[i], o.Pads[len(axes)+i]
		}
		o.Pads = full
	}
	return list(c.one(o, c.in[0], c.input(2)))
}

// convertTileAxis converts version 1 of Tile, which repeats along one axis.
// Its numbers have the element type of the tensor.
func convertTileAxis(c *call) []graph.Value {
	rank := c.rank(0)
	repeats := slices.Repeat([]int{1}, rank)
	repeats[c.axis(c.knownInt(2), rank)] = c.knownInt(1)
	return list(c.one(move.Tile{Repeats: repeats}, c.in[0]))
}

func convertTile(c *call) []graph.Value {
	return list(c.one(move.Tile{Repeats: c.known(1)}, c.in[0]))
}

// convertOneHot takes indices and a depth of any type of number. Only from
// version 11 on do negative indices count from the end; before, they are as
// far out of range as those beyond the depth.
func convertOneHot(c *call) []graph.Value {
	o := move.OneHot{Axis: c.int("axis", -1), Depth: c.knownInt(1)}
	indices := c.in[0]
	if t := indices.Type().DType; t != dtype.Int32 && t != dtype.Int64 {
		indices = c.castTo(indices, dtype.Int64)
	}
	if c.opset() < 11 {
		indices = c.castTo(indices, dtype.Int64)
		below := c.withScalar(elementwise.Less, indices, 0)
		indices = must(elementwise.ApplyOperands(elementwise.Where, nil,
			elementwise.Operand{Value: below}, elementwise.Operand{Scalar: int64Scalar(o.Depth)}, elementwise.Operand{Value: indices}))
	}
	return list(c.one(o, indices, c.in[2]))
}

func convertTrilu(c *call) []graph.Value {
	o := move.Trilu{Upper: c.flag("upper", true)}
	if c.has(1) {
		o.K = c.scalar(1)
	}
	return list(c.one(o, c.in[0]))
}

func reverseSequence(c *call) graph.Op {
	return move.ReverseSequence{BatchAxis: c.int("batch_axis", 1), TimeAxis: c.int("time_axis", 0)}
}
