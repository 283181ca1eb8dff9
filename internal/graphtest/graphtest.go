// Package graphtest makes random graphs, and evaluates graphs in the most
// obvious way, for tests of what plans and runs them.
package graphtest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/linear"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/internal/op/ops"
	"github.com/berth-go/berth/internal/op/reduce"
	"github.com/berth-go/berth/internal/op/view"
	"github.com/berth-go/berth/shape"
)

// Options shape random graphs.
type Options struct {
	// Inputs makes most leaves inputs instead of constants.
	Inputs bool
	// Rows is, if not 0, the extent of the first axis of every leaf that has
	// one; in inputs that axis is the rows.
	Rows int
}

// A Graph is a random graph: some of its values, and data for its inputs.
type Graph struct {
	Roots  []graph.Value
	Inputs map[string]graph.Leaf
}

// Random returns the random graph of the given seed.
func Random(t testing.TB, seed uint64, opt Options) Graph {
	b := &builder{t: t, rng: rand.New(rand.NewPCG(seed, 1)), opt: opt, inputs: make(map[string]graph.Leaf)}
	for range 2 + b.rng.IntN(3) {
		b.leaf()
	}
	for range 4 + b.rng.IntN(30) {
		b.grow()
	}
	g := Graph{Roots: []graph.Value{b.values[len(b.values)-1]}, Inputs: b.inputs}
	for range b.rng.IntN(4) {
		g.Roots = append(g.Roots, b.pick())
	}
	return g
}

// Eval returns the elements of v, which depends on no input, in row-major order.
func Eval(t testing.TB, v graph.Value) []byte { return EvalAll(t, Graph{Roots: []graph.Value{v}})[0] }

// EvalAll returns the elements of the roots of g in row-major order.
func EvalAll(t testing.TB, g Graph) [][]byte {
	e := &naive{t: t, inputs: g.Inputs, done: make(map[graph.Value][]byte)}
	out := make([][]byte, len(g.Roots))
	for i, r := range g.Roots {
		out[i] = e.eval(r)
	}
	return out
}

// builder grows a random graph. Every number stays a small integer, in all
// element types, so that sums are exact and no order of adding shows.
type builder struct {
	t      testing.TB
	rng    *rand.Rand
	opt    Options
	values []graph.Value
	inputs map[string]graph.Leaf
}

var types = []dtype.Type{dtype.Float32, dtype.Float32, dtype.Int32, dtype.Int64, dtype.Uint8, dtype.Float64, dtype.Float16, dtype.Bool}

