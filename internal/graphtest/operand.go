package graphtest

import (
	"fmt"
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/ops"
	"github.com/berth-go/berth/internal/op/view"
	"github.com/berth-go/berth/shape"
)

var types = []dtype.Type{
	dtype.Float32, dtype.Float32, dtype.Float32, dtype.Float64, dtype.Float16, dtype.BFloat16,
	dtype.Int64, dtype.Int64, dtype.Int32, dtype.Int16, dtype.Uint8, dtype.Bool,
}

var floats = []dtype.Type{dtype.Float32, dtype.Float32, dtype.Float64, dtype.Float16, dtype.BFloat16}

func (b *builder) typ(list []dtype.Type) dtype.Type { return list[b.rng.IntN(len(list))] }

// extent is mostly small, sometimes longer than a vector register, now and then 0.
func (b *builder) extent() int {
	switch b.rng.IntN(24) {
	case 0:
		return 0
	case 1:
		return 9 + b.rng.IntN(30)
	}
	return 1 + b.rng.IntN(4)
}

// leafType draws the type of a leaf, whose first axis is the rows where the
// options ask for them.
func (b *builder) leafType() graph.Type {
	dims := make(shape.Shape, b.rng.IntN(5))
	for i := range dims {
		dims[i] = b.extent()
	}
	if b.opt.Rows > 0 && len(dims) > 0 {
		dims[0] = b.opt.Rows
	}
	if dims.Elems() > most/4 {
		dims = dims[:1]
	}
	return graph.Type{DType: b.typ(types), Shape: dims}
}

// leaf returns a leaf of small whole numbers, which every element type has.
func (b *builder) leaf(t graph.Type) graph.Value { return b.numbers(t, 0, 7) }

