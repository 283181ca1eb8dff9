package berth_test

import (
	"math"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/race"
)

// TestRowsFollow runs programs in which extents and bounds are given in
// numbers, of which some happen to be the most rows, and compares every row
// count with what the same methods give without a program.
func TestRowsFollow(t *testing.T) {
	for _, c := range []programCase{
		{"open extent", []operand{x(n, 4, 6)}, func(in ...*berth.Promise) []*berth.Promise {
			y := in[0].Exp()
			return []*berth.Promise{y.Reshape(-1, 12).Sum(1), y.Reshape(-1, 8).Sum(0), y.Reshape(2, 12, -1).Sum(2), y.Reshape(12, -1).Sum(1), y.Reshape(4, -1, 3).Sum(0)}
		}},
		{"after a permutation", []operand{x(n, 4, 3)}, func(in ...*berth.Promise) []*berth.Promise {
			return []*berth.Promise{in[0].Permute(1, 0, 2).Reshape(12, -1).Sum(0), in[0].Transpose().Reshape(-1, 4).Exp().Sum(0), in[0].Flatten().Reshape(4, 3, -1).Sum(1)}
		}},
		{"last row", []operand{x(n, 5)}, func(in ...*berth.Promise) []*berth.Promise {
			y := in[0].Exp()
			return []*berth.Promise{y.Index(0, -1), y.Index(0, 0), y.Slice(0, -1, math.MaxInt, 1).Neg(), y.Slice(0, 0, -1, 1).Sum(0), y.Slice(0, -1, math.MinInt, -1).Exp()}
		}},
		{"some of the rows", []operand{x(n, 5)}, func(in ...*berth.Promise) []*berth.Promise {
			y := in[0].Exp()
			return []*berth.Promise{y.Slice(0, 0, 3, 1).Neg(), y.Slice(0, 2, 7, 1).Neg(), y.Slice(0, 0, math.MaxInt, 2).Neg(), y.Slice(0, -4, -1, 1).Sum(0)}
		}},
		{"stated extents", []operand{x(n, 4)}, func(in ...*berth.Promise) []*berth.Promise {
			rows := in[0].Shape()[0]
			return []*berth.Promise{
				in[0].Reshape(rows, 2, 2).Sum(1), in[0].Reshape(1, rows, 4).Exp(), in[0].Transpose().Reshape(2, 2, rows).Sum(0), in[0].Reshape(2*rows, 2).Sum(1),
				in[0].Sum(1).Reshape(rows, 1).BroadcastTo(rows, 12).MulScalar(2), in[0].Unsqueeze(1).BroadcastTo(rows, 12, 4).Sum(1),
			}
		}},
		{"rows twice", []operand{x(n, n, 2)}, func(in ...*berth.Promise) []*berth.Promise {
			rows := in[0].Shape()[0]
			return []*berth.Promise{in[0].Reshape(-1, 2).Exp(), in[0].Reshape(rows, 2*rows).Exp(), in[0].Reshape(rows*rows, 2).Exp(), in[0].Index(1, -1), in[0].Reshape(rows * rows * 2).Neg()}
		}},
		{"squeezed", []operand{x(n, 1, 12)}, func(in ...*berth.Promise) []*berth.Promise {
			return []*berth.Promise{in[0].Squeeze(1).Unsqueeze(-1).Exp(), berth.Stack(0, in[0], in[0].Neg()).Index(0, 1), berth.Concat(0, in[0].Split(2, 4, 8)[0], in[0].Slice(2, 0, 4, 1).Neg())}
		}},
		{"constants beside", []operand{x(n, 2)}, func(in ...*berth.Promise) []*berth.Promise {
			w := f32(12, 2).Exp().Cache().Reshape(2, 12)
			return one(in[0].MatMul(w).Reshape(-1, 3, 4).Sum(1).Add(w.Slice(1, 0, 4, 1).Index(0, 0)))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := c.program(t, nil)
			c.check(t, p)
			for rows := 1; rows <= most; rows++ {
				values, want := c.results(t, rows)
				inputs := make(map[string]*berth.Tensor)
				for name, v := range values {
					inputs[name] = v.(*berth.Tensor)
				}
				got, err := p.RunOnce(t.Context(), inputs, 1)
				if err != nil {
					t.Fatal(err)
				}
				for name, w := range want {
					if !berth.Equal(got[name], w) {
						t.Errorf("%d rows: %s is %v, want %v", rows, name, got[name], w)
					}
				}
			}
		})
	}
}

// TestRowsThatDoNotFollow refuses programs that would mean something else, or
// nothing, at fewer rows.
func TestRowsThatDoNotFollow(t *testing.T) {
	in := berth.Input("x", berth.Float32, berth.Dim("n", 1, 4), 6)
	y := in.Exp()
	for what, p := range map[string]*berth.Promise{
		"six elements in rows of four": y.Reshape(-1, 4),
		"rows across":                  y.Reshape(3, 8),
		"parts of the rows":            y.Split(0, 2, 2)[1],
		"two of the largest":           topValues(y, 2),
		"a constant beside":            y.Add(f32(4, 6)),
	} {
		if p.Err() != nil {
			t.Errorf("%s: is right with 4 rows: %v", what, p.Err())
		}
		_, err := berth.Compile(t.Context(), berth.Outputs{"y": p}, nil)
		wantError(t, what, err, "berth: ", "n=")
	}
}

func topValues(p *berth.Promise, k int) *berth.Promise {
	v, _ := p.TopK(k, 0, true)
	return v
}

// TestConcatKeepsNoSlice changes the slice of promises that a program is
// rebuilt from.
func TestConcatKeepsNoSlice(t *testing.T) {
	in := berth.Input("x", berth.Float32, berth.Dim("n", 1, 4), 6)
	parts := []*berth.Promise{in, in.Exp()}
	y := berth.Concat(1, parts...)
	parts[0], parts[1] = nil, nil
	if _, err := berth.Compile(t.Context(), berth.Outputs{"y": y}, nil); err != nil {
		t.Error(err)
	}
}

// TestLongPrograms compiles a chain that recursion could not follow.
func TestLongPrograms(t *testing.T) {
	length := 5000
	if race.Enabled {
		length = 2000
	}
	y := berth.Input("x", berth.Float32, berth.Dim("n", 1, 2), 3)
	for i := range length {
		if i%2 == 0 {
			y = y.CumSum(1)
		} else {
			y = y.Slice(1, -1, math.MinInt, -1)
		}
	}
	if _, err := berth.Compile(t.Context(), berth.Outputs{"y": y}, &berth.CompileOptions{SearchNodes: 1, SeedOrder: true}); err != nil {
		t.Error(err)
	}
}
