package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/berth-go/berth/internal/wire"
)

// decodeModel reads the weights and the stored measurement back from a model that encodeModel
// wrote. It reads no other model: the graph itself is taken to be the network of this program.
func decodeModel(file []byte) (w *weights, accuracy string, err error) {
	m, err := wire.DecodeModel(file, nil)
	if err != nil {
		return nil, "", err
	}
	for _, e := range m.Metadata {
		if e.Key == metaAccuracy {
			accuracy = e.Value
		}
	}
	w = newWeights()
	windows := w.windows()
	missing := parameters()
	for i := range m.Graph.Initializers {
		t := &m.Graph.Initializers[i]
		at := slices.IndexFunc(parameters(), func(p parameter) bool { return p.name == t.Name })
		if at < 0 {
			return nil, "", fmt.Errorf("tensor %q is not of this network", t.Name)
		}
		if err := decodeTensor(t, parameters()[at], *windows[at]); err != nil {
			return nil, "", err
		}
		missing = slices.DeleteFunc(missing, func(p parameter) bool { return p.name == t.Name })
	}
	if len(missing) > 0 {
		return nil, "", fmt.Errorf("tensor %q is missing", missing[0].name)
	}
	return w, accuracy, nil
}

// decodeTensor writes the elements of t, which has to be the parameter p, to values.
func decodeTensor(t *wire.Tensor, p parameter, values []float32) error {
	if t.DataType != wire.Float {
		return fmt.Errorf("tensor %q holds %v, want %v", t.Name, t.DataType, wire.Float)
	}
	if !slices.EqualFunc(t.Dims, p.shape, func(a int64, b int) bool { return a == int64(b) }) {
		return fmt.Errorf("tensor %q has shape %v, want %v", t.Name, t.Dims, p.shape)
	}
	data, err := t.Bytes()
	if err != nil {
		return err
	}
	for i := range values {
		values[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return nil
}
