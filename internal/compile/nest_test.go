package compile_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/compile"
	"github.com/berth-go/berth/internal/extent"
	"github.com/berth-go/berth/internal/graphtest"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/internal/op/norm"
	"github.com/berth-go/berth/internal/op/ops"
	"github.com/berth-go/berth/internal/op/reduce"
	"github.com/berth-go/berth/internal/op/view"
	"github.com/berth-go/berth/shape"
)

// TestFlatDenseBlock concatenates in each layer everything that came before, as
// exported DenseNets do: no concatenation moves a byte.
func TestFlatDenseBlock(t *testing.T) {
	for _, rows := range []int{1, 5} {
		typ := graph.Type{DType: dtype.Float32, Shape: shape.Shape{rows, 4, 3, 3}}
		in, err := graph.NewInput("x", typ)
		if err != nil {
			t.Fatal(err)
		}
		value := func(v graph.Value, err error) graph.Value {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		features := []graph.Value{value(elementwise.Apply(elementwise.Abs, nil, in.Output(0)))}
		for range 5 {
			all := features[0]
			if len(features) > 1 {
				all = value(ops.One(move.Concat{Axis: 1}, features...))
			}
			features = append(features, value(ops.One(norm.Softmax{Axis: -1}, value(ops.One(reduce.Reduce{Kind: reduce.Max, Axes: []int{1}, KeepDims: true}, all)))))
		}
		last := value(ops.One(move.Concat{Axis: 1}, features...))
		g := graphtest.Graph{Roots: []graph.Value{value(elementwise.Apply(elementwise.Neg, nil, last))}, Inputs: make(map[string]graph.Leaf), Rows: rows}
		data := kernel.Alloc(typ.Bytes())
		rng := rand.New(rand.NewPCG(1, 2))
		for i, f := 0, kernel.Cast[float32](data); i < len(f); i++ {
			f[i] = float32(rng.IntN(100))
		}
		g.Inputs["x"] = graph.Leaf{Layout: shape.Dense(typ.Shape), Data: data}
		p := run(t, fmt.Sprint(rows, " rows"), byRows(g, rows), compile.Options{}, 2, extent.Point{rows}, extent.Point{1})
		for _, s := range p.Steps {
			if s.Moves {
				t.Errorf("%d rows: step %d, %s, moves %v", rows, s.Index, s.Op.Name(), s.Out[0].Type)
			}
		}
	}
}

// TestSliceOfRows takes all rows but the first: none of a run of one.
func TestSliceOfRows(t *testing.T) {
	at := func(p extent.Point) (graphtest.Graph, error) {
		typ := graph.Type{DType: dtype.Int32, Shape: shape.Shape{p[0], 2}}
		in, err := graph.NewInput("x", typ)
		if err != nil {
			return graphtest.Graph{}, err
		}
		data := kernel.Alloc(typ.Bytes())
		for i, n := 0, kernel.Cast[int32](data); i < len(n); i++ {
			n[i] = int32(i)
		}
		roots, err := sliced(in.Output(0), p[0])
		return graphtest.Graph{Roots: roots, Inputs: map[string]graph.Leaf{"x": {Layout: shape.Dense(typ.Shape), Data: data}}}, err
	}
	f := family{[]extent.Dim{{Name: "rows", Min: 1, Max: 6}}, at}
	run(t, "slice", f, compile.Options{}, 1, extent.Point{6}, extent.Point{1}, extent.Point{2})
}

func sliced(x graph.Value, rows int) ([]graph.Value, error) {
	v, err := ops.One(view.SliceView{Axis: 0, Start: 1, N: rows - 1, Step: 1}, x)
	if err != nil {
		return nil, err
	}
	v, err = elementwise.Apply(elementwise.Neg, nil, v)
	return []graph.Value{v}, err
}

// sideBySide is a concatenation that the package does not know by its type.
type sideBySide struct{ move.Concat }

// TestJoiner: inputs of any joiner are written straight into their part.
func TestJoiner(t *testing.T) {
	in, err := graph.NewInput("x", graph.Type{DType: dtype.Float32, Shape: shape.Shape{2, 3}})
	if err != nil {
		t.Fatal(err)
	}
	value := func(v graph.Value, err error) graph.Value {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	parts := []graph.Value{value(ops.One(norm.Softmax{Axis: 1}, in.Output(0))), value(ops.One(norm.Hardmax{Axis: 1}, in.Output(0)))}
	joined := value(ops.One(sideBySide{move.Concat{Axis: -1}}, parts...))
	g := graphtest.Graph{Roots: []graph.Value{value(elementwise.Apply(elementwise.Neg, nil, joined))}, Inputs: make(map[string]graph.Leaf), Rows: 2}
	g.Inputs["x"] = graph.Leaf{Layout: shape.Dense(shape.Shape{2, 3}), Data: kernel.Bytes([]float32{1, 2, 3, 6, 5, 4})}
	p := run(t, "side by side", byRows(g, 2), compile.Options{}, 1, extent.Point{2})
	for _, s := range p.Steps {
		if s.Moves {
			t.Errorf("step %d, %s, moves %v", s.Index, s.Op.Name(), s.Out[0].Type)
		}
	}
}
