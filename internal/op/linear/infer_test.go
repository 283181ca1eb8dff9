package linear_test

import (
	"strings"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/linear"
	"github.com/berth-go/berth/internal/op/optest"
	"github.com/berth-go/berth/shape"
)

func TestMatMulInfer(t *testing.T) {
	mm := linear.MatMul{}
	huge := shape.MaxElems / 2
	optest.Infers(t, mm, []graph.Type{optest.Float32(2, 3), optest.Float32(3, 4)}, "float32[2 4]")
	optest.Infers(t, mm, []graph.Type{optest.Float32(3), optest.Float32(3)}, "float32[]")
	optest.Infers(t, mm, []graph.Type{optest.Float32(3), optest.Float32(3, 4)}, "float32[4]")
	optest.Infers(t, mm, []graph.Type{optest.Float32(2, 3), optest.Float32(3)}, "float32[2]")
	optest.Infers(t, mm, []graph.Type{optest.Float32(7, 1, 2, 3), optest.Float32(5, 3, 4)}, "float32[7 5 2 4]")
	optest.Infers(t, mm, []graph.Type{optest.Float32(5, 2, 3), optest.Float32(3)}, "float32[5 2]")
	optest.Infers(t, mm, []graph.Type{optest.Float32(2, 0), optest.Float32(0, 4)}, "float32[2 4]")
	optest.Infers(t, mm, []graph.Type{optest.Float32(0, 3), optest.Float32(3, 4)}, "float32[0 4]")
	optest.Infers(t, mm, []graph.Type{optest.Type(dtype.Int8, 2, 3), optest.Type(dtype.Int8, 3, 4)}, "int8[2 4]")
	optest.Infers(t, mm, []graph.Type{optest.Type(dtype.Float16, 2, 3), optest.Type(dtype.Float16, 3, 4)}, "float16[2 4]")

	optest.Refuses(t, mm, nil, "takes 2 inputs, got 0")
	optest.Refuses(t, mm, []graph.Type{optest.Float32(2, 3)}, "takes 2 inputs, got 1")
	optest.Refuses(t, mm, []graph.Type{optest.Float32(), optest.Float32(3)}, "scalar")
	optest.Refuses(t, mm, []graph.Type{optest.Float32(2, 3), optest.Float32(4, 5)}, "3 columns against 4 rows")
	optest.Refuses(t, mm, []graph.Type{optest.Float32(2, 2, 3), optest.Float32(3, 3, 5)}, "do not multiply")
	optest.Refuses(t, mm, []graph.Type{optest.Float32(2, 3), optest.Type(dtype.Float64, 3, 4)}, "float32 and float64")
	optest.Refuses(t, mm, []graph.Type{optest.Type(dtype.Bool, 2, 3), optest.Type(dtype.Bool, 3, 4)}, "bool")
	optest.Refuses(t, mm, []graph.Type{optest.Float32(2, 3), {}}, "input 1 is invalid")
	optest.Refuses(t, mm, []graph.Type{optest.Float32(-1, 3), optest.Float32(3, 4)}, "negative")
	optest.Refuses(t, mm, []graph.Type{optest.Float32(huge, 1, 0), optest.Float32(huge, 0, 4)}, "")
	if _, err := graph.New(mm, constant(t, optest.Float32(2*optest.Most, 1)), constant(t, optest.Float32(1, 2*optest.Most))); err == nil || !strings.Contains(err.Error(), "elements") {
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
	g := linear.Gemm{Alpha: 1, Beta: 1}
	ta, tb := g, g
	ta.TransA, tb.TransB = true, true
	half := linear.Gemm{Alpha: 0.5, Beta: 1}
	i32 := dtype.Int32
	optest.Infers(t, g, []graph.Type{optest.Float32(2, 3), optest.Float32(3, 4)}, "float32[2 4]")
	optest.Infers(t, ta, []graph.Type{optest.Float32(3, 2), optest.Float32(3, 4)}, "float32[2 4]")
	optest.Infers(t, tb, []graph.Type{optest.Float32(2, 3), optest.Float32(4, 3)}, "float32[2 4]")
	optest.Infers(t, g, []graph.Type{optest.Float32(2, 3), optest.Float32(3, 4), {}}, "float32[2 4]")
	optest.Infers(t, g, []graph.Type{optest.Float32(2, 3), optest.Float32(3, 4), optest.Float32()}, "float32[2 4]")
	optest.Infers(t, g, []graph.Type{optest.Float32(2, 3), optest.Float32(3, 4), optest.Float32(4)}, "float32[2 4]")
	optest.Infers(t, g, []graph.Type{optest.Float32(2, 3), optest.Float32(3, 4), optest.Float32(2, 1)}, "float32[2 4]")
	optest.Infers(t, half, []graph.Type{optest.Float32(2, 0), optest.Float32(0, 4), optest.Float32(2, 4)}, "float32[2 4]")
	optest.Infers(t, g, []graph.Type{optest.Type(i32, 2, 3), optest.Type(i32, 3, 4)}, "int32[2 4]")

	optest.Refuses(t, g, []graph.Type{optest.Float32(2, 3)}, "takes 2 to 3 inputs, got 1")
	optest.Refuses(t, g, []graph.Type{optest.Float32(2, 3), optest.Float32(3)}, "must be matrices")
	optest.Refuses(t, g, []graph.Type{optest.Float32(2, 3), optest.Float32(4, 3)}, "3 columns against 4 rows")
	optest.Refuses(t, tb, []graph.Type{optest.Float32(2, 3), optest.Float32(3, 4)}, "3 columns against 4 rows")
	optest.Refuses(t, g, []graph.Type{optest.Float32(2, 3), optest.Float32(3, 4), optest.Float32(2)}, "addend [2] does not broadcast to the product [2 4]")
	optest.Refuses(t, g, []graph.Type{optest.Float32(2, 3), optest.Float32(3, 4), optest.Float32(1, 2, 4)}, "addend [1 2 4]")
	optest.Refuses(t, g, []graph.Type{optest.Float32(2, 3), optest.Float32(3, 4), optest.Type(i32, 4)}, "inputs 0 and 2")
	optest.Refuses(t, half, []graph.Type{optest.Type(i32, 2, 3), optest.Type(i32, 3, 4)}, "alpha 0.5")
	optest.Refuses(t, linear.Gemm{Alpha: 1, Beta: 1e30}, []graph.Type{optest.Type(i32, 2, 3), optest.Type(i32, 3, 4)}, "beta 1e+30")
}
