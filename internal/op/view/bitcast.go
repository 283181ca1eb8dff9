package view

import (
	"fmt"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/shape"
)

// Bitcast is the view of the same bits as elements of another type of the same
// width. Bool is left out: it has only two of its 256 patterns.
type Bitcast struct {
	To dtype.Type
}

// Name returns "bitcast".
func (Bitcast) Name() string { return "bitcast" }

// Infer replaces the element type.
func (o Bitcast) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := op.Takes(in, 1, 1); err != nil {
		return nil, err
	}
	x := in[0]
	switch {
	case !o.To.Valid():
		return nil, fmt.Errorf("%v is not an element type", o.To)
	case x.DType.Size() != o.To.Size():
		return nil, fmt.Errorf("elements of %v have %d bytes, of %v %d", x, x.DType.Size(), o.To, o.To.Size())
	case (x.DType == dtype.Bool) != (o.To == dtype.Bool):
		return nil, fmt.Errorf("%v to %v: truth values are converted, not reinterpreted", x, o.To)
	}
	return []graph.Type{{DType: o.To, Shape: x.Shape}}, nil
}

// View returns the layout as it is: it counts in elements, whose width stays.
func (Bitcast) View(in shape.Layout) (shape.Layout, bool) { return in, true }
