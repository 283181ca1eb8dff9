package berth

import (
	"slices"

	"github.com/berth-go/berth/internal/op/reduce"
)

// Reductions go over the given axes, or all when none is given. Negative axes
// count from the end. The reduced axes vanish; the methods that end in Keep
// leave them in the result with extent 1, so that it broadcasts against p.

func (p *Promise) reduce(kind reduce.Kind, keep bool, axes []int) *Promise {
	return apply(reduce.Reduce{Kind: kind, Axes: slices.Clone(axes), KeepDims: keep}, p)
}

// Sum returns the sums over axes.
func (p *Promise) Sum(axes ...int) *Promise { return p.reduce(reduce.Sum, false, axes) }

// SumKeep is Sum with the reduced axes kept.
func (p *Promise) SumKeep(axes ...int) *Promise { return p.reduce(reduce.Sum, true, axes) }

// Mean returns the means over axes.
func (p *Promise) Mean(axes ...int) *Promise { return p.reduce(reduce.Mean, false, axes) }

// MeanKeep is Mean with the reduced axes kept.
func (p *Promise) MeanKeep(axes ...int) *Promise { return p.reduce(reduce.Mean, true, axes) }

// Max returns the largest elements over axes.
func (p *Promise) Max(axes ...int) *Promise { return p.reduce(reduce.Max, false, axes) }

// MaxKeep is Max with the reduced axes kept.
func (p *Promise) MaxKeep(axes ...int) *Promise { return p.reduce(reduce.Max, true, axes) }

// Min returns the smallest elements over axes.
func (p *Promise) Min(axes ...int) *Promise { return p.reduce(reduce.Min, false, axes) }

// MinKeep is Min with the reduced axes kept.
func (p *Promise) MinKeep(axes ...int) *Promise { return p.reduce(reduce.Min, true, axes) }

// Prod returns the products over axes.
func (p *Promise) Prod(axes ...int) *Promise { return p.reduce(reduce.Prod, false, axes) }

// ProdKeep is Prod with the reduced axes kept.
func (p *Promise) ProdKeep(axes ...int) *Promise { return p.reduce(reduce.Prod, true, axes) }

// SumSquare returns the sums of squares over axes.
func (p *Promise) SumSquare(axes ...int) *Promise { return p.reduce(reduce.SumSquare, false, axes) }

// SumSquareKeep is SumSquare with the reduced axes kept.
func (p *Promise) SumSquareKeep(axes ...int) *Promise {
	return p.reduce(reduce.SumSquare, true, axes)
}

// L1 returns the sums of absolute values over axes.
func (p *Promise) L1(axes ...int) *Promise { return p.reduce(reduce.L1, false, axes) }

// L1Keep is L1 with the reduced axes kept.
func (p *Promise) L1Keep(axes ...int) *Promise { return p.reduce(reduce.L1, true, axes) }

// L2 returns the square roots of the sums of squares over axes.
func (p *Promise) L2(axes ...int) *Promise { return p.reduce(reduce.L2, false, axes) }

// L2Keep is L2 with the reduced axes kept.
func (p *Promise) L2Keep(axes ...int) *Promise { return p.reduce(reduce.L2, true, axes) }

// LogSumExp returns the logarithms of the sums of exponentials over axes.
func (p *Promise) LogSumExp(axes ...int) *Promise { return p.reduce(reduce.LogSumExp, false, axes) }

// LogSumExpKeep is LogSumExp with the reduced axes kept.
func (p *Promise) LogSumExpKeep(axes ...int) *Promise {
	return p.reduce(reduce.LogSumExp, true, axes)
}

// Any returns whether any of the bools is true over axes.
func (p *Promise) Any(axes ...int) *Promise { return p.reduce(reduce.Any, false, axes) }

// AnyKeep is Any with the reduced axes kept.
func (p *Promise) AnyKeep(axes ...int) *Promise { return p.reduce(reduce.Any, true, axes) }

// All returns whether all of the bools are true over axes.
func (p *Promise) All(axes ...int) *Promise { return p.reduce(reduce.All, false, axes) }

// AllKeep is All with the reduced axes kept.
func (p *Promise) AllKeep(axes ...int) *Promise { return p.reduce(reduce.All, true, axes) }

// ArgMax returns the int64 index of the largest element along an axis, the
// first of several.
func (p *Promise) ArgMax(axis int, keep bool) *Promise {
	return apply(reduce.ArgReduce{Max: true, Axis: axis, KeepDims: keep}, p)
}

// ArgMin returns the int64 index of the smallest element along an axis, the
// first of several.
func (p *Promise) ArgMin(axis int, keep bool) *Promise {
	return apply(reduce.ArgReduce{Axis: axis, KeepDims: keep}, p)
}

// CumSum returns the running sums along an axis.
func (p *Promise) CumSum(axis int) *Promise {
	return apply(reduce.Cumulative{Kind: reduce.Sum, Axis: axis}, p)
}

// CumProd returns the running products along an axis.
func (p *Promise) CumProd(axis int) *Promise {
	return apply(reduce.Cumulative{Kind: reduce.Prod, Axis: axis}, p)
}

// TopK returns the k largest elements along an axis (the smallest if largest
// is false) in order, and their int64 indices. Of equals the first come first.
func (p *Promise) TopK(k, axis int, largest bool) (values, indices *Promise) {
	outs := applyAll(2, reduce.TopK{K: k, Axis: axis, Largest: largest, Sorted: true}, p)
	return outs[0], outs[1]
}
