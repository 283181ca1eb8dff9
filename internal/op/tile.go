package op

import (
	"fmt"
	"math/bits"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
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
	if err := takes(in, 1, 1); err != nil {
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
func (Tile) Kernel(in, _ []graph.Type) kernel.Kernel { return kernel.NewTile(in[0].DType.Size()) }

// DenseAxes returns 0: both operands may have any strides.
func (Tile) DenseAxes(int, int) int { return 0 }
