package onnx

import (
	"slices"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/wire"
)

func TestConcat(t *testing.T) {
	a, b := counting(0, 1, 2), counting(2, 1, 2)
	runNodeTests(t, []nodeTest{
		{"default axis", "Concat", 1, nil, in{a, b}, in{counting(0, 1, 4)}, ""},
		{"no default axis", "Concat", 4, nil, in{a, b}, nil, `attribute "axis" is missing`},
		{"negative", "Concat", 11, attrs(attrInt("axis", -2)), in{a, b}, in{counting(0, 2, 2)}, ""},
		{"one input", "Concat", 13, attrs(attrInt("axis", 0)), in{a}, in{a}, ""},
		{"nothing among them", "Concat", 13, attrs(attrInt("axis", 0)), in{a, tensorOf(dtype.Float32, nil, 0, 2), b}, in{counting(0, 2, 2)}, ""},
		{"one left out", "Concat", 13, attrs(attrInt("axis", 0)), in{a, nil, b}, nil, "input 1 is missing"},
		{"do not fit", "Concat", 13, attrs(attrInt("axis", 0)), in{a, counting(0, 1, 3)}, nil, "differ at axis 1"},
		{"unlike types", "Concat", 13, attrs(attrInt("axis", 0)), in{a, i64([]float64{1, 2}, 1, 2)}, nil, "int64"},
	})
}

func TestGather(t *testing.T) {
	x := counting(0, 3, 2)
	runNodeTests(t, []nodeTest{
		{"default axis", "Gather", 1, nil, in{x, i64([]float64{2, 0}, 1, 2)}, in{f32([]float64{4, 5, 0, 1}, 1, 2, 2)}, ""},
		{"scalar index", "Gather", 11, attrs(attrInt("axis", -1)), in{x, scalarOf(dtype.Int32, -1)}, in{f32([]float64{1, 3, 5})}, ""},
		{"out of range", "Gather", 13, nil, in{x, i64([]float64{3})}, nil, "3"},
		{"indices of floats", "Gather", 13, nil, in{x, counting(0, 1)}, nil, "want int32 or int64"},
		{"elements", "GatherElements", 11, attrs(attrInt("axis", 1)), in{x, i64([]float64{-1, 0, 1, 1, 0, 0}, 3, 2)}, in{f32([]float64{1, 0, 3, 3, 4, 4}, 3, 2)}, ""},
		{"elements of fewer lines", "GatherElements", 13, nil, in{x, i64([]float64{2, -2}, 1, 2)}, in{f32([]float64{4, 3}, 1, 2)}, ""},
		{"tuples", "GatherND", 11, nil, in{x, i64([]float64{1, -1, 0, 0}, 2, 2)}, in{f32([]float64{3, 0})}, ""},
		{"short tuples", "GatherND", 11, nil, in{x, i64([]float64{2}, 1, 1)}, in{counting(4, 1, 2)}, ""},
		{"batches", "GatherND", 12, attrs(attrInt("batch_dims", 1)), in{x, i64([]float64{1, 0, -1}, 3, 1)}, in{f32([]float64{1, 2, 5})}, ""},
		{"batches before 12", "GatherND", 11, attrs(attrInt("batch_dims", 1)), in{x, i64([]float64{1, 0, 1}, 3, 1)}, nil, "attribute batch_dims does not exist before version 12"},
	})
}

func TestScatter(t *testing.T) {
	x := counting(1, 4)
	at, updates := i64([]float64{1, -1, 1}), f32([]float64{10, 20, 5})
	reduce := func(name string) []wire.Attribute { return attrs(attrText("reduction", name)) }
	runNodeTests(t, []nodeTest{
		{"old name", "Scatter", 9, nil, in{x, i64([]float64{1, -1}), f32([]float64{10, 20})}, in{f32([]float64{1, 10, 3, 20})}, ""},
		{"elements", "ScatterElements", 11, attrs(attrInt("axis", -1)), in{x, i64([]float64{1, -1}), f32([]float64{10, 20})}, in{f32([]float64{1, 10, 3, 20})}, ""},
		{"no reduction before 16", "ScatterElements", 13, reduce("add"), in{x, at, updates}, nil, "attribute reduction does not exist before version 16"},
		{"sum", "ScatterElements", 16, reduce("add"), in{x, at, updates}, in{f32([]float64{1, 17, 3, 24})}, ""},
		{"no maximum before 18", "ScatterElements", 16, reduce("max"), in{x, at, updates}, nil, `attribute "reduction" is "max", not one of ["add" "mul" "none"] at opset 16`},
		{"maximum", "ScatterElements", 18, reduce("max"), in{x, at, updates}, in{f32([]float64{1, 10, 3, 20})}, ""},
		{"minimum", "ScatterElements", 18, reduce("min"), in{x, at, updates}, in{f32([]float64{1, 2, 3, 4})}, ""},
		{"other", "ScatterElements", 18, reduce("sub"), in{x, at, updates}, nil, `attribute "reduction" is "sub"`},
		{"out of range", "ScatterElements", 18, nil, in{x, i64([]float64{4}), f32([]float64{0})}, nil, "4"},
		{"tuples", "ScatterND", 11, nil, in{counting(0, 2, 2), i64([]float64{1}, 1, 1), f32([]float64{7, 8}, 1, 2)}, in{f32([]float64{0, 1, 7, 8}, 2, 2)}, ""},
		{"products", "ScatterND", 16, reduce("mul"), in{x, i64([]float64{1, 3, 1}, 3, 1), updates}, in{f32([]float64{1, 100, 3, 80})}, ""},
		{"maxima of tuples before 18", "ScatterND", 16, reduce("max"), in{x, i64([]float64{1, 3, 1}, 3, 1), updates}, nil, "at opset 16"},
		{"updates do not fit", "ScatterND", 18, nil, in{x, i64([]float64{1}, 1, 1), updates}, nil, "updates are"},
	})
}

