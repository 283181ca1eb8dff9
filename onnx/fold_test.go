package onnx

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/wire"
)

// graphOf builds the graph of a model of the given nodes, which make y of
// constants, and returns y.
func graphOf(t *testing.T, nodes []wire.Node) graph.Value {
	t.Helper()
	m, err := Parse(addModel(func(m *wire.Model) { m.Graph.Nodes = nodes }))
	if err != nil {
		t.Fatal(err)
	}
	outs, err := m.build(context.Background(), nil, false, false)
	if err != nil {
		t.Fatal(err)
	}
	return outs[0]
}

func rangeNodes(n int64) []wire.Node {
	number := func(out string, v int64) wire.Node {
		return nodeOf("Constant", nil, names{out}, attrInt("value_int", v))
	}
	return []wire.Node{number("0", 0), number("n", n), number("1", 1), nodeOf("Range", names{"0", "n", "1"}, names{"r"})}
}

// TestFoldedPart folds a reversed part of a larger range: the constant has the
// elements of the part and does not keep those of the range.
func TestFoldedPart(t *testing.T) {
	ints := func(out string, v int64) wire.Node {
		return nodeOf("Constant", nil, names{out}, attrInts("value_ints", v))
	}
	y := graphOf(t, append(rangeNodes(100000), ints("from", 70002), ints("to", 69990), ints("axis", 0), ints("step", -4),
		nodeOf("Slice", names{"r", "from", "to", "axis", "step"}, names{"y"})))
	leaf := y.Node().Leaf()
	if leaf == nil {
		t.Fatalf("%v is not folded", y)
	}
	if got := kernel.Cast[int64](kernel.Compact(leaf.Data, leaf.Layout, 8)); !slices.Equal(got, []int64{70002, 69998, 69994}) {
		t.Errorf("the elements are %v", got)
	}
	if len(leaf.Data) != 3*8 {
		t.Errorf("3 elements keep %d bytes", len(leaf.Data))
	}
}

// TestFoldWork folds what is small and made of little, for as long as all that
// together is little.
func TestFoldWork(t *testing.T) {
	sum := nodeOf("ReduceSum", names{"r"}, names{"y"})
	y := graphOf(t, append(rangeNodes(100000), sum))
	if leaf := y.Node().Leaf(); leaf == nil {
		t.Errorf("%v, a sum over 100000 elements, is not folded", y)
	} else if got := kernel.Cast[int64](kernel.Compact(leaf.Data, leaf.Layout, 8)); got[0] != 99999*50000 {
		t.Errorf("the sum is %v", got)
	}
	if y := graphOf(t, append(rangeNodes(foldWork), sum)); y.Node().Leaf() != nil {
		t.Errorf("%v, a sum over %d elements, is folded", y, foldWork)
	}
	// The same again and again exhausts what is left for all.
	nodes := rangeNodes(foldWork / 40)
	for i := range 40 {
		nodes = append(nodes, nodeOf("ReduceSum", names{"r"}, names{fmt.Sprint("s", i)}))
	}
	y = graphOf(t, append(nodes, nodeOf("Neg", names{"s39"}, names{"y"})))
	if y.Node().Leaf() != nil {
		t.Errorf("%v is folded after more work than %d", y, foldWork)
	}
}
