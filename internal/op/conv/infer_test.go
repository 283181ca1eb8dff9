package conv_test

import (
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op/conv"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/optest"
	"github.com/berth-go/berth/internal/op/slide"
	"github.com/berth-go/berth/shape"
)

func TestBottleneckInfer(t *testing.T) {
	x, expand, filter, project := optest.Float32(2, 7, 8, 4), optest.Float32(12, 4, 1, 1), optest.Float32(12, 1, 3, 3), optest.Float32(5, 12, 1, 1)
	none := graph.Type{}
	relu := elementwise.Program{{Code: elementwise.Relu, Args: [3]elementwise.Arg{elementwise.InputArg(0)}}}
	optest.Infers(t, conv.Bottleneck{}, []graph.Type{x, expand, none, filter, none, project}, "float32[2 5 6 5]")
	optest.Infers(t, conv.Bottleneck{Strides: []int{2, 1}, Pads: []int{1, 1, 1, 1}, Expanded: relu}, []graph.Type{x, expand, optest.Float32(12), filter}, "float32[2 4 8 12]")
	wide := optest.Float32(2, 7, 8, 12)
	optest.Infers(t, conv.Bottleneck{Filtered: relu}, []graph.Type{wide, none, none, filter, none, project, optest.Float32(5)}, "float32[2 5 6 5]")

	optest.Refuses(t, conv.Bottleneck{}, []graph.Type{x, expand, none}, "takes 4 to 7 inputs, got 3")
	optest.Refuses(t, conv.Bottleneck{}, []graph.Type{wide, none, none, filter}, "neither weights that expand nor such that project")
	optest.Refuses(t, conv.Bottleneck{Filtered: relu}, []graph.Type{x, expand, none, filter}, "program for what is projected")
	optest.Refuses(t, conv.Bottleneck{}, []graph.Type{wide, none, optest.Float32(12), filter, none, project}, "input 2 is the bias of a convolution without weights")
	optest.Refuses(t, conv.Bottleneck{}, []graph.Type{x, optest.Float32(12, 4, 1, 3), none, filter}, "want single taps")
	optest.Refuses(t, conv.Bottleneck{}, []graph.Type{x, optest.Float32(12, 3, 1, 1), none, filter}, "4 channels in each of 1 groups")
	optest.Refuses(t, conv.Bottleneck{}, []graph.Type{x, expand, none, optest.Float32(12, 2, 3, 3)}, "depthwise weights [12 2 3 3]")
	optest.Refuses(t, conv.Bottleneck{}, []graph.Type{x, expand, none, optest.Float32(13, 1, 3, 3)}, "13 groups do not divide 12 input")
	optest.Refuses(t, conv.Bottleneck{}, []graph.Type{x, expand, optest.Float32(11), filter}, "bias [11]: want [12]")
	optest.Refuses(t, conv.Bottleneck{}, []graph.Type{optest.Float32(2, 7, 4), expand, none, filter}, "two spatial axes")
	ints := func(dims ...int) graph.Type { return optest.Type(dtype.Int32, dims...) }
	optest.Refuses(t, conv.Bottleneck{}, []graph.Type{ints(2, 7, 8, 4), ints(12, 4, 1, 1), none, ints(12, 1, 3, 3)}, "want float32 or float64")
}

