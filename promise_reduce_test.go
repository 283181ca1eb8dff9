package berth_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/berth-go/berth"
)

// reduction is a method that folds axes, with and without keeping them.
type reduction struct {
	of    func(p *berth.Promise, axes ...int) *berth.Promise
	keep  bool
	want  func(x []float64) float64 // of the elements folded together, at least one
	types []berth.DType
}

func sum(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}

func mapped(f func(float64) float64, x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = f(v)
	}
	return out
}

func square(v float64) float64 { return v * v }

func mean(x []float64) float64 { return sum(x) / float64(len(x)) }

func prod(x []float64) float64 {
	p := 1.0
	for _, v := range x {
		p *= v
	}
	return p
}

func l1(x []float64) float64        { return sum(mapped(math.Abs, x)) }
func l2(x []float64) float64        { return math.Sqrt(sum(mapped(square, x))) }
func sumSquare(x []float64) float64 { return sum(mapped(square, x)) }
func logSumExp(x []float64) float64 { return math.Log(sum(mapped(math.Exp, x))) }

var wide = []berth.DType{berth.Float32, berth.Float64, berth.Int32, berth.Int64}
var wideFloats = []berth.DType{berth.Float32, berth.Float64}

var reductions = map[string]reduction{
	"Sum":           {(*berth.Promise).Sum, false, sum, wide},
	"SumKeep":       {(*berth.Promise).SumKeep, true, sum, wide},
	"Mean":          {(*berth.Promise).Mean, false, mean, wideFloats},
	"MeanKeep":      {(*berth.Promise).MeanKeep, true, mean, wideFloats},
	"Max":           {(*berth.Promise).Max, false, slices.Max[[]float64], numbers},
	"MaxKeep":       {(*berth.Promise).MaxKeep, true, slices.Max[[]float64], numbers},
	"Min":           {(*berth.Promise).Min, false, slices.Min[[]float64], numbers},
	"MinKeep":       {(*berth.Promise).MinKeep, true, slices.Min[[]float64], numbers},
	"Prod":          {(*berth.Promise).Prod, false, prod, wide},
	"ProdKeep":      {(*berth.Promise).ProdKeep, true, prod, wide},
	"SumSquare":     {(*berth.Promise).SumSquare, false, sumSquare, wide},
	"SumSquareKeep": {(*berth.Promise).SumSquareKeep, true, sumSquare, wide},
	"L1":            {(*berth.Promise).L1, false, l1, wide},
	"L1Keep":        {(*berth.Promise).L1Keep, true, l1, wide},
	"L2":            {(*berth.Promise).L2, false, l2, wideFloats},
	"L2Keep":        {(*berth.Promise).L2Keep, true, l2, wideFloats},
	"LogSumExp":     {(*berth.Promise).LogSumExp, false, logSumExp, wideFloats},
	"LogSumExpKeep": {(*berth.Promise).LogSumExpKeep, true, logSumExp, wideFloats},
	"Any":           {(*berth.Promise).Any, false, slices.Max[[]float64], bools},
	"AnyKeep":       {(*berth.Promise).AnyKeep, true, slices.Max[[]float64], bools},
	"All":           {(*berth.Promise).All, false, slices.Min[[]float64], bools},
	"AllKeep":       {(*berth.Promise).AllKeep, true, slices.Min[[]float64], bools},
}

// foldAxes is the reference of all reductions.
func foldAxes(x array, axes []int, keep bool, f func([]float64) float64) array {
	folded := make([]bool, len(x.dims))
	for _, a := range axes {
		folded[(a+len(x.dims))%len(x.dims)] = true
	}
	if len(axes) == 0 {
		for i := range folded {
			folded[i] = true
		}
	}
	out := array{dims: []int{}}
	var kept []int // axes of x that are axes of the result
	for axis, d := range x.dims {
		switch {
		case !folded[axis]:
			out.dims, kept = append(out.dims, d), append(kept, axis)
		case keep:
			out.dims, kept = append(out.dims, 1), append(kept, axis)
		}
	}
	each(out.dims, func(i []int) {
		var group []float64
		each(x.dims, func(j []int) {
			same := true
			for o, axis := range kept {
				same = same && (folded[axis] || i[o] == j[axis])
			}
			if same {
				group = append(group, x.at(j...))
			}
		})
		out.data = append(out.data, f(group))
	})
	return out
}

