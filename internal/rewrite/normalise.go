package rewrite

import (
	"context"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/norm"
	"github.com/berth-go/berth/internal/op/reduce"
	"github.com/berth-go/berth/shape"
)

// normalise makes one op of a layer or RMS normalisation that is written out, with
// the scale and the bias behind it:
//
//	x ── square ── mean ── add e ── sqrt ─┐   ->   x ── rms_norm ──
//	└──────────────────────────────────── div ──
//
//	x ── sub mean of x ── rms_norm ── mul w ── add b ──   ->   x ── layer_norm w b ──
//
// The means are over the last axes, which stay with extent 1. A square may be a
// power or a product, and the division a product with the reciprocal root in any
// spelling. The kernels divide once for each mean, and multiply.
func normalise(_ context.Context, r *graph.Rewriter, _ *Options) error {
	return r.Walk(func(n *graph.Node) error {
		if x, axis, epsilon, ok := divided(n); ok {
			if whole, ok := centred(x, axis); ok {
				return put(r, n, n.Label(), norm.LayerNorm{Axis: axis, Epsilon: epsilon}, r.Replacement(whole))
			}
			return put(r, n, n.Label(), norm.RMSNorm{Axis: axis, Epsilon: epsilon}, r.Replacement(x))
		}
		return scaled(r, n)
	})
}

// scaled has a normalisation do the product or the sum behind it.
func scaled(r *graph.Rewriter, n *graph.Node) error {
	e, ok := single(n.Output(0))
	if !ok || n.NumInputs() != 2 || e.code != elementwise.Mul && e.code != elementwise.Add {
		return nil
	}
	ins := r.Inputs(n)
	for i, v := range ins {
		before, w := v.Node(), ins[1-i]
		if v == w || !r.OnlyUser(n.Input(i), n) || !sameShape(r, n.Input(i), n.Output(0)) {
			continue
		}
		of := make([]graph.Value, 3)
		for j := range before.NumInputs() {
			of[min(j, 2)] = before.Input(j)
		}
		switch o := before.Op().(type) {
		case norm.LayerNorm:
			switch {
			case o.Stats || len(o.Epilogue) > 0 || !of[2].IsZero():
			case e.code == elementwise.Add:
				return put(r, n, before.Label(), o, of[0], of[1], w)
			case of[1].IsZero():
				return put(r, n, before.Label(), o, of[0], w)
			}
		case norm.RMSNorm:
			if e.code == elementwise.Mul && len(o.Epilogue) == 0 && of[1].IsZero() {
				return put(r, n, before.Label(), o, of[0], w)
			}
		}
	}
	return nil
}

// divided returns the x that n divides by the root of its mean square over the axes
// from axis on, plus epsilon.
func divided(n *graph.Node) (x graph.Value, axis int, epsilon float64, ok bool) {
	e, is := single(n.Output(0))
	if !is || e.code != elementwise.Div && e.code != elementwise.Mul {
		return x, 0, 0, false
	}
	for i := range 2 {
		under, power := e.args[1-i], -0.5
		if e.code == elementwise.Div {
			power = 0.5
		}
		x = e.args[i].Value
		if x.IsZero() || !x.Type().DType.IsFloat() || e.code == elementwise.Div && i == 1 {
			continue
		}
		if radicand, is := root(under.Value, power); is {
			if axis, epsilon, ok = meanSquare(x, radicand); ok {
				return x, axis, epsilon, true
			}
		}
	}
	return x, 0, 0, false
}

// root returns the w of which v is the given power, 1/2 or -1/2.
func root(v graph.Value, power float64) (w graph.Value, ok bool) {
	e, is := single(v)
	if !is {
		return w, false
	}
	w = e.args[0].Value
	switch {
	case e.code == elementwise.Sqrt:
		return w, power == 0.5
	case e.code == elementwise.Rsqrt:
		return w, power == -0.5
	case e.code == elementwise.Pow:
		return w, !w.IsZero() && e.args[1].is(power)
	case power == 0.5:
		return w, false
	case e.code == elementwise.Reciprocal:
		return root(w, 0.5)
	case e.code == elementwise.Div && e.args[0].is(1):
		return root(e.args[1].Value, 0.5)
	}
	return w, false
}

