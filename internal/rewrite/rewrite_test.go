package rewrite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/exec"
	"github.com/berth-go/berth/internal/graphtest"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/op/ops"
	"github.com/berth-go/berth/internal/rewrite"
	"github.com/berth-go/berth/shape"
)

// parse returns the roots of a graph.
func parse(t *testing.T, text string) []graph.Value {
	t.Helper()
	roots, err := graph.Parse(text, ops.Parse)
	if err != nil {
		t.Fatal(err)
	}
	return roots
}

// run returns the text of a graph after Run.
func run(t *testing.T, roots []graph.Value, opt rewrite.Options) string {
	t.Helper()
	after, err := rewrite.Run(t.Context(), roots, opt)
	if err != nil {
		t.Fatal(err)
	}
	return graph.Format(after, op.Format)
}

// TestWithout leaves out each rule, and all but each, with the first graph that
// the rule is shown with.
func TestWithout(t *testing.T) {
	all := rewrite.Options{Program: true, Eval: evaluate}
	for _, name := range rewrite.Rules() {
		archive, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		roots := parse(t, string(archive.Files[0].Data))
		without := all
		without.Without = rewrite.Rules()
		none := run(t, roots, without)
		without.Without = slices.DeleteFunc(rewrite.Rules(), func(n string) bool { return n == name })
		if run(t, roots, without) == none {
			t.Errorf("%s: nothing is rewritten by this rule alone", name)
		}
	}
	roots := parse(t, "n1 = input \"x\" float32[2]\nout n1\n")
	for _, c := range []struct{ name, want string }{
		{"fusion", `there is no rewrite rule "fusion", but common, qdq, transposes, batch_norm, affine, batch_map, channels_last, normalise, halves, fold, winograd, recompute, fuse, activations, simplify, epilogue, bottleneck, nest`},
		{"", `there is no rewrite rule ""`},
		{"widen", `the rewrite rule "widen" cannot be left out, but common, qdq, transposes, `},
	} {
		_, err := rewrite.Run(t.Context(), roots, rewrite.Options{Without: []string{"fuse", c.name}})
		if !errors.Is(err, rewrite.ErrRule) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("without %q: error %v, want %q", c.name, err, c.want)
		}
	}
	if got := rewrite.Inexact(); !slices.Equal(got, []string{"qdq", "batch_norm", "affine", "normalise", "winograd", "activations"}) {
		t.Errorf("inexact rules are %v", got)
	}
}

// TestScope rewrites a graph that every rule for programs, and every one that
// needs constants computed, has something to do with.
func TestScope(t *testing.T) {
	const text = `
n1 = input "x" float32[1 2]
n2 = constant float32[1 2] data=[1 2]
n3 = map{program="t0=exp(x0)"} n2
n4 = cache n1
n5 = concat{axis=1} n4 n3
n6 = concat{axis=1} n4 n3 n3
out n5
out n6
out n1
`
	roots := parse(t, text)
	once := run(t, roots, rewrite.Options{})
	if want := graph.Format(roots, op.Format); once != want {
		t.Errorf("a graph that is run once becomes\n%swant\n%s", once, want)
	}
	folded := run(t, roots, rewrite.Options{Eval: evaluate})
	if !strings.Contains(folded, "data=[2.7182817 7.389056]") || !strings.Contains(folded, "cache") {
		t.Errorf("with an evaluator it becomes\n%s", folded)
	}
	program := run(t, roots, rewrite.Options{Program: true})
	for _, want := range []string{"= contiguous n1", "concat{axis=1} n5 n4", "ident(x0)"} {
		if !strings.Contains(program, want) {
			t.Errorf("as a program it has no %q:\n%s", want, program)
		}
	}
}

// labelled returns the nodes of all builds that have a label.
func labelled(builds [][]graph.Value, label string) map[*graph.Node]bool {
	nodes := make(map[*graph.Node]bool)
	for _, n := range graph.Nodes(slices.Concat(builds...)...) {
		nodes[n] = n.Label() == label
	}
	return nodes
}

