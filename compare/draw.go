package main

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/berth-go/berth/internal/wire"
)

// A draw is a random model of one node, while it is being made. The methods add to the
// node in the order of its inputs and outputs.
type draw struct {
	*rand.Rand
	opset   int64
	node    wire.Node
	inputs  []wire.Tensor // of the run
	weights []wire.Tensor // of the model
	outputs []wire.DataType
	tol     tolerance
	// after are nodes behind the node, which read its outputs.
	after []wire.Node
	// wild says that elements may be any number: NaN, infinite, the largest.
	wild bool
}

// The opset versions that are drawn from: those that ONNX Runtime 1.23 has of the ones
// that Berth reads.
const oldest, newest = 7, 23

// drawCase returns model number i of an operator, which exists since an opset version.
func drawCase(name string, g generator, seed uint64, i int) *draw {
	h := fnv.New64a()
	fmt.Fprint(h, name)
	d := &draw{Rand: rand.New(rand.NewPCG(seed+uint64(i)<<20, h.Sum64())), tol: elementwise}
	d.node.Domain, d.node.OpType = "", name
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		d.node.Domain, d.node.OpType = name[:i], name[i+1:]
	}
	since := max(g.since, oldest)
	d.opset = since + d.Int64N(newest-since+1)
	d.wild = d.IntN(3) == 0
	g.draw(d)
	return d
}

// opsetOf is the version of each domain other than ai.onnx that models ask for.
var opsetOf = map[string]int64{"ai.onnx.ml": 3, "com.microsoft": 1}

// model returns the encoded model.
func (d *draw) model() []byte {
	g := &wire.Graph{Name: "one", Nodes: append([]wire.Node{d.node}, d.after...), Initializers: d.weights}
	for i := range d.inputs {
		t := &d.inputs[i]
		shape := &wire.Shape{}
		for _, n := range t.Dims {
			shape.Dims = append(shape.Dims, wire.Dim{HasValue: true, Value: n})
		}
		g.Inputs = append(g.Inputs, wire.ValueInfo{Name: t.Name, Type: &wire.Type{Tensor: &wire.TensorType{Elem: t.DataType, Shape: shape}}})
	}
	last := &g.Nodes[len(g.Nodes)-1]
	for i, name := range last.Outputs {
		if name != "" {
			g.Outputs = append(g.Outputs, wire.ValueInfo{Name: name, Type: &wire.Type{Tensor: &wire.TensorType{Elem: d.outputs[i]}}})
		}
	}
	imports := []wire.OperatorSet{{Version: d.opset}}
	for domain, version := range opsetOf {
		if d.node.Domain == domain {
			imports = append(imports, wire.OperatorSet{Domain: domain, Version: version})
		}
	}
	ir := int64(8)
	if d.opset > 18 {
		ir = 10
	}
	return wire.AppendModel(nil, &wire.Model{IRVersion: ir, OpsetImports: imports, Graph: g})
}

// String describes the model and its inputs.
func (d *draw) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, opset %d:", d.node.OpType, d.opset)
	for _, name := range d.node.Inputs {
		switch t, constant := d.tensor(name); {
		case t == nil:
			b.WriteString(" -")
		case constant:
			b.WriteString(" constant " + text(t))
		default:
			b.WriteString(" " + text(t))
		}
	}
	for i := range d.node.Attributes {
		a := &d.node.Attributes[i]
		fmt.Fprintf(&b, " %s=", a.Name)
		switch a.Kind {
		case wire.AttrInt:
			fmt.Fprint(&b, a.Int)
		case wire.AttrInts:
			fmt.Fprint(&b, a.Ints)
		case wire.AttrFloat:
			fmt.Fprintf(&b, "%g", a.Float)
		case wire.AttrFloats:
			fmt.Fprint(&b, a.Floats)
		case wire.AttrString:
			fmt.Fprintf(&b, "%q", a.Bytes)
		case wire.AttrStrings:
			fmt.Fprintf(&b, "%q", a.Strings)
		case wire.AttrTensor:
			b.WriteString(text(a.Tensor))
		}
	}
	if n := len(d.node.Outputs); n != 1 {
		fmt.Fprintf(&b, " outputs %q", d.node.Outputs)
	}
	for _, n := range d.after {
		b.WriteString(" | " + n.OpType)
	}
	return b.String()
}