func (b *builder) leaf() {
	t := types[b.rng.IntN(len(types))]
	dims := make(shape.Shape, b.rng.IntN(4))
	for i := range dims {
		dims[i] = []int{1, 2, 3, 4, 0}[min(b.rng.IntN(12)/2, 4)%5]
		if dims[i] == 0 && b.rng.IntN(4) > 0 {
			dims[i] = 2
		}
	}
	if b.opt.Rows > 0 && len(dims) > 0 {
		dims[0] = b.opt.Rows
	}
	typ := graph.Type{DType: dtype.Float32, Shape: dims}
	data := kernel.Alloc(typ.Bytes())
	for i, f := 0, kernel.Cast[float32](data); i < len(f); i++ {
		f[i] = float32(b.rng.IntN(7))
	}
	n, err := graph.NewConstant(typ, graph.Leaf{Layout: shape.Dense(dims), Data: data})
	if err != nil {
		b.t.Fatal(err)
	}
	v, err := elementwise.CastTo(n.Output(0), t)
	if err != nil {
		b.t.Fatal(err)
	}
	typ = v.Type()
	data = Eval(b.t, v)
	leaf := graph.Leaf{Layout: shape.Dense(typ.Shape), Data: data}
	if b.opt.Inputs && b.rng.IntN(4) > 0 {
		key := fmt.Sprint("in", len(b.inputs))
		b.inputs[key] = leaf
		var rows []int
		if b.opt.Rows > 0 && len(dims) > 0 {
			rows = []int{0}
		}
		n, err = graph.NewInput(key, typ, rows...)
	} else {
		n, err = graph.NewConstant(typ, leaf)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	b.values = append(b.values, n.Output(0))
}

func (b *builder) pick() graph.Value {
	// Late values more often, so that graphs get deep.
	i := max(b.rng.IntN(len(b.values)), b.rng.IntN(len(b.values)))
	return b.values[i]
}

// pickLike returns a value that x can be combined with.
func (b *builder) pickLike(x graph.Value) graph.Value {
	for range 8 {
		y := b.pick()
		if _, err := shape.Broadcast(x.Type().Shape, y.Type().Shape); err == nil && y.Type().DType == x.Type().DType {
			return y
		}
	}
	return x
}

// grow adds one node; ops that do not fit the operands picked are skipped.
func (b *builder) grow() {
	x := b.pick()
	s, d := x.Type().Shape, x.Type().DType
	if s.Elems() > 4096 {
		return
	}
	axis := 0
	if len(s) > 0 {
		axis = b.rng.IntN(len(s))
	}
	add := func(outs []graph.Value, err error) {
		if err == nil {
			b.values = append(b.values, outs...)
		}
	}
	one := func(v graph.Value, err error) { add([]graph.Value{v}, err) }
	numeric := d != dtype.Bool
	switch b.rng.IntN(22) {
	case 0, 1, 2: // elementwise, then wrapped into a small range
		if numeric {
			codes := []elementwise.Code{elementwise.Add, elementwise.Sub, elementwise.Mul, elementwise.Minimum, elementwise.Maximum}
			y := b.pickLike(x)
			if rank := len(s); rank >= 2 && s[rank-1] == s[rank-2] && b.rng.IntN(2) == 0 {
				// The same buffer in another layout: never to be overwritten.
				var err error
				if y, err = ops.One(view.Permute{Perm: lastTwoSwapped(rank)}, x); err != nil {
					b.t.Fatal(err)
				}
			}
			v, err := elementwise.Apply(codes[b.rng.IntN(len(codes))], nil, x, y)
			if err == nil {
				v, err = elementwise.WithScalar(elementwise.Mod, v, kernel.Int64Scalar(7), false)
			}
			one(v, err)
		} else {
			one(elementwise.Apply(elementwise.Xor, nil, x, b.pickLike(x)))
		}
	case 3: // in place, unless the operand is still read
		if numeric {
			n, err := graph.New(elementwise.Map{Program: elementwise.Program{{Code: elementwise.Abs, Args: args(0)}}}, x)
			if err == nil {
				b.values = append(b.values, n.Output(0))
			}
		} else {
			one(elementwise.Apply(elementwise.Not, nil, x))
		}
	case 4:
		one(elementwise.CastTo(x, types[b.rng.IntN(len(types))]))
	case 5:
		if numeric {
			one(elementwise.Apply(elementwise.LessEqual, nil, x, b.pickLike(x)))
		}
	case 6:
		for range 6 {
			if c := b.pick(); c.Type().DType == dtype.Bool {
				one(elementwise.Apply(elementwise.Where, nil, c, x, b.pickLike(x)))
				return
			}
		}
	case 7:
		one(ops.One(graph.Identity{}, x))
	case 8, 9:
		one(ops.One(graph.Contiguous{}, x))
	case 10:
		one(ops.One(graph.Cache{}, x))
	case 11, 12:
		one(ops.One(view.Permute{Perm: b.rng.Perm(len(s))}, x))
	case 13, 14:
		if len(s) > 0 && s[axis] > 0 {
			start, end := b.rng.IntN(s[axis]), b.rng.IntN(s[axis]+1)
			step := []int{1, 1, 2, -1, -2}[b.rng.IntN(5)]
			if step < 0 {
				end -= s[axis] + 1
			}
			first, n, err := view.SliceRange(start, end, step, s[axis])
			if err == nil && (n > 0 || b.rng.IntN(8) == 0) {
				one(ops.One(view.SliceView{Axis: axis, Start: first, N: n, Step: step}, x))
			}
		}
	case 15, 16:
		one(ops.One(view.Reshape{Shape: b.reshaped(s)}, x))
	case 17:
		to := append(shape.Shape{1 + b.rng.IntN(3)}, s...)
		for i, e := range s {
			if e == 1 {
				to[i+1] = 1 + b.rng.IntN(3)
			}
		}
		one(ops.One(view.BroadcastTo{Shape: to}, x))
	case 18:
		if len(s) > 0 {
			y := b.pickLike(x)
			one(ops.One(move.Concat{Axis: axis}, x, y, x))
		}
	case 19:
		if numeric && len(s) > 0 {
			one(ops.One(reduce.Reduce{Kind: reduce.Max, Axes: []int{axis}, KeepDims: b.rng.IntN(2) == 0}, x))
		}
	case 20:
		if len(s) > 0 && s[axis] > 0 && numeric {
			add(ops.Apply(reduce.TopK{K: 1 + b.rng.IntN(s[axis]), Axis: axis, Largest: true, Sorted: true}, x))
		}
	case 21:
		if len(s) >= 2 && numeric {
			y, err := ops.One(view.Permute{Perm: lastTwoSwapped(len(s))}, x)
			if err != nil {
				b.t.Fatal(err)
			}
			v, err := ops.One(linear.MatMul{}, x, y)
			if err == nil {
				v, err = elementwise.WithScalar(elementwise.Mod, v, kernel.Int64Scalar(7), false)
			}
			one(v, err)
		}
	}
}

func args(inputs ...int) (out [3]elementwise.Arg) {
	for i, in := range inputs {
		out[i] = elementwise.InputArg(in)
	}
	return out
}

func lastTwoSwapped(rank int) []int {
	perm := make([]int, rank)
	for i := range perm {
		perm[i] = i
	}
	perm[rank-2], perm[rank-1] = rank-1, rank-2
	return perm
}

// reshaped returns a random shape of as many elements.
func (b *builder) reshaped(s shape.Shape) []int {
	n := s.Elems()
	if n == 0 || b.rng.IntN(3) == 0 {
		return []int{n}
	}
	var out []int
	for n > 1 {
		f := 2
		for n%f != 0 {
			f++
		}
		n /= f
		if len(out) > 0 && b.rng.IntN(2) == 0 {
			out[len(out)-1] *= f
		} else {
			out = append(out, f)
		}
	}
	b.rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// naive evaluates a graph the obvious way: every node into fresh dense
// memory, views by copying element after element, nothing ever reused.
type naive struct {
	t      testing.TB
	inputs map[string]graph.Leaf
	done   map[graph.Value][]byte
}

func (e *naive) eval(v graph.Value) []byte {
	if data, ok := e.done[v]; ok {
		return data
	}
	n := v.Node()
	leaf := n.Leaf()
	if in, ok := n.Op().(graph.Input); ok {
		bound := e.inputs[in.Key]
		leaf = &bound
	}
	if leaf != nil {
		e.done[v] = Flatten(v.Type(), leaf.Layout, leaf.Data)
		return e.done[v]
	}
	ins := make([]*kernel.Operand, n.NumInputs())
	inTypes := make([]graph.Type, n.NumInputs())
	for i := range ins {
		data := e.eval(n.Input(i))
		inTypes[i] = n.Input(i).Type()
		ins[i] = dense(inTypes[i], data)
	}
	switch o := n.Op().(type) {
	case graph.Identity, graph.Contiguous, graph.Cache:
		e.done[v] = ins[0].Data
		return ins[0].Data
	case graph.Viewer:
		layout, ok := o.View(shape.Dense(inTypes[0].Shape))
		if !ok {
			e.t.Fatalf("%v has no view of dense storage", n)
		}
		e.done[v] = Flatten(v.Type(), layout, ins[0].Data)
		return e.done[v]
	}
	outs := make([]*kernel.Operand, n.NumOutputs())
	outTypes := make([]graph.Type, n.NumOutputs())
	for i := range outs {
		outTypes[i] = n.Output(i).Type()
		outs[i] = dense(outTypes[i], kernel.Alloc(outTypes[i].Bytes()))
		e.done[n.Output(i)] = outs[i].Data
	}
	k, err := op.KernelOf(n.Op(), inTypes, outTypes)
	if err != nil {
		e.t.Fatal(err)
	}
	k.Bind(ins, outs)
	scratch := kernel.Alloc(k.Scratch())
	for task := range k.Tasks() {
		if err := k.Run(task, scratch); err != nil {
			e.t.Fatalf("%v: %v", n, err)
		}
	}
	return e.done[v]
}

func dense(t graph.Type, data []byte) *kernel.Operand {
	l := shape.Dense(t.Shape)
	return &kernel.Operand{DType: t.DType, Shape: l.Shape, Strides: l.Strides, Data: data}
}

// Flatten copies the elements of a layout in row-major order.
func Flatten(t graph.Type, l shape.Layout, data []byte) []byte {
	size := t.DType.Size()
	out := kernel.Alloc(t.Bytes())
	index := make([]int, len(l.Shape))
	for i := range l.Shape.Elems() {
		for a, rest := len(index)-1, i; a >= 0; a-- {
			index[a] = rest % l.Shape[a]
			rest /= l.Shape[a]
		}
		copy(out[i*size:(i+1)*size], data[l.At(index...)*size:])
	}
	return out
}
