package main

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// An expression is what somebody would compute with gonum, written for both.
type expression struct {
	name   string
	inputs []named
	berth  func(in map[string]*berth.Promise) *berth.Promise
	// gonum has for each way to compute it there what does so, into memory that it makes
	// beforehand, and returns the result.
	gonum map[string]func(in map[string][]float64) func() []float64
}

// A named is an input, of random numbers.
type named struct {
	name string
	dims []int
}

// expressions are those that performance.md compares, in float64.
var expressions = []expression{
	regression(10000, 50),
	matrixVector(200),
	matrixVector(1000),
	kMeans(20000, 16, 10),
	gram(5000, 200),
}

// regression is a step of gradient descent on a linear regression: w - 0.1*xᵀ(xw - y)/rows.
func regression(rows, cols int) expression {
	return expression{
		"linear regression 10000x50",
		[]named{{"x", []int{rows, cols}}, {"y", []int{rows}}, {"w", []int{cols}}},
		func(in map[string]*berth.Promise) *berth.Promise {
			x, w := in["x"], in["w"]
			gradient := x.Transpose().MatMul(x.MatMul(w).Sub(in["y"]))
			return w.Sub(gradient.MulScalar(0.1 / float64(rows)))
		},
		map[string]func(in map[string][]float64) func() []float64{"gonum": func(in map[string][]float64) func() []float64 {
			x := mat.NewDense(rows, cols, in["x"])
			y, w := mat.NewVecDense(rows, in["y"]), mat.NewVecDense(cols, in["w"])
			var rest, gradient, next mat.VecDense
			return func() []float64 {
				rest.MulVec(x, w)
				rest.SubVec(&rest, y)
				gradient.MulVec(x.T(), &rest)
				next.AddScaledVec(w, -0.1/float64(rows), &gradient)
				return next.RawVector().Data
			}
		}},
	}
}

func matrixVector(n int) expression {
	name := "matrix-vector 200"
	if n == 1000 {
		name = "matrix-vector 1000"
	}
	return expression{
		name,
		[]named{{"a", []int{n, n}}, {"x", []int{n}}},
		func(in map[string]*berth.Promise) *berth.Promise { return in["a"].MatMul(in["x"]) },
		map[string]func(in map[string][]float64) func() []float64{"gonum": func(in map[string][]float64) func() []float64 {
			a, x := mat.NewDense(n, n, in["a"]), mat.NewVecDense(n, in["x"])
			var out mat.VecDense
			return func() []float64 {
				out.MulVec(a, x)
				return out.RawVector().Data
			}
		}},
	}
}

// kMeans is a step of Lloyd's algorithm: each row goes to the nearest of k centres, and each
// centre to the mean of its rows.
func kMeans(rows, cols, k int) expression {
	return expression{
		"k-means 20000x16",
		[]named{{"x", []int{rows, cols}}, {"c", []int{k, cols}}},
		func(in map[string]*berth.Promise) *berth.Promise {
			x, c := in["x"], in["c"]
			// |x-c|² without |x|², which is the same for all centres.
			distances := c.SumSquare(1).Sub(x.MatMul(c.Transpose()).MulScalar(2))
			numbers, err := berth.Range[int64](0, int64(k), 1)
			if err != nil {
				panic(err)
			}
			member := distances.ArgMin(1, true).Equal(numbers.Promise()).Cast(berth.Float64)
			return member.Transpose().MatMul(x).Div(member.Sum(0).Unsqueeze(1))
		},
		map[string]func(in map[string][]float64) func() []float64{"gonum": func(in map[string][]float64) func() []float64 {
			x, c := mat.NewDense(rows, cols, in["x"]), mat.NewDense(k, cols, in["c"])
			var products mat.Dense
			sums, counts, squares := mat.NewDense(k, cols, nil), make([]float64, k), make([]float64, k)
			return func() []float64 {
				products.Mul(x, c.T())
				sums.Zero()
				clear(counts)
				for j := range k {
					squares[j] = floats.Dot(c.RawRowView(j), c.RawRowView(j))
				}
				for i := range rows {
					best, at := math.Inf(1), 0
					for j, p := range products.RawRowView(i) {
						if d := squares[j] - 2*p; d < best {
							best, at = d, j
						}
					}
					floats.Add(sums.RawRowView(at), x.RawRowView(i))
					counts[at]++
				}
				for j := range k {
					floats.Scale(1/counts[j], sums.RawRowView(j))
				}
				return sums.RawMatrix().Data
			}
		}},
	}
}

