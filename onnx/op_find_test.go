package onnx

import (
	"errors"
	"math"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/wire"
)

func TestCompressAndNonZero(t *testing.T) {
	x := counting(1, 3, 2) // 1 2; 3 4; 5 6
	yes := func(v ...float64) *berth.Tensor { return truth(v, len(v)) }
	axis := func(a int64) []wire.Attribute { return attrs(attrInt("axis", a)) }
	runNodeTests(t, []nodeTest{
		{"rows", "Compress", 9, axis(0), in{x, yes(0, 1, 1)}, in{f32([]float64{3, 4, 5, 6}, 2, 2)}, ""},
		{"columns", "Compress", 11, axis(-1), in{x, yes(0, 1)}, in{f32([]float64{2, 4, 6}, 3, 1)}, ""},
		{"all elements", "Compress", 11, nil, in{x, yes(1, 0, 0, 0, 1)}, in{f32([]float64{1, 5})}, ""},
		{"nothing", "Compress", 11, axis(0), in{x, yes(0, 0)}, in{f32(nil, 0, 2)}, ""},
		{"a condition too long", "Compress", 11, axis(1), in{x, yes(1, 0, 1, 1)}, in{f32([]float64{1, 3, 5}, 3, 1)}, ""},
		{"halves", "Compress", 11, nil, in{tensorOf(dtype.Float16, []float64{1, 2}, 2), yes(0, 1)}, in{tensorOf(dtype.Float16, []float64{2}, 1)}, ""},
		{"no truth values", "Compress", 11, nil, in{x, x}, nil, "the condition is float32[3 2], want truth values along one axis"},
		{"no such axis", "Compress", 11, axis(2), in{x, yes(1)}, nil, "axis 2 is out of range"},

		{"", "NonZero", 9, nil, in{f32([]float64{0, 1, math.NaN(), math.Copysign(0, -1)}, 2, 2)}, in{i64([]float64{0, 1, 1, 0}, 2, 2)}, ""},
		{"truth values", "NonZero", 13, nil, in{truth([]float64{1, 0, 1}, 1, 3)}, in{i64([]float64{0, 0, 0, 2}, 2, 2)}, ""},
		{"nothing", "NonZero", 13, nil, in{i64([]float64{0, 0})}, in{i64(nil, 1, 0)}, ""},
		{"of low precision", "NonZero", 13, nil, in{tensorOf(dtype.Int4, []float64{1}, 1)}, nil, "element type is not supported"},
		{"a single element", "NonZero", 13, nil, in{scalarOf(dtype.Float32, 7)}, in{i64(nil, 0, 1)}, ""},
		{"a single element that is zero", "NonZero", 13, nil, in{scalarOf(dtype.Uint8, 0)}, in{i64(nil, 0, 0)}, ""},
	})
}

func TestUniqueElements(t *testing.T) {
	x := f32([]float64{2, 1, 1, 3, 4, 3})
	rows := f32([]float64{2, 3, 4, 1, 0, 0, 1, 0, 0}, 3, 3)
	cube := f32([]float64{1, 1, 0, 1, 2, 1, 0, 1, 1, 1, 0, 1, 2, 1, 0, 1}, 2, 4, 2)
	unsorted := attrInt("sorted", 0)
	nan := math.NaN()
	runNodeTests(t, []nodeTest{
		{"ascending", "Unique", 11, nil, in{x}, in{f32([]float64{1, 2, 3, 4}), i64([]float64{1, 0, 3, 4}), i64([]float64{1, 0, 0, 2, 3, 2}), i64([]float64{2, 1, 2, 1})}, ""},
		{"as they appear", "Unique", 11, attrs(unsorted), in{x}, in{f32([]float64{2, 1, 3, 4}), i64([]float64{0, 1, 3, 4}), i64([]float64{0, 1, 1, 2, 3, 2}), i64([]float64{1, 2, 2, 1})}, ""},
		{"of a matrix", "Unique", 11, nil, in{f32([]float64{1, 3, 2, 3}, 2, 2)}, in{f32([]float64{1, 2, 3}), nil, i64([]float64{0, 2, 1, 2})}, ""},
		{"rows", "Unique", 11, attrs(attrInt("axis", 0)), in{rows}, in{f32([]float64{1, 0, 0, 2, 3, 4}, 2, 3), i64([]float64{1, 0}), i64([]float64{1, 0, 0}), i64([]float64{2, 1})}, ""},
		{"rows as they appear", "Unique", 11, attrs(attrInt("axis", -2), unsorted), in{rows}, in{f32([]float64{2, 3, 4, 1, 0, 0}, 2, 3), nil, nil, i64([]float64{1, 2})}, ""},
		{"an axis in the middle", "Unique", 11, attrs(attrInt("axis", 1)), in{cube}, in{f32([]float64{0, 1, 1, 1, 2, 1, 0, 1, 1, 1, 2, 1}, 2, 3, 2), i64([]float64{1, 0, 2}), i64([]float64{1, 0, 2, 0}), i64([]float64{2, 1, 1})}, ""},
		{"zeros and NaN", "Unique", 11, nil, in{f32([]float64{nan, 0, math.Copysign(0, -1), nan, -1})}, in{f32([]float64{-1, 0, nan}), i64([]float64{4, 1, 0}), nil, i64([]float64{1, 2, 2})}, ""},
		{"of low precision", "Unique", 11, nil, in{tensorOf(dtype.Int4, []float64{1}, 1)}, nil, "element type is not supported"},
		{"nothing", "Unique", 11, nil, in{i64(nil, 0)}, in{i64(nil, 0), i64(nil, 0), i64(nil, 0), i64(nil, 0)}, ""},
		{"bytes", "Unique", 11, nil, in{tensorOf(dtype.Int8, []float64{3, -3, 3}, 3)}, in{tensorOf(dtype.Int8, []float64{-3, 3}, 2)}, ""},
		{"truth values", "Unique", 11, nil, in{truth([]float64{1, 1})}, in{truth([]float64{1})}, ""},
		{"halves", "Unique", 11, nil, in{tensorOf(dtype.BFloat16, []float64{2, -2, 2}, 3)}, in{tensorOf(dtype.BFloat16, []float64{-2, 2}, 2)}, ""},
	})
}

