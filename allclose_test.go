package berth_test

import (
	"math"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
)

func TestEqual(t *testing.T) {
	x := ramp(2, 3)
	same := ramp(2, 3)
	if !berth.Equal(x, same) || !berth.Equal(x, x) {
		t.Error("equal tensors are not Equal")
	}
	// Where the elements lie does not matter.
	if twice := must(must(x.Transpose()).Contiguous().Transpose()); !berth.Equal(x, twice) {
		t.Error("the same elements in another layout are not Equal")
	}
	negative := berth.Scalar(math.Copysign(0, -1))
	for what, pair := range map[string][2]*berth.Tensor{
		"shape":    {x, must(x.Reshape(3, 2))},
		"rank":     {must(x.Reshape(6)), must(x.Reshape(6, 1))},
		"type":     {list([]float64{1}, 1).tensor(berth.Int32), list([]float64{1}, 1).tensor(berth.Uint32)},
		"elements": {x, must(x.Slice(0, 1, -3, -1))},
		"zeros":    {berth.Scalar(0.0), negative},
		"empty":    {must(berth.Zeros(berth.Bool, 0, 2)), must(berth.Zeros(berth.Bool, 2, 0))},
	} {
		if berth.Equal(pair[0], pair[1]) {
			t.Errorf("%s: %v and %v are Equal", what, pair[0], pair[1])
		}
	}
	if !berth.Equal(berth.Scalar(nan), berth.Scalar(nan)) {
		t.Error("a NaN is not Equal to itself")
	}
}

func TestDiffer(t *testing.T) {
	for _, c := range []struct {
		got, want []float64
		d         berth.Difference
	}{
		{[]float64{1, -2}, []float64{1, -2}, berth.Difference{Largest: 2}},
		{nil, nil, berth.Difference{}},
		{[]float64{1.5, -8, 4}, []float64{1, -10, 4}, berth.Difference{Abs: 2, Rel: 0.5, Largest: 10}},
		{[]float64{3, 4}, []float64{0, 4}, berth.Difference{Abs: 3, Largest: 4}},
		{[]float64{nan, inf, -inf, 1}, []float64{nan, inf, -inf, 1}, berth.Difference{Largest: 1}},
		{[]float64{0, nan}, []float64{math.Copysign(0, -1), 2}, berth.Difference{Abs: inf, Rel: inf, Largest: 2}},
		{[]float64{inf}, []float64{-inf}, berth.Difference{Abs: inf, Rel: inf}},
		{[]float64{5}, []float64{inf}, berth.Difference{Abs: inf, Rel: inf}},
		{[]float64{5, 1}, []float64{nan, 2}, berth.Difference{Abs: inf, Rel: 0.5, Largest: 2}},
	} {
		for _, typ := range []berth.DType{berth.Float64, berth.Float32, berth.Float16, berth.BFloat16} {
			n := len(c.got)
			d, err := berth.Differ(list(c.got, n).tensor(typ), list(c.want, n).tensor(typ))
			if err != nil || d != c.d {
				t.Errorf("%v: %v against %v: %+v, %v, want %+v", typ, c.got, c.want, d, err, c.d)
			}
		}
	}
	for what, pair := range map[string][2]*berth.Tensor{
		"wide integers": {berth.Scalar[int64](1<<60 + 1), berth.Scalar[int64](1 << 60)},
		"bools":         {berth.Scalar(true), berth.Scalar(false)},
	} {
		if d, err := berth.Differ(pair[0], pair[1]); err != nil || d.Abs != 1 {
			t.Errorf("%s: %+v, %v", what, d, err)
		}
	}
	for typ, want := range map[berth.DType]float64{berth.Float8E4M3FN: 0.5, berth.Float4E2M1: 0.5, berth.Int4: 1} {
		a, b := list([]float64{2, 1.5}, 2).tensor(typ), list([]float64{2, 2}, 2).tensor(typ)
		if d, err := berth.Differ(a, b); err != nil || d.Abs != want {
			t.Errorf("%v: %+v, %v, want %v", typ, d, err, want)
		}
	}
	_, err := berth.Differ(ramp(2, 3), ramp(3, 2))
	wantError(t, "shape", err, "int32[2 3]", "int32[3 2]")
}

