package main

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/digits"
	"github.com/berth-go/berth/internal/wire"
)

// writeFiles makes what the scripts work with:
//
//	digits.onnx, images.npy  the model of the digits and its images
//	relu.onnx, wide.onnx     y = relu(x), x is float [n 3] or [n m]
//	x.npy, x64.npy           [-1 2 -3; 4 -5 6], as float32 and float64
//	shift.onnx               y = x + w, w is an input and [10 20 30] otherwise
//	w.npy, rate.npy          [1 2 3], [0.5]
//	w.safetensors            w is [100 200 300], unused is nothing
//	odd.onnx                 a function, metadata, operators that nobody has
//	rate.onnx                y = x + rate, which is a scalar
//	pair.onnx, same.onnx     y = the sequence of x and x, y = the sequence x
//	find.onnx                y = the squares, summed, of sigmoid(a'a) where x is not 0, a = softmax(x)
//	loose.onnx               relu.onnx for x with two extents that have no name
//	reshape.onnx             y = reshape(x, shape), shape is an input
//	shape.npy                [3 2]
//	tests/pass, tests/fail   backend tests of relu.onnx, one with a wrong output
//	sets/find                x.npy for find.onnx
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
	x := []float32{-1, 2, -3, 4, -5, 6}
	files["x.npy"] = npy(x, 2, 3)
	files["x64.npy"] = npy([]float64{-1, 2, -3, 4, -5, 6}, 2, 3)
	files["shape.npy"] = npy([]int64{3, 2}, 2)
	files["w.npy"] = npy([]float32{1, 2, 3}, 3)

	header := `{"w":{"dtype":"F32","shape":[3],"data_offsets":[0,12]},"unused":{"dtype":"U8","shape":[0],"data_offsets":[12,12]}}`
	weights := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	files["w.safetensors"], _ = binary.Append(append(weights, header...), binary.LittleEndian, []float32{100, 200, 300})

	matrix := value("x", wire.Float, "n", 3)
	relu := model(node("Relu", "x"), value("y", wire.Float, "n", 3), nil, matrix)
	files["relu.onnx"] = relu
	files["wide.onnx"] = model(node("Relu", "x"), value("y", wire.Float, "n", "m"), nil, value("x", wire.Float, "n", "m"))
	files["shift.onnx"] = model(node("Add", "x", "w"), value("y", wire.Float, "n", 3),
		[]wire.Tensor{floats("w", []float32{10, 20, 30}, 3)}, matrix, value("w", wire.Float, 3))
	files["reshape.onnx"] = model(node("Reshape", "x", "shape"), value("y", wire.Float, "a", "b"),
		nil, matrix, value("shape", wire.Int64, 2))

	files["rate.onnx"] = model(node("Add", "x", "rate"), value("y", wire.Float, "n", 3), nil, matrix, value("rate", wire.Float))
	files["rate.npy"] = npy([]float32{0.5}, 1)
	pair := wire.ValueInfo{Name: "y", Type: &wire.Type{Sequence: &wire.ContainerType{Elem: matrix.Type}}}
	files["pair.onnx"] = model(node("SequenceConstruct", "x", "x"), pair, nil, matrix)
	files["same.onnx"] = model(node("Identity", "x"), pair, nil, wire.ValueInfo{Name: "x", Type: pair.Type})
	two := func(op, in, also, out string) wire.Node {
		return wire.Node{OpType: op, Inputs: []string{in, also}, Outputs: []string{out}}
	}
	files["find.onnx"] = graph([]wire.Node{
		step("Softmax", "x", "a"), step("Transpose", "a", "turned"), two("MatMul", "turned", "a", "b"),
		step("NonZero", "x", "found"), step("Transpose", "found", "places"),
		two("GatherND", "b", "places", "some"), step("Sigmoid", "some", "part"), two("MatMul", "part", "part", "y"),
	}, value("y", wire.Float), nil, matrix)
	found := floats("x", x, 2, 3)
	files["sets/find/input_0.pb"] = wire.AppendTensor(nil, &found)
	files["loose.onnx"] = model(node("Relu", "x"), value("y", wire.Float, "", ""), nil, value("x", wire.Float, "", ""))
	files["odd.onnx"] = odd(value("x", wire.Float, "n", 3))

	y := []float32{0, 2, 0, 4, 0, 6}
	for name, test := range map[string]struct {
		model  []byte
		output []float32
	}{
		"pass": {relu, y},
		"fail": {relu, []float32{0, 2, 0, 4.5, 0, 6}},
		"skip": {model(node("NobodyHasThis", "x"), value("y", wire.Float, "n", 3), nil, matrix), y},
	} {
		in, out := floats("x", x, 2, 3), floats("y", test.output, 2, 3)
		files["tests/"+name+"/model.onnx"] = test.model
		files["tests/"+name+"/test_data_set_0/input_0.pb"] = wire.AppendTensor(nil, &in)
		files["tests/"+name+"/test_data_set_0/output_0.pb"] = wire.AppendTensor(nil, &out)
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

// npy returns a tensor as a NumPy file.
func npy[T berth.Element](data []T, dims ...int) []byte {
	t, err := berth.FromSlice(data, dims...)
	if err != nil {
		panic(err)
	}
	var b bytes.Buffer
	if err := t.WriteNPY(&b); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// node returns an operator with the output y.
func node(op string, inputs ...string) wire.Node {
	return wire.Node{OpType: op, Inputs: inputs, Outputs: []string{"y"}}
}

// value declares a tensor whose extents are numbers or names.
func value(name string, elem wire.DataType, extents ...any) wire.ValueInfo {
	shape := &wire.Shape{}
	for _, e := range extents {
		switch e := e.(type) {
		case int:
			shape.Dims = append(shape.Dims, wire.Dim{HasValue: true, Value: int64(e)})
		case string:
			shape.Dims = append(shape.Dims, wire.Dim{Param: e})
		}
	}
	return wire.ValueInfo{Name: name, Type: &wire.Type{Tensor: &wire.TensorType{Elem: elem, Shape: shape}}}
}

// step returns a node of one input and one output.
func step(op, in, out string) wire.Node {
	return wire.Node{OpType: op, Inputs: []string{in}, Outputs: []string{out}}
}

// model returns a model of one node as a file.
func model(n wire.Node, output wire.ValueInfo, weights []wire.Tensor, inputs ...wire.ValueInfo) []byte {
	return graph([]wire.Node{n}, output, weights, inputs...)
}

// graph returns a model as a file.
func graph(nodes []wire.Node, output wire.ValueInfo, weights []wire.Tensor, inputs ...wire.ValueInfo) []byte {
	return wire.AppendModel(nil, &wire.Model{
		IRVersion:    8,
		OpsetImports: []wire.OperatorSet{{Version: 17}},
		Graph: &wire.Graph{
			Name: "main", Nodes: nodes, Initializers: weights,
			Inputs: inputs, Outputs: []wire.ValueInfo{output},
		},
	})
}

// odd returns a model that says much of itself and cannot be run.
func odd(input wire.ValueInfo) []byte {
	call := func(in, out string) wire.Node {
		n := step("F", in, out)
		n.Domain = "local"
		return n
	}
	last := step("NorThis", "b", "y")
	last.Inputs = append(last.Inputs, "nothing")
	imports := []wire.OperatorSet{{Version: 17}}
	return wire.AppendModel(nil, &wire.Model{
		IRVersion: 8, OpsetImports: imports,
		ProducerName: "pytorch", ProducerVersion: "2.9", Domain: "com.example", ModelVersion: 3, DocString: "Reads\ntwo lines.",
		Metadata: []wire.Entry{{Key: "labels", Value: "cat,dog"}},
		Functions: []wire.Function{{
			Domain: "local", Name: "F", Inputs: []string{"p"}, Outputs: []string{"q"}, OpsetImports: imports,
			Nodes: []wire.Node{step("Neg", "p", "n"), step("NobodyHasThis", "n", "q")},
		}},
		Graph: &wire.Graph{
			Nodes:  []wire.Node{call("x", "a"), call("a", "b"), last},
			Inputs: []wire.ValueInfo{input}, Outputs: []wire.ValueInfo{{Name: "y"}},
		},
	})
}

func floats(name string, data []float32, dims ...int64) wire.Tensor {
	raw, _ := binary.Append(nil, binary.LittleEndian, data) // of a fixed size
	return wire.Tensor{Name: name, DataType: wire.Float, Dims: dims, Raw: raw}
}
