package compile_test

import (
	"fmt"
	"slices"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/graphtest"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/view"
	"github.com/berth-go/berth/shape"
)

// atRows returns the graph that g is with another number of rows, which are the
// first axes of its inputs that have g.Rows of them. Views follow the shapes of
// what they are of. The data of inputs is that of g, as much as there is, and
// zeros from there on.
func atRows(g graphtest.Graph, rows int) (graphtest.Graph, error) {
	out := graphtest.Graph{Inputs: make(map[string]graph.Leaf), Rows: rows}
	to := make(map[*graph.Node]*graph.Node)
	for _, n := range graph.Nodes(g.Roots...) {
		var err error
		if to[n], err = nodeAtRows(g, n, rows, to); err != nil {
			return graphtest.Graph{}, fmt.Errorf("%v with %d rows: %w", n, rows, err)
		}
		if in, ok := n.Op().(graph.Input); ok {
			typ := to[n].Output(0).Type()
			data := kernel.Alloc(typ.Bytes())
			copy(data, g.Inputs[in.Key].Data)
			out.Inputs[in.Key] = graph.Leaf{Layout: shape.Dense(typ.Shape), Data: data}
		}
	}
	for _, r := range g.Roots {
		out.Roots = append(out.Roots, to[r.Node()].Output(r.Index()))
	}
	return out, nil
}

func nodeAtRows(g graphtest.Graph, n *graph.Node, rows int, to map[*graph.Node]*graph.Node) (*graph.Node, error) {
	if in, ok := n.Op().(graph.Input); ok {
		t := n.Output(0).Type()
		if t.Shape = t.Shape.Clone(); len(t.Shape) > 0 && t.Shape[0] == g.Rows {
			t.Shape[0] = rows
		}
		return graph.NewInput(in.Key, t)
	}
	if n.IsLeaf() {
		return n, nil
	}
	ins := make([]graph.Value, n.NumInputs())
	same := true
	for i := range ins {
		if v := n.Input(i); !v.IsZero() {
			ins[i] = to[v.Node()].Output(v.Index())
			same = same && ins[i].Type().Equal(v.Type())
		}
	}
	o := n.Op()
	if !same {
		var err error
		if o, err = follow(o, n.Input(0).Type().Shape, ins[0].Type().Shape); err != nil {
			return nil, err
		}
	}
	made, err := graph.New(o, ins...)
	if err != nil {
		return nil, err
	}
	return made.WithLabel(n.Label()), nil
}

// follow returns the op that does for an input of shape to what o does for one
// of shape from. Only views state extents that may be those of rows.
func follow(o graph.Op, from, to shape.Shape) (graph.Op, error) {
	switch o := o.(type) {
	case view.Reshape:
		s, err := followReshape(o.Shape, from, to)
		return view.Reshape{Shape: s}, err
	case view.BroadcastTo:
		s := slices.Clone(o.Shape)
		lead := len(s) - len(from)
		for i, d := range from {
			if s[lead+i] == d {
				s[lead+i] = to[i]
			}
		}
		return view.BroadcastTo{Shape: s}, nil
	case view.SliceView:
		axis, err := shape.Axis(o.Axis, len(from))
		if err != nil {
			return nil, err
		}
		if o.N == from[axis] { // all of the axis, in either direction
			o.N = to[axis]
			if o.Step < 0 {
				o.Start = to[axis] - 1
			}
		}
		return o, nil
	}
	return o, nil
}

// followReshape returns the shape that corresponds to target when the input
// of a reshape has the shape to instead of from. The axes of both sides are
// cut from the left into the smallest groups of equal products; an extent that
// changed scales the one extent of its group that it divides.
func followReshape(target []int, from, to shape.Shape) (shape.Shape, error) {
	out := shape.Shape(slices.Clone(target))
	if slices.Equal(from, to) {
		return out, nil
	}
	if from.Elems() == 0 {
		return nil, fmt.Errorf("a reshape of %v to %v does not tell which extents are rows", from, out)
	}
	i, j := 0, 0
	for i < len(from) || j < len(out) {
		firstI, firstJ, a, b := i, j, 1, 1
		for {
			if a <= b && i < len(from) {
				a *= from[i]
				i++
			} else if j < len(out) {
				b *= out[j]
				j++
			} else if i < len(from) {
				a *= from[i]
				i++
			}
			if a == b && (i > firstI || i == len(from)) && (j > firstJ || j == len(out)) {
				break
			}
		}
		for k := firstI; k < i; k++ {
			if from[k] == to[k] {
				continue
			}
			at := slices.IndexFunc(out[firstJ:j], func(d int) bool { return d%from[k] == 0 })
			if at < 0 {
				return nil, fmt.Errorf("no extent of %v is a multiple of axis %d of %v", shape.Shape(target), k, from)
			}
			out[firstJ+at] = out[firstJ+at] / from[k] * to[k]
		}
	}
	return out, nil
}
