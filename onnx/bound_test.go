package onnx

import (
	"bytes"
	"context"
	encoding "encoding/binary" // package onnx has a binary of its own
	"fmt"
	"reflect"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/shape"
)

// A Bound is an instance of a program with the buffers of its runs.
type Bound struct {
	program *berth.Program
	extents berth.Extents
	inst    *berth.Instance
	in, out berth.Values
}

// Bind makes an instance of p for runs with the given inputs, and buffers for the
// outputs. Inputs that p does not have are left out.
func Bind(p *berth.Program, inputs map[string]*berth.Tensor, opt *berth.InstanceOptions) (*Bound, error) {
	b := &Bound{program: p, in: berth.Values{}, out: berth.Values{}}
	given := make(map[string]*berth.Tensor)
	for _, port := range p.Inputs() {
		t := inputs[port.Name]
		if t == nil {
			return nil, fmt.Errorf("input %q is not given", port.Name)
		}
		b.in[port.Name], given[port.Name] = t, t
	}
	var err error
	if b.extents, err = p.ExtentsOf(given); err != nil {
		return nil, err
	}
	for _, port := range p.Outputs() {
		if b.out[port.Name], err = p.NewBuffer(port.Name); err != nil {
			return nil, err
		}
	}
	b.inst, err = p.NewInstance(opt)
	return b, err
}

// Run runs the instance once and allocates nothing.
func (b *Bound) Run(ctx context.Context) error { return b.inst.Run(ctx, b.in, b.out) }

// Results returns a copy of the outputs as they are after the last run.
func (b *Bound) Results() (map[string]*berth.Tensor, error) {
	results := make(map[string]*berth.Tensor, len(b.out))
	for _, port := range b.program.Outputs() {
		dims, err := b.program.OutputDims(port.Name, b.extents)
		if err != nil {
			return nil, err
		}
		if results[port.Name], err = written(port.DType, b.out[port.Name], dims); err != nil {
			return nil, fmt.Errorf("output %q: %w", port.Name, err)
		}
	}
	return results, nil
}

// written returns a copy of the elements that a run has written to a buffer.
func written(t berth.DType, buffer any, dims shape.Shape) (*berth.Tensor, error) {
	var data bytes.Buffer
	err := encoding.Write(&data, encoding.LittleEndian, reflect.ValueOf(buffer).Slice(0, dims.Elems()).Interface())
	if err != nil {
		return nil, err
	}
	aligned := kernel.Alloc(data.Len())
	copy(aligned, data.Bytes())
	return inside.Tensor(graph.Type{DType: t, Shape: dims}, graph.Leaf{Layout: shape.Dense(dims), Data: aligned})
}

// Close ends the workers of the instance.
func (b *Bound) Close() { b.inst.Close() }
