package onnx

import (
	"math"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/wire"
)

func TestReduceVersions(t *testing.T) {
	x := counting(1, 2, 3) // 1 2 3; 4 5 6
	keep := attrInt("keepdims", 0)
	axes := attrInts("axes", 1)
	empty := i64(nil, 0)
	noop := attrInt("noop_with_empty_axes", 1)
	runNodeTests(t, []nodeTest{
		{"all axes", "ReduceSum", 1, nil, in{x}, in{f32([]float64{21}, 1, 1)}, ""},
		{"axes as attribute", "ReduceSum", 11, attrs(axes, keep), in{x}, in{f32([]float64{6, 15})}, ""},
		{"negative axis", "ReduceMean", 11, attrs(attrInts("axes", -2)), in{x}, in{f32([]float64{2.5, 3.5, 4.5}, 1, 3)}, ""},
		{"axes as input", "ReduceSum", 13, attrs(keep), in{x, i64([]float64{-1})}, in{f32([]float64{6, 15})}, ""},
		{"attribute still at 13", "ReduceMax", 13, attrs(axes), in{x}, in{f32([]float64{3, 6}, 2, 1)}, ""},
		{"no axes input before 18", "ReduceMax", 17, nil, in{x, i64([]float64{1})}, nil, "has 2 inputs, the operator takes at most 1"},
		{"axes input at 18", "ReduceMax", 18, nil, in{x, i64([]float64{0, 1})}, in{f32([]float64{6}, 1, 1)}, ""},
		{"attribute too late", "ReduceMax", 18, attrs(axes), in{x}, nil, "attribute axes does not exist after version 17"},
		{"attribute too late", "ReduceSum", 13, attrs(axes), in{x}, nil, "attribute axes does not exist after version 12"},
		{"noop too early", "ReduceSum", 11, attrs(noop), in{x}, nil, `has no attribute "noop_with_empty_axes"`},
		{"absent axes", "ReduceProd", 18, attrs(keep), in{x}, in{scalarOf(dtype.Float32, 720)}, ""},
		{"no axes", "ReduceSum", 13, nil, in{x, empty}, in{f32([]float64{21}, 1, 1)}, ""},
		{"no axes asked to be none", "ReduceSum", 13, attrs(noop), in{x, empty}, in{x}, ""},
		{"absent axes asked to be none", "ReduceSumSquare", 18, attrs(noop), in{x}, in{f32([]float64{1, 4, 9, 16, 25, 36}, 2, 3)}, ""},
		{"one axis all the same", "ReduceMin", 18, attrs(noop), in{x, i64([]float64{0})}, in{f32([]float64{1, 2, 3}, 1, 3)}, ""},
		{"rank 0", "ReduceL1", 18, nil, in{scalarOf(dtype.Float32, -3)}, in{scalarOf(dtype.Float32, 3)}, ""},
		{"no such axis", "ReduceSum", 13, nil, in{x, i64([]float64{2})}, nil, "reduce: sum of float32[2 3]"},
		{"the same axis twice", "ReduceSum", 11, attrs(attrInts("axes", 1, -1)), in{x}, nil, "axis"},
		{"axes that are no integers", "ReduceSum", 13, nil, in{x, counting(0, 1)}, nil, "input 1 is of type float32"},
		{"", "ReduceL2", 18, attrs(keep), in{x, i64([]float64{0})}, in{f32([]float64{math.Sqrt(17), math.Sqrt(29), math.Sqrt(45)})}, ""},
		{"", "ReduceLogSum", 1, attrs(axes, keep), in{x}, in{f32([]float64{math.Log(6), math.Log(15)})}, ""},
		{"large", "ReduceLogSumExp", 18, attrs(keep), in{f32([]float64{1000, 1000})}, in{scalarOf(dtype.Float32, 1000+math.Ln2)}, ""},
		{"nothing", "ReduceMin", 18, attrs(keep), in{f32(nil, 2, 0), i64([]float64{1})}, in{f32([]float64{math.Inf(1), math.Inf(1)})}, ""},
		{"truth values", "ReduceMax", 20, attrs(keep), in{truth([]float64{0, 0, 0, 1}, 2, 2), i64([]float64{1})}, in{truth([]float64{0, 1})}, ""},
		{"integers", "ReduceMean", 18, attrs(keep), in{tensorOf(dtype.Int32, []float64{-3, 0}, 2)}, in{scalarOf(dtype.Int32, -1)}, ""},
		{"bytes", "ReduceMax", 12, attrs(keep), in{tensorOf(dtype.Uint8, []float64{200, 7}, 2)}, in{scalarOf(dtype.Uint8, 200)}, ""},
		{"half", "ReduceSum", 13, attrs(keep), in{tensorOf(dtype.BFloat16, []float64{1.5, 2}, 2)}, in{scalarOf(dtype.BFloat16, 3.5)}, ""},
	})
}

