package graph_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/op/reduce"
	"github.com/berth-go/berth/shape"
)

// TestRewriter looks at a graph and takes the identities out of it.
func TestRewriter(t *testing.T) {
	roots := parse(t, `
n1 = input "x" float32[2 2]
n2 = identity n1
n3 = matmul n2 n2 "square"
n4 = identity n3
n5 = gemm n4 n1 _
n6 = matmul n1 n1
n7 = top_k{k=1} n3
out n5
out n6
out n4
out n7.1
`)
	r, err := graph.NewRewriter(append(roots, graph.Value{}))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	nodes := make(map[string]*graph.Node)
	for _, n := range r.Nodes() {
		names = append(names, n.Op().Name())
		nodes[n.Op().Name()] = n
	}
	if got, want := strings.Join(names, " "), "input identity matmul identity gemm matmul top_k"; got != want {
		t.Errorf("nodes are %s, want %s", got, want)
	}
	x, square := r.Nodes()[0].Output(0), r.Nodes()[2].Output(0)
	if got, want := fmt.Sprint(r.Users(x)), "[identity gemm matmul]"; got != want {
		t.Errorf("x is read by %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(r.Users(square)), "[identity top_k]"; got != want {
		t.Errorf("the square is read by %s, want %s", got, want)
	}
	first, last := r.Nodes()[1], r.Nodes()[3]
	if !r.OnlyUser(first.Output(0), r.Nodes()[2]) || r.OnlyUser(square, last) || r.OnlyUser(last.Output(0), nodes["gemm"]) {
		t.Error("a value that a node reads twice has one user, one that two nodes read has none alone, nor has a root")
	}
	if !r.IsRoot(roots[3]) || r.IsRoot(nodes["top_k"].Output(0)) || r.IsRoot(square) {
		t.Error("the roots are the values asked for, and no others")
	}
	if r.Changed() {
		t.Error("something is changed before anything is replaced")
	}
	walked := 0
	err = r.Walk(func(n *graph.Node) error {
		if n != r.Nodes()[walked] {
			t.Errorf("node %d of the walk is %v, want %v", walked, n, r.Nodes()[walked])
		}
		walked++
		if n.Op().Name() == "identity" {
			r.Replace(n.Output(0), r.Inputs(n)[0])
		}
		return nil
	})
	after := r.Roots()
	if err != nil || !r.Changed() || walked != len(names) || !after[4].IsZero() {
		t.Fatalf("%v after %d nodes; the absent root is %v", err, walked, after[4])
	}
	want := `n1 = input "x" float32[2 2]
n2 = matmul n1 n1 : float32[2 2] "square"
n3 = gemm n2 n1 _ : float32[2 2]
n4 = matmul n1 n1 : float32[2 2]
n5 = top_k{k=1} n2 : float32[1 2], int64[1 2]
out n3
out n4
out n2
out n5.1
`
	if got := graph.Format(after[:4], op.Format); got != want {
		t.Errorf("the graph is\n%swant\n%s", got, want)
	}
	if after[1] != roots[1] {
		t.Error("a node under which nothing changes is copied")
	}
}

// TestRewriterParts replaces one output of two, and one root of two that are
// the same value.
func TestRewriterParts(t *testing.T) {
	roots := parse(t, `
n1 = input "x" float32[3]
n2 = identity n1
n3 = top_k{k=1} n2
n4 = input "i" int64[1]
out n3
out n3.1
out n3.1
out n3.1
out n4
`)
	r, err := graph.NewRewriter(roots)
	if err != nil {
		t.Fatal(err)
	}
	x, i := r.Nodes()[0].Output(0), roots[4]
	err = r.Walk(func(n *graph.Node) error {
		switch n.Op().(type) {
		case graph.Identity:
			r.Replace(n.Output(0), x)
		case reduce.TopK:
			r.Replace(n.Output(1), i)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	other, err := graph.New(graph.Identity{}, i)
	if err != nil {
		t.Fatal(err)
	}
	r.SetRoot(2, other.Output(0))
	if again, err := graph.NewRewriter(roots); err != nil || again.Changed() {
		t.Errorf("%v: a new rewriter has changed something", err)
	} else if again.SetRoot(0, again.Roots()[0]); !again.Changed() {
		t.Error("a root that is set is no change")
	}
	after := r.Roots()
	if after[0].Node().Input(0) != x || after[1] != i || after[2] != other.Output(0) || after[3] != i || after[4] != i {
		t.Errorf("the roots became\n%s", graph.Format(after, op.Format))
	}
}

// TestRewriterCache fills a cache after the rewriter has seen it empty: it
// stays a node to be computed for this pass. A filled one is a leaf.
func TestRewriterCache(t *testing.T) {
	root := parse(t, "n1 = input \"x\" float32[2]\nn2 = identity n1\nn3 = cache n2\nout n3\n")
	r, err := graph.NewRewriter(root)
	if err != nil {
		t.Fatal(err)
	}
	cache := root[0].Node()
	cache.Fill(graph.Leaf{Layout: shape.Dense(shape.Shape{2}), Data: make([]byte, 8)})
	if r.IsLeaf(cache) || len(r.Users(cache.Input(0))) != 1 {
		t.Error("a cache that is filled in the middle of a pass becomes a leaf")
	}
	if r, err = graph.NewRewriter(root); err != nil || !r.IsLeaf(cache) || len(r.Nodes()) != 1 {
		t.Errorf("%v: of a filled cache %v is seen", err, r.Nodes())
	}
	// What it was computed from is replaced for others, and not for it.
	roots := []graph.Value{cache.Input(0), root[0]}
	if r, err = graph.NewRewriter(roots); err != nil {
		t.Fatal(err)
	}
	err = r.Walk(func(n *graph.Node) error {
		if n.Op() == (graph.Identity{}) {
			r.Replace(n.Output(0), n.Input(0))
		}
		return nil
	})
	if after := r.Roots(); err != nil || after[0] == roots[0] || after[1] != roots[1] {
		t.Errorf("%v: a filled cache over what is replaced becomes\n%s", err, graph.Format(after, op.Format))
	}
}

// TestRewriterErrors has a rule fail, and replace a value by one of another type.
func TestRewriterErrors(t *testing.T) {
	roots := parse(t, "n1 = input \"x\" float32[2]\nn2 = identity n1 \"here\"\nn3 = identity n2 \"there\"\nout n3\n")
	r, err := graph.NewRewriter(roots)
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	var seen []string
	err = r.Walk(func(n *graph.Node) error {
		if seen = append(seen, n.Label()); n.Label() == "here" {
			return broken
		}
		return nil
	})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "identity (here)") || !slices.Equal(seen, []string{"x", "here"}) {
		t.Errorf("error %v after %q, want one that names the node, and no more nodes", err, seen)
	}
	other, err := graph.NewInput("y", graph.Type{DType: dtype.Float32, Shape: shape.Shape{3}})
	if err != nil {
		t.Fatal(err)
	}
	for name, replace := range map[string]func(){
		"Replace": func() { r.Replace(roots[0], other.Output(0)) },
		"SetRoot": func() { r.SetRoot(0, other.Output(0)) },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, "float32[2] of identity (there) is replaced by float32[3] of input (y)") {
					t.Errorf("%s with another type: panic %s", name, got)
				}
			}()
			replace()
		}()
	}
}

// TestRewriterDeep rewrites a chain of many nodes.
func TestRewriterDeep(t *testing.T) {
	in, err := graph.NewInput("x", graph.Type{DType: dtype.Float32, Shape: shape.Shape{2}})
	if err != nil {
		t.Fatal(err)
	}
	v := in.Output(0)
	for i := range 100_000 {
		var o graph.Op = graph.Contiguous{}
		if i%100 == 0 {
			o = graph.Identity{}
		}
		n, err := graph.New(o, v)
		if err != nil {
			t.Fatal(err)
		}
		v = n.Output(0)
	}
	r, err := graph.NewRewriter([]graph.Value{v})
	if err != nil {
		t.Fatal(err)
	}
	err = r.Walk(func(n *graph.Node) error {
		if n.Op() == (graph.Identity{}) {
			r.Replace(n.Output(0), r.Inputs(n)[0])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if r, err = graph.NewRewriter(r.Roots()); err != nil || len(r.Nodes()) != 99_001 {
		t.Errorf("%v: %d nodes, want 99001", err, len(r.Nodes()))
	}
}
