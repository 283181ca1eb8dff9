package compile

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/extent"
	"github.com/berth-go/berth/internal/rewrite"
)

// A Build makes a graph at a choice of its dimensions: the same nodes in the same
// order at each, with other extents. Inputs are those that the program has even
// where no output depends on them; they may leave out the others.
type Build func(p extent.Point) (outputs, inputs []graph.Value, err error)

// A rewriter rewrites the builds of one graph, all in the same way.
type rewriter func(builds [][]graph.Value, varying rewrite.Varying) ([][]graph.Value, error)

// A built is a graph at one point, with its nodes in the order of [graph.Nodes].
type built struct {
	point           extent.Point
	outputs, inputs []graph.Value
	nodes           []*graph.Node
	number          map[*graph.Node]int // of nodes
}

func newBuilt(p extent.Point, outputs, inputs []graph.Value) *built {
	x := &built{point: p, outputs: outputs, inputs: inputs, number: make(map[*graph.Node]int)}
	x.nodes = graph.Nodes(slices.Concat(outputs, inputs)...)
	for i, n := range x.nodes {
		x.number[n] = i
	}
	return x
}

// builds are one graph at several points. Those that are alike differ in extents
// and integers among attributes alone. Special are others among the points to
// check at: with an extent of 0 or 1 a graph may be built in another way.
type builds struct {
	dims           []extent.Dim
	learning       int // points: as many of alike, from the first on, must be
	alike, special []*built
}

// buildAll builds a graph at the points to learn at, and at those to check at.
// Points to learn at beyond the bounds are left out where the graph cannot be built.
func buildAll(dims []extent.Dim, learning []extent.Point, build Build) (*builds, error) {
	b := &builds{dims: dims}
	var all []*built
	add := func(p extent.Point) error {
		outputs, inputs, err := build(p)
		if err != nil {
			return at(dims, p, err)
		}
		all = append(all, newBuilt(p, outputs, inputs))
		return nil
	}
	for _, p := range learning {
		if err := add(p); err != nil && extent.Within(dims, p) {
			return nil, err
		}
	}
	b.learning = len(all)
	for _, p := range extent.Checking(dims) {
		if slices.ContainsFunc(all, func(x *built) bool { return slices.Equal(x.point, p) }) {
			continue
		}
		if err := add(p); err != nil {
			return nil, err
		}
	}
	return b, b.keep(all)
}

// keep has builds of all points stand for those that were alike.
func (b *builds) keep(all []*built) error {
	alike, special, err := b.sift(all)
	b.alike, b.special = alike, append(b.special, special...)
	return err
}

// points returns the points of all builds, those that are alike first.
func (b *builds) points() []extent.Point {
	var out []extent.Point
	for _, x := range slices.Concat(b.alike, b.special) {
		out = append(out, x.point)
	}
	return out
}

// rewrite has the builds that are alike rewritten in step.
func (b *builds) rewrite(rewrite rewriter) error {
	roots := make([][]graph.Value, len(b.alike))
	for i, x := range b.alike {
		roots[i] = x.outputs
	}
	roots, err := rewrite(roots, b.varying)
	if err != nil {
		return err
	}
	return b.keep(b.with(roots))
}

// with returns the builds that are alike with other outputs.
func (b *builds) with(outputs [][]graph.Value) []*built {
	out := make([]*built, len(outputs))
	for i, x := range b.alike {
		out[i] = newBuilt(x.point, outputs[i], x.inputs)
	}
	return out
}

// sift divides builds into those that are like the first and special ones, which
// is an error for those to learn from.
func (b *builds) sift(all []*built) (alike, special []*built, err error) {
	for i, x := range all {
		err := b.compare(all[0], x)
		switch {
		case err == nil && (i < b.learning || sameAttributes(all[0].nodes, x.nodes)):
			alike = append(alike, x)
		case i < b.learning:
			return nil, nil, err
		default:
			special = append(special, x)
		}
	}
	return alike, special, nil
}

// compare returns how x differs from the first build in more than extents.
func (b *builds) compare(first, x *built) error {
	differs := func(n *graph.Node, what string) error {
		return fmt.Errorf("%v cannot vary: with %s %s, with %s it is another", n, extent.Text(b.dims, first.point), what, extent.Text(b.dims, x.point))
	}
	for k, n := range first.nodes {
		if k == len(x.nodes) {
			return differs(n, "it is a part of the graph")
		}
		m := x.nodes[k]
		if !sameOp(n, m) || n.NumInputs() != m.NumInputs() {
			return differs(n, "the graph has it in one place")
		}
		for j := range n.NumInputs() {
			v, w := n.Input(j), m.Input(j)
			if v.IsZero() != w.IsZero() || !v.IsZero() && (first.number[v.Node()] != x.number[w.Node()] || v.Index() != w.Index()) {
				return differs(n, fmt.Sprintf("its input %d is %v", j, v.Node()))
			}
		}
		if err := likeOutputs(n, m); err != nil {
			return fmt.Errorf("%v cannot vary: with %s %w", n, extent.Text(b.dims, x.point), err)
		}
	}
	if len(x.nodes) > len(first.nodes) {
		return differs(x.nodes[len(first.nodes)], "it is no part of the graph")
	}
	return nil
}

// likeOutputs returns an error unless node m, which is n at another point, has as many
// outputs, with the same element types and numbers of axes. What is learned of a
// value from several points goes axis by axis.
func likeOutputs(n, m *graph.Node) error {
	if n.NumOutputs() != m.NumOutputs() {
		return fmt.Errorf("it has %d outputs, with other extents %d", m.NumOutputs(), n.NumOutputs())
	}
	for o := range n.NumOutputs() {
		s, t := n.Output(o).Type(), m.Output(o).Type()
		if s.DType != t.DType || len(s.Shape) != len(t.Shape) {
			return fmt.Errorf("output %d is %v, with other extents %v", o, t, s)
		}
	}
	return nil
}

// varying returns the nodes whose attributes differ from build to build. Builds
// that a rule has made unlike the others have no say; they become special ones.
func (b *builds) varying(roots [][]graph.Value) (map[*graph.Node]bool, error) {
	alike, _, err := b.sift(b.with(roots))
	if err != nil {
		return nil, err
	}
	varies := make(map[*graph.Node]bool)
	for k, n := range alike[0].nodes {
		if slices.ContainsFunc(alike, func(x *built) bool { return !reflect.DeepEqual(n.Op(), x.nodes[k].Op()) }) {
			for _, x := range alike {
				varies[x.nodes[k]] = true
			}
		}
	}
	return varies, nil
}

// at adds to an error the extents that it arose with, where these may vary.
func at(dims []extent.Dim, p extent.Point, err error) error {
	if len(dims) == 0 {
		return err
	}
	return fmt.Errorf("with %s: %w", extent.Text(dims, p), err)
}
