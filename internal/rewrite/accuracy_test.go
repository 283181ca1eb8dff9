package rewrite_test

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/exec"
	"github.com/berth-go/berth/internal/graphtest"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/rewrite"
	"github.com/berth-go/berth/shape"
)

// TestAccuracy compares the largest errors of float32 graphs before and after the
// rules that recognise functions. The reference is the graph after the rule, in
// float64. The error may not grow by more than what rounding the result does.
func TestAccuracy(t *testing.T) {
	texts := map[string][]string{"normalise": {`
n1 = input "x" float32[64 384]
n2 = reduce{kind=mean, axes=[-1], keep_dims=true} n1
n3 = map{program="t0=sub(x0,x1)"} n1 n2
n4 = map{program="t0=pow(x0,2:float32)"} n3
n5 = reduce{kind=mean, axes=[-1], keep_dims=true} n4
n6 = map{program="t0=add(x0,1e-05:float32)"} n5
n7 = map{program="t0=sqrt(x0)"} n6
n8 = map{program="t0=div(x0,x1)"} n3 n7
n9 = input "scale" float32[384]
n10 = map{program="t0=mul(x0,x1)"} n8 n9
n11 = input "bias" float32[384]
n12 = map{program="t0=add(x0,x1)"} n10 n11
n13 = map{program="t0=mul(x0,x0)"} n1
n14 = reduce{kind=mean, axes=[-1], keep_dims=true} n13
n15 = map{program="t0=add(x0,1e-06:float32)"} n14
n16 = map{program="t0=sqrt(x0)"} n15
n17 = map{program="t0=div(x0,x1)"} n1 n16
out n12
out n17
`}}
	archive, err := txtar.ParseFile(filepath.Join("testdata", "activations.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(archive.Files); i += 2 {
		text := strings.NewReplacer("float64", "float32", "[64]", "[8192]").Replace(string(archive.Files[i].Data))
		texts["activations"] = append(texts["activations"], text)
	}
	for rule, list := range texts {
		for _, text := range list {
			before := parse(t, text)
			after, err := rewrite.Alone(t.Context(), rule, before, rewrite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			recognised := graph.Format(after, op.Format)
			wide := parse(t, strings.ReplaceAll(recognised, "float32", "float64"))
			want, old, got := results(t, wide), results(t, before), results(t, after)
			for k := range want {
				largest := 0.0
				for _, v := range want[k] {
					largest = max(largest, math.Abs(v))
				}
				if b, a := distance(old[k], want[k]), distance(got[k], want[k]); !(a <= b+largest*0x1p-24) {
					t.Errorf("%s: root %d is off by up to %g, before the rule by %g\n%s", rule, k, a, b, recognised)
				}
			}
		}
	}
}

// distance returns the largest difference of two lists of numbers.
func distance(a, b []float64) float64 {
	most := 0.0
	for i, v := range a {
		most = max(most, math.Abs(v-b[i]))
	}
	return most
}

// results returns the elements of the roots of a graph. Its inputs have elements that
// float32 holds.
func results(t *testing.T, roots []graph.Value) [][]float64 {
	t.Helper()
	bound := inputs(roots)
	for _, n := range graph.Nodes(roots...) {
		in, ok := n.Op().(graph.Input)
		if typ := n.Output(0).Type(); ok && typ.DType == dtype.Float64 {
			data := kernel.Alloc(typ.Bytes())
			for i := range typ.Shape.Elems() {
				kernel.ScalarAt(dtype.Float64, bound[in.Key].Data, i).Cast(dtype.Float32).Cast(dtype.Float64).Put(data[8*i:])
			}
			bound[in.Key] = graph.Leaf{Layout: shape.Dense(typ.Shape), Data: data}
		}
	}
	leaves, err := exec.Compute(t.Context(), roots, exec.Options{Without: rewrite.Rules(), Inputs: bound})
	if err != nil {
		t.Fatal(err)
	}
	all := make([][]float64, len(leaves))
	for i, l := range leaves {
		data := graphtest.Flatten(l.Type, l.Layout, l.Data)
		for k := range l.Shape.Elems() {
			all[i] = append(all[i], kernel.ScalarAt(l.DType, data, k).Float64())
		}
	}
	return all
}
