package onnx

import (
	"math"
	"testing"

	"github.com/berth-go/berth/dtype"
)

func TestReshape(t *testing.T) {
	x := counting(0, 2, 3, 4)
	none := tensorOf(dtype.Float32, nil, 0, 3)
	runNodeTests(t, []nodeTest{
		{"attribute", "Reshape", 1, attrs(attrInts("shape", 4, -1)), in{x}, in{counting(0, 4, 6)}, ""},
		{"attribute with 0", "Reshape", 4, attrs(attrInts("shape", 0, -1)), in{x}, in{counting(0, 2, 12)}, ""},
		{"attribute where an input is wanted", "Reshape", 5, attrs(attrInts("shape", 24)), in{x}, nil, "input 1 is missing"},
		{"input with 0", "Reshape", 5, nil, in{x, i64([]float64{3, 0, 4})}, nil, "36"},
		{"input keeps extents", "Reshape", 13, nil, in{x, i64([]float64{0, 0, 2, -1})}, in{counting(0, 2, 3, 2, 2)}, ""},
		{"0 beyond the rank", "Reshape", 14, nil, in{x, i64([]float64{2, 3, 4, 0})}, nil, "keeps extent 3 of input [2 3 4], which has 3"},
		{"allowed 0", "Reshape", 14, attrs(attrInt("allowzero", 1)), in{none, i64([]float64{3, 0})}, in{tensorOf(dtype.Float32, nil, 3, 0)}, ""},
		{"allowed 0 beside -1", "Reshape", 14, attrs(attrInt("allowzero", 1)), in{none, i64([]float64{0, -1})}, nil, "both 0 and -1"},
		{"allowed 0 before 14", "Reshape", 13, attrs(attrInt("allowzero", 1)), in{none, i64([]float64{0, 3})}, nil, "attribute allowzero does not exist before version 14"},
		{"to a scalar", "Reshape", 25, nil, in{counting(7, 1, 1), i64(nil, 0)}, in{scalarOf(dtype.Float32, 7)}, ""},
		{"of a scalar", "Reshape", 25, nil, in{scalarOf(dtype.Float32, 7), i64([]float64{-1})}, in{counting(7, 1)}, ""},
		{"two open extents", "Reshape", 5, nil, in{x, i64([]float64{-1, -1})}, nil, "two extents of -1"},
		{"does not divide", "Reshape", 5, nil, in{x, i64([]float64{-1, 5})}, nil, "does not fit the 24 elements"},
		{"nothing to divide by", "Reshape", 5, nil, in{none, i64([]float64{0, -1})}, nil, "does not fit the 0 elements"},
		{"negative", "Reshape", 5, nil, in{x, i64([]float64{-2, 12})}, nil, "negative"},
		{"overflows", "Reshape", 5, nil, in{x, i64([]float64{1 << 40, 1 << 40, -1})}, nil, "more than"},
		{"shape of floats", "Reshape", 5, nil, in{x, counting(1, 1)}, nil, "not int64 or int32"},
		{"shape of two axes", "Reshape", 5, nil, in{x, i64([]float64{24}, 1, 1)}, nil, "not a list"},
	})
}

func TestFlatten(t *testing.T) {
	x := counting(0, 2, 3, 4)
	runNodeTests(t, []nodeTest{
		{"default", "Flatten", 1, nil, in{x}, in{counting(0, 2, 12)}, ""},
		{"first", "Flatten", 9, attrs(attrInt("axis", 0)), in{x}, in{counting(0, 1, 24)}, ""},
		{"last", "Flatten", 9, attrs(attrInt("axis", 3)), in{x}, in{counting(0, 24, 1)}, ""},
		{"negative", "Flatten", 11, attrs(attrInt("axis", -1)), in{x}, in{counting(0, 6, 4)}, ""},
		{"scalar", "Flatten", 13, attrs(attrInt("axis", 0)), in{scalarOf(dtype.Float32, 5)}, in{counting(5, 1, 1)}, ""},
		{"empty", "Flatten", 13, nil, in{tensorOf(dtype.Float32, nil, 0, 3)}, in{tensorOf(dtype.Float32, nil, 0, 3)}, ""},
		{"out of range", "Flatten", 13, attrs(attrInt("axis", 4)), in{x}, nil, "axis 4 is out of range for rank 3"},
	})
}

