package move

import (
	"fmt"
	"math/bits"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/shape"
)

// Tile repeats its input a number of times along every axis.
type Tile struct {
	Repeats []int // one for each axis, not negative
}

// Name returns "tile".
func (Tile) Name() string { return "tile" }

// Infer multiplies the extents.
func (o Tile) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := op.Takes(in, 1, 1); err != nil {
		return nil, err
	}
	if len(o.Repeats) != len(in[0].Shape) {
		return nil, fmt.Errorf("%d repeats for %v, want %d", len(o.Repeats), in[0], len(in[0].Shape))
	}
	out := graph.Type{DType: in[0].DType, Shape: make(shape.Shape, len(o.Repeats))}
	for a, r := range o.Repeats {
		if r < 0 {
			return nil, fmt.Errorf("axis %d of %v is to be repeated %d times", a, in[0], r)
		}
		hi, lo := bits.Mul64(uint64(r), uint64(in[0].Shape[a]))
		if hi != 0 || lo > shape.MaxElems {
			return nil, fmt.Errorf("axis %d of %v repeated %d times has more than %d elements", a, in[0], r, shape.MaxElems)
		}
		out.Shape[a] = int(lo)
	}
	return []graph.Type{out}, nil
}

// Kernel returns the repetition.
func (Tile) Kernel(in, _ []graph.Type) kernel.Kernel { return newTile(in[0].DType.Size()) }

// DenseAxes returns 0: both operands may have any strides.
func (Tile) DenseAxes(int, int) int { return 0 }

// newTile returns a kernel that repeats its input along every axis, for
// elements of the given width in bytes. Both operands may have any strides.
// It equals the loop
//
//	for each index i of out: out[i] = in[i[a] mod in.shape[a] on every axis a]
func newTile(width int) kernel.Kernel {
	return kernel.OfWidth(width, &tileKernel[uint8]{}, &tileKernel[uint16]{}, &tileKernel[uint32]{}, &tileKernel[uint64]{})
}

// tileKernel is a copy between layouts of twice the rank: every axis is split
// into repeats, which the input does not step along, and elements.
type tileKernel[T kernel.Word] struct {
	in, out         *kernel.Operand
	move            kernel.Mover[T]
	shape, to, from []int
}

func (k *tileKernel[T]) Bind(in, out []*kernel.Operand) {
	k.in, k.out = in[0], out[0]
	k.shape, k.to, k.from = k.shape[:0], k.to[:0], k.from[:0]
	for a, d := range k.in.Shape {
		step := k.out.Strides[a]
		k.shape = append(k.shape, k.out.Shape[a]/max(d, 1), d)
		k.to = append(k.to, step*d, step)
		k.from = append(k.from, 0, k.in.Strides[a])
	}
	k.move.Bind(k.shape, k.to, k.from)
}

func (k *tileKernel[T]) Tasks() int   { return k.move.Tasks }
func (k *tileKernel[T]) Scratch() int { return k.move.Scratch() }

func (k *tileKernel[T]) Run(task int, scratch []byte) error {
	k.move.Run(task, kernel.Slice[T](k.out), k.out.Offset, kernel.Slice[T](k.in), k.in.Offset, scratch)
	return nil
}
