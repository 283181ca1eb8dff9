package rewrite_test

import (
	"bytes"
	"flag"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/exec"
	"github.com/berth-go/berth/internal/graphtest"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/op/ops"
	"github.com/berth-go/berth/internal/rewrite"
	"github.com/berth-go/berth/shape"
)

var update = flag.Bool("update", false, "rewrite the graphs after each rule in testdata")

// inexactTolerance is how far results may differ after an inexact rule,
// relative to the larger of 1 and the largest result beside them.
const inexactTolerance = 1e-5

// rounding returns how far one rounding to a half reaches, relative to the number.
func rounding(t dtype.Type) float64 {
	switch t {
	case dtype.Float16:
		return 0x1p-10
	case dtype.BFloat16:
		return 0x1p-7
	}
	return 0
}

// TestGolden makes each rule alone with the graphs in its archive, and all rules
// with those of "program" and "once". All rules that are not inexact are made with
// every archive too, and must keep all bits. The graphs come in pairs: "before" or
// "before: what the case is", and "after". The graph after must print as
// stated, nothing more must be found to do in it, and both must have equal
// results. What an archive is about is said at its top.
func TestGolden(t *testing.T) {
	opt := rewrite.Options{Program: true, Eval: evaluate}
	makes := map[string]func([]graph.Value) ([]graph.Value, error){
		"once": func(roots []graph.Value) ([]graph.Value, error) {
			return rewrite.Run(t.Context(), roots, rewrite.Options{})
		},
		"program": func(roots []graph.Value) ([]graph.Value, error) { return rewrite.Run(t.Context(), roots, opt) },
	}
	for _, name := range rewrite.All() {
		makes[name] = func(roots []graph.Value) ([]graph.Value, error) { return rewrite.Alone(t.Context(), name, roots, opt) }
	}
	for name, rewritten := range makes {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("testdata", name+".txtar")
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(archive.Files) == 0 || len(archive.Files)%2 != 0 {
				t.Fatalf("%d files, not pairs of a graph before and after", len(archive.Files))
			}
			for i := 0; i < len(archive.Files); i += 2 {
				before, after := &archive.Files[i], &archive.Files[i+1]
				if !strings.HasPrefix(before.Name, "before") || after.Name != "after" {
					t.Fatalf("files %q and %q are not a graph before and after", before.Name, after.Name)
				}
				inexact := name == "program" || slices.Contains(rewrite.Inexact(), name)
				got := golden(t, before.Name, string(before.Data), rewritten, inexact)
				if *update {
					after.Data = []byte(got)
				} else if diff := cmp.Diff(string(after.Data), got); diff != "" {
					t.Errorf("%s: the graph differs (-want +got); -update rewrites it:\n%s", before.Name, diff)
				}
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(archive), 0o666); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// golden rewrites the graph of a text, and returns the text after that.
func golden(t *testing.T, what, text string, rewritten func([]graph.Value) ([]graph.Value, error), inexact bool) string {
	roots, err := graph.Parse(text, ops.Parse)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	after, err := rewritten(roots)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	again, err := rewritten(after)
	if err != nil || !slices.Equal(again, after) {
		t.Errorf("%s: rewritten again,\n%schanges to\n%s%v", what, graph.Format(after, op.Format), graph.Format(again, op.Format), err)
	}
	tolerance := 0.0
	if inexact {
		tolerance = inexactTolerance
	}
	compare(t, what, roots, after, tolerance)
	exact, err := rewrite.Run(t.Context(), roots, rewrite.Options{Program: true, Eval: evaluate, Without: rewrite.Inexact()})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	compare(t, what+", by all rules that are exact", roots, exact, 0)
	return graph.Format(after, op.Format)
}

// compare computes two lists of values, with none of the rules that can be left
// out, and reports where the second one's results are not those of the first, within a
// tolerance relative to the larger of 1 and the largest of them, or for halves by one
// rounding. 0 wants the same bits.
func compare(t *testing.T, what string, roots, after []graph.Value, tolerance float64) {
	t.Helper()
	opt := exec.Options{Without: rewrite.Rules(), Inputs: inputs(append(slices.Clone(roots), after...)), Poison: true}
	want, err := exec.Compute(t.Context(), roots, opt)
	if err != nil {
		t.Fatalf("%s, before: %v", what, err)
	}
	got, err := exec.Compute(t.Context(), after, opt)
	if err != nil {
		t.Fatalf("%s, after: %v\n%s", what, err, graph.Format(after, op.Format))
	}
	for i := range want {
		w := graphtest.Flatten(want[i].Type, want[i].Layout, want[i].Data)
		g := graphtest.Flatten(got[i].Type, got[i].Layout, got[i].Data)
		if bytes.Equal(w, g) {
			continue
		}
		bound := 0.0
		if tolerance > 0 {
			largest := 1.0
			for k := range want[i].Shape.Elems() {
				if x := math.Abs(kernel.ScalarAt(want[i].DType, w, k).Float64()); x <= math.MaxFloat64 {
					largest = max(largest, x)
				}
			}
			bound = max(tolerance, rounding(want[i].DType)) * largest
		}
		for k := range want[i].Shape.Elems() {
			x, y := kernel.ScalarAt(want[i].DType, w, k).Float64(), kernel.ScalarAt(want[i].DType, g, k).Float64()
			if !(math.Abs(x-y) <= bound) && !(math.IsNaN(x) && math.IsNaN(y)) {
				t.Fatalf("%s: element %d of root %d is %v, without the rule %v\n%s", what, k, i, y, x, graph.Format(after, op.Format))
			}
		}
	}
}

// inputs returns data for the inputs of a graph that follows from their names.
func inputs(roots []graph.Value) map[string]graph.Leaf {
	bound := make(map[string]graph.Leaf)
	for _, n := range graph.Nodes(roots...) {
		in, ok := n.Op().(graph.Input)
		if !ok {
			continue
		}
		typ := n.Output(0).Type()
		h := fnv.New64()
		h.Write([]byte(in.Key))
		rng := rand.New(rand.NewPCG(h.Sum64(), 1))
		data := kernel.Alloc(typ.Bytes())
		for i := range typ.Shape.Elems() {
			kernel.Float64Scalar(rng.NormFloat64() * 4).Cast(typ.DType).Put(data[i*typ.DType.Size():])
		}
		bound[in.Key] = graph.Leaf{Layout: shape.Dense(typ.Shape), Data: data}
	}
	return bound
}
