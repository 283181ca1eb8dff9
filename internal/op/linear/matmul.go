// Package linear holds the products of matrices.
//
// # Where to find what
//
//	matmul.go         the ops: NumPy's product, and alpha·A·B + beta·C
//	matmul_kernel.go  their kernel, out of the blocks of package gemm
//	det.go            determinants
//	recurrence.go     attention with a matrix for its memory
package linear

import (
	"fmt"
	"math"
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/shape"
)

// MatMul is the matrix product under NumPy's rules: the last two axes of both
// inputs are matrices, [.., m, k] by [.., k, n] gives [.., m, n], and the axes
// before them broadcast. A 1-d input is a row on the left, a column on the
// right, and its added axis is not in the result. k = 0 gives zeros.
//
// The right input may be of a half type beside a left one of float32. Float32 and
// float64 sums are rounded as package gemm states for its
// products; integers wrap. Epilogue runs on the product.
type MatMul struct {
	Epilogue elementwise.Program
}

// Name returns "matmul".
func (MatMul) Name() string { return "matmul" }

// String prints the name, and the epilogue behind it.
func (m MatMul) String() string { return m.Epilogue.Title(m.Name()) }

// Infer implements [graph.Op].
func (m MatMul) Infer(in []graph.Type) ([]graph.Type, error) {
	in, extra := m.Epilogue.Own(in, 2)
	if err := op.SameNumbers(widened(in), 2, 2); err != nil {
		return nil, err
	}
	a, b := in[0].Shape, in[1].Shape
	if len(a) == 0 || len(b) == 0 {
		return nil, fmt.Errorf("shapes %v and %v: a scalar has no matrix product", a, b)
	}
	k := b[0]
	if len(b) > 1 {
		k = b[len(b)-2]
	}
	if a[len(a)-1] != k {
		return nil, fmt.Errorf("shapes %v and %v do not multiply: %d columns against %d rows", a, b, a[len(a)-1], k)
	}
	batch, err := shape.Broadcast(a[:max(len(a)-2, 0)], b[:max(len(b)-2, 0)])
	if err != nil {
		return nil, fmt.Errorf("shapes %v and %v do not multiply: %w", a, b, err)
	}
	if len(a) > 1 {
		batch = append(batch, a[len(a)-2])
	}
	if len(b) > 1 {
		batch = append(batch, b[len(b)-1])
	}
	out := graph.Type{DType: in[0].DType, Shape: batch}
	return []graph.Type{out}, m.Epilogue.CheckEpilogue(out, extra)
}

// Kernel implements [op.Computer].
func (m MatMul) Kernel(in, _ []graph.Type) kernel.Kernel {
	return newProduct(in[0].DType, params{half: halfOf(in), epilogue: elementwise.EpilogueOf(m.Epilogue, in, 2)})
}

// Finish implements [elementwise.Finisher].
func (m MatMul) Finish() (elementwise.Program, int) { return m.Epilogue, 2 }

// Finished implements [elementwise.Finisher].
func (m MatMul) Finished(p elementwise.Program) graph.Op {
	m.Epilogue = p
	return m
}

// DenseAxes implements [op.Strider].
func (MatMul) DenseAxes(operand, rank int) int { return productDenseAxes(operand, rank) }

// Products implements [op.Multiplier].
func (MatMul) Products(in, out []graph.Type) int64 {
	return int64(out[0].Shape.Elems()) * int64(in[0].Shape[len(in[0].Shape)-1])
}

// ComputesInFloat32 implements [op.Widener].
func (MatMul) ComputesInFloat32() {}

// ReadsHalves implements [op.HalfReader].
func (MatMul) ReadsHalves(input int) bool { return input == 1 }

// Gemm is Alpha·A·B + Beta·C over matrices: A is [m, k], or [k, m] with
// TransA; B is [k, n], or [n, k] with TransB; the optional C broadcasts to
// [m, n]. Alpha and Beta are used as they are, so the zero Gemm gives zeros;
// the usual product has both at 1. With integers they must be whole. Epilogue
// runs on the sum.
type Gemm struct {
	Alpha, Beta    float64
	TransA, TransB bool
	Epilogue       elementwise.Program
}

// Name returns "gemm".
func (Gemm) Name() string { return "gemm" }

// String prints the name, and the epilogue behind it.
func (g Gemm) String() string { return g.Epilogue.Title(g.Name()) }

