package graphtest

import (
	"fmt"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/ops"
	"github.com/berth-go/berth/internal/op/reduce"
	"github.com/berth-go/berth/internal/op/tabular"
	"github.com/berth-go/berth/internal/op/view"
	"github.com/berth-go/berth/shape"
)

// table returns x, cast to float32 unless it is float64, if it has two axes.
func (b *builder) table(x graph.Value) (graph.Value, bool) {
	if x.Type().DType != dtype.Float64 {
		x = b.cast(x, dtype.Float32)
	}
	return x, len(x.Type().Shape) == 2
}

// constant returns a dense constant of any numbers, cast to type t.
func constant[T dtype.Element](b *builder, t dtype.Type, data []T, dims ...int) graph.Value {
	n, err := graph.NewConstant(graph.Type{DType: dtype.Of[T](), Shape: dims}, graph.Leaf{Layout: shape.Dense(dims), Data: kernel.Bytes(data)})
	if err != nil {
		b.t.Fatal(err)
	}
	return b.cast(n.Output(0), t)
}

// treeEnsemble draws a few small trees, some of which share parts.
func treeEnsemble(b *builder, x graph.Value) ([]graph.Value, error) {
	x, ok := b.table(x)
	if !ok || x.Type().Shape[1] == 0 {
		return nil, nil
	}
	features, targets := x.Type().Shape[1], 1+b.rng.IntN(3)
	f := tabular.Forest{Nodes: make([]tabular.Node, 2+b.rng.IntN(12))}
	for i := range f.Nodes {
		n := &f.Nodes[i]
		behind := len(f.Nodes) - i - 1
		if n.Mode = tabular.Mode(b.rng.IntN(int(tabular.NotEqual) + 1)); n.Mode == tabular.Leaf || behind == 0 {
			n.Mode = tabular.Leaf
			for range b.rng.IntN(3) {
				n.Votes = append(n.Votes, tabular.Vote{Target: b.rng.IntN(targets), Weight: float64(b.rng.IntN(7))})
			}
			continue
		}
		n.NaNIsTrue, n.Feature, n.Threshold = b.oneIn(2), b.rng.IntN(features), float64(b.rng.IntN(7))
		n.True, n.False = i+1+b.rng.IntN(behind), i+1+b.rng.IntN(behind)
	}
	for range b.rng.IntN(4) {
		f.Roots = append(f.Roots, b.rng.IntN(len(f.Nodes)))
	}
	t, err := f.Tables(features, targets, func(i int) string { return fmt.Sprint("node ", i) })
	if err != nil {
		b.t.Fatal(err)
	}
	o := tabular.TreeEnsemble{Targets: targets, Aggregate: []reduce.Kind{reduce.Sum, reduce.Max, reduce.Min}[b.rng.IntN(3)]}
	float := x.Type().DType
	return ops.Apply(o, x,
		constant(b, dtype.Int32, t.Nodes, len(t.Thresholds), tabular.Columns), constant(b, float, t.Thresholds, len(t.Thresholds)),
		constant(b, dtype.Int32, t.Roots, len(t.Roots)),
		constant(b, dtype.Int32, t.Targets, len(t.Targets)), constant(b, float, t.Weights, len(t.Weights)))
}

// lookup looks for x among a few of the numbers that leaves have.
func lookup(b *builder, x graph.Value) ([]graph.Value, error) {
	t := x.Type().DType
	if !t.IsFloat() && !t.IsInteger() {
		return nil, nil
	}
	var keys []int64
	for v := range int64(7) {
		if b.oneIn(2) {
			keys = append(keys, v)
		}
	}
	return ops.Apply(tabular.Lookup{}, x, constant(b, t, keys, len(keys)))
}

func squaredDistance(b *builder, x graph.Value) ([]graph.Value, error) {
	if len(x.Type().Shape) != 2 {
		return nil, nil
	}
	x = b.float(x)
	t := x.Type()
	t.Shape = shape.Shape{1 + b.rng.IntN(4), t.Shape[1]}
	return b.tame(ops.Apply(tabular.SquaredDistance{}, x, b.of(t)))
}

// nGrams counts runs of small numbers.
func nGrams(b *builder, x graph.Value) ([]graph.Value, error) {
	if rank := len(x.Type().Shape); rank < 1 || rank > 2 {
		return nil, nil
	}
	o := tabular.NGrams{Least: 1, Most: 2, Skip: b.rng.IntN(3), Pool: []int{1, 3, 1, 2, 3, 3}, Starts: []int{0, 2}, Columns: []int{2, 0, 1, 3}, Once: b.oneIn(2)}
	return ops.Apply(o, b.cast(x, []dtype.Type{dtype.Int32, dtype.Int64}[b.rng.IntN(2)]))
}

// couple takes the first column of a table, or the first three, as pairs.
func couple(b *builder, x graph.Value) ([]graph.Value, error) {
	if s := x.Type().Shape; len(s) != 2 || s[1] == 0 {
		return nil, nil
	}
	x = b.float(x)
	classes := 2
	if x.Type().Shape[1] >= 3 {
		classes = 3
	}
	pairs := b.one(view.SliceView{Axis: 1, N: classes * (classes - 1) / 2, Step: 1}, x)
	return ops.Apply(tabular.Couple{Classes: classes}, b.must(elementwise.Apply(elementwise.Sigmoid, nil, pairs)))
}
