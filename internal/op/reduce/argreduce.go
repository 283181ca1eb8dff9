package reduce

import (
	"fmt"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/lines"
	"github.com/berth-go/berth/shape"
)

// ArgReduce finds where along an axis the smallest element is, or the largest
// when Max is set: an int64 index for each index of the other axes.
//
// Of equal elements the first counts, or the last when SelectLast is set. A
// NaN counts as the extreme either way. All element types are taken.
type ArgReduce struct {
	Max        bool
	Axis       int // negative: from the end
	KeepDims   bool
	SelectLast bool
}

// Name returns "arg_reduce".
func (ArgReduce) Name() string { return "arg_reduce" }

// Infer returns the type of the indices. An axis without elements has no
// extreme, which is an error unless there is nothing to find either.
func (r ArgReduce) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := takesOne(in); err != nil {
		return nil, err
	}
	x := in[0]
	axis, err := shape.Axis(r.Axis, len(x.Shape))
	if err != nil {
		return nil, fmt.Errorf("of %v: %w", x, err)
	}
	out := without(x.Shape, []int{axis}, r.KeepDims)
	if x.Shape[axis] == 0 && out.Elems() != 0 {
		return nil, fmt.Errorf("of %v: axis %d has no elements to choose from", x, axis)
	}
	return []graph.Type{{DType: dtype.Int64, Shape: out}}, nil
}

// Kernel returns the search.
func (r ArgReduce) Kernel(in, _ []graph.Type) kernel.Kernel {
	axis, _ := shape.Axis(r.Axis, len(in[0].Shape))
	return newArgReduce(in[0].DType, axis, r.Max, r.SelectLast)
}

// DenseAxes returns 0: all strides will do.
func (ArgReduce) DenseAxes(_, _ int) int { return 0 }

// ComputesInFloat32 marks the op.
func (ArgReduce) ComputesInFloat32() {}

// newArgReduce returns a kernel with one input of the given type and one
// int64 output, which has extent 1 along axis or lacks the axis:
//
//	for each index of the other axes:
//	    out[index] = the first i with x[index, i] the largest of all
//
// or the smallest when largest is false, or the last such i. If there is a
// NaN, the answer is the first (the last) NaN, as in NumPy. Both operands may
// have any strides. The axis must not be empty unless the output is.
func newArgReduce(t dtype.Type, axis int, largest, last bool) kernel.Kernel {
	return kernel.OfNumber(t, argReduce{reduction{axes: []int{axis}}, ArgScan{largest, last}},
		argReduceOf[int8], argReduceOf[int16], argReduceOf[int32], argReduceOf[int64],
		argReduceOf[uint8], argReduceOf[uint16], argReduceOf[uint32], argReduceOf[uint64],
		argReduceOf[float32], argReduceOf[float64])
}

func argReduceOf[T kernel.Number](a argReduce) kernel.Kernel { return &argReduceKernel[T]{a} }

// An ArgScan is which extreme of a line is looked for. Looking for the last
// one is looking for the first one from the far end.
type ArgScan struct{ Largest, last bool }

type argReduce struct {
	reduction
	ArgScan
}

type argReduceKernel[T kernel.Number] struct{ argReduce }

func (k *argReduceKernel[T]) Scratch() int {
	return kernel.Carved[T](lines.Tile) + kernel.Carved[int64](lines.Tile)
}

func (k *argReduceKernel[T]) Run(task int, scratch []byte) error {
	best, index := kernel.Carve[T](&scratch, lines.Tile), kernel.Carve[int64](&scratch, lines.Tile)
	src, dst := kernel.Slice[T](k.in), kernel.Slice[int64](k.out)
	l := &k.lines
	b := l.Batches(task, k.in, k.out)
	for b.Next() {
		from, to := b.At[0], b.At[1]
		if !l.Cols {
			dst[to] = int64(ArgLine(k.ArgScan, src, from, l.Inner.Inner[0], l.Length))
			continue
		}
		ArgTile(k.ArgScan, best, index[:b.Width], src, from, l.Inner.Inner[0], l.Outer.Inner[0], l.Length)
		for _, i := range index[:b.Width] {
			dst[to] = i
			to += l.Outer.Inner[1]
		}
	}
	return nil
}

// ArgLine finds the extreme of the n > 0 elements src[at], src[at+step] ...
func ArgLine[T kernel.Number](s ArgScan, src []T, at, step, n int) int {
	if s.last {
		at, step = at+(n-1)*step, -step
	}
	best, index := src[at], 0
	count := n
	if best != best {
		count = 1
	}
	if s.Largest {
		for i := 1; i < count; i++ {
			at += step
			if v := src[at]; v > best {
				best, index = v, i
			} else if v != v {
				index = i
				break
			}
		}
	} else {
		for i := 1; i < count; i++ {
			at += step
			if v := src[at]; v < best {
				best, index = v, i
			} else if v != v {
				index = i
				break
			}
		}
	}
	if s.last {
		return n - 1 - index
	}
	return index
}

// ArgTile finds the extremes of neighbouring lines of n > 0 elements, where
// step leads along a line and across to the next line. best is working memory
// of the length of index.
func ArgTile[T kernel.Number](s ArgScan, best []T, index []int64, src []T, at, step, across, n int) {
	first := 0
	if s.last {
		first, at, step = n-1, at+(n-1)*step, -step
	}
	best = best[:len(index)]
	from := at
	for c := range index {
		best[c], index[c] = src[from], int64(first)
		from += across
	}
	for i := 1; i < n; i++ {
		at += step
		number := int64(i)
		if s.last {
			number = int64(first - i)
		}
		from := at
		if s.Largest {
			for c, b := range best {
				if v := src[from]; v > b || v != v && b == b {
					best[c], index[c] = v, number
				}
				from += across
			}
		} else {
			for c, b := range best {
				if v := src[from]; v < b || v != v && b == b {
					best[c], index[c] = v, number
				}
				from += across
			}
		}
	}
}
