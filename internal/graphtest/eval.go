package graphtest

import (
	"testing"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/shape"
)

// Eval returns the elements of v, which depends on no input, in row-major order.
func Eval(t testing.TB, v graph.Value) []byte { return EvalAll(t, Graph{Roots: []graph.Value{v}})[0] }

// EvalAll returns the elements of the roots of g in row-major order.
func EvalAll(t testing.TB, g Graph) [][]byte {
	e := &naive{t: t, inputs: g.Inputs, done: make(map[graph.Value][]byte)}
	out := make([][]byte, len(g.Roots))
	for i, r := range g.Roots {
		out[i] = e.eval(r)
	}
	return out
}

// naive evaluates a graph the obvious way: every node into fresh dense
// memory, views by copying element after element, nothing ever reused.
type naive struct {
	t      testing.TB
	inputs map[string]graph.Leaf
	done   map[graph.Value][]byte
}

func (e *naive) eval(v graph.Value) []byte {
	if data, ok := e.done[v]; ok {
		return data
	}
	n := v.Node()
	leaf := n.Leaf()
	if in, ok := n.Op().(graph.Input); ok {
		bound := e.inputs[in.Key]
		leaf = &bound
	}
	if leaf != nil {
		e.done[v] = Flatten(v.Type(), leaf.Layout, leaf.Data)
		return e.done[v]
	}
	ins := make([]*kernel.Operand, n.NumInputs())
	inTypes := make([]graph.Type, n.NumInputs())
	for i := range ins {
		if n.Input(i).IsZero() {
			continue
		}
		data := e.eval(n.Input(i))
		inTypes[i] = n.Input(i).Type()
		ins[i] = dense(inTypes[i], data)
	}
	switch o := n.Op().(type) {
	case graph.Identity, graph.Contiguous, graph.Cache:
		e.done[v] = ins[0].Data
		return ins[0].Data
	case graph.Viewer:
		layout, ok := o.View(shape.Dense(inTypes[0].Shape))
		if !ok {
			e.t.Fatalf("%v has no view of dense storage", n)
		}
		e.done[v] = Flatten(v.Type(), layout, ins[0].Data)
		return e.done[v]
	}
	outs := make([]*kernel.Operand, n.NumOutputs())
	outTypes := make([]graph.Type, n.NumOutputs())
	for i := range outs {
		outTypes[i] = n.Output(i).Type()
		outs[i] = dense(outTypes[i], kernel.Alloc(outTypes[i].Bytes()))
		e.done[n.Output(i)] = outs[i].Data
	}
	k, err := op.KernelOf(n.Op(), inTypes, outTypes)
	if err != nil {
		e.t.Fatal(err)
	}
	k.Bind(ins, outs)
	scratch := kernel.Alloc(k.Scratch())
	for task := range k.Tasks() {
		if err := k.Run(task, scratch); err != nil {
			e.t.Fatalf("%v: %v", n, err)
		}
	}
	return e.done[v]
}

func dense(t graph.Type, data []byte) *kernel.Operand {
	l := shape.Dense(t.Shape)
	return &kernel.Operand{DType: t.DType, Shape: l.Shape, Strides: l.Strides, Data: data}
}

// Flatten copies the elements of a layout in row-major order.
func Flatten(t graph.Type, l shape.Layout, data []byte) []byte {
	size := t.DType.Size()
	out := kernel.Alloc(t.Bytes())
	index := make([]int, len(l.Shape))
	for i := range l.Shape.Elems() {
		for a, rest := len(index)-1, i; a >= 0; a-- {
			index[a] = rest % l.Shape[a]
			rest /= l.Shape[a]
		}
		copy(out[i*size:(i+1)*size], data[l.At(index...)*size:])
	}
	return out
}