func TestConvInfer(t *testing.T) {
	x, w := optest.Float32(2, 4, 7, 8), optest.Float32(6, 4, 3, 3)
	optest.Infers(t, conv.Conv{}, []graph.Type{x, w}, "float32[2 6 5 6]")
	optest.Infers(t, conv.Conv{KernelShape: []int{3, 3}}, []graph.Type{x, w, optest.Float32(6)}, "float32[2 6 5 6]")
	optest.Infers(t, conv.Conv{Pads: []int{1, 0, 2, 3}}, []graph.Type{x, w, {}}, "float32[2 6 8 9]")
	optest.Infers(t, conv.Conv{Strides: []int{2, 3}}, []graph.Type{x, w}, "float32[2 6 3 2]")
	optest.Infers(t, conv.Conv{Dilations: []int{3, 2}}, []graph.Type{x, w}, "float32[2 6 1 4]")
	optest.Infers(t, conv.Conv{AutoPad: slide.SameUpper, Strides: []int{2, 3}}, []graph.Type{x, w}, "float32[2 6 4 3]")
	optest.Infers(t, conv.Conv{AutoPad: slide.SameLower}, []graph.Type{x, w}, "float32[2 6 7 8]")
	optest.Infers(t, conv.Conv{AutoPad: slide.Valid}, []graph.Type{x, w}, "float32[2 6 5 6]")
	optest.Infers(t, conv.Conv{Group: 2}, []graph.Type{x, optest.Float32(6, 2, 3, 3)}, "float32[2 6 5 6]")
	optest.Infers(t, conv.Conv{}, []graph.Type{optest.Float32(1, 1, 9), optest.Float32(1, 1, 2)}, "float32[1 1 8]")
	optest.Infers(t, conv.Conv{}, []graph.Type{optest.Float32(0, 1, 9, 9, 9), optest.Float32(3, 1, 2, 2, 2)}, "float32[0 3 8 8 8]")
	optest.Infers(t, conv.Conv{Pads: []int{1, 1}}, []graph.Type{optest.Float32(1, 1, 0), optest.Float32(1, 1, 2)}, "float32[1 1 1]")
	optest.Infers(t, conv.Conv{}, []graph.Type{optest.Type(dtype.Int32, 1, 1, 9), optest.Type(dtype.Int32, 1, 1, 2)}, "int32[1 1 8]")

	last := conv.Conv{ChannelsLast: true, Pads: []int{1, 0, 2, 3}}
	optest.Infers(t, last, []graph.Type{optest.Float32(2, 7, 8, 4), w}, "float32[2 8 9 6]")
	optest.Refuses(t, last, []graph.Type{x, w}, "8 channels in each of 1 groups")

	winograd := conv.Conv{Winograd: true, Pads: []int{1, 0, 2, 3}}
	optest.Infers(t, winograd, []graph.Type{x, w}, "float32[2 6 8 9]")
	optest.Refuses(t, winograd, []graph.Type{x, optest.Float32(6, 4, 3, 2)}, "want 3×3 taps at steps of 1")
	optest.Refuses(t, conv.Conv{Winograd: true, Strides: []int{1, 2}}, []graph.Type{x, w}, "strides [1 2]")
	optest.Refuses(t, conv.Conv{Winograd: true, Dilations: []int{2, 1}}, []graph.Type{x, w}, "dilations [2 1]")
	optest.Refuses(t, conv.Conv{Winograd: true}, []graph.Type{optest.Float32(2, 4, 9), optest.Float32(6, 4, 3)}, "two spatial axes")
	winogradLast := conv.Conv{Winograd: true, ChannelsLast: true}
	optest.Infers(t, winogradLast, []graph.Type{optest.Float32(2, 7, 8, 4), w}, "float32[2 5 6 6]")
	optest.Refuses(t, winogradLast, []graph.Type{optest.Float32(2, 9, 4), optest.Float32(6, 4, 3)}, "two spatial axes")
	optest.Refuses(t, winograd, []graph.Type{optest.Type(dtype.Float64, 2, 4, 7, 8), optest.Type(dtype.Float64, 6, 4, 3, 3)}, "want float32")

	optest.Refuses(t, conv.Conv{}, []graph.Type{x}, "takes 2 to 3 inputs, got 1")
	optest.Refuses(t, conv.Conv{}, []graph.Type{optest.Float32(2, 4), optest.Float32(6, 4)}, "at least one spatial axis")
	optest.Refuses(t, conv.Conv{}, []graph.Type{x, optest.Float32(6, 4, 3)}, "4 axes, weights [6 4 3] have 3")
	optest.Refuses(t, conv.Conv{}, []graph.Type{x, optest.Float32(6, 3, 3, 3)}, "4 channels in each of 1 groups")
	optest.Refuses(t, conv.Conv{Group: 4}, []graph.Type{x, optest.Float32(6, 1, 3, 3)}, "4 groups do not divide")
	optest.Refuses(t, conv.Conv{Group: -1}, []graph.Type{x, w}, "-1 groups")
	optest.Refuses(t, conv.Conv{}, []graph.Type{x, w, optest.Float32(5)}, "bias [5]: want [6]")
	optest.Refuses(t, conv.Conv{KernelShape: []int{3, 2}}, []graph.Type{x, w}, "kernel shape [3 2]")
	optest.Refuses(t, conv.Conv{Strides: []int{1}}, []graph.Type{x, w}, "strides [1]")
	optest.Refuses(t, conv.Conv{Strides: []int{0, 1}}, []graph.Type{x, w}, "0 is not in [1,")
	optest.Refuses(t, conv.Conv{Dilations: []int{1, shape.MaxElems}}, []graph.Type{x, w}, "dilations")
	optest.Refuses(t, conv.Conv{Pads: []int{1, 1}}, []graph.Type{x, w}, "pads [1 1]: 2 numbers for 2 spatial axes, want 4")
	optest.Refuses(t, conv.Conv{Pads: []int{-1, 0, 0, 0}}, []graph.Type{x, w}, "-1 is not in")
	optest.Refuses(t, conv.Conv{Pads: []int{1, 1, 1, 1}, AutoPad: slide.Valid}, []graph.Type{x, w}, "beside the automatic padding valid")
	optest.Refuses(t, conv.Conv{AutoPad: 9}, []graph.Type{x, w}, "no padding rule 9")
	optest.Refuses(t, conv.Conv{Dilations: []int{4, 1}}, []graph.Type{x, w}, "3 taps with dilation 4 reach over 9")
	optest.Refuses(t, conv.Conv{}, []graph.Type{x, optest.Float32(6, 4, 0, 3)}, "0 is not in [1,")
	optest.Refuses(t, conv.Conv{}, []graph.Type{optest.Type(dtype.Uint8, 1, 1, 9), optest.Type(dtype.Uint8, 1, 1, 2)}, "uint8")
	optest.Refuses(t, conv.Conv{Pads: []int{optest.Most, optest.Most, optest.Most, optest.Most}}, []graph.Type{x, w}, "elements")
}

