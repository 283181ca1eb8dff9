package reduce_test

import (
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/op/norm"
	"github.com/berth-go/berth/internal/op/optest"
	"github.com/berth-go/berth/internal/op/reduce"
)

func TestReduceInfer(t *testing.T) {
	one := func(x graph.Type) []graph.Type { return []graph.Type{x} }
	optest.Infers(t, reduce.Reduce{}, one(optest.Float32(2, 3)), "float32[]")
	optest.Infers(t, reduce.Reduce{KeepDims: true}, one(optest.Float32(2, 3)), "float32[1 1]")
	optest.Infers(t, reduce.Reduce{NoopIfEmpty: true}, one(optest.Float32(2, 3)), "float32[2 3]")
	optest.Infers(t, reduce.Reduce{Axes: []int{-1}, NoopIfEmpty: true}, one(optest.Float32(2, 3)), "float32[2]")
	optest.Infers(t, reduce.Reduce{Axes: []int{-1, 0}, KeepDims: true}, one(optest.Float32(2, 3, 4)), "float32[1 3 1]")
	optest.Infers(t, reduce.Reduce{}, one(optest.Float32()), "float32[]")
	optest.Infers(t, reduce.Reduce{Axes: []int{0}}, one(optest.Float32(0, 3)), "float32[3]")
	optest.Infers(t, reduce.Reduce{Kind: reduce.Any, Axes: []int{0}}, one(optest.Float32(2, 3)), "bool[3]")
	optest.Infers(t, reduce.Reduce{Kind: reduce.Max}, one(optest.Type(dtype.Bool, 2)), "bool[]")
	optest.Infers(t, reduce.Reduce{Kind: reduce.Mean}, one(optest.Type(dtype.BFloat16, 2)), "bfloat16[]")
	optest.Refuses(t, reduce.Reduce{}, one(optest.Type(dtype.Bool, 2)), "truth values have no arithmetic")
	optest.Refuses(t, reduce.Reduce{Axes: []int{2}}, one(optest.Float32(2, 3)), "sum of float32[2 3]: axis 2 is out of range for rank 2")
	optest.Refuses(t, reduce.Reduce{Axes: []int{1, -1}}, one(optest.Float32(2, 3)), "given twice")
	optest.Refuses(t, reduce.Reduce{Axes: []int{0}}, one(optest.Float32()), "out of range for rank 0")
	optest.Refuses(t, reduce.Reduce{}, nil, "takes 1 input, got 0")
	optest.Refuses(t, reduce.Reduce{}, one(graph.Type{}), "input 0 is absent")
	optest.Refuses(t, reduce.Reduce{Kind: 99}, one(optest.Float32(2)), "no reduction 99")

	optest.Infers(t, reduce.ArgReduce{}, one(optest.Float32(2, 3)), "int64[3]")
	optest.Infers(t, reduce.ArgReduce{Axis: -1, KeepDims: true}, one(optest.Float32(2, 3)), "int64[2 1]")
	optest.Infers(t, reduce.ArgReduce{Axis: 0}, one(optest.Float32(0, 0)), "int64[0]")
	optest.Refuses(t, reduce.ArgReduce{Axis: 0}, one(optest.Float32(0, 3)), "axis 0 has no elements")
	optest.Refuses(t, reduce.ArgReduce{Axis: 2}, one(optest.Float32(2, 3)), "axis 2 is out of range")
	optest.Refuses(t, reduce.ArgReduce{}, one(optest.Float32()), "out of range for rank 0")
	optest.Refuses(t, reduce.ArgReduce{}, nil, "takes 1 input")

	optest.Infers(t, reduce.Cumulative{Axis: -2}, one(optest.Float32(2, 3)), "float32[2 3]")
	optest.Infers(t, reduce.Cumulative{Kind: reduce.Prod}, one(optest.Type(dtype.Int8, 2)), "int8[2]")
	optest.Refuses(t, reduce.Cumulative{Kind: reduce.Max}, one(optest.Float32(2)), "max does not run along an axis")
	optest.Refuses(t, reduce.Cumulative{}, one(optest.Type(dtype.Bool, 2)), "no arithmetic")
	optest.Refuses(t, reduce.Cumulative{Axis: 1}, one(optest.Float32(2)), "axis 1 is out of range")

	optest.Infers(t, norm.Softmax{Axis: -1}, one(optest.Float32(2, 3)), "float32[2 3]")
	optest.Refuses(t, norm.Softmax{}, one(optest.Type(dtype.Int32, 3)), "int32[3], not of a floating-point type")
	optest.Refuses(t, norm.Softmax{Axis: 3}, one(optest.Float32(2, 3)), "axis 3 is out of range")
	optest.Infers(t, norm.Hardmax{Axis: -1}, one(optest.Type(dtype.Float16, 2)), "float16[2]")
	optest.Refuses(t, norm.Hardmax{}, one(optest.Float32()), "out of range for rank 0")

	optest.Infers(t, reduce.TopK{K: 2, Axis: -1}, one(optest.Float32(4, 3)), "float32[4 2] int64[4 2]")
	optest.Infers(t, reduce.TopK{K: 0}, one(optest.Float32(0)), "float32[0] int64[0]")
	optest.Refuses(t, reduce.TopK{K: 4, Axis: 1}, one(optest.Float32(4, 3)), "4 elements of axis 1, which has 3")
	optest.Refuses(t, reduce.TopK{K: -1}, one(optest.Float32(4)), "-1 elements")
	for _, dt := range dtype.All() {
		if dt.IsLowPrecision() {
			for _, o := range []op.Computer{reduce.Reduce{Kind: reduce.Max}, reduce.ArgReduce{}, reduce.TopK{K: 1}, reduce.Cumulative{}} {
				optest.Refuses(t, o, one(optest.Type(dt, 2)), "low precision")
			}
			continue
		}
		for k := reduce.Sum; k <= reduce.All; k++ {
			if dt == dtype.Bool && k != reduce.Max && k != reduce.Min && k < reduce.Any {
				continue
			}
			want := dt
			if k >= reduce.Any {
				want = dtype.Bool
			}
			optest.Infers(t, reduce.Reduce{Kind: k}, one(optest.Type(dt, 2)), want.String()+"[]")
		}
		optest.Infers(t, reduce.ArgReduce{}, one(optest.Type(dt, 2)), "int64[]")
		optest.Infers(t, reduce.TopK{K: 1}, one(optest.Type(dt, 2)), dt.String()+"[1] int64[1]")
		if dt != dtype.Bool {
			optest.Infers(t, reduce.Cumulative{}, one(optest.Type(dt, 2)), dt.String()+"[2]")
		}
	}
}

func TestKindText(t *testing.T) { optest.Enum(t, reduce.All) }
