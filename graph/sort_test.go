package graph_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/shape"
)

// sorted sorts a graph that is given as the inputs of each node.
func sorted(inputs map[string][]string, roots ...string) ([]string, error) {
	return graph.Sort(roots,
		func(n string) int { return len(inputs[n]) },
		func(n string, i int) (string, bool) { return inputs[n][i], inputs[n][i] != "" })
}

// TestSort wants the depth-first post-order, roots and inputs as they come.
func TestSort(t *testing.T) {
	diamond := map[string][]string{"d": {"b", "", "c", "b"}, "c": {"a"}, "b": {"a"}, "other": {"c"}}
	for _, c := range []struct {
		roots string
		want  string
	}{
		{"", ""},
		{"a", "a"},
		{"d", "a b c d"},
		{"c d", "a c b d"},
		{"d d a", "a b c d"},
		{"other d", "a c other b d"},
	} {
		got, err := sorted(diamond, strings.Fields(c.roots)...)
		if want := strings.Fields(c.want); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %v, %v, want %v", c.roots, got, err, want)
		}
	}
}

// TestSortCycle wants the nodes of a cycle named, and no others.
func TestSortCycle(t *testing.T) {
	long := make(map[string][]string)
	for i := range 20 {
		long[fmt.Sprint("n", i)] = []string{fmt.Sprint("n", (i+1)%20)}
	}
	for _, c := range []struct {
		inputs map[string][]string
		root   string
		want   string
	}{
		{map[string][]string{"a": {"a"}}, "a", "cycle: a reads a"},
		{map[string][]string{"a": {"b"}, "b": {"a"}}, "b", "cycle: b reads a, which reads b"},
		{map[string][]string{"root": {"leaf", "a"}, "a": {"b"}, "b": {"leaf", "c"}, "c": {"a"}}, "root", "cycle: a reads b, which reads c, which reads a"},
		{long, "n5", "cycle: n5 reads n6, which reads n7, which reads n8, which reads n9, which reads n10, which reads n11, which reads n12," +
			" and so on over 12 more, which reads n5"},
	} {
		_, err := sorted(c.inputs, c.root)
		if !errors.Is(err, graph.ErrCycle) || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

// TestNodes wants leaves, and what a filled cache was computed from, but nothing
// for what is absent.
func TestNodes(t *testing.T) {
	roots := parse(t, `
n1 = input "x" float32[2 2]
n2 = cache n1
n3 = constant float32[2 2] data=[1 2 3 4]
n4 = layer_norm{axis=1} n2 n3 _
out n4
out n2
`)
	roots[1].Node().Fill(graph.Leaf{Layout: shape.Dense(shape.Shape{2, 2}), Data: make([]byte, 16)})
	if got, want := fmt.Sprint(graph.Nodes(roots[1], graph.Value{}, roots[0], roots[1])), "[input (x) cache constant layer_norm]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := graph.Nodes(); len(got) > 0 {
		t.Errorf("no values are made of %v", got)
	}
}
