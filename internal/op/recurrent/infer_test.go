package recurrent_test

import (
	"math"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/optest"
	"github.com/berth-go/berth/internal/op/recurrent"
)

func TestInfer(t *testing.T) {
	f := optest.Float32
	list := func(x ...graph.Type) []graph.Type { return x }
	half := func(dims ...int) graph.Type { return optest.Type(dtype.Float16, dims...) }
	lens := optest.Type(dtype.Int32, 2)
	absent := graph.Type{}
	both := recurrent.Bidirectional

	optest.Infers(t, recurrent.RNN{}, list(f(5, 2, 3), f(1, 3, 3)), "float32[5 1 2 3] float32[1 2 3]")
	optest.Infers(t, recurrent.RNN{Direction: both}, list(f(5, 2, 6), f(2, 3, 3), lens, f(2, 2, 3)), "float32[5 2 2 3] float32[2 2 3]")
	optest.Infers(t, recurrent.RNN{Final: true}, list(half(5, 2, 3), half(1, 3, 3), lens), "float16[1 2 3]")
	optest.Infers(t, recurrent.GRU{}, list(f(0, 2, 9), f(1, 9, 3), absent, f(1, 2, 3)), "float32[0 1 2 3] float32[1 2 3]")
	optest.Infers(t, recurrent.GRU{LinearBeforeReset: true}, list(f(5, 0, 9), f(1, 9, 3), absent, absent, f(1, 3)), "float32[5 1 0 3] float32[1 0 3]")
	optest.Infers(t, recurrent.LSTM{Direction: both}, list(f(5, 2, 24), f(2, 12, 3), absent, absent, f(2, 2, 3), f(2, 9)), "float32[5 2 2 3] float32[2 2 3] float32[2 2 3]")
	optest.Infers(t, recurrent.LSTM{Final: true, Clip: math.Inf(1)}, list(optest.Type(dtype.Float64, 5, 2, 0), optest.Type(dtype.Float64, 1, 0, 0)), "float64[1 2 0] float64[1 2 0]")

	x, r := f(5, 2, 12), f(1, 12, 3)
	optest.Refuses(t, recurrent.LSTM{}, list(x), "takes 2 to 6 inputs, got 1")
	optest.Refuses(t, recurrent.GRU{}, list(x, f(1, 12, 4), absent, absent, f(1, 4)), "takes 2 to 4 inputs, got 5")
	optest.Refuses(t, recurrent.LSTM{}, list(absent, r), "x: ")
	optest.Refuses(t, recurrent.LSTM{}, list(optest.Type(dtype.Int32, 5, 2, 12), r), "x is int32[5 2 12], not of 3 axes")
	optest.Refuses(t, recurrent.LSTM{}, list(x, half(1, 12, 3)), "r is float16[1 12 3], not of 3 axes and one floating-point type")
	optest.Refuses(t, recurrent.LSTM{}, list(x, f(12, 3)), "r is float32[12 3], not of 3 axes")
	optest.Refuses(t, recurrent.LSTM{}, list(x, f(1, 12, 4)), "r is float32[1 12 4], not [1 4*hidden hidden]: forward, of 4 gates")
	optest.Refuses(t, recurrent.LSTM{}, list(x, f(1, 13, 3)), "r is float32[1 13 3], not")
	optest.Refuses(t, recurrent.LSTM{Direction: both}, list(x, r), "not [2 4*hidden hidden]")
	optest.Refuses(t, recurrent.LSTM{}, list(f(5, 2, 11), r), "x is float32[5 2 11], but the gates of 1 layers with r float32[1 12 3] are 1*12")
	optest.Refuses(t, recurrent.LSTM{Direction: both}, list(f(5, 2, 25), f(2, 12, 3)), "x is float32[5 2 25], but")
	optest.Refuses(t, recurrent.LSTM{}, list(x, r, f(2)), "lens is float32[2], not int32[2]")
	optest.Refuses(t, recurrent.LSTM{}, list(x, r, absent, f(1, 3, 3)), "h is float32[1 3 3], not float32[1 2 3]")
	optest.Refuses(t, recurrent.LSTM{}, list(x, r, absent, absent, half(1, 2, 3)), "c is float16[1 2 3], not float32[1 2 3]")
	optest.Refuses(t, recurrent.LSTM{}, list(x, r, absent, absent, absent, f(1, 12)), "p is float32[1 12], not float32[1 9]")
	optest.Refuses(t, recurrent.LSTM{Clip: -1}, list(x, r), "clip is -1")
	optest.Refuses(t, recurrent.LSTM{Clip: math.NaN()}, list(x, r), "clip is NaN")
	optest.Refuses(t, recurrent.LSTM{Direction: 3}, list(x, r), "there is no direction 3")

	tanh := program(t, "t0=tanh(x0)")
	two := recurrent.Functions{tanh, tanh}
	optest.Infers(t, recurrent.RNN{Direction: both, Activations: two}, list(f(5, 2, 6), f(2, 3, 3)), "float32[5 2 2 3] float32[2 2 3]")
	optest.Refuses(t, recurrent.RNN{Activations: two}, list(f(5, 2, 3), f(1, 3, 3)), "there are 2 activation functions, not 1 for each of 1 layers")
	for text, part := range map[string]string{
		"t0=add(x0,x1)": "input", "t0=is_nan(x0)": "bool", "t0=add(x0,1:float64)": "float64",
		"t0=abs(x0);t1=abs(t0);t2=abs(t1);t3=abs(t2);t4=abs(t3);t5=abs(t4);t6=abs(t5);t7=abs(t6);t8=abs(t7)": "has 9 instructions, not 1 to 8",
	} {
		optest.Refuses(t, recurrent.RNN{Activations: recurrent.Functions{program(t, text)}}, list(f(5, 2, 3), f(1, 3, 3)), part)
	}
	optest.Refuses(t, recurrent.RNN{Activations: recurrent.Functions{nil}}, list(f(5, 2, 3), f(1, 3, 3)), "has 0 instructions")
}

func program(t *testing.T, text string) elementwise.Program {
	t.Helper()
	var p elementwise.Program
	if err := p.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestDirections(t *testing.T) { optest.Enum(t, recurrent.Bidirectional) }
