package onnx

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/wire"
	"github.com/berth-go/berth/shape"
)

// A call is one node being converted: what a converter sees. Its methods do
// not return errors. One that fails unwinds to [call.convert], so that a
// converter reads like the operator's specification.
type call struct {
	imp   *importer
	node  *node
	scope *scope
	in    []graph.Value // an absent optional input is the zero Value
	asked []string      // the attributes that the converter asked for
}

// failure carries an error up to convert.
type failure struct{ err error }

// convert calls the node's converter, and refuses attributes that it does not
// know.
func (c *call) convert() (outs []graph.Value, err error) {
	defer func() {
		switch f := recover().(type) {
		case nil:
		case failure:
			err = f.err
		default:
			panic(f)
		}
	}()
	outs = c.node.row.convert(c)
	return outs, c.unknownAttributes()
}

func (c *call) must(err error) {
	if err != nil {
		panic(failure{err})
	}
}

func (c *call) failf(format string, args ...any) { c.must(fmt.Errorf(format, args...)) }

// opset returns the version of the operators that the model has the node from.
func (c *call) opset() int64 { return c.imp.model.opsets[canonicalDomain(c.node.node.Domain)] }

// input returns input i, or the zero Value when it is absent.
func (c *call) input(i int) graph.Value {
	if i < len(c.in) {
		return c.in[i]
	}
	return graph.Value{}
}

// has reports whether input i is there.
func (c *call) has(i int) bool { return !c.input(i).IsZero() }

// rank returns the number of axes of input i.
func (c *call) rank(i int) int { return len(c.in[i].Type().Shape) }

// shape returns the extents of input i, which must not be changed.
func (c *call) shape(i int) shape.Shape { return c.in[i].Type().Shape }

// axis returns a counted from 0 for the given rank.
func (c *call) axis(a, rank int) int {
	n, err := shape.Axis(a, rank)
	c.must(err)
	return n
}

// axes returns a list of axes counted from 0. None may be there twice.
func (c *call) axes(list []int, rank int) []int {
	out := make([]int, len(list))
	for i, a := range list {
		if out[i] = c.axis(a, rank); slices.Contains(out[:i], out[i]) {
			c.failf("axes %v name axis %d twice", list, out[i])
		}
	}
	return out
}

// upTo returns the numbers 0 to n-1.
func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// wants reports whether output i is named, that is, used.
func (c *call) wants(i int) bool {
	return i < len(c.node.node.Outputs) && c.node.node.Outputs[i] != ""
}

// numOutputs returns how many outputs the node names.
func (c *call) numOutputs() int { return len(c.node.node.Outputs) }

// attr returns the attribute of the given name, or nil, after checking its kind.
func (c *call) attr(name string, kind wire.AttrKind) *wire.Attribute {
	c.asked = append(c.asked, name)
	for i := range c.node.node.Attributes {
		a := &c.node.node.Attributes[i]
		if a.Name != name {
			continue
		}
		if a.Kind != kind {
			c.failf("attribute %q is of kind %v, not %v", name, a.Kind, kind)
		}
		return a
	}
	return nil
}

// hasAttr reports whether the node has an attribute, of any kind.
func (c *call) hasAttr(name string) bool {
	c.asked = append(c.asked, name)
	return slices.ContainsFunc(c.node.node.Attributes, func(a wire.Attribute) bool { return a.Name == name })
}

// attrOr returns what get reads of an attribute, or def when it is absent.
func attrOr[T any](c *call, name string, kind wire.AttrKind, def T, get func(a *wire.Attribute) T) T {
	if a := c.attr(name, kind); a != nil {
		return get(a)
	}
	return def
}

// int returns an integer attribute, or def.
func (c *call) int(name string, def int) int {
	return attrOr(c, name, wire.AttrInt, def, func(a *wire.Attribute) int { return c.toInt(a.Int) })
}

// flag returns an integer attribute that stands for a truth value.
func (c *call) flag(name string, def bool) bool {
	return attrOr(c, name, wire.AttrInt, def, func(a *wire.Attribute) bool { return a.Int != 0 })
}

// ints returns a list of integers, or nil when the attribute is absent.
func (c *call) ints(name string) []int {
	return attrOr(c, name, wire.AttrInts, nil, func(a *wire.Attribute) []int { return c.toInts(a.Ints) })
}

