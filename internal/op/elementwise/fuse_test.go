package elementwise

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/shape"
)

// one fuses a single root.
func one(t testing.TB, v graph.Value) graph.Value {
	t.Helper()
	out, err := Fuse([]graph.Value{v})
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

func TestFuse(t *testing.T) {
	ok := must(t)
	x, y := input(t, dtype.Float32, 2, 3), input(t, dtype.Float32, 3)
	bin := func(c Code, a, b graph.Value) graph.Value { t.Helper(); return ok(Apply(c, nil, a, b)) }
	un := func(c Code, a graph.Value) graph.Value { t.Helper(); return ok(Apply(c, nil, a)) }

	e := un(Exp, x)
	if got := program(one(t, bin(Div, e, bin(Add, e, y)))); got != "t0=exp(x0);t1=add(t0,x1);t2=div(t0,t1)" {
		t.Errorf("a diamond: %s", got)
	}
	// The producer's shape is not the consumer's: it stays.
	small := un(Exp, y)
	if got := one(t, bin(Add, x, small)); program(got) != "t0=add(x0,x1)" || got.Node().Input(1) != small {
		t.Errorf("a producer that is broadcast: %s", program(got))
	}
	// A producer with another reader, or that is a root, stays.
	both := un(Exp, x)
	roots := []graph.Value{un(Sin, both), un(Cos, both)}
	out, err := Fuse(roots)
	if err != nil || out[0] != roots[0] || out[1] != roots[1] {
		t.Errorf("two readers: %v to %v, %v", roots, out, err)
	}
	roots = []graph.Value{un(Sin, both), both}
	if out, err = Fuse(roots); err != nil || out[0] != roots[0] || out[1] != both {
		t.Errorf("a producer that is a root: %v to %v, %v", roots, out, err)
	}
	// Two leaves of one element join the program; one that gives the shape stays.
	two := constant(t, dtype.Float32, []float32{2}, 1)
	if got := one(t, bin(Mul, two, bin(Pow, x, two))); program(got) != "t0=pow(x0,2:float32);t1=mul(2:float32,t0)" || got.Node().NumInputs() != 1 {
		t.Errorf("constants: %s", program(got))
	}
	scalar := input(t, dtype.Float32)
	if v := bin(Mul, two, scalar); one(t, v) != v {
		t.Errorf("a constant without which the rank changes is absorbed: %s", program(one(t, v)))
	}
	// Other nodes are rebuilt only over what changed, and keep their label.
	cached, err := graph.New(graph.Cache{}, bin(Add, e, y))
	if err != nil {
		t.Fatal(err)
	}
	cached.WithLabel("kept")
	got := one(t, cached.Output(0))
	if got == cached.Output(0) || got.Node().Label() != "kept" || program(got.Node().Input(0)) != "t0=exp(x0);t1=add(t0,x1)" {
		t.Errorf("a cache over what was fused: %v over %v", got.Node(), got.Node().Input(0))
	}
	if again := one(t, got); again != got {
		t.Errorf("fusing again changes %v to %v", got, again)
	}
	// A filled cache is a leaf.
	cached.Fill(graph.Leaf{Layout: shape.Dense(cached.Output(0).Type().Shape), Data: kernel.Alloc(24)})
	if got := one(t, cached.Output(0)); got != cached.Output(0) {
		t.Errorf("a filled cache becomes %v", got)
	}
	if out, err := Fuse([]graph.Value{{}, x}); err != nil || !out[0].IsZero() || out[1] != x {
		t.Errorf("roots that are absent or leaves become %v, %v", out, err)
	}
}

// TestFuseLimits checks that programs stop at their limits.
func TestFuseLimits(t *testing.T) {
	ok := must(t)
	sum := input(t, dtype.Float32, 2)
	for range 40 {
		sum = ok(Apply(Add, nil, sum, input(t, dtype.Float32, 2)))
	}
	deep := input(t, dtype.Float32, 2)
	for range 300 {
		deep = ok(Apply(Exp, nil, deep))
	}
	for _, c := range []struct {
		v    graph.Value
		maps int
	}{{sum, 6}, {deep, 5}} {
		before, after := newEvaluator(t, 1), newEvaluator(t, 1)
		want := before.eval(c.v)
		after.leafs = before.leafs
		if got := after.eval(one(t, c.v)); !bytes.Equal(got.Data, want.Data) {
			t.Error("the fused result differs")
		}
		if after.maps != c.maps {
			t.Errorf("%d Maps become %d, want %d", before.maps, after.maps, c.maps)
		}
	}
}

// TestFuseRandom compares random graphs of Maps before and after, bit by bit.
func TestFuseRandom(t *testing.T) {
	unary := []Code{Neg, Abs, Exp, Tanh, Sigmoid, Relu, Square, Floor, Gelu}
	binary := []Code{Add, Sub, Mul, Div, Minimum, Maximum, Atan2}
	saved := 0
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 3))
		dt := []dtype.Type{dtype.Float32, dtype.Float64, dtype.Float16, dtype.BFloat16}[rng.IntN(4)]
		dims := []int{1 + rng.IntN(3), 1 + rng.IntN(200)}
		vals := []graph.Value{input(t, dt, dims...), input(t, dt, dims[1]), input(t, dt, dims[0], 1), input(t, dt)}
		ok := must(t)
		for range 5 + rng.IntN(40) {
			pick := func() graph.Value { return vals[len(vals)-1-rng.IntN(min(len(vals), 6))] }
			var v graph.Value
			switch rng.IntN(8) {
			case 0:
				v = ok(Apply(unary[rng.IntN(len(unary))], nil, pick()))
			case 1:
				v = ok(WithScalar(binary[rng.IntN(len(binary))], pick(), kernel.Float64Scalar(rng.NormFloat64()), rng.IntN(2) == 0))
			case 2:
				c := ok(Apply(Less, nil, pick(), pick()))
				v = ok(Apply(Where, nil, c, pick(), pick()))
			case 3:
				v = ok(CastTo(ok(CastTo(pick(), dtype.BFloat16)), dt))
			case 4:
				n, err := graph.New(graph.Identity{}, pick())
				v = ok(n.Output(0), err)
			default:
				v = ok(Apply(binary[rng.IntN(len(binary))], nil, pick(), pick()))
			}
			vals = append(vals, v)
		}
		roots := vals[len(vals)-1-rng.IntN(3):]
		fused, err := Fuse(roots)
		if err != nil {
			t.Fatal(err)
		}
		before, after := newEvaluator(t, seed), newEvaluator(t, seed)
		after.leafs = before.leafs
		for i := range roots {
			want, got := before.eval(roots[i]), after.eval(fused[i])
			if !roots[i].Type().Equal(fused[i].Type()) || !equalButNaNs(got, want) {
				t.Fatalf("seed %d: root %d differs", seed, i)
			}
		}
		saved += before.maps - after.maps
	}
	if saved < 1000 {
		t.Errorf("only %d Maps are saved", saved)
	}
}

