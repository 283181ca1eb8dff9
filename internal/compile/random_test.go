package compile_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/berth-go/berth/circuit"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/compile"
	"github.com/berth-go/berth/internal/exec"
	"github.com/berth-go/berth/internal/graphtest"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/shape"
)

func outputs(roots []graph.Value) []compile.Output {
	out := make([]compile.Output, len(roots))
	for i, r := range roots {
		out[i] = compile.Output{Name: fmt.Sprint("out", i), Value: r}
	}
	return out
}

// run compiles a graph, has the layout proven, and runs it with poison for
// each number of rows, for which want gives the expected outputs.
func run(t *testing.T, name string, g graphtest.Graph, opt compile.Options, workers int, rows []int, want func(rows int) (map[string]graph.Leaf, [][]byte, error)) *compile.Program {
	t.Helper()
	ctx := context.Background()
	p, err := compile.Compile(ctx, outputs(g.Roots), exec.Evaluate, opt)
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
	for _, r := range rows {
		inputs, expected, fails := want(r)
		for i, in := range p.Inputs {
			inst.Bind(compile.InPort, i, inputs[in.Name].Data)
		}
		outs := make([][]byte, len(p.Outputs))
		for i, out := range p.Outputs {
			outs[i] = kernel.Alloc(out.Elems.At(r) * out.Type.DType.Size())
			inst.Bind(compile.OutPort, i, outs[i])
		}
		switch err := inst.Run(ctx, r); {
		case (err != nil) != (fails != nil):
			t.Fatalf("%s, %d rows: error %v, want %v\n%v", name, r, err, fails, p.Plan)
		case err != nil:
			continue
		}
		for i := range outs {
			if !bytes.Equal(outs[i], expected[i]) {
				t.Fatalf("%s, %d rows, output %d %v:\ngot  %v\nwant %v\n%v", name, r, i, p.Outputs[i].Type, outs[i], expected[i], p.Plan)
			}
		}
	}
	return p
}

// joins has the random graphs nest concatenations on any axes and join empty
// parts, not all of which can be laid out.
const joins = false

// TestRandomGraphs compares compiled programs with the naive evaluation, bit
// for bit, with sharing and without.
func TestRandomGraphs(t *testing.T) {
	shared := make(map[string]int)
	smaller := 0
	for seed := range graphtest.Seeds(t, 1000) {
		g := graphtest.Random(t, seed, graphtest.Options{Inputs: true, Joins: joins})
		want, err := graphtest.Eval(g)
		if err != nil {
			t.Fatal(err)
		}
		for _, alone := range []bool{false, true} {
			p := run(t, fmt.Sprint("seed ", seed), g, compile.Options{NoSharing: alone, SearchBudget: 1000}, 1+int(seed%3), []int{1, 1},
				func(int) (map[string]graph.Leaf, [][]byte, error) { return g.Inputs, want, nil })
			tally(shared, p)
			first, err := compile.Compile(context.Background(), outputs(g.Roots), exec.Evaluate,
				compile.Options{NoSharing: alone, SearchBudget: 1000, SeedOrder: true})
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
		g := graphtest.Random(t, seed, graphtest.Options{Inputs: true, Rows: most, Joins: joins, Keep: func(v graph.Value) bool { return resizes(t, v, most) }})
		trial, err := compile.Compile(context.Background(), outputs(g.Roots), exec.Evaluate, compile.Options{SearchBudget: 1})
		if err != nil {
			// The extents behind steps of more than one element are no
			// polynomials in the rows.
			if !strings.Contains(err.Error(), "follow no polynomial") {
				t.Errorf("seed %d: %v", seed, err)
			}
			refused++
			continue
		}
		if trial.MaxRows != most {
			continue // no input is needed
		}
		ran++
		p := run(t, fmt.Sprint("seed ", seed), g, compile.Options{SearchBudget: 1000}, 1+int(seed%3), []int{most, 1, 3, 2, most, 5, 4},
			func(rows int) (map[string]graph.Leaf, [][]byte, error) { return atRows(t, g, rows) })
		tally(shared, p)
	}
	t.Logf("%d programs ran, %d graphs were refused; values by why they share bytes: %v", ran, refused, shared)
	if ran < graphs/4 || shared["pack"] == 0 || shared["in place"] == 0 {
		t.Error("too little was tested")
	}
}

// resizes reports whether v can be made for any number of rows up to most.
func resizes(t *testing.T, v graph.Value, most int) bool {
	nodes := nodesOf(t, v)
	for rows := range most {
		if _, err := compile.Resized(nodes, rows+1, nil); err != nil {
			return false
		}
	}
	return true
}

func nodesOf(t *testing.T, values ...graph.Value) []*graph.Node {
	t.Helper()
	starts := make([]*graph.Node, len(values))
	for i, v := range values {
		starts[i] = v.Node()
	}
	nodes, err := graph.Sort(starts, (*graph.Node).NumInputs, func(n *graph.Node, i int) (*graph.Node, bool) {
		return n.Input(i).Node(), !n.Input(i).IsZero()
	})
	if err != nil {
		t.Fatal(err)
	}
	return nodes
}

// atRows returns the inputs of g cut to fewer rows, and what g computes then, or
// why it cannot.
func atRows(t *testing.T, g graphtest.Graph, rows int) (map[string]graph.Leaf, [][]byte, error) {
	t.Helper()
	nodes := nodesOf(t, g.Roots...)
	to, err := compile.Resized(nodes, rows, nil)
	if err != nil {
		t.Fatal(err)
	}
	small := graphtest.Graph{Inputs: make(map[string]graph.Leaf)}
	for _, r := range g.Roots {
		small.Roots = append(small.Roots, to[r.Node()].Output(r.Index()))
	}
	for _, n := range nodes {
		if in, ok := n.Op().(graph.Input); ok {
			typ := to[n].Output(0).Type()
			data := kernel.Alloc(typ.Bytes())
			copy(data, g.Inputs[in.Key].Data)
			small.Inputs[in.Key] = graph.Leaf{Layout: shape.Dense(typ.Shape), Data: data}
		}
	}
	want, err := graphtest.Eval(small)
	return small.Inputs, want, err
}

// tally counts the values of a program by why they share bytes.
func tally(shared map[string]int, p *compile.Program) {
	for _, v := range p.Values {
		if shared[v.Why]++; v.InPlace {
			shared["in place"]++
		}
	}
}
