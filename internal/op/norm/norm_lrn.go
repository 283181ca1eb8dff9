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
	return kernel.OfFloat(t, lrn{size: size, alpha: alpha, beta: beta, bias: bias}, lrnOf[float32], lrnOf[float64])
}

func lrnOf[T kernel.Float](l lrn) kernel.Kernel { return &lrnKernel[T]{l} }

type lrn struct {
	size              int
	alpha, beta, bias float64
	in, out           *kernel.Operand

	channels
	tiles       int // in each row of rest
	tasks, each int
}

type lrnKernel[T kernel.Float] struct{ lrn }

func (k *lrn) Bind(in, out []*kernel.Operand) {
	k.in, k.out = in[0], out[0]
	k.channels.bind(k.in.Shape, k.in.Strides, k.out.Strides)
	k.tiles = kernel.CeilDiv(k.rest.Len, lines.Tile)
	k.tasks, k.each = kernel.Parts(k.rest.Rows*k.tiles, k.n*min(k.rest.Len, lines.Tile)*8)
	if k.n == 0 {
		k.tasks = 0
	}
}

func (k *lrn) Tasks() int { return k.tasks }

func (k *lrnKernel[T]) Scratch() int { return kernel.Carved[T](lines.Tile) }

func (k *lrnKernel[T]) Run(task int, scratch []byte) error {
	sums := kernel.Carve[T](&scratch, lines.Tile)
	x, y := kernel.Slice[T](k.in), kernel.Slice[T](k.out)
	var at [2]int
	for unit := task * k.each; unit < min((task+1)*k.each, k.rest.Rows*k.tiles); unit++ {
		elem := unit/k.tiles*k.rest.Len + unit%k.tiles*lines.Tile
		s := sums[:k.rest.Locate(elem, elem+lines.Tile, at[:])]
		ax, ay := k.in.Offset+at[0], k.out.Offset+at[1]
		for c := range k.n {
			clear(s)
			for j := max(0, c-(k.size-1)/2); j < min(k.n, c+k.size/2+1); j++ {
				addSquares(s, x, ax+j*k.across[0], k.rest.Inner[0])
			}
			k.divide(s, y, ay+c*k.across[1], x, ax+c*k.across[0])
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
