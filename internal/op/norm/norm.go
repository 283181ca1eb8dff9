// Package norm holds softmax and the normalisations.
//
// # Where to find what
//
//	softmax.go       softmax, its logarithm, hardmax
//	norm.go          normalisation along axes: layer, RMS, mean-variance, Lp
//	norm_channel.go  by channel: batch, instance, group, local response
//	check.go         checks of the inputs of all of these
//	channels.go      operands taken apart into channels
//	norm_kernel.go   the kernel of those that measure what they normalise
//	norm_batch.go    the kernel of given means and variances
//	norm_lrn.go      the kernel of local response normalisation
package norm

import (
	"fmt"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/shape"
)

// LayerNorm normalises the elements of the axes from Axis to the last, for
// each index of the axes before, to mean 0 and variance 1:
//
//	y = (x - mean) / sqrt(variance + Epsilon) * scale + bias
//
// The inputs are x, scale and bias, of one floating-point type; scale and
// bias are broadcast to x, and either may be absent. With Stats there are two
// more outputs, the mean and 1/sqrt(variance + Epsilon), which have extent 1
// from Axis on; they are float32 for x of 16 bits.
type LayerNorm struct {
	Axis     int // negative: from the end
	Epsilon  float64
	Stats    bool
	Epilogue elementwise.Program // runs on y; not with Stats
}

// Name returns "layer_norm".
func (LayerNorm) Name() string { return "layer_norm" }

// String prints the name, and the epilogue behind it.
func (n LayerNorm) String() string { return n.Epilogue.Title(n.Name()) }

// Infer returns the type of x and, with Stats, those of the statistics.
func (n LayerNorm) Infer(in []graph.Type) ([]graph.Type, error) {
	out, err := inferLike(n.Epilogue, in, 3, func(in []graph.Type) error { return checkTrailing(in, 3, n.Axis) })
	switch {
	case err != nil:
		return nil, err
	case !n.Stats:
		return out, nil
	case len(n.Epilogue) > 0:
		return nil, fmt.Errorf("epilogue: there are statistics beside y")
	}
	stats := graph.Type{DType: in[0].DType, Shape: in[0].Shape.Clone()}
	if stats.DType.IsHalf() {
		stats.DType = dtype.Float32
	}
	for _, axis := range trailing(n.Axis, len(stats.Shape)) {
		stats.Shape[axis] = 1
	}
	return append(out, stats, stats), nil
}

// Kernel returns the normalisation.
func (n LayerNorm) Kernel(in, _ []graph.Type) kernel.Kernel {
	return newNorm(in[0].DType, normParams{
		Own: 3, Epilogue: elementwise.EpilogueOf(n.Epilogue, in, 3),
		Kind: normDeviation, Epsilon: n.Epsilon, Axes: trailing(n.Axis, len(in[0].Shape)),
	})
}

// Finish implements [elementwise.Finisher].
func (n LayerNorm) Finish() (elementwise.Program, int) { return n.Epilogue, 3 }

// Finished implements [elementwise.Finisher].
func (n LayerNorm) Finished(p elementwise.Program) graph.Op {
	n.Epilogue = p
	return n
}

// DenseAxes returns 0: all strides will do.
func (LayerNorm) DenseAxes(_, _ int) int { return 0 }

// MayOverwrite reports true for y over x: statistics come first.
func (LayerNorm) MayOverwrite(in, out int) bool { return in == 0 && out == 0 }

// ComputesInFloat32 marks the op.
func (LayerNorm) ComputesInFloat32() {}

// RMSNorm divides the elements of the axes from Axis to the last, for each
// index of the axes before, by the root of their mean square:
//
//	y = x / sqrt(mean of x*x + Epsilon) * scale
//
// The inputs are x and scale, of one floating-point type; scale is broadcast
// to x and may be absent.
type RMSNorm struct {
	Axis     int // negative: from the end
	Epsilon  float64
	Epilogue elementwise.Program // runs on y
}

// Name returns "rms_norm".
func (RMSNorm) Name() string { return "rms_norm" }

// String prints the name, and the epilogue behind it.
func (n RMSNorm) String() string { return n.Epilogue.Title(n.Name()) }

// Infer returns the type of x.
func (n RMSNorm) Infer(in []graph.Type) ([]graph.Type, error) {
	return inferLike(n.Epilogue, in, 2, func(in []graph.Type) error { return checkTrailing(in, 2, n.Axis) })
}

// Kernel returns the normalisation.
func (n RMSNorm) Kernel(in, _ []graph.Type) kernel.Kernel {
	return newNorm(in[0].DType, normParams{
		Own: 2, Epilogue: elementwise.EpilogueOf(n.Epilogue, in, 2),
		Kind: normRMS, Epsilon: n.Epsilon, Axes: trailing(n.Axis, len(in[0].Shape)),
	})
}

