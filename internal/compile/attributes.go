package compile

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/extent"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/shape"
)

// A learnedOp is what of a node's op and outputs depends on the dimensions.
type learnedOp struct {
	fields []field
	dims   [][]extent.Func // of the outputs; none of a constant
}

// A field is an integer among the attributes of an op: number elem of the list
// that the field of the struct is, or the field itself, as elem 0.
type field struct {
	index, elem int
	value       extent.Func
}

// node returns the node like n at the point where functions have the given
// values. It reads the nodes that to holds for those that n reads.
func (l *learnedOp) node(n *graph.Node, values []int, to map[*graph.Node]*graph.Node) (*graph.Node, error) {
	if in, ok := n.Op().(graph.Input); ok {
		dims := make(shape.Shape, len(l.dims[0]))
		for a, f := range l.dims[0] {
			dims[a] = values[f]
		}
		return graph.NewInput(in.Key, graph.Type{DType: n.Output(0).Type().DType, Shape: dims})
	}
	if n.IsLeaf() {
		return n, nil
	}
	ins := make([]graph.Value, n.NumInputs())
	for i := range ins {
		if v := n.Input(i); !v.IsZero() {
			ins[i] = to[v.Node()].Output(v.Index())
		}
	}
	cell := newOpCell(n.Op(), l.fields)
	cell.set(values)
	made, err := graph.New(cell.at.Elem().Interface().(graph.Op), ins...)
	if err != nil {
		return nil, err
	}
	return made.WithLabel(n.Label()), nil
}

// An opCell is an op whose attributes are set anew for each point.
type opCell struct {
	fields []field
	at     reflect.Value // a pointer to the struct
	lists  [][]int       // by field, where it is one of a list
}

func newOpCell(o graph.Op, fields []field) *opCell {
	c := &opCell{fields: fields, at: reflect.New(reflect.TypeOf(o)), lists: make([][]int, len(fields))}
	c.at.Elem().Set(reflect.ValueOf(o))
	fresh := make(map[int][]int)
	for i, f := range fields {
		field := c.at.Elem().Field(f.index)
		if list, ok := field.Interface().([]int); ok && fresh[f.index] == nil {
			fresh[f.index] = slices.Clone(list)
			field.Set(reflect.ValueOf(fresh[f.index]))
		}
		c.lists[i] = fresh[f.index]
	}
	return c
}

// set gives the attributes the values that functions have at a point. It
// allocates nothing.
func (c *opCell) set(values []int) {
	for i, f := range c.fields {
		if c.lists[i] != nil {
			c.lists[i][f.elem] = values[f.value]
			continue
		}
		switch field := c.at.Elem().Field(f.index); field.Kind() {
		case reflect.Int:
			field.SetInt(int64(values[f.value]))
		default: // a scalar, of type int64
			field.Field(1).SetUint(uint64(values[f.value]))
		}
	}
}

// learnOps finds the op of every node as a function of the dimensions, from
// the builds.
func (z *sizes) learnOps() error {
	z.ops = make([]*learnedOp, len(z.at[0]))
	for k, n := range z.at[0] {
		column := make([]*graph.Node, len(z.at))
		for s := range z.at {
			column[s] = z.at[s][k]
		}
		var err error
		if z.ops[k], err = z.learnOp(column); err != nil {
			return fmt.Errorf("%v cannot vary: %w", n, err)
		}
	}
	return nil
}