func TestSqueeze(t *testing.T) {
	x := counting(0, 1, 2, 1)
	runNodeTests(t, []nodeTest{
		{"all", "Squeeze", 1, nil, in{x}, in{counting(0, 2)}, ""},
		{"some", "Squeeze", 1, attrs(attrInts("axes", 0)), in{x}, in{counting(0, 2, 1)}, ""},
		{"negative", "Squeeze", 11, attrs(attrInts("axes", -1)), in{x}, in{counting(0, 1, 2)}, ""},
		{"input", "Squeeze", 13, nil, in{x, i64([]float64{-3, 2})}, in{counting(0, 2)}, ""},
		{"no input", "Squeeze", 13, nil, in{x}, in{counting(0, 2)}, ""},
		{"none", "Squeeze", 13, nil, in{x, i64(nil, 0)}, in{x}, ""},
		{"the attribute is gone", "Squeeze", 13, attrs(attrInts("axes", 0)), in{x}, nil, "attribute axes does not exist after version 12"},
		{"not 1", "Squeeze", 13, nil, in{x, i64([]float64{1})}, nil, "axis 1 of input [1 2 1] has extent 2, not 1"},
		{"twice", "Squeeze", 13, nil, in{x, i64([]float64{0, -3})}, nil, "name axis 0 twice"},
		{"add", "Unsqueeze", 1, attrs(attrInts("axes", 0, 2)), in{counting(0, 2)}, in{x}, ""},
		{"add, unsorted", "Unsqueeze", 11, attrs(attrInts("axes", -1, 0)), in{counting(0, 2)}, in{x}, ""},
		{"add to a scalar", "Unsqueeze", 13, nil, in{scalarOf(dtype.Float32, 3), i64([]float64{0, 1})}, in{counting(3, 1, 1)}, ""},
		{"add, empty", "Unsqueeze", 13, nil, in{tensorOf(dtype.Float32, nil, 0), i64([]float64{1})}, in{tensorOf(dtype.Float32, nil, 0, 1)}, ""},
		{"add twice", "Unsqueeze", 13, nil, in{x, i64([]float64{0, -5})}, nil, "name axis 0 twice"},
		{"add beyond", "Unsqueeze", 13, nil, in{x, i64([]float64{4})}, nil, "axis 4 is out of range for rank 4"},
		{"add nothing", "Unsqueeze", 11, nil, in{x}, nil, `attribute "axes" is missing`},
	})
}

func TestTranspose(t *testing.T) {
	x := counting(0, 1, 2, 2)
	runNodeTests(t, []nodeTest{
		{"reversed", "Transpose", 1, nil, in{x}, in{f32([]float64{0, 2, 1, 3}, 2, 2, 1)}, ""},
		{"permuted", "Transpose", 13, attrs(attrInts("perm", 1, 0, 2)), in{x}, in{counting(0, 2, 1, 2)}, ""},
		{"scalar", "Transpose", 13, nil, in{scalarOf(dtype.Float32, 1)}, in{scalarOf(dtype.Float32, 1)}, ""},
		{"twice the same", "Transpose", 13, attrs(attrInts("perm", 0, 0, 1)), in{x}, nil, "[0 0 1]"},
		{"too few", "Transpose", 13, attrs(attrInts("perm", 1, 0)), in{x}, nil, "[1 0]"},
	})
}

func TestShapeAndSize(t *testing.T) {
	x := counting(0, 2, 3, 4)
	runNodeTests(t, []nodeTest{
		{"whole", "Shape", 1, nil, in{x}, in{i64([]float64{2, 3, 4})}, ""},
		{"of a scalar", "Shape", 13, nil, in{scalarOf(dtype.Float32, 1)}, in{i64(nil, 0)}, ""},
		{"no range before 15", "Shape", 13, attrs(attrInt("start", 1)), in{x}, nil, "attribute start does not exist before version 15"},
		{"from", "Shape", 15, attrs(attrInt("start", -2)), in{x}, in{i64([]float64{3, 4})}, ""},
		{"to", "Shape", 15, attrs(attrInt("end", -1)), in{x}, in{i64([]float64{2, 3})}, ""},
		{"beyond both ends", "Shape", 15, attrs(attrInt("start", -10), attrInt("end", 10)), in{x}, in{i64([]float64{2, 3, 4})}, ""},
		{"crossed", "Shape", 19, attrs(attrInt("start", 2), attrInt("end", 1)), in{x}, in{i64(nil, 0)}, ""},
		{"size", "Size", 1, nil, in{x}, in{scalarOf(dtype.Int64, 24)}, ""},
		{"size of a scalar", "Size", 13, nil, in{scalarOf(dtype.Float32, 1)}, in{scalarOf(dtype.Int64, 1)}, ""},
		{"size of nothing", "Size", 13, nil, in{tensorOf(dtype.Float32, nil, 3, 0)}, in{scalarOf(dtype.Int64, 0)}, ""},
	})
}