func TestPad(t *testing.T) {
	x := counting(1, 3)
	runNodeTests(t, []nodeTest{
		{"old name", "Pad", 1, attrs(attrInts("paddings", 1, 2), attrFloat("value", 9)), in{x}, in{f32([]float64{9, 1, 2, 3, 9, 9})}, ""},
		{"attribute", "Pad", 2, attrs(attrInts("pads", 1, -1)), in{x}, in{f32([]float64{0, 1, 2})}, ""},
		{"attribute missing", "Pad", 2, attrs(attrInts("paddings", 1, 1)), in{x}, nil, `attribute "pads" is missing`},
		{"reflect", "Pad", 2, attrs(attrInts("pads", 2, 2), attrText("mode", "reflect")), in{x}, in{f32([]float64{3, 2, 1, 2, 3, 2, 1})}, ""},
		{"double value", "Pad", 2, attrs(attrInts("pads", 0, 1), attrFloat("value", .5)), in{tensorOf(dtype.Float64, []float64{1}, 1)}, in{tensorOf(dtype.Float64, []float64{1, .5}, 2)}, ""},
		{"input", "Pad", 11, nil, in{x, i64([]float64{0, 1}), scalarOf(dtype.Float32, 4)}, in{counting(1, 4)}, ""},
		{"value left out", "Pad", 11, attrs(attrText("mode", "edge")), in{x, i64([]float64{1, 1}), nil}, in{f32([]float64{1, 1, 2, 3, 3})}, ""},
		{"integers", "Pad", 13, nil, in{i64([]float64{1}), i64([]float64{1, 1}), i64([]float64{7})}, in{i64([]float64{7, 1, 7})}, ""},
		{"no axes before 18", "Pad", 13, nil, in{x, i64([]float64{1, 1}), nil, i64([]float64{0})}, nil, "has 4 inputs"},
		{"axes", "Pad", 18, nil, in{counting(1, 1, 2), i64([]float64{0, 1}), nil, i64([]float64{-1})}, in{f32([]float64{1, 2, 0}, 1, 3)}, ""},
		{"axes of 32 bits", "Pad", 18, nil, in{counting(1, 1, 1), i64([]float64{1, 0, 0, 1}), nil, tensorOf(dtype.Int32, []float64{1, 0}, 2)}, in{f32([]float64{0, 1, 0, 0}, 2, 2)}, ""},
		{"an axis twice", "Pad", 18, nil, in{x, i64([]float64{0, 1, 1, 1}), nil, i64([]float64{0, -1})}, nil, "name axis 0 twice"},
		{"pads for other axes", "Pad", 18, nil, in{x, i64([]float64{0, 1}), nil, i64([]float64{0, 0})}, nil, "2 pads for 2 axes"},
		{"no wrapping before 19", "Pad", 18, attrs(attrText("mode", "wrap")), in{x, i64([]float64{1, 1})}, nil, `attribute "mode" is "wrap", not one of ["constant" "edge" "reflect"] at opset 18`},
		{"wrapping", "Pad", 19, attrs(attrText("mode", "wrap")), in{x, i64([]float64{1, 2})}, in{f32([]float64{3, 1, 2, 3, 1, 2})}, ""},
		{"crop too much", "Pad", 19, nil, in{x, i64([]float64{-2, -2})}, nil, "remove more than the 3 elements"},
	})
}

