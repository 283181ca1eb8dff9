package rewrite

import (
	"context"
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/conv"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/norm"
	"github.com/berth-go/berth/internal/op/ops"
	"github.com/berth-go/berth/internal/op/view"
	"github.com/berth-go/berth/shape"
)

// batchNorm has a convolution do the batch normalisation of its result, by
// other weights and another bias, where all of these are constants. Behind other ops
// it becomes a product and a sum.
//
//	x ── conv w, b ── batch_norm scale, bias, mean, variance ──   ->   x ── conv w', b' ──
//	x ── batch_norm scale, bias, mean, variance ──                ->   x ── mul f ── add g ──
//
//	f = scale / sqrt(variance + epsilon)
//	g = bias - mean * f
//	w' = w * f, for each output channel
//	b' = (b - mean) * f + bias
//
// The new constants are computed in float64 and rounded once. Sums of products
// are then rounded at other places than before.
func batchNorm(_ context.Context, r *graph.Rewriter, opt *Options) error {
	fixed := fixed(r, opt.varies)
	return r.Walk(func(n *graph.Node) error {
		normalise, ok := n.Op().(norm.BatchNorm)
		if !ok || len(normalise.Epilogue) > 0 {
			return nil
		}
		x := n.Input(0)
		if !constantWeights(n, fixed) || len(x.Type().Shape) < 2 {
			return nil
		}
		before := x.Node()
		if c, ok := before.Op().(conv.Conv); !ok || len(c.Epilogue) > 0 || !r.OnlyUser(x, n) || x.Type().DType.IsHalf() || !constantWeights(before, fixed) {
			y, err := multiplied(r.Inputs(n), normalise.Epsilon)
			if err != nil {
				return err
			}
			r.Replace(n.Output(0), y.Node().WithLabel(n.Label()).Output(0))
			return nil
		}
		weights, bias, err := normalised(r.Inputs(before), r.Inputs(n), normalise.Epsilon)
		if err != nil {
			return err
		}
		return put(r, n, before.Label(), before.Op(), r.Replacement(before.Input(0)), weights, bias)
	})
}

// normalised returns the weights and the bias of a convolution with the inputs
// conv that does the batch normalisation with the inputs norm as well.
func normalised(conv, norm []graph.Value, epsilon float64) (weights, bias graph.Value, err error) {
	var e expression
	t := conv[1].Type()
	f, shift, mean := e.factor(norm, epsilon), e.wide(norm[2]), e.wide(norm[3])
	weights = e.cast(e.apply(elementwise.Mul, e.wide(conv[1]), e.byMap(f, len(t.Shape))), t.DType)
	moved := e.apply(elementwise.Neg, mean)
	if len(conv) > 2 && !conv[2].IsZero() {
		moved = e.apply(elementwise.Sub, e.wide(conv[2]), mean)
	}
	bias = e.cast(e.apply(elementwise.Add, e.apply(elementwise.Mul, moved, f), shift), t.DType)
	return weights, bias, e.err
}

// multiplied returns a batch normalisation with the inputs norm as a product and a sum.
func multiplied(norm []graph.Value, epsilon float64) (graph.Value, error) {
	var e expression
	t := norm[0].Type()
	f := e.factor(norm, epsilon)
	g := e.apply(elementwise.Sub, e.wide(norm[2]), e.apply(elementwise.Mul, e.wide(norm[3]), f))
	rank, single := len(t.Shape)-1, t.DType // of constants, which meet x from the channels on
	if single.IsHalf() {
		single = dtype.Float32
	}
	y := e.apply(elementwise.Mul, e.cast(norm[0], single), e.byMap(e.cast(f, single), rank))
	return e.cast(e.apply(elementwise.Add, y, e.byMap(e.cast(g, single), rank)), t.DType), e.err
}

// factor returns what a batch normalisation with the inputs norm multiplies each channel
// by, in float64.
func (e *expression) factor(norm []graph.Value, epsilon float64) graph.Value {
	return e.apply(elementwise.Div, e.wide(norm[1]), e.apply(elementwise.Sqrt, e.plus(e.wide(norm[4]), epsilon)))
}

// An expression builds elementwise nodes. Its first error sticks, and what is
// built after it means nothing.
type expression struct{ err error }

func (e *expression) keep(v graph.Value, err error) graph.Value {
	if e.err == nil {
		e.err = err
	}
	return v
}

func (e *expression) apply(code elementwise.Code, in ...graph.Value) graph.Value {
	return e.keep(elementwise.Apply(code, nil, in...))
}

func (e *expression) plus(v graph.Value, x float64) graph.Value {
	return e.keep(elementwise.WithScalar(elementwise.Add, v, kernel.Float64Scalar(x), false))
}

func (e *expression) cast(v graph.Value, t dtype.Type) graph.Value {
	return e.keep(elementwise.CastTo(v, t))
}

func (e *expression) wide(v graph.Value) graph.Value { return e.cast(v, dtype.Float64) }

// byMap returns v, an element for each output channel, as [M, 1, 1, ...] of the
// given rank, which broadcasts against weights.
func (e *expression) byMap(v graph.Value, rank int) graph.Value {
	s := slices.Repeat(shape.Shape{1}, rank)
	s[0] = v.Type().Shape.Elems()
	if v.Type().Shape.Equal(s) {
		return v
	}
	return e.keep(ops.One(view.Reshape{Shape: s}, v))
}
