package berth_test

import (
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/circuit"
)

// moving are graphs full of concatenations and splits.
var moving = []programCase{
	// A block of DenseNet: each layer reads the results of all before it,
	// which are joined along the channels one after another.
	{"dense block", []operand{x(n, 8, 6, 6)}, func(in ...*berth.Promise) []*berth.Promise {
		all := in[0].MulScalar(2)
		channels := 8
		for range 5 {
			scaled := all.BatchNorm(f32(channels), f32(channels), f32(channels), f32(channels), 1e-5).Relu()
			narrow := scaled.Conv(f32(8, channels, 1, 1), nil, nil).Relu()
			pad := &berth.ConvOptions{Window: berth.Window{Pads: []int{1, 1, 1, 1}}}
			all = berth.Concat(1, all, narrow.Conv(f32(4, 8, 3, 3), nil, pad))
			channels += 4
		}
		return one(all.Mean(2, 3))
	}},
	// Branches side by side, of which one is pooled, as in Inception.
	{"branches", []operand{x(n, 6, 8, 8)}, func(in ...*berth.Promise) []*berth.Promise {
		y := in[0].Relu()
		pool := &berth.PoolOptions{Window: berth.Window{Pads: []int{1, 1, 1, 1}}}
		joined := berth.Concat(1, y.Conv(f32(3, 6, 1, 1), nil, nil), y.Conv(f32(5, 6, 1, 1), nil, nil).Relu(), y.MaxPool([]int{3, 3}, pool))
		return one(joined.Conv(f32(2, 14, 1, 1), nil, nil))
	}},
	// Attention with one projection for queries, keys and values, which are
	// cut apart along the inner axis, and again by head.
	{"attention", []operand{x(n, 24)}, func(in ...*berth.Promise) []*berth.Promise {
		qkv := in[0].MatMul(f32(24, 72)).Add(f32(72))
		parts := qkv.Split(1, 24, 24, 24)
		var heads []*berth.Promise
		for h := range 3 {
			head := func(p *berth.Promise) *berth.Promise { return p.Slice(1, 8*h, 8*h+8, 1) }
			scores := head(parts[0]).MatMul(head(parts[1]).Transpose()).MulScalar(0.35)
			heads = append(heads, scores.Softmax(-1).MatMul(head(parts[2])))
		}
		return one(berth.Concat(1, heads...).MatMul(f32(24, 24)).Add(in[0]))
	}},
	// The same with the heads as an axis.
	{"batched attention", []operand{x(n, 5, 24)}, func(in ...*berth.Promise) []*berth.Promise {
		parts := in[0].MatMul(f32(24, 72)).Split(2, 24, 24, 24)
		head := func(p *berth.Promise) *berth.Promise { return p.Reshape(-1, 5, 3, 8).Permute(0, 2, 1, 3) }
		scores := head(parts[0]).MatMul(head(parts[1]).Transpose()).Softmax(-1)
		return one(scores.MatMul(head(parts[2])).Sum(1))
	}},
	// Joins of joins.
	{"nested", []operand{x(n, 4)}, func(in ...*berth.Promise) []*berth.Promise {
		a, b, c := in[0].MatMul(f32(4, 3)), in[0].MatMul(f32(4, 5)), in[0].MatMul(f32(4, 2))
		return one(berth.Concat(1, berth.Concat(1, a, b), c).Softmax(1).MatMul(f32(10, 2)))
	}},
}

// moved returns the bytes that a run of a program copies, by op.
func moved(p *berth.Program) map[string]int64 {
	bytes := make(map[string]int64)
	for _, s := range p.Describe().Steps {
		if s.Moved > 0 {
			bytes[s.Op] += s.Moved
		}
	}
	return bytes
}

// larger names the cases whose arena is larger for sharing: what is joined lives as a
// whole.
var larger = map[string]bool{"dense block": true}

// TestConcatAndSplitMoveNothing counts the bytes that programs copy for
// concatenations and splits, and compares results with those of programs in
// which nothing lies in the bytes of another value.
func TestConcatAndSplitMoveNothing(t *testing.T) {
	for _, c := range moving {
		t.Run(c.name, func(t *testing.T) {
			p := c.program(t, nil)
			for op, bytes := range moved(p) {
				t.Errorf("%s moves %d bytes", op, bytes)
			}
			c.check(t, p)
			alone := c.program(t, &berth.CompileOptions{NoSharing: true})
			c.check(t, alone)
			if m := moved(alone); c.name != "attention" && c.name != "batched attention" && m["concat"] == 0 {
				t.Errorf("without sharing nothing is copied either: %v", m)
			}
			shared, apart := p.Memory(), alone.Memory()
			if (shared.Arena > apart.Arena) != larger[c.name] {
				t.Errorf("the arena is of %d bytes, without sharing of %d", shared.Arena, apart.Arena)
			}
			if shared.NoReuse > apart.NoReuse {
				t.Errorf("values take %d bytes in all, %d without sharing", shared.NoReuse, apart.NoReuse)
			}
			for _, q := range []*berth.Program{p, alone} {
				c := inside.Compiled(q)
				if err := circuit.Check(c.Circuit, c.Fusion, c.Layout, c.Buffers); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestOuterAxisMovesNothing joins and cuts along the outermost axis, where the
// parts lie back to back.
func TestOuterAxisMovesNothing(t *testing.T) {
	build := func(in *berth.Promise) *berth.Promise {
		parts := in.Exp().Split(0, 1, 3)
		joined := berth.Concat(0, parts[1].MatMul(f32(6, 5)), parts[0].MatMul(f32(6, 5)), f32(2, 7, 5).Mul(parts[0].Sum()))
		return joined.Softmax(2).Sum(0)
	}
	data := f32(4, 7, 6)
	want := bits(t, build(data))
	for _, apart := range []bool{false, true} {
		p := must(berth.Compile(t.Context(), berth.Outputs{"y": build(berth.Input("x", berth.Float32, 4, 7, 6))}, &berth.CompileOptions{NoSharing: apart}))
		if n := moved(p)["concat"]; (n > 0) != apart {
			t.Errorf("NoSharing %v: concat moves %d bytes", apart, n)
		}
		out, err := p.RunOnce(t.Context(), map[string]*berth.Tensor{"x": bits(t, data)}, 2)
		if err != nil || !berth.Equal(out["y"], want) {
			t.Errorf("NoSharing %v: %v, %v", apart, out["y"], err)
		}
	}
}

// TestMovedCounts wants the bytes of copies that cannot be helped.
func TestMovedCounts(t *testing.T) {
	in := berth.Input("x", berth.Float32, berth.Dim("n", 1, most), 4)
	y := in.Exp()
	for what, c := range map[string]struct {
		p    *berth.Promise
		op   string
		want int64
	}{
		// One value cannot be in two places.
		"the same twice": {berth.Concat(1, y, y).MatMul(f32(8, 2)), "concat", most * 4 * 4},
		// A caller's input is where it is.
		"an input": {berth.Concat(1, in, y).MatMul(f32(8, 2)), "concat", most * 4 * 4},
		"packed":   {y.Transpose().Contiguous().Reshape(-1).CumSum(0), "contiguous", most * 4 * 4},
	} {
		p := must(berth.Compile(t.Context(), berth.Outputs{"y": c.p}, nil))
		if got := moved(p); got[c.op] != c.want || len(got) != 1 {
			t.Errorf("%s: moved %v, want %d bytes by %s", what, got, c.want, c.op)
		}
	}
}
