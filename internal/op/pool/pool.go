// Package pool holds pooling: windows, or whole planes, of an image reduced to
// an element each.
//
// # Where to find what
//
//	pool.go           the ops
//	pool_kernel.go    pooling over sliding windows
//	global_kernel.go  pooling over whole planes
//	last_kernel.go    both of images with their channels last
//	roi.go            pooling of regions
package pool

import (
	"fmt"
	"math"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/slide"
	"github.com/berth-go/berth/shape"
)

// A Kind is what pooling computes of the elements under a window.
type Kind uint8

// The kinds of pooling.
const (
	Max     Kind = iota
	Average      // floats only
	Lp           // floats only: the p-th root of the sum of p-th powers of magnitudes
)

var kinds = op.Enum{Kind: "kind of pooling", Names: []string{Max: "max", Average: "average", Lp: "lp"}}

// String returns the name of k.
func (k Kind) String() string { return kinds.Text(uint8(k)) }

// MarshalText implements [encoding.TextMarshaler].
func (k Kind) MarshalText() ([]byte, error) { return kinds.Marshal(uint8(k)) }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (k *Kind) UnmarshalText(text []byte) error { return op.UnmarshalEnum(kinds, text, k) }

// Pool reduces windows over each plane of x [N, C, spatial...] to
// [N, C, positions...]. [newPool] states the result.
type Pool struct {
	Kind            Kind
	KernelShape     []int               // taps along each spatial axis
	Strides         []int               // one for each spatial axis; 1 if empty
	Pads            []int               // before each spatial axis, then after each; 0 if empty
	Dilations       []int               // one for each spatial axis; 1 if empty
	CeilMode        bool                // a last window may reach past the padding, if it does not begin there
	CountIncludePad bool                // an average counts the padding as zeros
	AutoPad         slide.AutoPad       // how the padding is found, if not from Pads
	StorageOrder    int                 // of indices: 0 counts the last spatial axis fastest, 1 the first
	P               float64             // exponent of lp; 0 means 2
	Indices         bool                // max has a second output, int64: where in x each maximum is
	Epilogue        elementwise.Program // runs on the result; not with indices
	// ChannelsLast has the channels behind the spatial axes: x is [N, spatial..., C] and the result
	// [N, positions..., C], whose elements are the same. [Pool.WithChannelsLast] says where.
	ChannelsLast bool
}

// laysOut reports whether p has a form with channels last: maxima without indices, and averages.
func (p Pool) laysOut() bool { return p.Kind != Lp && !p.Indices }

// WithChannelsLast implements [op.Layouter]. An epilogue may read what is laid out otherwise.
func (p Pool) WithChannelsLast(int) (graph.Op, int) {
	if p.ChannelsLast || !p.laysOut() || len(p.Epilogue) > 0 {
		return nil, 0
	}
	p.ChannelsLast = true
	return p, 1
}

// maxTaps bounds the taps along one axis; kernels hold a table entry for each.
const maxTaps = 1 << 20

// Name returns "pool".
func (Pool) Name() string { return "pool" }

// String prints the name, and the epilogue behind it.
func (p Pool) String() string { return p.Epilogue.Title(title(p.Name(), p.ChannelsLast)) }

// title returns the name of an op with the layout that it works in.
func title(name string, channelsLast bool) string {
	if channelsLast {
		return "last " + name
	}
	return name
}

// Infer implements [graph.Op].
func (p Pool) Infer(in []graph.Type) ([]graph.Type, error) {
	in, extra := p.Epilogue.Own(in, ownInputs)
	if err := checkInput(in, p.Kind, p.P); err != nil {
		return nil, err
	}
	x := in[0]
	switch {
	case p.Indices && p.Kind != Max:
		return nil, fmt.Errorf("%v pooling has no indices", p.Kind)
	case p.Indices && len(p.Epilogue) > 0:
		return nil, fmt.Errorf("epilogue: the maxima have indices")
	case p.StorageOrder != 0 && p.StorageOrder != 1:
		return nil, fmt.Errorf("storage order %d: want 0 or 1", p.StorageOrder)
	case p.ChannelsLast && !p.laysOut():
		return nil, fmt.Errorf("channels last: neither lp nor indices can be had")
	}
	if p.ChannelsLast {
		x.Shape = op.ChannelsFirst(x.Shape)
	}
	win, err := p.window(len(x.Shape) - 2)
	if err != nil {
		return nil, err
	}
	spatial, err := win.Positions(x.Shape[2:], p.CeilMode)
	if err != nil {
		return nil, err
	}
	out := []graph.Type{{DType: x.DType, Shape: append(shape.Shape{x.Shape[0], x.Shape[1]}, spatial...)}}
	if p.ChannelsLast {
		out[0].Shape = op.ChannelsLast(out[0].Shape)
	}
	if p.Indices {
		out = append(out, graph.Type{DType: dtype.Int64, Shape: out[0].Shape.Clone()})
	}
	return out, p.Epilogue.CheckEpilogue(out[0], extra)
}

func (p Pool) window(axes int) (slide.Window, error) {
	if len(p.KernelShape) != axes {
		return slide.Window{}, fmt.Errorf("kernel shape %v: want a number for each of %d spatial axes", p.KernelShape, axes)
	}
	for _, n := range p.KernelShape {
		if n > maxTaps {
			return slide.Window{}, fmt.Errorf("kernel shape %v: %d is above %d", p.KernelShape, n, maxTaps)
		}
	}
	if err := shape.Shape(p.KernelShape).Check(); err != nil {
		return slide.Window{}, fmt.Errorf("kernel: %w", err)
	}
	w := slide.Window{Taps: p.KernelShape, Strides: p.Strides, Dilations: p.Dilations, Pads: p.Pads, Auto: p.AutoPad}
	return w.Check(axes)
}

