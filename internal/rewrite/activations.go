package rewrite

import (
	"context"
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/elementwise"
)

// activations makes one instruction of an activation that a program spells out:
//
//	t0=div(x0,1.4142135);t1=erf(t0);t2=add(t1,1);t3=mul(x0,t2);t4=mul(t3,0.5)   ->   t0=gelu(x0)
//
// An activation is told by a function s of x in it and by the polynomials before and
// after that, so that sums and products may be spelled in any order:
//
//	s = erf(x/√2)                     x/2 + x*s/2    gelu
//	s = tanh(√(2/π)(x+0.044715x³))    x/2 + x*s/2    gelu_tanh
//	s = sigmoid(a*x)                  x*s            swish[a]
//	s = clip(x+3, 0, 6)               x*s/6          hard_swish
//	s = clip(a*x+b, 0, c)             s/c            hard_sigmoid[a/c, b/c]
//	s = hard_sigmoid[1/6, 1/2](x)     x*s            hard_swish
//	s = tanh(softplus(x))             x*s            mish
//	s = exp(-a*x)                     x/(1+s)        swish[a]
//	s = exp(-x)                       1/(1+s)        sigmoid
//	s = exp(x)                        ln(1+s)        softplus
//
// The instruction rounds once, where the program does so at each of its own. Where
// something else reads s, it would cost more than it saves, and the program stays.
func activations(_ context.Context, r *graph.Rewriter, _ *Options) error {
	return r.Walk(func(n *graph.Node) error {
		m, ok := n.Op().(elementwise.Map)
		if !ok || len(m.Program) < 2 {
			return nil
		}
		p := m.Program
		for {
			next, found := recognised(p, n)
			if !found {
				break
			}
			p = next
		}
		if slices.Equal(p, m.Program) {
			return nil
		}
		return put(r, n, n.Label(), elementwise.Map{Program: p}, r.Inputs(n)...)
	})
}

// recognised returns p, a program over the inputs of n, with one activation fewer
// that is spelled out, the one that ends last.
func recognised(p elementwise.Program, n *graph.Node) (elementwise.Program, bool) {
	types := make([]dtype.Type, len(p))
	typeOf := func(a elementwise.Arg) dtype.Type {
		switch a.Kind {
		case elementwise.ArgInput:
			return n.Input(a.Index).Type().DType
		case elementwise.ArgResult:
			return types[a.Index]
		}
		return a.Scalar.DType
	}
	for i, ins := range p {
		var args [3]dtype.Type
		for j, a := range ins.Args[:ins.Code.Arity()] {
			args[j] = typeOf(a)
		}
		types[i], _ = ins.Code.Result(ins.To, args[:ins.Code.Arity()]...)
	}
	xs := make([]elementwise.Arg, 0, n.NumInputs()+len(p))
	for i := range n.NumInputs() {
		xs = append(xs, elementwise.InputArg(i))
	}
	for i := range p {
		xs = append(xs, elementwise.ResultArg(i))
	}
	for last := len(p) - 1; last >= 0; last-- {
		for s := range last + 1 {
			f, ok := functionAt(p, s)
			if !ok {
				continue
			}
			for _, x := range xs {
				if t := typeOf(x); !t.IsFloat() || t != types[s] || t != types[last] || x.Kind == elementwise.ArgResult && x.Index >= s {
					continue
				}
				e := expansion{program: p, x: x, tolerance: tolerance(types[last])}
				if by, ok := e.activation(f, s, last); ok {
					by.Args[0] = x
					next := slices.Clone(p)
					next[last] = by
					if s == last || !reads(next, len(p)-1)[s] {
						return pruned(next, len(p)-1), true
					}
				}
			}
		}
	}
	return p, false
}

// tolerance is how far coefficients of a type may be from those of an activation,
// relative to these: by what rounding two or three of them does.
func tolerance(t dtype.Type) float64 {
	switch t {
	case dtype.Float64:
		return 0x1p-50
	case dtype.Float32:
		return 0x1p-21
	case dtype.BFloat16:
		return 0x1p-6
	}
	return 0x1p-9 // float16
}

// A function is a code of one operand, or clip between two numbers.
type function struct {
	code   elementwise.Code
	attrs  [2]float64 // of clip, the bounds
	of     elementwise.Arg
	within bool // of is the softplus of what it stands for
}

// functionAt returns the function that instruction i of p computes.
func functionAt(p elementwise.Program, i int) (f function, ok bool) {
	ins := p[i]
	f = function{code: ins.Code, attrs: ins.Attrs, of: ins.Args[0]}
	switch ins.Code {
	case elementwise.Erf, elementwise.Sigmoid, elementwise.HardSigmoid, elementwise.Exp:
		return f, true
	case elementwise.Tanh:
		if a := f.of; a.Kind == elementwise.ArgResult && p[a.Index].Code == elementwise.Softplus {
			f.of, f.within = p[a.Index].Args[0], true
		}
		return f, true
	case elementwise.Clip:
		low, high := ins.Args[1], ins.Args[2]
		f.attrs = [2]float64{low.Scalar.Float64(), high.Scalar.Float64()}
		return f, low.Kind == elementwise.ArgScalar && high.Kind == elementwise.ArgScalar
	}
	// One bound around the other.
	outer, a, bound, ok := bounded(ins)
	if !ok || a.Kind != elementwise.ArgResult {
		return f, false
	}
	inner, of, other, ok := bounded(p[a.Index])
	if !ok || outer == inner {
		return f, false
	}
	f = function{code: elementwise.Clip, attrs: [2]float64{bound, other}, of: of}
	if outer == elementwise.Minimum {
		f.attrs = [2]float64{other, bound}
	}
	return f, f.attrs[0] <= f.attrs[1]
}

// bounded tells which bound an instruction sets to what.
func bounded(ins elementwise.Instr) (code elementwise.Code, of elementwise.Arg, bound float64, ok bool) {
	switch ins.Code {
	case elementwise.Relu:
		return elementwise.Maximum, ins.Args[0], 0, true
	case elementwise.Minimum, elementwise.Maximum:
		for j, a := range ins.Args[:2] {
			if a.Kind == elementwise.ArgScalar {
				return ins.Code, ins.Args[1-j], a.Scalar.Float64(), true
			}
		}
	}
	return 0, of, 0, false
}
