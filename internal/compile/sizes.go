package compile

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/extent"
	"github.com/berth-go/berth/internal/rewrite"
)

// A Build makes a graph at a choice of its dimensions: the same nodes in the same
// order at each, with other extents. Inputs are those that the program has even
// where no output depends on them; they may leave out the others.
type Build func(p extent.Point) (outputs, inputs []graph.Value, err error)

// sizes is one graph at several points: built and rewritten at those where its
// extents are learned, and made from what was learned at those where that is
// checked.
type sizes struct {
	space   *extent.Space
	points  []extent.Point
	largest int           // the point of the largest extents
	roots   []graph.Value // there
	inputs  []graph.Value // there, of the program beside those that roots need

	// at holds the nodes of the graph at each point in one order, that in which
	// graph.Sort meets them. number is the place in it of those at the largest
	// extents, and ops are their ops as functions of the dimensions.
	at     [][]*graph.Node
	number map[*graph.Node]int
	ops    []*learnedOp
}

// typeAt returns the type at point s of a value of the graph at the largest
// extents.
func (z *sizes) typeAt(s int, v graph.Value) graph.Type {
	return z.at[s][z.number[v.Node()]].Output(v.Index()).Type()
}

// opAt returns the op at point s of a node of the graph at the largest extents.
func (z *sizes) opAt(s int, n *graph.Node) graph.Op { return z.at[s][z.number[n]].Op() }

// opOf returns the op of a node of the graph at the largest extents, as a
// function of the dimensions.
func (z *sizes) opOf(n *graph.Node) *learnedOp { return z.ops[z.number[n]] }

// fit returns the function of the dimensions that has a value at each point.
func (z *sizes) fit(value func(s int) int) (extent.Func, error) {
	values := make([]int, len(z.points))
	for s := range values {
		values[s] = value(s)
	}
	return z.space.Fit(values, nil)
}

// varies prints the attributes of an op that depend on the dimensions.
func (z *sizes) varies(l *learnedOp) string {
	words := make([]string, len(l.fields))
	typ := reflect.TypeOf(l.op)
	for i, f := range l.fields {
		words[i] = typ.Field(f.index).Name
		if f.elem >= 0 {
			words[i] += fmt.Sprintf("[%d]", f.elem)
		}
		words[i] += " = " + z.space.String(f.value)
	}
	return strings.Join(words, ", ")
}

// text prints point s.
func (z *sizes) text(s int) string { return extent.Text(z.space.Dims(), z.points[s]) }

// A rewriter rewrites the builds of one graph, all in the same way.
type rewriter func(builds [][]graph.Value, varying rewrite.Varying) ([][]graph.Value, error)

// learn builds a graph at a few points, has the builds rewritten, and finds what
// the graph is at any point.
func learn(dims []extent.Dim, build Build, rewrite rewriter) (*sizes, error) {
	const most = 64 // points added to tell functions apart
	points := extent.Learning(dims)
	for {
		z, err := learnAt(dims, points, build, rewrite)
		var more *extent.AmbiguousError
		if err == nil || !errors.As(err, &more) || len(points) > most {
			return z, err
		}
		points = append(points, more.Point)
	}
}

func learnAt(dims []extent.Dim, learning []extent.Point, build Build, rewrite rewriter) (*sizes, error) {
	z := &sizes{number: make(map[*graph.Node]int)}
	var builds [][]graph.Value // outputs, then inputs
	outputs := 0
	for _, p := range learning {
		out, in, err := build(p)
		if err != nil {
			if !extent.Within(dims, p) {
				continue // it was worth a try
			}
			return nil, at(dims, p, err)
		}
		outputs = len(out)
		builds = append(builds, slices.Concat(out, in))
		z.points = append(z.points, p)
	}
	if len(learning) > 1 {
		z.points = append(z.points, extent.Checking(dims)...)
		z.largest = len(builds)
	}
	z.space = extent.NewSpace(dims, z.points)
	roots := make([][]graph.Value, len(builds))
	for i, b := range builds {
		roots[i] = b[:outputs]
	}
	roots, err := rewrite(roots, z.varying)
	if err != nil {
		return nil, err
	}
	for i, b := range builds {
		builds[i] = append(roots[i], b[outputs:]...)
	}
	if z.at, err = z.align(builds); err != nil {
		return nil, err
	}
	if err := z.learnOps(); err != nil {
		return nil, err
	}
	for s := len(builds); s < len(z.points); s++ {
		nodes, err := z.instantiate(z.points[s])
		if err != nil {
			return nil, err
		}
		z.at = append(z.at, nodes)
	}
	for i, n := range z.at[z.largest] {
		z.number[n] = i
	}
	first := make(map[*graph.Node]int, len(z.at[0]))
	for i, n := range z.at[0] {
		first[n] = i
	}
	for _, r := range builds[0] {
		z.roots = append(z.roots, z.at[z.largest][first[r.Node()]].Output(r.Index()))
	}
	z.roots, z.inputs = z.roots[:outputs], z.roots[outputs:]
	return z, nil
}