// TestReductions folds every choice of axes.
func TestReductions(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	for name, c := range reductions {
		for _, typ := range c.types {
			for _, axes := range [][]int{nil, {0}, {1}, {-1}, {0, 2}, {-1, 0}, {2, 1, 0}} {
				low, high := -2, 2
				if name[0] == 'A' { // Any, All
					low, high = 0, 1
				}
				x := random(rng, low, high, 2, 3, 4).as(typ)
				expect(t, label(name, " ", typ, axes), c.of(x.promise(typ), axes...), typ, foldAxes(x, axes, c.keep, c.want))
				if axes != nil {
					y := relaid(x, typ)
					expect(t, label(name, " relaid ", typ, axes), c.of(y, axes...), typ, foldAxes(x, axes, c.keep, c.want))
				}
			}
			// A scalar has no axes; it is its own sum.
			one := list([]float64{1}).as(typ)
			expect(t, label(name, " of a scalar"), c.of(one.promise(typ)), typ, list([]float64{c.want(one.data)}))
			wantError(t, label(name, " axis"), c.of(one.promise(typ), 0).Err(), "axis 0", "rank 0")
			wantError(t, label(name, " twice"), c.of(list(nil, 0, 2).promise(typ), 1, -1).Err(), "axis -1", "twice")
		}
	}
	for _, typ := range wideFloats {
		x := uniform(rng, -3, 3, 300, 70).as(typ)
		for _, axes := range [][]int{nil, {0}, {1}} {
			for _, name := range []string{"Sum", "Mean", "L2", "LogSumExp", "Max"} {
				c := reductions[name]
				expect(t, label(name, " large ", typ, axes), c.of(x.promise(typ), axes...).AddScalar(1), typ,
					foldAxes(x, axes, c.keep, func(g []float64) float64 { return c.want(g) + 1 }))
			}
		}
	}
}

// TestReductionsOfNothing gives the neutral element where there is one.
func TestReductionsOfNothing(t *testing.T) {
	x := must(berth.Zeros(berth.Float32, 2, 0, 3)).Promise()
	zero, one := arrayOf([]int{2, 3}, func([]int) float64 { return 0 }), arrayOf([]int{2, 3}, func([]int) float64 { return 1 })
	expect(t, "sum", x.Sum(1), berth.Float32, zero)
	expect(t, "prod", x.Prod(1), berth.Float32, one)
	expect(t, "sum of squares", x.SumSquare(1), berth.Float32, zero)
	expect(t, "sum over others", x.Sum(0, 2), berth.Float32, list(nil, 0))
	expect(t, "max over others", x.Max(0), berth.Float32, list(nil, 0, 3))
	b := must(berth.Zeros(berth.Bool, 0)).Promise()
	expect(t, "any", b.Any(), berth.Bool, list([]float64{0}))
	expect(t, "all", b.All(), berth.Bool, list([]float64{1}))
}

// methodTests are tests of single methods.
var methodTests = map[string]func(t *testing.T){
	"ArgMax":  func(t *testing.T) { testArg(t, true) },
	"ArgMin":  func(t *testing.T) { testArg(t, false) },
	"CumSum":  func(t *testing.T) { testCumulative(t, (*berth.Promise).CumSum, sum) },
	"CumProd": func(t *testing.T) { testCumulative(t, (*berth.Promise).CumProd, prod) },
	"TopK":    testTopK,

	"Where": testWhere, "Cast": testCast,

	"MatMul": testMatMul, "Softmax": testSoftmax, "LogSoftmax": testSoftmax, "LayerNorm": testLayerNorm,
	"BatchNorm": testBatchNorm, "Conv": testConv, "MaxPool": testPools, "AveragePool": testPools,

	"Reshape": testReshape, "Flatten": testReshape, "Squeeze": testReshape, "Unsqueeze": testReshape,
	"Transpose": testAxes, "Permute": testAxes, "BroadcastTo": testAxes, "Slice": testAxes, "Index": testAxes,
	"Split": testSplit, "Gather": testGather, "GatherElements": testGatherElements,
	"ScatterElements": testScatterElements, "Pad": testPad, "Tile": testTile, "Tril": testTri, "Triu": testTri,
}

