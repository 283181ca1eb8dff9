package op

import (
	"fmt"
	"slices"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/shape"
)

// A PadMode says what stands outside a padded tensor.
type PadMode uint8

// The modes, as [kernel.PadMode] defines them.
const (
	PadConstant = PadMode(kernel.PadConstant) // the value input, or zero
	PadEdge     = PadMode(kernel.PadEdge)     // the nearest element
	PadReflect  = PadMode(kernel.PadReflect)  // the elements mirrored at the first and at the last one
	PadWrap     = PadMode(kernel.PadWrap)     // the elements from the other end
)

var padModes = enum{"pad mode", []string{PadConstant: "constant", PadEdge: "edge", PadReflect: "reflect", PadWrap: "wrap"}}

// String returns the name of m.
func (m PadMode) String() string { return padModes.text(uint8(m)) }

// MarshalText implements [encoding.TextMarshaler].
func (m PadMode) MarshalText() ([]byte, error) { return padModes.marshal(uint8(m)) }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (m *PadMode) UnmarshalText(text []byte) error { return unmarshalEnum(padModes, text, m) }

// Pad adds elements around its first input. An optional second input of one
// element, of the same type, is the value for the constant mode.
type Pad struct {
	Mode PadMode
	// Pads lists the elements to add before each axis, then those to add
	// behind each axis. Negative ones are removed, before anything is added.
	Pads []int
}

// Name returns "pad".
func (Pad) Name() string { return "pad" }

// Infer adds the pads to the extents.
func (o Pad) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := takes(in, 1, 2); err != nil {
		return nil, err
	}
	data := in[0]
	if len(in) == 2 && in[1].DType.Valid() {
		if in[1].DType != data.DType || in[1].Shape.Elems() != 1 {
			return nil, fmt.Errorf("value is %v, want one element of %v", in[1], data.DType)
		}
	}
	if err := padModes.check(uint8(o.Mode)); err != nil {
		return nil, err
	}
	rank := len(data.Shape)
	if len(o.Pads) != 2*rank {
		return nil, fmt.Errorf("%d pads for %v, want %d", len(o.Pads), data, 2*rank)
	}
	out := graph.Type{DType: data.DType, Shape: make(shape.Shape, rank)}
	for a, d := range data.Shape {
		before, after := o.Pads[a], o.Pads[rank+a]
		if before > shape.MaxElems || after > shape.MaxElems {
			return nil, fmt.Errorf("pads %d and %d of axis %d are more than %d elements", before, after, a, shape.MaxElems)
		}
		if before < -d || after < -d || min(before, 0)+min(after, 0) < -d {
			return nil, fmt.Errorf("pads %d and %d remove more than the %d elements of axis %d of %v", before, after, d, a, data)
		}
		left := d + min(before, 0) + min(after, 0)
		out.Shape[a] = left + max(before, 0) + max(after, 0)
		if left == 0 && out.Shape[a] > 0 && o.Mode != PadConstant {
			return nil, fmt.Errorf("axis %d of %v has no element to pad from in mode %v", a, data, o.Mode)
		}
	}
	if slices.Max(append(out.Shape.Clone(), 0)) > maxPadAxis && !slices.Contains(out.Shape, 0) {
		return nil, fmt.Errorf("an axis of %v is longer than the %d elements that can be padded", out, maxPadAxis)
	}
	return []graph.Type{out}, nil
}

// maxPadAxis bounds the axes of the result; the kernel holds a table entry for
// each element of one.
const maxPadAxis = 1 << 28

// Kernel returns the padding.
func (o Pad) Kernel(in, _ []graph.Type) kernel.Kernel {
	return kernel.NewPad(in[0].DType.Size(), kernel.PadMode(o.Mode), o.Pads)
}

// Tune implements [Tuner].
func (o Pad) Tune(k kernel.Kernel) { k.(kernel.Padder).SetPads(o.Pads) }

// DenseAxes returns 0: every operand may have any strides.
func (Pad) DenseAxes(int, int) int { return 0 }
