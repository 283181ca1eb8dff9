package onnx

import (
	"errors"
	"fmt"
	"maps"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/intern"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/wire"
)

// Weights returns the tensors that the file gives names to: the initializers of its
// graph.
func (m *Model) Weights() []ValueInfo {
	if m == nil || m.body == nil {
		return nil
	}
	list := make([]ValueInfo, len(m.body.initializers))
	for i, t := range m.body.initializers {
		dims, _ := dimsOf(t) // as resolver.weight has checked
		list[i] = ValueInfo{Name: t.Name, DType: elementTypes[t.DataType], TypeName: t.DataType.String(), Dims: []Dim{}}
		for _, n := range dims {
			list[i].Dims = append(list[i].Dims, Dim{Size: n})
		}
	}
	return list
}

// WithWeights returns a model like m with other weights, by name: those of another
// training run, such as [berth.ReadSafetensors] reads. Each must have the type
// and shape of the weight whose place it takes, which cannot be one of strings. The two models share all else; m
// must stay open for as long as either is in use, and closing the new one does
// nothing.
func (m *Model) WithWeights(weights map[string]*berth.Tensor) (*Model, error) {
	if m == nil || m.wire == nil {
		return nil, errors.New("onnx: the model is nil or the zero Model, which has no weights")
	}
	known := make(map[string]ValueInfo)
	for _, w := range m.Weights() {
		known[w.Name] = w
	}
	replaced := maps.Clone(m.weights)
	var errs []error
	for _, name := range sortedKeys(weights) {
		w, ok := known[name]
		if !ok {
			errs = append(errs, matching{fmt.Errorf("weight %q: the model has none of that name", name), ErrName})
			continue
		}
		t := weights[name]
		if t == nil {
			errs = append(errs, fmt.Errorf("weight %v is given a nil tensor", w))
			continue
		}
		if !w.fits(t.Shape()) || w.DType != t.DType() {
			errs = append(errs, fmt.Errorf("weight %v is given %v%v", w, t.DType(), t.Shape()))
			continue
		}
		v, err := inside.Value(t.Promise())
		if err != nil {
			errs = append(errs, err)
			continue
		}
		leaf := v.Node().Leaf()
		replaced[m.body.initial[name]] = kernel.Compact(leaf.Data, leaf.Layout, t.DType().Size())
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("onnx: %s: %w", m.name, err)
	}
	return &Model{
		name: m.name, wire: m.wire, body: m.body, opsets: m.opsets, weights: replaced,
		leaves: intern.New[*wire.Tensor, graph.Node](), texts: m.texts,
	}, nil
}
