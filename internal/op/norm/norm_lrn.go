package norm

import (
	"math"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/lines"
)

// newLRN returns a kernel for local response normalisation across channels,
// axis 1 of x. For each element x of channel c
//
//	s = sum of squares of the elements of the channels
//	    c - floor((size-1)/2) to c + ceil((size-1)/2), as far as there are any,
//	    at the same position
//	y = x / (bias + alpha/size * s)^beta
//
// Both operands may have any strides; y must not be x.
func newLRN(t dtype.Type, size int, alpha, beta, bias float64) kernel.Kernel {
	switch t {
	case dtype.Float32:
		return &lrnKernel[float32]{size: size, alpha: alpha, beta: beta, bias: bias}
	case dtype.Float64:
		return &lrnKernel[float64]{size: size, alpha: alpha, beta: beta, bias: bias}
	}
	return nil
}

type lrnKernel[T kernel.Float] struct {
	size              int
	alpha, beta, bias float64
	in, out           *kernel.Operand

	channels           int
	rest               kernel.Walk // over x and y, without the axis of the channels
	shape              []int
	xStrides, yStrides []int
	xAcross, yAcross   int
	tiles              int // in each row of rest
	tasks, each        int
}

func (k *lrnKernel[T]) Bind(in, out []*kernel.Operand) {
	k.in, k.out = in[0], out[0]
	k.shape, k.xStrides, k.yStrides = k.shape[:0], k.xStrides[:0], k.yStrides[:0]
	for axis, d := range k.in.Shape {
		if axis == 1 {
			k.channels, k.xAcross, k.yAcross = d, k.in.Strides[axis], k.out.Strides[axis]
			continue
		}
		k.shape = append(k.shape, d)
		k.xStrides = append(k.xStrides, k.in.Strides[axis])
		k.yStrides = append(k.yStrides, k.out.Strides[axis])
	}
	k.rest.Bind(k.shape, k.xStrides, k.yStrides)
	k.tiles = (k.rest.Len + lines.Tile - 1) / lines.Tile
	k.tasks, k.each = kernel.Parts(k.rest.Rows*k.tiles, k.channels*min(k.rest.Len, lines.Tile)*8)
	if k.channels == 0 {
		k.tasks = 0
	}
}

func (k *lrnKernel[T]) Tasks() int { return k.tasks }

func (k *lrnKernel[T]) Scratch() int { return kernel.Carved[T](lines.Tile) }

func (k *lrnKernel[T]) Run(task int, scratch []byte) error {
	sums := kernel.Carve[T](&scratch, lines.Tile)
	x, y := kernel.Slice[T](k.in), kernel.Slice[T](k.out)
	var at [2]int
	for unit := task * k.each; unit < min((task+1)*k.each, k.rest.Rows*k.tiles); unit++ {
		row, col := unit/k.tiles, unit%k.tiles*lines.Tile
		k.rest.Seek(row, at[:])
		ax := k.in.Offset + at[0] + col*k.rest.Inner[0]
		ay := k.out.Offset + at[1] + col*k.rest.Inner[1]
		s := sums[:min(lines.Tile, k.rest.Len-col)]
		for c := range k.channels {
			clear(s)
			for j := max(0, c-(k.size-1)/2); j < min(k.channels, c+k.size/2+1); j++ {
				addSquares(s, x, ax+j*k.xAcross, k.rest.Inner[0])
			}
			k.divide(s, y, ay+c*k.yAcross, x, ax+c*k.xAcross)
		}
	}
	return nil
}

func addSquares[T kernel.Float](acc, x []T, at, step int) {
	if step == 1 {
		for i, v := range x[at : at+len(acc)] {
			acc[i] += T(v * v)
		}
		return
	}
	for i := range acc {
		acc[i] += T(x[at] * x[at])
		at += step
	}
}

func (k *lrnKernel[T]) divide(sums, y []T, ay int, x []T, ax int) {
	scale := k.alpha / float64(k.size)
	for _, s := range sums {
		y[ay] = T(float64(x[ax]) / lrnPower(k.bias+float64(scale*float64(s)), k.beta))
		ax, ay = ax+k.rest.Inner[0], ay+k.rest.Inner[1]
	}
}

// lrnPower is math.Pow, with a short way for the exponent that nearly all
// networks have.
func lrnPower(v, exponent float64) float64 {
	if exponent == 0.75 && v > 0 {
		root := math.Sqrt(v)
		return root * math.Sqrt(root)
	}
	return math.Pow(v, exponent)
}