func TestMethods(t *testing.T) {
	names := make([]string, 0, len(methodTests))
	for name := range methodTests {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		t.Run(name, methodTests[name])
	}
}

// lineOf returns the elements of the line along an axis through index.
func lineOf(x array, index []int, axis int) []float64 {
	line := make([]float64, x.dims[axis])
	for i := range line {
		line[i] = x.at(with(index, axis, i)...)
	}
	return line
}

func testArg(t *testing.T, largest bool) {
	rng := rand.New(rand.NewPCG(4, 2))
	for _, typ := range numbers {
		x := random(rng, 0, 4, 3, 5, 4).as(typ) // with equals
		for axis := range 3 {
			for _, keep := range []bool{false, true} {
				best := func(i []int) float64 {
					line := lineOf(x, i, axis)
					at := 0
					for j, v := range line {
						if largest && v > line[at] || !largest && v < line[at] {
							at = j
						}
					}
					return float64(at)
				}
				want := arrayOf(dimsWith(x.dims, axis, 1), best)
				if !keep {
					want.dims = without(x.dims, axis)
				}
				p := x.promise(typ).ArgMin(axis-3, keep)
				if largest {
					p = x.promise(typ).ArgMax(axis-3, keep)
				}
				expect(t, label(typ, axis, keep), p, berth.Int64, want)
			}
		}
	}
	p := ramp(2, 0).Promise().ArgMax(1, false)
	if p.Err() == nil {
		_, err := p.Materialize(t.Context())
		wantError(t, "of nothing", err, "[2 0]")
	}
}

func testCumulative(t *testing.T, of func(*berth.Promise, int) *berth.Promise, fold func([]float64) float64) {
	rng := rand.New(rand.NewPCG(4, 3))
	for _, typ := range wide {
		x := random(rng, -2, 2, 3, 5, 4).as(typ)
		for axis := range 3 {
			want := arrayOf(x.dims, func(i []int) float64 { return fold(lineOf(x, i, axis)[:i[axis]+1]) })
			expect(t, label(typ, axis), of(x.promise(typ), axis), typ, want)
			expect(t, label(typ, axis), of(relaid(x, typ), axis-3), typ, want)
		}
		expect(t, "nothing", of(list(nil, 2, 0).promise(typ), 1), typ, list(nil, 2, 0))
	}
	wantError(t, "scalar", of(berth.Scalar(1.0).Promise(), 0).Err(), "axis 0")
}

func testTopK(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, typ := range numbers {
		x := random(rng, 0, 6, 3, 9).as(typ) // with equals
		for _, largest := range []bool{true, false} {
			for _, k := range []int{0, 1, 4, 9} {
				for axis := range 2 {
					if k > x.dims[axis] {
						continue
					}
					order := func(i []int) int {
						line := lineOf(x, with(i, axis, 0), axis)
						at := make([]int, len(line))
						for j := range at {
							at[j] = j
						}
						slices.SortStableFunc(at, func(a, b int) int {
							if line[a] == line[b] {
								return 0
							}
							if (line[a] > line[b]) == largest {
								return -1
							}
							return 1
						})
						return at[i[axis]]
					}
					dims := dimsWith(x.dims, axis, k)
					values, indices := x.promise(typ).TopK(k, axis, largest)
					expect(t, label("values ", typ, k, largest), values, typ,
						arrayOf(dims, func(i []int) float64 { return x.at(with(i, axis, order(i))...) }))
					expect(t, label("indices ", typ, k, largest), indices, berth.Int64,
						arrayOf(dims, func(i []int) float64 { return float64(order(i)) }))
				}
			}
		}
	}
	values, indices := ramp(2, 3).Promise().TopK(4, 1, true)
	wantError(t, "values", values.Err(), "4", "int32[2 3]")
	wantError(t, "indices", indices.Err(), "4", "int32[2 3]")
}
