package rewrite

import (
	"context"
	"math"
	"slices"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/elementwise"
)

// simplify takes instructions out of programs that change no bit of their operand, and
// has cheaper ones for those that have an equal:
//
//	x*1, x/1, x-0, max(x, -∞), min(x, +∞)   ->   x
//	x/2ⁿ                                         ->   x*2⁻ⁿ
//	min(max(x, a), b)                            ->   clip(x, a, b)
//
// All of floating-point types: x+0 is not among them, for -0+0 is 0. A Map of which
// nothing is left goes.
func simplify(_ context.Context, r *graph.Rewriter, _ *Options) error {
	return r.Walk(func(n *graph.Node) error {
		m, ok := n.Op().(elementwise.Map)
		if !ok {
			return nil
		}
		p, result := simplified(m.Program)
		switch {
		case result.Kind == elementwise.ArgInput && n.NumInputs() == 1:
			r.Replace(n.Output(0), r.Inputs(n)[0])
			return nil
		case result.Kind == elementwise.ArgInput:
			return nil
		}
		if p = pruned(p, result.Index); slices.Equal(p, m.Program) {
			return nil
		}
		return put(r, n, n.Label(), elementwise.Map{Program: p}, r.Inputs(n)...)
	})
}

// simplified returns p with other instructions at the same places, and the operand
// that is its result.
func simplified(p elementwise.Program) (elementwise.Program, elementwise.Arg) {
	p = slices.Clone(p)
	is := make([]elementwise.Arg, len(p)) // what stands for each result
	for i := range p {
		ins := &p[i]
		for j, a := range ins.Args[:ins.Code.Arity()] {
			if a.Kind == elementwise.ArgResult {
				ins.Args[j] = is[a.Index]
			}
		}
		is[i] = elementwise.ResultArg(i)
		if x, ok := unchanged(*ins); ok {
			is[i] = x
			continue
		}
		*ins = cheaper(p, *ins)
	}
	return p, is[len(p)-1]
}

// float returns the value of a scalar of a floating-point type.
func float(a elementwise.Arg) (v float64, ok bool) {
	return a.Scalar.Float64(), a.Kind == elementwise.ArgScalar && a.Scalar.DType.IsFloat()
}

// unchanged returns the operand that ins is equal to.
func unchanged(ins elementwise.Instr) (x elementwise.Arg, ok bool) {
	if ins.Code.Arity() != 2 {
		return x, false
	}
	for j := range 2 {
		x = ins.Args[j]
		v, is := float(ins.Args[1-j])
		if !is || x.Kind == elementwise.ArgScalar {
			continue
		}
		switch ins.Code {
		case elementwise.Mul:
			ok = v == 1
		case elementwise.Div:
			ok = v == 1 && j == 0
		case elementwise.Sub:
			ok = v == 0 && !math.Signbit(v) && j == 0
		case elementwise.Maximum:
			ok = math.IsInf(v, -1)
		case elementwise.Minimum:
			ok = math.IsInf(v, 1)
		}
		if ok {
			return x, true
		}
	}
	return x, false
}

// cheaper returns an instruction of p that is equal to ins.
func cheaper(p elementwise.Program, ins elementwise.Instr) elementwise.Instr {
	if ins.Code.Arity() != 2 {
		return ins
	}
	v, ok := float(ins.Args[1])
	switch {
	case ins.Code == elementwise.Div && ok:
		inverse := kernel.Float64Scalar(1 / v).Cast(ins.Args[1].Scalar.DType)
		if fraction, _ := math.Frexp(v); math.Abs(fraction) == 0.5 && inverse.Float64() == 1/v {
			ins.Code, ins.Args[1] = elementwise.Mul, elementwise.ScalarArg(inverse)
		}
	case ins.Code == elementwise.Minimum:
		outer, a, high, ok := bounded(ins)
		if !ok || a.Kind != elementwise.ArgResult {
			return ins
		}
		inner, x, low, ok := bounded(p[a.Index])
		if !ok || inner == outer || p[a.Index].Code != elementwise.Maximum || !(low <= high) {
			return ins
		}
		args := [3]elementwise.Arg{x}
		for j, from := range [2]elementwise.Instr{p[a.Index], ins} {
			args[1+j] = from.Args[0]
			if from.Args[1].Kind == elementwise.ArgScalar {
				args[1+j] = from.Args[1]
			}
		}
		return elementwise.Instr{Code: elementwise.Clip, Args: args}
	}
	return ins
}

// reads returns which instructions of p the result of instruction last depends on,
// itself among them.
func reads(p elementwise.Program, last int) []bool {
	read := make([]bool, len(p))
	read[last] = true
	for i := last; i >= 0; i-- {
		for _, a := range p[i].Args[:p[i].Code.Arity()] {
			if read[i] && a.Kind == elementwise.ArgResult {
				read[a.Index] = true
			}
		}
	}
	return read
}

// pruned returns the program whose result is that of instruction last of p, without
// the instructions that it does not depend on.
func pruned(p elementwise.Program, last int) elementwise.Program {
	var out elementwise.Program
	number := make([]int, len(p))
	for i, needed := range reads(p, last) {
		if !needed {
			continue
		}
		ins := p[i]
		for j, a := range ins.Args[:ins.Code.Arity()] {
			if a.Kind == elementwise.ArgResult {
				ins.Args[j] = elementwise.ResultArg(number[a.Index])
			}
		}
		number[i] = len(out)
		out = append(out, ins)
	}
	return out
}