// Infer implements [graph.Op].
func (g Gemm) Infer(in []graph.Type) ([]graph.Type, error) {
	in, extra := g.Epilogue.Own(in, 3)
	if err := op.SameNumbers(widened(in), 2, 3); err != nil {
		return nil, err
	}
	a, b := in[0].Shape, in[1].Shape
	if len(a) != 2 || len(b) != 2 {
		return nil, fmt.Errorf("shapes %v and %v: both must be matrices", a, b)
	}
	m, k := a[0], a[1]
	if g.TransA {
		m, k = k, m
	}
	depth, n := b[0], b[1]
	if g.TransB {
		depth, n = n, depth
	}
	if k != depth {
		return nil, fmt.Errorf("shapes %v (transposed: %v) and %v (transposed: %v) do not multiply: %d columns against %d rows",
			a, g.TransA, b, g.TransB, k, depth)
	}
	out := graph.Type{DType: in[0].DType, Shape: shape.Shape{m, n}}
	if op.Given(in, 2) {
		full, err := shape.Broadcast(in[2].Shape, out.Shape)
		if err != nil || !full.Equal(out.Shape) {
			return nil, fmt.Errorf("addend %v does not broadcast to the product %v", in[2].Shape, out.Shape)
		}
	}
	if t := in[0].DType; t.IsInteger() && !(whole(g.Alpha) && whole(g.Beta)) {
		return nil, fmt.Errorf("alpha %v and beta %v must be whole, and no wider than a float64 tells apart, for %v", g.Alpha, g.Beta, t)
	}
	return []graph.Type{out}, g.Epilogue.CheckEpilogue(out, extra)
}

// Kernel implements [op.Computer].
func (g Gemm) Kernel(in, _ []graph.Type) kernel.Kernel {
	addend, inputs := op.Given(in, 2), 1
	if addend {
		inputs = 2
	}
	p := g.Epilogue.After(g.scaled(in[0].DType, addend), inputs)
	return newProduct(in[0].DType, params{g.TransA, g.TransB, halfOf(in), elementwise.EpilogueOf(p, in, 2)})
}

// scaled returns the program that makes Alpha·x0 + Beta·x1 of the product x0, or
// Alpha·x0 without an addend, for elements of type t.
func (g Gemm) scaled(t dtype.Type, addend bool) elementwise.Program {
	var p elementwise.Program
	times := func(x elementwise.Arg, v float64) elementwise.Arg {
		if v == 1 {
			return x
		}
		s := kernel.Float64Scalar(v)
		if t.IsInteger() {
			s = kernel.Int64Scalar(int64(v)) // negative ones wrap in unsigned types
		}
		p = append(p, elementwise.Instr{Code: elementwise.Mul, Args: [3]elementwise.Arg{x, elementwise.ScalarArg(s.Cast(t))}})
		return elementwise.ResultArg(len(p) - 1)
	}
	product := times(elementwise.InputArg(0), g.Alpha)
	if addend {
		c := times(elementwise.InputArg(1), g.Beta)
		p = append(p, elementwise.Instr{Code: elementwise.Add, Args: [3]elementwise.Arg{product, c}})
	}
	return p
}

// Finish implements [elementwise.Finisher].
func (g Gemm) Finish() (elementwise.Program, int) { return g.Epilogue, 3 }

// Finished implements [elementwise.Finisher].
func (g Gemm) Finished(p elementwise.Program) graph.Op {
	g.Epilogue = p
	return g
}

// DenseAxes implements [op.Strider].
func (Gemm) DenseAxes(operand, rank int) int { return productDenseAxes(operand, rank) }

// Products implements [op.Multiplier].
func (g Gemm) Products(in, out []graph.Type) int64 {
	depth := in[0].Shape[1]
	if g.TransA {
		depth = in[0].Shape[0]
	}
	return int64(out[0].Shape.Elems()) * int64(depth)
}

// ComputesInFloat32 implements [op.Widener].
func (Gemm) ComputesInFloat32() {}

// ReadsHalves implements [op.HalfReader].
func (Gemm) ReadsHalves(input int) bool { return input == 1 }

// halfOf returns the type of a right operand of halves beside a left one of float32; else
// none.
func halfOf(in []graph.Type) dtype.Type {
	if in[0].DType == dtype.Float32 && in[1].DType.IsHalf() {
		return in[1].DType
	}
	return dtype.Invalid
}

// widened returns in with such an operand as float32, which it counts as.
func widened(in []graph.Type) []graph.Type {
	if len(in) > 1 && halfOf(in) != dtype.Invalid {
		in = slices.Clone(in)
		in[1].DType = dtype.Float32
	}
	return in
}

// whole reports whether v is an integer that float64 tells from its neighbours.
func whole(v float64) bool { return v == math.Trunc(v) && math.Abs(v) <= 1<<53 }

// productDenseAxes is the [op.Strider] rule of products: inputs have any strides,
// and rows of the output are dense.
func productDenseAxes(operand, rank int) int {
	if operand >= 0 {
		return 0
	}
	return min(rank, 1)
}
