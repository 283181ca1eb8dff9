package exec

import (
	"bytes"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/graphtest"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/internal/op/ops"
	"github.com/berth-go/berth/shape"
)

// TestRecentRandomGraphs has plans made for a graph and used for another one, of the same
// structure and with other elements, and compares with the naive evaluation, bit for bit. All graphs
// meet in one Recent, so that a plan of another structure would show as well.
func TestRecentRandomGraphs(t *testing.T) {
	var recent Recent
	hits, graphs := 0, 0
	for seed := range graphtest.Seeds(t, 1000) {
		roots := graphtest.Random(t, seed, graphtest.Options{}).Roots
		structure, ok := graph.StructureOf(roots)
		if !ok {
			continue // it has caches
		}
		graphs++
		want, err := graphtest.Eval(graphtest.Graph{Roots: roots})
		if err != nil {
			t.Fatal(err)
		}
		opt := Options{Workers: 1 + int(seed%3), Poison: seed%2 == 0}
		// It may fail where elements are the tables of a model, which leaves the plan as good as before.
		_, _ = recent.Compute(t.Context(), turned(t, roots), opt)
		first := recent.runs[len(recent.runs)-1]
		for range 2 {
			results, err := recent.Compute(t.Context(), roots, opt)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if recent.runs[len(recent.runs)-1] == first {
				hits++
			} else if bytes.HasPrefix(first.key, structure.Key) {
				t.Fatalf("seed %d: the plan was made again", seed)
			}
			for i, r := range results {
				if got := graphtest.Flatten(r.Type, r.Layout, r.Data); !bytes.Equal(got, want[i]) {
					t.Fatalf("seed %d, result %d of type %v:\ngot  %v\nwant %v", seed, i, r.Type, got, want[i])
				}
			}
		}
	}
	if t.Logf("%d hits for %d graphs", hits, graphs); hits < graphs {
		t.Errorf("plans of %d graphs were found %d times", graphs, hits)
	}
}

// turned returns the graph of roots with the elements of each constant in reverse order, but for
// those of one element: numbers that index something stay in range.
func turned(t *testing.T, roots []graph.Value) []graph.Value {
	r, err := graph.NewRewriter(roots)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Walk(func(n *graph.Node) error {
		leaf := n.Leaf()
		if leaf == nil {
			return nil
		}
		typ := n.Output(0).Type()
		data := kernel.Alloc(len(leaf.Data))
		size := typ.DType.Size()
		for i := 0; i+size <= len(data); i += size {
			copy(data[len(data)-i-size:], leaf.Data[i:i+size])
		}
		if typ.Shape.Elems() == 1 {
			copy(data, leaf.Data)
		}
		by, err := graph.NewConstant(typ, graph.Leaf{Layout: leaf.Layout, Data: data})
		if err != nil {
			return err
		}
		r.Replace(n.Output(0), by.WithLabel(n.Label()).Output(0))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return r.Roots()
}

// twice returns exp(x) two times in a row for x of n numbers: 4n bytes that are dropped and 8n of the result.
func twice(t *testing.T, n int) []graph.Value {
	t.Helper()
	dims := shape.Shape{n}
	data := kernel.Alloc(4 * n)
	for i := range n {
		kernel.Cast[float32](data)[i] = float32(i % 7)
	}
	x, err := graph.NewConstant(graph.Type{DType: dtype.Float32, Shape: dims}, graph.Leaf{Layout: shape.Dense(dims), Data: data})
	if err != nil {
		t.Fatal(err)
	}
	v, err := elementwise.Apply(elementwise.Exp, nil, x.Output(0))
	if err == nil {
		v, err = ops.One(move.Concat{}, v, v)
	}
	if err != nil {
		t.Fatal(err)
	}
	return []graph.Value{v}
}

// TestRecentBounds wants plans and buffers kept within the bounds, and those used longest ago gone.
func TestRecentBounds(t *testing.T) {
	var recent Recent
	do := func(n int, opt Options) {
		t.Helper()
		if _, err := recent.Compute(t.Context(), twice(t, n), opt); err != nil {
			t.Fatal(err)
		}
	}
	for n := range MostRuns + 10 {
		do(n+2, Options{})
		do(2, Options{}) // stays
	}
	if len(recent.runs) != MostRuns {
		t.Errorf("%d plans are kept, not %d", len(recent.runs), MostRuns)
	}
	if r := recent.runs[MostRuns-1]; r.bytes != 4*2 {
		t.Errorf("the plan used last keeps %d bytes, not 8", r.bytes)
	}
	large := MostKept / 4 / 3 // a third of what may be kept
	for i := range 5 {
		do(large-i, Options{})
	}
	total := 0
	for _, r := range recent.runs {
		total += r.bytes
	}
	if total > MostKept || len(recent.runs) != 3 {
		t.Errorf("%d plans keep %d bytes", len(recent.runs), total)
	}
	do(MostKept/4+1, Options{})
	if r := recent.runs[len(recent.runs)-1]; r.bytes != 0 || r.kept != nil {
		t.Errorf("%d bytes are kept of what takes more than the bound", r.bytes)
	}
}

// TestRecentMemory bounds a run for which a plan is there more tightly than the one before: 1200 bytes live at a time.
func TestRecentMemory(t *testing.T) {
	var recent Recent
	for _, c := range []struct {
		most int64
		fits bool
	}{{0, true}, {1199, false}, {1200, true}} {
		_, err := recent.Compute(t.Context(), twice(t, 100), Options{MaxBytes: c.most})
		if errors.Is(err, ErrMemory) == c.fits {
			t.Errorf("in %d bytes: %v", c.most, err)
		}
	}
}

// TestRecentLetsGo wants nothing kept of operands and results.
func TestRecentLetsGo(t *testing.T) {
	var recent Recent
	gone := make(chan struct{}, 2)
	func() {
		roots := twice(t, 1000)
		results, err := recent.Compute(t.Context(), roots, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range []*byte{&roots[0].Node().Input(0).Node().Input(0).Node().Leaf().Data[0], &results[0].Data[0]} {
			runtime.AddCleanup(b, func(int) { gone <- struct{}{} }, 0)
		}
	}()
	for range 20 {
		runtime.GC()
		if len(gone) == 2 {
			runtime.KeepAlive(&recent)
			return
		}
		runtime.Gosched()
	}
	t.Errorf("%d of 2 were collected", len(gone))
}

// TestRecentAtOnce has several goroutines compute what has one structure.
func TestRecentAtOnce(t *testing.T) {
	var recent Recent
	want, err := Compute(t.Context(), twice(t, 5000), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		roots := twice(t, 5000)
		all.Go(func() {
			for range 20 {
				results, err := recent.Compute(t.Context(), roots, Options{Workers: 2})
				if err != nil || !slices.Equal(results[0].Data, want[0].Data) {
					t.Errorf("wrong result, %v", err)
				}
			}
		})
	}
	all.Wait()
	if len(recent.runs) > 4 {
		t.Errorf("%d plans are kept of what 4 computed", len(recent.runs))
	}
}