func equalButNaNs(a, b *kernel.Operand) bool {
	w := a.DType.Size()
	for i := 0; i < len(a.Data)/w; i++ {
		x, y := kernel.ScalarAt(a.DType, a.Data, i), kernel.ScalarAt(b.DType, b.Data, i)
		if x != y && (x.Float64() == x.Float64() || y.Float64() == y.Float64()) {
			return false
		}
	}
	return true
}

// TestFuseDeep fuses a chain of a million nodes.
func TestFuseDeep(t *testing.T) {
	ok := must(t)
	nodes := 200_000
	if underRace {
		nodes = 50_000
	}
	x := input(t, dtype.Float32, 3)
	v := x
	for i := range nodes {
		code := []Code{Add, Sub, Maximum}[i%3]
		v = ok(Apply(code, nil, v, x))
	}
	got := one(t, v)
	n := 0
	for at := got; at != x; at = at.Node().Input(0) {
		n++
	}
	if want := nodes/64 + 1; n > want {
		t.Errorf("a chain of %d Maps, want at most %d", n, want)
	}
	e := newEvaluator(t, 2)
	y := kernel.Slice[float32](e.eval(got))
	for i, a := range kernel.Slice[float32](e.leafs[x.Node()]) {
		want := a
		for j := range nodes {
			switch j % 3 {
			case 0:
				want += a
			case 1:
				want -= a
			default:
				want = max(want, a)
			}
		}
		if y[i] != want {
			t.Errorf("element %d is %v, want %v", i, y[i], want)
		}
	}
}

// BenchmarkFuse shows the growth of the cost with the number of nodes.
func BenchmarkFuse(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		v := input(b, dtype.Float32, 3)
		for range n {
			v = must(b)(Apply(Exp, nil, v))
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				one(b, v)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/node")
		})
	}
}
