package main

import "github.com/berth-go/berth/internal/wire"

var contribGenerators = map[string]generator{
	"com.microsoft.Gelu": {7, contribUnary}, "com.microsoft.QuickGelu": {7, contribUnary}, "com.microsoft.BiasGelu": {7, biasGelu},
	"com.microsoft.FastGelu": {7, biasGelu}, "com.microsoft.FusedMatMul": {7, fusedMatMul}, "com.microsoft.FusedGemm": {7, fusedGemm},
	"com.microsoft.FusedConv": {7, fusedConv}, "com.microsoft.SkipLayerNormalization": {7, skipNorm},
	"com.microsoft.SkipSimplifiedLayerNormalization": {7, skipNorm}, "com.microsoft.EmbedLayerNormalization": {7, embedNorm},
	"com.microsoft.Attention": {7, contribAttention}, "com.microsoft.MultiHeadAttention": {7, multiHead},
	"com.microsoft.GroupQueryAttention": {7, groupQuery}, "com.microsoft.RotaryEmbedding": {7, contribRotary},
	"Attention": {23, attention}, "RotaryEmbedding": {23, rotary},
}

func contribUnary(d *draw) {
	t := wire.Float
	if d.node.OpType == "QuickGelu" {
		d.maybe(func() { d.float("alpha", 1) })
	}
	d.input(t, d.shape(1, 4))
	d.output(t)
	d.tol = tolerance{epsilons: 64}
}

func biasGelu(d *draw) {
	d.bounded()
	dims := d.solid(2, 3)
	d.input(wire.Float, dims)
	if d.node.OpType == "BiasGelu" || d.coin() {
		d.input(wire.Float, dims[len(dims)-1:])
	}
	d.output(wire.Float)
}

func fusedMatMul(d *draw) {
	d.bounded()
	t := one(d, singles...)
	m, k, n := d.full(), d.full(), d.full()
	batch := d.solid(0, 2)
	a, b := append(append([]int64{}, batch...), m, k), append(append([]int64{}, batch...), k, n)
	r := len(batch)
	d.maybe(func() { d.int("transA", 1); a[r], a[r+1] = k, m })
	d.maybe(func() { d.int("transB", 1); b[r], b[r+1] = n, k })
	d.maybe(func() { d.float("alpha", 0.5) })
	d.input(t, a)
	d.input(t, b)
	d.output(t)
}

func fusedGemm(d *draw) {
	d.str("activation", one(d, "Relu", "Sigmoid", "Tanh", "LeakyRelu"))
	d.float("activation_alpha", 0.1)
	gemm(d)
	for i := range d.inputs {
		d.inputs[i] = d.retyped(d.inputs[i])
	}
	d.outputs[0] = wire.Float
}

// retyped returns other elements of float32 in the shape of v.
func (d *draw) retyped(v wire.Tensor) wire.Tensor {
	w := d.values(wire.Float, v.Dims)
	w.Name = v.Name
	return w
}

func fusedConv(d *draw) {
	d.str("activation", one(d, "Relu", "Sigmoid", "Tanh"))
	conv(d)
	for i := range d.inputs {
		d.inputs[i] = d.retyped(d.inputs[i])
	}
	d.outputs[0] = wire.Float
}

func skipNorm(d *draw) {
	d.bounded()
	d.tol = rough
	t := wire.Float
	d.epsilon()
	dims := d.solid(3, 3)
	dims[2] += 2 // of two elements that are nearly equal little is left
	d.input(t, dims)
	d.input(t, dims)
	d.input(t, dims[2:])
	simplified := d.node.OpType == "SkipSimplifiedLayerNormalization"
	d.maybe(func() {
		d.input(t, dims[2:])
		if !simplified {
			d.maybe(func() { d.input(t, dims[2:]) })
		}
	})
	d.output(t)
	d.maybe(func() { d.output(wire.Undefined, wire.Undefined, t) })
}

func embedNorm(d *draw) {
	d.bounded()
	d.tol = rough
	t := wire.Float
	d.epsilon()
	batch, seq, hidden, words, segments := d.full(), d.full(), d.full(), d.full(), d.full()
	d.index(wire.Int32, []int64{batch, seq}, words, false)
	withSegments := d.coin()
	if withSegments {
		d.index(wire.Int32, []int64{batch, seq}, segments, false)
	} else {
		d.absent()
	}
	d.input(t, []int64{words, hidden})
	d.input(t, []int64{seq + 2, hidden})
	if withSegments {
		d.input(t, []int64{segments, hidden})
	} else {
		d.absent()
	}
	d.input(t, []int64{hidden})
	d.input(t, []int64{hidden})
	d.output(t, wire.Int32)
}

func contribAttention(d *draw) {
	d.bounded()
	d.tol = rough
	t := wire.Float
	heads, size := 1+d.Int64N(3), 2+d.Int64N(4)
	batch, seq, hidden := d.full(), d.full(), heads*size
	d.int("num_heads", heads)
	d.maybe(func() { d.int("unidirectional", d.Int64N(2)) })
	d.maybe(func() { d.float("scale", 0.3) })
	d.input(t, []int64{batch, seq, hidden})
	d.input(t, []int64{hidden, 3 * hidden})
	d.input(t, []int64{3 * hidden})
	d.maybe(func() {
		d.add(numbersOf(wire.Int32, []int64{batch}, func() float64 { return float64(1 + d.Int64N(seq)) }), false)
	})
	d.output(t)
}

