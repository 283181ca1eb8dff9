package reduce

import (
	"fmt"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/lines"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/shape"
)

// Cumulative computes running sums or products along an axis. The result has
// the type and shape of the input, which may be of any type but bool;
// integers wrap.
type Cumulative struct {
	Kind Kind // Sum or Prod
	Axis int  // negative: from the end
	// Exclusive leaves an element out of its own sum, so that the first is 0.
	Exclusive bool
	// Reverse runs from the end of the axis to its beginning.
	Reverse bool
}

// Name returns "cumulative".
func (Cumulative) Name() string { return "cumulative" }

// Infer returns the type of the input.
func (c Cumulative) Infer(in []graph.Type) ([]graph.Type, error) {
	if c.Kind != Sum && c.Kind != Prod {
		return nil, fmt.Errorf("%v does not run along an axis: only %v and %v do", c.Kind, Sum, Prod)
	}
	if err := op.Takes(in, 1, 1); err != nil {
		return nil, err
	}
	x := in[0]
	if x.DType == dtype.Bool {
		return nil, fmt.Errorf("%v of %v: truth values have no arithmetic", c.Kind, x)
	}
	if _, err := shape.Axis(c.Axis, len(x.Shape)); err != nil {
		return nil, fmt.Errorf("%v of %v: %w", c.Kind, x, err)
	}
	return []graph.Type{x}, nil
}

// Kernel returns the running sum or product.
func (c Cumulative) Kernel(in, _ []graph.Type) kernel.Kernel {
	axis, err := shape.Axis(c.Axis, len(in[0].Shape))
	if err != nil {
		return nil
	}
	return newCumulative(in[0].DType, axis, c.Kind == Prod, c.Exclusive, c.Reverse)
}

// DenseAxes returns 0: all strides will do.
func (Cumulative) DenseAxes(_, _ int) int { return 0 }

// MayOverwrite reports true: an element is read before it is written.
func (Cumulative) MayOverwrite(in, out int) bool { return in == 0 && out == 0 }

// ComputesInFloat32 marks the op.
func (Cumulative) ComputesInFloat32() {}

// newCumulative returns a kernel with one input of the given type and one
// output of the same type and shape: running sums, or products, along axis.
//
//	acc = 0 (or 1)
//	for i, in ascending order, or descending when reverse is set:
//	    exclusive: y[i] = acc; acc = acc + x[i]
//	    otherwise: acc = acc + x[i]; y[i] = acc
//
// Elements meet strictly in order; integers wrap. Both operands may have any
// strides, and the output may be the input.
func newCumulative(t dtype.Type, axis int, product, exclusive, reverse bool) kernel.Kernel {
	s := scan{product, exclusive, reverse}
	switch t {
	case dtype.Float32:
		return &cumulativeKernel[float32]{axis: axis, scan: s}
	case dtype.Float64:
		return &cumulativeKernel[float64]{axis: axis, scan: s}
	case dtype.Int8:
		return &cumulativeKernel[int8]{axis: axis, scan: s}
	case dtype.Int16:
		return &cumulativeKernel[int16]{axis: axis, scan: s}
	case dtype.Int32:
		return &cumulativeKernel[int32]{axis: axis, scan: s}
	case dtype.Int64:
		return &cumulativeKernel[int64]{axis: axis, scan: s}
	case dtype.Uint8:
		return &cumulativeKernel[uint8]{axis: axis, scan: s}
	case dtype.Uint16:
		return &cumulativeKernel[uint16]{axis: axis, scan: s}
	case dtype.Uint32:
		return &cumulativeKernel[uint32]{axis: axis, scan: s}
	case dtype.Uint64:
		return &cumulativeKernel[uint64]{axis: axis, scan: s}
	}
	return nil
}

type scan struct{ product, exclusive, reverse bool }

type cumulativeKernel[T kernel.Number] struct {
	axis int
	scan
	in, out *kernel.Operand
	lines   lines.Lines
	along   []bool
}

func (k *cumulativeKernel[T]) Bind(in, out []*kernel.Operand) {
	k.in, k.out = in[0], out[0]
	k.along = lines.Marks(k.along, len(k.in.Shape), k.axis)
	k.lines.Bind(k.in.Shape, k.along, k.in.Strides, k.out.Strides)
}

func (k *cumulativeKernel[T]) Tasks() int {
	if k.lines.Length == 0 {
		return 0
	}
	return k.lines.Tasks
}

func (k *cumulativeKernel[T]) Scratch() int { return kernel.Carved[T](lines.Tile) }

func (k *cumulativeKernel[T]) Run(task int, scratch []byte) error {
	tile := kernel.Carve[T](&scratch, lines.Tile)
	src, dst := kernel.Slice[T](k.in), kernel.Slice[T](k.out)
	l := &k.lines
	n, step, out := l.Length, l.Inner.Inner[0], l.Inner.Inner[1]
	var at [lines.MaxOperands]int
	for unit, end := l.Part(task); unit < end; {
		width, units := l.Seek(unit, end, at[:])
		unit += units
		from, to, step, out := k.in.Offset+at[0], k.out.Offset+at[1], step, out
		if k.reverse {
			from, step = from+(n-1)*step, -step
			to, out = to+(n-1)*out, -out
		}
		if !l.Cols {
			for range width {
				scanLine(k.scan, dst, to, out, src, from, step, n)
				from += l.Outer.Inner[0]
				to += l.Outer.Inner[1]
			}
			continue
		}
		acc := tile[:width]
		for i := range acc {
			acc[i] = k.start()
		}
		for range n {
			scanTile(k.scan, acc, dst, to, l.Outer.Inner[1], src, from, l.Outer.Inner[0])
			from += step
			to += out
		}
	}
	return nil
}

func (k *cumulativeKernel[T]) start() T {
	if k.product {
		return 1
	}
	return 0
}

// scanLine runs along one line of n elements.
func scanLine[T kernel.Number](s scan, dst []T, to, out int, src []T, from, step, n int) {
	var acc T
	switch {
	case s.product && s.exclusive:
		acc = 1
		for range n {
			v := src[from]
			dst[to] = acc
			acc *= v
			from, to = from+step, to+out
		}
	case s.product:
		acc = 1
		for range n {
			acc *= src[from]
			dst[to] = acc
			from, to = from+step, to+out
		}
	case s.exclusive:
		for range n {
			v := src[from]
			dst[to] = acc
			acc += v
			from, to = from+step, to+out
		}
	default:
		for range n {
			acc += src[from]
			dst[to] = acc
			from, to = from+step, to+out
		}
	}
}

// scanTile does one step of neighbouring lines.
func scanTile[T kernel.Number](s scan, acc, dst []T, to, out int, src []T, from, step int) {
	switch {
	case s.product && s.exclusive:
		for i, a := range acc {
			v := src[from]
			dst[to] = a
			acc[i] = a * v
			from, to = from+step, to+out
		}
	case s.product:
		for i, a := range acc {
			a *= src[from]
			dst[to], acc[i] = a, a
			from, to = from+step, to+out
		}
	case s.exclusive:
		for i, a := range acc {
			v := src[from]
			dst[to] = a
			acc[i] = a + v
			from, to = from+step, to+out
		}
	default:
		for i, a := range acc {
			a += src[from]
			dst[to], acc[i] = a, a
			from, to = from+step, to+out
		}
	}
}
