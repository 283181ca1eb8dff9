package reduce

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/race"
)

var allKinds = []Kind{
	Sum, Mean, Max, Min, Prod,
	SumSquare, L1, L2, LogSum, LogSumExp,
	Any, All,
}

// reduced is the plain definition of a reduction, in float64. Scale is the
// magnitude that rounding errors are measured against.
func reduced(kind Kind, x []float64) (want, scale float64) {
	var sum, abs, square, exps float64
	prod, top, low := 1., math.Inf(-1), math.Inf(1)
	any, all := 0., 1.
	for _, v := range x {
		sum += v
		abs += math.Abs(v)
		square += v * v
		exps += math.Exp(v)
		prod *= v
		top, low = max(top, v), min(low, v)
		if v != 0 {
			any = 1
		} else {
			all = 0
		}
	}
	n := float64(len(x))
	switch kind {
	case Sum:
		return sum, abs
	case Mean:
		return sum / n, abs / n
	case Max:
		return top, 0
	case Min:
		return low, 0
	case Prod:
		return prod, math.Abs(prod)*math.Sqrt(n) + 1e-20 // some orders underflow
	case SumSquare:
		return square, square
	case L1:
		return abs, abs
	case L2:
		return math.Sqrt(square), math.Sqrt(square)
	case LogSum:
		return math.Log(sum), math.Abs(math.Log(sum)) + abs/sum
	case LogSumExp:
		return math.Log(exps), math.Abs(math.Log(exps)) + abs/n + 1
	case Any:
		return any, 0
	}
	return all, 0
}

func TestReduceFloat(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range kerneltest.Rounds(700) {
		dt := []dtype.Type{dtype.Float32, dtype.Float64}[rng.IntN(2)]
		kind := allKinds[rng.IntN(len(allKinds))]
		dims := kerneltest.LineShape(rng, 0)
		axes := kerneltest.SomeAxes(rng, len(dims))
		keep := rng.IntN(2) == 0
		in := kerneltest.StridedInput(rng, dt, kerneltest.SomeDense(rng, len(dims)), dims...)
		if kind == LogSum {
			kerneltest.Positive(in)
		}
		outDims := kerneltest.Without(dims, axes, keep)
		ot := dt
		if kind >= Any {
			ot = dtype.Bool
		}
		out := kerneltest.StridedOutput(rng, ot, kerneltest.SomeDense(rng, len(outDims)), outDims...)
		k := newReduce(kind, dt, axes)
		if err := kerneltest.SameBits(rng, k, []*kernel.Operand{in}, []*kernel.Operand{out}); err != nil {
			t.Fatalf("kind %d of %v%v over %v: %v", kind, dt, dims, axes, err)
		}
		x, got := kerneltest.Floats(in), kerneltest.Floats(out)
		for i, line := range kerneltest.LinesOf(dims, axes...) {
			values := []float64{}
			for _, e := range line {
				values = append(values, x[e])
			}
			if len(values) == 0 {
				continue // TestReduceNothing
			}
			want, scale := reduced(kind, values)
			if !kerneltest.Near(got[i], want, scale*kerneltest.Slack(dt)) {
				t.Fatalf("kind %d of %v%v over %v: output %d is %v, want %v", kind, dt, dims, axes, i, got[i], want)
			}
		}
	}
}

func TestReduceInteger(t *testing.T) {
	t.Run("uint8", testReduceInteger[uint8](dtype.Uint8))
	t.Run("uint16", testReduceInteger[uint16](dtype.Uint16))
	t.Run("uint32", testReduceInteger[uint32](dtype.Uint32))
	t.Run("uint64", testReduceInteger[uint64](dtype.Uint64))
	t.Run("int8", testReduceInteger[int8](dtype.Int8))
	t.Run("int16", testReduceInteger[int16](dtype.Int16))
	t.Run("int32", testReduceInteger[int32](dtype.Int32))
	t.Run("int64", testReduceInteger[int64](dtype.Int64))
	t.Run("bool", testReduceInteger[uint8](dtype.Bool))
}