func TestConvTransposeInfer(t *testing.T) {
	x, w := optest.Float32(2, 4, 3, 3), optest.Float32(4, 6, 3, 3)
	optest.Infers(t, conv.ConvTranspose{}, []graph.Type{x, w}, "float32[2 6 5 5]")
	optest.Infers(t, conv.ConvTranspose{Strides: []int{3, 2}}, []graph.Type{x, w, optest.Float32(6)}, "float32[2 6 9 7]")
	optest.Infers(t, conv.ConvTranspose{Strides: []int{3, 2}, OutputPadding: []int{1, 1}}, []graph.Type{x, w}, "float32[2 6 10 8]")
	optest.Infers(t, conv.ConvTranspose{Strides: []int{3, 2}, OutputShape: []int{10, 8}}, []graph.Type{x, w}, "float32[2 6 10 8]")
	optest.Infers(t, conv.ConvTranspose{Strides: []int{2, 2}, AutoPad: slide.SameUpper}, []graph.Type{x, w}, "float32[2 6 6 6]")
	optest.Infers(t, conv.ConvTranspose{Pads: []int{1, 2, 1, 2}}, []graph.Type{x, w}, "float32[2 6 3 1]")
	optest.Infers(t, conv.ConvTranspose{Group: 2}, []graph.Type{x, optest.Float32(4, 3, 3, 3)}, "float32[2 6 5 5]")
	optest.Infers(t, conv.ConvTranspose{Dilations: []int{2, 2}}, []graph.Type{optest.Float32(1, 1, 3, 3), optest.Float32(1, 1, 2, 2)}, "float32[1 1 5 5]")

	optest.Refuses(t, conv.ConvTranspose{}, []graph.Type{x, optest.Float32(6, 4, 3, 3)}, "4 channels, weights [6 4 3 3] have 6")
	optest.Refuses(t, conv.ConvTranspose{Group: 3}, []graph.Type{x, w}, "3 groups")
	optest.Refuses(t, conv.ConvTranspose{Group: 2}, []graph.Type{x, w, optest.Float32(6)}, "want [12]")
	optest.Refuses(t, conv.ConvTranspose{Pads: []int{3, 3, 3, 3}}, []graph.Type{x, w}, "pads [3 3 3 3] take more than the 5")
	optest.Refuses(t, conv.ConvTranspose{OutputPadding: []int{1}}, []graph.Type{x, w}, "output padding [1]")
	optest.Refuses(t, conv.ConvTranspose{OutputShape: []int{-1, 2}}, []graph.Type{x, w}, "-1 is not in")
	optest.Refuses(t, conv.ConvTranspose{Strides: []int{optest.Most, optest.Most}}, []graph.Type{x, w}, "elements")
	optest.Refuses(t, conv.ConvTranspose{Group: shape.MaxElems}, []graph.Type{optest.Float32(1, 0, 3), optest.Float32(0, shape.MaxElems, 3)}, "elements")
}

