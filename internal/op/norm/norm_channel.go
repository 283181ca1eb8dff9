package norm

import (
	"fmt"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/op/elementwise"
)

// The normalisations of this file take x with a batch axis, a channel axis,
// and any number of spatial axes.

// BatchNorm normalises each channel by statistics that are given:
//
//	y = (x - mean) / sqrt(variance + Epsilon) * scale + bias
//
// The inputs are x, scale, bias, mean and variance. All but x have one axis,
// with an element for each channel; x with a single axis has one channel. All
// are of floating-point types, scale and bias of one, mean and variance of
// one; y has the type of x.
type BatchNorm struct {
	Epsilon  float64
	Epilogue elementwise.Program // runs on y
}

// Name returns "batch_norm".
func (BatchNorm) Name() string { return "batch_norm" }

// String prints the name, and the epilogue behind it.
func (n BatchNorm) String() string { return n.Epilogue.Title(n.Name()) }

// Infer returns the type of x.
func (n BatchNorm) Infer(in []graph.Type) ([]graph.Type, error) {
	return inferLike(n.Epilogue, in, 5, func(in []graph.Type) error { return checkBatchNorm(in, 1) })
}

// Kernel returns the normalisation.
func (n BatchNorm) Kernel(in, _ []graph.Type) kernel.Kernel {
	return newBatchNorm(in[0].DType, n.Epsilon, elementwise.EpilogueOf(n.Epilogue, in, 5))
}

// Finish implements [elementwise.Finisher].
func (n BatchNorm) Finish() (elementwise.Program, int) { return n.Epilogue, 5 }

// Finished implements [elementwise.Finisher].
func (n BatchNorm) Finished(p elementwise.Program) graph.Op {
	n.Epilogue = p
	return n
}

// DenseAxes returns 0: all strides will do.
func (BatchNorm) DenseAxes(_, _ int) int { return 0 }

// MayOverwrite reports true for y over x.
func (BatchNorm) MayOverwrite(in, out int) bool { return in == 0 && out == 0 }

// ComputesInFloat32 marks the op.
func (BatchNorm) ComputesInFloat32() {}

// BatchNormTraining normalises each channel of x by its own mean and
// variance, and moves running statistics towards them:
//
//	y = (x - mean) / sqrt(variance + Epsilon) * scale + bias
//	running = running * Momentum + (mean or variance) * (1 - Momentum)
//
// The inputs are x, scale, bias, and the running mean and variance, all of
// one floating-point type; the outputs are y and the new running mean and
// variance. The variance is that of the population: divided by the number of
// elements.
type BatchNormTraining struct {
	Epsilon  float64
	Momentum float64
}

// Name returns "batch_norm_training".
func (BatchNormTraining) Name() string { return "batch_norm_training" }

// Infer returns the types of x, of the running mean and of the running
// variance.
func (BatchNormTraining) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := checkBatchNorm(in, 2); err != nil {
		return nil, err
	}
	for i, t := range in {
		if t.DType != in[0].DType {
			return nil, fmt.Errorf("%s is %v, but x is %v", batchNormInputs[i], t, in[0])
		}
	}
	return []graph.Type{in[0], in[3], in[4]}, nil
}

// Kernel returns the normalisation.
func (n BatchNormTraining) Kernel(in, _ []graph.Type) kernel.Kernel {
	return newNorm(in[0].DType, normParams{
		Kind: normDeviation, Epsilon: n.Epsilon, Axes: append([]int{0}, trailing(2, len(in[0].Shape))...),
		Channels: true, Running: true, Momentum: n.Momentum,
	})
}

// DenseAxes returns 0: all strides will do.
func (BatchNormTraining) DenseAxes(_, _ int) int { return 0 }

// MayOverwrite reports true for y over x: statistics come first.
func (BatchNormTraining) MayOverwrite(in, out int) bool { return in == 0 && out == 0 }

// ComputesInFloat32 marks the op.
func (BatchNormTraining) ComputesInFloat32() {}

// InstanceNorm normalises each channel of each sample by its own mean and
// variance:
//
//	y = (x - mean) / sqrt(variance + Epsilon) * scale + bias
//
// The inputs are x, scale and bias, of one floating-point type; scale and
// bias have an element for each channel.
type InstanceNorm struct {
	Epsilon  float64
	Epilogue elementwise.Program // runs on y
}

// Name returns "instance_norm".
func (InstanceNorm) Name() string { return "instance_norm" }

// String prints the name, and the epilogue behind it.
func (n InstanceNorm) String() string { return n.Epilogue.Title(n.Name()) }

// Infer returns the type of x.
func (n InstanceNorm) Infer(in []graph.Type) ([]graph.Type, error) {
	return inferLike(n.Epilogue, in, 3, func(in []graph.Type) error { return checkScaled(in, 0) })
}