func testReduceInteger[T kernel.Integer](dt dtype.Type) func(*testing.T) {
	return func(t *testing.T) {
		rng := rand.New(rand.NewPCG(2, uint64(dt)))
		for range kerneltest.Rounds(120) {
			kind := allKinds[rng.IntN(len(allKinds))]
			if dt == dtype.Bool && kind != Max && kind != Min && kind < Any {
				continue
			}
			dims := kerneltest.LineShape(rng, 0)
			axes := kerneltest.SomeAxes(rng, len(dims))
			in := kerneltest.StridedInput(rng, dt, kerneltest.SomeDense(rng, len(dims)), dims...)
			switch kind {
			case Mean, L2, LogSum, LogSumExp:
				// Small enough to be exact in float64 in any order.
				s := kernel.Slice[T](in)
				for i := range s {
					s[i] = s[i]%16 + T(rng.IntN(2))*20
				}
			}
			outDims := kerneltest.Without(dims, axes, false)
			ot := dt
			if kind >= Any {
				ot = dtype.Bool
			}
			out := kerneltest.StridedOutput(rng, ot, kerneltest.SomeDense(rng, len(outDims)), outDims...)
			k := newReduce(kind, dt, axes)
			if err := kerneltest.SameBits(rng, k, []*kernel.Operand{in}, []*kernel.Operand{out}); err != nil {
				t.Fatalf("kind %d of %v%v over %v: %v", kind, dt, dims, axes, err)
			}
			x, got := kerneltest.Values[T](in), kerneltest.Floats(out)
			for i, line := range kerneltest.LinesOf(dims, axes...) {
				values := []T{}
				for _, e := range line {
					values = append(values, x[e])
				}
				if len(values) == 0 {
					continue
				}
				if want := reducedInteger(kind, values); !kerneltest.Near(got[i], want, 0) {
					t.Fatalf("kind %d of %v%v over %v: output %d is %v, want %v (of %v)", kind, dt, dims, axes, i, got[i], want, values)
				}
			}
		}
	}
}

// reducedInteger is the plain definition in wrapping arithmetic.
func reducedInteger[T kernel.Integer](kind Kind, x []T) float64 {
	var sum, abs, square T
	prod, top, low := T(1), x[0], x[0]
	wide := []float64{}
	for _, v := range x {
		sum += v
		square += v * v
		prod *= v
		top, low = max(top, v), min(low, v)
		if v < 0 {
			v = -v
		}
		abs += v
		wide = append(wide, float64(v))
	}
	switch kind {
	case Sum:
		return float64(sum)
	case Max:
		return float64(top)
	case Min:
		return float64(low)
	case Prod:
		return float64(prod)
	case SumSquare:
		return float64(square)
	case L1:
		return float64(abs)
	}
	for i, v := range x {
		wide[i] = float64(v)
	}
	v, _ := reduced(kind, wide)
	lo, hi := integerRange[T]()
	switch v = math.Trunc(v); {
	case v != v:
		return 0
	case v < lo:
		return lo
	case v > hi:
		return hi
	}
	return v
}

func integerRange[T kernel.Integer]() (lo, hi float64) {
	var zero T
	bits := len(kernel.Bytes([]T{0})) * 8
	if zero-1 < zero {
		return -math.Ldexp(1, bits-1), math.Ldexp(1, bits-1) - 1
	}
	return 0, math.Ldexp(1, bits) - 1
}

