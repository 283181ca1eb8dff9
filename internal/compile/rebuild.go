package compile

import (
	"bytes"
	"fmt"
	"reflect"

	"github.com/berth-go/berth/graph"
)

// A Rebuild builds a graph anew for another number of rows: the same nodes in
// the same order, with other extents. It returns the outputs.
type Rebuild func(rows int) ([]graph.Value, error)

// opsByRows returns the ops of the nodes of a graph, by origin, as a function
// of the rows. It is learned from building the graph
// for a few numbers of rows above the most: the integers among the attributes
// of an op are taken for polynomials of degree two in the rows. (At very few
// rows a builder may see extents of 1 and leave nodes out; above, it does not.)
func opsByRows(roots []graph.Value, most int, rebuild Rebuild) (func(rows int) map[uint64]graph.Op, error) {
	const more = 3 // two to learn from, one to check
	nodes, err := sorted(roots)
	if err != nil {
		return nil, err
	}
	builds := [][]*graph.Node{nodes}
	for i := 1; i <= more; i++ {
		roots, err := rebuild(most + i)
		if err != nil {
			return nil, fmt.Errorf("with %d rows: %w", most+i, err)
		}
		again, err := sorted(roots)
		if err != nil {
			return nil, err
		}
		if len(again) != len(nodes) {
			return nil, fmt.Errorf("with %d rows the graph has %d nodes, with %d it has %d", most, len(nodes), most+i, len(again))
		}
		builds = append(builds, again)
	}
	learned := make(map[uint64]func(rows int) graph.Op)
	for k, n := range nodes {
		at := make([]*graph.Node, len(builds))
		for b := range builds {
			at[b] = builds[b][k]
		}
		op, err := learn(at, most)
		if err != nil {
			return nil, fmt.Errorf("%v: %w", n, err)
		}
		if op != nil {
			learned[n.Origin()] = op
		}
	}
	return func(rows int) map[uint64]graph.Op {
		ops := make(map[uint64]graph.Op, len(learned))
		for origin, op := range learned {
			ops[origin] = op(rows)
		}
		return ops
	}, nil
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

// learn returns the op of a node as a function of the rows, from the node at
// most, most+1, ... rows. Leaves have none.
func learn(at []*graph.Node, most int) (func(rows int) graph.Op, error) {
	first := at[0]
	for _, n := range at[1:] {
		if reflect.TypeOf(n.Op()) != reflect.TypeOf(first.Op()) || n.NumInputs() != first.NumInputs() {
			return nil, fmt.Errorf("is another op, %v, with more rows", n)
		}
		if first.Leaf() != nil && !sameConstant(first, n) {
			return nil, fmt.Errorf("is a constant that depends on the number of rows")
		}
	}
	if first.IsLeaf() {
		return nil, nil
	}
	typ := reflect.TypeOf(first.Op())
	if typ.Kind() != reflect.Struct {
		return nil, fmt.Errorf("is no struct of attributes")
	}
	fields := make([]func(rows int, field reflect.Value), typ.NumField())
	for f := range fields {
		values := make([]reflect.Value, len(at))
		for b, n := range at {
			values[b] = reflect.ValueOf(n.Op()).Field(f)
		}
		var err error
		if fields[f], err = learnField(values, most); err != nil {
			return nil, fmt.Errorf("attribute %s: %w", typ.Field(f).Name, err)
		}
	}
	return func(rows int) graph.Op {
		o := reflect.New(typ).Elem()
		o.Set(reflect.ValueOf(first.Op()))
		for f, set := range fields {
			if set != nil {
				set(rows, o.Field(f))
			}
		}
		return o.Interface().(graph.Op)
	}, nil
}

func sameConstant(a, b *graph.Node) bool {
	x, y := a.Leaf(), b.Leaf()
	if y == nil || !a.Output(0).Type().Equal(b.Output(0).Type()) || !x.Layout.Equal(y.Layout) {
		return false
	}
	if len(x.Data) > 0 && len(y.Data) == len(x.Data) && &x.Data[0] == &y.Data[0] {
		return true // the weights of the model, not read again
	}
	return bytes.Equal(x.Data, y.Data)
}

// learnField returns what sets a field for a number of rows, or nil when the
// field does not depend on them.
func learnField(values []reflect.Value, most int) (func(rows int, field reflect.Value), error) {
	same := true
	for _, v := range values[1:] {
		same = same && reflect.DeepEqual(v.Interface(), values[0].Interface())
	}
	if same {
		return nil, nil
	}
	switch values[0].Interface().(type) {
	case int:
		numbers := make([]int, len(values))
		for b, v := range values {
			numbers[b] = int(v.Int())
		}
		p, err := extrapolate(numbers, most)
		return func(rows int, field reflect.Value) { field.SetInt(int64(p.At(rows))) }, err
	case []int:
		lists := make([][]int, len(values))
		for b, v := range values {
			if lists[b] = v.Interface().([]int); len(lists[b]) != len(lists[0]) {
				return nil, fmt.Errorf("has another length with more rows")
			}
		}
		polys := make([]Poly, len(lists[0]))
		for i := range polys {
			numbers := make([]int, len(lists))
			for b := range lists {
				numbers[b] = lists[b][i]
			}
			var err error
			if polys[i], err = extrapolate(numbers, most); err != nil {
				return nil, err
			}
		}
		return func(rows int, field reflect.Value) {
			list := make([]int, len(polys))
			for i, p := range polys {
				list[i] = p.At(rows)
			}
			field.Set(reflect.ValueOf(list))
		}, nil
	}
	return nil, fmt.Errorf("depends on the number of rows: %v and %v", values[0], values[1])
}

// extrapolate returns the polynomial with the given values at most, most+1, ...
// rows.
func extrapolate(values []int, most int) (Poly, error) {
	var p Poly
	p.Bend = values[2] - 2*values[1] + values[0]
	p.Slope = values[1] - values[0] - p.Bend*(most-1)
	p.First = values[0] - p.Slope*(most-1) - p.Bend*((most-1)*(most-2)/2)
	for i, v := range values {
		if p.At(most+i) != v {
			return p, fmt.Errorf("values %v at %d rows and more follow no polynomial of degree 2", values, most)
		}
	}
	return p, nil
}