func TestBoxSelection(t *testing.T) {
	boxes := f32([]float64{0, 0, 1, 2, 0, 1, 1, 3, 0, 5, 1, 7}, 1, 3, 4)
	scores := f32([]float64{1, 3, 2}, 1, 1, 3)
	most := func(n float64) *berth.Tensor { return i64([]float64{n}) }
	single := func(v float64) *berth.Tensor { return f32([]float64{v}) }
	const op = "NonMaxSuppression"
	runNodeTests(t, []nodeTest{
		{"", op, 10, nil, in{boxes, scores, most(9), single(.3)}, in{i64([]float64{0, 0, 1, 0, 0, 2}, 2, 3)}, ""},
		{"a larger overlap", op, 11, nil, in{boxes, scores, most(9), single(.5)}, in{i64([]float64{0, 0, 1, 0, 0, 2, 0, 0, 0}, 3, 3)}, ""},
		{"a number of rank 0, no overlap", op, 11, nil, in{boxes, scores, scalarOf(dtype.Int64, 1)}, in{i64([]float64{0, 0, 1}, 1, 3)}, ""},
		{"a least score", op, 11, nil, in{boxes, scores, most(9), nil, single(2)}, in{i64([]float64{0, 0, 1}, 1, 3)}, ""},
		{"no number", op, 11, nil, in{boxes, scores}, in{i64(nil, 0, 3)}, ""},
		{"centres", op, 11, attrs(attrInt("center_point_box", 1)), in{f32([]float64{0, 0, 2, 2, 1, 0, 2, 2}, 1, 2, 4), f32([]float64{1, 2}, 1, 1, 2), most(9), single(.3)}, in{i64([]float64{0, 0, 1}, 1, 3)}, ""},
		{"scores of other boxes", op, 11, nil, in{boxes, f32([]float64{1, 3}, 1, 1, 2), most(9)}, nil, "the scores are float32[1 1 2], want float32[1, classes, 3]"},
		{"boxes of three numbers", op, 11, nil, in{f32([]float64{1, 2, 3}, 1, 1, 3), scores, most(9)}, nil, "the boxes are float32[1 1 3]"},
		{"more than all", op, 11, nil, in{boxes, scores, most(9), single(1.5)}, nil, "the threshold of overlaps is 1.5"},
	})
}

// TestFoundWhileCompiling: what is to be found in an input needs its data, and what a
// file asks to be found in its own constants is bounded.
func TestFoundWhileCompiling(t *testing.T) {
	parse := func(g wire.Graph) *Model {
		g.Name, g.Outputs = "test", []wire.ValueInfo{{Name: "y"}}
		m, err := Parse(wire.AppendModel(nil, &wire.Model{IRVersion: 8, OpsetImports: []wire.OperatorSet{{Version: 13}}, Graph: &g}))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	node := func(op string, ins ...string) wire.Node {
		return wire.Node{OpType: op, Inputs: ins, Outputs: []string{"y"}}
	}
	m := parse(wire.Graph{Nodes: []wire.Node{node("NonZero", "x")}, Inputs: []wire.ValueInfo{valueInfoOf("x", counting(0, 3))}})
	if _, err := m.Compile(t.Context(), nil); !errors.Is(err, ErrHost) {
		t.Errorf("compiled without data: error %v", err)
	}
	dims := wire.Tensor{Name: "dims", DataType: wire.Int64, Dims: []int64{2}, Raw: kernel.Bytes([]int64{1 << 13, 1 << 13})}
	ones := node("ConstantOfShape", "dims")
	ones.Outputs = []string{"x"}
	large := wire.Tensor{Name: "x", DataType: wire.Uint8, Dims: []int64{4 << 20}, Raw: make([]byte, 4<<20)}
	m = parse(wire.Graph{Nodes: []wire.Node{node("Unique", "x")}, Initializers: []wire.Tensor{large}})
	if _, err := m.Compile(t.Context(), nil); !errors.Is(err, errWork) {
		t.Errorf("Unique of large data of the file: error %v", err)
	}
	for _, op := range []string{"NonZero", "Unique"} {
		m = parse(wire.Graph{Nodes: []wire.Node{ones, node(op, "x")}, Initializers: []wire.Tensor{dims}})
		if _, err := m.Compile(t.Context(), nil); !errors.Is(err, errWork) {
			t.Errorf("%s of a large constant: error %v", op, err)
		}
	}
}
