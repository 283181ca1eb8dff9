package tabular

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op/optest"
	"github.com/berth-go/berth/internal/op/reduce"
)

func name(i int) string { return fmt.Sprint("node ", i) }

// randomForest draws trees over so many features whose nodes stand in random order;
// some are the child of several.
func randomForest(rng *rand.Rand, features, targets int) *Forest {
	f := &Forest{Nodes: make([]Node, 1+rng.IntN(20))}
	order := rng.Perm(len(f.Nodes)) // of which later ones are children
	for k, i := range order {
		n := &f.Nodes[i]
		rest := order[k+1:]
		if n.Mode = Mode(rng.IntN(int(NotEqual) + 1)); n.Mode == Leaf || len(rest) == 0 {
			n.Mode = Leaf
			for range rng.IntN(4) {
				n.Votes = append(n.Votes, Vote{rng.IntN(targets), float64(rng.IntN(20) - 10)})
			}
			continue
		}
		n.NaNIsTrue, n.Feature, n.Threshold = rng.IntN(2) == 0, rng.IntN(features), float64(rng.IntN(5)-2)
		n.True, n.False = rest[rng.IntN(len(rest))], rest[rng.IntN(len(rest))]
	}
	for range rng.IntN(5) {
		f.Roots = append(f.Roots, rng.IntN(len(f.Nodes)))
	}
	return f
}

// votes returns the votes that a row gets below a node.
func (f *Forest) votes(row []float64, at int) []Vote {
	n := f.Nodes[at]
	if n.Mode == Leaf {
		return n.Votes
	}
	x := row[n.Feature]
	yes := map[Mode]bool{
		LessEqual: x <= n.Threshold, Less: x < n.Threshold, GreaterEqual: x >= n.Threshold,
		Greater: x > n.Threshold, Equal: x == n.Threshold, NotEqual: x != n.Threshold,
	}[n.Mode]
	if math.IsNaN(x) {
		yes = n.NaNIsTrue
	}
	if yes {
		return f.votes(row, n.True)
	}
	return f.votes(row, n.False)
}

// judged returns what the forest says of a row.
func (f *Forest) judged(row []float64, targets int, kind reduce.Kind) []float64 {
	of := make([][]float64, targets)
	for _, root := range f.Roots {
		for _, v := range f.votes(row, root) {
			of[v.Target] = append(of[v.Target], v.Weight)
		}
	}
	out := make([]float64, targets)
	for t, weights := range of {
		switch {
		case len(weights) == 0:
		case kind == reduce.Max:
			out[t] = slices.Max(weights)
		case kind == reduce.Min:
			out[t] = slices.Min(weights)
		default:
			for _, w := range weights {
				out[t] += w
			}
		}
	}
	return out
}

// operands returns inputs 1 to 5 of the op.
func (t *Tables) operands(dt dtype.Type) []*kernel.Operand {
	real := func(data []float64) *kernel.Operand {
		if dt == dtype.Float64 {
			return kerneltest.Of(dt, data, len(data))
		}
		narrow := make([]float32, len(data))
		for i, v := range data {
			narrow[i] = float32(v)
		}
		return kerneltest.Of(dt, narrow, len(data))
	}
	ints := func(data []int32, dims ...int) *kernel.Operand { return kerneltest.Of(dtype.Int32, data, dims...) }
	return []*kernel.Operand{
		ints(t.Nodes, len(t.Thresholds), Columns), real(t.Thresholds),
		ints(t.Roots, len(t.Roots)), ints(t.Targets, len(t.Targets)), real(t.Weights),
	}
}

func TestTreeEnsemble(t *testing.T) {
	for _, dt := range []dtype.Type{dtype.Float32, dtype.Float64} {
		rng := rand.New(rand.NewPCG(1, uint64(dt)))
		for range kerneltest.Rounds(300) {
			rows, features, targets := rng.IntN(6), 1+rng.IntN(4), 1+rng.IntN(3)
			if rng.IntN(20) == 0 {
				rows = 9000 // several tasks
			}
			f := randomForest(rng, features, targets)
			tables, err := f.Tables(features, targets, name)
			if err != nil {
				t.Fatal(err)
			}
			x := kerneltest.StridedInput(rng, dt, 0, rows, features)
			few(rng, x)
			y := kerneltest.StridedOutput(rng, dt, 0, rows, targets)
			e := TreeEnsemble{Targets: targets, Aggregate: []reduce.Kind{reduce.Sum, reduce.Max, reduce.Min}[rng.IntN(3)]}
			if err := kerneltest.All(rng, newTrees(dt, e), append([]*kernel.Operand{x}, tables.operands(dt)...), []*kernel.Operand{y}); err != nil {
				t.Fatal(err)
			}
			in, got := kerneltest.Floats(x), kerneltest.Floats(y)
			for row := range rows {
				values := in[row*features:][:features]
				want := f.judged(values, targets, e.Aggregate)
				if !slices.Equal(got[row*targets:][:targets], want) {
					t.Fatalf("%v of %v: got %v, want %v by %+v", e, values, got[row*targets:][:targets], want, f)
				}
			}
		}
	}
}

