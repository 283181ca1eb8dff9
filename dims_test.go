package berth_test

import (
	"fmt"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/race"
)

// TestSeveralDimensions runs programs of more than one dimension at a grid of
// extents, and compares with what is materialised for just those, to the last bit.
// A run allocates nothing, whichever extents came before.
func TestSeveralDimensions(t *testing.T) {
	batch, seq, past := berth.Dim("batch", 1, 3), berth.Dim("seq", 1, 9), berth.Dim("past", 0, 7)
	height, width := berth.Dim("height", 9, 20), berth.Dim("width", 9, 33)
	w, bias := f32(8, 8), f32(8)
	filter := f32(4, 3, 3, 3)
	for _, c := range []struct {
		name string
		in   [][]any
		of   func(in ...*berth.Promise) *berth.Promise
		grid []berth.Extents
	}{
		{"batch and length", [][]any{{batch, seq, 8}}, func(in ...*berth.Promise) *berth.Promise {
			x := in[0].MatMul(w).Add(bias)
			heads := func(p *berth.Promise) *berth.Promise {
				return p.Reshape(p.Shape()[0], p.Shape()[1], 2, 4).Permute(0, 2, 1, 3)
			}
			q, k := heads(x.Tanh()), heads(x.Exp())
			out := q.MatMul(k.Permute(0, 1, 3, 2)).MulScalar(0.5).Softmax(-1).MatMul(heads(x))
			return out.Permute(0, 2, 1, 3).Reshape(x.Shape()[0], x.Shape()[1], 8).Add(in[0])
		}, []berth.Extents{{"batch": 3, "seq": 9}, {"batch": 1, "seq": 1}, {"batch": 2, "seq": 5}, {"batch": 1, "seq": 9}, {"batch": 3, "seq": 1}}},
		{"a past", [][]any{{2, past, 4}, {2, seq, 4}}, func(in ...*berth.Promise) *berth.Promise {
			all := berth.Concat(1, in[0], in[1].Exp())
			return in[1].MatMul(all.Permute(0, 2, 1)).Softmax(-1).MatMul(all)
		}, []berth.Extents{{"past": 7, "seq": 9}, {"past": 0, "seq": 1}, {"past": 0, "seq": 9}, {"past": 3, "seq": 1}, {"past": 7, "seq": 2}}},
		{"an image", [][]any{{batch, 3, height, width}}, func(in ...*berth.Promise) *berth.Promise {
			opt := &berth.ConvOptions{Window: berth.Window{Strides: []int{2, 2}, Pads: []int{1, 1, 1, 1}}}
			x := in[0].Conv(filter, nil, opt).Relu()
			y := berth.Concat(1, x.Tanh(), x)
			return y.MaxPool([]int{2, 2}, &berth.PoolOptions{Window: berth.Window{Strides: []int{2, 2}}}).Sum(1)
		}, []berth.Extents{{"batch": 3, "height": 20, "width": 33}, {"batch": 1, "height": 9, "width": 9}, {"batch": 2, "height": 14, "width": 31}, {"batch": 1, "height": 19, "width": 12}}},
		{"columns", [][]any{{seq, width}}, func(in ...*berth.Promise) *berth.Promise {
			x := in[0].Exp()
			last := x.Slice(1, -3, 1<<30, 1)
			return berth.Concat(1, last.Neg(), x.Slice(1, 1, 1<<30, 2), last).Transpose().Softmax(0)
		}, []berth.Extents{{"seq": 9, "width": 33}, {"seq": 1, "width": 9}, {"seq": 4, "width": 20}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inputs := make([]*berth.Promise, len(c.in))
			for i, extents := range c.in {
				inputs[i] = berth.Input(fmt.Sprint("x", i), berth.Float32, extents...)
			}
			p := must(berth.Compile(t.Context(), berth.Outputs{"y": c.of(inputs...)}, nil))
			inst := must(p.NewInstance(&berth.InstanceOptions{Workers: 2, Poison: true}))
			defer inst.Close()
			for _, extents := range c.grid {
				leaves, in := make([]*berth.Promise, len(c.in)), berth.Values{}
				for i, e := range c.in {
					dims := make([]int, len(e))
					for a := range e {
						switch e := e[a].(type) {
						case int:
							dims[a] = e
						case berth.Dimension:
							dims[a] = extents[e.Name]
						}
					}
					x := must(f32(dims...).Materialize(t.Context()))
					leaves[i], in[fmt.Sprint("x", i)] = x.Promise(), must(berth.Data[float32](x))
				}
				want := must(c.of(leaves...).Materialize(t.Context()))
				y := make([]float32, want.Len())
				run := func() {
					if err := inst.RunAt(t.Context(), extents, in, berth.Values{"y": y}); err != nil {
						t.Fatal(err)
					}
				}
				run()
				if dims := must(p.OutputDims("y", extents)); fmt.Sprint(dims) != fmt.Sprint(want.Shape()) {
					t.Errorf("%v: the result has the shape %v, want %v", extents, dims, want.Shape())
				} else if got := must(berth.FromSlice(y, dims...)); !berth.Equal(got, want) {
					t.Errorf("%v: %v", extents, berth.Close(got, want, 0, 0))
				}
			}
			if race.Enabled {
				return
			}
			// Two points in turn, so that every run binds anew.
			a, b := at(t, p, c.grid[0]), at(t, p, c.grid[1])
			if n := testing.AllocsPerRun(20, func() { a(inst); b(inst) }); n != 0 {
				t.Errorf("%v allocations in two runs", n)
			}
		})
	}
}

// TestSizeThatDoesNotTell gives inputs without elements: as slices they may have any
// number of rows, which has to be stated; tensors have a shape.
func TestSizeThatDoesNotTell(t *testing.T) {
	n, m := berth.Dim("n", 1, 4), berth.Dim("m", 0, 3)
	x, z := berth.Input("x", berth.Float32, n, m), berth.Input("z", berth.Float32, m)
	p := must(berth.Compile(t.Context(), berth.Outputs{"y": x.Add(z)}, nil))
	inst := must(p.NewInstance(nil))
	defer inst.Close()
	nothing := []float32{}
	in, out := berth.Values{"x": nothing, "z": nothing}, berth.Values{"y": nothing}
	wantError(t, "slices", inst.Run(t.Context(), in, out), "do not tell n", "1 to 4")
	if err := inst.RunAt(t.Context(), berth.Extents{"n": 3}, in, out); err != nil {
		t.Error(err)
	}
	in["x"] = must(berth.Zeros(berth.Float32, 3, 0))
	if err := inst.Run(t.Context(), in, out); err != nil {
		t.Error(err)
	}
}

// at returns what runs an instance of p on zeros at some extents.
func at(t *testing.T, p *berth.Program, extents berth.Extents) func(inst *berth.Instance) {
	in, out := berth.Values{}, berth.Values{}
	for _, port := range p.Inputs() {
		in[port.Name] = make([]float32, elems(must(p.InputDims(port.Name, extents))))
	}
	for _, port := range p.Outputs() {
		out[port.Name] = make([]float32, elems(port.Dims))
	}
	return func(inst *berth.Instance) {
		if err := inst.RunAt(t.Context(), extents, in, out); err != nil {
			t.Fatal(err)
		}
	}
}

func elems(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}
