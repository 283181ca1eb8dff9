package pool

import (
	"math"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
)

// newGlobalPool returns the kernel that reduces each plane of x [N, C,
// spatial...] to one element of y [N, C, 1...], as [newPool] does with a window
// over the whole plane. A plane without elements gives the lowest value for
// max, NaN for the average and 0 for lp. Batch axes may have any stride.
func newGlobalPool(t dtype.Type, p poolParams) kernel.Kernel {
	switch t {
	case dtype.Float32:
		return &globalPool[float32]{pool: pool{params: p}}
	case dtype.Float64:
		return &globalPool[float64]{pool: pool{params: p}}
	}
	return nil
}

type globalPool[T kernel.Float] struct {
	pool
	size int // of a plane
}

// Bind implements [kernel.Kernel].
func (k *globalPool[T]) Bind(in, out []*kernel.Operand) {
	k.x, k.y = in[0], out[0]
	k.params.epilogue.Bind(k.y, in[1:]...)
	k.channels, k.planes, k.size = k.x.Shape[1], k.x.Shape[0]*k.x.Shape[1], 1
	for _, d := range k.x.Shape[2:] {
		k.size *= d
	}
	_, k.each = kernel.Parts(k.planes, k.size)
}

// Tasks implements [kernel.Kernel].
func (k *globalPool[T]) Tasks() int {
	if k.planes == 0 {
		return 0
	}
	return kernel.CeilDiv(k.planes, k.each)
}

// Scratch implements [kernel.Kernel].
func (k *globalPool[T]) Scratch() int { return k.params.epilogue.Scratch() }

// Run implements [kernel.Kernel].
func (k *globalPool[T]) Run(task int, scratch []byte) error {
	y := kernel.Slice[T](k.y)
	first, end := task*k.each, min((task+1)*k.each, k.planes)
	for plane := first; plane < end; plane++ {
		at := k.at(k.x, plane, k.size)
		x := kernel.Slice[T](k.x)[at : at+k.size]
		to := &y[k.at(k.y, plane, 1)]
		switch k.params.Kind {
		case Max:
			*to = largest(x)
		case Average:
			*to = T(sum4(x) / float64(len(x)))
		default:
			sum := 0.0
			for _, v := range x {
				sum += power(float64(v), k.params.P)
			}
			*to = T(root(sum, k.params.P))
		}
	}
	return k.params.epilogue.Run(first, 1, end-first, end-first, scratch)
}

// largest returns the largest element, NaN if there is one, and -Inf of none.
func largest[T kernel.Float](x []T) T {
	m := T(math.Inf(-1))
	for _, v := range x {
		if v > m || v != v {
			m = v
			if v != v {
				break
			}
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