// float returns a floating-point attribute, or def.
func (c *call) float(name string, def float64) float64 {
	return attrOr(c, name, wire.AttrFloat, def, func(a *wire.Attribute) float64 { return float64(a.Float) })
}

// floats returns a list of floating-point numbers, or nil.
func (c *call) floats(name string) []float64 {
	return attrOr(c, name, wire.AttrFloats, nil, func(a *wire.Attribute) []float64 {
		out := make([]float64, len(a.Floats))
		for i, f := range a.Floats {
			out[i] = float64(f)
		}
		return out
	})
}

// text returns a string attribute, or def.
func (c *call) text(name, def string) string {
	return attrOr(c, name, wire.AttrString, def, func(a *wire.Attribute) string { return string(a.Bytes) })
}

// choice returns what a string attribute stands for, or what its default does.
func choice[T any](c *call, name, def string, among map[string]T) T {
	text := c.text(name, def)
	v, ok := among[text]
	if !ok {
		c.failf("attribute %q is %q, not one of %q at opset %d", name, text, sortedKeys(among), c.opset())
	}
	return v
}

// dtype returns an attribute that names an element type, or def.
func (c *call) dtype(name string, def dtype.Type) dtype.Type {
	a := c.attr(name, wire.AttrInt)
	if a == nil {
		return def
	}
	if a.Int < math.MinInt32 || a.Int > math.MaxInt32 {
		c.failf("attribute %q: %d is not an element type", name, a.Int)
	}
	t, err := elementType(wire.DataType(a.Int))
	c.must(err)
	return t
}

// tensor returns a tensor attribute as a constant, or the zero Value.
func (c *call) tensor(name string) graph.Value {
	a := c.attr(name, wire.AttrTensor)
	if a == nil {
		return graph.Value{}
	}
	v, err := leafOf(a.Tensor, c.imp.model.weights[a.Tensor])
	c.must(err)
	return v
}

func (c *call) toInt(v int64) int {
	n := int(v)
	if int64(n) != v {
		c.failf("%d does not fit this machine's int", v)
	}
	return n
}

func (c *call) toInts(list []int64) []int {
	out := make([]int, len(list))
	for i, v := range list {
		out[i] = c.toInt(v)
	}
	return out
}

// scalars returns the elements of input i, a list at most, in row-major order,
// because a shape depends on them.
func (c *call) scalars(i int) []kernel.Scalar {
	t := c.in[i].Type()
	if n := t.Shape.Elems(); n > mostListed {
		c.failf("input %d has %d elements; a list has at most %d", i, n, mostListed)
	}
	v, err := c.imp.known(c.in[i])
	if err != nil {
		c.must(fmt.Errorf("input %d %q: %w", i, c.node.node.Inputs[i], err))
	}
	leaf := v.Node().Leaf()
	data := kernel.Compact(leaf.Data, leaf.Layout, t.DType.Size())
	out := make([]kernel.Scalar, t.Shape.Elems())
	for k := range out {
		out[k] = kernel.ScalarAt(t.DType, data, k)
	}
	return out
}

// known returns the elements of input i, which must be of type int64 or int32
// and of rank 0 or 1, because a shape depends on them.
func (c *call) known(i int) []int {
	t := c.in[i].Type()
	if len(t.Shape) > 1 {
		c.failf("input %d has shape %v, not a list", i, t.Shape)
	}
	if t.DType != dtype.Int64 && t.DType != dtype.Int32 {
		c.failf("input %d is of type %v, not int64 or int32", i, t.DType)
	}
	out := []int{}
	for _, s := range c.scalars(i) {
		out = append(out, c.toInt(s.Int64()))
	}
	return out
}

// scalar returns the only element of a list of known values of input i.
func (c *call) scalar(i int) int {
	list := c.known(i)
	if len(list) != 1 {
		c.failf("input %d has %d elements, not 1", i, len(list))
	}
	return list[0]
}

// constant returns a leaf over the given elements.
func constant[T dtype.Element](c *call, data []T, dims ...int) graph.Value {
	n, err := graph.NewConstant(
		graph.Type{DType: dtype.Of[T](), Shape: dims},
		graph.Leaf{Layout: shape.Dense(dims), Data: kernel.Bytes(data)})
	c.must(err)
	return n.Output(0)
}

// list returns a value as the only output.
func list(v ...graph.Value) []graph.Value { return v }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