func TestSearches(t *testing.T) {
	x := f32([]float64{3, 9, 9, 7, 1, 7}, 2, 3)
	last := attrInt("select_last_index", 1)
	list := func(v ...float64) *berth.Tensor { return i64(v, 2, 2) }
	one := i64([]float64{2})
	runNodeTests(t, []nodeTest{
		{"first axis by default", "ArgMax", 1, nil, in{x}, in{i64([]float64{1, 0, 0}, 1, 3)}, ""},
		{"pruned", "ArgMin", 11, attrs(attrInt("axis", -1), attrInt("keepdims", 0)), in{x}, in{i64([]float64{0, 1})}, ""},
		{"first of equals", "ArgMax", 12, attrs(attrInt("axis", 1), attrInt("keepdims", 0)), in{x}, in{i64([]float64{1, 0})}, ""},
		{"last of equals too early", "ArgMax", 11, attrs(last), in{x}, nil, "attribute select_last_index does not exist before version 12"},
		{"last of equals", "ArgMax", 12, attrs(attrInt("axis", 1), attrInt("keepdims", 0), last), in{x}, in{i64([]float64{2, 2})}, ""},
		{"no such axis", "ArgMax", 13, attrs(attrInt("axis", 2)), in{x}, nil, "arg_reduce: of float32[2 3]"},

		{"number as attribute", "TopK", 1, attrs(attrInt("k", 2)), in{x}, in{f32([]float64{9, 9, 7, 7}, 2, 2), list(1, 2, 0, 2)}, ""},
		{"no number", "TopK", 1, nil, in{x}, nil, `attribute "k" is missing`},
		{"number as input", "TopK", 10, attrs(attrInt("axis", 0)), in{x, i64([]float64{1})}, in{f32([]float64{7, 9, 9}, 1, 3), i64([]float64{1, 0, 0}, 1, 3)}, ""},
		{"largest is not known yet", "TopK", 10, attrs(attrInt("largest", 0)), in{x, one}, nil, "attribute largest does not exist before version 11"},
		{"number twice", "TopK", 11, attrs(attrInt("k", 1)), in{x, one}, nil, "attribute k does not exist after version 9"},
		{"smallest", "TopK", 11, attrs(attrInt("largest", 0)), in{x, one}, in{f32([]float64{3, 9, 1, 7}, 2, 2), list(0, 1, 1, 0)}, ""},
		{"indices alone", "TopK", 24, nil, in{x, one}, in{nil, list(1, 2, 0, 2)}, ""},
		{"none", "TopK", 11, nil, in{x, i64([]float64{0})}, in{f32(nil, 2, 0), i64(nil, 2, 0)}, ""},
		{"more than there are", "TopK", 11, nil, in{x, i64([]float64{4})}, nil, "4 elements of axis 1, which has 3"},
		{"two numbers", "TopK", 11, nil, in{x, i64([]float64{1, 2})}, nil, "input 1 has 2 elements, not 1"},

		{"axis as input", "CumSum", 11, nil, in{x, scalarOf(dtype.Int32, 1)}, in{f32([]float64{3, 12, 21, 7, 8, 15}, 2, 3)}, ""},
		{"exclusive, from the end", "CumSum", 14, attrs(attrInt("exclusive", 1), attrInt("reverse", 1)), in{x, scalarOf(dtype.Int64, -1)}, in{f32([]float64{18, 9, 0, 8, 7, 0}, 2, 3)}, ""},
		{"", "CumProd", 26, nil, in{x, scalarOf(dtype.Int64, 0)}, in{f32([]float64{3, 9, 9, 21, 9, 63}, 2, 3)}, ""},
		{"integers", "CumSum", 11, nil, in{tensorOf(dtype.Int32, []float64{1, 2, 3}, 3), scalarOf(dtype.Int64, 0)}, in{tensorOf(dtype.Int32, []float64{1, 3, 6}, 3)}, ""},
	})
}

