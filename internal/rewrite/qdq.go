package rewrite

import (
	"context"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/conv"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/linear"
	"github.com/berth-go/berth/internal/op/ops"
	"github.com/berth-go/berth/internal/op/quant"
	"github.com/berth-go/berth/internal/op/view"
	"github.com/berth-go/berth/shape"
)

// qdq has products, convolutions and sums of dequantised numbers computed with the
// integers, whose sums are exact. Q is quantize and dq dequantize, each with a scale s and
// a zero point z; product is a matmul or a convolution.
//
//	a ── dq ─┐
//	b ── dq ─┴─ product ── q ──   ->   a ─┐
//	bias ─ dq ┘                        b ─┴─ quant product, scale sa*sb/sy, bias ──
//
//	a ── dq ─┐                         a ─┐
//	b ── dq ─┴─ matmul ──         ->   b ─┴─ quant_matmul ── cast ── mul sa*sb ── add bias ──
//
//	a ── dq ─┐                         a ─┐
//	b ── dq ─┴─ add ── q ──       ->   b ─┴─ quant_add ──
//
//	a ── dq s, z ── view ── q s, z ──   ->   a ── view ──
//
// Each value has one scale and zero point, but for weights, which may have one for each
// output channel. A bias that goes into the sums is dequantised from int32, by the scale
// of the sums as it must be for the operator on integers. A convolution that is not
// quantised again remains one of float32, as in ONNX Runtime, which it would be farther
// from otherwise.
func qdq(_ context.Context, r *graph.Rewriter, _ *Options) error {
	return r.Walk(func(n *graph.Node) error {
		q := quantizing{r: r}
		var by graph.Value
		if to, ok := n.Op().(quant.Quantize); ok {
			by = q.integers(n, to.To)
		} else if p, ok := q.product(n); ok && !p.isConv() && !q.requantised(n, p) {
			by = q.real(p)
		}
		if q.err == nil && !by.IsZero() {
			r.Replace(n.Output(0), by)
		}
		return q.err
	})
}

// A quantizing finds patterns in the graph as it was, and builds what takes their place.
type quantizing struct {
	r *graph.Rewriter
	expression
}

// dequantised is what a dequantize node reads.
type dequantised struct{ elems, scale, zero graph.Value }

// dequantised returns what v is dequantised from, if it is, of the given types.
func (q *quantizing) dequantised(v graph.Value, types ...dtype.Type) (d dequantised, ok bool) {
	if v.IsZero() {
		return d, false
	}
	if _, ok := v.Node().Op().(quant.Dequantize); !ok {
		return d, false
	}
	d = quantizedAs(v.Node())
	for _, t := range types {
		ok = ok || d.elems.Type().DType == t
	}
	return d, ok
}

// quantizedAs returns the inputs of a node that quantizes or dequantizes.
func quantizedAs(n *graph.Node) (d dequantised) {
	d.elems, d.scale = n.Input(0), n.Input(1)
	if n.NumInputs() > 2 {
		d.zero = n.Input(2)
	}
	return d
}

// new returns the only output of a node of o over values of the graph as it was.
func (q *quantizing) new(label string, o graph.Op, in ...graph.Value) graph.Value {
	inputs := make([]graph.Value, len(in))
	for i, v := range in {
		inputs[i] = q.now(v)
	}
	n, err := graph.New(o, inputs...)
	if err != nil {
		return q.keep(graph.Value{}, err)
	}
	return n.WithLabel(label).Output(0)
}

// now returns what stands for v, which may be absent, or be new already.
func (q *quantizing) now(v graph.Value) graph.Value {
	if v.IsZero() {
		return v
	}
	return q.r.Replacement(v)
}

// one reports whether each of the values that are given is one number.
func (q *quantizing) one(values ...graph.Value) bool {
	return q.along(-1, shape.Shape{}, values...)
}