// few sets the elements of o to small whole numbers and NaN.
func few(rng *rand.Rand, o *kernel.Operand) {
	for i := range len(o.Data) / o.DType.Size() {
		v := float64(rng.IntN(5) - 2)
		if rng.IntN(5) == 0 {
			v = math.NaN()
		}
		kernel.Float64Scalar(v).Cast(o.DType).Put(o.Data[i*o.DType.Size():])
	}
}

func TestTreeEnsembleAllocatesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	f := randomForest(rng, 3, 2)
	f.Roots = []int{0, 0}
	tables, err := f.Tables(3, 2, name)
	if err != nil {
		t.Fatal(err)
	}
	in := append([]*kernel.Operand{kerneltest.StridedInput(rng, dtype.Float32, 0, 50, 3)}, tables.operands(dtype.Float32)...)
	kerneltest.CheckAllocs(t, newTrees(dtype.Float32, TreeEnsemble{Targets: 2}), in, []*kernel.Operand{kerneltest.Dense(dtype.Float32, 50, 2)})
}

// TestTreeEnsembleOfWrongTables wants an error for tables that do not hold what they
// should, and no path without an end.
func TestTreeEnsembleOfWrongTables(t *testing.T) {
	leaf := []int32{int32(Leaf), 0, 0, 1}
	for _, c := range []struct {
		what  string
		nodes []int32
		root  int32
		vote  int32
		err   string
	}{
		{"right", slices.Concat([]int32{1, 0, 1, 1}, leaf), 0, 0, ""},
		{"loop", slices.Concat([]int32{1, 0, 0, 0}, leaf), 0, 0, "node 0 of 2 leads to node 0"},
		{"child", slices.Concat([]int32{1, 0, 2, 2}, leaf), 0, 0, "node 0 of 2 leads to node 2"},
		{"negative child", slices.Concat([]int32{1, 0, -1, -1}, leaf), 0, 0, "leads to node -1"},
		{"root", slices.Concat([]int32{1, 0, 1, 1}, leaf), 5, 0, "leads to node 5"},
		{"negative root", slices.Concat([]int32{1, 0, 1, 1}, leaf), -1, 0, "leads to node -1"},
		{"feature", slices.Concat([]int32{1, 2, 1, 1}, leaf), 0, 0, "node 0 asks for feature 2 of 2"},
		{"negative feature", slices.Concat([]int32{1, -1, 1, 1}, leaf), 0, 0, "feature -1 of 2"},
		{"mode", slices.Concat([]int32{7, 0, 1, 1}, leaf), 0, 0, "mode 7"},
		{"vote", slices.Concat([]int32{1, 0, 1, 1}, leaf), 0, 1, "vote 0 is for target 1 of 1"},
		{"negative vote", slices.Concat([]int32{1, 0, 1, 1}, leaf), 0, -1, "target -1 of 1"},
		{"votes", []int32{1, 0, 1, 1, 0, 0, 0, 2}, 0, 0, "votes 0 to 2 of 1"},
		{"backward votes", []int32{1, 0, 1, 1, 0, 0, 1, 0}, 0, 0, "votes 1 to 0"},
		{"negative votes", []int32{1, 0, 1, 1, 0, 0, -1, 0}, 0, 0, "votes -1 to 0"},
	} {
		tables := Tables{Nodes: c.nodes, Thresholds: []float64{0, 0}, Roots: []int32{c.root}, Targets: []int32{c.vote}, Weights: []float64{1}}
		in := append([]*kernel.Operand{kerneltest.Dense(dtype.Float32, 1, 2)}, tables.operands(dtype.Float32)...)
		y := kerneltest.Dense(dtype.Float32, 1, 1)
		err := kerneltest.Run(rand.New(rand.NewPCG(1, 1)), newTrees(dtype.Float32, TreeEnsemble{Targets: 1}), in, []*kernel.Operand{y})
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: error %v, want %q", c.what, err, c.err)
		}
	}
}