func TestTile(t *testing.T) {
	x := counting(0, 1, 2)
	runNodeTests(t, []nodeTest{
		{"one axis", "Tile", 1, nil, in{x, scalarOf(dtype.Float32, 2), scalarOf(dtype.Float32, 1)}, in{f32([]float64{0, 1, 0, 1}, 1, 4)}, ""},
		{"a part of a time", "Tile", 1, nil, in{x, scalarOf(dtype.Float32, 1.5), scalarOf(dtype.Float32, 1)}, nil, "1.5"},
		{"all axes", "Tile", 6, nil, in{x, i64([]float64{2, 2})}, in{f32([]float64{0, 1, 0, 1, 0, 1, 0, 1}, 2, 4)}, ""},
		{"not at all", "Tile", 13, nil, in{x, i64([]float64{1, 0})}, in{tensorOf(dtype.Float32, nil, 1, 0)}, ""},
		{"too few", "Tile", 13, nil, in{x, i64([]float64{2})}, nil, "1 repeats"},
		{"negative", "Tile", 13, nil, in{x, i64([]float64{1, -1})}, nil, "-1 times"},
	})
}

func TestOneHot(t *testing.T) {
	values := f32([]float64{5, 6})
	runNodeTests(t, []nodeTest{
		{"negative is out of range", "OneHot", 9, nil, in{i64([]float64{1, -1, 2}), scalarOf(dtype.Int64, 2), values}, in{f32([]float64{5, 6, 5, 5, 5, 5}, 3, 2)}, ""},
		{"negative counts from the end", "OneHot", 11, nil, in{i64([]float64{1, -1, 2, -3}), scalarOf(dtype.Int64, 2), values},
			in{f32([]float64{5, 6, 5, 6, 5, 5, 5, 5}, 4, 2)}, ""},
		{"first axis", "OneHot", 11, attrs(attrInt("axis", 0)), in{i64([]float64{0, 1}), i64([]float64{3}), values}, in{f32([]float64{6, 5, 5, 6, 5, 5}, 3, 2)}, ""},
		{"indices and depth of floats", "OneHot", 11, nil, in{counting(1, 1), scalarOf(dtype.Float32, 2), values}, in{f32([]float64{5, 6}, 1, 2)}, ""},
		{"small indices before 11", "OneHot", 10, nil, in{tensorOf(dtype.Int8, []float64{-1, 0}, 2), scalarOf(dtype.Uint8, 1), values}, in{f32([]float64{5, 6}, 2, 1)}, ""},
		{"truth values", "OneHot", 11, nil, in{scalarOf(dtype.Int32, 1), scalarOf(dtype.Int32, 2), truth([]float64{0, 1})}, in{truth([]float64{0, 1})}, ""},
		{"negative depth", "OneHot", 11, nil, in{i64([]float64{0}), scalarOf(dtype.Int64, -1), values}, nil, "depth -1 is negative"},
		{"three values", "OneHot", 11, nil, in{i64([]float64{0}), scalarOf(dtype.Int64, 1), counting(0, 3)}, nil, "want two elements"},
	})
}

func TestTrilu(t *testing.T) {
	x := counting(1, 2, 3)
	runNodeTests(t, []nodeTest{
		{"upper", "Trilu", 14, nil, in{x}, in{f32([]float64{1, 2, 3, 0, 5, 6}, 2, 3)}, ""},
		{"lower", "Trilu", 14, attrs(attrInt("upper", 0)), in{x, scalarOf(dtype.Int64, 1)}, in{f32([]float64{1, 2, 0, 4, 5, 6}, 2, 3)}, ""},
		{"beyond", "Trilu", 14, nil, in{x, i64([]float64{9})}, in{f32([]float64{0, 0, 0, 0, 0, 0}, 2, 3)}, ""},
		{"two diagonals", "Trilu", 14, nil, in{x, i64([]float64{0, 1})}, nil, "has 2 elements, not 1"},
		{"vector", "Trilu", 14, nil, in{counting(0, 3)}, nil, "fewer than 2 axes"},
	})
}

func TestReverseSequence(t *testing.T) {
	x := counting(0, 3, 2) // time by batch
	runNodeTests(t, []nodeTest{
		{"time first", "ReverseSequence", 10, nil, in{x, i64([]float64{3, 2})}, in{f32([]float64{4, 3, 2, 1, 0, 5}, 3, 2)}, ""},
		{"batch first", "ReverseSequence", 10, attrs(attrInt("batch_axis", 0), attrInt("time_axis", 1)), in{x, i64([]float64{1, 2, 0})}, in{f32([]float64{0, 1, 3, 2, 4, 5}, 3, 2)}, ""},
		{"too long", "ReverseSequence", 10, nil, in{x, i64([]float64{3, 4})}, nil, "4"},
		{"one axis for both", "ReverseSequence", 10, attrs(attrInt("batch_axis", 0)), in{x, i64([]float64{1, 1, 1})}, nil, "cannot be batch and time"},
	})
}

