package kernel_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
)

var reduceKinds = []kernel.ReduceKind{
	kernel.ReduceSum, kernel.ReduceMean, kernel.ReduceMax, kernel.ReduceMin, kernel.ReduceProd,
	kernel.ReduceSumSquare, kernel.ReduceL1, kernel.ReduceL2, kernel.ReduceLogSum, kernel.ReduceLogSumExp,
	kernel.ReduceAny, kernel.ReduceAll,
}

// reduced is the plain definition of a reduction, in float64. Scale is the
// magnitude that rounding errors are measured against.
func reduced(kind kernel.ReduceKind, x []float64) (want, scale float64) {
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
	case kernel.ReduceSum:
		return sum, abs
	case kernel.ReduceMean:
		return sum / n, abs / n
	case kernel.ReduceMax:
		return top, 0
	case kernel.ReduceMin:
		return low, 0
	case kernel.ReduceProd:
		return prod, math.Abs(prod)*math.Sqrt(n) + 1e-20 // some orders underflow
	case kernel.ReduceSumSquare:
		return square, square
	case kernel.ReduceL1:
		return abs, abs
	case kernel.ReduceL2:
		return math.Sqrt(square), math.Sqrt(square)
	case kernel.ReduceLogSum:
		return math.Log(sum), math.Abs(math.Log(sum)) + abs/sum
	case kernel.ReduceLogSumExp:
		return math.Log(exps), math.Abs(math.Log(exps)) + abs/n + 1
	case kernel.ReduceAny:
		return any, 0
	}
	return all, 0
}

func TestReduceFloat(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 700 {
		dt := []dtype.Type{dtype.Float32, dtype.Float64}[rng.IntN(2)]
		kind := reduceKinds[rng.IntN(len(reduceKinds))]
		dims := lineShape(rng, 0)
		axes := someAxes(rng, len(dims))
		keep := rng.IntN(2) == 0
		in := kerneltest.StridedInput(rng, dt, someDense(rng, len(dims)), dims...)
		if kind == kernel.ReduceLogSum {
			positive(in)
		}
		outDims := without(dims, axes, keep)
		ot := dt
		if kind >= kernel.ReduceAny {
			ot = dtype.Bool
		}
		out := kerneltest.StridedOutput(rng, ot, someDense(rng, len(outDims)), outDims...)
		k := kernel.NewReduce(kind, dt, axes)
		if err := sameBits(rng, k, []*kernel.Operand{in}, []*kernel.Operand{out}); err != nil {
			t.Fatalf("kind %d of %v%v over %v: %v", kind, dt, dims, axes, err)
		}
		x, got := floats(in), floats(out)
		for i, line := range linesOf(dims, axes...) {
			values := []float64{}
			for _, e := range line {
				values = append(values, x[e])
			}
			if len(values) == 0 {
				continue // TestReduceNothing
			}
			want, scale := reduced(kind, values)
			if !near(got[i], want, scale*unit(dt)) {
				t.Fatalf("kind %d of %v%v over %v: output %d is %v, want %v", kind, dt, dims, axes, i, got[i], want)
			}
		}
	}
}

func near(got, want, off float64) bool {
	return got == want || math.Abs(got-want) <= off || got != got && want != want
}

// positive replaces the elements of o by their magnitudes.
func positive(o *kernel.Operand) {
	if o.DType == dtype.Float32 {
		s := kernel.Slice[float32](o)
		for i, v := range s {
			s[i] = float32(math.Abs(float64(v)))
		}
		return
	}
	s := kernel.Slice[float64](o)
	for i, v := range s {
		s[i] = math.Abs(v)
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
		for range 120 {
			kind := reduceKinds[rng.IntN(len(reduceKinds))]
			if dt == dtype.Bool && kind != kernel.ReduceMax && kind != kernel.ReduceMin && kind < kernel.ReduceAny {
				continue
			}
			dims := lineShape(rng, 0)
			axes := someAxes(rng, len(dims))
			in := kerneltest.StridedInput(rng, dt, someDense(rng, len(dims)), dims...)
			switch kind {
			case kernel.ReduceMean, kernel.ReduceL2, kernel.ReduceLogSum, kernel.ReduceLogSumExp:
				// Small enough to be exact in float64 in any order.
				s := kernel.Slice[T](in)
				for i := range s {
					s[i] = s[i]%16 + T(rng.IntN(2))*20
				}
			}
			outDims := without(dims, axes, false)
			ot := dt
			if kind >= kernel.ReduceAny {
				ot = dtype.Bool
			}
			out := kerneltest.StridedOutput(rng, ot, someDense(rng, len(outDims)), outDims...)
			k := kernel.NewReduce(kind, dt, axes)
			if err := sameBits(rng, k, []*kernel.Operand{in}, []*kernel.Operand{out}); err != nil {
				t.Fatalf("kind %d of %v%v over %v: %v", kind, dt, dims, axes, err)
			}
			x, got := kerneltest.Values[T](in), floats(out)
			for i, line := range linesOf(dims, axes...) {
				values := []T{}
				for _, e := range line {
					values = append(values, x[e])
				}
				if len(values) == 0 {
					continue
				}
				if want := reducedInteger(kind, values); !near(got[i], want, 0) {
					t.Fatalf("kind %d of %v%v over %v: output %d is %v, want %v (of %v)", kind, dt, dims, axes, i, got[i], want, values)
				}
			}
		}
	}
}

