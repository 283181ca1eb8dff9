package recurrent_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op/optest"
	"github.com/berth-go/berth/internal/op/recurrent"
)

func f32(values []float32, dims ...int) *kernel.Operand {
	return kerneltest.Of(dtype.Float32, values, dims...)
}

// TestActivations has functions that keep whole numbers whole, so that results are
// worked out by hand: those of each direction, for each gate.
func TestActivations(t *testing.T) {
	double, triple, negate, plus := program(t, "t0=mul(x0,2:float32)"), program(t, "t0=mul(x0,3:float32)"), program(t, "t0=neg(x0)"), program(t, "t0=add(x0,1:float32)")
	same := program(t, "t0=add(x0,0:float32)")

	// h = 2(x + h) forwards, and -(x + h) backwards.
	outs := optest.Compute(t, recurrent.RNN{Direction: recurrent.Bidirectional, Activations: recurrent.Functions{double, negate}},
		f32([]float32{1, 1, 2, 2}, 2, 1, 2), f32([]float32{1, 1}, 2, 1, 1))
	optest.WantValues(t, "y of rnn", outs[0], 2, -(1 - 2), 8, -2)
	optest.WantValues(t, "h of rnn", outs[1], 8, 1)

	// z = 2*1 = 2, k = 2*2 = 4, n = -(3 + k*5) = -23; h = (1-2)*-23 + 2*5.
	outs = optest.Compute(t, recurrent.GRU{Activations: recurrent.Functions{double, negate}},
		f32([]float32{1, 2, 3}, 1, 1, 3), f32([]float32{0, 0, 1}, 1, 3, 1), nil, f32([]float32{5}, 1, 1, 1))
	optest.WantValues(t, "h of gru", outs[1], 33)
	// n = -(3 + k*(5 + 10)) = -63.
	outs = optest.Compute(t, recurrent.GRU{Activations: recurrent.Functions{double, negate}, LinearBeforeReset: true},
		f32([]float32{1, 2, 3}, 1, 1, 3), f32([]float32{0, 0, 1}, 1, 3, 1), nil, f32([]float32{5}, 1, 1, 1), f32([]float32{10}, 1, 1))
	optest.WantValues(t, "h of gru, linear", outs[1], 73)

	// i = 2(1 + 1*5) = 12, e = 2(3 + 3*5) = 36, c = 36*5 + 12*3*4 = 324,
	// o = 2(2 + 2*324) = 1300, h = 1300*(324 + 1).
	in := []*kernel.Operand{f32([]float32{1, 2, 3, 4}, 1, 1, 4), f32([]float32{0, 0, 0, 0}, 1, 4, 1), nil, nil, f32([]float32{5}, 1, 1, 1), f32([]float32{1, 2, 3}, 1, 3)}
	functions := recurrent.Functions{double, triple, plus}
	outs = optest.Compute(t, recurrent.LSTM{Activations: functions}, in...)
	optest.WantValues(t, "h of lstm", outs[1], 1300*325)
	optest.WantValues(t, "c of lstm", outs[2], 324)
	// e = 1 - 12: c = -55 + 144 = 89, o = 2(2 + 178) = 360.
	outs = optest.Compute(t, recurrent.LSTM{Activations: functions, InputForget: true}, in...)
	optest.WantValues(t, "h of lstm, coupled", outs[1], 360*90)
	// i = 2*5, e = 2*5, g = 3*4, c = 50 + 120 = 170, o = 2*5; c is not bounded.
	outs = optest.Compute(t, recurrent.LSTM{Activations: recurrent.Functions{double, triple, same}, Clip: 5}, in...)
	optest.WantValues(t, "h of lstm, clipped", outs[1], 1700)
}