// along reports whether each of the values that are given is one number, or has one for
// each index of an axis of a shape, to which it broadcasts.
func (q *quantizing) along(axis int, s shape.Shape, values ...graph.Value) bool {
	for _, v := range values {
		if v.IsZero() {
			continue
		}
		if !q.r.InAll(func(at func(graph.Value) graph.Value) bool {
			own := at(v).Type().Shape
			place := axis - len(s) + len(own)
			return own.Elems() == 1 || axis >= 0 && place >= 0 && own[place] == s[axis] && own.Elems() == s[axis]
		}) {
			return false
		}
	}
	return true
}

// quantizedProduct is a node that multiplies dequantised numbers.
type quantizedProduct struct {
	node       *graph.Node
	a, b       dequantised // of a convolution, the image and the weights
	bias       graph.Value // of float32; may be absent
	sums       graph.Value // the bias in int32, where it is dequantised from that
	transposed bool        // b is
}

// product returns n as a product of dequantised numbers, if it is one.
func (q *quantizing) product(n *graph.Node) (p quantizedProduct, ok bool) {
	p.node = n
	switch o := n.Op().(type) {
	case linear.MatMul:
		ok = len(o.Epilogue) == 0 && len(n.Input(0).Type().Shape) > 1 && len(n.Input(1).Type().Shape) > 1
	case linear.Gemm:
		ok = len(o.Epilogue) == 0 && o.Alpha == 1 && o.Beta == 1 && !o.TransA
		p.transposed = o.TransB
	case conv.Conv:
		ok = len(o.Epilogue) == 0
	}
	if !ok {
		return p, false
	}
	var okA, okB bool
	p.a, okA = q.dequantised(n.Input(0), dtype.Int8, dtype.Uint8)
	p.b, okB = q.dequantised(n.Input(1), dtype.Int8, dtype.Uint8)
	if n.NumInputs() > 2 {
		p.bias = n.Input(2)
	}
	if b, ok := q.dequantised(p.bias, dtype.Int32); ok && q.r.IsLeaf(b.elems.Node()) {
		p.sums = b.elems
	}
	ok = okA && okB && q.one(p.a.scale, p.a.zero) && q.along(p.channelAxis(), p.b.elems.Type().Shape, p.b.scale, p.b.zero)
	return p, ok
}

func (p *quantizedProduct) isConv() bool {
	_, ok := p.node.Op().(conv.Conv)
	return ok
}

// channelAxis returns the axis of b along which output channels lie.
func (p *quantizedProduct) channelAxis() int {
	if p.isConv() || p.transposed {
		return 0
	}
	return len(p.b.elems.Type().Shape) - 1
}

// requantised reports whether p, of node n, is read by one quantize node alone that it
// is merged with.
func (q *quantizing) requantised(n *graph.Node, p quantizedProduct) bool {
	users := q.r.Users(n.Output(0))
	if len(users) != 1 || !q.r.OnlyUser(n.Output(0), users[0]) {
		return false
	}
	_, ok := users[0].Op().(quant.Quantize)
	return ok && q.merges(users[0], p)
}

// merges reports whether the quantize node n may round the sums of p.
func (q *quantizing) merges(n *graph.Node, p quantizedProduct) bool {
	y := quantizedAs(n)
	return q.one(y.scale, y.zero) && (p.bias.IsZero() || !p.sums.IsZero())
}

// integers returns what n, a quantize node, is of integers; no value if it is not.
func (q *quantizing) integers(n *graph.Node, to dtype.Type) graph.Value {
	if v := q.unchanged(n, to); !v.IsZero() {
		return v
	}
	x := n.Input(0).Node()
	if !q.r.OnlyUser(n.Input(0), n) {
		return graph.Value{}
	}
	y := quantizedAs(n)
	if p, ok := q.product(x); ok && q.merges(n, p) {
		return q.sumsOf(p, to, y)
	}
	if m, ok := x.Op().(elementwise.Map); ok && len(m.Program) == 1 && m.Program[0].Code == elementwise.Add && x.NumInputs() == 2 {
		a, okA := q.dequantised(x.Input(0), to)
		b, okB := q.dequantised(x.Input(1), to)
		if okA && okB && q.one(a.scale, a.zero, b.scale, b.zero, y.scale, y.zero) {
			return q.new(n.Label(), quant.Add{}, a.elems, a.scale, a.zero, b.elems, b.scale, b.zero, y.scale, y.zero)
		}
	}
	return graph.Value{}
}

