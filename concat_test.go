package berth_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/berth-go/berth"
)

// TestNestedConcat joins what was joined before, along other axes, and values that
// come more than once: programs at every number of rows give the bits of what is
// materialised, with sharing and without.
func TestNestedConcat(t *testing.T) {
	cat := berth.Concat
	for _, c := range []struct {
		name string
		in   [][]int // -1 stands for the rows
		of   func(in ...*berth.Promise) *berth.Promise
	}{
		{"rows, then columns", [][]int{{1, 3}, {2, 2}}, func(in ...*berth.Promise) *berth.Promise {
			return cat(1, cat(0, in[0].Softmax(1), in[0].Tanh()), in[1].Tanh())
		}},
		{"one value twice, and that twice", [][]int{{1, 4}}, func(in ...*berth.Promise) *berth.Promise {
			r := in[0].Relu()
			a := cat(0, r, r)
			return cat(1, a, a)
		}},
		{"the second axis, then the third", [][]int{{-1, 1, 4}}, func(in ...*berth.Promise) *berth.Promise {
			a := cat(1, in[0].Exp(), in[0].Tanh())
			return cat(2, a, a.Neg())
		}},
		{"the third axis, then the second", [][]int{{-1, 2, 4}}, func(in ...*berth.Promise) *berth.Promise {
			a := cat(2, in[0].Exp(), in[0].Tanh())
			return cat(1, a, a.Softmax(2))
		}},
		{"a token before each row", [][]int{{-1, 5, 6}}, func(in ...*berth.Promise) *berth.Promise {
			x := in[0].Softmax(2)
			token := x.Slice(1, 0, 1, 1).MulScalar(2)
			all := cat(1, token, x)
			return cat(2, all, all.Tanh())
		}},
		{"stacked features", [][]int{{-1, 6}}, func(in ...*berth.Promise) *berth.Promise {
			x := in[0].Softmax(1)
			a := cat(1, x.Unsqueeze(1), x.Tanh().Unsqueeze(1), x.Exp().Unsqueeze(1))
			return cat(2, a, a.Neg())
		}},
		{"channels, then height", [][]int{{-1, 2, 3, 4}}, func(in ...*berth.Promise) *berth.Promise {
			a := cat(1, in[0].Exp(), in[0].Tanh())
			return cat(2, a, a.Relu())
		}},
		{"images, then channels", [][]int{{1, 3, 4, 5}}, func(in ...*berth.Promise) *berth.Promise {
			a := cat(0, in[0].Exp(), in[0].Tanh())
			return cat(1, a, a.Relu())
		}},
		{"three deep", [][]int{{-1, 2, 2, 2}}, func(in ...*berth.Promise) *berth.Promise {
			a := cat(3, in[0].Exp(), in[0].Tanh())
			b := cat(2, a.Relu(), a.Neg())
			return cat(1, b.Softmax(3), b.Tanh())
		}},
		{"split and joined again", [][]int{{-1, 6}}, func(in ...*berth.Promise) *berth.Promise {
			parts := in[0].Exp().Split(1, 2, 4)
			return cat(1, parts[1].Tanh(), parts[0], cat(1, parts[0], parts[1]).Neg())
		}},
	} {
		t.Run(c.name, func(t *testing.T) { sameAtAllRows(t, c.in, c.of) })
	}
}

// TestEmptyConcat joins what has no elements, and takes rows of which a run of one
// has none.
func TestEmptyConcat(t *testing.T) {
	cat := berth.Concat
	for _, c := range []struct {
		name string
		in   [][]int
		of   func(in ...*berth.Promise) *berth.Promise
	}{
		{"no rows", [][]int{{0, 5}}, func(in ...*berth.Promise) *berth.Promise { return cat(1, in[0].Exp(), in[0].Tanh()) }},
		{"an empty axis between", [][]int{{1, 0, 3}, {1, 0, 2}}, func(in ...*berth.Promise) *berth.Promise {
			return cat(2, in[0].Exp(), in[1].Tanh())
		}},
		{"an empty part", [][]int{{-1, 0}, {-1, 3}}, func(in ...*berth.Promise) *berth.Promise {
			return cat(1, in[0].Exp(), in[1].Tanh(), in[1].Exp())
		}},
		{"all rows but the first", [][]int{{-1, 3}}, func(in ...*berth.Promise) *berth.Promise {
			return in[0].Exp().Slice(0, 1, math.MaxInt, 1)
		}},
		{"all rows but the first, joined", [][]int{{-1, 3}}, func(in ...*berth.Promise) *berth.Promise {
			rest := in[0].Exp().Slice(0, 1, math.MaxInt, 1)
			return cat(1, rest.Tanh(), rest)
		}},
	} {
		t.Run(c.name, func(t *testing.T) { sameAtAllRows(t, c.in, c.of) })
	}
}

// sameAtAllRows compares programs of up to 4 rows with what is materialised.
func sameAtAllRows(t *testing.T, dims [][]int, of func(in ...*berth.Promise) *berth.Promise) {
	const most = 4
	ctx := t.Context()
	n := berth.Dim("n", 1, most)
	varies := false
	inputs := make([]*berth.Promise, len(dims))
	for i, d := range dims {
		extents := make([]any, len(d))
		for a, e := range d {
			if extents[a] = e; e < 0 {
				extents[a], varies = n, true
			}
		}
		inputs[i] = berth.Input(fmt.Sprint("x", i), berth.Float32, extents...)
	}
	for _, opt := range []*berth.CompileOptions{nil, {NoSharing: true}, {SeedOrder: true}} {
		p, err := berth.Compile(ctx, berth.Outputs{"y": of(inputs...)}, opt)
		if err != nil {
			t.Fatal(err)
		}
		for rows := 1; rows <= most && (varies || rows == 1); rows++ {
			given := make(map[string]*berth.Tensor)
			leaves := make([]*berth.Promise, len(dims))
			for i, d := range dims {
				shape := make([]int, len(d))
				for a, e := range d {
					if shape[a] = e; e < 0 {
						shape[a] = rows
					}
				}
				x := f32(shape...)
				given[fmt.Sprint("x", i)], leaves[i] = must(x.Materialize(ctx)), x
			}
			got, err := p.RunOnce(ctx, given, 2)
			if err != nil {
				t.Fatal(err)
			}
			if want := must(of(leaves...).Materialize(ctx)); !berth.Equal(got["y"], want) {
				t.Errorf("%d rows: got %v, want %v", rows, got["y"], want)
			}
		}
	}
}
