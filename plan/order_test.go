package plan_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/view"
	"github.com/berth-go/berth/plan"
)

// A node keeps the slice of its inputs, so that its maker can close a cycle.
// The error names its nodes by op and label.
func TestCycleIsNamed(t *testing.T) {
	inputs := []graph.Value{f32(t, 4)}
	first, err := graph.New(any, inputs...)
	if err != nil {
		t.Fatal(err)
	}
	second := node(t, noop, first.WithLabel("first").Output(0))
	second.Node().WithLabel("second")
	inputs[0] = second
	root := node(t, any, second)
	for _, nodes := range [][]*graph.Node{nil, {first, root.Node()}} {
		_, err = plan.InOrder(nodes, root)
		if want := "plan: cycle: identity (second) reads mix (first), which reads identity (second)"; !errors.Is(err, graph.ErrCycle) || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// InOrder runs the steps as they are told, and refuses what is not an order of
// the nodes that are needed.
func TestInOrder(t *testing.T) {
	leaf := f32(t, 4)
	a, b := node(t, any, leaf), node(t, never, leaf)
	root := node(t, optional{}, a, graph.Value{}, b)
	nodes := func(values ...graph.Value) (list []*graph.Node) {
		for _, v := range values {
			list = append(list, v.Node())
		}
		return list
	}
	p, err := plan.InOrder(nodes(b, a, root), root)
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Check(p, root); err != nil {
		t.Fatal(err)
	}
	if p.Steps[0].Node != b.Node() || p.Steps[1].Node != a.Node() {
		t.Errorf("the steps run in another order\n%v", p)
	}
	for _, c := range []struct {
		nodes []*graph.Node
		want  string
	}{
		{nodes(a, root, b), "optional comes before its input mix"},
		{nodes(a, b), "lists 2 of 3 nodes"},
		{nodes(a, b, a, root), "mix is listed twice or not needed"},
		{nodes(a, b, root, node(t, never, root)), "mix is listed twice or not needed"},
		{nodes(leaf, a, b, root), "constant is listed twice or not needed"},
	} {
		if _, err := plan.InOrder(c.nodes, root); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("order %v: got %v, want %q", c.nodes, err, c.want)
		}
	}
}

// Peaks count a slot from the step that makes it to the step that drops it,
// both included, and saturate.
func TestPeakBytes(t *testing.T) {
	p := planned(t, f32(t, 4))
	if got := [2]int{p.PeakBytes(), p.TotalBytes()}; got != [2]int{} {
		t.Errorf("peak and total of a leaf are %v bytes", got)
	}
	x := node(t, never, f32(t, 4))
	y := node(t, never, node(t, view.Reshape{Shape: []int{2, 2}}, x), f32(t, 2, 1, 1))
	p = planned(t, node(t, never, y, f32(t, 2, 1, 1, 1)))
	if got := [2]int{p.PeakBytes(), p.TotalBytes()}; got != [2]int{32 + 64, 16 + 32 + 64} {
		t.Errorf("peak and total are %v bytes\n%v", got, p)
	}
	const each = math.MaxInt / 64 // elements
	wide := make([]graph.Value, 9)
	for i := range wide {
		wide[i] = node(t, never, node(t, view.BroadcastTo{Shape: []int{each}}, leaf(t, dtype.Float64, 1)))
	}
	for _, c := range []struct{ live, bytes int }{{7, 7 * 8 * each}, {8, 8 * 8 * each}, {9, math.MaxInt}} {
		p = planned(t, wide[:c.live]...)
		if got := [2]int{p.PeakBytes(), p.TotalBytes()}; got != [2]int{c.bytes, c.bytes} {
			t.Errorf("peak and total of %d live values are %v bytes, want %d", c.live, got, c.bytes)
		}
	}
}