// TestFold has constants computed: in one call, in the order in which they are
// read, but for what is to be kept.
func TestFold(t *testing.T) {
	const text = `
n1 = constant float32[2] data=[1 2]
n0 = map{program="t0=exp(x0)"} n1 "inner"
n2 = map{program="t0=neg(x0)"} n0 "late"
n3 = map{program="t0=log(x0)"} n1 "early"
n4 = map{program="t0=neg(x0)"} n1 "kept"
n5 = reduce{kind=sum, axes=[0]} n4 : float32[] "over kept"
n6 = input "x" float32[2]
n7 = map{program="t0=add(x0,x1)"} n6 n3
n8 = map{program="t0=add(x0,x1)"} n7 n2
n9 = map{program="t0=add(x0,x1)"} n8 n5
out n9
out n3
`
	roots := parse(t, text)
	var calls [][]string
	opt := rewrite.Options{
		Varying: func(builds [][]graph.Value) (map[*graph.Node]bool, error) { return labelled(builds, "kept"), nil },
		Eval: func(ctx context.Context, values []graph.Value) ([]graph.Leaf, error) {
			var labels []string
			for _, v := range values {
				labels = append(labels, v.Node().Label())
			}
			calls = append(calls, labels)
			return exec.Evaluate(ctx, values, 0)
		},
	}
	after, err := rewrite.Alone(t.Context(), "fold", roots, opt)
	if err != nil {
		t.Fatal(err)
	}
	if len(calls) != 1 || !slices.Equal(calls[0], []string{"early", "late"}) {
		t.Errorf("computed are %q", calls)
	}
	if got := graph.Format(after, op.Format); !strings.Contains(got, "neg(x0)") || !strings.Contains(got, "reduce") || after[1].Node().Leaf() == nil {
		t.Errorf("the graph is\n%s", got)
	}
	broken := errors.New("broken")
	opt.Eval = func(context.Context, []graph.Value) ([]graph.Leaf, error) { return nil, broken }
	if _, err := rewrite.Run(t.Context(), roots, opt); !errors.Is(err, broken) {
		t.Errorf("error %v, want the evaluator's", err)
	}
	// What is too much to compute stays.
	opt.Eval = func(context.Context, []graph.Value) ([]graph.Leaf, error) { return nil, nil }
	after, err = rewrite.Alone(t.Context(), "fold", roots, opt)
	if err != nil || graph.Format(after, op.Format) != graph.Format(roots, op.Format) {
		t.Errorf("without leaves the graph is\n%s%v", graph.Format(after, op.Format), err)
	}
}

// TestRunAll rewrites two builds of a graph in step. What differs between them
// stays in both, although it depends on constants alone.
func TestRunAll(t *testing.T) {
	build := func(n int) []graph.Value {
		return parse(t, fmt.Sprintf(`
n1 = input "x" int64[%[1]d]
n2 = iota{n=%[1]d, start=0:int64, delta=1:int64} : int64[%[1]d] "places"
n3 = constant int64[1] data=[2]
n4 = map{program="t0=mul(x0,x0)"} n3 "square"
n5 = map{program="t0=add(x0,x1)"} n1 n2
n6 = map{program="t0=mul(x0,x1)"} n5 n4
out n6
`, n))
	}
	var seen [][2]int // nodes of both builds, each time that Varying is asked
	computed := 0
	opt := rewrite.Options{
		Program: true,
		Varying: func(builds [][]graph.Value) (map[*graph.Node]bool, error) {
			var nodes [2]int
			for i, roots := range builds {
				nodes[i] = len(graph.Nodes(roots...))
			}
			seen = append(seen, nodes)
			return labelled(builds, "places"), nil
		},
		Eval: func(ctx context.Context, values []graph.Value) ([]graph.Leaf, error) {
			if computed++; len(values) != 1 || values[0].Node().Label() != "square" {
				t.Errorf("computed are %v", values)
			}
			return exec.Evaluate(ctx, values, 0)
		},
	}
	builds := [][]graph.Value{build(3), build(5)}
	after, err := rewrite.RunAll(t.Context(), builds, opt)
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range []string{"3", "5"} {
		want := strings.ReplaceAll(`n1 = input "x" int64[N]
n2 = iota{n=N, start=0:int64, delta=1:int64} : int64[N] "places"
n3 = map{program="t0=add(x0,x1);t1=mul(t0,4:int64)"} n1 n2 : int64[N]
out n3
`, "N", n)
		if got := graph.Format(after[i], op.Format); got != want {
			t.Errorf("with %s elements it becomes\n%swant\n%s", n, got, want)
		}
	}
	if computed != 2 || !slices.Equal(seen, [][2]int{{6, 6}, {6, 6}, {6, 6}, {6, 6}}) {
		t.Errorf("constants are computed %d times, and Varying sees builds of %v nodes", computed, seen)
	}
	broken := errors.New("broken")
	opt.Varying = func([][]graph.Value) (map[*graph.Node]bool, error) { return nil, broken }
	if _, err := rewrite.RunAll(t.Context(), builds, opt); !errors.Is(err, broken) {
		t.Errorf("error %v, want that of Varying", err)
	}
}