func (d *draw) tensor(name string) (t *wire.Tensor, constant bool) {
	for i := range d.inputs {
		if d.inputs[i].Name == name {
			return &d.inputs[i], false
		}
	}
	for i := range d.weights {
		if d.weights[i].Name == name {
			return &d.weights[i], true
		}
	}
	return nil, false
}

// coin is true half of the time.
func (d *draw) coin() bool { return d.IntN(2) == 0 }

// one returns one of some values.
func one[T any](d *draw, of ...T) T { return of[d.IntN(len(of))] }

// extent returns an extent of an axis: mostly from 2 to 5, sometimes 1, rarely 0.
func (d *draw) extent() int64 {
	switch n := d.IntN(20); {
	case n == 0:
		return 0
	case n < 5:
		return 1
	case n == 5:
		return 17
	default:
		return 2 + d.Int64N(4)
	}
}

// full returns an extent that is not 0.
func (d *draw) full() int64 { return max(d.extent(), 1) }

// shape returns extents of a rank between two.
func (d *draw) shape(least, most int) []int64 {
	dims := make([]int64, least+d.IntN(most-least+1))
	for i := range dims {
		dims[i] = d.extent()
	}
	return dims
}

// solid is shape without extents of 0.
func (d *draw) solid(least, most int) []int64 {
	dims := d.shape(least, most)
	for i := range dims {
		dims[i] = max(dims[i], 1)
	}
	return dims
}

// axis returns an axis of a rank, counted from either end.
func (d *draw) axis(rank int) int64 { return d.Int64N(int64(2*rank)) - int64(rank) }

// axes returns some axes of a rank, each once, counted from the front or, where the
// operator allows that, from either end.
func (d *draw) axes(rank int, negative bool) []int64 {
	axes := []int64{}
	for _, a := range d.Perm(rank)[:d.IntN(rank+1)] {
		if negative && d.coin() {
			a -= rank
		}
		axes = append(axes, int64(a))
	}
	return axes
}

// subshape returns a shape that broadcasts to dims.
func (d *draw) subshape(dims []int64) []int64 {
	s := append([]int64{}, dims...)
	for i := range s {
		if d.IntN(4) == 0 {
			s[i] = 1
		}
	}
	if d.IntN(3) == 0 {
		s = s[d.IntN(len(s)+1):]
	}
	return s
}

// number returns an element of a type: small numbers, and any there are where d is wild.
func (d *draw) number(t wire.DataType) float64 {
	switch {
	case t == wire.Bool:
		return float64(d.IntN(2))
	case !isFloat(t):
		x := float64(d.IntN(21) - 10)
		if t == wire.Uint8 || t == wire.Uint16 || t == wire.Uint32 || t == wire.Uint64 {
			x = float64(d.IntN(21))
		}
		return x
	case d.wild && d.IntN(4) == 0:
		return one(d, math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0, 1, -1, 0.5, -0.5, 1.5, 2.5,
			100, -100, 1000, -1000, 1e30, -1e30, 1e-30, math.MaxFloat32, 1e-40)
	}
	return d.NormFloat64() * one(d, 1., 1., 1., 10.)
}

// values returns a tensor with elements that number draws, any bits where integers are
// wild.
func (d *draw) values(t wire.DataType, dims []int64) wire.Tensor {
	v := wire.Tensor{DataType: t, Dims: dims}
	for range elements(&v) {
		switch {
		case t == wire.String:
			v.StringData = append(v.StringData, []byte(one(d, "", "a", "B", "Straße", "a b", "0", "-1.5", "éa")))
		case d.wild && !isFloat(t) && t != wire.Bool && d.IntN(4) == 0:
			v.Raw = appendInt(v.Raw, t, int64(d.Uint64()))
		default:
			v.Raw = appendElement(v.Raw, t, d.number(t))
		}
	}
	return v
}

// numbersOf returns a tensor with elements that f draws.
func numbersOf(t wire.DataType, dims []int64, f func() float64) wire.Tensor {
	v := wire.Tensor{DataType: t, Dims: dims}
	for range elements(&v) {
		v.Raw = appendElement(v.Raw, t, f())
	}
	return v
}

