package reduce

import (
	"fmt"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/lines"
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
	if err := takesOne(in); err != nil {
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
	axis, _ := shape.Axis(c.Axis, len(in[0].Shape))
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
	return kernel.OfNumber(t, cumulative{lines.Along{Axis: axis}, scan{product, exclusive, reverse}},
		cumulativeOf[int8], cumulativeOf[int16], cumulativeOf[int32], cumulativeOf[int64],
		cumulativeOf[uint8], cumulativeOf[uint16], cumulativeOf[uint32], cumulativeOf[uint64],
		cumulativeOf[float32], cumulativeOf[float64])
}

func cumulativeOf[T kernel.Number](c cumulative) kernel.Kernel { return &cumulativeKernel[T]{c} }

type cumulative struct {
	lines.Along
	scan
}

type cumulativeKernel[T kernel.Number] struct{ cumulative }

func (k *cumulativeKernel[T]) Scratch() int { return kernel.Carved[T](lines.Tile) }

func (k *cumulativeKernel[T]) Run(task int, scratch []byte) error {
	tile := kernel.Carve[T](&scratch, lines.Tile)
	src, dst := kernel.Slice[T](k.In), kernel.Slice[T](k.Out)
	var start T
	if k.product {
		start = 1
	}
	l := &k.Lines
	b := l.Batches(task, k.In, k.Out)
	for b.Next() {
		n, from, to, step, out := l.Length, b.At[0], b.At[1], l.Inner.Inner[0], l.Inner.Inner[1]
		if k.reverse {
			from, step = from+(n-1)*step, -step
			to, out = to+(n-1)*out, -out
		}
		if !l.Cols {
			acc := start
			for range n {
				acc, dst[to] = next(k.scan, acc, src[from])
				from, to = from+step, to+out
			}
			continue
		}
		acc := tile[:b.Width]
		kernel.Fill(acc, start)
		for range n {
			f, t := from, to
			for i, a := range acc {
				acc[i], dst[t] = next(k.scan, a, src[f])
				f, t = f+l.Outer.Inner[0], t+l.Outer.Inner[1]
			}
			from, to = from+step, to+out
		}
	}
	return nil
}

// A scan is how a line is run through.
type scan struct{ product, exclusive, reverse bool }

// next returns what the running result acc becomes with element v, and what is
// written in the place of v.
func next[T kernel.Number](s scan, acc, v T) (sum, y T) {
	if sum = acc + v; s.product {
		sum = acc * v
	}
	if s.exclusive {
		return sum, acc
	}
	return sum, sum
}
