package plan_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/plan"
)

// chain returns a chain of n nodes, every second of which may work in place.
func chain(b *testing.B, n int) graph.Value {
	v := constant(b)
	for i := range n {
		v = grown(b, mix{over: []string{"any", ""}[i%2]}, v)
	}
	return v
}

// tangle returns a node over a random graph of n nodes of several sizes, in
// which values live short and long.
func tangle(b *testing.B, n int) graph.Value {
	rng := rand.New(rand.NewPCG(1, 2))
	values := []graph.Value{constant(b)}
	for len(values) < n {
		near := values[max(0, len(values)-1-rng.IntN(8))]
		far := values[rng.IntN(len(values))]
		to := []dtype.Type{dtype.Float32, dtype.Float64, dtype.Int8, dtype.Int16}[rng.IntN(4)]
		values = append(values, grown(b, mix{over: []string{"any", ""}[rng.IntN(2)], to: to}, near, far))
	}
	return values[n-1]
}

func constant(b *testing.B) graph.Value {
	n, err := graph.NewInput("x", graph.Type{DType: dtype.Float32, Shape: []int{4}})
	if err != nil {
		b.Fatal(err)
	}
	return n.Output(0)
}

func grown(b *testing.B, o graph.Op, in ...graph.Value) graph.Value {
	n, err := graph.New(o, in...)
	if err != nil {
		b.Fatal(err)
	}
	return n.Output(0)
}

// BenchmarkNew plans graphs of growing size; the time for a node should grow
// no faster than the logarithm of their number.
func BenchmarkNew(b *testing.B) {
	for _, kind := range []struct {
		name string
		make func(*testing.B, int) graph.Value
	}{{"chain", chain}, {"random", tangle}} {
		for _, n := range []int{1e4, 1e5, 1e6} {
			b.Run(fmt.Sprintf("%s/%d", kind.name, n), func(b *testing.B) {
				root := kind.make(b, n)
				b.ResetTimer()
				for b.Loop() {
					p, err := plan.New(root)
					if err != nil {
						b.Fatal(err)
					}
					if len(p.Steps) == 0 {
						b.Fatal("nothing was planned")
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/node")
			})
		}
	}
}