func TestClose(t *testing.T) {
	for _, c := range []struct {
		got, want  float64
		rtol, atol float64
		close      bool
	}{
		{1, 1, 0, 0, true},
		{1.001, 1, 0, 0.0011, true},
		{1.001, 1, 0, 0.0009, false},
		{1001, 1000, 0.0011, 0, true},
		{1001, 1000, 0.0009, 0, false},
		{-1001, -1000, 0.0011, 0, true},
		{0, math.Copysign(0, -1), 0, 0, true},
		{nan, nan, 0, 0, true},
		{nan, 1, 10, 10, false},
		{1, nan, 10, 10, false},
		{inf, inf, 0, 0, true},
		{inf, -inf, inf, inf, false},
		{1e300, inf, 1, 1, false},
		{inf, 1e300, 1, 1, false},
		{inf, nan, 1, 1, false},
	} {
		for _, typ := range []berth.DType{berth.Float64, berth.Float32} {
			if typ == berth.Float32 && (c.got == 1e300 || c.want == 1e300) {
				continue
			}
			err := berth.Close(list([]float64{c.got}).tensor(typ), list([]float64{c.want}).tensor(typ), c.rtol, c.atol)
			if (err == nil) != c.close {
				t.Errorf("%v: %v against %v, rtol %v, atol %v: %v", typ, c.got, c.want, c.rtol, c.atol, err)
			}
		}
	}
	// Tolerance is for floats alone.
	wantError(t, "integers", berth.Close(berth.Scalar[int64](1001), berth.Scalar[int64](1000), 1, 10), "1001", "1000")
	wantError(t, "wide integers", berth.Close(berth.Scalar[int64](1<<60+1), berth.Scalar[int64](1<<60), 1, 10), "1152921504606846977", "1152921504606846976")
	wantError(t, "the largest integer", berth.Close(berth.Scalar[uint64](math.MaxUint64-1), berth.Scalar[uint64](math.MaxUint64), 1, 10), "18446744073709551614", "18446744073709551615")
	wantError(t, "bools", berth.Close(berth.Scalar(true), berth.Scalar(false), 1, 10), "is true, want false")
	wantError(t, "bytes", berth.Close(berth.Scalar[int8](-3), berth.Scalar[int8](3), 1, 10), "is -3, want 3")
	wantError(t, "type", berth.Close(berth.Scalar[int64](1), berth.Scalar[int32](1), 1, 1), "int64[]", "int32[]")
	wantError(t, "shape", berth.Close(ramp(2, 3), ramp(3, 2), 1, 1), "int32[2 3]", "int32[3 2]")

	// The first difference is named by its index.
	got := must(ramp(2, 3, 4).Contiguous().Slice(0, 0, 2, 1))
	want := read(got)
	want.data[17], want.data[23] = 50, 60 // at [1 1 1] and [1 2 3]
	wantError(t, "first", berth.Close(got, want.tensor(berth.Int32), 0, 0), "2 of 24", "int32[2 3 4]", "[1 1 1] is 17, want 50")
	h := must(berth.FromSlice([]dtype.F16{dtype.ToF16(1), dtype.ToF16(2)}, 2))
	g := must(berth.FromSlice([]dtype.F16{dtype.ToF16(1), dtype.ToF16(2.5)}, 2))
	wantError(t, "halves", berth.Close(g, h, 0, 0.1), "1 of 2", "[1] is 2.5, want 2")

	for _, typ := range allTypes {
		a, b := list([]float64{1, 0, 1}, 3), list([]float64{1, 1, 1}, 3)
		if err := berth.Close(a.tensor(typ), a.tensor(typ), 0, 0); err != nil {
			t.Errorf("%v: %v", typ, err)
		}
		wantError(t, typ.String(), berth.Close(a.tensor(typ), b.tensor(typ), 0, 0), "1 of 3", "[1] is")
		if err := berth.Close(must(berth.Zeros(typ, 0)), must(berth.Zeros(typ, 0)), 0, 0); err != nil {
			t.Errorf("%v without elements: %v", typ, err)
		}
	}
}