// reducedInteger is the plain definition in wrapping arithmetic.
func reducedInteger[T kernel.Integer](kind kernel.ReduceKind, x []T) float64 {
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
	case kernel.ReduceSum:
		return float64(sum)
	case kernel.ReduceMax:
		return float64(top)
	case kernel.ReduceMin:
		return float64(low)
	case kernel.ReduceProd:
		return float64(prod)
	case kernel.ReduceSumSquare:
		return float64(square)
	case kernel.ReduceL1:
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
	want := map[kernel.ReduceKind][3]float64{ // float32, int8, uint8
		kernel.ReduceSum: {}, kernel.ReduceSumSquare: {}, kernel.ReduceL1: {}, kernel.ReduceL2: {}, kernel.ReduceAny: {},
		kernel.ReduceProd: {1, 1, 1}, kernel.ReduceAll: {1, 1, 1},
		kernel.ReduceMean: {math.NaN(), 0, 0},
		kernel.ReduceMax:  {math.Inf(-1), -128, 0}, kernel.ReduceLogSum: {math.Inf(-1), -128, 0}, kernel.ReduceLogSumExp: {math.Inf(-1), -128, 0},
		kernel.ReduceMin: {math.Inf(1), 127, 255},
	}
	rng := rand.New(rand.NewPCG(3, 3))
	for kind, values := range want {
		for i, dt := range []dtype.Type{dtype.Float32, dtype.Int8, dtype.Uint8} {
			ot := dt
			if kind >= kernel.ReduceAny {
				ot = dtype.Bool
			}
			for _, dims := range [][]int{{0, 3}, {3, 0}, {3, 0, 0}} {
				axes := []int{slices.Index(dims, 0)}
				if len(dims) == 3 {
					axes = []int{1, 2}
				}
				out := kerneltest.Dense(ot, 3)
				if err := kerneltest.All(rng, kernel.NewReduce(kind, dt, axes), []*kernel.Operand{kerneltest.Dense(dt, dims...)}, []*kernel.Operand{out}); err != nil {
					t.Fatal(err)
				}
				for _, got := range floats(out) {
					if !near(got, values[i], 0) || math.Signbit(got) != math.Signbit(values[i]) {
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
		kind kernel.ReduceKind
		x    []float64
		want float64
	}{
		{kernel.ReduceMax, []float64{1, nan, 3}, nan},
		{kernel.ReduceMin, []float64{1, nan, 3}, nan},
		{kernel.ReduceMax, []float64{negZero, 0, negZero}, 0},
		{kernel.ReduceMin, []float64{0, negZero, 0}, negZero},
		{kernel.ReduceMax, []float64{-inf, -inf}, -inf},
		{kernel.ReduceSum, []float64{inf, 1}, inf},
		{kernel.ReduceSum, []float64{inf, -inf}, nan},
		{kernel.ReduceSum, []float64{negZero, negZero}, negZero},
		{kernel.ReduceLogSumExp, []float64{-inf, -inf}, -inf},
		{kernel.ReduceLogSumExp, []float64{inf, 1}, inf},
		{kernel.ReduceLogSumExp, []float64{nan, 1}, nan},
		{kernel.ReduceLogSumExp, []float64{-inf, 2}, 2},
		{kernel.ReduceLogSumExp, []float64{1000, 1000}, 1000 + math.Ln2},
		{kernel.ReduceLogSumExp, []float64{-1000, -1000}, -1000 + math.Ln2},
		{kernel.ReduceAny, []float64{0, negZero}, 0},
		{kernel.ReduceAny, []float64{0, nan}, 1},
		{kernel.ReduceAll, []float64{1, nan}, 1},
	} {
		for _, columns := range []bool{false, true} {
			in, out := kerneltest.Dense(dtype.Float64, len(c.x), 2), kerneltest.Dense(dtype.Float64, 2)
			for i, v := range c.x {
				kernel.Slice[float64](in)[2*i], kernel.Slice[float64](in)[2*i+1] = v, v
			}
			if !columns {
				in.Shape[1], out.Shape[0] = 1, 1
			}
			if c.kind >= kernel.ReduceAny {
				out.DType = dtype.Bool
			}
			k := kernel.NewReduce(c.kind, dtype.Float64, []int{0})
			if err := kerneltest.Run(rand.New(rand.NewPCG(1, 1)), k, []*kernel.Operand{in}, []*kernel.Operand{out}); err != nil {
				t.Fatal(err)
			}
			for _, got := range floats(out) {
				if !near(got, c.want, 1e-12*math.Abs(c.want)) || math.Signbit(got) != math.Signbit(c.want) && got == got {
					t.Errorf("kind %d of %v (columns %v) is %v, want %v", c.kind, c.x, columns, got, c.want)
				}
			}
		}
	}
}

// TestReduceRowsDoNotMatter: the result for a row is the same, to the last
// bit, however many rows there are.
func TestReduceRowsDoNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 200 {
		dims := append([]int{1 + rng.IntN(40)}, 1+rng.IntN(900), 1+rng.IntN(5))
		axes := [][]int{{1}, {2}, {1, 2}}[rng.IntN(3)]
		in := kerneltest.StridedInput(rng, dtype.Float32, someDense(rng, 3), dims...)
		out := kerneltest.Dense(dtype.Float32, without(dims, axes, true)...)
		k := kernel.NewReduce(kernel.ReduceSum, dtype.Float32, axes)
		if err := kerneltest.Run(rng, k, []*kernel.Operand{in}, []*kernel.Operand{out}); err != nil {
			t.Fatal(err)
		}
		row := rng.IntN(dims[0])
		one := *in
		one.Shape = slices.Clone(dims)
		one.Shape[0] = 1
		one.Offset += row * in.Strides[0]
		got := kerneltest.Dense(dtype.Float32, without(one.Shape, axes, true)...)
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
		if err := kerneltest.Run(rng, kernel.NewReduce(kernel.ReduceSum, dtype.Float32, axes), []*kernel.Operand{in}, []*kernel.Operand{out}); err != nil {
			t.Fatal(err)
		}
		if got := floats(out)[0]; math.Abs(got-exact) > exact*0x1p-22 {
			t.Errorf("sum of %v random numbers is %v, want %v", dims, got, exact)
		}
	}
}

func TestReduceAllocatesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for _, kind := range reduceKinds {
		for _, axes := range [][]int{{}, {0}, {1}, {2}, {0, 2}, {0, 1, 2}} {
			dims := []int{12, 70, 15}
			in, out := kerneltest.StridedInput(rng, dtype.Float32, rng.IntN(4), dims...), kerneltest.Dense(dtype.Float32, without(dims, axes, false)...)
			if kind >= kernel.ReduceAny {
				out = kerneltest.Dense(dtype.Bool, out.Shape...)
			}
			kerneltest.CheckAllocs(t, kernel.NewReduce(kind, dtype.Float32, axes), []*kernel.Operand{in}, []*kernel.Operand{out})
		}
	}
}

func BenchmarkReduce(b *testing.B) {
	for _, c := range []struct {
		name string
		kind kernel.ReduceKind
		dims []int
		axes []int
	}{
		{"sum/rows", kernel.ReduceSum, []int{1000, 1000}, []int{1}},
		{"sum/columns", kernel.ReduceSum, []int{1000, 1000}, []int{0}},
		{"sum/middle", kernel.ReduceSum, []int{16, 64, 1000}, []int{1}},
		{"sum/all", kernel.ReduceSum, []int{1000, 1000}, []int{0, 1}},
		{"sum/short_rows", kernel.ReduceSum, []int{300000, 3}, []int{1}},
		{"sum/narrow_columns", kernel.ReduceSum, []int{300000, 3}, []int{0}},
		{"max/rows", kernel.ReduceMax, []int{1000, 1000}, []int{1}},
		{"max/columns", kernel.ReduceMax, []int{1000, 1000}, []int{0}},
		{"l2/rows", kernel.ReduceL2, []int{1000, 1000}, []int{1}},
		{"log_sum_exp/rows", kernel.ReduceLogSumExp, []int{1000, 1000}, []int{1}},
	} {
		b.Run(fmt.Sprintf("%s%v", c.name, c.dims), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			in := kerneltest.StridedInput(rng, dtype.Float32, len(c.dims), c.dims...)
			out := kerneltest.Dense(dtype.Float32, without(c.dims, c.axes, false)...)
			benchmarkKernel(b, kernel.NewReduce(c.kind, dtype.Float32, c.axes), []*kernel.Operand{in}, []*kernel.Operand{out})
		})
	}
}