func TestTensorScatter(t *testing.T) {
	cache := f32(make([]float64, 8), 2, 4, 1)
	update := counting(1, 2, 2, 1)
	circular := attrText("mode", "circular")
	runNodeTests(t, []nodeTest{
		{"at the beginning", "TensorScatter", 24, nil, in{cache, update}, in{f32([]float64{1, 2, 0, 0, 3, 4, 0, 0}, 2, 4, 1)}, ""},
		{"at indices", "TensorScatter", 24, nil, in{cache, update, i64([]float64{2, 1})}, in{f32([]float64{0, 0, 1, 2, 0, 3, 4, 0}, 2, 4, 1)}, ""},
		{"behind the end", "TensorScatter", 24, nil, in{cache, update, i64([]float64{3, 1})}, nil, "4"},
		{"around the end", "TensorScatter", 24, attrs(circular), in{cache, update, i64([]float64{3, 1})}, in{f32([]float64{2, 0, 0, 1, 0, 3, 4, 0}, 2, 4, 1)}, ""},
		{"last axis", "TensorScatter", 24, attrs(attrInt("axis", -1)), in{counting(0, 1, 3), counting(7, 1, 1), i64([]float64{1})}, in{f32([]float64{0, 7, 2}, 1, 3)}, ""},
		{"batch axis", "TensorScatter", 24, attrs(attrInt("axis", 0)), in{cache, update}, nil, "axis 0 is the batch"},
		{"too long", "TensorScatter", 24, nil, in{update, cache}, nil, "update [2 4 1] does not fit into [2 2 1]"},
		{"an index too few", "TensorScatter", 24, nil, in{cache, update, i64([]float64{1})}, nil, "write_indices have shape [1], want [2]"},
	})
}

func TestCol2Im(t *testing.T) {
	ones := func(a, b, c int) *berth.Tensor { return f32(slices.Repeat([]float64{1}, a*b*c), a, b, c) }
	runNodeTests(t, []nodeTest{
		{"one axis", "Col2Im", 18, nil, in{ones(1, 2, 2), i64([]float64{3}), i64([]float64{2})}, in{f32([]float64{1, 2, 1}, 1, 1, 3)}, ""},
		{"apart", "Col2Im", 18, attrs(attrInts("strides", 2)), in{counting(1, 1, 2, 2), i64([]float64{4}), i64([]float64{2})}, in{f32([]float64{1, 3, 2, 4}, 1, 1, 4)}, ""},
		{"dilated", "Col2Im", 18, attrs(attrInts("dilations", 2)), in{counting(1, 1, 2, 1), i64([]float64{3}), i64([]float64{2})}, in{f32([]float64{1, 0, 2}, 1, 1, 3)}, ""},
		{"pads cut off", "Col2Im", 18, attrs(attrInts("pads", 1, 0)), in{counting(1, 1, 2, 2), i64([]float64{2}), i64([]float64{2})}, in{f32([]float64{5, 4}, 1, 1, 2)}, ""},
		{"channels", "Col2Im", 18, nil, in{counting(1, 1, 4, 1), i64([]float64{1, 2}), i64([]float64{1, 2})}, in{counting(1, 1, 2, 1, 2)}, ""},
		{"two axes", "Col2Im", 18, nil, in{ones(1, 4, 2), i64([]float64{2, 3}), i64([]float64{2, 2})}, in{f32([]float64{1, 2, 1, 1, 2, 1}, 1, 1, 2, 3)}, ""},
		{"nothing", "Col2Im", 18, nil, in{ones(0, 2, 2), i64([]float64{3}), i64([]float64{2})}, in{tensorOf(dtype.Float32, nil, 0, 1, 3)}, ""},
		{"positions do not fit", "Col2Im", 18, nil, in{ones(1, 2, 3), i64([]float64{3}), i64([]float64{2})}, nil, "does not hold blocks [2] at [2] positions"},
		{"block too large", "Col2Im", 18, nil, in{ones(1, 4, 1), i64([]float64{3}), i64([]float64{4})}, nil, "a block [4] does not fit"},
		{"no stride", "Col2Im", 18, attrs(attrInts("strides", 0)), in{ones(1, 2, 2), i64([]float64{3}), i64([]float64{2})}, nil, "out of range"},
		{"strides of another rank", "Col2Im", 18, attrs(attrInts("strides", 1, 1)), in{ones(1, 2, 2), i64([]float64{3}), i64([]float64{2})}, nil, "attribute strides has 2 numbers, want 1"},
	})
}
