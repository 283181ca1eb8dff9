package graphtest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/shape"
)

// Eval returns the elements of the roots of g in row-major order, or the error
// of the node that cannot compute, such as an index out of range.
func Eval(g Graph) ([][]byte, error) {
	e := newNaive(g.Inputs)
	out := make([][]byte, len(g.Roots))
	for i, r := range g.Roots {
		var err error
		if out[i], err = e.eval(r); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Computed returns the elements of v, which depends on constants alone.
func Computed[T any](t testing.TB, v graph.Value) []T {
	t.Helper()
	out, err := Eval(Graph{Roots: []graph.Value{v}})
	if err != nil {
		t.Fatal(err)
	}
	return kernel.Cast[T](out[0])
}

// naive evaluates a graph the obvious way: every node into fresh dense
// memory, views by copying element after element, nothing ever reused.
type naive struct {
	inputs map[string]graph.Leaf
	done   map[graph.Value][]byte
}

func newNaive(inputs map[string]graph.Leaf) *naive {
	return &naive{inputs: inputs, done: make(map[graph.Value][]byte)}
}

func (e *naive) eval(v graph.Value) ([]byte, error) {
	if data, ok := e.done[v]; ok {
		return data, nil
	}
	n := v.Node()
	leaf := n.Leaf()
	if in, ok := n.Op().(graph.Input); ok {
		bound := e.inputs[in.Key]
		leaf = &bound
	}
	if leaf != nil {
		e.done[v] = Flatten(v.Type(), leaf.Layout, leaf.Data)
		return e.done[v], nil
	}
	ins := make([]*kernel.Operand, n.NumInputs())
	inTypes := make([]graph.Type, n.NumInputs())
	_, widens := n.Op().(op.Widener)
	// Beside a first input in float32, halves are what the op reads as they are.
	widens = widens && n.NumInputs() > 0 && n.Input(0).Type().DType.IsHalf()
	for i := range ins {
		if n.Input(i).IsZero() {
			continue
		}
		data, err := e.eval(n.Input(i))
		if err != nil {
			return nil, err
		}
		inTypes[i] = n.Input(i).Type()
		if widens && inTypes[i].DType.IsHalf() {
			data, inTypes[i].DType = converted(inTypes[i], data, dtype.Float32), dtype.Float32
		}
		ins[i] = operand(inTypes[i], shape.Dense(inTypes[i].Shape), data)
	}
	switch o := n.Op().(type) {
	case graph.Identity, graph.Contiguous, graph.Cache:
		e.done[v] = ins[0].Data
		return e.done[v], nil
	case graph.Viewer:
		layout, ok := o.View(shape.Dense(inTypes[0].Shape))
		if !ok {
			return nil, fmt.Errorf("%v has no view of dense storage", n)
		}
		e.done[v] = Flatten(v.Type(), layout, ins[0].Data)
		return e.done[v], nil
	}
	outTypes, err := n.Op().Infer(inTypes)
	if err != nil {
		return nil, err
	}
	outs := make([]*kernel.Operand, len(outTypes))
	for i, t := range outTypes {
		outs[i] = kerneltest.Dense(t.DType, t.Shape...)
	}
	k, err := op.KernelOf(n.Op(), inTypes, outTypes)
	if err != nil {
		return nil, err
	}
	if err := kerneltest.Run(rand.New(rand.NewPCG(1, 1)), k, ins, outs); err != nil {
		return nil, fmt.Errorf("%v: %w", n, err)
	}
	for i, t := range outTypes {
		e.done[n.Output(i)] = converted(t, outs[i].Data, n.Output(i).Type().DType)
	}
	return e.done[v], nil
}

// converted returns the dense elements of type t in another element type.
func converted(t graph.Type, data []byte, to dtype.Type) []byte {
	if t.DType == to {
		return data
	}
	out := kernel.Alloc(t.Shape.Elems() * to.Size())
	for i := range t.Shape.Elems() {
		kernel.ScalarAt(t.DType, data, i).Cast(to).Put(out[i*to.Size():])
	}
	return out
}

// Flatten copies the elements of a layout in row-major order.
func Flatten(t graph.Type, l shape.Layout, data []byte) []byte {
	return kerneltest.Bytes(operand(t, l, data))
}

func operand(t graph.Type, l shape.Layout, data []byte) *kernel.Operand {
	return &kernel.Operand{DType: t.DType, Shape: l.Shape, Strides: l.Strides, Offset: l.Offset, Data: data}
}
