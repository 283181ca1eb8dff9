package op_test

import (
	"strings"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op"
)

// elements returns a type of the given extents.
func elements(t dtype.Type, dims ...int) graph.Type { return graph.Type{DType: t, Shape: dims} }

// single returns a float32 type of the given extents.
func single(dims ...int) graph.Type { return elements(dtype.Float32, dims...) }

// foldCase is an op with inputs, and either its output types as text or a
// part of its error.
type foldCase struct {
	op   op.Computer
	in   []graph.Type
	want string
	err  string
}

// checkFold also asks for a kernel wherever the types are accepted.
func checkFold(t *testing.T, cases []foldCase) {
	t.Helper()
	for _, c := range cases {
		out, err := c.op.Infer(c.in)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s%+v of %v: error %v, want one with %q", c.op.Name(), c.op, c.in, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s%+v of %v: %v", c.op.Name(), c.op, c.in, err)
			continue
		}
		words := []string{}
		for _, o := range out {
			words = append(words, o.String())
		}
		if got := strings.Join(words, " "); got != c.want {
			t.Errorf("%s%+v of %v gives %s, want %s", c.op.Name(), c.op, c.in, got, c.want)
		}
		if half := c.in[0].DType == dtype.Float16 || c.in[0].DType == dtype.BFloat16; half {
			if _, ok := c.op.(op.Widener); ok {
				continue
			}
		}
		if c.op.Kernel(c.in, out) == nil {
			t.Errorf("%s%+v of %v has no kernel", c.op.Name(), c.op, c.in)
		}
	}
}

func TestReduceInfer(t *testing.T) {
	one := func(x graph.Type) []graph.Type { return []graph.Type{x} }
	cases := []foldCase{
		{op.Reduce{}, one(single(2, 3)), "float32[]", ""},
		{op.Reduce{KeepDims: true}, one(single(2, 3)), "float32[1 1]", ""},
		{op.Reduce{NoopIfEmpty: true}, one(single(2, 3)), "float32[2 3]", ""},
		{op.Reduce{Axes: []int{-1}, NoopIfEmpty: true}, one(single(2, 3)), "float32[2]", ""},
		{op.Reduce{Axes: []int{-1, 0}, KeepDims: true}, one(single(2, 3, 4)), "float32[1 3 1]", ""},
		{op.Reduce{}, one(single()), "float32[]", ""},
		{op.Reduce{Axes: []int{0}}, one(single(0, 3)), "float32[3]", ""},
		{op.Reduce{Kind: op.ReduceAny, Axes: []int{0}}, one(single(2, 3)), "bool[3]", ""},
		{op.Reduce{Kind: op.ReduceMax}, one(elements(dtype.Bool, 2)), "bool[]", ""},
		{op.Reduce{Kind: op.ReduceMean}, one(elements(dtype.BFloat16, 2)), "bfloat16[]", ""},
		{op.Reduce{}, one(elements(dtype.Bool, 2)), "", "truth values have no arithmetic"},
		{op.Reduce{Axes: []int{2}}, one(single(2, 3)), "", "sum of float32[2 3]: axis 2 is out of range for rank 2"},
		{op.Reduce{Axes: []int{1, -1}}, one(single(2, 3)), "", "given twice"},
		{op.Reduce{Axes: []int{0}}, one(single()), "", "out of range for rank 0"},
		{op.Reduce{}, nil, "", "takes 1 input, got 0"},
		{op.Reduce{}, one(graph.Type{}), "", "not an element type"},
		{op.Reduce{Kind: 99}, one(single(2)), "", "no reduction 99"},

		{op.ArgReduce{}, one(single(2, 3)), "int64[3]", ""},
		{op.ArgReduce{Axis: -1, KeepDims: true}, one(single(2, 3)), "int64[2 1]", ""},
		{op.ArgReduce{Axis: 0}, one(single(0, 0)), "int64[0]", ""},
		{op.ArgReduce{Axis: 0}, one(single(0, 3)), "", "axis 0 has no elements"},
		{op.ArgReduce{Axis: 2}, one(single(2, 3)), "", "axis 2 is out of range"},
		{op.ArgReduce{}, one(single()), "", "out of range for rank 0"},
		{op.ArgReduce{}, nil, "", "takes 1 input"},

		{op.Cumulative{Axis: -2}, one(single(2, 3)), "float32[2 3]", ""},
		{op.Cumulative{Kind: op.ReduceProd}, one(elements(dtype.Int8, 2)), "int8[2]", ""},
		{op.Cumulative{Kind: op.ReduceMax}, one(single(2)), "", "max does not run along an axis"},
		{op.Cumulative{}, one(elements(dtype.Bool, 2)), "", "no arithmetic"},
		{op.Cumulative{Axis: 1}, one(single(2)), "", "axis 1 is out of range"},

		{op.Softmax{Axis: -1}, one(single(2, 3)), "float32[2 3]", ""},
		{op.Softmax{}, one(elements(dtype.Int32, 3)), "", "int32[3], not of a floating-point type"},
		{op.Softmax{Axis: 3}, one(single(2, 3)), "", "axis 3 is out of range"},
		{op.Hardmax{Axis: -1}, one(elements(dtype.Float16, 2)), "float16[2]", ""},
		{op.Hardmax{}, one(single()), "", "out of range for rank 0"},

		{op.TopK{K: 2, Axis: -1}, one(single(4, 3)), "float32[4 2] int64[4 2]", ""},
		{op.TopK{K: 0}, one(single(0)), "float32[0] int64[0]", ""},
		{op.TopK{K: 4, Axis: 1}, one(single(4, 3)), "", "4 elements of axis 1, which has 3"},
		{op.TopK{K: -1}, one(single(4)), "", "-1 elements"},
	}
	for _, dt := range dtype.All() {
		for k := op.ReduceSum; k <= op.ReduceAll; k++ {
			if dt == dtype.Bool && k != op.ReduceMax && k != op.ReduceMin && k < op.ReduceAny {
				continue
			}
			want := dt
			if k >= op.ReduceAny {
				want = dtype.Bool
			}
			cases = append(cases, foldCase{op.Reduce{Kind: k}, one(elements(dt, 2)), want.String() + "[]", ""})
		}
		cases = append(cases,
			foldCase{op.ArgReduce{}, one(elements(dt, 2)), "int64[]", ""},
			foldCase{op.TopK{K: 1}, one(elements(dt, 2)), dt.String() + "[1] int64[1]", ""})
		if dt != dtype.Bool {
			cases = append(cases, foldCase{op.Cumulative{}, one(elements(dt, 2)), dt.String() + "[2]", ""})
		}
	}
	checkFold(t, cases)
}

func TestReduceKindText(t *testing.T) {
	for k := op.ReduceSum; k <= op.ReduceAll; k++ {
		text, err := k.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var back op.ReduceKind
		if err := back.UnmarshalText(text); err != nil || back != k {
			t.Errorf("%v comes back from %q as %v, %v", k, text, back, err)
		}
	}
	if _, err := op.ReduceKind(99).MarshalText(); err == nil {
		t.Error("kind 99 has a text")
	}
	if err := new(op.ReduceKind).UnmarshalText([]byte("summ")); err == nil || !strings.Contains(err.Error(), `"summ"`) {
		t.Errorf(`"summ" gives the error %v`, err)
	}
}
