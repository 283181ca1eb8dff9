package rewrite_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/exec"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/ops"
	"github.com/berth-go/berth/internal/rewrite"
	"github.com/berth-go/berth/shape"
)

// must returns a function that passes values through and fails the test for an
// error.
func must(t testing.TB) func(graph.Value, error) graph.Value {
	return func(v graph.Value, err error) graph.Value {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// input returns an input of its own name.
func input(t testing.TB, key string, d dtype.Type, dims ...int) graph.Value {
	t.Helper()
	n, err := graph.NewInput(key, graph.Type{DType: d, Shape: dims})
	if err != nil {
		t.Fatal(err)
	}
	return n.Output(0)
}

// maps returns the number of Maps in a graph.
func maps(roots []graph.Value) int {
	count := 0
	for _, n := range graph.Nodes(roots...) {
		if _, ok := n.Op().(elementwise.Map); ok {
			count++
		}
	}
	return count
}

// TestFuseLimits checks that programs stop at their limits: of instructions,
// of inputs, and of those that are computed again.
func TestFuseLimits(t *testing.T) {
	sum := input(t, "x", dtype.Float32, 2)
	for i := range 40 {
		sum = must(t)(elementwise.Apply(elementwise.Add, nil, sum, input(t, fmt.Sprint("x", i), dtype.Float32, 2)))
	}
	deep, cheap := input(t, "x", dtype.Float32, 2), input(t, "x", dtype.Float32, 2)
	for range 300 {
		deep = must(t)(elementwise.Apply(elementwise.Sin, nil, deep))
	}
	for range 100 {
		cheap = must(t)(elementwise.Apply(elementwise.Neg, nil, cheap))
	}
	for _, c := range []struct {
		rule string
		v    graph.Value
		maps int
	}{{"fuse", sum, 6}, {"fuse", deep, 5}, {"recompute", cheap, 7}} {
		roots := []graph.Value{c.v}
		after, err := rewrite.Alone(t.Context(), c.rule, roots, rewrite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		compare(t, c.rule, roots, after, 0)
		if got := maps(after); got != c.maps {
			t.Errorf("%s: %d Maps become %d, want %d", c.rule, maps(roots), got, c.maps)
		}
	}
}

// TestFuseRandom compares random graphs of Maps before and after.
func TestFuseRandom(t *testing.T) {
	unary := []elementwise.Code{elementwise.Neg, elementwise.Abs, elementwise.Exp, elementwise.Tanh, elementwise.Sigmoid, elementwise.Relu, elementwise.Square, elementwise.Floor, elementwise.Gelu}
	binary := []elementwise.Code{elementwise.Add, elementwise.Sub, elementwise.Mul, elementwise.Div, elementwise.Minimum, elementwise.Maximum, elementwise.Atan2}
	saved := 0
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 3))
		dt := []dtype.Type{dtype.Float32, dtype.Float64, dtype.Float16, dtype.BFloat16}[rng.IntN(4)]
		rows, cols := 1+rng.IntN(3), 1+rng.IntN(200)
		values := []graph.Value{input(t, "a", dt, rows, cols), input(t, "b", dt, cols), input(t, "c", dt, rows, 1), input(t, "d", dt)}
		ok := must(t)
		for range 5 + rng.IntN(40) {
			pick := func() graph.Value { return values[len(values)-1-rng.IntN(min(len(values), 6))] }
			var v graph.Value
			switch rng.IntN(8) {
			case 0:
				v = ok(elementwise.Apply(unary[rng.IntN(len(unary))], nil, pick()))
			case 1:
				v = ok(elementwise.WithScalar(binary[rng.IntN(len(binary))], pick(), kernel.Float64Scalar(rng.NormFloat64()), rng.IntN(2) == 0))
			case 2:
				c := ok(elementwise.Apply(elementwise.Less, nil, pick(), pick()))
				v = ok(elementwise.Apply(elementwise.Where, nil, c, pick(), pick()))
			case 3:
				v = ok(elementwise.CastTo(ok(elementwise.CastTo(pick(), dtype.BFloat16)), dt))
			case 4:
				v = ok(ops.One(graph.Identity{}, pick()))
			default:
				v = ok(elementwise.Apply(binary[rng.IntN(len(binary))], nil, pick(), pick()))
			}
			values = append(values, v)
		}
		roots := values[len(values)-1-rng.IntN(3):]
		after, err := rewrite.Run(t.Context(), roots, rewrite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		compare(t, fmt.Sprint("seed ", seed), roots, after, 0)
		saved += maps(roots) - maps(after)
	}
	if saved < 1000 {
		t.Errorf("only %d Maps are saved", saved)
	}
}

// TestFuseDeep fuses a long chain.
func TestFuseDeep(t *testing.T) {
	const nodes = 50_000
	x := input(t, "x", dtype.Float32, 3)
	v := x
	for i := range nodes {
		code := []elementwise.Code{elementwise.Add, elementwise.Sub, elementwise.Maximum}[i%3]
		v = must(t)(elementwise.Apply(code, nil, v, x))
	}
	after, err := rewrite.Run(t.Context(), []graph.Value{v}, rewrite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := maps(after); got > nodes/64+1 {
		t.Errorf("a chain of %d Maps, want at most %d", got, nodes/64+1)
	}
	data := kernel.Alloc(12)
	copy(kernel.Cast[float32](data), []float32{-1.5, 0, 3})
	results, err := exec.Compute(t.Context(), after, exec.Options{Inputs: map[string]graph.Leaf{"x": {Layout: shape.Dense(shape.Shape{3}), Data: data}}})
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range kernel.Cast[float32](data) {
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
		if got := kernel.Cast[float32](results[0].Data)[i]; got != want {
			t.Errorf("element %d is %v, want %v", i, got, want)
		}
	}
}

// BenchmarkRun shows the growth of the cost with the number of nodes.
func BenchmarkRun(b *testing.B) {
	for _, n := range []int{100, 10_000, 1_000_000} {
		v := input(b, "x", dtype.Float32, 3)
		for range n {
			v = must(b)(elementwise.Apply(elementwise.Sin, nil, v))
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if _, err := rewrite.Run(b.Context(), []graph.Value{v}, rewrite.Options{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/node")
		})
	}
}
