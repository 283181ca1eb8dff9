package graphtest

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op"
)

// TestLowPrecisionIsRefusedOrTaken puts elements of low precision in the place of
// others: an op without arithmetic for them has to say so, and any other to run.
func TestLowPrecisionIsRefusedOrTaken(t *testing.T) {
	low := []dtype.Type{dtype.Int4, dtype.Float8E4M3FN, dtype.Float8E8M0}
	taken := make(map[string]int)
	for seed := range Seeds(t, 150) {
		rng := rand.New(rand.NewPCG(seed, 10))
		for _, n := range graph.Nodes(Random(t, seed, Options{Inputs: true}).Roots...) {
			o, ok := n.Op().(op.Computer)
			if !ok {
				continue
			}
			in := make([]graph.Type, n.NumInputs())
			for i := range in {
				if !n.Input(i).IsZero() {
					in[i] = n.Input(i).Type()
				}
			}
			for i := range in {
				d := low[rng.IntN(len(low))]
				one, alike := slices.Clone(in), slices.Clone(in)
				one[i].DType = d
				for j := range alike {
					if in[j].DType == in[i].DType {
						alike[j].DType = d
					}
				}
				for _, types := range [][]graph.Type{one, alike} {
					if !op.Given(in, i) {
						continue
					}
					out, err := o.Infer(types)
					if err != nil {
						continue
					}
					k, err := op.KernelOf(o, types, out)
					if k == nil || err != nil {
						t.Fatalf("seed %d: %s takes %v and has no kernel: %v", seed, op.Format(o), types, err)
					}
					// The elements are not those that were drawn: indices may be out of range.
					_ = kerneltest.Run(rng, k, operands(rng, types), operands(rng, out))
					taken[o.Name()]++
				}
			}
		}
	}
	for _, name := range []string{"concat", "gather", "pad", "map"} {
		if taken[name] == 0 && !testing.Short() { // which draws few graphs
			t.Errorf("no %s took elements of low precision", name)
		}
	}
}