// Finish implements [elementwise.Finisher].
func (n RMSNorm) Finish() (elementwise.Program, int) { return n.Epilogue, 2 }

// Finished implements [elementwise.Finisher].
func (n RMSNorm) Finished(p elementwise.Program) graph.Op {
	n.Epilogue = p
	return n
}

// DenseAxes returns 0: all strides will do.
func (RMSNorm) DenseAxes(_, _ int) int { return 0 }

// MayOverwrite reports true for y over x: the mean comes first.
func (RMSNorm) MayOverwrite(in, out int) bool { return in == 0 && out == 0 }

// ComputesInFloat32 marks the op.
func (RMSNorm) ComputesInFloat32() {}

// MeanVarianceNorm normalises the elements along some axes:
//
//	y = (x - mean) / (sqrt(variance) + Epsilon)
//
// It takes floating-point types.
type MeanVarianceNorm struct {
	Axes     []int // negative: from the end; none means all
	Epsilon  float64
	Epilogue elementwise.Program // runs on y
}

// Name returns "mean_variance_norm".
func (MeanVarianceNorm) Name() string { return "mean_variance_norm" }

// String prints the name, and the epilogue behind it.
func (n MeanVarianceNorm) String() string { return n.Epilogue.Title(n.Name()) }

// Infer returns the type of the input.
func (n MeanVarianceNorm) Infer(in []graph.Type) ([]graph.Type, error) {
	return inferLike(n.Epilogue, in, 1, func(in []graph.Type) error { return checkAlong(in, n.Axes...) })
}

// Kernel returns the normalisation.
func (n MeanVarianceNorm) Kernel(in, _ []graph.Type) kernel.Kernel {
	axes, _ := shape.Axes(n.Axes, len(in[0].Shape))
	return newNorm(in[0].DType, normParams{Own: 1, Epilogue: elementwise.EpilogueOf(n.Epilogue, in, 1), Kind: normVariance, Epsilon: n.Epsilon, Axes: axes})
}

// Finish implements [elementwise.Finisher].
func (n MeanVarianceNorm) Finish() (elementwise.Program, int) { return n.Epilogue, 1 }

// Finished implements [elementwise.Finisher].
func (n MeanVarianceNorm) Finished(p elementwise.Program) graph.Op {
	n.Epilogue = p
	return n
}

// DenseAxes returns 0: all strides will do.
func (MeanVarianceNorm) DenseAxes(_, _ int) int { return 0 }

// MayOverwrite reports true: statistics come first.
func (MeanVarianceNorm) MayOverwrite(in, out int) bool { return in == 0 && out == 0 }

// ComputesInFloat32 marks the op.
func (MeanVarianceNorm) ComputesInFloat32() {}

// LpNorm divides the elements along an axis by their norm: the sum of their
// magnitudes for P 1, the root of the sum of their squares for P 2. Where the
// norm is 0 the result is 0. It takes floating-point types.
type LpNorm struct {
	Axis     int // negative: from the end
	P        int
	Epilogue elementwise.Program // runs on y
}

// Name returns "lp_norm".
func (LpNorm) Name() string { return "lp_norm" }

// String prints the name, and the epilogue behind it.
func (n LpNorm) String() string { return n.Epilogue.Title(n.Name()) }

// Infer returns the type of the input.
func (n LpNorm) Infer(in []graph.Type) ([]graph.Type, error) {
	if n.P != 1 && n.P != 2 {
		return nil, fmt.Errorf("of order %d: only 1 and 2 are defined", n.P)
	}
	return inferLike(n.Epilogue, in, 1, func(in []graph.Type) error { return checkAlong(in, n.Axis) })
}

// Kernel returns the normalisation.
func (n LpNorm) Kernel(in, _ []graph.Type) kernel.Kernel {
	axis, _ := shape.Axis(n.Axis, len(in[0].Shape))
	kind := normL2
	if n.P == 1 {
		kind = normL1
	}
	return newNorm(in[0].DType, normParams{Own: 1, Epilogue: elementwise.EpilogueOf(n.Epilogue, in, 1), Kind: kind, Axes: []int{axis}})
}

// Finish implements [elementwise.Finisher].
func (n LpNorm) Finish() (elementwise.Program, int) { return n.Epilogue, 1 }

// Finished implements [elementwise.Finisher].
func (n LpNorm) Finished(p elementwise.Program) graph.Op {
	n.Epilogue = p
	return n
}

// DenseAxes returns 0: all strides will do.
func (LpNorm) DenseAxes(_, _ int) int { return 0 }

// MayOverwrite reports true: the norm comes first.
func (LpNorm) MayOverwrite(in, out int) bool { return in == 0 && out == 0 }

// ComputesInFloat32 marks the op.
func (LpNorm) ComputesInFloat32() {}
