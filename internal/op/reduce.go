package op

import (
	"fmt"
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/shape"
)

// A ReduceKind says how a reduction folds elements into one. Its text is the
// name in lower case with underscores, such as "log_sum_exp".
type ReduceKind uint8

// The kinds of reductions, as [kernel.ReduceKind] defines them.
const (
	ReduceSum       = ReduceKind(kernel.ReduceSum)
	ReduceMean      = ReduceKind(kernel.ReduceMean)
	ReduceMax       = ReduceKind(kernel.ReduceMax)
	ReduceMin       = ReduceKind(kernel.ReduceMin)
	ReduceProd      = ReduceKind(kernel.ReduceProd)
	ReduceSumSquare = ReduceKind(kernel.ReduceSumSquare)
	ReduceL1        = ReduceKind(kernel.ReduceL1)
	ReduceL2        = ReduceKind(kernel.ReduceL2)
	ReduceLogSum    = ReduceKind(kernel.ReduceLogSum)
	ReduceLogSumExp = ReduceKind(kernel.ReduceLogSumExp)
	ReduceAny       = ReduceKind(kernel.ReduceAny)
	ReduceAll       = ReduceKind(kernel.ReduceAll)
)

var reduceKinds = enum{"reduction", []string{
	ReduceSum: "sum", ReduceMean: "mean", ReduceMax: "max", ReduceMin: "min", ReduceProd: "prod",
	ReduceSumSquare: "sum_square", ReduceL1: "l1", ReduceL2: "l2",
	ReduceLogSum: "log_sum", ReduceLogSumExp: "log_sum_exp", ReduceAny: "any", ReduceAll: "all",
}}

// String returns the name of k.
func (k ReduceKind) String() string { return reduceKinds.text(uint8(k)) }

// MarshalText implements [encoding.TextMarshaler].
func (k ReduceKind) MarshalText() ([]byte, error) { return reduceKinds.marshal(uint8(k)) }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (k *ReduceKind) UnmarshalText(text []byte) error { return unmarshalEnum(reduceKinds, text, k) }

// Reduce folds the elements along some axes into one.
//
// The result has the element type of the input, and bool for any and all,
// which take every type. Bool inputs can be folded by max, min, any and all.
// [kernel.NewReduce] states the arithmetic, and the results for no elements.
type Reduce struct {
	Kind ReduceKind
	// Axes are the axes to fold, in any order, negative ones counted from
	// the end. None at all means every axis.
	Axes []int
	// NoopIfEmpty makes no Axes mean none: each element is folded alone.
	NoopIfEmpty bool
	// KeepDims leaves the folded axes in the result, with extent 1.
	KeepDims bool
}

// Name returns "reduce".
func (Reduce) Name() string { return "reduce" }

func (r Reduce) axes(rank int) ([]int, error) {
	if len(r.Axes) == 0 && r.NoopIfEmpty {
		return nil, nil
	}
	return shape.Axes(r.Axes, rank)
}

// Infer returns the type of the folded input.
func (r Reduce) Infer(in []graph.Type) ([]graph.Type, error) {
	if len(in) != 1 {
		return nil, fmt.Errorf("takes 1 input, got %d", len(in))
	}
	if err := reduceKinds.check(uint8(r.Kind)); err != nil {
		return nil, err
	}
	x := in[0]
	if err := x.Check(); err != nil {
		return nil, err
	}
	out := x.DType
	switch r.Kind {
	case ReduceAny, ReduceAll:
		out = dtype.Bool
	case ReduceMax, ReduceMin:
	default:
		if x.DType == dtype.Bool {
			return nil, fmt.Errorf("%v of %v: truth values have no arithmetic", r.Kind, x)
		}
	}
	axes, err := r.axes(len(x.Shape))
	if err != nil {
		return nil, fmt.Errorf("%v of %v: %w", r.Kind, x, err)
	}
	return []graph.Type{{DType: out, Shape: folded(x.Shape, axes, r.KeepDims)}}, nil
}

// folded returns s without the axes given, or with extent 1 there.
func folded(s shape.Shape, axes []int, keep bool) shape.Shape {
	out := make(shape.Shape, 0, len(s))
	for a, d := range s {
		switch {
		case !slices.Contains(axes, a):
			out = append(out, d)
		case keep:
			out = append(out, 1)
		}
	}
	return out
}

// Kernel returns the reduction.
func (r Reduce) Kernel(in, _ []graph.Type) kernel.Kernel {
	axes, err := r.axes(len(in[0].Shape))
	if err != nil {
		return nil
	}
	return kernel.NewReduce(kernel.ReduceKind(r.Kind), in[0].DType, axes)
}

// DenseAxes returns 0: all strides will do.
func (Reduce) DenseAxes(_, _ int) int { return 0 }

// ComputesInFloat32 marks the op.
func (Reduce) ComputesInFloat32() {}
