package op_test

import (
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op"
)

func TestNormInfer(t *testing.T) {
	types := func(x ...graph.Type) []graph.Type { return x }
	half := func(dims ...int) graph.Type { return elements(dtype.Float16, dims...) }
	double := func(dims ...int) graph.Type { return elements(dtype.Float64, dims...) }
	absent := graph.Type{}
	c := single(3)
	checkFold(t, []foldCase{
		{op.LayerNorm{Axis: -1}, types(single(2, 3), c, c), "float32[2 3]", ""},
		{op.LayerNorm{Axis: -1}, types(single(2, 3)), "float32[2 3]", ""},
		{op.LayerNorm{Axis: -1}, types(single(2, 3), absent, c), "float32[2 3]", ""},
		{op.LayerNorm{Axis: 1, Stats: true}, types(single(2, 3, 4), single(3, 4)), "float32[2 3 4] float32[2 1 1] float32[2 1 1]", ""},
		{op.LayerNorm{Axis: 0, Stats: true}, types(half(2), half(2)), "float16[2] float32[1] float32[1]", ""},
		{op.LayerNorm{Axis: 0, Stats: true}, types(double(2), double(2)), "float64[2] float64[1] float64[1]", ""},
		{op.LayerNorm{Axis: -1}, types(single(2, 3), single(4)), "", "scale float32[4] does not broadcast to x float32[2 3]"},
		{op.LayerNorm{Axis: -1}, types(single(2, 3), c, single(5, 2, 3)), "", "bias float32[5 2 3] does not broadcast"},
		{op.LayerNorm{Axis: -1}, types(single(2, 3), double(3)), "", "scale is float64[3], but x is float32[2 3]"},
		{op.LayerNorm{Axis: 2}, types(single(2, 3)), "", "axis 2 is out of range"},
		{op.LayerNorm{}, types(elements(dtype.Int8, 2)), "", "not of a floating-point type"},
		{op.LayerNorm{}, types(), "", "takes 1 to 3 inputs, got 0"},
		{op.LayerNorm{}, types(absent), "", "not an element type"},

		{op.RMSNorm{Axis: -1}, types(single(2, 3), c), "float32[2 3]", ""},
		{op.RMSNorm{Axis: -1}, types(single(2, 3), c, c), "", "takes 1 to 2 inputs, got 3"},

		{op.MeanVarianceNorm{Axes: []int{0, -1}}, types(single(2, 3, 4)), "float32[2 3 4]", ""},
		{op.MeanVarianceNorm{Axes: []int{3}}, types(single(2, 3, 4)), "", "axis 3 is out of range"},
		{op.LpNorm{Axis: -1, P: 2}, types(single(2, 3)), "float32[2 3]", ""},
		{op.LpNorm{Axis: -1, P: 3}, types(single(2, 3)), "", "order 3"},

		{op.BatchNorm{}, types(single(2, 3, 4), c, c, c, c), "float32[2 3 4]", ""},
		{op.BatchNorm{}, types(single(2, 3, 4), double(3), double(3), c, c), "float32[2 3 4]", ""},
		{op.BatchNorm{}, types(single(9), single(1), single(1), single(1), single(1)), "float32[9]", ""},
		{op.BatchNorm{}, types(single(2, 3, 4), c, c, c), "", "takes 5 inputs, got 4"},
		{op.BatchNorm{}, types(single(2, 3, 4), c, c, c, single(4)), "", "variance is float32[4], but x float32[2 3 4] has 3 channels"},
		{op.BatchNorm{}, types(single(2, 3, 4), c, double(3), c, c), "", "scale is float32[3], but bias is float64[3]"},
		{op.BatchNorm{}, types(single(), c, c, c, c), "", "fewer than 1 axes"},
		{op.BatchNormTraining{}, types(single(2, 3, 4), c, c, c, c), "float32[2 3 4] float32[3] float32[3]", ""},
		{op.BatchNormTraining{}, types(single(2, 3, 4), c, c, double(3), double(3)), "", "mean is float64[3], but x is float32[2 3 4]"},
		{op.BatchNormTraining{}, types(single(3), c, c, c, c), "", "fewer than 2 axes"},

		{op.InstanceNorm{}, types(single(2, 3, 4), c, c), "float32[2 3 4]", ""},
		{op.InstanceNorm{}, types(single(2, 3), c, c), "float32[2 3]", ""},
		{op.InstanceNorm{}, types(single(2, 3, 4), c, single(1)), "", "bias is float32[1], but x float32[2 3 4] has 3 channels"},
		{op.InstanceNorm{}, types(single(2, 3, 4), c), "", "takes 3 inputs, got 2"},
		{op.GroupNorm{Groups: 2}, types(single(2, 6, 4), single(6), single(6)), "float32[2 6 4]", ""},
		{op.GroupNorm{Groups: 2}, types(single(2, 6, 4), single(2), single(2)), "float32[2 6 4]", ""},
		{op.GroupNorm{Groups: 4}, types(single(2, 6, 4), single(6), single(6)), "", "6 channels of x float32[2 6 4] do not make 4 groups"},
		{op.GroupNorm{Groups: 2}, types(single(2, 6, 4), single(3), single(6)), "", "scale is float32[3], but x float32[2 6 4] has 6 channels in 2 groups"},
		{op.GroupNorm{}, types(single(2, 6, 4), single(6), single(6)), "", "0 groups"},

		{op.LRN{Size: 5}, types(single(2, 6, 4)), "float32[2 6 4]", ""},
		{op.LRN{}, types(single(2, 6, 4)), "", "0 channels"},
		{op.LRN{Size: 5}, types(single(2)), "", "fewer than 2 axes"},
	})
}