func TestForestTables(t *testing.T) {
	ask := func(yes, no int) Node { return Node{Mode: Less, True: yes, False: no} }
	vote := func(target int) Node { return Node{Votes: []Vote{{target, 1}}} }
	for _, c := range []struct {
		what string
		f    Forest
		err  string
	}{
		{"right", Forest{[]Node{ask(1, 2), vote(0), vote(1)}, []int{0}}, ""},
		{"nothing", Forest{}, ""},
		{"shared", Forest{[]Node{ask(1, 1), vote(0)}, []int{0, 1, 0}}, ""},
		{"out of reach", Forest{[]Node{ask(1, 2), vote(0), vote(1), {Mode: Less, True: 3, Feature: 9}, vote(7)}, []int{0}}, ""},
		{"itself", Forest{[]Node{ask(0, 1), vote(0)}, []int{0}}, "node 0 leads back to node 0"},
		{"back", Forest{[]Node{ask(1, 2), ask(2, 2), ask(3, 0), vote(0)}, []int{0}}, "node 2 leads back to node 0"},
		{"child", Forest{[]Node{ask(1, 2), vote(0)}, []int{0}}, "node 0 leads to node 2 of 2"},
		{"negative child", Forest{[]Node{ask(-1, 1), vote(0)}, []int{0}}, "node 0 leads to node -1"},
		{"root", Forest{[]Node{vote(0)}, []int{1}}, "root 0 is node 1 of 1"},
		{"feature", Forest{[]Node{{Mode: Less, True: 1, False: 1, Feature: 2}, vote(0)}, []int{0}}, "node 0 asks for feature 2 of 2"},
		{"target", Forest{[]Node{vote(2)}, []int{0}}, "node 0 votes for target 2 of 2"},
		{"negative target", Forest{[]Node{vote(-1)}, []int{0}}, "target -1"},
	} {
		tables, err := c.f.Tables(2, 2, name)
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: error %v, want %q", c.what, err, c.err)
		}
		if err != nil {
			continue
		}
		for i, at := 0, tables.Nodes; len(at) > 0; i, at = i+1, at[Columns:] {
			if Mode(at[columnMode]) != Leaf && min(int(at[columnTrue]), int(at[columnFalse])) <= i {
				t.Errorf("%s: the children of row %d stand before it: %v", c.what, i, tables.Nodes)
			}
		}
	}
	// A tree a hundred thousand nodes deep takes no stack, and no time to speak of.
	deep := Forest{Roots: []int{0}, Nodes: make([]Node, 100_001)}
	for i := range 100_000 {
		deep.Nodes[i] = ask(i+1, 100_000)
	}
	if _, err := deep.Tables(1, 1, name); err != nil {
		t.Error(err)
	}
}

func TestTreeEnsembleInfer(t *testing.T) {
	i32 := func(dims ...int) graph.Type { return optest.Type(dtype.Int32, dims...) }
	f32 := optest.Float32
	e := TreeEnsemble{Targets: 3}
	in := []graph.Type{f32(5, 2), i32(7, 4), f32(7), i32(2), i32(9), f32(9)}
	optest.Infers(t, e, in, "float32[5 3]")
	with := func(i int, v graph.Type) []graph.Type {
		out := slices.Clone(in)
		out[i] = v
		return out
	}
	optest.Infers(t, e, with(0, f32(0, 2)), "float32[0 3]")
	optest.Refuses(t, e, in[:5], "takes 6 inputs")
	optest.Refuses(t, e, with(0, i32(5, 2)), "not float32 or float64")
	optest.Refuses(t, e, with(0, f32(5)), "input 0 is float32[5]")
	optest.Refuses(t, e, with(1, i32(7, 3)), "want 4 columns")
	optest.Refuses(t, e, with(2, f32(6)), "7 nodes and 6 thresholds")
	optest.Refuses(t, e, with(2, optest.Type(dtype.Float64, 7)), "input 2 is float64[7], want float32")
	optest.Refuses(t, e, with(5, f32(8)), "9 targets of 8 weights")
	optest.Refuses(t, TreeEnsemble{}, in, "0 targets")
	optest.Refuses(t, TreeEnsemble{Targets: 1, Aggregate: reduce.Prod}, in, "no prod")
	optest.Refuses(t, TreeEnsemble{Targets: math.MaxInt}, in, "")
}
