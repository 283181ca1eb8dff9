package compile

import (
	"fmt"
	"slices"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/view"
	"github.com/berth-go/berth/shape"
)

// maxRows returns the largest number of rows of the inputs under roots, 1 when
// none varies. All that vary must have the same.
func maxRows(roots []graph.Value) (int, error) {
	nodes, err := sorted(roots)
	if err != nil {
		return 0, err
	}
	most := 0
	for _, n := range nodes {
		in, ok := n.Op().(graph.Input)
		if !ok || len(in.Rows) == 0 {
			continue
		}
		rows := n.Output(0).Type().Shape[in.Rows[0]]
		if rows < 1 || most != 0 && rows != most {
			return 0, fmt.Errorf("input %q has at most %d rows, another one %d", in.Key, rows, most)
		}
		most = rows
	}
	return max(most, 1), nil
}

// sampleRows returns the row counts, ascending, at which a graph is looked at
// to learn how its shapes depend on the rows of a run. The first three
// determine a polynomial of degree two and the others must agree with it; of
// few rows there are no others.
func sampleRows(most int) []int {
	rows := []int{1, 2, 3, most / 2, most - 1, most}
	rows = slices.DeleteFunc(rows, func(r int) bool { return r < 1 || r > most })
	slices.Sort(rows)
	return slices.Compact(rows)
}

// resize returns the sampled numbers of rows, and for each the nodes under
// roots made for that many. Asked are the values before any rewrite, which
// rebuild, unless it is nil, makes for other numbers of rows.
func resize(asked, roots []graph.Value, most int, rebuild Rebuild) (samples []int, at []map[*graph.Node]*graph.Node, err error) {
	nodes, err := sorted(roots)
	if err != nil {
		return nil, nil, err
	}
	ops := func(int) map[uint64]graph.Op { return nil }
	if rebuild != nil && most > 1 {
		if ops, err = opsByRows(asked, most, rebuild); err != nil {
			return nil, nil, err
		}
	}
	samples = sampleRows(most)
	at = make([]map[*graph.Node]*graph.Node, len(samples))
	for s, r := range samples {
		if r == most {
			at[s] = make(map[*graph.Node]*graph.Node, len(nodes))
			for _, n := range nodes {
				at[s][n] = n
			}
			continue
		}
		if at[s], err = resized(nodes, r, ops(r)); err != nil {
			return nil, nil, err
		}
	}
	return samples, at, nil
}

// resized rebuilds the nodes of a graph, given in execution order for the most
// rows, for another number of rows. Ops holds, by the origin of a node, an op
// that takes the place of the node's own.
func resized(nodes []*graph.Node, rows int, ops map[uint64]graph.Op) (map[*graph.Node]*graph.Node, error) {
	to := make(map[*graph.Node]*graph.Node, len(nodes))
	for _, n := range nodes {
		small, err := resizeNode(n, rows, ops, to)
		if err != nil {
			return nil, fmt.Errorf("%v cannot run with %d rows: %w", n, rows, err)
		}
		to[n] = small
	}
	return to, nil
}

func resizeNode(n *graph.Node, rows int, ops map[uint64]graph.Op, to map[*graph.Node]*graph.Node) (*graph.Node, error) {
	if in, ok := n.Op().(graph.Input); ok {
		t := n.Output(0).Type()
		t.Shape = t.Shape.Clone()
		for _, axis := range in.Rows {
			t.Shape[axis] = rows
		}
		return graph.NewInput(in.Key, t, in.Rows...)
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
	if replaced, ok := ops[n.Origin()]; ok {
		o = replaced
	} else if !same {
		var err error
		if o, err = follow(o, n.Input(0).Type().Shape, ins[0].Type().Shape); err != nil {
			return nil, err
		}
	}
	small, err := graph.New(o, ins...)
	if err != nil {
		return nil, err
	}
	return small.WithLabel(n.Label()), nil
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