// TestFilledCache has a cache that holds its result be a constant of a program.
func TestFilledCache(t *testing.T) {
	roots := parse(t, "n1 = constant float32[2] data=[1 2]\nn2 = cache n1 \"kept\"\nout n2\n")
	data := kernel.Alloc(8)
	copy(kernel.Cast[float32](data), []float32{3, 4})
	roots[0].Node().Fill(graph.Leaf{Layout: shape.Dense(shape.Shape{2}), Data: data})
	after, err := rewrite.Alone(t.Context(), "caches", roots, rewrite.Options{Program: true})
	if err != nil {
		t.Fatal(err)
	}
	want := "n1 = constant float32[2] data=[3 4] \"kept\"\nout n1\n"
	if got := graph.Format(after, op.Format); got != want {
		t.Errorf("a filled cache becomes\n%swant\n%s", got, want)
	}
}

// TestRandom compares random graphs after all rules that are exact, and after some, with the
// naive evaluation of what they were before, bit for bit.
func TestRandom(t *testing.T) {
	for seed := range graphtest.Seeds(t, 2000) {
		rng := rand.New(rand.NewPCG(seed, 2))
		g := graphtest.Random(t, seed, graphtest.Options{Inputs: true})
		opt := rewrite.Options{Program: rng.IntN(2) == 0}
		if rng.IntN(2) == 0 {
			opt.Eval = evaluate
		}
		opt.Without = rewrite.Inexact()
		for _, name := range rewrite.Rules() {
			if seed%2 == 1 && rng.IntN(2) == 0 {
				opt.Without = append(opt.Without, name)
			}
		}
		after, err := rewrite.Run(t.Context(), g.Roots, opt)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		// Built anew, for the evaluator may have filled caches.
		twin := graphtest.Random(t, seed, graphtest.Options{Inputs: true})
		again, err := rewrite.Run(t.Context(), twin.Roots, opt)
		if err != nil || graph.Format(after, op.Format) != graph.Format(again, op.Format) {
			t.Fatalf("seed %d: rewritten once more it is another graph: %v", seed, err)
		}
		want, err := graphtest.Eval(g)
		if err != nil {
			t.Fatal(err)
		}
		got, err := graphtest.Eval(graphtest.Graph{Roots: after, Inputs: g.Inputs})
		if err != nil {
			t.Fatalf("seed %d, without %v: %v", seed, opt.Without, err)
		}
		for i := range want {
			if !g.Roots[i].Type().Equal(after[i].Type()) || !bytes.Equal(want[i], got[i]) {
				t.Fatalf("seed %d, without %v: root %d of %v differs\n%s", seed, opt.Without, i, after[i].Type(), graph.Format(after, op.Format))
			}
		}
	}
}

// TestRulesThatCompareExtents rewrites a graph whose builds at few rows let a rule do
// what others do not. All come out alike.
func TestRulesThatCompareExtents(t *testing.T) {
	for rule, text := range map[string]string{
		"fuse": `n1 = input "x" float32[N 3]
n2 = input "y" float32[1 3]
n3 = map{program="t0=abs(x0)"} n2
n4 = map{program="t0=add(x0,x1)"} n1 n3
out n4
`,
		"epilogue": `n1 = input "x" float32[1 3]
n2 = input "y" float32[3 4]
n3 = input "z" float32[N 4]
n4 = matmul n1 n2
n5 = map{program="t0=add(x0,x1)"} n4 n3
out n5
`,
		"contiguous": `n1 = input "x" float32[3 N]
n2 = permute{perm=[1 0]} n1
n3 = softmax n2
n4 = matmul n2 n1
out n3
out n4
`,
	} {
		t.Run(rule, func(t *testing.T) {
			var builds [][]graph.Value
			for _, n := range []string{"1", "5"} {
				builds = append(builds, parse(t, strings.ReplaceAll(text, "N", n)))
			}
			after, err := rewrite.RunAll(t.Context(), builds, rewrite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var ops [2][]string
			for i, roots := range after {
				for _, n := range graph.Nodes(roots...) {
					ops[i] = append(ops[i], n.Op().Name())
				}
			}
			if !slices.Equal(ops[0], ops[1]) {
				t.Errorf("with 1 row it becomes %v, with 5 %v", ops[0], ops[1])
			}
		})
	}
}

// evaluate computes constants in any memory.
func evaluate(ctx context.Context, values []graph.Value) ([]graph.Leaf, error) {
	return exec.Evaluate(ctx, values, 0)
}