// gram is xᵀx.
func gram(rows, cols int) expression {
	return expression{
		"xᵀx 5000x200",
		[]named{{"x", []int{rows, cols}}},
		func(in map[string]*berth.Promise) *berth.Promise { return in["x"].Transpose().MatMul(in["x"]) },
		map[string]func(in map[string][]float64) func() []float64{
			"gonum": func(in map[string][]float64) func() []float64 {
				x := mat.NewDense(rows, cols, in["x"])
				var out mat.Dense
				return func() []float64 {
					out.Mul(x.T(), x)
					return out.RawMatrix().Data
				}
			},
			"gonum symmetric": func(in map[string][]float64) func() []float64 {
				x, out := mat.NewDense(rows, cols, in["x"]), mat.NewSymDense(cols, nil)
				return func() []float64 {
					out.SymOuterK(1, x.T())
					return mat.DenseCopyOf(out).RawMatrix().Data
				}
			},
		},
	}
}

// data returns random inputs.
func (e *expression) data() map[string][]float64 {
	rng := rand.New(rand.NewPCG(8, 8))
	data := make(map[string][]float64)
	for _, in := range e.inputs {
		n := 1
		for _, d := range in.dims {
			n *= d
		}
		list := make([]float64, n)
		for i := range list {
			list[i] = rng.NormFloat64()
		}
		data[in.name] = list
	}
	return data
}

// materialize returns what makes the promise and materialises it.
func (e *expression) materialize(tb testing.TB, data map[string][]float64) func() []float64 {
	tensors := make(map[string]*berth.Tensor)
	for _, in := range e.inputs {
		t, err := berth.FromSlice(data[in.name], in.dims...)
		if err != nil {
			tb.Fatal(err)
		}
		tensors[in.name] = t
	}
	promises := make(map[string]*berth.Promise)
	return func() []float64 {
		for name, t := range tensors {
			promises[name] = t.Promise()
		}
		out, err := e.berth(promises).Materialize(context.Background())
		if err != nil {
			tb.Fatal(err)
		}
		list, err := berth.Data[float64](out)
		if err != nil {
			tb.Fatal(err)
		}
		return list
	}
}

// compiled returns what runs the program.
func (e *expression) compiled(tb testing.TB, data map[string][]float64) func() []float64 {
	promises, given := make(map[string]*berth.Promise), make(berth.Values)
	for _, in := range e.inputs {
		dims := make([]any, len(in.dims))
		for i, d := range in.dims {
			dims[i] = d
		}
		promises[in.name], given[in.name] = berth.Input(in.name, berth.Float64, dims...), data[in.name]
	}
	prog, err := berth.Compile(context.Background(), berth.Outputs{"out": e.berth(promises)}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	inst, err := prog.NewInstance(nil)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(inst.Close)
	buffer, err := prog.NewBuffer("out")
	if err != nil {
		tb.Fatal(err)
	}
	out := buffer.([]float64)
	results := berth.Values{"out": out}
	return func() []float64 {
		if err := inst.Run(context.Background(), given, results); err != nil {
			tb.Fatal(err)
		}
		return out
	}
}

// ways returns the names of all that compute the expression, and each.
func (e *expression) ways(tb testing.TB) ([]string, map[string]func() []float64) {
	data := e.data()
	ways := map[string]func() []float64{"compiled": e.compiled(tb, data), "materialize": e.materialize(tb, data)}
	names := []string{"compiled", "materialize"}
	for name, of := range e.gonum {
		names, ways[name] = append(names, name), of(data)
	}
	slices.Sort(names[2:])
	return names, ways
}

// BenchmarkExpressions takes the time of each expression in each way.
func BenchmarkExpressions(b *testing.B) {
	for _, e := range expressions {
		names, ways := e.ways(b)
		for _, name := range names {
			b.Run(e.name+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					ways[name]()
				}
			})
		}
	}
}

// TestExpressions wants the same of all ways.
func TestExpressions(t *testing.T) {
	for _, e := range expressions {
		names, ways := e.ways(t)
		want := slices.Clone(ways[names[0]]())
		for _, name := range names[1:] {
			if got := ways[name](); !floats.EqualApprox(got, want, 1e-9) {
				t.Errorf("%s: %s and %s differ", e.name, names[0], name)
			}
		}
	}
}
