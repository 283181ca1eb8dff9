package onnx

import (
	"math"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/wire"
)

func attrTensor(name string, t wire.Tensor) wire.Attribute {
	return wire.Attribute{Name: name, Kind: wire.AttrTensor, Tensor: &t}
}

func TestConstant(t *testing.T) {
	pair := wire.Tensor{DataType: wire.Int64, Dims: []int64{2}, Int64Data: []byte{7, 8}}
	sparse := func(at wire.Tensor, dims ...int64) []wire.Attribute {
		return attrs(wire.Attribute{Name: "sparse_value", Kind: wire.AttrSparseTensor, SparseTensor: &wire.SparseTensor{
			Values: &pair, Indices: &at, Dims: dims,
		}})
	}
	runNodeTests(t, []nodeTest{
		{"tensor", "Constant", 1, attrs(attrTensor("value", pair)), nil, in{i64([]float64{7, 8})}, ""},
		{"scalar", "Constant", 9, attrs(attrTensor("value", wire.Tensor{DataType: wire.Double, Raw: make([]byte, 8)})), nil, in{scalarOf(dtype.Float64, 0)}, ""},
		{"no number before 12", "Constant", 11, attrs(attrInt("value_int", 3)), nil, nil, `attribute "value_int" does not exist`},
		{"integer", "Constant", 12, attrs(attrInt("value_int", 3)), nil, in{scalarOf(dtype.Int64, 3)}, ""},
		{"integers", "Constant", 13, attrs(attrInts("value_ints", 3, 4)), nil, in{i64([]float64{3, 4})}, ""},
		{"no integers", "Constant", 13, attrs(attrInts("value_ints")), nil, in{i64(nil, 0)}, ""},
		{"float", "Constant", 12, attrs(attrFloat("value_float", .5)), nil, in{scalarOf(dtype.Float32, .5)}, ""},
		{"floats", "Constant", 25, attrs(wire.Attribute{Name: "value_floats", Kind: wire.AttrFloats, Floats: []float32{1, 2}}), nil, in{counting(1, 2)}, ""},
		{"text", "Constant", 13, attrs(attrText("value_string", "x")), nil, nil, "is string[], no tensor of numbers"},
		{"number of the wrong kind", "Constant", 13, attrs(attrFloat("value_int", 3)), nil, nil, `attribute "value_int" is of kind`},
		{"nothing", "Constant", 13, nil, nil, nil, "has 0 attributes"},
		{"two", "Constant", 13, attrs(attrInt("value_int", 3), attrFloat("value_float", 3)), nil, nil, "has 2 attributes"},
		{"sparse, by position", "Constant", 11, sparse(wire.Tensor{DataType: wire.Int64, Dims: []int64{2}, Int64Data: []byte{1, 3}}, 2, 2), nil, in{i64([]float64{0, 7, 0, 8}, 2, 2)}, ""},
		{"sparse, by index", "Constant", 13, sparse(wire.Tensor{DataType: wire.Int64, Dims: []int64{2, 2}, Int64Data: []byte{0, 0, 1, 0}}, 2, 2), nil, in{i64([]float64{7, 0, 8, 0}, 2, 2)}, ""},
		{"sparse, out of range", "Constant", 13, sparse(wire.Tensor{DataType: wire.Int64, Dims: []int64{2}, Int64Data: []byte{1, 4}}, 2, 2), nil, nil, "4"},
		{"no sparse before 11", "Constant", 9, sparse(wire.Tensor{DataType: wire.Int64, Dims: []int64{2}, Int64Data: []byte{1, 3}}, 2, 2), nil, nil, `attribute "sparse_value" does not exist`},
	})
}

func TestConstantOfShape(t *testing.T) {
	seven := attrs(attrTensor("value", wire.Tensor{DataType: wire.Int32, Dims: []int64{1}, Int32Data: []byte{7}}))
	runNodeTests(t, []nodeTest{
		{"zeros", "ConstantOfShape", 9, nil, in{i64([]float64{1, 2})}, in{f32([]float64{0, 0}, 1, 2)}, ""},
		{"value", "ConstantOfShape", 20, seven, in{i64([]float64{2})}, in{tensorOf(dtype.Int32, []float64{7, 7}, 2)}, ""},
		{"scalar", "ConstantOfShape", 9, seven, in{i64(nil, 0)}, in{scalarOf(dtype.Int32, 7)}, ""},
		{"nothing", "ConstantOfShape", 9, nil, in{i64([]float64{0, 2})}, in{tensorOf(dtype.Float32, nil, 0, 2)}, ""},
		{"negative", "ConstantOfShape", 9, nil, in{i64([]float64{-1})}, nil, "negative extent -1"},
		{"two values", "ConstantOfShape", 9, attrs(attrTensor("value", wire.Tensor{DataType: wire.Int32, Dims: []int64{2}, Int32Data: []byte{7, 7}})), in{i64([]float64{2})}, nil, "want one element"},
	})
}

