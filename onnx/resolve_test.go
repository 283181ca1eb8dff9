package onnx

import (
	"errors"
	"slices"
	"testing"

	"github.com/berth-go/berth/internal/wire"
)

// TestSubgraphsWait puts a node with a subgraph before the nodes that make what
// the subgraph takes from around it. The order has to be the other way round.
func TestSubgraphsWait(t *testing.T) {
	relu := func(in, out string) wire.Node { return nodeOf("Relu", names{in}, names{out}) }
	output := func(name string) []wire.ValueInfo { return []wire.ValueInfo{{Name: name}} }
	holds := func(g ...wire.Graph) wire.Node {
		n := nodeOf("Holds", names{"x"}, names{"held"})
		if len(g) == 1 {
			n.Attributes = attrs(wire.Attribute{Name: "g", Kind: wire.AttrGraph, Graph: &g[0]})
		} else {
			n.Attributes = attrs(wire.Attribute{Name: "g", Kind: wire.AttrGraphs, Graphs: g})
		}
		return n
	}
	reads := func(name string) wire.Graph {
		return wire.Graph{Nodes: []wire.Node{relu(name, "r")}, Outputs: output("r")}
	}
	for _, c := range []struct {
		name  string
		graph []wire.Graph // that the first node holds
		waits bool         // for the node that makes "a"
	}{
		{"read by a node", []wire.Graph{reads("a")}, true},
		{"an output of the subgraph", []wire.Graph{{Outputs: output("a")}}, true},
		{"read by a subgraph of the subgraph", []wire.Graph{{Nodes: []wire.Node{holds(reads("a"))}}}, true},
		{"read by one of several subgraphs", []wire.Graph{reads("x"), reads("a")}, true},
		{"read by one of several subgraphs of the subgraph", []wire.Graph{{Nodes: []wire.Node{holds(reads("x"), reads("a"))}}}, true},
		{"defined around the subgraph of the subgraph", []wire.Graph{{Nodes: []wire.Node{relu("x", "a"), holds(reads("a"))}}}, false},
		{"a node's output there", []wire.Graph{{Nodes: []wire.Node{relu("x", "a"), relu("a", "r")}, Outputs: output("r")}}, false},
		{"an input there", []wire.Graph{{Inputs: output("a"), Nodes: []wire.Node{relu("a", "r")}, Outputs: output("a")}}, false},
		{"an initializer there", []wire.Graph{{
			Initializers: []wire.Tensor{{Name: "a", DataType: wire.Float, Raw: make([]byte, 4)}},
			Nodes:        []wire.Node{relu("a", "r")},
		}}, false},
		{"not read", []wire.Graph{reads("x")}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &resolver{missed: make(map[MissingOperator]int), model: &Model{weights: make(map[*wire.Tensor][]byte)}}
			b := r.graph(&wire.Graph{
				Inputs:  output("x"),
				Nodes:   []wire.Node{holds(c.graph...), relu("x", "a"), relu("held", "y")},
				Outputs: output("y"),
			}, &scope{opsets: map[string]int64{"": 21}}, nil, nil)
			for _, err := range r.errs {
				if !errors.Is(err, ErrUnsupported) { // no operator is named Holds
					t.Error(err)
				}
			}
			var order []int
			for _, n := range b.nodes {
				order = append(order, n.index)
			}
			want := []int{0, 1, 2}
			if c.waits {
				want = []int{1, 0, 2}
			}
			if !slices.Equal(order, want) {
				t.Errorf("order %v, want %v", order, want)
			}
		})
	}
}

// TestUnpackShared has tensors that are packed in one place unpacked once.
func TestUnpackShared(t *testing.T) {
	r := &resolver{unpacked: make(map[packedList][]byte)}
	data := []byte{0x21, 0x43, 0x65}
	a, b := r.unpack(wire.Uint4, data, 5), r.unpack(wire.Uint4, data, 5)
	if &a[0] != &b[0] || !slices.Equal(a, []byte{1, 2, 3, 4, 5}) {
		t.Errorf("unpacked as %v and %v, not in one place", a, b)
	}
	for _, c := range []struct {
		as   wire.DataType
		data []byte
		n    int
		want []byte
	}{
		{wire.Uint4, data, 6, []byte{1, 2, 3, 4, 5, 6}},
		{wire.Uint4, data[1:], 4, []byte{3, 4, 5, 6}},
		{wire.Int2, data[:1], 4, []byte{1, 0, 0xfe, 0}},
		{wire.Uint4, nil, 0, nil},
	} {
		if got := r.unpack(c.as, c.data, c.n); !slices.Equal(got, c.want) {
			t.Errorf("%d elements of %v in %x are %v, want %v", c.n, c.as, c.data, got, c.want)
		}
	}
	if got := r.unpack(wire.Int8, data, 3); &got[0] != &data[0] {
		t.Error("whole bytes are copied")
	}
}
