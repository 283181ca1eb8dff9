package main

import (
	"context"
	"fmt"

	"github.com/berth-go/berth/internal/wire"
	"github.com/berth-go/berth/onnx"
)

// runBerth returns the outputs of a model by name.
func runBerth(ctx context.Context, model []byte, inputs []wire.Tensor) (outputs map[string]*wire.Tensor, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	m, err := onnx.Parse(model)
	if err != nil {
		return nil, err
	}
	values := make(map[string]onnx.Value)
	for i := range inputs {
		t := &inputs[i]
		if values[t.Name], err = m.ReadInput(t.Name, wire.AppendTensor(nil, t)); err != nil {
			return nil, err
		}
	}
	got, err := m.RunValues(ctx, &onnx.SessionOptions{Workers: 1, Poison: true}, values)
	if err != nil {
		return nil, err
	}
	outputs = make(map[string]*wire.Tensor)
	for name, v := range got {
		data, err := m.AppendOutput(nil, name, v)
		if err != nil {
			return nil, err
		}
		if outputs[name], err = wire.DecodeTensor(data, nil); err != nil {
			return nil, err
		}
	}
	return outputs, nil
}
