package berth_test

import (
	"slices"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/op/move"
)

// besides are scatters whose operands are one value, or views of one. Written
// over their data they would read what they have written. Each is of x, 2 4 6 8;
// of i, the int64 indices 3 2 1 0; and of k, the int64 1 2 3 0.
var besides = map[string]struct {
	build func(x, i, k *berth.Promise) *berth.Promise
	want  []float64
}{
	"itself": {func(x, i, k *berth.Promise) *berth.Promise {
		return x.ScatterElements(0, i, x, berth.ScatterReplace)
	}, []float64{8, 6, 4, 2}},
	"itself, added": {func(x, i, k *berth.Promise) *berth.Promise {
		return x.ScatterElements(0, i, x, berth.ScatterAdd)
	}, []float64{10, 10, 10, 10}},
	"itself as contiguous": {func(x, i, k *berth.Promise) *berth.Promise {
		return x.ScatterElements(0, i, x.Contiguous(), berth.ScatterReplace)
	}, []float64{8, 6, 4, 2}},
	"itself cast to its own type": {func(x, i, k *berth.Promise) *berth.Promise {
		return x.ScatterElements(0, i, x.Cast(berth.Float32), berth.ScatterMax)
	}, []float64{8, 6, 6, 8}},
	"reversed": {func(x, i, k *berth.Promise) *berth.Promise {
		return x.ScatterElements(0, k, x.Slice(0, 3, -5, -1), berth.ScatterReplace)
	}, []float64{2, 8, 6, 4}},
	"reversed twice": {func(x, i, k *berth.Promise) *berth.Promise {
		reversed := x.Slice(0, 3, -5, -1)
		return reversed.Contiguous().ScatterElements(0, i, reversed, berth.ScatterReplace)
	}, []float64{2, 4, 6, 8}},
	"through reshapes": {func(x, i, k *berth.Promise) *berth.Promise {
		return x.Reshape(2, 2).Reshape(4).ScatterElements(0, i, x.Reshape(2, 2).Reshape(4), berth.ScatterReplace)
	}, []float64{8, 6, 4, 2}},
	"through a reshape": {func(x, i, k *berth.Promise) *berth.Promise {
		return x.Reshape(1, 4).ScatterElements(1, i.Reshape(1, 4), x.Reshape(1, 4), berth.ScatterAdd).Reshape(4)
	}, []float64{10, 10, 10, 10}},
	"part of it": {func(x, i, k *berth.Promise) *berth.Promise {
		return x.ScatterElements(0, i.Slice(0, 0, 2, 1), x.Slice(0, 2, 4, 1), berth.ScatterReplace)
	}, []float64{2, 4, 8, 6}},
	"its own index": {func(x, i, k *berth.Promise) *berth.Promise {
		k = k.MulScalar(1)
		return k.ScatterElements(0, k, x.Cast(berth.Int64), berth.ScatterReplace).Cast(berth.Float32)
	}, []float64{8, 2, 4, 6}},
	"its own index and updates": {func(x, i, k *berth.Promise) *berth.Promise {
		k = k.MulScalar(1)
		return k.ScatterElements(0, k, k, berth.ScatterAdd).Cast(berth.Float32)
	}, []float64{1, 3, 5, 3}},
	"parts": {func(x, i, k *berth.Promise) *berth.Promise {
		return apply(move.ScatterND{}, x, i.Reshape(4, 1), x)[0]
	}, []float64{8, 6, 4, 2}},
	"parts of its view, added": {func(x, i, k *berth.Promise) *berth.Promise {
		return apply(move.ScatterND{Reduction: berth.ScatterAdd}, x, i.Reshape(4, 1), x.Reshape(2, 2).Reshape(4))[0]
	}, []float64{10, 10, 10, 10}},
	"parts by its own index": {func(x, i, k *berth.Promise) *berth.Promise {
		k = k.MulScalar(1).Reshape(4, 1)
		return apply(move.ScatterND{}, k, k, x.Cast(berth.Int64).Reshape(4, 1))[0].Cast(berth.Float32).Reshape(4)
	}, []float64{8, 2, 4, 6}},
	// The same value twice where that is harmless.
	"a sum": {func(x, i, k *berth.Promise) *berth.Promise { return x.Add(x).Mul(x) }, []float64{8, 32, 72, 128}},
}

// TestOverwriteBeside computes what may not work in place step by step, and in
// programs with shared bytes and without.
func TestOverwriteBeside(t *testing.T) {
	a, indices, own := must(berth.FromSlice([]float32{1, 2, 3, 4}, 4)), must(berth.FromSlice([]int64{3, 2, 1, 0}, 4)), must(berth.FromSlice([]int64{1, 2, 3, 0}, 4))
	for name, c := range besides {
		t.Run(name, func(t *testing.T) {
			right := func(how string, out *berth.Tensor, err error) {
				t.Helper()
				if err != nil {
					t.Errorf("%s: %v", how, err)
					return
				}
				got := make([]float64, 0, 4)
				for _, f := range must(berth.Data[float32](out)) {
					got = append(got, float64(f))
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("%s: got %v, want %v", how, got, c.want)
				}
			}
			lazy := c.build(a.Promise().MulScalar(2), indices.Promise(), own.Promise())
			out, err := berth.MaterializeWith(t.Context(), berth.RunOptions{Poison: true}, lazy)
			if err != nil {
				t.Fatal(err)
			}
			right("materialised", out[0], nil)
			in := c.build(berth.Input("a", berth.Float32, 4).MulScalar(2), berth.Input("i", berth.Int64, 4), berth.Input("k", berth.Int64, 4))
			for _, apart := range []bool{false, true} {
				p, err := berth.Compile(t.Context(), berth.Outputs{"y": in}, &berth.CompileOptions{NoSharing: apart})
				if err != nil {
					t.Fatal(err)
				}
				given := make(map[string]*berth.Tensor)
				for _, port := range p.Inputs() {
					given[port.Name] = map[string]*berth.Tensor{"a": a, "i": indices, "k": own}[port.Name]
				}
				run, err := p.RunOnce(t.Context(), given, 1)
				if err != nil {
					t.Fatal(err)
				}
				right(map[bool]string{false: "compiled", true: "compiled without sharing"}[apart], run["y"], nil)
			}
		})
	}
}

// TestOverwriteBesideRows runs a program whose every row is scattered onto
// itself, at several numbers of rows.
func TestOverwriteBesideRows(t *testing.T) {
	c := programCase{"scatter", []operand{x(n, 4), i(3, n, 4)}, func(in ...*berth.Promise) []*berth.Promise {
		y, z := in[0].MulScalar(2), in[0].Exp()
		flat := z.Reshape(-1)
		return []*berth.Promise{
			y.ScatterElements(1, in[1], y, berth.ScatterReplace),
			z.ScatterElements(1, in[1], flat.Reshape(-1, 4), berth.ScatterAdd),
		}
	}}
	for _, apart := range []bool{false, true} {
		c.check(t, c.program(t, &berth.CompileOptions{NoSharing: apart}))
	}
}