// TestConvAttributes shows, on lines small enough to work out by hand, that
// each attribute reaches the kernel.
func TestConvAttributes(t *testing.T) {
	x := kerneltest.Of(dtype.Float32, []float32{1, 2, 3, 4, 5}, 1, 1, 5)
	w := kerneltest.Of(dtype.Float32, []float32{1, 10, 100}, 1, 1, 3)
	one := []int{1}
	for _, c := range []struct {
		op   conv.Conv
		want []float32
	}{
		{conv.Conv{}, []float32{321, 432, 543}},
		{conv.Conv{Pads: []int{1, 0}}, []float32{210, 321, 432, 543}},
		{conv.Conv{Pads: []int{0, 1}, Strides: []int{3}}, []float32{321, 54}},
		{conv.Conv{Dilations: []int{2}}, []float32{531}},
		{conv.Conv{AutoPad: slide.SameUpper, Strides: []int{2}}, []float32{210, 432, 54}},
		{conv.Conv{AutoPad: slide.SameUpper, Strides: []int{3}}, []float32{321, 54}},
		{conv.Conv{AutoPad: slide.SameLower, Strides: []int{3}}, []float32{210, 543}},
		{conv.Conv{AutoPad: slide.Valid, Strides: []int{2}}, []float32{321, 543}},
	} {
		optest.WantValues(t, c.op.AutoPad.String(), optest.Compute(t, c.op, x, w)[0], c.want...)
	}
	for _, c := range []struct {
		op   conv.ConvTranspose
		want []float32
	}{
		{conv.ConvTranspose{}, []float32{2, 23, 230, 300}},
		{conv.ConvTranspose{Strides: []int{2}}, []float32{2, 20, 203, 30, 300}},
		{conv.ConvTranspose{Strides: []int{2}, Pads: []int{1, 0}}, []float32{20, 203, 30, 300}},
		{conv.ConvTranspose{Strides: []int{2}, OutputPadding: one}, []float32{2, 20, 203, 30, 300, 0}},
		{conv.ConvTranspose{Strides: []int{2}, OutputShape: []int{4}}, []float32{20, 203, 30, 300}},
		{conv.ConvTranspose{Strides: []int{2}, OutputShape: []int{4}, AutoPad: slide.SameUpper}, []float32{2, 20, 203, 30}},
		{conv.ConvTranspose{Strides: []int{2}, OutputShape: []int{6}}, []float32{2, 20, 203, 30, 300, 0}},
		{conv.ConvTranspose{Dilations: []int{2}}, []float32{2, 3, 20, 30, 200, 300}},
	} {
		two := kerneltest.Of(dtype.Float32, []float32{2, 3}, 1, 1, 2)
		optest.WantValues(t, "transposed", optest.Compute(t, c.op, two, w)[0], c.want...)
	}
}
