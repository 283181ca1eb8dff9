package compile_test

import (
	"fmt"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/compile"
	"github.com/berth-go/berth/internal/graphtest"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/internal/op/norm"
	"github.com/berth-go/berth/internal/op/ops"
	"github.com/berth-go/berth/internal/op/view"
	"github.com/berth-go/berth/pack"
	"github.com/berth-go/berth/shape"
)

// input returns an input of rows of four numbers.
func input(b *testing.B) graph.Value {
	n, err := graph.NewInput("x", graph.Type{DType: dtype.Float32, Shape: shape.Shape{8, 4}})
	if err != nil {
		b.Fatal(err)
	}
	return n.Output(0)
}

func one(b *testing.B, o graph.Op, in ...graph.Value) graph.Value {
	v, err := ops.One(o, in...)
	if err != nil {
		b.Fatal(err)
	}
	return v
}

// BenchmarkCompile compiles graphs of growing size; the time for a node should
// grow no faster than the logarithm of their number.
func BenchmarkCompile(b *testing.B) {
	kinds := []struct {
		name string
		make func(n int) graph.Value
	}{
		{"chain", func(n int) graph.Value { // alternately in place and not
			v := input(b)
			for range n / 2 {
				v = one(b, norm.Softmax{Axis: -1}, v)
				v = one(b, move.Concat{Axis: 0}, v)
			}
			return v
		}},
		{"concat", func(n int) graph.Value { // one concatenation of everything
			x := input(b)
			parts := make([]graph.Value, n)
			for i := range parts {
				parts[i] = one(b, norm.Softmax{Axis: -1}, x)
			}
			return one(b, norm.Softmax{Axis: -1}, one(b, move.Concat{Axis: 1}, parts...))
		}},
		{"dense", func(n int) graph.Value { // each layer adds to what was there
			v := one(b, norm.Softmax{Axis: -1}, input(b))
			for range n / 2 {
				first := one(b, view.SliceView{Axis: 1, Start: 0, N: 4, Step: 1}, v)
				v = one(b, move.Concat{Axis: 1}, v, one(b, norm.Softmax{Axis: -1}, first))
				if v.Type().Shape[1] > 64 {
					v = one(b, norm.Softmax{Axis: -1}, one(b, view.SliceView{Axis: 1, Start: 0, N: 4, Step: 1}, v))
				}
			}
			return v
		}},
	}
	for _, kind := range kinds {
		for _, n := range []int{1e3, 1e4, 1e5} {
			b.Run(fmt.Sprintf("%s/%d", kind.name, n), func(b *testing.B) {
				g := fixed(graphtest.Graph{Roots: []graph.Value{kind.make(n)}})
				b.ResetTimer()
				for b.Loop() {
					if _, err := g.compile(compile.Options{Strategy: pack.Greedy}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/node")
			})
		}
	}
}