func TestSoftmaxVersions(t *testing.T) {
	// With logarithms as input, the softmax is a share of a sum.
	shares := func(v ...float64) *berth.Tensor {
		logs := make([]float64, len(v))
		for i := range v {
			logs[i] = math.Log(v[i])
		}
		return f32(logs, 2, 2, 2)
	}
	x := shares(1, 3, 2, 2, 1, 1, 1, 5)
	axis := func(a int64) []wire.Attribute { return attrs(attrInt("axis", a)) }
	cube := func(v ...float64) *berth.Tensor { return f32(v, 2, 2, 2) }
	byRow := cube(.25, .75, .5, .5, .5, .5, 1./6, 5./6)
	bySample := cube(1./8, 3./8, 2./8, 2./8, 1./8, 1./8, 1./8, 5./8)
	byAll := cube(1./16, 3./16, 2./16, 2./16, 1./16, 1./16, 1./16, 5./16)
	byMiddle := cube(1./3, 3./5, 2./3, 2./5, 1./2, 1./6, 1./2, 5./6)
	runNodeTests(t, []nodeTest{
		{"from axis 1 on", "Softmax", 1, nil, in{x}, in{bySample}, ""},
		{"all", "Softmax", 1, axis(0), in{x}, in{byAll}, ""},
		{"the last axis", "Softmax", 11, axis(-1), in{x}, in{byRow}, ""},
		{"negative axis", "Softmax", 11, axis(-2), in{x}, in{bySample}, ""},
		{"after the last axis", "Softmax", 1, axis(3), in{x}, in{cube(1, 1, 1, 1, 1, 1, 1, 1)}, ""},
		{"one axis and no more", "Softmax", 1, nil, in{f32([]float64{5, 6})}, in{f32([]float64{1, 1})}, ""},
		{"no such axis", "Softmax", 11, axis(4), in{x}, nil, "axis 4"},
		{"the last axis by default", "Softmax", 13, nil, in{x}, in{byRow}, ""},
		{"a middle axis", "Softmax", 13, axis(1), in{x}, in{byMiddle}, ""},
		{"no such axis", "Softmax", 13, axis(3), in{x}, nil, "softmax: of float32[2 2 2]"},
		{"from axis 1 on", "LogSoftmax", 1, nil, in{x}, in{shares(1./8, 3./8, 2./8, 2./8, 1./8, 1./8, 1./8, 5./8)}, ""},
		{"the last axis", "LogSoftmax", 13, nil, in{x}, in{shares(.25, .75, .5, .5, .5, .5, 1./6, 5./6)}, ""},
		{"from axis 1 on", "Hardmax", 1, nil, in{x}, in{cube(0, 1, 0, 0, 0, 0, 0, 1)}, ""},
		{"first of equals", "Hardmax", 13, nil, in{x}, in{cube(0, 1, 1, 0, 1, 0, 0, 1)}, ""},
		{"nothing", "Softmax", 1, nil, in{f32(nil, 2, 0, 3)}, in{f32(nil, 2, 0, 3)}, ""},
	})
}