// numbers returns a leaf whose elements are whole numbers in [low, high): a
// constant in any layout, or an input.
func (b *builder) numbers(t graph.Type, low, high int) graph.Value {
	input := b.opt.Inputs && !b.oneIn(4)
	leaf, size := graph.Leaf{Layout: shape.Dense(t.Shape), Data: kernel.Alloc(t.Bytes())}, t.DType.Size()
	if !input && b.oneIn(3) {
		o := kerneltest.StridedInput(b.rng, t.DType, 0, t.Shape...)
		leaf = graph.Leaf{Layout: shape.Layout{Shape: o.Shape, Strides: o.Strides, Offset: o.Offset}, Data: o.Data}
	}
	for i := range len(leaf.Data) / size {
		kernel.Int64Scalar(int64(low + b.rng.IntN(high-low))).Cast(t.DType).Put(leaf.Data[i*size:])
	}
	var err error
	var node *graph.Node
	if input {
		node, err = graph.NewInput(b.key(leaf), t)
	} else {
		node, err = graph.NewConstant(t, leaf)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return node.Output(0)
}

// key enters the data of an input and returns its name.
func (b *builder) key(leaf graph.Leaf) string {
	key := fmt.Sprint("in", len(b.naive.inputs))
	b.naive.inputs[key] = leaf
	return key
}

// pick returns a value, late ones more often, so that graphs get deep.
func (b *builder) pick() graph.Value {
	return b.values[max(b.rng.IntN(len(b.values)), b.rng.IntN(len(b.values)))]
}

// one is ops.One for ops that fit their operands by construction.
func (b *builder) one(o graph.Op, in ...graph.Value) graph.Value { return b.must(ops.One(o, in...)) }

// must returns a value that is made without an error by construction.
func (b *builder) must(v graph.Value, err error) graph.Value {
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// view returns x, or the same type of value in the same storage: as it is, or
// backwards, transposed, or through another shape.
func (b *builder) view(x graph.Value) graph.Value {
	s := x.Type().Shape
	switch b.rng.IntN(8) {
	case 0:
		return b.one(graph.Identity{}, x)
	case 1:
		return b.one(graph.Contiguous{}, x)
	case 2:
		if axis := b.axis(s); axis >= 0 && s[axis] > 0 {
			return b.one(view.SliceView{Axis: axis, Start: s[axis] - 1, N: s[axis], Step: -1}, x)
		}
	case 3:
		flat := b.one(view.Reshape{Shape: []int{s.Elems()}}, x)
		return b.one(view.Reshape{Shape: s}, flat)
	case 4:
		if r := len(s); r >= 2 && s[r-1] == s[r-2] {
			return b.transposed(x)
		}
	}
	return x
}

// like returns a value that x can be combined with elementwise: x itself, a
// view of it, or another value that broadcasts.
func (b *builder) like(x graph.Value) graph.Value {
	if b.oneIn(3) {
		return b.view(x)
	}
	for range 8 {
		y := b.pick()
		if _, err := shape.Broadcast(x.Type().Shape, y.Type().Shape); err == nil && y.Type().DType == x.Type().DType {
			return y
		}
	}
	return x
}

// of returns a value of type t: a view of one that there is, the beginning of
// one that is larger, or a leaf.
func (b *builder) of(t graph.Type) graph.Value {
	need := t.Shape.Elems()
	if !b.oneIn(4) {
		for range 12 {
			x := b.pick()
			if x.Type().Equal(t) {
				return b.view(x)
			}
		}
		for range 12 {
			x := b.pick()
			if have := x.Type().Shape.Elems(); x.Type().DType == t.DType && have >= need && have > 0 {
				flat := b.one(view.Reshape{Shape: []int{have}}, x)
				head := b.one(view.SliceView{Start: b.rng.IntN(have - need + 1), N: need, Step: 1}, flat)
				return b.one(view.Reshape{Shape: t.Shape}, head)
			}
		}
	}
	return b.leaf(t)
}

// maybe is of, or an absent operand.
func (b *builder) maybe(t graph.Type) graph.Value {
	if b.oneIn(3) {
		return graph.Value{}
	}
	return b.of(t)
}

// float returns x as floating-point numbers.
func (b *builder) float(x graph.Value) graph.Value {
	if x.Type().DType.IsFloat() {
		return x
	}
	return b.cast(x, b.typ(floats))
}

func (b *builder) cast(x graph.Value, t dtype.Type) graph.Value {
	return b.must(elementwise.CastTo(x, t))
}

// mod returns the remainders of x, which is not of bools, by n.
func (b *builder) mod(x graph.Value, n int) graph.Value {
	return b.must(elementwise.WithScalar(elementwise.Mod, x, kernel.Int64Scalar(int64(n)), false))
}

// tame replaces the first of the outputs of an op by numbers that are like it but
// for being small, so that what is computed of them does not overflow.
func (b *builder) tame(outs []graph.Value, err error) ([]graph.Value, error) {
	if err == nil && outs[0].Type().DType != dtype.Bool {
		outs[0] = b.mod(outs[0], 7)
	}
	return outs, err
}

// index returns indices of the given shape into an axis of the given extent,
// negative ones too. They are fresh, or made of a value that there is; the zero
// Value, which no op takes for indices, when the axis is empty.
func (b *builder) index(s shape.Shape, extent int) graph.Value {
	t := graph.Type{DType: []dtype.Type{dtype.Int64, dtype.Int64, dtype.Int32}[b.rng.IntN(3)], Shape: s}
	switch {
	case s.Elems() == 0:
		return b.numbers(t, 0, 1)
	case extent == 0:
		return graph.Value{}
	case b.oneIn(2):
		return b.mod(b.of(t), extent)
	}
	return b.numbers(t, -extent, extent)
}

// axis returns an axis of s, or -1 if it has none.
func (b *builder) axis(s shape.Shape) int {
	if len(s) == 0 {
		return -1
	}
	return b.rng.IntN(len(s))
}

// transposed returns x with its last two axes exchanged.
func (b *builder) transposed(x graph.Value) graph.Value {
	perm := make([]int, len(x.Type().Shape))
	for i := range perm {
		perm[i] = i
	}
	slices.Reverse(perm[len(perm)-2:])
	return b.one(view.Permute{Perm: perm}, x)
}

// reshaped returns a random shape of as many elements.
func (b *builder) reshaped(s shape.Shape) []int {
	n := s.Elems()
	var out []int
	for n > 1 && !b.oneIn(4) {
		if f := 1 + b.rng.IntN(min(n, 6)); n%f == 0 {
			out = append(out, f)
			n /= f
		}
	}
	return append(out, n)
}
