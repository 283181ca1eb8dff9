package norm_test

import (
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op/norm"
	"github.com/berth-go/berth/internal/op/optest"
)

// TestWithoutSpatialAxes normalises channels of an image with nothing but a batch
// and channels.
func TestWithoutSpatialAxes(t *testing.T) {
	of := func(data []float32, dims ...int) *kernel.Operand { return kerneltest.Of(dtype.Float32, data, dims...) }
	x := of([]float32{1, 0, 1, 0, 3, 4, 3, 4}, 4, 2)
	scale, bias, zero := of([]float32{1, 2}, 2), of([]float32{0, 5}, 2), of([]float32{0, 0}, 2)

	out := optest.Compute(t, norm.BatchNormTraining{}, x, scale, bias, zero, zero)
	optest.WantValues(t, "y of batch_norm_training", out[0], -1, 3, -1, 3, 1, 7, 1, 7)
	optest.WantValues(t, "the mean", out[1], 2, 2)
	optest.WantValues(t, "the variance", out[2], 1, 4)

	out = optest.Compute(t, norm.InstanceNorm{Epsilon: 1}, x, scale, bias)
	optest.WantValues(t, "y of instance_norm", out[0], 0, 5, 0, 5, 0, 5, 0, 5)
	out = optest.Compute(t, norm.GroupNorm{Groups: 1}, x, scale, bias)
	optest.WantValues(t, "y of group_norm", out[0], 1, 3, 1, 3, -1, 7, -1, 7)
}
