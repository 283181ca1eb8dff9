package compile_test

import (
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/compile"
	"github.com/berth-go/berth/internal/extent"
	"github.com/berth-go/berth/internal/graphtest"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/ops"
	"github.com/berth-go/berth/internal/op/view"
	"github.com/berth-go/berth/shape"
)

// TestOverwriteBesideAtAnyRows adds some elements to the same in reverse. With
// the most rows there is one element, so that both operands lie alike, and with
// fewer there are more. The sum may not be written over the elements.
func TestOverwriteBesideAtAnyRows(t *testing.T) {
	const most, all = 3, 1000*9 + 1
	must := func(v graph.Value, err error) graph.Value {
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	at := func(p extent.Point) (graphtest.Graph, error) {
		rows := p[0]
		g := graphtest.Graph{Inputs: make(map[string]graph.Leaf)}
		input := func(key string, n int) graph.Value {
			data := kernel.Alloc(4 * n)
			for i, d := 0, kernel.Cast[int32](data); i < n; i++ {
				d[i] = int32(3 + i)
			}
			g.Inputs[key] = graph.Leaf{Layout: shape.Dense(shape.Shape{n}), Data: data}
			in, err := graph.NewInput(key, graph.Type{DType: dtype.Int32, Shape: shape.Shape{n}})
			if err != nil {
				t.Fatal(err)
			}
			return in.Output(0)
		}
		some := 1000*(rows-most)*(rows-most) + 1
		x, z := input("x", rows), input("z", all)
		v := must(elementwise.Apply(elementwise.Neg, nil, must(ops.One(view.SliceView{N: some, Step: 1}, z))))
		reversed := must(ops.One(view.SliceView{Start: some - 1, N: some, Step: -1}, v))
		g.Roots = []graph.Value{must(elementwise.Apply(elementwise.Abs, nil, x)), must(elementwise.Apply(elementwise.Add, nil, v, reversed))}
		return g, nil
	}
	f := family{[]extent.Dim{{Name: "rows", Min: 1, Max: most}}, at}
	for _, alone := range []bool{false, true} {
		run(t, "reversed", f, compile.Options{NoSharing: alone}, 1, extent.Point{most}, extent.Point{1}, extent.Point{2}, extent.Point{most})
	}
}