// Kernel returns the normalisation.
func (n InstanceNorm) Kernel(in, _ []graph.Type) kernel.Kernel {
	return newNorm(in[0].DType, normParams{
		Own: 3, Epilogue: elementwise.EpilogueOf(n.Epilogue, in, 3),
		Kind: normDeviation, Epsilon: n.Epsilon, Axes: trailing(2, len(in[0].Shape)), Channels: true,
	})
}

// Finish implements [elementwise.Finisher].
func (n InstanceNorm) Finish() (elementwise.Program, int) { return n.Epilogue, 3 }

// Finished implements [elementwise.Finisher].
func (n InstanceNorm) Finished(p elementwise.Program) graph.Op {
	n.Epilogue = p
	return n
}

// DenseAxes returns 0: all strides will do.
func (InstanceNorm) DenseAxes(_, _ int) int { return 0 }

// MayOverwrite reports true for y over x: statistics come first.
func (InstanceNorm) MayOverwrite(in, out int) bool { return in == 0 && out == 0 }

// ComputesInFloat32 marks the op.
func (InstanceNorm) ComputesInFloat32() {}

// GroupNorm normalises each group of neighbouring channels of each sample by
// its own mean and variance:
//
//	y = (x - mean) / sqrt(variance + Epsilon) * scale + bias
//
// The inputs are x, scale and bias, of one floating-point type; scale and
// bias each have an element for each channel or for each group.
type GroupNorm struct {
	Groups   int // divides the number of channels
	Epsilon  float64
	Epilogue elementwise.Program // runs on y
}

// Name returns "group_norm".
func (GroupNorm) Name() string { return "group_norm" }

// String prints the name, and the epilogue behind it.
func (n GroupNorm) String() string { return n.Epilogue.Title(n.Name()) }

// Infer returns the type of x.
func (n GroupNorm) Infer(in []graph.Type) ([]graph.Type, error) {
	if n.Groups < 1 {
		return nil, fmt.Errorf("%d groups", n.Groups)
	}
	return inferLike(n.Epilogue, in, 3, func(in []graph.Type) error {
		if err := checkScaled(in, n.Groups); err != nil {
			return err
		}
		if c := in[0].Shape[1]; c%n.Groups != 0 {
			return fmt.Errorf("%d channels of x %v do not make %d groups", c, in[0], n.Groups)
		}
		return nil
	})
}

// Kernel returns the normalisation.
func (n GroupNorm) Kernel(in, _ []graph.Type) kernel.Kernel {
	return newNorm(in[0].DType, normParams{
		Own: 3, Epilogue: elementwise.EpilogueOf(n.Epilogue, in, 3),
		Kind: normDeviation, Epsilon: n.Epsilon, Axes: trailing(2, len(in[0].Shape)+1),
		Groups: n.Groups, Channels: true,
	})
}

// Finish implements [elementwise.Finisher].
func (n GroupNorm) Finish() (elementwise.Program, int) { return n.Epilogue, 3 }

// Finished implements [elementwise.Finisher].
func (n GroupNorm) Finished(p elementwise.Program) graph.Op {
	n.Epilogue = p
	return n
}

// DenseAxes returns 0: all strides will do.
func (GroupNorm) DenseAxes(_, _ int) int { return 0 }

// MayOverwrite reports true for y over x: statistics come first.
func (GroupNorm) MayOverwrite(in, out int) bool { return in == 0 && out == 0 }

// ComputesInFloat32 marks the op.
func (GroupNorm) ComputesInFloat32() {}

// LRN is local response normalisation: it divides each element by a power of
// the squares around it, in the Size channels nearest to its own:
//
//	y = x / (Bias + Alpha/Size * sum of squares)^Beta
//
// For channel c these are the channels from c - floor((Size-1)/2) to
// c + ceil((Size-1)/2), as far as there are any. It takes floating-point
// types.
type LRN struct {
	Size              int
	Alpha, Beta, Bias float64
}

// Name returns "lrn".
func (LRN) Name() string { return "lrn" }

// Infer returns the type of the input.
func (n LRN) Infer(in []graph.Type) ([]graph.Type, error) {
	if n.Size < 1 {
		return nil, fmt.Errorf("over %d channels", n.Size)
	}
	if err := op.Count(in, 1, 1); err != nil {
		return nil, err
	}
	_, err := checkChannels(in[0], 2)
	return in, err
}

// Kernel returns the normalisation.
func (n LRN) Kernel(in, _ []graph.Type) kernel.Kernel {
	return newLRN(in[0].DType, n.Size, n.Alpha, n.Beta, n.Bias)
}

// DenseAxes returns 0: all strides will do.
func (LRN) DenseAxes(_, _ int) int { return 0 }

// ComputesInFloat32 marks the op.
func (LRN) ComputesInFloat32() {}
