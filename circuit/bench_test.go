package circuit

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
)

// largeSample is a plan of about the given number of edges: branches that come
// together, and constraints on about half of the edges.
func largeSample(edges int) sample {
	r := rand.New(rand.NewPCG(uint64(edges), 7))
	c := &Circuit{}
	l := &Layout{}
	f32 := dtype.Plain(dtype.Float32)
	edge := func(dim int64) EdgeID {
		return c.AddEdge(Edge{fmt.Sprintf("e%d", len(c.Edges)), N(), Const(dim), f32})
	}
	node := func(in, out []EdgeID) {
		c.AddNode(Node{Name: fmt.Sprintf("n%d", len(c.Nodes)), Inputs: in, Outputs: out})
	}
	last := edge(64)
	for len(c.Edges) < edges {
		dim := int64(16) << r.IntN(6)
		a, b, cat, act := edge(dim), edge(dim), edge(2*dim), edge(2*dim)
		node([]EdgeID{last}, []EdgeID{a})
		node([]EdgeID{last}, []EdgeID{b})
		node([]EdgeID{a, b}, []EdgeID{cat})
		node([]EdgeID{cat}, []EdgeID{act})
		switch r.IntN(4) {
		case 0:
			l.RowPacks = append(l.RowPacks, RowPack{[]EdgeID{a, b}, new(cat), true})
		case 1:
			l.Packs = append(l.Packs, Pack{[]EdgeID{a, b}, new(cat), true})
		case 2:
			l.Aliases = append(l.Aliases, Alias{Edge: act, Of: cat})
		}
		last = act
	}
	c.Outputs = []EdgeID{last}
	return sample{c, Unfused(c, 0), l, 64}
}

// BenchmarkPrepare is everything but the search.
func BenchmarkPrepare(b *testing.B) {
	for _, edges := range []int{1e3, 1e4, 1e5} {
		s := largeSample(edges)
		b.Run(fmt.Sprintf("edges=%d", edges), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				solved, err := prepare(s.c, s.p, s.l, s.rows)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := solved.buffers(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(edges), "ns/edge")
		})
	}
}

func BenchmarkPlanBuffersWith(b *testing.B) {
	for _, edges := range []int{1e3, 1e4, 1e5} {
		s := largeSample(edges)
		b.Run(fmt.Sprintf("edges=%d", edges), func(b *testing.B) {
			for b.Loop() {
				if _, err := PlanBuffersWith(context.Background(), s.c, s.p, s.l, s.rows, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(edges), "ns/edge")
		})
	}
}

// BenchmarkNested is one concatenation in the next, as deep as there are edges:
// a single block.
func BenchmarkNested(b *testing.B) {
	for _, depth := range []int{1e2, 1e3} {
		s := nestedSample(depth)
		b.Run(fmt.Sprintf("depth=%d", depth), func(b *testing.B) {
			for b.Loop() {
				solved, err := prepare(s.c, s.p, s.l, s.rows)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := solved.buffers(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(depth), "ns/level")
		})
	}
}

func nestedSample(depth int) sample {
	c := &Circuit{}
	l := &Layout{}
	edge := func(dim int) EdgeID {
		return c.AddEdge(Edge{fmt.Sprintf("e%d", len(c.Edges)), N(), Const(int64(dim)), dtype.Plain(dtype.Float32)})
	}
	last := edge(8)
	c.AddNode(Node{Name: "first", Outputs: []EdgeID{last}})
	for i := range depth {
		x, cat := edge(8), edge(8*(i+2))
		c.AddNode(Node{Name: fmt.Sprintf("conv%d", i), Inputs: []EdgeID{last}, Outputs: []EdgeID{x}})
		c.AddNode(Node{Name: fmt.Sprintf("cat%d", i), Inputs: []EdgeID{last, x}, Outputs: []EdgeID{cat}})
		l.RowPacks = append(l.RowPacks, RowPack{[]EdgeID{last, x}, new(cat), true})
		last = cat
	}
	return sample{c, Unfused(c, 0), l, 4}
}

// A deep nest of concatenations is planned, and its plan keeps every invariant.
func TestDeepNest(t *testing.T) {
	s := nestedSample(300)
	plan, err := PlanBuffersWith(context.Background(), s.c, s.p, s.l, s.rows, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(s.c, s.p, s.l, plan); err != nil {
		t.Fatal(err)
	}
	if want := int64(4 * 301 * 8 * 4); plan.Arena != want || plan.LowerBound != want {
		t.Errorf("arena %d, lower bound %d; the last concatenation is %d bytes", plan.Arena, plan.LowerBound, want)
	}
}
