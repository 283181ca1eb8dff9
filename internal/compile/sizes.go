package compile

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/extent"
)

// sizes is one graph at several points: as it was built and rewritten, or, where
// it is built in another way, made from what was learned at the others.
type sizes struct {
	space   *extent.Space
	points  []extent.Point
	largest int           // the point of the largest extents
	roots   []graph.Value // there
	inputs  []graph.Value // there, of the program beside those that roots need

	// at holds the nodes of the graph at each point in one order, that of
	// graph.Nodes. number is the place in it of those at the largest
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

// fit returns the function of the dimensions that has a value at each point of
// which the nodes are known.
func (z *sizes) fit(value func(s int) int) (extent.Func, error) {
	values := make([]int, len(z.at))
	for s := range values {
		values[s] = value(s)
	}
	return z.space.Fit(values, nil)
}

// varies prints the attributes of a step's op that depend on the dimensions.
func (z *sizes) varies(step *Step) string {
	words := make([]string, len(step.fields))
	o := reflect.ValueOf(step.Op)
	for i, f := range step.fields {
		words[i] = o.Type().Field(f.index).Name + inList("[%d]", o.Field(f.index), f.elem) + " = " + z.space.String(f.value)
	}
	return strings.Join(words, ", ")
}

// text prints point s.
func (z *sizes) text(s int) string { return extent.Text(z.space.Dims(), z.points[s]) }

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
	b, err := buildAll(dims, learning, build)
	if err != nil {
		return nil, err
	}
	if err := b.rewrite(rewrite); err != nil {
		return nil, err
	}
	z := &sizes{number: make(map[*graph.Node]int), points: b.points()}
	z.space = extent.NewSpace(dims, z.points)
	for _, x := range b.alike {
		z.at = append(z.at, x.nodes)
	}
	if err := z.learnOps(); err != nil {
		return nil, err
	}
	like := b.alike[0]
	for _, x := range b.special {
		nodes, err := z.instantiate(x.point)
		if err != nil {
			return nil, err
		}
		z.at = append(z.at, nodes)
		for i, v := range x.outputs {
			k := like.number[like.outputs[i].Node()]
			if got := nodes[k].Output(like.outputs[i].Index()).Type(); !got.Equal(v.Type()) {
				return nil, at(dims, x.point, fmt.Errorf("output %d is %v, where it should be %v as with other extents", i, v.Type(), got))
			}
		}
	}
	z.largest = slices.IndexFunc(z.points, func(p extent.Point) bool { return slices.Equal(p, extent.Largest(dims)) })
	for i, n := range z.at[z.largest] {
		z.number[n] = i
	}
	there := func(values []graph.Value) []graph.Value {
		out := make([]graph.Value, len(values))
		for i, v := range values {
			out[i] = z.at[z.largest][like.number[v.Node()]].Output(v.Index())
		}
		return out
	}
	z.roots, z.inputs = there(like.outputs), there(like.inputs)
	return z, nil
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
		if err == nil {
			err = likeOutputs(n, made)
		}
		if err != nil {
			return nil, fmt.Errorf("%v cannot run with %s: %w", n, extent.Text(z.space.Dims(), p), err)
		}
		nodes[k], to[n] = made, made
	}
	return nodes, nil
}
