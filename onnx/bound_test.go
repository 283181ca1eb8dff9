package onnx_test

import (
	"context"
	"fmt"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
)

// A bound is an instance of a program with the buffers of its runs.
type bound struct {
	inst    *berth.Instance
	in, out berth.Values
	read    map[string]func() (*berth.Tensor, error)
}

// bind makes an instance of p for runs with the given inputs, and buffers for the
// outputs. Inputs that p does not have are left out.
func bind(p *berth.Program, inputs map[string]*berth.Tensor, opt *berth.InstanceOptions) (*bound, error) {
	b := &bound{in: berth.Values{}, out: berth.Values{}, read: make(map[string]func() (*berth.Tensor, error))}
	given := make(map[string]*berth.Tensor)
	for _, port := range p.Inputs() {
		t := inputs[port.Name]
		if t == nil {
			return nil, fmt.Errorf("input %q is not given", port.Name)
		}
		b.in[port.Name], given[port.Name] = t, t
	}
	extents, err := p.ExtentsOf(given)
	if err != nil {
		return nil, err
	}
	for _, port := range p.Outputs() {
		dims, err := p.OutputDims(port.Name, extents)
		if err != nil {
			return nil, err
		}
		makeBuffer, ok := buffers[port.DType]
		if !ok {
			return nil, fmt.Errorf("output %q is of type %v, of which there is no slice", port.Name, port.DType)
		}
		b.out[port.Name], b.read[port.Name] = makeBuffer(dims)
	}
	inst, err := p.NewInstance(opt)
	b.inst = inst
	return b, err
}

// run runs the instance once and allocates nothing.
func (b *bound) run(ctx context.Context) error { return b.inst.Run(ctx, b.in, b.out) }

// results returns a copy of the outputs as they are after the last run.
func (b *bound) results() (map[string]*berth.Tensor, error) {
	results := make(map[string]*berth.Tensor, len(b.read))
	for name, read := range b.read {
		t, err := read()
		if err != nil {
			return nil, fmt.Errorf("output %q: %w", name, err)
		}
		results[name] = t
	}
	return results, nil
}

// close ends the workers of the instance.
func (b *bound) close() { b.inst.Close() }

// buffers makes, for each element type, a slice for a shape and the function
// that returns a tensor of what it holds.
var buffers = map[dtype.Type]func(dims []int) (any, func() (*berth.Tensor, error)){
	dtype.Bool:     bufferOf[bool],
	dtype.Int8:     bufferOf[int8],
	dtype.Int16:    bufferOf[int16],
	dtype.Int32:    bufferOf[int32],
	dtype.Int64:    bufferOf[int64],
	dtype.Uint8:    bufferOf[uint8],
	dtype.Uint16:   bufferOf[uint16],
	dtype.Uint32:   bufferOf[uint32],
	dtype.Uint64:   bufferOf[uint64],
	dtype.Float16:  bufferOf[dtype.F16],
	dtype.BFloat16: bufferOf[dtype.BF16],
	dtype.Float32:  bufferOf[float32],
	dtype.Float64:  bufferOf[float64],
}

func bufferOf[T berth.Element](dims []int) (any, func() (*berth.Tensor, error)) {
	n := 1
	for _, d := range dims {
		n *= d
	}
	data := make([]T, n)
	return data, func() (*berth.Tensor, error) { return berth.FromSlice(data, dims...) }
}

// identical returns how got differs from want in element type, in shape or in
// any bit of an element.
func identical(got, want *berth.Tensor) error {
	if berth.Equal(got, want) {
		return nil
	}
	if err := berth.Close(got, want, 0, 0); err != nil {
		return err
	}
	return fmt.Errorf("elements of %v%v are equal as numbers and have other bits", want.DType(), want.Shape())
}