func TestReduceNothing(t *testing.T) {
	want := map[Kind][3]float64{ // float32, int8, uint8
		Sum: {}, SumSquare: {}, L1: {}, L2: {}, Any: {},
		Prod: {1, 1, 1}, All: {1, 1, 1},
		Mean: {math.NaN(), 0, 0},
		Max:  {math.Inf(-1), -128, 0}, LogSum: {math.Inf(-1), -128, 0}, LogSumExp: {math.Inf(-1), -128, 0},
		Min: {math.Inf(1), 127, 255},
	}
	rng := rand.New(rand.NewPCG(3, 3))
	for kind, values := range want {
		for i, dt := range []dtype.Type{dtype.Float32, dtype.Int8, dtype.Uint8} {
			ot := dt
			if kind >= Any {
				ot = dtype.Bool
			}
			for _, dims := range [][]int{{0, 3}, {3, 0}, {3, 0, 0}} {
				axes := []int{slices.Index(dims, 0)}
				if len(dims) == 3 {
					axes = []int{1, 2}
				}
				out := kerneltest.Dense(ot, 3)
				if err := kerneltest.All(rng, newReduce(kind, dt, axes), []*kernel.Operand{kerneltest.Dense(dt, dims...)}, []*kernel.Operand{out}); err != nil {
					t.Fatal(err)
				}
				for _, got := range kerneltest.Floats(out) {
					if !kerneltest.Near(got, values[i], 0) || math.Signbit(got) != math.Signbit(values[i]) {
						t.Errorf("kind %d of %v%v over %v is %v, want %v", kind, dt, dims, axes, got, values[i])
					}
				}
			}
		}
	}
}

func TestReduceSpecialValues(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	negZero := math.Copysign(0, -1)
	for _, c := range []struct {
		kind Kind
		x    []float64
		want float64
	}{
		{Max, []float64{1, nan, 3}, nan},
		{Min, []float64{1, nan, 3}, nan},
		{Max, []float64{negZero, 0, negZero}, 0},
		{Min, []float64{0, negZero, 0}, negZero},
		{Max, []float64{-inf, -inf}, -inf},
		{Sum, []float64{inf, 1}, inf},
		{Sum, []float64{inf, -inf}, nan},
		{Sum, []float64{negZero, negZero}, negZero},
		{LogSumExp, []float64{-inf, -inf}, -inf},
		{LogSumExp, []float64{inf, 1}, inf},
		{LogSumExp, []float64{nan, 1}, nan},
		{LogSumExp, []float64{-inf, 2}, 2},
		{LogSumExp, []float64{1000, 1000}, 1000 + math.Ln2},
		{LogSumExp, []float64{-1000, -1000}, -1000 + math.Ln2},
		{Any, []float64{0, negZero}, 0},
		{Any, []float64{0, nan}, 1},
		{All, []float64{1, nan}, 1},
	} {
		for _, columns := range []bool{false, true} {
			in, out := kerneltest.Dense(dtype.Float64, len(c.x), 2), kerneltest.Dense(dtype.Float64, 2)
			for i, v := range c.x {
				kernel.Slice[float64](in)[2*i], kernel.Slice[float64](in)[2*i+1] = v, v
			}
			if !columns {
				in.Shape[1], out.Shape[0] = 1, 1
			}
			if c.kind >= Any {
				out.DType = dtype.Bool
			}
			k := newReduce(c.kind, dtype.Float64, []int{0})
			if err := kerneltest.Run(rand.New(rand.NewPCG(1, 1)), k, []*kernel.Operand{in}, []*kernel.Operand{out}); err != nil {
				t.Fatal(err)
			}
			for _, got := range kerneltest.Floats(out) {
				if !kerneltest.Near(got, c.want, 1e-12*math.Abs(c.want)) || math.Signbit(got) != math.Signbit(c.want) && got == got {
					t.Errorf("kind %d of %v (columns %v) is %v, want %v", c.kind, c.x, columns, got, c.want)
				}
			}
		}
	}
}

