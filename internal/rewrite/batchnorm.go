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
// other weights and another bias, where all of these are constants:
//
//	x ── conv w, b ── batch_norm scale, bias, mean, variance ──   ->   x ── conv w', b' ──
//
//	f = scale / sqrt(variance + epsilon)
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
		before := n.Input(0).Node()
		if c, ok := before.Op().(conv.Conv); !ok || len(c.Epilogue) > 0 || !r.OnlyUser(n.Input(0), n) || n.Input(0).Type().DType.IsHalf() {
			return nil
		}
		if !constantWeights(before, fixed) || !constantWeights(n, fixed) {
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
	scale, shift, mean, variance := e.wide(norm[1]), e.wide(norm[2]), e.wide(norm[3]), e.wide(norm[4])
	f := e.apply(elementwise.Div, scale, e.apply(elementwise.Sqrt, e.plus(variance, epsilon)))
	weights = e.cast(e.apply(elementwise.Mul, e.wide(conv[1]), e.byMap(f, len(t.Shape))), t.DType)
	moved := e.apply(elementwise.Neg, mean)
	if len(conv) > 2 && !conv[2].IsZero() {
		moved = e.apply(elementwise.Sub, e.wide(conv[2]), mean)
	}
	bias = e.cast(e.apply(elementwise.Add, e.apply(elementwise.Mul, moved, f), shift), t.DType)
	return weights, bias, e.err
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
