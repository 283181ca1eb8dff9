package norm

import (
	"fmt"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/shape"
)

// inferLike returns the type of x, input 0, as that of y. Check looks at the first
// own inputs; the epilogue p reads the others.
func inferLike(p elementwise.Program, in []graph.Type, own int, check func(in []graph.Type) error) ([]graph.Type, error) {
	in, extra := p.Own(in, own)
	if err := check(in); err != nil {
		return nil, err
	}
	return []graph.Type{in[0]}, p.CheckEpilogue(in[0], extra)
}

// checkFloat reports an operand that is absent, invalid or not of a
// floating-point type.
func checkFloat(name string, t graph.Type) error {
	if err := t.Check(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if !t.DType.IsFloat() {
		return fmt.Errorf("%s is %v, not of a floating-point type", name, t)
	}
	return nil
}

// checkAlong checks a floating-point input that has the axes.
func checkAlong(in []graph.Type, axes ...int) error {
	if err := op.Count(in, 1, 1); err != nil {
		return err
	}
	if err := checkFloat("input", in[0]); err != nil {
		return err
	}
	if _, err := shape.Axes(axes, len(in[0].Shape)); err != nil {
		return fmt.Errorf("of %v: %w", in[0], err)
	}
	return nil
}

// checkTrailing checks x and up to most-1 optional inputs that broadcast to
// it, for an op that normalises the axes of x from axis on.
func checkTrailing(in []graph.Type, most, axis int) error {
	if err := op.Count(in, 1, most); err != nil {
		return err
	}
	x := in[0]
	if err := checkFloat("x", x); err != nil {
		return err
	}
	if _, err := shape.Axis(axis, len(x.Shape)); err != nil {
		return fmt.Errorf("of %v: %w", x, err)
	}
	for i, name := range [...]string{"scale", "bias"} {
		if !op.Given(in, 1+i) {
			continue
		}
		t := in[1+i]
		if err := checkLike(name, t, x); err != nil {
			return err
		}
		if s, err := shape.Broadcast(x.Shape, t.Shape); err != nil || !s.Equal(x.Shape) {
			return fmt.Errorf("%s %v does not broadcast to x %v", name, t, x)
		}
	}
	return nil
}

// checkLike reports an operand that is invalid or not of the element type of x.
func checkLike(name string, t, x graph.Type) error {
	if err := t.Check(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if t.DType != x.DType {
		return fmt.Errorf("%s is %v, but x is %v", name, t, x)
	}
	return nil
}

// checkScaled checks x, scale and bias, which have an element for each
// channel of x or, when groups is not 0, for each group.
func checkScaled(in []graph.Type, groups int) error {
	if err := op.Count(in, 3, 3); err != nil {
		return err
	}
	x := in[0]
	channels, err := checkChannels(x, 2)
	if err != nil {
		return err
	}
	for i, name := range [...]string{"scale", "bias"} {
		t := in[1+i]
		if err := checkLike(name, t, x); err != nil {
			return err
		}
		if len(t.Shape) != 1 || t.Shape[0] != channels && (groups == 0 || t.Shape[0] != groups) {
			return fmt.Errorf("%s is %v, but x %v has %d channels in %d groups", name, t, x, channels, max(groups, 1))
		}
	}
	return nil
}

var batchNormInputs = [...]string{"x", "scale", "bias", "mean", "variance"}

// checkBatchNorm checks the inputs of a batch normalisation, x of at least the
// given rank.
func checkBatchNorm(in []graph.Type, rank int) error {
	if err := op.Count(in, len(batchNormInputs), len(batchNormInputs)); err != nil {
		return err
	}
	channels, err := checkChannels(in[0], rank)
	if err != nil {
		return err
	}
	for i, name := range batchNormInputs[1:] {
		if err := checkFloat(name, in[i+1]); err != nil {
			return err
		}
		if s := in[i+1].Shape; len(s) != 1 || s[0] != channels {
			return fmt.Errorf("%s is %v, but x %v has %d channels", name, in[i+1], in[0], channels)
		}
	}
	for _, i := range [...]int{1, 3} {
		if in[i].DType != in[i+1].DType {
			return fmt.Errorf("%s is %v, but %s is %v", batchNormInputs[i], in[i], batchNormInputs[i+1], in[i+1])
		}
	}
	return nil
}

// checkChannels checks x, of at least the given rank, and returns the number of
// its channels.
func checkChannels(x graph.Type, rank int) (int, error) {
	if err := checkFloat("x", x); err != nil {
		return 0, err
	}
	if len(x.Shape) < rank {
		return 0, fmt.Errorf("x is %v, which has fewer than %d axes", x, rank)
	}
	if len(x.Shape) == 1 {
		return 1, nil
	}
	return x.Shape[1], nil
}

// trailing lists the axes of a rank from axis on, which may be the rank itself.
func trailing(axis, rank int) []int {
	if axis < 0 {
		axis += rank
	}
	var axes []int
	for ; axis < rank; axis++ {
		axes = append(axes, axis)
	}
	return axes
}
