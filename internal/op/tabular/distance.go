package tabular

import (
	"fmt"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/shape"
)

// SquaredDistance is how far the rows of its first input, [rows, features], are from
// those of its second one, [others, features]:
//
//	y[i, k] = sum over f of (a[i, f] - b[k, f])², [rows, others]
//
// It takes floating-point types, and sums in float64. Products of matrices would give
// the same from squares that may be much larger than what is left of them.
type SquaredDistance struct{}

// Name returns "squared_distance".
func (SquaredDistance) Name() string { return "squared_distance" }

// Infer returns the type of y.
func (SquaredDistance) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := op.SameNumbers(in, 2, 2); err != nil {
		return nil, err
	}
	a, b := in[0], in[1]
	switch {
	case !a.DType.IsFloat():
		return nil, fmt.Errorf("input 0 is %v, not of a floating-point type", a)
	case len(a.Shape) != 2 || len(b.Shape) != 2 || a.Shape[1] != b.Shape[1]:
		return nil, fmt.Errorf("%v and %v are not rows of as many features", a, b)
	}
	y := shape.Shape{a.Shape[0], b.Shape[0]}
	return []graph.Type{{DType: a.DType, Shape: y}}, y.Check()
}

// Kernel returns the sums.
func (SquaredDistance) Kernel(in, _ []graph.Type) kernel.Kernel {
	return kernel.OfFloat(in[0].DType, struct{}{}, distanceOf[float32], distanceOf[float64])
}

func distanceOf[T kernel.Float](struct{}) kernel.Kernel { return &distanceKernel[T]{} }

// DenseAxes returns 0: all strides will do.
func (SquaredDistance) DenseAxes(_, _ int) int { return 0 }

// ComputesInFloat32 marks the op.
func (SquaredDistance) ComputesInFloat32() {}

type distanceKernel[T kernel.Float] struct {
	a, b, y     *kernel.Operand
	tasks, each int // of elements of y
}

func (k *distanceKernel[T]) Bind(in, out []*kernel.Operand) {
	k.a, k.b, k.y = in[0], in[1], out[0]
	k.tasks, k.each = kernel.Parts(k.y.Shape[0]*k.y.Shape[1], k.a.Shape[1])
}

func (k *distanceKernel[T]) Tasks() int   { return k.tasks }
func (k *distanceKernel[T]) Scratch() int { return 0 }

func (k *distanceKernel[T]) Run(task int, _ []byte) error {
	a, b, y := kernel.Slice[T](k.a), kernel.Slice[T](k.b), kernel.Slice[T](k.y)
	rows, others := k.y.Shape[0], k.y.Shape[1]
	for elem := task * k.each; elem < min((task+1)*k.each, rows*others); elem++ {
		row, other := elem/others, elem%others
		x, z := k.a.Offset+row*k.a.Strides[0], k.b.Offset+other*k.b.Strides[0]
		sum := 0.0
		for range k.a.Shape[1] {
			d := float64(a[x]) - float64(b[z])
			sum += float64(d * d)
			x, z = x+k.a.Strides[1], z+k.b.Strides[1]
		}
		y[k.y.Offset+row*k.y.Strides[0]+other*k.y.Strides[1]] = T(sum)
	}
	return nil
}