// learnOp finds the op of one node and the extents of its outputs, given the node of
// each build.
func (z *sizes) learnOp(column []*graph.Node) (*learnedOp, error) {
	first := column[0]
	l := new(learnedOp)
	if first.Stored() != nil {
		for s, n := range column[1:] {
			if !sameConstant(first, n) {
				return nil, fmt.Errorf("it is one constant with %s and another with %s", z.text(0), z.text(s+1))
			}
		}
		return l, nil
	}
	if typ := reflect.TypeOf(first.Op()); typ.Kind() == reflect.Struct {
		for f := range typ.NumField() {
			values := make([]reflect.Value, len(column))
			for s, n := range column {
				values[s] = reflect.ValueOf(n.Op()).Field(f)
			}
			fields, err := z.learnField(f, values)
			if err != nil {
				return nil, fmt.Errorf("attribute %s %w", typ.Field(f).Name, err)
			}
			l.fields = append(l.fields, fields...)
		}
	}
	// Functions of later nodes are likely to be made of the extents of this one.
	for o := range first.NumOutputs() {
		dims := make([]extent.Func, len(first.Output(o).Type().Shape))
		for a := range dims {
			var err error
			if dims[a], err = z.fit(func(s int) int { return column[s].Output(o).Type().Shape[a] }); err != nil {
				return nil, fmt.Errorf("axis %d of output %d %w", a, o, err)
			}
		}
		l.dims = append(l.dims, dims)
	}
	return l, nil
}

// learnField finds what of one attribute depends on the dimensions.
func (z *sizes) learnField(index int, values []reflect.Value) ([]field, error) {
	other := slices.IndexFunc(values, func(v reflect.Value) bool { return !reflect.DeepEqual(v.Interface(), values[0].Interface()) })
	if other < 0 {
		return nil, nil
	}
	lists := make([][]int, len(values))
	for s, v := range values {
		var ok bool
		if lists[s], ok = integers(v.Interface()); !ok {
			return nil, fmt.Errorf("depends on the dimensions and is no integer: it is %v with %s and %v with %s",
				values[0], z.text(0), values[other], z.text(other))
		}
		if len(lists[s]) != len(lists[0]) {
			return nil, fmt.Errorf("is a list of %d with %s and of %d with %s", len(lists[0]), z.text(0), len(lists[s]), z.text(s))
		}
	}
	var out []field
	for i := range lists[0] {
		f, err := z.fit(func(s int) int { return lists[s][i] })
		if err != nil {
			return nil, fmt.Errorf("%s%w", inList("at %d ", values[0], i), err)
		}
		if _, constant := z.space.Constant(f); !constant {
			out = append(out, field{index, i, f})
		}
	}
	return out, nil
}

// inList prints the place of an integer in an attribute that is a list, and nothing
// for one alone.
func inList(format string, attribute reflect.Value, i int) string {
	if attribute.Kind() != reflect.Slice {
		return ""
	}
	return fmt.Sprintf(format, i)
}

// integers returns an attribute that is a list of integers, or one of them alone.
func integers(attribute any) (list []int, ok bool) {
	switch a := attribute.(type) {
	case []int:
		return a, true
	case int:
		return []int{a}, true
	case kernel.Scalar:
		return []int{int(a.Bits)}, a.DType == dtype.Int64
	}
	return nil, false
}

func sameConstant(a, b *graph.Node) bool {
	x, y := a.Stored(), b.Stored()
	if y == nil || !a.Output(0).Type().Equal(b.Output(0).Type()) || !x.Layout.Equal(y.Layout) || len(x.Data) != len(y.Data) {
		return false
	}
	// Weights are the same memory in all builds, which saves reading them.
	return len(x.Data) == 0 || &x.Data[0] == &y.Data[0] || bytes.Equal(x.Data, y.Data)
}

// sameOp reports whether two nodes have an op of one type, and both are constants or
// none is.
func sameOp(a, b *graph.Node) bool {
	return reflect.TypeOf(a.Op()) == reflect.TypeOf(b.Op()) && (a.Stored() == nil) == (b.Stored() == nil)
}

// sameAttributes reports whether nodes, whose ops are of one type pair by pair, have
// the same attributes but for integers, which are as many in each list.
func sameAttributes(as, bs []*graph.Node) bool {
	for k := range as {
		a, b := reflect.ValueOf(as[k].Op()), reflect.ValueOf(bs[k].Op())
		if a.Kind() != reflect.Struct {
			continue
		}
		for f := range a.NumField() {
			x, y := a.Field(f).Interface(), b.Field(f).Interface()
			list, ok := integers(x)
			other, _ := integers(y)
			if len(list) != len(other) || !ok && !reflect.DeepEqual(x, y) {
				return false
			}
		}
	}
	return true
}
