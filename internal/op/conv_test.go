package op_test

import (
	"encoding"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/shape"
)

// most is the largest attribute of a window.
const most = 1 << (bits.UintSize/2 - 2)

func TestConvInfer(t *testing.T) {
	x, w := f32(2, 4, 7, 8), f32(6, 4, 3, 3)
	runInferCases(t, []inferCase{
		{op.Conv{}, []graph.Type{x, w}, "float32[2 6 5 6]"},
		{op.Conv{KernelShape: []int{3, 3}}, []graph.Type{x, w, f32(6)}, "float32[2 6 5 6]"},
		{op.Conv{Pads: []int{1, 0, 2, 3}}, []graph.Type{x, w, {}}, "float32[2 6 8 9]"},
		{op.Conv{Strides: []int{2, 3}}, []graph.Type{x, w}, "float32[2 6 3 2]"},
		{op.Conv{Dilations: []int{3, 2}}, []graph.Type{x, w}, "float32[2 6 1 4]"},
		{op.Conv{AutoPad: op.AutoPadSameUpper, Strides: []int{2, 3}}, []graph.Type{x, w}, "float32[2 6 4 3]"},
		{op.Conv{AutoPad: op.AutoPadSameLower}, []graph.Type{x, w}, "float32[2 6 7 8]"},
		{op.Conv{AutoPad: op.AutoPadValid}, []graph.Type{x, w}, "float32[2 6 5 6]"},
		{op.Conv{Group: 2}, []graph.Type{x, f32(6, 2, 3, 3)}, "float32[2 6 5 6]"},
		{op.Conv{}, []graph.Type{f32(1, 1, 9), f32(1, 1, 2)}, "float32[1 1 8]"},
		{op.Conv{}, []graph.Type{f32(0, 1, 9, 9, 9), f32(3, 1, 2, 2, 2)}, "float32[0 3 8 8 8]"},
		{op.Conv{Pads: []int{1, 1}}, []graph.Type{f32(1, 1, 0), f32(1, 1, 2)}, "float32[1 1 1]"},
		{op.Conv{}, []graph.Type{typ(dtype.Int32, 1, 1, 9), typ(dtype.Int32, 1, 1, 2)}, "int32[1 1 8]"},
	}, []inferCase{
		{op.Conv{}, []graph.Type{x}, "takes 2 to 3 inputs, got 1"},
		{op.Conv{}, []graph.Type{f32(2, 4), f32(6, 4)}, "at least one spatial axis"},
		{op.Conv{}, []graph.Type{x, f32(6, 4, 3)}, "4 axes, weights [6 4 3] have 3"},
		{op.Conv{}, []graph.Type{x, f32(6, 3, 3, 3)}, "4 channels in each of 1 groups"},
		{op.Conv{Group: 4}, []graph.Type{x, f32(6, 1, 3, 3)}, "4 groups do not divide"},
		{op.Conv{Group: -1}, []graph.Type{x, w}, "-1 groups"},
		{op.Conv{}, []graph.Type{x, w, f32(5)}, "bias [5]: want [6]"},
		{op.Conv{KernelShape: []int{3, 2}}, []graph.Type{x, w}, "kernel shape [3 2]"},
		{op.Conv{Strides: []int{1}}, []graph.Type{x, w}, "strides [1]"},
		{op.Conv{Strides: []int{0, 1}}, []graph.Type{x, w}, "0 is not in [1,"},
		{op.Conv{Dilations: []int{1, shape.MaxElems}}, []graph.Type{x, w}, "dilations"},
		{op.Conv{Pads: []int{1, 1}}, []graph.Type{x, w}, "pads [1 1]: 2 numbers for 2 spatial axes, want 4"},
		{op.Conv{Pads: []int{-1, 0, 0, 0}}, []graph.Type{x, w}, "-1 is not in"},
		{op.Conv{Pads: []int{1, 1, 1, 1}, AutoPad: op.AutoPadValid}, []graph.Type{x, w}, "beside the automatic padding valid"},
		{op.Conv{AutoPad: 9}, []graph.Type{x, w}, "no padding rule 9"},
		{op.Conv{Dilations: []int{4, 1}}, []graph.Type{x, w}, "3 taps with dilation 4 reach over 9"},
		{op.Conv{}, []graph.Type{x, f32(6, 4, 0, 3)}, "0 is not in [1,"},
		{op.Conv{}, []graph.Type{typ(dtype.Uint8, 1, 1, 9), typ(dtype.Uint8, 1, 1, 2)}, "uint8"},
		{op.Conv{Pads: []int{most, most, most, most}}, []graph.Type{x, w}, "elements"},
	})
}

