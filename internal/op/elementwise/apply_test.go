package elementwise

import (
	"strings"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
)

// input returns a new leaf to be bound in a test.
func input(t testing.TB, dt dtype.Type, dims ...int) graph.Value {
	t.Helper()
	n, err := graph.NewInput("x", graph.Type{DType: dt, Shape: dims})
	if err != nil {
		t.Fatal(err)
	}
	return n.Output(0)
}

// must unwraps the result of a constructor.
func must(t testing.TB) func(v graph.Value, err error) graph.Value {
	return func(v graph.Value, err error) graph.Value {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func program(v graph.Value) string { return v.Node().Op().(Map).Program.String() }

// TestApplyNodes checks that each code is a node of its own, which reads
// each value once.
func TestApplyNodes(t *testing.T) {
	ok := must(t)
	x := input(t, dtype.Float32, 2, 3)
	neg := ok(Apply(Neg, nil, x))
	for _, c := range []struct {
		want string
		v    graph.Value
		in   graph.Value
	}{
		{"t0=sub(1:float32,x0)", ok(WithScalar(Sub, neg, kernel.Int64Scalar(1), true)), neg},
		{"t0=mul(x0,x0)", ok(Apply(Mul, nil, neg, neg)), neg},
		{"t0=cast[int8](x0)", ok(CastTo(x, dtype.Int8)), x},
	} {
		if got := program(c.v); got != c.want || c.v.Node().NumInputs() != 1 || c.v.Node().Input(0) != c.in {
			t.Errorf("got %s of %v, want %s of %v", got, c.v.Node().Input(0), c.want, c.in)
		}
	}
	if got := ok(CastTo(x, dtype.Float32)); got != x {
		t.Errorf("a cast to the same type is a node: %v", got)
	}
}

// TestApplyScalars checks what becomes of scalar operands.
func TestApplyScalars(t *testing.T) {
	i32, f16 := input(t, dtype.Int32, 2), input(t, dtype.Float16, 2)
	i, f := kernel.Int64Scalar, kernel.Float64Scalar
	for _, c := range []struct {
		code  Code
		x     graph.Value
		s     kernel.Scalar
		first bool
		want  string // the program, or part of the error
	}{
		{Add, i32, i(-7), false, "t0=add(x0,-7:int32)"},
		{Add, i32, f(3), false, "t0=add(x0,3:int32)"},
		{Add, i32, f(2.5), false, "2.5:float64 does not fit the element type int32"},
		{Less, i32, i(1 << 31), true, "2147483648:int64 does not fit the element type int32"},
		{Add, f16, f(0.1), true, "t0=add(0.099975586:float16,x0)"},
		{Pow, f16, i(2), false, "t0=pow(x0,2:int64)"},
		{Pow, i32, f(2), false, "t0=pow(x0,2:int64)"},
		{Pow, i32, f(0.5), false, "t0=pow(x0,0.5:float64)"},
		{Pow, i32, f(2), true, "t0=pow(2:int32,x0)"},
		{Neg, i32, i(1), false, "neg: takes 1 operands, got 2"},
		{Add, i32, kernel.Scalar{}, false, "add: operand 1 is absent"},
		{Add, graph.Value{}, i(1), false, "add: the operand beside the scalar 1:int64 is absent"},
	} {
		v, err := WithScalar(c.code, c.x, c.s, c.first)
		switch {
		case err != nil:
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v with %v: error %v, want %q", c.code, c.s, err, c.want)
			}
		case program(v) != c.want:
			t.Errorf("%v with %v: %s, want %s", c.code, c.s, program(v), c.want)
		}
	}
	v := must(t)(ApplyOperands(Where, nil, Operand{Value: input(t, dtype.Bool, 2)}, Operand{Value: i32}, Operand{Scalar: f(0)}))
	if program(v) != "t0=where(x0,x1,0:int32)" {
		t.Errorf("where: %s", program(v))
	}
	v = must(t)(ApplyOperands(Clip, nil, Operand{Value: f16}, Operand{Scalar: f(0)}, Operand{Scalar: i(6)}))
	if program(v) != "t0=clip(x0,0:float16,6:float16)" {
		t.Errorf("clip: %s", program(v))
	}
}

// TestApplyErrors checks that errors name the code and both operands.
func TestApplyErrors(t *testing.T) {
	x, y, z := input(t, dtype.Float32, 2, 3), input(t, dtype.Float32, 4), input(t, dtype.Int64, 3)
	for _, c := range []struct {
		want  string
		code  Code
		attrs []float64
		in    []graph.Value
	}{
		{"add: shapes [2 3] and [4] do not broadcast", Add, nil, []graph.Value{x, y}},
		{"add(float32[2 3], int64[3]): operands are float32 and int64", Add, nil, []graph.Value{x, z}},
		{"exp(int64[3]): operand 0 is int64, not a floating-point type", Exp, nil, []graph.Value{z}},
		{"add: takes 2 operands, got 1", Add, nil, []graph.Value{x}},
		{"add: operand 1 is absent", Add, nil, []graph.Value{x, {}}},
		{"elu: takes 1 attributes, got 2", Elu, []float64{1, 2}, []graph.Value{x}},
		{"code(0) is not an elementwise code", 0, nil, []graph.Value{x}},
		{"CastTo", Cast, nil, []graph.Value{x}},
	} {
		_, err := Apply(c.code, c.attrs, c.in...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want %q", c.code, err, c.want)
		}
	}
	if _, err := CastTo(x, 99); err == nil || !strings.Contains(err.Error(), "cast of float32[2 3]") {
		t.Errorf("cast to no type: %v", err)
	}
	add := Map{Program{{Code: Add, Args: [3]Arg{InputArg(0), InputArg(1)}}}}
	for _, in := range [][]graph.Type{nil, {x.Type()}, {x.Type(), y.Type()}, {x.Type(), z.Type()}, {x.Type(), {}}} {
		if out, err := add.Infer(in); err == nil {
			t.Errorf("Infer of %v gives %v", in, out)
		}
	}
}