// Kernel implements [op.Computer].
func (p Pool) Kernel(in, _ []graph.Type) kernel.Kernel {
	win, _ := p.window(len(in[0].Shape) - 2)
	params := poolParams{
		Kind:            p.Kind,
		CountIncludePad: p.CountIncludePad,
		ColumnMajor:     p.StorageOrder == 1,
		P:               exponent(p.P),
		epilogue:        elementwise.EpilogueOf(p.Epilogue, in, ownInputs),
	}
	if p.ChannelsLast {
		return newLastPool(in[0].DType, win, params)
	}
	return newPool(in[0].DType, win, params)
}

// Finish implements [elementwise.Finisher].
func (p Pool) Finish() (elementwise.Program, int) { return p.Epilogue, ownInputs }

// Finished implements [elementwise.Finisher].
func (p Pool) Finished(e elementwise.Program) graph.Op {
	p.Epilogue = e
	return p
}

// DenseAxes implements [op.Strider].
func (p Pool) DenseAxes(operand, rank int) int {
	if p.ChannelsLast && operand <= 0 {
		return 1
	}
	return slide.DenseAxes(operand, rank, ownInputs)
}

// ComputesInFloat32 implements [op.Widener].
func (Pool) ComputesInFloat32() {}

// GlobalPool reduces each plane of x [N, C, spatial...] to one element, giving
// [N, C, 1...]. [newGlobalPool] states the result.
type GlobalPool struct {
	Kind     Kind
	P        float64             // exponent of lp; 0 means 2
	Epilogue elementwise.Program // runs on the result
	// ChannelsLast has the channels behind the spatial axes: x is [N, spatial..., C] and the result
	// [N, 1..., C], whose elements are the same. [GlobalPool.WithChannelsLast] says where.
	ChannelsLast bool
}

// laysOut reports whether p has a form with channels last: maxima and averages.
func (p GlobalPool) laysOut() bool { return p.Kind != Lp }

// WithChannelsLast implements [op.Layouter], as that of [Pool].
func (p GlobalPool) WithChannelsLast(int) (graph.Op, int) {
	if p.ChannelsLast || !p.laysOut() || len(p.Epilogue) > 0 {
		return nil, 0
	}
	p.ChannelsLast = true
	return p, 1
}

// Name returns "global_pool".
func (GlobalPool) Name() string { return "global_pool" }

// String prints the name, and the epilogue behind it.
func (p GlobalPool) String() string { return p.Epilogue.Title(title(p.Name(), p.ChannelsLast)) }

// Infer implements [graph.Op].
func (p GlobalPool) Infer(in []graph.Type) ([]graph.Type, error) {
	in, extra := p.Epilogue.Own(in, ownInputs)
	if err := checkInput(in, p.Kind, p.P); err != nil {
		return nil, err
	}
	x := in[0]
	if !x.DType.IsFloat() {
		return nil, fmt.Errorf("element type %v: want a float", x.DType)
	}
	if p.ChannelsLast && !p.laysOut() {
		return nil, fmt.Errorf("channels last: lp cannot be had")
	}
	out, spatial := x.Shape.Clone(), 2
	if p.ChannelsLast {
		spatial = 1
	}
	for i := range out[2:] {
		out[spatial+i] = 1
	}
	y := graph.Type{DType: x.DType, Shape: out}
	return []graph.Type{y}, p.Epilogue.CheckEpilogue(y, extra)
}

// Kernel implements [op.Computer].
func (p GlobalPool) Kernel(in, _ []graph.Type) kernel.Kernel {
	params := poolParams{Kind: p.Kind, P: exponent(p.P), epilogue: elementwise.EpilogueOf(p.Epilogue, in, ownInputs)}
	if p.ChannelsLast {
		return newLastGlobalPool(in[0].DType, params)
	}
	return newGlobalPool(in[0].DType, params)
}

// Finish implements [elementwise.Finisher].
func (p GlobalPool) Finish() (elementwise.Program, int) { return p.Epilogue, ownInputs }

// Finished implements [elementwise.Finisher].
func (p GlobalPool) Finished(e elementwise.Program) graph.Op {
	p.Epilogue = e
	return p
}

// DenseAxes implements [op.Strider].
func (GlobalPool) DenseAxes(operand, rank int) int { return slide.DenseAxes(operand, rank, ownInputs) }

// ComputesInFloat32 implements [op.Widener].
func (GlobalPool) ComputesInFloat32() {}

// ownInputs is the image alone. Those of the epilogue follow.
const ownInputs = 1

// exponent returns p, or 2 for the zero value.
func exponent(p float64) float64 {
	if p == 0 {
		return 2
	}
	return p
}

// checkInput checks the image, and the attributes that all poolings have.
func checkInput(in []graph.Type, k Kind, exponent float64) error {
	if err := op.Takes(in, 1, 1); err != nil {
		return err
	}
	if err := kinds.Check(uint8(k)); err != nil {
		return err
	}
	switch t := in[0].DType; {
	case !t.IsFloat() && !(k == Max && t.IsInteger()):
		return fmt.Errorf("no %v of %v", k, t)
	case len(in[0].Shape) < 3:
		return fmt.Errorf("input %v: want batch, channels and at least one spatial axis", in[0].Shape)
	case exponent < 0 || math.IsNaN(exponent) || math.IsInf(exponent, 0):
		return fmt.Errorf("exponent %v: want a positive number", exponent)
	}
	return nil
}
