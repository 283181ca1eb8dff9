package compile_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/berth-go/berth/circuit"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/compile"
	"github.com/berth-go/berth/internal/exec"
	"github.com/berth-go/berth/internal/extent"
	"github.com/berth-go/berth/internal/graphtest"
	"github.com/berth-go/berth/internal/kernel"
)

func names(roots []graph.Value) []string {
	out := make([]string, len(roots))
	for i := range roots {
		out[i] = fmt.Sprint("out", i)
	}
	return out
}

// A family is a graph at any extents of its dimensions.
type family struct {
	dims []extent.Dim
	at   func(p extent.Point) (graphtest.Graph, error)
}

// fixed is the family of one graph without dimensions.
func fixed(g graphtest.Graph) family {
	return family{nil, func(extent.Point) (graphtest.Graph, error) { return g, nil }}
}

// byRows is a graph at 1 to most rows.
func byRows(g graphtest.Graph, most int) family {
	return family{[]extent.Dim{{Name: "rows", Min: 1, Max: most}}, func(p extent.Point) (graphtest.Graph, error) { return atRows(g, p[0]) }}
}

func (f family) compile(opt compile.Options) (*compile.Program, error) {
	first := f.first()
	g, err := f.at(first)
	if err != nil {
		return nil, err
	}
	build := func(p extent.Point) (outputs, inputs []graph.Value, err error) {
		g, err := f.at(p)
		return g.Roots, nil, err
	}
	return compile.Compile(context.Background(), names(g.Roots), f.dims, build, exec.Evaluate, opt)
}

func (f family) first() extent.Point {
	p := make(extent.Point, len(f.dims))
	for i, d := range f.dims {
		p[i] = d.Max
	}
	return p
}

// run compiles a graph, has the layout proven, and runs it with poison at each
// point, where it compares with the naive evaluation bit for bit.
func run(t *testing.T, name string, f family, opt compile.Options, workers int, points ...extent.Point) *compile.Program {
	t.Helper()
	ctx := context.Background()
	p, err := f.compile(opt)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if err := circuit.Check(p.Circuit, p.Fusion, p.Layout, p.Buffers); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	prep, err := exec.Prepare(p, true)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	inst, err := prep.NewInstance(workers, true)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	defer inst.Close()
	values := make([]int, p.Space.Len())
	for _, at := range points {
		g, err := f.at(at)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want, fails := graphtest.Eval(g)
		for i, in := range p.Inputs {
			inst.BindInput(i, g.Inputs[in.Name].Data)
		}
		p.Space.Eval(at, values)
		outs := make([][]byte, len(p.Outputs))
		for i, out := range p.Outputs {
			outs[i] = kernel.Alloc(values[out.Elems] * out.Type.DType.Size())
			inst.BindOutput(i, outs[i])
		}
		switch err := inst.Run(ctx, at); {
		case (err != nil) != (fails != nil):
			t.Fatalf("%s at %v: error %v, want %v\n%v", name, at, err, fails, p.Plan)
		case err != nil:
			continue
		}
		for i := range outs {
			if !bytes.Equal(outs[i], want[i]) {
				t.Fatalf("%s at %v, output %d %v:\ngot  %v\nwant %v\n%v", name, at, i, p.Outputs[i].Type, outs[i], want[i], p.Plan)
			}
		}
	}
	return p
}

// TestRandomGraphs compares compiled programs with the naive evaluation, bit
// for bit, with sharing and without.
func TestRandomGraphs(t *testing.T) {
	shared := make(map[string]int)
	smaller := 0
	for seed := range graphtest.Seeds(t, 1000) {
		g := graphtest.Random(t, seed, graphtest.Options{Inputs: true})
		for _, alone := range []bool{false, true} {
			p := run(t, fmt.Sprint("seed ", seed), fixed(g), compile.Options{NoSharing: alone, SearchBudget: 1000}, 1+int(seed%3), nil, nil)
			tally(shared, p)
			first, err := fixed(g).compile(compile.Options{NoSharing: alone, SearchBudget: 1000, SeedOrder: true})
			if err != nil {
				t.Fatal(err)
			}
			switch arena, before := p.Buffers.Arena, first.Buffers.Arena; {
			case arena > before:
				t.Errorf("seed %d: the arena of %d bytes is larger than that of the depth-first order, %d", seed, arena, before)
			case arena < before:
				smaller++
			}
		}
	}
	t.Logf("values by why they share bytes: %v; %d arenas are smaller than that of the depth-first order", shared, smaller)
	if shared["in place"] == 0 || shared["pack"] == 0 {
		t.Errorf("sharing was not tested: %v", shared)
	}
}

// TestRandomRows runs programs at every number of rows and compares with the
// evaluation of the graph made for just that many.
func TestRandomRows(t *testing.T) {
	const most = 6
	graphs, ran, refused := 0, 0, 0
	shared := make(map[string]int)
	for seed := range graphtest.Seeds(t, 1000) {
		graphs++
		g := graphtest.Random(t, seed, graphtest.Options{Inputs: true, Rows: most, Keep: func(v graph.Value) bool { return resizes(v, most) }})
		trial, err := byRows(g, most).compile(compile.Options{SearchBudget: 1})
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			refused++
			continue
		}
		if len(trial.Inputs) == 0 {
			continue
		}
		ran++
		p := run(t, fmt.Sprint("seed ", seed), byRows(g, most), compile.Options{SearchBudget: 1000}, 1+int(seed%3),
			[]extent.Point{{most}, {1}, {3}, {2}, {most}, {5}, {4}}...)
		tally(shared, p)
	}
	t.Logf("%d programs ran, %d graphs were refused; values by why they share bytes: %v", ran, refused, shared)
	if ran < graphs/4 || shared["pack"] == 0 || shared["in place"] == 0 {
		t.Error("too little was tested")
	}
}

// resizes reports whether v can be made for any number of rows up to most, with as
// many axes.
func resizes(v graph.Value, most int) bool {
	g := graphtest.Graph{Roots: []graph.Value{v}, Rows: most}
	for rows := range most {
		at, err := atRows(g, rows+1)
		if err != nil || len(at.Roots[0].Type().Shape) != len(v.Type().Shape) {
			return false
		}
	}
	return true
}

// tally counts the values of a program by why they share bytes.
func tally(shared map[string]int, p *compile.Program) {
	for _, v := range p.Values {
		if shared[v.Why]++; v.InPlace {
			shared["in place"]++
		}
	}
}
