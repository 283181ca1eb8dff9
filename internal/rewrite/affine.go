package rewrite

import (
	"context"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/conv"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/norm"
	"github.com/berth-go/berth/shape"
)

// affine has a convolution or a batch normalisation do the product with a constant and the
// sum with one behind it, by other weights and another bias, where all of these are constants:
//
//	x ── conv w, b ── mul c ── add d ──   ->   x ── conv w*c, b*c+d ──
//
// A constant has one element, or one for each output channel. The new constants are
// computed in float64 and rounded once for each of the two. Sums of products are then
// rounded at other places than before. As with batch_norm, those of halves are of float32, and the
// result is rounded once.
func affine(_ context.Context, r *graph.Rewriter, opt *Options) error {
	fixed := fixed(r, opt.varies)
	made := make(map[*graph.Node]bool) // those with weights of this rule
	return r.Walk(func(n *graph.Node) error {
		t, ok := single(n.Output(0))
		if !ok || t.code != elementwise.Mul && t.code != elementwise.Add {
			return nil
		}
		for i := range 2 {
			v, c := t.args[i].Value, t.args[1-i]
			if v.IsZero() || !r.OnlyUser(v, n) || !sameShape(r, v, n.Output(0)) {
				continue
			}
			before := sumOf(r.Replacement(v).Node())
			if !isScaled(before.Op()) || !made[before] && !alone(r, v, fixed) {
				continue
			}
			if !c.constant && (!fixed[c.Value.Node()] || !byChannel(r, c.Value, v)) {
				continue
			}
			if !made[before] && widens(before.Input(1).Node()) {
				continue // weights that are halves stay so, in half the memory
			}
			var e expression
			in := make([]graph.Value, max(before.NumInputs(), 3))
			for i := range before.NumInputs() {
				if in[i] = before.Input(i); !in[i].IsZero() {
					in[i] = e.cast(in[i], in[i].Type().DType.Wide())
				}
			}
			w, b := in[1], in[2]
			if b.IsZero() && t.code == elementwise.Add {
				continue
			}
			by := e.operand(r, c)
			if t.code == elementwise.Mul {
				w = e.cast(e.apply(elementwise.Mul, e.wide(w), e.byMap(by, len(w.Type().Shape))), w.Type().DType)
			}
			if !b.IsZero() {
				b = e.cast(e.apply(t.code, e.wide(b), e.byMap(by, 1)), b.Type().DType)
			}
			if e.err != nil {
				return e.err
			}
			in[1], in[2] = w, b
			sum, err := graph.New(before.Op(), in...)
			if err != nil {
				return err
			}
			made[sum] = true
			y, err := elementwise.CastTo(sum.WithLabel(before.Label()).Output(0), v.Type().DType)
			if err != nil {
				return err
			}
			r.Replace(n.Output(0), y)
			return nil
		}
		return nil
	})
}

// isRounding reports whether n rounds float32 to a half type.
func isRounding(n *graph.Node) bool {
	t, ok := single(n.Output(0))
	return ok && t.code == elementwise.Cast && isHalf(n.Output(0)) && n.Input(0).Type().DType == dtype.Float32
}

// sumOf returns what n rounds to a half type, and n if that is not what it does.
func sumOf(n *graph.Node) *graph.Node {
	if isRounding(n) {
		return n.Input(0).Node()
	}
	return n
}

// alone reports whether the sum that v is or is rounded from has constant weights and no other
// readers.
func alone(r *graph.Rewriter, v graph.Value, fixed map[*graph.Node]bool) bool {
	n := sumOf(v.Node())
	return constantWeights(n, fixed) && (n == v.Node() || r.OnlyUser(n.Output(0), v.Node()))
}

// isScaled reports whether an op has weights or a scale for input 1 and a bias for input 2, and
// nothing behind the sum.
func isScaled(o graph.Op) bool {
	switch o := o.(type) {
	case conv.Conv:
		return len(o.Epilogue) == 0
	case norm.BatchNorm:
		return len(o.Epilogue) == 0
	}
	return false
}

// constantWeights reports whether all that a convolution or a normalisation reads is
// fixed, but for its images.
func constantWeights(n *graph.Node, fixed map[*graph.Node]bool) bool {
	for i := 1; i < n.NumInputs(); i++ {
		if v := n.Input(i); !v.IsZero() && !fixed[v.Node()] {
			return false
		}
	}
	return true
}

// byChannel reports whether c has an element for each channel of the image v, with
// which it broadcasts.
func byChannel(r *graph.Rewriter, c, v graph.Value) bool {
	return r.InAll(func(at func(graph.Value) graph.Value) bool {
		s, image := at(c).Type().Shape, at(v).Type().Shape
		axis := len(s) - len(image) + 1 // of the channels
		return axis >= 0 && s[axis] == image[1] && s.Elems() == image[1]
	})
}

// operand returns what stands for the operand o of a term, in float64.
func (e *expression) operand(r *graph.Rewriter, o operand) graph.Value {
	if !o.Value.IsZero() {
		return e.wide(r.Replacement(o.Value))
	}
	data := kernel.Alloc(8)
	o.Scalar.Cast(dtype.Float64).Put(data)
	s := shape.Shape{1}
	n, err := graph.NewConstant(graph.Type{DType: dtype.Float64, Shape: s}, graph.Leaf{Layout: shape.Dense(s), Data: data})
	if err != nil {
		return e.keep(graph.Value{}, err)
	}
	return n.Output(0)
}
