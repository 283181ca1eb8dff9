package linear

import (
	"fmt"
	"math"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
)

// Det is the determinant of the square matrices in the last two axes of its
// input: [.., n, n] gives [..]. That of no elements is 1. It takes floating-point
// types and computes in float64, by elimination with the largest element of each
// column as the pivot.
type Det struct{}

// Name returns "det".
func (Det) Name() string { return "det" }

// Infer implements [graph.Op].
func (Det) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := op.Takes(in, 1, 1); err != nil {
		return nil, err
	}
	x := in[0]
	rank := len(x.Shape)
	if !x.DType.IsFloat() || rank < 2 || x.Shape[rank-1] != x.Shape[rank-2] {
		return nil, fmt.Errorf("of %v, want square matrices of a floating-point type", x)
	}
	return []graph.Type{{DType: x.DType, Shape: x.Shape[:rank-2].Clone()}}, nil
}

// Kernel implements [op.Computer].
func (Det) Kernel(in, _ []graph.Type) kernel.Kernel {
	return kernel.OfFloat(in[0].DType, Det{}, detOf[float32], detOf[float64])
}

// DenseAxes implements [op.Strider]: all strides will do.
func (Det) DenseAxes(_, _ int) int { return 0 }

// ComputesInFloat32 implements [op.Widener].
func (Det) ComputesInFloat32() {}

func detOf[T kernel.Float](Det) kernel.Kernel { return &detKernel[T]{} }

type detKernel[T kernel.Float] struct {
	x, y               *kernel.Operand
	n                  int         // of a matrix the rows
	matrices           kernel.Walk // over the beginnings of matrices, and the results
	count, tasks, each int
}

func (k *detKernel[T]) Bind(in, out []*kernel.Operand) {
	k.x, k.y = in[0], out[0]
	rank := len(k.x.Shape)
	k.n = k.x.Shape[rank-1]
	k.matrices.Bind(k.y.Shape, k.x.Strides[:rank-2], k.y.Strides)
	k.count = k.matrices.Rows * k.matrices.Len
	k.tasks, k.each = kernel.Parts(k.count, min(k.n, 1<<10)*k.n*k.n)
}

func (k *detKernel[T]) Tasks() int   { return k.tasks }
func (k *detKernel[T]) Scratch() int { return kernel.Carved[float64](k.n * k.n) }

func (k *detKernel[T]) Run(task int, scratch []byte) error {
	a := kernel.Carve[float64](&scratch, k.n*k.n)
	x, y := kernel.Slice[T](k.x), kernel.Slice[T](k.y)
	rank := len(k.x.Shape)
	down, across := k.x.Strides[rank-2], k.x.Strides[rank-1]
	var at [2]int
	for m := task * k.each; m < min((task+1)*k.each, k.count); m++ {
		k.matrices.Locate(m, m+1, at[:])
		for i := range a {
			a[i] = float64(x[k.x.Offset+at[0]+i/k.n*down+i%k.n*across])
		}
		y[k.y.Offset+at[1]] = T(determinant(a, k.n))
	}
	return nil
}

// determinant returns that of an n by n matrix in rows, which it changes.
func determinant(a []float64, n int) float64 {
	det := 1.0
	for col := range n {
		pivot := col
		for row := col + 1; row < n; row++ {
			if math.Abs(a[row*n+col]) > math.Abs(a[pivot*n+col]) {
				pivot = row
			}
		}
		top := a[col*n:][:n]
		if pivot != col {
			det = -det
			for j, v := range a[pivot*n:][:n] {
				top[j], a[pivot*n+j] = v, top[j]
			}
		}
		if top[col] == 0 {
			return 0
		}
		det *= top[col]
		for row := col + 1; row < n; row++ {
			f := a[row*n+col] / top[col]
			for j := col + 1; j < n; j++ {
				a[row*n+j] -= float64(f * top[j])
			}
		}
	}
	return det
}
