package conformance

import (
	"math"
	"strings"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
)

func tensor[T berth.Element](t *testing.T, data []T, dims ...int) *berth.Tensor {
	t.Helper()
	if dims == nil {
		dims = []int{len(data)}
	}
	x, err := berth.FromSlice(data, dims...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestLargest: the tolerance of an element follows the largest of its tensor that
// is finite.
func TestLargest(t *testing.T) {
	tol := Tolerance{Largest: 0.1}
	inf := math.Inf(-1)
	for _, c := range []struct {
		got, want []float64
		same      bool
	}{
		{[]float64{-100, 9, inf}, []float64{-100, 0, inf}, true},
		{[]float64{-100, 11, inf}, []float64{-100, 0, inf}, false},
		{[]float64{1, 0.2}, []float64{1, 0}, false},
		{[]float64{1, 0}, []float64{math.NaN(), 0}, false},
	} {
		if err := tol.Differ(tensor(t, c.got), tensor(t, c.want)); (err == nil) != c.same {
			t.Errorf("%v against %v: %v", c.got, c.want, err)
		}
	}
}

func TestDiffer(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	f64 := func(v ...float64) *berth.Tensor { return tensor(t, v) }
	f16 := func(v float32) *berth.Tensor { return tensor(t, []dtype.F16{dtype.ToF16(v)}) }
	bf16 := func(v float32) *berth.Tensor { return tensor(t, []dtype.BF16{dtype.ToBF16(v)}) }
	tol := Tolerance{Rel: 0.1, Abs: 0.5}
	for _, c := range []struct {
		what      string
		got, want *berth.Tensor
		err       string // part of it; "" where none is wanted
	}{
		{"inside of the relative part", f64(109), f64(100), ""},
		{"outside", f64(111), f64(100), "element 0 is 111, want 100"},
		{"inside of the absolute part", f64(0.4), f64(0), ""},
		{"negative", f64(-111), f64(-100), "element 0 is -111, want -100"},
		{"the first of several", f64(1, 9, 9), f64(1, 2, 3), "2 of 3 elements of float64[3] differ; element 1 is 9, want 2"},
		{"NaN for NaN", f64(nan), f64(nan), ""},
		{"NaN for a number", f64(nan), f64(1), "element 0 is NaN"},
		{"a number for NaN", f64(1), f64(nan), "want NaN"},
		{"infinity", f64(inf, -inf), f64(inf, -inf), ""},
		{"the other infinity", f64(-inf), f64(inf), "element 0 is -Inf, want +Inf"},
		{"a number for infinity", f64(math.MaxFloat64), f64(inf), "want +Inf"},
		{"infinity for a number", f64(inf), f64(math.MaxFloat64), "element 0 is +Inf"},
		{"infinity for NaN", f64(inf), f64(nan), "want NaN"},
		{"no elements", f64(), f64(), ""},
		{"other shape", tensor(t, []float64{1, 2}, 1, 2), f64(1, 2), "got float64[1 2], want float64[2]"},
		{"other rank, one element", tensor(t, []float64{1}, []int{}...), f64(1), "got float64[], want float64[1]"},
		{"other type", tensor(t, []float32{1}), f64(1), "got float32[1], want float64[1]"},
		{"nothing", nil, f64(1), "one is missing"},
		{"float16", f16(1.05), f16(1), ""},
		{"float16, outside", f16(2), f16(1), "differ"},
		{"bfloat16", bf16(1.05), bf16(1), ""},
		{"bfloat16, outside", bf16(2), bf16(1), "differ"},
		{"integers take no tolerance", tensor(t, []int8{101}), tensor(t, []int8{100}), "element 0 is 101, want 100"},
		{"large integers", tensor(t, []int64{1<<60 + 1}), tensor(t, []int64{1 << 60}), "differ"},
		{"unsigned integers", tensor(t, []uint64{math.MaxUint64}), tensor(t, []uint64{math.MaxUint64}), ""},
		{"truth values", tensor(t, []bool{true}), tensor(t, []bool{false}), "element 0 is true, want false"},
	} {
		t.Run(c.what, func(t *testing.T) {
			err := tol.Differ(c.got, c.want)
			switch {
			case c.err == "" && err != nil:
				t.Error(err)
			case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
				t.Errorf("got %v, want %q", err, c.err)
			}
		})
	}
}

// TestDifferTypes checks that every element type can be compared.
func TestDifferTypes(t *testing.T) {
	for _, typ := range dtype.All() {
		zeros, err := berth.Zeros(typ, 2)
		if err != nil {
			t.Fatal(err)
		}
		ones, err := tensor(t, []bool{true, true}).Promise().Cast(typ).Materialize(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := (Tolerance{}).Differ(zeros, zeros); err != nil {
			t.Errorf("%v: %v", typ, err)
		}
		if (Tolerance{}).Differ(zeros, ones) == nil {
			t.Errorf("%v: zeros do not differ from ones", typ)
		}
		if _, ok := buffers[typ]; !ok {
			t.Errorf("%v: no buffer for an output", typ)
		}
	}
}

func TestIdentical(t *testing.T) {
	minusZero := math.Copysign(0, -1)
	otherNaN := math.Float64frombits(math.Float64bits(math.NaN()) ^ 2)
	for _, c := range []struct {
		what      string
		got, want *berth.Tensor
		same      bool
	}{
		{"numbers", tensor(t, []float64{1, 2}), tensor(t, []float64{1, 2}), true},
		{"one bit", tensor(t, []float64{1}), tensor(t, []float64{math.Nextafter(1, 2)}), false},
		{"NaN", tensor(t, []float64{math.NaN()}), tensor(t, []float64{math.NaN()}), true},
		{"another NaN", tensor(t, []float64{otherNaN}), tensor(t, []float64{math.NaN()}), false},
		{"zero with a sign", tensor(t, []float64{minusZero}), tensor(t, []float64{0}), false},
		{"other shape", tensor(t, []int8{1, 2}, 2, 1), tensor(t, []int8{1, 2}), false},
		{"other type", tensor(t, []int8{1}), tensor(t, []uint8{1}), false},
		{"nothing", nil, tensor(t, []int8{1}), false},
	} {
		if err := Identical(c.got, c.want); (err == nil) != c.same {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	// Elements are compared in row-major order, however they are stored.
	x := tensor(t, []int32{1, 2, 3, 4, 5, 6}, 2, 3)
	flipped, err := x.Transpose()
	if err != nil {
		t.Fatal(err)
	}
	if err := Identical(flipped, tensor(t, []int32{1, 4, 2, 5, 3, 6}, 3, 2)); err != nil {
		t.Error(err)
	}
}
