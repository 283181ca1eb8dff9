package op_test

import (
	"strings"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/shape"
)

// An inferCase states the outputs of an op for some inputs, or a part of the
// error it gives.
type inferCase struct {
	op   graph.Op
	in   []graph.Type
	want string // types as printed, apart by spaces, or what the error contains
}

func f32(dims ...int) graph.Type { return graph.Type{DType: dtype.Float32, Shape: dims} }
func typ(t dtype.Type, dims ...int) graph.Type {
	return graph.Type{DType: t, Shape: dims}
}

func runInferCases(t *testing.T, good, bad []inferCase) {
	t.Helper()
	for _, c := range good {
		outs, err := c.op.Infer(c.in)
		if err != nil {
			t.Errorf("%+v of %v: %v", c.op, c.in, err)
			continue
		}
		words := make([]string, len(outs))
		for i, o := range outs {
			words[i] = o.String()
		}
		if got := strings.Join(words, " "); got != c.want {
			t.Errorf("%+v of %v is %s, want %s", c.op, c.in, got, c.want)
		}
		if k := c.op.(op.Computer).Kernel(c.in, outs); k == nil && c.in[0].DType != dtype.Float16 {
			t.Errorf("%+v of %v has no kernel", c.op, c.in)
		}
	}
	for _, c := range bad {
		outs, err := c.op.Infer(c.in)
		if err == nil {
			t.Errorf("%+v of %v is %v, want an error with %q", c.op, c.in, outs, c.want)
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v of %v: error %q, want %q in it", c.op, c.in, err, c.want)
		}
	}
}

func TestMatMulInfer(t *testing.T) {
	mm := op.MatMul{}
	huge := shape.MaxElems / 2
	runInferCases(t, []inferCase{
		{mm, []graph.Type{f32(2, 3), f32(3, 4)}, "float32[2 4]"},
		{mm, []graph.Type{f32(3), f32(3)}, "float32[]"},
		{mm, []graph.Type{f32(3), f32(3, 4)}, "float32[4]"},
		{mm, []graph.Type{f32(2, 3), f32(3)}, "float32[2]"},
		{mm, []graph.Type{f32(7, 1, 2, 3), f32(5, 3, 4)}, "float32[7 5 2 4]"},
		{mm, []graph.Type{f32(5, 2, 3), f32(3)}, "float32[5 2]"},
		{mm, []graph.Type{f32(2, 0), f32(0, 4)}, "float32[2 4]"},
		{mm, []graph.Type{f32(0, 3), f32(3, 4)}, "float32[0 4]"},
		{mm, []graph.Type{typ(dtype.Int8, 2, 3), typ(dtype.Int8, 3, 4)}, "int8[2 4]"},
		{mm, []graph.Type{typ(dtype.Float16, 2, 3), typ(dtype.Float16, 3, 4)}, "float16[2 4]"},
	}, []inferCase{
		{mm, nil, "takes 2 inputs, got 0"},
		{mm, []graph.Type{f32(2, 3)}, "takes 2 inputs, got 1"},
		{mm, []graph.Type{f32(), f32(3)}, "scalar"},
		{mm, []graph.Type{f32(2, 3), f32(4, 5)}, "3 columns against 4 rows"},
		{mm, []graph.Type{f32(2, 2, 3), f32(3, 3, 5)}, "do not multiply"},
		{mm, []graph.Type{f32(2, 3), typ(dtype.Float64, 3, 4)}, "float32 and float64"},
		{mm, []graph.Type{typ(dtype.Bool, 2, 3), typ(dtype.Bool, 3, 4)}, "bool"},
		{mm, []graph.Type{f32(2, 3), {}}, "input 1 is invalid"},
		{mm, []graph.Type{f32(-1, 3), f32(3, 4)}, "negative"},
		{mm, []graph.Type{f32(huge, 1, 0), f32(huge, 0, 4)}, ""},
	})
	if _, err := graph.New(mm, constant(t, f32(2*most, 1)), constant(t, f32(1, 2*most))); err == nil || !strings.Contains(err.Error(), "elements") {
		t.Errorf("a product of too many elements: error %v", err)
	}
}

// constant returns an input of the given type; it is never read.
func constant(t *testing.T, typ graph.Type) graph.Value {
	t.Helper()
	n, err := graph.NewInput("x", typ)
	if err != nil {
		t.Fatal(err)
	}
	return n.Output(0)
}

func TestGemmInfer(t *testing.T) {
	g := op.Gemm{Alpha: 1, Beta: 1}
	ta, tb := g, g
	ta.TransA, tb.TransB = true, true
	half := op.Gemm{Alpha: 0.5, Beta: 1}
	i32 := dtype.Int32
	runInferCases(t, []inferCase{
		{g, []graph.Type{f32(2, 3), f32(3, 4)}, "float32[2 4]"},
		{ta, []graph.Type{f32(3, 2), f32(3, 4)}, "float32[2 4]"},
		{tb, []graph.Type{f32(2, 3), f32(4, 3)}, "float32[2 4]"},
		{g, []graph.Type{f32(2, 3), f32(3, 4), {}}, "float32[2 4]"},
		{g, []graph.Type{f32(2, 3), f32(3, 4), f32()}, "float32[2 4]"},
		{g, []graph.Type{f32(2, 3), f32(3, 4), f32(4)}, "float32[2 4]"},
		{g, []graph.Type{f32(2, 3), f32(3, 4), f32(2, 1)}, "float32[2 4]"},
		{half, []graph.Type{f32(2, 0), f32(0, 4), f32(2, 4)}, "float32[2 4]"},
		{g, []graph.Type{typ(i32, 2, 3), typ(i32, 3, 4)}, "int32[2 4]"},
	}, []inferCase{
		{g, []graph.Type{f32(2, 3)}, "takes 2 to 3 inputs, got 1"},
		{g, []graph.Type{f32(2, 3), f32(3)}, "must be matrices"},
		{g, []graph.Type{f32(2, 3), f32(4, 3)}, "3 columns against 4 rows"},
		{tb, []graph.Type{f32(2, 3), f32(3, 4)}, "3 columns against 4 rows"},
		{g, []graph.Type{f32(2, 3), f32(3, 4), f32(2)}, "addend [2] does not broadcast to the product [2 4]"},
		{g, []graph.Type{f32(2, 3), f32(3, 4), f32(1, 2, 4)}, "addend [1 2 4]"},
		{g, []graph.Type{f32(2, 3), f32(3, 4), typ(i32, 4)}, "inputs 0 and 2"},
		{half, []graph.Type{typ(i32, 2, 3), typ(i32, 3, 4)}, "alpha 0.5"},
		{op.Gemm{Alpha: 1, Beta: 1e30}, []graph.Type{typ(i32, 2, 3), typ(i32, 3, 4)}, "beta 1e+30"},
	})
}
