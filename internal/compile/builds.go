package compile

import (
	"fmt"
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

// A built is a graph at one point, with its nodes in the order in which graph.Sort
// meets them.
type built struct {
	point           extent.Point
	outputs, inputs []graph.Value
	nodes           []*graph.Node
	number          map[*graph.Node]int // of nodes
}

// sort finds the nodes of what has been built.
func (x *built) sort() error {
	nodes, err := sorted(slices.Concat(x.outputs, x.inputs))
	if err != nil {
		return err
	}
	x.nodes, x.number = nodes, make(map[*graph.Node]int, len(nodes))
	for i, n := range nodes {
		x.number[n] = i
	}
	return nil
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
	make := func(p extent.Point) (*built, error) {
		x := &built{point: p}
		var err error
		if x.outputs, x.inputs, err = build(p); err != nil {
			return nil, at(dims, p, err)
		}
		return x, x.sort()
	}
	for _, p := range learning {
		x, err := make(p)
		switch {
		case err == nil:
			b.alike = append(b.alike, x)
		case extent.Within(dims, p):
			return nil, err
		}
	}
	b.learning = len(b.alike)
	for _, p := range extent.Checking(dims) {
		if slices.ContainsFunc(b.alike, func(x *built) bool { return slices.Equal(x.point, p) }) {
			continue
		}
		x, err := make(p)
		if err != nil {
			return nil, err
		}
		b.alike = append(b.alike, x)
	}
	return b, b.sift()
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
	for i, x := range b.alike {
		x.outputs = roots[i]
		if err := x.sort(); err != nil {
			return err
		}
	}
	return b.sift()
}

// sift moves builds that are not like the first to the special ones, which is an
// error for those to learn from.
func (b *builds) sift() error {
	alike := b.alike[:1]
	for i, x := range b.alike[1:] {
		err := b.compare(b.alike[0], x)
		switch {
		case err == nil:
			alike = append(alike, x)
		case i+1 < b.learning:
			return err
		default:
			b.special = append(b.special, x)
		}
	}
	b.alike = alike
	return nil
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
		if !sameOp(n, m) || n.NumInputs() != m.NumInputs() || n.NumOutputs() != m.NumOutputs() {
			return differs(n, "the graph has it in one place")
		}
		for j := range n.NumInputs() {
			v, w := n.Input(j), m.Input(j)
			if v.IsZero() != w.IsZero() || !v.IsZero() && (first.number[v.Node()] != x.number[w.Node()] || v.Index() != w.Index()) {
				return differs(n, fmt.Sprintf("its input %d is %v", j, v.Node()))
			}
		}
	}
	if len(x.nodes) > len(first.nodes) {
		return differs(x.nodes[len(first.nodes)], "it is no part of the graph")
	}
	return nil
}

// varying reports the nodes whose attributes differ from build to build. Builds
// that a rule has made unlike the others have no say; they become special ones.
func (b *builds) varying(roots [][]graph.Value) (func(*graph.Node) bool, error) {
	var alike []*built
	for i, outputs := range roots {
		x := &built{point: b.alike[i].point, outputs: outputs, inputs: b.alike[i].inputs}
		if err := x.sort(); err != nil {
			return nil, err
		}
		if err := b.compare(slices.Concat(alike, []*built{x})[0], x); err == nil {
			alike = append(alike, x)
		} else if i < b.learning {
			return nil, err
		}
	}
	varies := make(map[*graph.Node]bool)
	for k, n := range alike[0].nodes {
		differs := false
		for _, x := range alike[1:] {
			differs = differs || !sameAttributes(n.Op(), x.nodes[k].Op())
		}
		for _, x := range alike {
			if differs {
				varies[x.nodes[k]] = true
			}
		}
	}
	return func(n *graph.Node) bool { return varies[n] }, nil
}

// at adds to an error the extents that it arose with, where these may vary.
func at(dims []extent.Dim, p extent.Point, err error) error {
	if len(dims) == 0 {
		return err
	}
	return fmt.Errorf("with %s: %w", extent.Text(dims, p), err)
}

// sorted returns every node that roots need, leaves and what filled caches hide
// among them, inputs first.
func sorted(roots []graph.Value) ([]*graph.Node, error) {
	return graph.Sort(starts(roots), (*graph.Node).NumInputs, input)
}

func starts(values []graph.Value) []*graph.Node {
	nodes := make([]*graph.Node, len(values))
	for i, v := range values {
		nodes[i] = v.Node()
	}
	return nodes
}

func input(n *graph.Node, i int) (*graph.Node, bool) { return n.Input(i).Node(), !n.Input(i).IsZero() }