func multiHead(d *draw) {
	d.bounded()
	d.tol = rough
	t := wire.Float
	heads, size := 1+d.Int64N(3), 2+d.Int64N(4)
	batch, seq, keys, hidden := d.full(), d.full(), d.full(), heads*size
	d.int("num_heads", heads)
	d.maybe(func() { d.float("scale", 0.3) })
	d.maybe(func() {
		d.int("unidirectional", 1)
		keys = seq
	})
	d.input(t, []int64{batch, seq, hidden})
	d.input(t, []int64{batch, keys, hidden})
	d.input(t, []int64{batch, keys, hidden})
	d.maybe(func() {
		if d.coin() {
			d.input(t, []int64{3 * hidden})
		} else {
			d.absent()
		}
		d.maybe(func() {
			d.absent()
			d.input(t, []int64{one(d, 1, batch), one(d, 1, heads), seq, keys})
		})
	})
	d.output(t)
}

func groupQuery(d *draw) {
	d.bounded()
	d.tol = rough
	t := wire.Float
	groups, size := 1+d.Int64N(2), 16*(1+d.Int64N(2))
	heads := groups * (1 + d.Int64N(3))
	batch, seq, past := d.full(), d.full(), int64(0)
	d.int("num_heads", heads)
	d.int("kv_num_heads", groups)
	d.maybe(func() { d.float("scale", 0.3) })
	d.maybe(func() { d.float("softcap", 5) })
	d.maybe(func() { d.int("local_window_size", 1+d.Int64N(4)) })
	if d.coin() {
		seq, past = 1, d.full()
	}
	d.input(t, []int64{batch, seq, heads * size})
	d.input(t, []int64{batch, seq, groups * size})
	d.input(t, []int64{batch, seq, groups * size})
	if past > 0 {
		d.input(t, []int64{batch, groups, past, size})
		d.input(t, []int64{batch, groups, past, size})
	} else {
		d.absent()
		d.absent()
	}
	d.add(numbersOf(wire.Int32, []int64{batch}, func() float64 { return float64(past + seq - 1) }), false)
	d.scalar(wire.Int32, float64(past+seq))
	if d.coin() {
		d.int("do_rotary", 1)
		d.int("rotary_interleaved", d.Int64N(2))
		d.input(t, []int64{past + seq + 1, size / 2})
		d.input(t, []int64{past + seq + 1, size / 2})
	}
	d.output(t, t, t)
}

func contribRotary(d *draw) {
	d.bounded()
	t := wire.Float
	batch, heads, seq, size := d.full(), d.full(), d.full(), 2*d.full()
	d.maybe(func() { d.int("interleaved", d.Int64N(2)) })
	d.input(t, []int64{batch, heads, seq, size})
	if d.coin() {
		d.index(wire.Int64, []int64{batch, seq}, seq+1, false)
	} else {
		d.add(wire.Tensor{DataType: wire.Int64, Dims: []int64{1}, Raw: appendInt(nil, wire.Int64, 1)}, false)
	}
	d.input(t, []int64{seq + 2, size / 2})
	d.input(t, []int64{seq + 2, size / 2})
	d.output(t)
}

func attention(d *draw) {
	d.bounded()
	d.tol = rough
	t := one(d, wire.Float, wire.Float, wire.Float16)
	groups, size, wide := 1+d.Int64N(2), 2+d.Int64N(4), 2+d.Int64N(4)
	heads := groups * (1 + d.Int64N(2))
	batch, seq, keys := d.full(), d.full(), d.full()
	d.maybe(func() { d.float("scale", 0.3) })
	d.maybe(func() { d.float("softcap", 2) })
	d.maybe(func() { d.int("is_causal", 1) })
	flat := d.coin()
	if flat {
		d.int("q_num_heads", heads)
		d.int("kv_num_heads", groups)
	}
	operand := func(heads, seq, size int64) {
		if flat {
			d.input(t, []int64{batch, seq, heads * size})
		} else {
			d.input(t, []int64{batch, heads, seq, size})
		}
	}
	operand(heads, seq, size)
	operand(groups, keys, size)
	operand(groups, keys, wide)
	past := int64(0)
	cached := d.coin()
	if cached {
		past = d.full()
	}
	switch mask := []int64{seq, past + keys}; d.IntN(4) {
	case 0:
		d.input(t, mask)
	case 1:
		d.input(t, append([]int64{batch, 1}, mask...))
	case 2:
		v := numbersOf(wire.Bool, mask, func() float64 { return float64(d.IntN(4)) })
		d.add(v, false)
	default:
		if cached {
			d.absent()
		}
	}
	if cached {
		d.input(t, []int64{batch, groups, past, size})
		d.input(t, []int64{batch, groups, past, wide})
		d.output(t, t, t)
	} else {
		d.output(t)
	}
}

func rotary(d *draw) {
	d.bounded()
	t := one(d, wire.Float, wire.Float16)
	batch, heads, seq, size := d.full(), d.full(), d.full(), 2*d.full()
	d.maybe(func() { d.int("interleaved", d.Int64N(2)) })
	if d.coin() {
		d.input(t, []int64{batch, heads, seq, size})
	} else {
		d.int("num_heads", heads)
		d.input(t, []int64{batch, seq, heads * size})
	}
	if d.coin() {
		d.input(t, []int64{seq + 1, size / 2})
		d.input(t, []int64{seq + 1, size / 2})
		d.index(wire.Int64, []int64{batch, seq}, seq+1, false)
	} else {
		d.input(t, []int64{batch, seq, size / 2})
		d.input(t, []int64{batch, seq, size / 2})
	}
	d.output(t)
}