func TestExpand(t *testing.T) {
	x := f32([]float64{1, 2}, 2, 1)
	runNodeTests(t, []nodeTest{
		{"one way", "Expand", 8, nil, in{x, i64([]float64{2, 2})}, in{f32([]float64{1, 1, 2, 2}, 2, 2)}, ""},
		{"both ways", "Expand", 13, nil, in{x, i64([]float64{1, 3})}, in{f32([]float64{1, 1, 1, 2, 2, 2}, 2, 3)}, ""},
		{"higher rank", "Expand", 13, nil, in{x, i64([]float64{2, 1, 1})}, in{f32([]float64{1, 2, 1, 2}, 2, 2, 1)}, ""},
		{"to nothing", "Expand", 13, nil, in{x, i64([]float64{2, 0})}, in{tensorOf(dtype.Float32, nil, 2, 0)}, ""},
		{"no axes", "Expand", 13, nil, in{x, i64(nil, 0)}, in{x}, ""},
		{"does not fit", "Expand", 13, nil, in{x, i64([]float64{3, 1})}, nil, "do not broadcast"},
		{"negative", "Expand", 13, nil, in{x, i64([]float64{-1, 1})}, nil, "negative extent -1"},
	})
}

func TestSlice(t *testing.T) {
	x := counting(0, 2, 3)
	line := counting(0, 5)
	ints := func(v ...float64) in { return in{i64(v)} }
	slice := func(x in, lists ...in) in {
		for _, l := range lists {
			x = append(x[:len(x):len(x)], l...)
		}
		return x
	}
	const least, most = math.MinInt64, math.MaxInt64
	edge := in{tensorOf(dtype.Int64, []float64{math.MinInt64}, 1)}
	runNodeTests(t, []nodeTest{
		{"attributes", "Slice", 1, attrs(attrInts("starts", 0, 1), attrInts("ends", 1, most)), in{x}, in{counting(1, 1, 2)}, ""},
		{"attributes with axes", "Slice", 1, attrs(attrInts("starts", -2), attrInts("ends", -1), attrInts("axes", 1)), in{x}, in{f32([]float64{1, 4}, 2, 1)}, ""},
		{"attributes beyond the axis", "Slice", 9, attrs(attrInts("starts", least), attrInts("ends", most)), in{x}, in{x}, ""},
		{"attributes of unlike length", "Slice", 9, attrs(attrInts("starts", 0, 0), attrInts("ends", 1)), in{x}, nil, "2 starts, 1 ends"},
		{"inputs", "Slice", 10, nil, slice(in{x}, ints(1), ints(3), ints(-1)), in{f32([]float64{1, 2, 4, 5}, 2, 2)}, ""},
		{"steps", "Slice", 11, nil, slice(in{line}, ints(0), ints(5), ints(0), ints(2)), in{f32([]float64{0, 2, 4})}, ""},
		{"backwards to the first", "Slice", 11, nil, slice(in{line}, ints(-1), edge, ints(0), ints(-2)), in{f32([]float64{4, 2, 0})}, ""},
		{"backwards to before the first", "Slice", 13, nil, slice(in{line}, ints(3), ints(-6), in{nil}, ints(-1)), in{f32([]float64{3, 2, 1, 0})}, ""},
		{"backwards, -1 is the last", "Slice", 13, nil, slice(in{line}, ints(3), ints(-1), in{nil}, ints(-1)), in{tensorOf(dtype.Float32, nil, 0)}, ""},
		{"backwards from before the first", "Slice", 13, nil, slice(in{line}, ints(-9), edge, in{nil}, ints(-1)), in{f32([]float64{0})}, ""},
		{"backwards from behind the last", "Slice", 13, nil, slice(in{line}, ints(9), ints(2), in{nil}, ints(-1)), in{f32([]float64{4, 3})}, ""},
		{"a step as far as can be", "Slice", 13, nil, slice(in{line}, ints(4), edge, in{nil}, edge), in{f32([]float64{4})}, ""},
		{"nothing", "Slice", 13, nil, slice(in{line}, ints(3), ints(1)), in{tensorOf(dtype.Float32, nil, 0)}, ""},
		{"of nothing, backwards", "Slice", 13, nil, slice(in{tensorOf(dtype.Float32, nil, 0)}, ints(0), edge, in{nil}, ints(-1)), in{tensorOf(dtype.Float32, nil, 0)}, ""},
		{"bounds of 32 bits", "Slice", 13, nil, in{line, tensorOf(dtype.Int32, []float64{1}, 1), tensorOf(dtype.Int32, []float64{math.MaxInt32}, 1)}, in{counting(1, 4)}, ""},
		{"step 0", "Slice", 13, nil, slice(in{line}, ints(3), ints(1), in{nil}, ints(0)), nil, "step 0"},
		{"an axis twice", "Slice", 13, nil, slice(in{x}, ints(0, 0), ints(1, 1), ints(0, -2)), nil, "name axis 0 twice"},
	})
}