// at adds to an error the extents that it arose with, where these may vary.
func at(dims []extent.Dim, p extent.Point, err error) error {
	if len(dims) == 0 {
		return err
	}
	return fmt.Errorf("with %s: %w", extent.Text(dims, p), err)
}

// align sorts the builds of one graph, and checks that they differ in extents
// alone.
func (z *sizes) align(builds [][]graph.Value) ([][]*graph.Node, error) {
	out := make([][]*graph.Node, len(builds))
	var first map[*graph.Node]int
	for i, roots := range builds {
		nodes, err := sorted(roots)
		if err != nil {
			return nil, err
		}
		number := make(map[*graph.Node]int, len(nodes))
		for k, n := range nodes {
			number[n] = k
		}
		out[i] = nodes
		if i == 0 {
			first = number
			continue
		}
		differs := func(n *graph.Node, what string) error {
			return fmt.Errorf("%v cannot vary: with %s %s, with %s it is another", n, z.text(0), what, z.text(i))
		}
		for k, n := range out[0] {
			if k == len(nodes) {
				return nil, differs(n, "it is a part of the graph")
			}
			m := nodes[k]
			if !sameOp(n, m) || n.NumInputs() != m.NumInputs() || n.NumOutputs() != m.NumOutputs() {
				return nil, differs(n, "the graph has it in one place")
			}
			for j := range n.NumInputs() {
				a, b := n.Input(j), m.Input(j)
				if a.IsZero() != b.IsZero() || !a.IsZero() && (first[a.Node()] != number[b.Node()] || a.Index() != b.Index()) {
					return nil, differs(n, fmt.Sprintf("its input %d is %v", j, a.Node()))
				}
			}
		}
		if len(nodes) > len(out[0]) {
			return nil, differs(nodes[len(out[0])], "it is no part of the graph")
		}
	}
	return out, nil
}

// varying reports the nodes that differ from build to build: in attributes, in
// types, or in what they read.
func (z *sizes) varying(builds [][]graph.Value) (func(*graph.Node) bool, error) {
	if len(builds) == 1 {
		return nil, nil
	}
	at, err := z.align(builds)
	if err != nil {
		return nil, err
	}
	varies := make(map[*graph.Node]bool)
	for k, n := range at[0] {
		differs := false
		for i := range n.NumInputs() {
			in := n.Input(i)
			differs = differs || !in.IsZero() && varies[in.Node()]
		}
		for s := 1; s < len(at) && !differs; s++ {
			differs = !sameAttributes(n.Op(), at[s][k].Op())
			for o := range n.NumOutputs() {
				differs = differs || !n.Output(o).Type().Equal(at[s][k].Output(o).Type())
			}
		}
		for s := range at {
			if differs {
				varies[at[s][k]] = true
			}
		}
	}
	return func(n *graph.Node) bool { return varies[n] }, nil
}

// instantiate makes the nodes of the graph at a point from what was learned.
func (z *sizes) instantiate(p extent.Point) ([]*graph.Node, error) {
	values := make([]int, z.space.Len())
	z.space.Eval(p, values)
	like := z.at[0]
	nodes := make([]*graph.Node, len(like))
	to := make(map[*graph.Node]*graph.Node, len(like))
	for k, n := range like {
		made, err := z.ops[k].node(n, values, to)
		if err != nil {
			return nil, fmt.Errorf("%v cannot run with %s: %w", n, extent.Text(z.space.Dims(), p), err)
		}
		nodes[k], to[n] = made, made
	}
	return nodes, nil
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
