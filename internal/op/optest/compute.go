package optest

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/shape"
)

// Compute runs an op over dense float32 operands.
func Compute(t *testing.T, o op.Computer, in ...*kernel.Operand) []*kernel.Operand {
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

// WantValues reports an operand, called what, whose elements are not want.
func WantValues(t *testing.T, what string, o *kernel.Operand, want ...float32) {
	t.Helper()
	if got := kerneltest.Values[float32](o); !slices.Equal(got, want) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// LeafOf returns a leaf that holds data.
func LeafOf[T any](t *testing.T, dt dtype.Type, data []T, dims ...int) graph.Value {
	t.Helper()
	o := kerneltest.Of(dt, data, dims...)
	n, err := graph.NewConstant(graph.Type{DType: dt, Shape: o.Shape}, graph.Leaf{Layout: shape.Dense(o.Shape), Data: o.Data})
	if err != nil {
		t.Fatal(err)
	}
	return n.Output(0)
}

// Computed computes a tree of views and computing ops over constants, each
// value into dense memory of its own.
func Computed[T any](t *testing.T, v graph.Value) []T {
	t.Helper()
	return kerneltest.Values[T](evaluate(t, v))
}

func evaluate(t *testing.T, v graph.Value) *kernel.Operand {
	t.Helper()
	n := v.Node()
	if leaf := n.Leaf(); leaf != nil {
		return &kernel.Operand{DType: v.Type().DType, Shape: leaf.Layout.Shape, Strides: leaf.Layout.Strides, Offset: leaf.Layout.Offset, Data: leaf.Data}
	}
	in := make(kerneltest.Operands, n.NumInputs())
	types := make([]graph.Type, len(in))
	for i := range in {
		if !n.Input(i).IsZero() {
			in[i], types[i] = evaluate(t, n.Input(i)), n.Input(i).Type()
		}
	}
	if view, ok := n.Op().(graph.Viewer); ok {
		if l, ok := view.View(shape.Layout{Shape: in[0].Shape, Strides: in[0].Strides, Offset: in[0].Offset}); ok {
			return &kernel.Operand{DType: in[0].DType, Shape: l.Shape, Strides: l.Strides, Offset: l.Offset, Data: in[0].Data}
		}
	}
	out := kerneltest.Dense(v.Type().DType, v.Type().Shape...)
	k, err := op.KernelOf(n.Op(), types, []graph.Type{v.Type()})
	if err != nil {
		t.Fatal(err)
	}
	if err := kerneltest.Run(rand.New(rand.NewPCG(1, 1)), k, in, kerneltest.Operands{out}); err != nil {
		t.Fatal(err)
	}
	return out
}

// Types parses types such as "float32[2 3]"; "_" is an absent input.
func Types(t *testing.T, text string) []graph.Type {
	t.Helper()
	var types []graph.Type
	for word := range strings.SplitSeq(text, ", ") {
		var typ graph.Type
		if word != "_" && word != "" {
			name, dims, ok := strings.Cut(strings.TrimSuffix(word, "]"), "[")
			dt, err := dtype.Parse(name)
			if err != nil || !ok {
				t.Fatalf("type %q: %v", word, err)
			}
			typ = graph.Type{DType: dt, Shape: shape.Shape{}}
			for d := range strings.FieldsSeq(dims) {
				n := 0
				for _, c := range d {
					n = n*10 + int(c-'0')
				}
				typ.Shape = append(typ.Shape, n)
			}
		}
		if word != "" {
			types = append(types, typ)
		}
	}
	return types
}
