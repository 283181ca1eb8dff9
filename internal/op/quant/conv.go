package quant

import (
	"fmt"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/gemm"
	"github.com/berth-go/berth/internal/kernel/isa"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/op/conv"
	"github.com/berth-go/berth/internal/op/slide"
	"github.com/berth-go/berth/shape"
)

// Conv slides quantised weights over a quantised image: x [N, C, spatial...] and
// weights [M, C/Group, taps...] give [N, M, positions...]. What lies in the padding
// stands for 0, so it is the zero point of x. The inputs are x, the weights, and
// optionally the zero points of x and of the weights, the scale and zero point of the
// result, and a bias.
//
// The zero points of x and of the result are one number; the zero point of the
// weights, the scale and the bias are one or one for each of the M output channels.
type Conv struct {
	KernelShape []int // taps along each spatial axis; those of the weights if empty
	Strides     []int // one for each spatial axis; 1 if empty
	Pads        []int // before each spatial axis, then after each; 0 if empty
	Dilations   []int // one for each spatial axis; 1 if empty
	Group       int   // groups of channels; 0 means 1
	AutoPad     slide.AutoPad
	To          dtype.Type // as in [MatMul]
}

// Name returns "quant_conv".
func (Conv) Name() string { return "quant_conv" }

// Infer implements [graph.Op].
func (c Conv) Infer(in []graph.Type) ([]graph.Type, error) {
	to, err := check(in, c.To)
	if err != nil {
		return nil, err
	}
	// The rule for shapes is that of any convolution.
	sums, err := conv.Conv{
		KernelShape: c.KernelShape, Strides: c.Strides, Pads: c.Pads, Dilations: c.Dilations, Group: c.Group, AutoPad: c.AutoPad,
	}.Infer([]graph.Type{
		{DType: dtype.Int32, Shape: in[inLeft].Shape}, {DType: dtype.Int32, Shape: in[inRight].Shape},
	})
	if err != nil {
		return nil, err
	}
	s := sums[0].Shape
	for i := inZeroLeft; i < len(in); i++ {
		if !op.Given(in, i) {
			continue
		}
		one := len(in[i].Shape) <= 1 && in[i].Shape.Elems() == 1
		switch each := i == inZeroRight || i == inScale || i == inBias; {
		case one, each && in[i].Shape.Equal(shape.Shape{s[1]}):
		case each:
			return nil, fmt.Errorf("%s %v: want one number, or [%d]", inputNames[i], in[i], s[1])
		default:
			return nil, fmt.Errorf("%s %v: want one number", inputNames[i], in[i])
		}
	}
	return []graph.Type{{DType: to, Shape: s}}, nil
}

// Kernel implements [op.Computer].
func (c Conv) Kernel(in, out []graph.Type) kernel.Kernel {
	x, w := in[inLeft], in[inRight]
	win := slide.Window{Taps: w.Shape[2:], Strides: c.Strides, Dilations: c.Dilations, Pads: c.Pads, Auto: c.AutoPad}
	win, _ = win.Check(len(w.Shape) - 2)
	return &convolution{product: newProduct(w.DType, x.DType, out[0].DType, true), window: win, group: max(c.Group, 1)}
}

// DenseAxes implements [op.Strider].
func (Conv) DenseAxes(operand, rank int) int { return slide.DenseAxes(operand, rank, inZeroLeft) }

// convolution multiplies, for each image and group, the weights by the matrix of the
// image's windows, which is packed tile by tile and never held as a whole. Groups of few
// input channels are summed tap by tap instead; see bands.go.
type convolution struct {
	product
	window slide.Window
	group  int
	in     [numInputs]*kernel.Operand
	y      *kernel.Operand

	slide           slide.Binding
	maps, positions int   // output channels of a group, and their elements
	taps            bool  // it is summed tap by tap
	bands           bands // of that
	count, each     int   // products, or bands; those in a task, if one does not make several
}

// Bind implements [kernel.Kernel].
func (k *convolution) Bind(in, out []*kernel.Operand) {
	for i := range k.in {
		k.in[i] = given(in, i)
	}
	k.y = out[0]
	x, w := k.in[inLeft], k.in[inRight]
	k.window.Taps = w.Shape[2:]
	k.slide.Bind(&k.window, x.Shape[2:], k.y.Shape[2:])
	k.maps, k.positions = w.Shape[0]/k.group, k.slide.Rows*k.slide.Width
	k.cut.Plan(k.maps, k.positions, w.Shape[1]*k.slide.OuterTaps*k.slide.InnerTaps)
	if k.taps = k.byTaps(); k.taps {
		k.bindBands()
		k.count = x.Shape[0] * k.group * k.bands.count
		_, k.each = kernel.Parts(k.count, k.bands.rows*k.slide.Width*k.maps*kernel.CeilDiv(k.cut.K, 16))
		return
	}
	k.count, k.each = x.Shape[0]*k.group, 1
	if k.cut.Tasks() == 1 {
		_, k.each = kernel.Parts(k.count, k.maps*k.positions*max(k.cut.K/16, 1))
	}
}