// add makes v the next input of the node.
func (d *draw) add(v wire.Tensor, constant bool) {
	v.Name = fmt.Sprint("x", len(d.node.Inputs))
	d.node.Inputs = append(d.node.Inputs, v.Name)
	if constant {
		d.weights = append(d.weights, v)
	} else {
		d.inputs = append(d.inputs, v)
	}
}

// input adds an input with random elements.
func (d *draw) input(t wire.DataType, dims []int64) { d.add(d.values(t, dims), false) }

// tame adds an input with small elements.
func (d *draw) tame(t wire.DataType, dims []int64) {
	wild := d.wild
	d.wild = false
	d.input(t, dims)
	d.wild = wild
}

// positive adds an input with elements from 0.1 on.
func (d *draw) positive(t wire.DataType, dims []int64) {
	d.add(numbersOf(t, dims, func() float64 { return 0.1 + 2*d.Float64() }), false)
}

// list adds integers of rank 1, in the model or as an input of the run.
func (d *draw) list(t wire.DataType, v ...int64) {
	x := wire.Tensor{DataType: t, Dims: []int64{int64(len(v))}}
	for _, n := range v {
		x.Raw = appendInt(x.Raw, t, n)
	}
	d.add(x, d.IntN(3) > 0)
}

// scalar adds a number of rank 0.
func (d *draw) scalar(t wire.DataType, x float64) {
	d.add(wire.Tensor{DataType: t, Dims: []int64{}, Raw: appendElement(nil, t, x)}, d.coin())
}

// absent leaves an optional input out.
func (d *draw) absent() { d.node.Inputs = append(d.node.Inputs, "") }

// index adds integers from -n to n-1, or from 0 where the operator counts no index from
// the end.
func (d *draw) index(t wire.DataType, dims []int64, n int64, negative bool) {
	d.add(numbersOf(t, dims, func() float64 {
		if negative && d.coin() {
			return -1 - float64(d.Int64N(n))
		}
		return float64(d.Int64N(n))
	}), false)
}

func (d *draw) int(name string, v int64) {
	d.node.Attributes = append(d.node.Attributes, wire.Attribute{Name: name, Kind: wire.AttrInt, Int: v})
}

func (d *draw) ints(name string, v ...int64) {
	d.node.Attributes = append(d.node.Attributes, wire.Attribute{Name: name, Kind: wire.AttrInts, Ints: v})
}

func (d *draw) float(name string, v float64) {
	d.node.Attributes = append(d.node.Attributes, wire.Attribute{Name: name, Kind: wire.AttrFloat, Float: float32(v)})
}

func (d *draw) floats(name string, v ...float32) {
	d.node.Attributes = append(d.node.Attributes, wire.Attribute{Name: name, Kind: wire.AttrFloats, Floats: v})
}

func (d *draw) str(name, v string) {
	d.node.Attributes = append(d.node.Attributes, wire.Attribute{Name: name, Kind: wire.AttrString, Bytes: []byte(v)})
}

func (d *draw) strs(name string, v ...string) {
	a := wire.Attribute{Name: name, Kind: wire.AttrStrings}
	for _, s := range v {
		a.Strings = append(a.Strings, []byte(s))
	}
	d.node.Attributes = append(d.node.Attributes, a)
}

// maybe calls f half of the time: for what has a default.
func (d *draw) maybe(f func()) {
	if d.coin() {
		f()
	}
}

// output adds outputs of given types; Undefined stands for one that is left out.
func (d *draw) output(types ...wire.DataType) {
	for _, t := range types {
		name := fmt.Sprint("y", len(d.outputs))
		if t == wire.Undefined {
			name = ""
		}
		d.node.Outputs = append(d.node.Outputs, name)
		d.outputs = append(d.outputs, t)
	}
}

// Element types, the commonest more often.
var (
	floats   = []wire.DataType{wire.Float, wire.Float, wire.Float, wire.Double, wire.Float16}
	singles  = []wire.DataType{wire.Float, wire.Float, wire.Double}
	integers = []wire.DataType{wire.Int8, wire.Int16, wire.Int32, wire.Int64, wire.Uint8, wire.Uint16, wire.Uint32, wire.Uint64}
	numeric  = append(append([]wire.DataType{wire.Float, wire.Int32, wire.Int64}, floats...), integers...)
	anything = append([]wire.DataType{wire.Bool, wire.String}, numeric...)
	indices  = []wire.DataType{wire.Int32, wire.Int64}
)