// TestReduceRowsDoNotMatter: the result for a row is the same, to the last
// bit, however many rows there are.
func TestReduceRowsDoNotMatter(t *testing.T) {
	race.SkipSequential(t)
	rng := rand.New(rand.NewPCG(4, 4))
	for range 200 {
		dims := append([]int{1 + rng.IntN(40)}, 1+rng.IntN(900), 1+rng.IntN(5))
		axes := [][]int{{1}, {2}, {1, 2}}[rng.IntN(3)]
		in := kerneltest.StridedInput(rng, dtype.Float32, kerneltest.SomeDense(rng, 3), dims...)
		out := kerneltest.Dense(dtype.Float32, kerneltest.Without(dims, axes, true)...)
		k := newReduce(Sum, dtype.Float32, axes)
		if err := kerneltest.Run(rng, k, []*kernel.Operand{in}, []*kernel.Operand{out}); err != nil {
			t.Fatal(err)
		}
		row := rng.IntN(dims[0])
		one := *in
		one.Shape = slices.Clone(dims)
		one.Shape[0] = 1
		one.Offset += row * in.Strides[0]
		got := kerneltest.Dense(dtype.Float32, kerneltest.Without(one.Shape, axes, true)...)
		if err := kerneltest.Run(rng, k, []*kernel.Operand{&one}, []*kernel.Operand{got}); err != nil {
			t.Fatal(err)
		}
		n := len(got.Data)
		if string(got.Data) != string(out.Data[row*n:(row+1)*n]) {
			t.Fatalf("sum of %v over %v, row %d: alone it has other bits", dims, axes, row)
		}
	}
}

// TestReduceSumIsAccurate: the error of a float32 sum grows with the logarithm
// of the number of elements.
func TestReduceSumIsAccurate(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	const n = 1 << 20
	in := kerneltest.Dense(dtype.Float32, n)
	exact := 0.
	for i := range n {
		v := rng.Float32()
		kernel.Slice[float32](in)[i] = v
		exact += float64(v)
	}
	for _, dims := range [][]int{{n}, {n / 2, 2}} {
		in.Shape, in.Strides = dims, []int{2, 1}[2-len(dims):]
		out := kerneltest.Dense(dtype.Float32)
		axes := []int{0, 1}[:len(dims)]
		if err := kerneltest.Run(rng, newReduce(Sum, dtype.Float32, axes), []*kernel.Operand{in}, []*kernel.Operand{out}); err != nil {
			t.Fatal(err)
		}
		if got := kerneltest.Floats(out)[0]; math.Abs(got-exact) > exact*0x1p-22 {
			t.Errorf("sum of %v random numbers is %v, want %v", dims, got, exact)
		}
	}
}

func TestReduceAllocatesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for _, kind := range allKinds {
		for _, axes := range [][]int{{}, {0}, {1}, {2}, {0, 2}, {0, 1, 2}} {
			dims := []int{12, 70, 15}
			in, out := kerneltest.StridedInput(rng, dtype.Float32, rng.IntN(4), dims...), kerneltest.Dense(dtype.Float32, kerneltest.Without(dims, axes, false)...)
			if kind >= Any {
				out = kerneltest.Dense(dtype.Bool, out.Shape...)
			}
			kerneltest.CheckAllocs(t, newReduce(kind, dtype.Float32, axes), []*kernel.Operand{in}, []*kernel.Operand{out})
		}
	}
}

func BenchmarkReduce(b *testing.B) {
	for _, c := range []struct {
		name string
		kind Kind
		dims []int
		axes []int
	}{
		{"sum/rows", Sum, []int{1000, 1000}, []int{1}},
		{"sum/columns", Sum, []int{1000, 1000}, []int{0}},
		{"sum/middle", Sum, []int{16, 64, 1000}, []int{1}},
		{"sum/all", Sum, []int{1000, 1000}, []int{0, 1}},
		{"sum/short_rows", Sum, []int{300000, 3}, []int{1}},
		{"sum/narrow_columns", Sum, []int{300000, 3}, []int{0}},
		{"max/rows", Max, []int{1000, 1000}, []int{1}},
		{"max/columns", Max, []int{1000, 1000}, []int{0}},
		{"l2/rows", L2, []int{1000, 1000}, []int{1}},
		{"log_sum_exp/rows", LogSumExp, []int{1000, 1000}, []int{1}},
	} {
		b.Run(fmt.Sprintf("%s%v", c.name, c.dims), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			in := kerneltest.StridedInput(rng, dtype.Float32, len(c.dims), c.dims...)
			out := kerneltest.Dense(dtype.Float32, kerneltest.Without(c.dims, c.axes, false)...)
			kerneltest.Benchmark(b, newReduce(c.kind, dtype.Float32, c.axes), []*kernel.Operand{in}, []*kernel.Operand{out})
		})
	}
}
