package onnx

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/wire"
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
		if !errors.Is(err, ErrNeedsData) && !errors.Is(err, ErrHost) {
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
	b, err := Bind(p, inputs, &berth.InstanceOptions{Poison: true})
	if err != nil {
		t.Errorf("as a program: %v", err)
		return
	}
	defer b.Close()
	err = b.Run(context.Background())
	var got map[string]*berth.Tensor
	if err == nil {
		got, err = b.Results()
	}
	if err != nil {
		t.Errorf("as a program: %v", err)
		return
	}
	for i, want := range c.want {
		if want == nil {
			continue
		}
		if err := sameTensor(got[fmt.Sprint("y", i)], want); err != nil {
			t.Errorf("as a program: output %d: %v", i, err)
		}
	}
}

// TestRowsOfNodes compiles nodes whose first axis is the rows, and runs each
// program with fewer rows than it is planned for.
func TestRowsOfNodes(t *testing.T) {
	const most = 4
	rng := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct {
		what  string
		op    string
		opset int64
		attrs []wire.Attribute
		dims  [][]int // of the inputs; extent 0 is the rows
		outs  int
	}{
		{"from axis 1 on", "Softmax", 1, nil, [][]int{{0, 2, 3}}, 1},
		{"the last axis", "LogSoftmax", 13, nil, [][]int{{0, 2, 3}}, 1},
		{"an operand of rows", "Add", 6, attrs(attrInt("broadcast", 1), attrInt("axis", 0)), [][]int{{0, 3}, {0}}, 1},
		{"both broadcast", "Mul", 7, nil, [][]int{{0, 3}, {0, 1}}, 1},
		{"a weight", "Sub", 7, nil, [][]int{{0, 3}, {1, 3}}, 1},
		{"a mask", "Dropout", 7, nil, [][]int{{0, 3}}, 2},
		{"rows kept", "ReduceL2", 13, attrs(attrInts("axes", 1)), [][]int{{0, 3, 2}}, 1},
		{"indices", "ArgMax", 13, attrs(attrInt("axis", -1)), [][]int{{0, 5}}, 1},
		{"slopes", "PRelu", 6, nil, [][]int{{0, 3, 2}, {3}}, 1},
		{"given statistics", "BatchNormalization", 7, attrs(attrInt("spatial", 0)), [][]int{{0, 2, 3}, {2, 3}, {2, 3}, {2, 3}, {2, 3}}, 1},
		{"", "InstanceNormalization", 6, nil, [][]int{{0, 2, 5}, {2}, {2}}, 1},
		{"", "GroupNormalization", 21, attrs(attrInt("num_groups", 2)), [][]int{{0, 4, 3}, {4}, {4}}, 1},
		{"", "LayerNormalization", 17, nil, [][]int{{0, 4, 3}, {3}, {3}}, 3},
		{"", "LRN", 1, attrs(attrInt("size", 3)), [][]int{{0, 4, 3}}, 1},
	} {
		t.Run(fmt.Sprintf("%s-%d/%s", c.op, c.opset, c.what), func(t *testing.T) {
			node := wire.Node{OpType: c.op, Attributes: c.attrs}
			g := wire.Graph{Name: "rows"}
			for i, dims := range c.dims {
				tensor := &wire.TensorType{Elem: wire.Float, Shape: &wire.Shape{}}
				info := wire.ValueInfo{Name: fmt.Sprint("x", i), Type: &wire.Type{Tensor: tensor}}
				for _, d := range dims {
					tensor.Shape.Dims = append(tensor.Shape.Dims, wire.Dim{HasValue: d > 0, Value: int64(d), Param: map[bool]string{true: "n"}[d == 0]})
				}
				g.Inputs = append(g.Inputs, info)
				node.Inputs = append(node.Inputs, info.Name)
			}
			for i := range c.outs {
				g.Outputs = append(g.Outputs, wire.ValueInfo{Name: fmt.Sprint("y", i)})
				node.Outputs = append(node.Outputs, fmt.Sprint("y", i))
			}
			g.Nodes = []wire.Node{node}
			m, err := Parse(wire.AppendModel(nil, &wire.Model{IRVersion: 8, OpsetImports: []wire.OperatorSet{{Version: c.opset}}, Graph: &g}))
			if err != nil {
				t.Fatal(err)
			}
			p, err := m.Compile(context.Background(), &Options{Rows: most})
			if err != nil {
				t.Fatal(err)
			}
			dims := p.Dims()
			if len(dims) != 1 || dims[0].Max != most {
				t.Fatalf("the program has the dimensions %v, want %d rows", dims, most)
			}
			inst, err := p.NewInstance(&berth.InstanceOptions{Poison: true})
			if err != nil {
				t.Fatal(err)
			}
			defer inst.Close()
			for rows := most; rows > 0; rows-- {
				inputs, in := make(map[string]*berth.Tensor), berth.Values{}
				for i, dims := range c.dims {
					x := positive(rng, dims, rows)
					inputs[fmt.Sprint("x", i)], in[fmt.Sprint("x", i)] = x, x
				}
				want, err := m.Run(context.Background(), inputs)
				if err != nil {
					t.Fatal(err)
				}
				out := berth.Values{}
				for name := range want {
					if out[name], err = p.NewBuffer(name); err != nil {
						t.Fatal(err)
					}
				}
				if err := inst.Run(context.Background(), in, out); err != nil {
					t.Fatal(err)
				}
				for name, x := range want {
					dims, err := p.OutputDims(name, berth.Extents{dims[0].Name: rows})
					if err != nil {
						t.Fatal(err)
					}
					got, err := written(x.DType(), out[name], dims)
					if err != nil {
						t.Fatal(err)
					}
					if err := sameTensor(got, x); err != nil {
						t.Errorf("%d rows, %s: %v", rows, name, err)
					}
				}
			}
		})
	}
}

// positive returns random numbers above 0, fit for a variance too.
func positive(rng *rand.Rand, dims []int, rows int) *berth.Tensor {
	shape, n := make([]int, len(dims)), 1
	for i, d := range dims {
		if shape[i] = d; d == 0 {
			shape[i] = rows
		}
		n *= shape[i]
	}
	data := make([]float64, n)
	for i := range data {
		data[i] = 0.1 + rng.Float64()
	}
	return tensorOf(dtype.Float32, data, shape...)
}
