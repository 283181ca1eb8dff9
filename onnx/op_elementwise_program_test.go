package onnx

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
)

// compiled runs the model once more, as a compiled program, and compares the
// outputs with those wanted. Inputs on whose data a shape depends are pinned.
func (c nodeTest) compiled(t *testing.T, m *Model, inputs map[string]*berth.Tensor) {
	t.Helper()
	opt := &Options{RowDim: "-", Shapes: make(map[string][]int)}
	for name, x := range inputs {
		opt.Shapes[name] = x.Shape()
	}
	p, err := m.Compile(context.Background(), opt)
	for _, pinned := range []func(name string) bool{
		func(name string) bool { return name != "x0" },
		func(string) bool { return true },
	} {
		if !errors.Is(err, ErrNeedsData) {
			break
		}
		opt.Values = make(map[string]*berth.Tensor)
		for name, x := range inputs {
			if pinned(name) {
				opt.Values[name] = x
			}
		}
		p, err = m.Compile(context.Background(), opt)
	}
	if err != nil {
		t.Errorf("as a program: %v", err)
		return
	}
	inst, err := p.NewInstance(&berth.InstanceOptions{Poison: true})
	if err != nil {
		t.Errorf("as a program: %v", err)
		return
	}
	defer inst.Close()
	in, out, read := berth.Values{}, berth.Values{}, map[string]func() *berth.Tensor{}
	for _, port := range p.Inputs() {
		in[port.Name] = inputs[port.Name]
	}
	for _, port := range p.Outputs() {
		dims, err := p.OutputDims(port.Name, p.MaxRows())
		if err != nil {
			t.Errorf("as a program: %v", err)
			return
		}
		out[port.Name], read[port.Name] = buffers[port.DType](dims)
	}
	if err := inst.Run(context.Background(), in, out); err != nil {
		t.Errorf("as a program: %v", err)
		return
	}
	for i, want := range c.want {
		if want == nil {
			continue
		}
		if err := sameTensor(read[fmt.Sprint("y", i)](), want); err != nil {
			t.Errorf("as a program: output %d: %v", i, err)
		}
	}
}

// buffers makes the memory for an output of each type, and what reads it.
var buffers = map[dtype.Type]func(dims []int) (any, func() *berth.Tensor){
	dtype.Bool: bufferOf[bool],
	dtype.Int8: bufferOf[int8], dtype.Int16: bufferOf[int16], dtype.Int32: bufferOf[int32], dtype.Int64: bufferOf[int64],
	dtype.Uint8: bufferOf[uint8], dtype.Uint16: bufferOf[uint16], dtype.Uint32: bufferOf[uint32], dtype.Uint64: bufferOf[uint64],
	dtype.Float16: bufferOf[dtype.F16], dtype.BFloat16: bufferOf[dtype.BF16],
	dtype.Float32: bufferOf[float32], dtype.Float64: bufferOf[float64],
}

func bufferOf[T dtype.Element](dims []int) (any, func() *berth.Tensor) {
	n := 1
	for _, d := range dims {
		n *= d
	}
	data := make([]T, n)
	return data, func() *berth.Tensor {
		x, err := berth.FromSlice(data, dims...)
		if err != nil {
			panic(err)
		}
		return x
	}
}