// TestLengths has rows of 2, 0 and 1 of 2 steps.
func TestLengths(t *testing.T) {
	same := program(t, "t0=add(x0,0:float32)")
	x := f32([]float32{1, 2, 3, 10, 20, 30}, 2, 3, 1)
	h := f32([]float32{100, 200, 300}, 1, 3, 1)
	r := f32([]float32{1}, 1, 1, 1)
	lens := kerneltest.Of(dtype.Int32, []int32{2, 0, 1}, 3)
	outs := optest.Compute(t, recurrent.RNN{Activations: recurrent.Functions{same}}, x, r, lens, h)
	optest.WantValues(t, "y", outs[0], 101, 0, 303, 111, 0, 0)
	optest.WantValues(t, "h", outs[1], 111, 200, 303)
	outs = optest.Compute(t, recurrent.RNN{Activations: recurrent.Functions{same}, Direction: recurrent.Reverse}, x, r, lens, h)
	optest.WantValues(t, "y backwards", outs[0], 111, 0, 303, 110, 0, 0)
	optest.WantValues(t, "h backwards", outs[1], 111, 200, 303)

	for _, bad := range []int32{-1, 3, math.MaxInt32, math.MinInt32} {
		in := []*kernel.Operand{x, r, kerneltest.Of(dtype.Int32, []int32{2, bad, 1}, 3)}
		types := optest.Float32(1, 3, 1)
		o := recurrent.RNN{Final: true}
		k := o.Kernel(list(optest.Float32(2, 3, 1), optest.Float32(1, 1, 1), optest.Type(dtype.Int32, 3)), list(types))
		err := kerneltest.Run(rand.New(rand.NewPCG(1, 1)), k, in, []*kernel.Operand{kerneltest.Dense(dtype.Float32, 1, 3, 1)})
		if err == nil || !strings.Contains(err.Error(), "row 1 has a length of") || !strings.Contains(err.Error(), "of 2 steps") {
			t.Errorf("length %d of 2: error %v", bad, err)
		}
	}
}

func list[T any](x ...T) []T { return x }

// TestRows computes a row alone and among others: its bits are the same.
func TestRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const steps, rows, size = 3, 50, 33
	for _, o := range []recurrent.LSTM{{}, {Direction: recurrent.Bidirectional}} {
		layers := o.Direction.Layers()
		x := kerneltest.StridedInput(rng, dtype.Float32, 3, steps, rows, layers*4*size)
		r := kerneltest.StridedInput(rng, dtype.Float32, 3, layers, 4*size, size)
		all := optest.Compute(t, o, x, r)
		for _, row := range []int{0, 17, rows - 1} {
			one := *x
			one.Offset, one.Shape = x.Offset+row*x.Strides[1], []int{steps, 1, layers * 4 * size}
			alone := optest.Compute(t, o, &one, r)
			for layer := range layers {
				want := kerneltest.Values[float32](all[1])[(layer*rows+row)*size:][:size]
				if got := kerneltest.Values[float32](alone[1])[layer*size:][:size]; !slices.Equal(got, want) {
					t.Errorf("%v: row %d has another state alone", o, row)
				}
			}
		}
	}
}

func TestAllocs(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range 30 {
		s := draw(rng, i%3, dtype.Float32)
		in, out, err := s.types()
		if err != nil {
			t.Fatal(err)
		}
		var outs []*kernel.Operand
		for _, typ := range out {
			outs = append(outs, kerneltest.Dense(typ.DType, typ.Shape...))
		}
		kerneltest.CheckAllocs(t, s.op.Kernel(in, out), s.in, outs)
	}
}

// TestScratch has prepacked weights take no working memory.
func TestScratch(t *testing.T) {
	in := []*kernel.Operand{kerneltest.Dense(dtype.Float32, 1, 1, 512), kerneltest.Dense(dtype.Float32, 1, 512, 128)}
	out := []*kernel.Operand{kerneltest.Dense(dtype.Float32, 1, 1, 128), kerneltest.Dense(dtype.Float32, 1, 1, 128)}
	k := recurrent.LSTM{Final: true}.Kernel(list(optest.Float32(1, 1, 512), optest.Float32(1, 512, 128)), nil)
	k.Bind(in, out)
	before := k.Scratch()
	k.(kernel.Prepacker).UsePrepacked(1, []byte{})
	if saved := before - k.Scratch(); saved < 512*128*4 {
		t.Errorf("prepacked weights save %d bytes of working memory, want what they take", saved)
	}
}