func TestConvTransposeInfer(t *testing.T) {
	x, w := f32(2, 4, 3, 3), f32(4, 6, 3, 3)
	runInferCases(t, []inferCase{
		{op.ConvTranspose{}, []graph.Type{x, w}, "float32[2 6 5 5]"},
		{op.ConvTranspose{Strides: []int{3, 2}}, []graph.Type{x, w, f32(6)}, "float32[2 6 9 7]"},
		{op.ConvTranspose{Strides: []int{3, 2}, OutputPadding: []int{1, 1}}, []graph.Type{x, w}, "float32[2 6 10 8]"},
		{op.ConvTranspose{Strides: []int{3, 2}, OutputShape: []int{10, 8}}, []graph.Type{x, w}, "float32[2 6 10 8]"},
		{op.ConvTranspose{Strides: []int{2, 2}, AutoPad: op.AutoPadSameUpper}, []graph.Type{x, w}, "float32[2 6 6 6]"},
		{op.ConvTranspose{Pads: []int{1, 2, 1, 2}}, []graph.Type{x, w}, "float32[2 6 3 1]"},
		{op.ConvTranspose{Group: 2}, []graph.Type{x, f32(4, 3, 3, 3)}, "float32[2 6 5 5]"},
		{op.ConvTranspose{Dilations: []int{2, 2}}, []graph.Type{f32(1, 1, 3, 3), f32(1, 1, 2, 2)}, "float32[1 1 5 5]"},
	}, []inferCase{
		{op.ConvTranspose{}, []graph.Type{x, f32(6, 4, 3, 3)}, "4 channels, weights [6 4 3 3] have 6"},
		{op.ConvTranspose{Group: 3}, []graph.Type{x, w}, "3 groups"},
		{op.ConvTranspose{Group: 2}, []graph.Type{x, w, f32(6)}, "want [12]"},
		{op.ConvTranspose{Pads: []int{3, 3, 3, 3}}, []graph.Type{x, w}, "pads [3 3 3 3] take more than the 5"},
		{op.ConvTranspose{OutputPadding: []int{1}}, []graph.Type{x, w}, "output padding [1]"},
		{op.ConvTranspose{OutputShape: []int{-1, 2}}, []graph.Type{x, w}, "-1 is not in"},
		{op.ConvTranspose{Strides: []int{most, most}}, []graph.Type{x, w}, "elements"},
		{op.ConvTranspose{Group: shape.MaxElems}, []graph.Type{f32(1, 0, 3), f32(0, shape.MaxElems, 3)}, "elements"},
	})
}

// compute runs an op over dense float32 operands.
func compute(t *testing.T, o op.Computer, in ...*kernel.Operand) []*kernel.Operand {
	t.Helper()
	types := make([]graph.Type, len(in))
	for i, x := range in {
		types[i] = graph.Type{DType: x.DType, Shape: x.Shape}
	}
	outTypes, err := o.Infer(types)
	if err != nil {
		t.Fatal(err)
	}
	outs := make([]*kernel.Operand, len(outTypes))
	for i, y := range outTypes {
		outs[i] = kerneltest.Dense(y.DType, y.Shape...)
	}
	if err := kerneltest.Run(rand.New(rand.NewPCG(1, 1)), o.Kernel(types, outTypes), in, outs); err != nil {
		t.Fatal(err)
	}
	return outs
}

