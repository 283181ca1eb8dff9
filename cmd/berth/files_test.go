package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/digits"
)

// writeFiles makes what the scripts work with:
//
//	digits.onnx, images.npy  the model of the digits and its images
//	relu.onnx, wide.onnx     y = relu(x), x is float [n 3] or [n m]
//	x.npy, x64.npy           [-1 2 -3; 4 -5 6], as float32 and float64
//	shift.onnx               y = x + w, w is an input and [10 20 30] otherwise
//	w.npy                    [1 2 3]
//	reshape.onnx             y = reshape(x, shape), shape is an input
//	shape.npy                [3 2]
//	tests/pass, tests/fail   backend tests of relu.onnx, one with a wrong output
//	tests/skip               a backend test of an operator that nobody has
func writeFiles(dir string) error {
	files := map[string][]byte{}
	for _, name := range []string{digits.ModelFile, digits.ImagesFile} {
		data, err := fs.ReadFile(digits.Files(), name)
		if err != nil {
			return err
		}
		files[filepath.Base(name)] = data
	}
	floats := []float32{-1, 2, -3, 4, -5, 6}
	x, err := berth.FromSlice(floats, 2, 3)
	if err != nil {
		return err
	}
	y, err := berth.FromSlice([]float32{0, 2, 0, 4, 0, 6}, 2, 3)
	if err != nil {
		return err
	}
	wrong, err := berth.FromSlice([]float32{0, 2, 0, 4.5, 0, 6}, 2, 3)
	if err != nil {
		return err
	}
	x64, err := berth.FromSlice([]float64{-1, 2, -3, 4, -5, 6}, 2, 3)
	if err != nil {
		return err
	}
	shape, err := berth.FromSlice([]int64{3, 2}, 2)
	if err != nil {
		return err
	}
	w, err := berth.FromSlice([]float32{1, 2, 3}, 3)
	if err != nil {
		return err
	}
	tens, err := berth.FromSlice([]float32{10, 20, 30}, 3)
	if err != nil {
		return err
	}
	for name, t := range map[string]*berth.Tensor{"x.npy": x, "x64.npy": x64, "shape.npy": shape, "w.npy": w} {
		var b bytes.Buffer
		if err := t.WriteNPY(&b); err != nil {
			return err
		}
		files[name] = b.Bytes()
	}
	matrix := []any{"n", 3}
	relu := model(node("Relu", "x", "y"), port{"x", 1, matrix}, port{"y", 1, matrix})
	files["relu.onnx"] = relu
	grid := []any{"n", "m"}
	files["wide.onnx"] = model(node("Relu", "x", "y"), port{"x", 1, grid}, port{"y", 1, grid})
	initializer := text(nil, 5, string(tensorProto("w", tens)))
	files["shift.onnx"] = modelWith(initializer, node("Add", "x,w", "y"), port{"x", 1, matrix}, port{"w", 1, []any{3}}, port{"y", 1, matrix})
	files["reshape.onnx"] = model(node("Reshape", "x,shape", "y"), port{"x", 1, matrix}, port{"shape", 7, []any{2}}, port{"y", 1, []any{"a", "b"}})
	for name, output := range map[string]*berth.Tensor{"pass": y, "fail": wrong, "skip": y} {
		files["tests/"+name+"/model.onnx"] = relu
		if name == "skip" {
			files["tests/"+name+"/model.onnx"] = model(node("NobodyHasThis", "x", "y"), port{"x", 1, matrix}, port{"y", 1, matrix})
		}
		files["tests/"+name+"/test_data_set_0/input_0.pb"] = tensorProto("x", x)
		files["tests/"+name+"/test_data_set_0/output_0.pb"] = tensorProto("y", output)
	}
	for name, data := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(file, data, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// The encoders below write the few fields of an ONNX file that these models
// have, by their numbers in onnx.proto.

// port is an input or output; the last one of a model is its output. Extents
// are ints or names.
type port struct {
	name    string
	elem    uint64
	extents []any
}

func number(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

func text(b []byte, field protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
}

func node(op, inputs, outputs string) []byte {
	var b []byte
	for _, name := range bytes.Split([]byte(inputs), []byte(",")) {
		b = text(b, 1, string(name))
	}
	return text(text(b, 2, outputs), 4, op)
}

func (p port) encode() string {
	var dims []byte
	for _, e := range p.extents {
		switch e := e.(type) {
		case int:
			dims = text(dims, 1, string(number(nil, 1, uint64(e))))
		case string:
			dims = text(dims, 1, string(text(nil, 2, e)))
		}
	}
	tensor := text(number(nil, 1, p.elem), 2, string(dims))
	return string(text(text(nil, 1, p.name), 2, string(text(nil, 1, string(tensor)))))
}

func model(node []byte, ports ...port) []byte { return modelWith(nil, node, ports...) }

// modelWith is model with initializers, encoded as fields of a graph.
func modelWith(initializers, node []byte, ports ...port) []byte {
	graph := text(text(initializers, 1, string(node)), 2, "main")
	last := len(ports) - 1
	for _, p := range ports[:last] {
		graph = text(graph, 11, p.encode())
	}
	graph = text(graph, 12, ports[last].encode())
	b := number(nil, 1, 8)
	b = text(b, 7, string(graph))
	return text(b, 8, string(number(text(nil, 1, ""), 2, 17)))
}

func tensorProto(name string, t *berth.Tensor) []byte {
	var b []byte
	for _, d := range t.Shape() {
		b = number(b, 1, uint64(d))
	}
	if t.DType() != berth.Float32 || !t.IsDense() {
		panic(fmt.Sprintf("%s is %v%v", name, t.DType(), t.Shape()))
	}
	b = text(number(b, 2, 1), 8, name)
	return text(b, 9, string(slices.Clone(t.Leaf().Data)))
}
