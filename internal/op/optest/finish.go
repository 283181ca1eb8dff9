package optest

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/shape"
)

// Finishes checks that o with an epilogue gives the bits of o and a Map after it,
// with each instruction set. In are the types of its own inputs, the zero one
// for an absent one. Programs add a residual, a bias for each column, one for
// each row and a scalar, multiply the output by itself, and compute halves; of these
// five a short test draws one.
func Finishes(t *testing.T, rng *rand.Rand, o elementwise.Finisher, in ...graph.Type) {
	t.Helper()
	types, err := o.Infer(in)
	if err != nil {
		t.Fatal(err)
	}
	y, s := types[0], types[0].Shape
	row := append(shape.Shape{}, s...)
	if len(row) > 0 {
		row[len(row)-1] = 1
	}
	cases := []struct {
		program string
		of      dtype.Type
		extra   []shape.Shape
	}{
		{"t0=relu(x0)", y.DType, nil},
		{"t0=add(x0,x1);t1=relu(t0)", y.DType, []shape.Shape{s}},
		{"t0=add(x0,x1);t1=mul(t0,x2);t2=sub(t1,x3)", y.DType, []shape.Shape{s[max(len(s)-1, 0):], row, {}}},
		{"t0=mul(x0,x0);t1=sub(t0,x0)", y.DType, nil},
		{"t0=cast[float16](x0);t1=add(t0,x1);t2=mul(t1,x2);t3=cast[" + y.DType.String() + "](t2)", dtype.Float16, []shape.Shape{s, s[max(len(s)-1, 0):]}},
	}
	if testing.Short() {
		drawn := rng.IntN(len(cases))
		cases = cases[drawn : drawn+1]
	}
	for _, c := range cases {
		var p elementwise.Program
		if err := p.UnmarshalText([]byte(c.program)); err != nil {
			t.Fatal(err)
		}
		finished := o.Finished(p).(elementwise.Finisher)
		_, own := finished.Finish()
		operands := make([]*kernel.Operand, own)
		all := make([]graph.Type, own)
		copy(all, in)
		for i, typ := range all {
			if typ.DType.Valid() {
				operands[i] = kerneltest.StridedInput(rng, typ.DType, op.DenseAxes(o, i, len(typ.Shape)), typ.Shape...)
			}
		}
		mapped, mapTypes := []*kernel.Operand{kerneltest.Dense(y.DType, s...)}, []graph.Type{y}
		for _, e := range c.extra {
			x := kerneltest.StridedInput(rng, c.of, 0, e...)
			operands, all = append(operands, x), append(all, graph.Type{DType: c.of, Shape: e})
			mapped, mapTypes = append(mapped, x), append(mapTypes, all[len(all)-1])
		}
		if got, err := finished.Infer(all); err != nil || len(got) != 1 || !got[0].Equal(y) {
			t.Fatalf("%s of %v gives %v, error %v; want %v", op.Format(finished), all, got, err, y)
		}
		for set := range kerneltest.Sets() {
			want := kerneltest.Dense(y.DType, s...)
			if err := kerneltest.Run(rng, o.Kernel(in, types), operands[:len(in)], mapped[:1]); err != nil {
				t.Fatal(err)
			}
			if err := kerneltest.Run(rng, elementwise.Map{Program: p}.Kernel(mapTypes, types), mapped, []*kernel.Operand{want}); err != nil {
				t.Fatal(err)
			}
			k := finished.Kernel(all, types)
			out := kerneltest.StridedOutput(rng, y.DType, op.DenseAxes(o, -1, len(s)), s...)
			if err := kerneltest.All(rng, k, operands, []*kernel.Operand{out}); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(kerneltest.Bytes(out), kerneltest.Bytes(want)) {
				t.Fatalf("%s: %s of %v differs from the op and a map after it", set, op.Format(finished), all)
			}
			kerneltest.CheckAllocs(t, k, operands, []*kernel.Operand{out})
		}
	}
}

// RefusesEpilogues checks that o, of inputs of the types in, takes no epilogue that
// is not of its output.
func RefusesEpilogues(t *testing.T, o elementwise.Finisher, in ...graph.Type) {
	t.Helper()
	types, err := o.Infer(in)
	if err != nil {
		t.Fatal(err)
	}
	y := types[0]
	larger := append(shape.Shape{2}, y.Shape...)
	for _, c := range []struct {
		program string
		extra   []graph.Type
		part    string
	}{
		{"t0=add(x0,x1)", nil, "input 1 of 1"},
		{"t0=relu(x0)", []graph.Type{y}, "input 1 is not read"},
		{"t0=add(x0,x1)", []graph.Type{{DType: y.DType, Shape: larger}}, "does not broadcast"},
		{"t0=eq(x0,x0)", nil, "gives bool"},
	} {
		var p elementwise.Program
		if err := p.UnmarshalText([]byte(c.program)); err != nil {
			t.Fatal(err)
		}
		finished := o.Finished(p).(elementwise.Finisher)
		_, own := finished.Finish()
		all := make([]graph.Type, own)
		copy(all, in)
		Refuses(t, finished, append(all, c.extra...), c.part)
	}
}