// Tasks implements [kernel.Kernel].
func (k *convolution) Tasks() int {
	if k.count == 0 || k.positions == 0 {
		return 0
	}
	n := kernel.CeilDiv(k.count, k.each)
	if !k.taps {
		n *= k.cut.Tasks()
	}
	return n
}

// Scratch implements [kernel.Kernel].
func (k *convolution) Scratch() int {
	if k.taps {
		return k.tapScratch()
	}
	return k.product.Scratch()
}

// Run implements [kernel.Kernel].
func (k *convolution) Run(task int, scratch []byte) error {
	if k.taps {
		k.sumBands(task, scratch)
		return nil
	}
	per := k.cut.Tasks()
	first := task / per * k.each
	for i := first; i < min(first+k.each, k.count); i++ {
		k.block(i/k.group, i%k.group, task%per, scratch)
	}
	return nil
}

// block computes one block of the product of an image and a group.
func (k *convolution) block(image, group, block int, scratch []byte) {
	f := k.factors(group * k.maps)
	f.a.Matrix = k.weights(group)
	f.b.Matrix = gemm.Matrix[uint8]{Data: kernel.Slice[uint8](k.in[inLeft]), At: k.imageAt(image, group), Row: k.positions, Col: 1}
	if !k.slide.Pointwise() {
		f.b.Image = k
	}
	if k.prepacked != nil {
		size := prepackedBytes(k.maps, k.cut.K, k.tile.Rows)
		f.a.Prepacked, f.sumA = prepacked(k.prepacked[group*size:], k.maps)
	}
	k.run(block, scratch, &f, k.y, k.y.Offset+image*k.y.Strides[0]+group*k.maps*k.positions, k.positions)
}

// factors returns the operands beside the image and the weights, for output channels
// from m on.
func (k *convolution) factors(m int) factors {
	return factors{
		zeroA: perRow[uint8](k.in[inZeroRight], m),
		zeroB: perRow[uint8](k.in[inZeroLeft], 0),
		bias:  perRow[int32](k.in[inBias], m),
		scale: perRow[float32](k.in[inScale], m),
		zeroY: perRow[uint8](k.in[inZeroOut], 0),
	}
}

// imageAt returns where the channels of a group of an image begin in the memory of x.
// Images without elements, all padding, have no place of their own.
func (k *convolution) imageAt(image, group int) int {
	if k.slide.PlaneIn == 0 {
		return 0
	}
	x := k.in[inLeft]
	return x.Offset + image*x.Strides[0] + group*k.in[inRight].Shape[1]*k.slide.PlaneIn
}

// weights returns the weights of a group as a matrix.
func (k *convolution) weights(group int) gemm.Matrix[uint8] {
	w := k.in[inRight]
	return gemm.Matrix[uint8]{Data: kernel.Slice[uint8](w), At: w.Offset + group*k.maps*k.cut.K, Row: k.cut.K, Col: 1}
}

// perRow returns what o has for rows of a product from the given one on: one number
// for each, or one for all.
func perRow[T kernel.Number](o *kernel.Operand, row int) gemm.Matrix[T] {
	if o == nil {
		return gemm.Matrix[T]{}
	}
	m := gemm.Matrix[T]{Data: kernel.Slice[T](o), At: o.Offset}
	if len(o.Shape) == 1 && o.Shape[0] != 1 {
		m.Row = o.Strides[0]
		m.At += row * m.Row
	}
	return m
}

// PackImage implements [gemm.ImagePacker].
func (k *convolution) PackImage(dst, x []uint8, j0, j1, k0, k1 int, tile *isa.Tile[uint8]) {
	pad := uint8(0)
	if zero := k.in[inZeroLeft]; zero != nil {
		pad = kernel.Slice[uint8](zero)[zero.Offset]
	}
	slide.PackColumns(&k.slide, dst, x, j0, j1, k0, k1, tile, pad)
}

// PrepackedBytes implements [kernel.Prepacker]: the weights, unless summed tap by tap.
func (k *convolution) PrepackedBytes(input int) int {
	if input != inRight || k.taps {
		return 0
	}
	return k.group * prepackedBytes(k.maps, k.cut.K, k.tile.Rows)
}

// PrepackedForm implements [kernel.Prepacker].
func (k *convolution) PrepackedForm(int) string {
	return "quads with sums, " + gemm.Form(k.tile.Rows, k.group, false)
}

// Prepack implements [kernel.Prepacker].
func (k *convolution) Prepack(input int, dst []byte) {
	if k.PrepackedBytes(input) == 0 {
		return
	}
	size := prepackedBytes(k.maps, k.cut.K, k.tile.Rows)
	for group := range k.group {
		k.prepack(dst[group*size:][:size], k.weights(group), k.maps, k.cut.K, k.tile.Rows, k.flipA)
	}
}

// UsePrepacked implements [kernel.Prepacker].
func (k *convolution) UsePrepacked(input int, prepacked []byte) {
	if input == inRight {
		k.prepacked = prepacked
	}
}