// unchanged returns the integers that n, a quantize node, has to give back: those from
// which views of them were dequantised in the same way.
func (q *quantizing) unchanged(n *graph.Node, to dtype.Type) graph.Value {
	var views []*graph.Node
	at := n.Input(0)
	for isView(at.Node().Op()) {
		views = append(views, at.Node())
		at = at.Node().Input(0)
	}
	d, ok := q.dequantised(at, to)
	y := quantizedAs(n)
	if !ok || !q.one(d.scale) || !sameNumber(d.scale, y.scale) || !sameNumber(d.zero, y.zero) {
		return graph.Value{}
	}
	v, err := over(q.now(d.elems), views)
	return q.keep(v, err)
}

// sameNumber reports whether two values, which may be absent, are the same one, reshaped
// or not.
func sameNumber(v, w graph.Value) bool {
	base := func(v graph.Value) graph.Value {
		for !v.IsZero() {
			if _, ok := v.Node().Op().(view.Reshape); !ok {
				break
			}
			v = v.Node().Input(0)
		}
		return v
	}
	return base(v) == base(w)
}

// real returns a product of matrices as what its sums stand for.
func (q *quantizing) real(p quantizedProduct) graph.Value {
	sums := q.sumsOf(p, dtype.Invalid, dequantised{})
	if q.err != nil {
		return sums
	}
	y := q.apply(elementwise.Mul, q.cast(sums, dtype.Float32), q.scaleOf(p))
	if !p.bias.IsZero() {
		y = q.apply(elementwise.Add, y, q.now(p.bias))
	}
	if q.err != nil {
		return graph.Value{}
	}
	return y
}

// sumsOf returns the op on integers: its sums in int32 if to is not set, or else the
// result quantised as y says, with the bias.
func (q *quantizing) sumsOf(p quantizedProduct, to dtype.Type, y dequantised) graph.Value {
	b, zero := q.now(p.b.elems), q.now(p.b.zero)
	if p.transposed {
		b = q.keep(ops.One(view.Permute{Perm: []int{1, 0}}, b))
	}
	if !zero.IsZero() {
		zero = q.list(zero)
	}
	in := []graph.Value{q.now(p.a.elems), b, q.now(p.a.zero), zero, {}, {}, {}}
	if p.isConv() && !in[2].IsZero() {
		in[2] = q.list(in[2])
	}
	if to != dtype.Invalid {
		in[4] = q.apply(elementwise.Div, q.scaleOf(p), q.list(q.now(y.scale)))
		if in[5] = q.now(y.zero); !in[5].IsZero() {
			in[5] = q.list(in[5])
		}
		in[6] = q.now(p.sums)
	}
	if q.err != nil {
		return graph.Value{}
	}
	var o graph.Op = quant.MatMul{To: to}
	if c, ok := p.node.Op().(conv.Conv); ok {
		o = quant.Conv{KernelShape: c.KernelShape, Strides: c.Strides, Pads: c.Pads, Dilations: c.Dilations, Group: c.Group, AutoPad: c.AutoPad, To: to}
	}
	n, err := graph.New(o, in...)
	if err != nil {
		return q.keep(graph.Value{}, err)
	}
	return n.WithLabel(p.node.Label()).Output(0)
}

// scaleOf returns what sums of p are multiplied by, for each output channel or all.
func (q *quantizing) scaleOf(p quantizedProduct) graph.Value {
	return q.apply(elementwise.Mul, q.list(q.now(p.a.scale)), q.list(q.now(p.b.scale)))
}

// list returns v, one number or one for each output channel, as a list.
func (q *quantizing) list(v graph.Value) graph.Value {
	if q.err != nil {
		return v
	}
	return q.byMap(v, 1)
}