func wantValues(t *testing.T, what string, o *kernel.Operand, want ...float32) {
	t.Helper()
	if got := kerneltest.Values[float32](o); !slices.Equal(got, want) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// TestConvAttributes shows, on lines small enough to work out by hand, that
// each attribute reaches the kernel.
func TestConvAttributes(t *testing.T) {
	x := kerneltest.Of(dtype.Float32, []float32{1, 2, 3, 4, 5}, 1, 1, 5)
	w := kerneltest.Of(dtype.Float32, []float32{1, 10, 100}, 1, 1, 3)
	one := []int{1}
	for _, c := range []struct {
		op   op.Conv
		want []float32
	}{
		{op.Conv{}, []float32{321, 432, 543}},
		{op.Conv{Pads: []int{1, 0}}, []float32{210, 321, 432, 543}},
		{op.Conv{Pads: []int{0, 1}, Strides: []int{3}}, []float32{321, 54}},
		{op.Conv{Dilations: []int{2}}, []float32{531}},
		{op.Conv{AutoPad: op.AutoPadSameUpper, Strides: []int{2}}, []float32{210, 432, 54}},
		{op.Conv{AutoPad: op.AutoPadSameUpper, Strides: []int{3}}, []float32{321, 54}},
		{op.Conv{AutoPad: op.AutoPadSameLower, Strides: []int{3}}, []float32{210, 543}},
		{op.Conv{AutoPad: op.AutoPadValid, Strides: []int{2}}, []float32{321, 543}},
	} {
		wantValues(t, c.op.AutoPad.String(), compute(t, c.op, x, w)[0], c.want...)
	}
	for _, c := range []struct {
		op   op.ConvTranspose
		want []float32
	}{
		{op.ConvTranspose{}, []float32{2, 23, 230, 300}},
		{op.ConvTranspose{Strides: []int{2}}, []float32{2, 20, 203, 30, 300}},
		{op.ConvTranspose{Strides: []int{2}, Pads: []int{1, 0}}, []float32{20, 203, 30, 300}},
		{op.ConvTranspose{Strides: []int{2}, OutputPadding: one}, []float32{2, 20, 203, 30, 300, 0}},
		{op.ConvTranspose{Strides: []int{2}, OutputShape: []int{4}}, []float32{20, 203, 30, 300}},
		{op.ConvTranspose{Strides: []int{2}, OutputShape: []int{4}, AutoPad: op.AutoPadSameUpper}, []float32{2, 20, 203, 30}},
		{op.ConvTranspose{Strides: []int{2}, OutputShape: []int{6}}, []float32{2, 20, 203, 30, 300, 0}},
		{op.ConvTranspose{Dilations: []int{2}}, []float32{2, 3, 20, 30, 200, 300}},
	} {
		two := kerneltest.Of(dtype.Float32, []float32{2, 3}, 1, 1, 2)
		wantValues(t, "transposed", compute(t, c.op, two, w)[0], c.want...)
	}
}

func TestTextForms(t *testing.T) {
	for _, v := range []interface {
		encoding.TextMarshaler
		String() string
	}{op.AutoPadNotSet, op.AutoPadSameUpper, op.AutoPadSameLower, op.AutoPadValid, op.PoolMax, op.PoolAverage, op.PoolLp} {
		text, err := v.MarshalText()
		if err != nil || string(text) != v.String() {
			t.Errorf("%v prints as %q, error %v", v, text, err)
		}
		switch v := v.(type) {
		case op.AutoPad:
			back := op.AutoPad(99)
			if err := back.UnmarshalText(text); err != nil || back != v {
				t.Errorf("%q reads as %v, error %v", text, back, err)
			}
		case op.PoolKind:
			back := op.PoolKind(99)
			if err := back.UnmarshalText(text); err != nil || back != v {
				t.Errorf("%q reads as %v, error %v", text, back, err)
			}
		}
	}
	if err := new(op.AutoPad).UnmarshalText([]byte("SAME")); err == nil {
		t.Error("an unknown way of padding is read")
	}
	if err := new(op.PoolKind).UnmarshalText([]byte("min")); err == nil {
		t.Error("an unknown kind of pooling is read")
	}
	if _, err := op.AutoPad(9).MarshalText(); err == nil {
		t.Error("an unknown way of padding is printed")
	}
}
