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

// TestOverwriteBesideAtAnyExtent adds some elements to the same in reverse. At
// the largest extent there is one element, so that both operands lie alike, and
// at others there are more. The sum may not be written over the elements.
func TestOverwriteBesideAtAnyExtent(t *testing.T) {
	const most, step = 3, 2000
	at := func(p extent.Point) (graphtest.Graph, error) {
		some := step*(most-p[0])*(most-p[0]) + 1
		g := graphtest.Graph{Inputs: make(map[string]graph.Leaf)}
		input := func(key string, n int) graph.Value {
			typ := graph.Type{DType: dtype.Int32, Shape: shape.Shape{n}}
			data := kernel.Alloc(typ.Bytes())
			for i, d := 0, kernel.Cast[int32](data); i < n; i++ {
				d[i] = int32(i)
			}
			g.Inputs[key] = graph.Leaf{Layout: shape.Dense(typ.Shape), Data: data}
			in, err := graph.NewInput(key, typ)
			if err != nil {
				t.Fatal(err)
			}
			return in.Output(0)
		}
		one := func(v graph.Value, err error) graph.Value {
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		rows, all := input("rows", p[0]), input("all", 4*step*most*most+1)
		v := one(elementwise.Apply(elementwise.Neg, nil, one(ops.One(view.SliceView{N: some, Step: 1}, all))))
		reversed := one(ops.One(view.SliceView{Start: some - 1, N: some, Step: -1}, v))
		g.Roots = []graph.Value{
			one(elementwise.Apply(elementwise.Abs, nil, rows)),
			one(elementwise.Apply(elementwise.Add, nil, v, reversed)),
		}
		return g, nil
	}
	for _, alone := range []bool{false, true} {
		run(t, "reversed", family{[]extent.Dim{{Name: "n", Min: 1, Max: most}}, at}, compile.Options{NoSharing: alone}, 1,
			extent.Point{most}, extent.Point{1}, extent.Point{2}, extent.Point{most})
	}
}