func TestRange(t *testing.T) {
	scalars := func(d dtype.Type, v ...float64) in {
		var out in
		for _, x := range v {
			out = append(out, scalarOf(d, x))
		}
		return out
	}
	runNodeTests(t, []nodeTest{
		{"integers", "Range", 11, nil, scalars(dtype.Int64, 1, 6, 2), in{i64([]float64{1, 3, 5})}, ""},
		{"backwards", "Range", 11, nil, scalars(dtype.Int32, 5, 0, -2), in{tensorOf(dtype.Int32, []float64{5, 3, 1}, 3)}, ""},
		{"short integers", "Range", 11, nil, scalars(dtype.Int16, 0, 2, 1), in{tensorOf(dtype.Int16, []float64{0, 1}, 2)}, ""},
		{"floats", "Range", 11, nil, scalars(dtype.Float32, 0, 1, .25), in{f32([]float64{0, .25, .5, .75})}, ""},
		{"doubles just over", "Range", 11, nil, scalars(dtype.Float64, 0, 1.1, .5), in{tensorOf(dtype.Float64, []float64{0, .5, 1}, 3)}, ""},
		{"half precision", "Range", 27, nil, scalars(dtype.Float16, 1, 2, .5), in{tensorOf(dtype.Float16, []float64{1, 1.5}, 2)}, ""},
		{"nothing", "Range", 11, nil, scalars(dtype.Int64, 3, 3, 1), in{i64(nil, 0)}, ""},
		{"the wrong way", "Range", 11, nil, scalars(dtype.Int64, 0, 3, -1), in{i64(nil, 0)}, ""},
		{"lists of one", "Range", 11, nil, in{i64([]float64{0}), i64([]float64{2}), i64([]float64{1})}, in{i64([]float64{0, 1})}, ""},
		{"no step", "Range", 11, nil, scalars(dtype.Int64, 0, 3, 0), nil, "delta is 0"},
		{"no float step", "Range", 11, nil, scalars(dtype.Float32, 0, 3, 0), nil, "has no length"},
		{"without end", "Range", 11, nil, scalars(dtype.Float32, 0, math.Inf(1), 1), nil, "more than"},
		{"farther than an int64", "Range", 11, nil, scalars(dtype.Int64, math.MinInt64, 1<<62, 1), nil, "more than"},
		{"the farthest", "Range", 11, nil, scalars(dtype.Int64, math.MinInt64, 0, 1<<62), in{i64([]float64{math.MinInt64, -1 << 62})}, ""},
		{"unlike types", "Range", 11, nil, in{scalarOf(dtype.Int64, 0), scalarOf(dtype.Int32, 1), scalarOf(dtype.Int64, 1)}, nil, "want one type"},
		{"truth values", "Range", 11, nil, scalars(dtype.Bool, 0, 1, 1), nil, "want a number"},
	})
}

func TestEyeLike(t *testing.T) {
	x := counting(0, 2, 3)
	runNodeTests(t, []nodeTest{
		{"type of the input", "EyeLike", 9, nil, in{x}, in{f32([]float64{1, 0, 0, 0, 1, 0}, 2, 3)}, ""},
		{"type and diagonal", "EyeLike", 22, attrs(attrInt("dtype", int64(wire.Int64)), attrInt("k", -1)), in{x}, in{i64([]float64{0, 0, 0, 1, 0, 0}, 2, 3)}, ""},
		{"vector", "EyeLike", 9, nil, in{counting(0, 2)}, nil, "is not a matrix"},
		{"text", "EyeLike", 9, attrs(attrInt("dtype", int64(wire.String))), in{x}, nil, "type is not supported: STRING"},
	})
}
