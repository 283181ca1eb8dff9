package berth_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/shape"
)

// wantError fails unless err is there and has all of the parts in its text.
func wantError(t *testing.T, what string, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error, want one with %q", what, parts)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%s: the error %q lacks %q", what, err, part)
		}
	}
}

func TestFromSlice(t *testing.T) {
	data := []float32{1, 2, 3, 4, 5, 6}
	x, err := berth.FromSlice(data, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	data[0] = 9 // the tensor has a copy
	if got := must(berth.Data[float32](x)); !slices.Equal(got, []float32{1, 2, 3, 4, 5, 6}) {
		t.Errorf("got %v", got)
	}
	if x.DType() != berth.Float32 || !slices.Equal(x.Shape(), []int{2, 3}) || !slices.Equal(x.Strides(), []int{3, 1}) ||
		x.Rank() != 2 || x.Len() != 6 || !x.IsDense() {
		t.Errorf("%v%v strides %v, rank %d, %d elements", x.DType(), x.Shape(), x.Strides(), x.Rank(), x.Len())
	}
	x.Shape()[0], x.Strides()[0] = 7, 7 // copies
	if x.Shape()[0] != 2 || x.Strides()[0] != 3 {
		t.Error("Shape or Strides gave away the slice of the tensor")
	}

	dims := []int{2, 3}
	x = must(berth.FromSlice(data, dims...))
	dims[0] = 100
	if x.Shape()[0] != 2 {
		t.Error("the tensor keeps the slice of its extents")
	}

	for _, c := range []struct {
		dims  []int
		parts []string
	}{
		{[]int{2, 2}, []string{"6 elements", "[2 2]", "4"}},
		{nil, []string{"6 elements", "[]", "1"}},
		{[]int{0, 3}, []string{"6 elements", "[0 3]"}},
		{[]int{-2, -3}, []string{"[-2 -3]", "negative extent -2"}},
		{[]int{math.MaxInt, math.MaxInt}, []string{"more than"}},
	} {
		_, err := berth.FromSlice(data, c.dims...)
		wantError(t, label(c.dims), err, c.parts...)
	}
}

// TestScalarsAndEmpties makes the smallest tensors of every type.
func TestScalarsAndEmpties(t *testing.T) {
	for _, typ := range allTypes {
		s := list([]float64{1}).tensor(typ)
		if s.Rank() != 0 || s.Len() != 1 || !s.IsDense() || read(s).data[0] != 1 {
			t.Errorf("scalar %v: %v", typ, s)
		}
		for _, dims := range [][]int{{0}, {0, 3}, {3, 0}, {2, 0, 4}} {
			e := must(berth.Zeros(typ, dims...))
			if e.Len() != 0 || !e.IsDense() || len(read(e).data) != 0 || !slices.Equal(e.Shape(), dims) {
				t.Errorf("%v%v: %v", typ, dims, e)
			}
		}
	}
	if v := must(berth.At[float64](berth.Scalar(2.5))); v != 2.5 {
		t.Errorf("got %v", v)
	}
	wantError(t, "zeros", second(berth.Zeros(berth.Float32, 3, -1)), "negative extent -1")
	wantError(t, "zeros", second(berth.Zeros(0, 3)), "element type")
	wantError(t, "zeros", second(berth.Zeros(berth.Float64, 1<<50)), "1125899906842624")
}

func second[T any](_ T, err error) error { return err }

func TestFull(t *testing.T) {
	x := must(berth.Full(int16(-7), 2, 3))
	if x.DType() != berth.Int16 || !slices.Equal(must(berth.Data[int16](x)), []int16{-7, -7, -7, -7, -7, -7}) {
		t.Errorf("got %v", x)
	}
	big := must(berth.Full(1.5, 1<<20, 1<<20)) // one element is stored
	if v := must(berth.At[float64](big, -1, 12345)); v != 1.5 {
		t.Errorf("got %v", v)
	}
	if e := must(berth.Full(true, 0)); e.Len() != 0 {
		t.Errorf("got %v", e)
	}
	wantError(t, "full", second(berth.Full(1.0, -1)), "negative extent")
}

func TestRange(t *testing.T) {
	for _, c := range []struct {
		got  *berth.Tensor
		want []float64
	}{
		{must(berth.Range[int64](0, 5, 1)), []float64{0, 1, 2, 3, 4}},
		{must(berth.Range[int32](5, 0, -2)), []float64{5, 3, 1}},
		{must(berth.Range[uint8](250, 255, 2)), []float64{250, 252, 254}},
		{must(berth.Range[int8](-128, 127, 100)), []float64{-128, -28, 72}},
		{must(berth.Range(0, 1, 0.25)), []float64{0, 0.25, 0.5, 0.75}},
		{must(berth.Range[float32](1, 0, -0.5)), []float64{1, 0.5}},
		{must(berth.Range[int64](3, 3, 1)), nil},
		{must(berth.Range[int64](3, 0, 1)), nil},
		{must(berth.Range[int64](0, 3, 100)), []float64{0}},
	} {
		if got := read(c.got).data; !slices.Equal(got, c.want) {
			t.Errorf("got %v, want %v", got, c.want)
		}
	}
	wantError(t, "step 0", second(berth.Range[int64](0, 5, 0)), "step 0")
	wantError(t, "step NaN", second(berth.Range(0.0, 5, math.NaN())), "NaN")
	wantError(t, "endless", second(berth.Range(0, math.Inf(1), 1)), "Inf")
	wantError(t, "large", second(berth.Range[int64](0, math.MaxInt64, 1)), "9223372036854775807")
	wantError(t, "NaN", second(berth.Range(math.NaN(), 1, 1)), "NaN")
}

func TestIdentity(t *testing.T) {
	if got := must(berth.Data[int32](must(berth.Identity[int32](3)))); !slices.Equal(got, []int32{1, 0, 0, 0, 1, 0, 0, 0, 1}) {
		t.Errorf("got %v", got)
	}
	if e := must(berth.Identity[float32](0)); e.Len() != 0 {
		t.Errorf("got %v", e)
	}
	wantError(t, "identity", second(berth.Identity[float32](-1)), "-1")
	wantError(t, "identity", second(berth.Identity[float32](math.MaxInt)), "more than")
}

// TestRandom draws from the caller's source alone: the same source gives the
// same numbers.
func TestRandom(t *testing.T) {
	const n = 10000
	source := func() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
	for _, draw := range []func() (*berth.Tensor, error){
		func() (*berth.Tensor, error) { return berth.Uniform[float32](source(), 100, n/100) },
		func() (*berth.Tensor, error) { return berth.Uniform[float64](source(), n) },
	} {
		x := must(draw())
		if !berth.Equal(x, must(draw())) {
			t.Error("the same source gave other numbers")
		}
		sum := 0.0
		for _, v := range read(x).data {
			if v < 0 || v >= 1 {
				t.Fatalf("%v is not in [0, 1)", v)
			}
			sum += v
		}
		if mean := sum / n; math.Abs(mean-0.5) > 0.02 {
			t.Errorf("the mean is %v", mean)
		}
	}
	sum, squares := 0.0, 0.0
	for _, v := range read(must(berth.Normal[float32](source(), n))).data {
		sum, squares = sum+v, squares+v*v
	}
	if mean, deviation := sum/n, math.Sqrt(squares/n); math.Abs(mean) > 0.05 || math.Abs(deviation-1) > 0.05 {
		t.Errorf("mean %v, standard deviation %v", mean, deviation)
	}
	wantError(t, "uniform", second(berth.Uniform[float32](source(), -1)), "-1")
	wantError(t, "normal", second(berth.Normal[float32](source(), -1)), "-1")
}

func TestDataAndAt(t *testing.T) {
	x := must(berth.FromSlice([]int32{1, 2, 3, 4, 5, 6}, 2, 3))
	wantError(t, "type", second(berth.Data[int64](x)), "int32", "int64")
	wantError(t, "type", second(berth.At[float32](x, 0, 0)), "int32", "float32")
	wantError(t, "rank", second(berth.At[int32](x, 0)), "[0]", "[2 3]")
	wantError(t, "range", second(berth.At[int32](x, 0, 3)), "[0 3]", "[2 3]")
	wantError(t, "range", second(berth.At[int32](x, -3, 0)), "[-3 0]", "[2 3]")
	if v := must(berth.At[int32](x, -1, -2)); v != 5 {
		t.Errorf("got %d, want 5", v)
	}
	// Halves are no numbers of Go, but elements all the same.
	h := must(berth.FromSlice([]dtype.BF16{dtype.ToBF16(1.5)}, 1))
	if v := must(berth.At[dtype.BF16](h, 0)); v.Float32() != 1.5 {
		t.Errorf("got %v", v.Float32())
	}
	wantError(t, "half", second(berth.Data[uint16](h)), "bfloat16", "uint16")

	// Dense data are shared, but cannot be grown into what lies behind.
	row := must(x.Index(0, 0))
	data := must(berth.Data[int32](row))
	if cap(data) != 3 {
		t.Errorf("the slice of a row has room for %d elements", cap(data))
	}
	if &data[0] != &must(berth.Data[int32](x))[0] {
		t.Error("the data of a dense view were copied")
	}
	if copied := must(berth.Data[int32](must(x.Transpose()))); !slices.Equal(copied, []int32{1, 4, 2, 5, 3, 6}) {
		t.Errorf("got %v", copied)
	}
}

// TestTensorOf refuses storage that a layout leaves or that is not aligned.
func TestTensorOf(t *testing.T) {
	x := must(berth.FromSlice([]float32{1, 2, 3, 4}, 4))
	typ := graph.Type{DType: berth.Float32, Shape: shape.Shape{2}}
	leaf := graph.Leaf{Layout: shape.Layout{Shape: shape.Shape{2}, Strides: []int{-2}, Offset: 3}, Data: inside.Leaf(x).Data}
	y := must(inside.Tensor(typ, leaf))
	if got := must(berth.Data[float32](y)); !slices.Equal(got, []float32{4, 2}) {
		t.Errorf("got %v", got)
	}
	outside := leaf
	outside.Layout.Offset = 1
	wantError(t, "outside", second(inside.Tensor(typ, outside)), "leaves its storage of 4 elements")
	outside.Layout.Strides = nil
	wantError(t, "no strides", second(inside.Tensor(typ, outside)), "0 strides")
	outside.Layout.Strides, outside.Layout.Offset = []int{1 << 62}, 1
	wantError(t, "overflow", second(inside.Tensor(typ, outside)), "leaves its storage")
	shifted := graph.Leaf{Layout: shape.Dense(shape.Shape{2}), Data: inside.Leaf(x).Data[1:9]}
	wantError(t, "alignment", second(inside.Tensor(typ, shifted)), "not aligned to 4 bytes")
}
