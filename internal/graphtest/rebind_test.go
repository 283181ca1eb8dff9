package graphtest

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op"
)

// TestKernelsTakeExtentsFromBind makes the kernel of each node of random graphs for
// the types that the node has, and binds it to smaller operands: it has to compute
// what the kernel made for these does. Smaller are all axes of one extent, or one
// axis of one input, as far as the op takes that.
func TestKernelsTakeExtentsFromBind(t *testing.T) {
	rebound := make(map[string]int)
	for seed := range Seeds(t, 300) {
		rng := rand.New(rand.NewPCG(seed, 9))
		g := Random(t, seed, Options{Inputs: true})
		for _, n := range graph.Nodes(g.Roots...) {
			o, ok := n.Op().(op.Computer)
			if _, widens := n.Op().(op.Widener); !ok || widens && n.Output(0).Type().DType.IsHalf() {
				continue
			}
			in := make([]graph.Type, n.NumInputs())
			for i := range in {
				if !n.Input(i).IsZero() {
					in[i] = n.Input(i).Type()
				}
			}
			for _, smaller := range shrunk(in) {
				out, err := o.Infer(smaller)
				if err != nil {
					continue
				}
				k, err := op.KernelOf(o, in, outputs(n))
				if err != nil {
					continue // halves among the inputs
				}
				fresh, err := op.KernelOf(o, smaller, out)
				if err != nil {
					t.Fatalf("seed %d: %s of %v: %v", seed, op.Format(o), smaller, err)
				}
				k.Bind(operands(rng, in), operands(rng, outputs(n)))
				ins := operands(rng, smaller)
				got, want := operands(rng, out), operands(rng, out)
				gotErr, wantErr := kerneltest.Run(rng, k, ins, got), kerneltest.Run(rng, fresh, ins, want)
				if (gotErr == nil) != (wantErr == nil) {
					t.Errorf("seed %d: %s made for %v and bound to %v: error %v, want %v", seed, op.Format(o), in, smaller, gotErr, wantErr)
				}
				for i := range out {
					if wantErr == nil && !bytes.Equal(kerneltest.Bytes(got[i]), kerneltest.Bytes(want[i])) {
						t.Errorf("seed %d: %s made for %v and bound to %v differs from the kernel made for these", seed, op.Format(o), in, smaller)
					}
				}
				rebound[o.Name()]++
			}
		}
	}
	t.Logf("bound to smaller operands: %v", rebound)
	for _, name := range []string{"conv", "conv_transpose", "matmul", "gather", "softmax", "map"} {
		if rebound[name] == 0 {
			t.Errorf("no %s was bound to smaller operands", name)
		}
	}
}

// shrunk returns lists of types like in with extents that are less by one.
func shrunk(in []graph.Type) [][]graph.Type {
	var lists [][]graph.Type
	add := func(less func(input, axis, extent int) bool) {
		list, changed := slices.Clone(in), false
		for i := range list {
			list[i].Shape = list[i].Shape.Clone()
			for a, d := range list[i].Shape {
				if d > 0 && less(i, a, d) {
					list[i].Shape[a], changed = d-1, true
				}
			}
		}
		if changed {
			lists = append(lists, list)
		}
	}
	for i, t := range in {
		for a, d := range t.Shape {
			add(func(input, axis, _ int) bool { return input == i && axis == a })
			add(func(_, _, extent int) bool { return extent == d && d > 1 })
		}
	}
	return lists
}

// outputs returns the types of the outputs of n.
func outputs(n *graph.Node) []graph.Type {
	list := make([]graph.Type, n.NumOutputs())
	for i := range list {
		list[i] = n.Output(i).Type()
	}
	return list
}

// operands returns dense operands of random elements, integers from 0 to 2 among
// them, which are often indices; nil for an absent one.
func operands(rng *rand.Rand, types []graph.Type) []*kernel.Operand {
	list := make([]*kernel.Operand, len(types))
	for i, t := range types {
		if !t.DType.Valid() {
			continue
		}
		list[i] = kerneltest.Dense(t.DType, t.Shape...)
		if t.DType.IsInteger() {
			for at := range t.Shape.Elems() {
				kernel.Int64Scalar(rng.Int64N(3)).Cast(t.DType).Put(list[i].Data[at*t.DType.Size():])
			}
			continue
		}
		kerneltest.Randomize(rng, list[i])
	}
	return list
}