func TestSplit(t *testing.T) {
	line, x := counting(0, 5), counting(0, 2, 4)
	parts := in{f32([]float64{0, 1, 4, 5}, 2, 2), f32([]float64{2, 3, 6, 7}, 2, 2)}
	runNodeTests(t, []nodeTest{
		{"parts of an input", "Split", 1, attrs(attrInt("axis", 1)), in{x, i64([]float64{2, 2})}, parts, ""},
		{"equal", "Split", 2, attrs(attrInt("axis", -1)), in{x}, parts, ""},
		{"attribute", "Split", 11, attrs(attrInts("split", 1, 4)), in{line}, in{counting(0, 1), counting(1, 4)}, ""},
		{"input", "Split", 13, nil, in{line, i64([]float64{2, 0, 3})}, in{counting(0, 2), tensorOf(dtype.Float32, nil, 0), counting(2, 3)}, ""},
		{"an output left out", "Split", 13, nil, in{line, i64([]float64{2, 3})}, in{nil, counting(2, 3)}, ""},
		{"unequal before 18", "Split", 13, nil, in{line}, in{nil, counting(0, 1)}, "5 elements do not split into 2 parts"},
		{"smaller last part", "Split", 18, attrs(attrInt("num_outputs", 2)), in{line}, in{counting(0, 3), counting(3, 2)}, ""},
		{"less than nothing for the last part", "Split", 18, attrs(attrInt("num_outputs", 4)), in{line}, in{nil, nil, nil, nil}, "5 elements do not split into 4 parts"},
		{"other number of outputs", "Split", 18, attrs(attrInt("num_outputs", 3)), in{line}, nil, "num_outputs is 3, but there are 1 outputs"},
		{"parts given twice", "Split", 18, attrs(attrInt("num_outputs", 1)), in{line, i64([]float64{5})}, nil, "by the input split and by an attribute"},
		{"parts too small", "Split", 18, nil, in{line, i64([]float64{4})}, nil, "do not add up to the extent 5"},
		{"parts too large", "Split", 18, nil, in{line, i64([]float64{3, 3})}, nil, "do not add up to the extent 5"},
		{"negative part", "Split", 18, nil, in{line, i64([]float64{6, -1})}, nil, "do not add up"},
		{"more parts than outputs", "Split", 18, nil, in{line, i64([]float64{2, 3})}, nil, "into 2 parts for 1 outputs"},
		{"fewer parts than outputs", "Split", 11, attrs(attrInts("split", 5)), in{line}, in{line, line}, "into 1 parts for 2 outputs"},
	})
}

func TestBlocks(t *testing.T) {
	x := counting(0, 1, 8, 1, 1)
	two := attrInt("blocksize", 2)
	runNodeTests(t, []nodeTest{
		{"depth first", "DepthToSpace", 1, attrs(two), in{x}, in{f32([]float64{0, 2, 4, 6, 1, 3, 5, 7}, 1, 2, 2, 2)}, ""},
		{"columns first", "DepthToSpace", 11, attrs(two, attrText("mode", "CRD")), in{x}, in{counting(0, 1, 2, 2, 2)}, ""},
		{"other mode", "DepthToSpace", 13, attrs(two, attrText("mode", "XYZ")), in{x}, nil, `attribute "mode" is "XYZ"`},
		{"no size", "DepthToSpace", 13, nil, in{x}, nil, "block size 0"},
		{"back", "SpaceToDepth", 1, attrs(two), in{f32([]float64{0, 2, 4, 6, 1, 3, 5, 7}, 1, 2, 2, 2)}, in{x}, ""},
	})
}

func TestCenterCropPad(t *testing.T) {
	line := counting(1, 5)
	runNodeTests(t, []nodeTest{
		{"crop by an odd number", "CenterCropPad", 18, nil, in{line, i64([]float64{2})}, in{counting(2, 2)}, ""},
		{"pad by an odd number", "CenterCropPad", 18, nil, in{line, i64([]float64{8})}, in{f32([]float64{0, 1, 2, 3, 4, 5, 0, 0})}, ""},
		{"crop and pad", "CenterCropPad", 18, nil, in{counting(1, 3, 1), i64([]float64{1, 3})}, in{f32([]float64{0, 2, 0}, 1, 3)}, ""},
		{"one axis", "CenterCropPad", 18, attrs(attrInts("axes", -1)), in{counting(1, 2, 1), i64([]float64{2})}, in{f32([]float64{1, 0, 2, 0}, 2, 2)}, ""},
		{"extents for other axes", "CenterCropPad", 18, nil, in{line, i64([]float64{1, 2})}, nil, "2 extents for 1 axes"},
	})
}
