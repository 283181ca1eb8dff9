package pool

import (
	"math"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/shape"
)

// newGlobalPool returns the kernel that reduces each plane of x [N, C,
// spatial...] to one element of y [N, C, 1...], as [newPool] does with a window
// over the whole plane. A plane without elements gives the lowest value for
// max, NaN for the average and 0 for lp. Batch axes may have any stride.
func newGlobalPool(t dtype.Type, p poolParams) kernel.Kernel {
	return kernel.OfFloat(t, pool{params: p}, globalPoolOf[float32], globalPoolOf[float64])
}

func globalPoolOf[T kernel.Float](p pool) kernel.Kernel { return &globalPool[T]{pool: p} }

type globalPool[T kernel.Float] struct {
	pool
	size int // of a plane
}

// Bind implements [kernel.Kernel].
func (k *globalPool[T]) Bind(in, out []*kernel.Operand) {
	k.size = shape.Shape(in[0].Shape[2:]).Elems()
	k.bind(in, out, k.size)
}

// Run implements [kernel.Kernel].
func (k *globalPool[T]) Run(task int, scratch []byte) error {
	first, end := k.part(task)
	for plane := first; plane < end; plane++ {
		x, y := planeOf[T](&k.pool, k.x, plane, k.size), planeOf[T](&k.pool, k.y, plane, 1)
		switch k.params.Kind {
		case Max:
			y[0] = largest(x)
		case Average:
			y[0] = T(sum4(x) / float64(len(x)))
		default:
			sum := 0.0
			for _, v := range x {
				sum += power(float64(v), k.params.P)
			}
			y[0] = T(root(sum, k.params.P))
		}
	}
	return k.params.epilogue.Run(first, 1, end-first, end-first, scratch)
}

// largest returns the largest element, NaN if there is one, and -Inf of none.
func largest[T kernel.Float](x []T) T {
	m := T(math.Inf(-1))
	for _, v := range x {
		if v != v {
			return v
		}
		if v > m {
			m = v
		}
	}
	return m
}

// sum4 adds up x in four interleaved float64 sums.
func sum4[T kernel.Float](x []T) float64 {
	var s0, s1, s2, s3 float64
	for ; len(x) >= 4; x = x[4:] {
		s0 += float64(x[0])
		s1 += float64(x[1])
		s2 += float64(x[2])
		s3 += float64(x[3])
	}
	for _, v := range x {
		s0 += float64(v)
	}
	return (s0 + s1) + (s2 + s3)
}
