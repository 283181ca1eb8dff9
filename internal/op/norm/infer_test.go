package norm_test

import (
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/norm"
	"github.com/berth-go/berth/internal/op/optest"
)

func TestNormInfer(t *testing.T) {
	types := func(x ...graph.Type) []graph.Type { return x }
	half := func(dims ...int) graph.Type { return optest.Type(dtype.Float16, dims...) }
	double := func(dims ...int) graph.Type { return optest.Type(dtype.Float64, dims...) }
	absent := graph.Type{}
	c := optest.Float32(3)
	optest.Infers(t, norm.LayerNorm{Axis: -1}, types(optest.Float32(2, 3), c, c), "float32[2 3]")
	optest.Infers(t, norm.LayerNorm{Axis: -1}, types(optest.Float32(2, 3)), "float32[2 3]")
	optest.Infers(t, norm.LayerNorm{Axis: -1}, types(optest.Float32(2, 3), absent, c), "float32[2 3]")
	optest.Infers(t, norm.LayerNorm{Axis: 1, Stats: true}, types(optest.Float32(2, 3, 4), optest.Float32(3, 4)), "float32[2 3 4] float32[2 1 1] float32[2 1 1]")
	optest.Infers(t, norm.LayerNorm{Axis: 0, Stats: true}, types(half(2), half(2)), "float16[2] float32[1] float32[1]")
	optest.Infers(t, norm.LayerNorm{Axis: 0, Stats: true}, types(double(2), double(2)), "float64[2] float64[1] float64[1]")
	optest.Refuses(t, norm.LayerNorm{Axis: -1}, types(optest.Float32(2, 3), optest.Float32(4)), "scale float32[4] does not broadcast to x float32[2 3]")
	optest.Refuses(t, norm.LayerNorm{Axis: -1}, types(optest.Float32(2, 3), c, optest.Float32(5, 2, 3)), "bias float32[5 2 3] does not broadcast")
	optest.Refuses(t, norm.LayerNorm{Axis: -1}, types(optest.Float32(2, 3), double(3)), "scale is float64[3], but x is float32[2 3]")
	optest.Refuses(t, norm.LayerNorm{Axis: 2}, types(optest.Float32(2, 3)), "axis 2 is out of range")
	optest.Refuses(t, norm.LayerNorm{}, types(optest.Type(dtype.Int8, 2)), "not of a floating-point type")
	optest.Refuses(t, norm.LayerNorm{}, types(), "takes 1 to 3 inputs, got 0")
	optest.Refuses(t, norm.LayerNorm{}, types(absent), "not an element type")

	optest.Infers(t, norm.RMSNorm{Axis: -1}, types(optest.Float32(2, 3), c), "float32[2 3]")
	optest.Refuses(t, norm.RMSNorm{Axis: -1}, types(optest.Float32(2, 3), c, c), "takes 1 to 2 inputs, got 3")

	optest.Infers(t, norm.MeanVarianceNorm{Axes: []int{0, -1}}, types(optest.Float32(2, 3, 4)), "float32[2 3 4]")
	optest.Refuses(t, norm.MeanVarianceNorm{Axes: []int{3}}, types(optest.Float32(2, 3, 4)), "axis 3 is out of range")
	optest.Infers(t, norm.LpNorm{Axis: -1, P: 2}, types(optest.Float32(2, 3)), "float32[2 3]")
	optest.Refuses(t, norm.LpNorm{Axis: -1, P: 3}, types(optest.Float32(2, 3)), "order 3")

	optest.Infers(t, norm.BatchNorm{}, types(optest.Float32(2, 3, 4), c, c, c, c), "float32[2 3 4]")
	optest.Infers(t, norm.BatchNorm{}, types(optest.Float32(2, 3, 4), double(3), double(3), c, c), "float32[2 3 4]")
	optest.Infers(t, norm.BatchNorm{}, types(optest.Float32(9), optest.Float32(1), optest.Float32(1), optest.Float32(1), optest.Float32(1)), "float32[9]")
	optest.Refuses(t, norm.BatchNorm{}, types(optest.Float32(2, 3, 4), c, c, c), "takes 5 inputs, got 4")
	optest.Refuses(t, norm.BatchNorm{}, types(optest.Float32(2, 3, 4), c, c, c, optest.Float32(4)), "variance is float32[4], but x float32[2 3 4] has 3 channels")
	optest.Refuses(t, norm.BatchNorm{}, types(optest.Float32(2, 3, 4), c, double(3), c, c), "scale is float32[3], but bias is float64[3]")
	optest.Refuses(t, norm.BatchNorm{}, types(optest.Float32(), c, c, c, c), "fewer than 1 axes")
	optest.Infers(t, norm.BatchNormTraining{}, types(optest.Float32(2, 3, 4), c, c, c, c), "float32[2 3 4] float32[3] float32[3]")
	optest.Refuses(t, norm.BatchNormTraining{}, types(optest.Float32(2, 3, 4), c, c, double(3), double(3)), "mean is float64[3], but x is float32[2 3 4]")
	optest.Refuses(t, norm.BatchNormTraining{}, types(optest.Float32(3), c, c, c, c), "fewer than 2 axes")

	optest.Infers(t, norm.InstanceNorm{}, types(optest.Float32(2, 3, 4), c, c), "float32[2 3 4]")
	optest.Infers(t, norm.InstanceNorm{}, types(optest.Float32(2, 3), c, c), "float32[2 3]")
	optest.Refuses(t, norm.InstanceNorm{}, types(optest.Float32(2, 3, 4), c, optest.Float32(1)), "bias is float32[1], but x float32[2 3 4] has 3 channels")
	optest.Refuses(t, norm.InstanceNorm{}, types(optest.Float32(2, 3, 4), c), "takes 3 inputs, got 2")
	optest.Infers(t, norm.GroupNorm{Groups: 2}, types(optest.Float32(2, 6, 4), optest.Float32(6), optest.Float32(6)), "float32[2 6 4]")
	optest.Infers(t, norm.GroupNorm{Groups: 2}, types(optest.Float32(2, 6, 4), optest.Float32(2), optest.Float32(2)), "float32[2 6 4]")
	optest.Refuses(t, norm.GroupNorm{Groups: 4}, types(optest.Float32(2, 6, 4), optest.Float32(6), optest.Float32(6)), "6 channels of x float32[2 6 4] do not make 4 groups")
	optest.Refuses(t, norm.GroupNorm{Groups: 2}, types(optest.Float32(2, 6, 4), optest.Float32(3), optest.Float32(6)), "scale is float32[3], but x float32[2 6 4] has 6 channels in 2 groups")
	optest.Refuses(t, norm.GroupNorm{}, types(optest.Float32(2, 6, 4), optest.Float32(6), optest.Float32(6)), "0 groups")

	optest.Infers(t, norm.LRN{Size: 5}, types(optest.Float32(2, 6, 4)), "float32[2 6 4]")
	optest.Refuses(t, norm.LRN{}, types(optest.Float32(2, 6, 4)), "0 channels")
	optest.Refuses(t, norm.LRN{Size: 5}, types(optest.Float32(2)), "fewer than 2 axes")
}