// meanSquare reports whether v is the mean of x*x over the axes from axis on, plus
// epsilon.
func meanSquare(x, v graph.Value) (axis int, epsilon float64, ok bool) {
	e, is := single(v)
	if !is || e.code != elementwise.Add {
		return 0, 0, false
	}
	for i := range 2 {
		if !e.args[1-i].constant {
			continue
		}
		squared, axis, is := trailingMean(e.args[i].Value)
		if is && isSquare(squared, x) {
			return axis, e.args[1-i].Scalar.Float64(), true
		}
	}
	return 0, 0, false
}

func isSquare(v, x graph.Value) bool {
	e, ok := single(v)
	if !ok || e.args[0].Value != x {
		return false
	}
	switch e.code {
	case elementwise.Square:
		return true
	case elementwise.Mul:
		return e.args[1].Value == x
	case elementwise.Pow:
		return e.args[1].is(2)
	}
	return false
}

// centred returns the value that x is without its mean over the axes from axis on.
func centred(x graph.Value, axis int) (whole graph.Value, ok bool) {
	e, is := single(x)
	if !is || e.code != elementwise.Sub {
		return whole, false
	}
	of, first, is := trailingMean(e.args[1].Value)
	return of, is && first == axis && e.args[0].Value == of
}

// trailingMean returns what v is the mean of over the axes from axis to the last,
// which v has with extent 1.
func trailingMean(v graph.Value) (of graph.Value, axis int, ok bool) {
	if v.IsZero() {
		return of, 0, false
	}
	mean, is := v.Node().Op().(reduce.Reduce)
	if !is || mean.Kind != reduce.Mean || !mean.KeepDims || len(mean.Axes) == 0 && mean.NoopIfEmpty {
		return of, 0, false
	}
	of = v.Node().Input(0)
	rank := len(of.Type().Shape)
	axes, err := shape.Axes(mean.Axes, rank)
	if err != nil || len(axes) == 0 || axes[0] != rank-len(axes) {
		return of, 0, false
	}
	return of, axes[0], true
}

// A term is what a Map of one instruction computes.
type term struct {
	code elementwise.Code
	args [3]operand
}

// An operand of a term is a value, a scalar, or a value that is a constant of one
// element and so has a scalar too.
type operand struct {
	elementwise.Operand
	constant bool
}

// is reports whether the operand is the number x, whatever its type.
func (o operand) is(x float64) bool { return o.constant && o.Scalar.Float64() == x }

// single returns the term that computes v, if that is one.
func single(v graph.Value) (t term, ok bool) {
	if v.IsZero() {
		return t, false
	}
	n := v.Node()
	m, is := n.Op().(elementwise.Map)
	if !is || len(m.Program) != 1 {
		return t, false
	}
	ins := m.Program[0]
	t.code = ins.Code
	for i, a := range ins.Args[:ins.Code.Arity()] {
		o := &t.args[i]
		switch a.Kind {
		case elementwise.ArgScalar:
			o.Scalar, o.constant = a.Scalar, true
		case elementwise.ArgInput:
			o.Value = n.Input(a.Index)
			o.Scalar, o.constant = scalar(o.Value)
		}
	}
	return t, true
}

// scalar returns the element of a constant that has one.
func scalar(v graph.Value) (kernel.Scalar, bool) {
	t := v.Type()
	if _, ok := v.Node().Op().(graph.Constant); !ok || t.Shape.Elems() != 1 {
		return kernel.Scalar{}, false
	}
	leaf := v.Node().Leaf()
	return kernel.ScalarAt(t.DType, leaf.Data, leaf.Layout.Offset), true
}
