// Package reduce holds the ops that accumulate elements along axes, or order
// them.
//
// # Where to find what
//
//	reduce.go, reduce_kernel.go  sums, extremes, norms and the like
//	argreduce.go                 where an extreme is
//	cumulative.go                running sums and products
//	topk.go                      the largest or smallest k
//
// The order in which elements meet is that of package lines.
package reduce

import (
	"fmt"
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/shape"
)

// A Kind says what a reduction makes of elements. Its text is the name in
// lower case with underscores, such as "log_sum_exp".
type Kind uint8

// The kinds of reductions of elements x.
const (
	Sum       Kind = iota // sum of x
	Mean                  // sum of x, divided by their number
	Max                   // largest x
	Min                   // smallest x
	Prod                  // product of x
	SumSquare             // sum of x*x
	L1                    // sum of |x|
	L2                    // square root of the sum of x*x
	LogSum                // natural logarithm of the sum of x
	LogSumExp             // natural logarithm of the sum of exp(x)
	Any                   // whether any x is not zero
	All                   // whether no x is zero
)

var kinds = op.Enum{Kind: "reduction", Names: []string{
	Sum: "sum", Mean: "mean", Max: "max", Min: "min", Prod: "prod",
	SumSquare: "sum_square", L1: "l1", L2: "l2",
	LogSum: "log_sum", LogSumExp: "log_sum_exp", Any: "any", All: "all",
}}

// String returns the name of k.
func (k Kind) String() string { return kinds.Text(uint8(k)) }

// MarshalText implements [encoding.TextMarshaler].
func (k Kind) MarshalText() ([]byte, error) { return kinds.Marshal(uint8(k)) }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (k *Kind) UnmarshalText(text []byte) error { return op.UnmarshalEnum(kinds, text, k) }

// Reduce accumulates the elements along some axes into one.
//
// The result has the element type of the input, and bool for any and all,
// which take every type. Bool inputs can be reduced by max, min, any and all.
// [newReduce] states the arithmetic, and the results for no elements.
type Reduce struct {
	Kind Kind
	// Axes are the axes to reduce, in any order, negative ones counted from
	// the end. None at all means every axis.
	Axes []int
	// NoopIfEmpty makes no Axes mean none: each element is reduced alone.
	NoopIfEmpty bool
	// KeepDims leaves the reduced axes in the result, with extent 1.
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

// Infer returns the type of the reduced input.
func (r Reduce) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := takesOne(in); err != nil {
		return nil, err
	}
	if err := kinds.Check(uint8(r.Kind)); err != nil {
		return nil, err
	}
	x := in[0]
	out := x.DType
	switch r.Kind {
	case Any, All:
		out = dtype.Bool
	case Max, Min:
	default:
		if x.DType == dtype.Bool {
			return nil, fmt.Errorf("%v of %v: truth values have no arithmetic", r.Kind, x)
		}
	}
	axes, err := r.axes(len(x.Shape))
	if err != nil {
		return nil, fmt.Errorf("%v of %v: %w", r.Kind, x, err)
	}
	return []graph.Type{{DType: out, Shape: without(x.Shape, axes, r.KeepDims)}}, nil
}

// takesOne reports inputs other than one whose elements can be compared.
func takesOne(in []graph.Type) error {
	if err := op.Takes(in, 1, 1); err != nil {
		return err
	}
	if in[0].DType.IsLowPrecision() {
		return fmt.Errorf("input 0 is %v: elements of low precision are converted to be computed with", in[0])
	}
	return nil
}

// without returns s without the axes given, or with extent 1 there.
func without(s shape.Shape, axes []int, keep bool) shape.Shape {
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
	axes, _ := r.axes(len(in[0].Shape))
	return newReduce(r.Kind, in[0].DType, axes)
}

// DenseAxes returns 0: all strides will do.
func (Reduce) DenseAxes(_, _ int) int { return 0 }

// Streams implements [op.Streamer].
func (Reduce) Streams() {}

// ComputesInFloat32 marks the op.
func (Reduce) ComputesInFloat32() {}
