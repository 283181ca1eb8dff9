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
// are then rounded at other places than before. A convolution of halves computes in
// float32 anyway. So the new constants are of that type, and the result is rounded once.
//
//	x ── conv w, b ── batch_norm ── half   ->   x ── cast ── conv w', b' ── cast ── half
func batchNorm(_ context.Context, r *graph.Rewriter, opt *Options) error {
	fixed := fixed(r, opt.varies)
	return r.Walk(func(n *graph.Node) error {
		normalise, ok := n.Op().(norm.BatchNorm)
		if !ok || len(normalise.Epilogue) > 0 {
			return nil
		}
		before := n.Input(0).Node()
		if c, ok := before.Op().(conv.Conv); !ok || len(c.Epilogue) > 0 || !r.OnlyUser(n.Input(0), n) {
			return nil
		}
		if !constantWeights(before, fixed) || !constantWeights(n, fixed) {
			return nil
		}
		return normalised(r, before, n, normalise.Epsilon)
	})
}

// normalised has a convolution do the batch normalisation n of its result as well.
func normalised(r *graph.Rewriter, conv, n *graph.Node, epsilon float64) error {
	var e expression
	in, norm, t := r.Inputs(conv), r.Inputs(n), n.Output(0).Type().DType
	f, shift, mean := e.factor(norm[1], norm[4], epsilon), e.wide(norm[2]), e.wide(norm[3])
	weights := e.apply(elementwise.Mul, e.wide(in[1]), e.byMap(f, len(in[1].Type().Shape)))
	x, w, b := e.cast(in[0], t.Wide()), e.cast(weights, t.Wide()), e.cast(e.shifted(in, mean, f, shift), t.Wide())
	if e.err != nil {
		return e.err
	}
	by, err := graph.New(conv.Op(), x, w, b)
	if err != nil {
		return err
	}
	y, err := elementwise.CastTo(by.WithLabel(conv.Label()).Output(0), t)
	if err != nil {
		return err
	}
	r.Replace(n.Output(0), y)
	return nil
}

// shifted returns (b - mean) * f + shift for a convolution of the inputs conv, where b is
// its bias.
func (e *expression) shifted(conv []graph.Value, mean, f, shift graph.Value) graph.Value {
	moved := e.apply(elementwise.Neg, mean)
	if len(conv) > 2 && !conv[2].IsZero() {
		moved = e.apply(elementwise.Sub, e.wide(conv[2]), mean)
	}
	return e.apply(elementwise.Add, e.apply(elementwise.Mul, moved, f), shift)
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

// factor returns what a batch normalisation multiplies by, in float64.
func (e *expression) factor(scale, variance graph.Value, epsilon float64) graph.Value {
	return e.apply(elementwise.Div, e.wide(scale), e.apply(elementwise.Sqrt, e.plus(e.wide(variance), epsilon)))
}

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
