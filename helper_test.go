package berth_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/bridge"
)

// inside reaches the graphs and the storage behind the types of the package.
var inside = bridge.Berth[berth.Tensor, berth.Promise, berth.Program, berth.CompileOptions]()

// must returns v, or stops a test whose set-up does not work.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// An array is what references compute with: elements of any type as float64,
// in row-major order. Every number in these tests fits one.
type array struct {
	dims []int
	data []float64
}

// arrayOf returns the array of the given shape whose elements are f of their
// index.
func arrayOf(dims []int, f func(index []int) float64) array {
	a := array{dims: dims}
	each(dims, func(index []int) { a.data = append(a.data, f(index)) })
	return a
}

// list returns an array of the elements in data.
func list(data []float64, dims ...int) array { return array{dims, data} }

// each calls f with every index of a shape in row-major order; f must not
// keep index.
func each(dims []int, f func(index []int)) {
	index := make([]int, len(dims))
	n := 1
	for _, d := range dims {
		n *= d
	}
	for i := range n {
		for axis, rest := len(dims)-1, i; axis >= 0; axis-- {
			index[axis] = rest % dims[axis]
			rest /= dims[axis]
		}
		f(index)
	}
}

// at returns an element.
func (a array) at(index ...int) float64 {
	at := 0
	for axis, i := range index {
		at = at*a.dims[axis] + i
	}
	return a.data[at]
}

// atBroadcast returns the element that index of a larger shape stands for
// when a is broadcast to it.
func (a array) atBroadcast(index []int) float64 {
	own := slices.Clone(index[len(index)-len(a.dims):])
	for axis, d := range a.dims {
		if d == 1 {
			own[axis] = 0
		}
	}
	return a.at(own...)
}

// with returns a copy of index with one coordinate replaced.
func with(index []int, axis, i int) []int {
	out := slices.Clone(index)
	out[axis] = i
	return out
}

// dimsWith returns dims with one extent replaced.
func dimsWith(dims []int, axis, d int) []int { return with(dims, axis, d) }

// without returns index without one coordinate.
func without(index []int, axis int) []int {
	return append(slices.Clone(index[:axis]), index[axis+1:]...)
}

// broadcastDims is NumPy's rule, stated anew.
func broadcastDims(a, b []int) []int {
	out := slices.Clone(a)
	if len(b) > len(a) {
		a, b = b, a
		out = slices.Clone(a)
	}
	lead := len(a) - len(b)
	for i, d := range b {
		if out[lead+i] == 1 {
			out[lead+i] = d
		}
	}
	return out
}

// tensor returns a tensor of the elements of a, converted to the type.
func (a array) tensor(t berth.DType) *berth.Tensor {
	switch t {
	case berth.Bool:
		return convert(a, func(v float64) bool { return v != 0 })
	case berth.Uint8:
		return convert(a, func(v float64) uint8 { return uint8(int64(v)) })
	case berth.Uint16:
		return convert(a, func(v float64) uint16 { return uint16(int64(v)) })
	case berth.Uint32:
		return convert(a, func(v float64) uint32 { return uint32(int64(v)) })
	case berth.Uint64:
		return convert(a, func(v float64) uint64 { return uint64(int64(v)) })
	case berth.Int8:
		return convert(a, func(v float64) int8 { return int8(int64(v)) })
	case berth.Int16:
		return convert(a, func(v float64) int16 { return int16(int64(v)) })
	case berth.Int32:
		return convert(a, func(v float64) int32 { return int32(int64(v)) })
	case berth.Int64:
		return convert(a, func(v float64) int64 { return int64(v) })
	case berth.Float16:
		return convert(a, func(v float64) dtype.F16 { return dtype.ToF16(float32(v)) })
	case berth.BFloat16:
		return convert(a, func(v float64) dtype.BF16 { return dtype.ToBF16(float32(v)) })
	case berth.Float4E2M1:
		return convert(a, func(v float64) dtype.F4E2M1 { return dtype.ToF4E2M1(float32(v)) })
	case berth.Float8E4M3FN:
		return convert(a, func(v float64) dtype.F8E4M3FN { return dtype.ToF8E4M3FN(float32(v)) })
	case berth.Float8E4M3FNUZ:
		return convert(a, func(v float64) dtype.F8E4M3FNUZ { return dtype.ToF8E4M3FNUZ(float32(v)) })
	case berth.Float8E5M2:
		return convert(a, func(v float64) dtype.F8E5M2 { return dtype.ToF8E5M2(float32(v)) })
	case berth.Float8E5M2FNUZ:
		return convert(a, func(v float64) dtype.F8E5M2FNUZ { return dtype.ToF8E5M2FNUZ(float32(v)) })
	case berth.Float8E8M0:
		return convert(a, func(v float64) dtype.F8E8M0 { return dtype.ToF8E8M0(float32(v)) })
	case berth.Int2:
		return convert(a, func(v float64) dtype.I2 { return dtype.ToI2(int8(int64(v))) })
	case berth.Uint2:
		return convert(a, func(v float64) dtype.U2 { return dtype.ToU2(uint8(int64(v))) })
	case berth.Int4:
		return convert(a, func(v float64) dtype.I4 { return dtype.ToI4(int8(int64(v))) })
	case berth.Uint4:
		return convert(a, func(v float64) dtype.U4 { return dtype.ToU4(uint8(int64(v))) })
	case berth.Float32:
		return convert(a, func(v float64) float32 { return float32(v) })
	}
	return convert(a, func(v float64) float64 { return v })
}

func convert[T berth.Element](a array, f func(float64) T) *berth.Tensor {
	data := make([]T, len(a.data))
	for i, v := range a.data {
		data[i] = f(v)
	}
	return must(berth.FromSlice(data, a.dims...))
}

// promise returns a promise of the elements of a, converted to the type.
func (a array) promise(t berth.DType) *berth.Promise { return a.tensor(t).Promise() }

// as returns a as its elements read after conversion to the type.
func (a array) as(t berth.DType) array { return read(a.tensor(t)) }

// read returns the elements of a tensor of any type.
func read(t *berth.Tensor) array {
	a := array{dims: t.Shape()}
	switch t.DType() {
	case berth.Bool:
		for _, v := range must(berth.Data[bool](t)) {
			f := 0.0
			if v {
				f = 1
			}
			a.data = append(a.data, f)
		}
	case berth.Uint8:
		a.data = widen[uint8](t)
	case berth.Uint16:
		a.data = widen[uint16](t)
	case berth.Uint32:
		a.data = widen[uint32](t)
	case berth.Uint64:
		a.data = widen[uint64](t)
	case berth.Int8:
		a.data = widen[int8](t)
	case berth.Int16:
		a.data = widen[int16](t)
	case berth.Int32:
		a.data = widen[int32](t)
	case berth.Int64:
		a.data = widen[int64](t)
	case berth.Float16:
		a.data = widenBy(t, dtype.F16.Float32)
	case berth.BFloat16:
		a.data = widenBy(t, dtype.BF16.Float32)
	case berth.Float4E2M1:
		a.data = widenBy(t, dtype.F4E2M1.Float32)
	case berth.Float8E4M3FN:
		a.data = widenBy(t, dtype.F8E4M3FN.Float32)
	case berth.Float8E4M3FNUZ:
		a.data = widenBy(t, dtype.F8E4M3FNUZ.Float32)
	case berth.Float8E5M2:
		a.data = widenBy(t, dtype.F8E5M2.Float32)
	case berth.Float8E5M2FNUZ:
		a.data = widenBy(t, dtype.F8E5M2FNUZ.Float32)
	case berth.Float8E8M0:
		a.data = widenBy(t, dtype.F8E8M0.Float32)
	case berth.Int2:
		a.data = widenBy(t, dtype.I2.Int8)
	case berth.Uint2:
		a.data = widenBy(t, dtype.U2.Uint8)
	case berth.Int4:
		a.data = widenBy(t, dtype.I4.Int8)
	case berth.Uint4:
		a.data = widenBy(t, dtype.U4.Uint8)
	case berth.Float32:
		a.data = widen[float32](t)
	case berth.Float64:
		a.data = widen[float64](t)
	}
	return a
}

func widen[T berth.Number](t *berth.Tensor) []float64 {
	return widenBy(t, func(v T) T { return v })
}

// widenBy returns the elements of a tensor that value turns into numbers of Go.
func widenBy[T berth.Element, N berth.Number](t *berth.Tensor, value func(T) N) []float64 {
	var out []float64
	for _, v := range must(berth.Data[T](t)) {
		out = append(out, float64(value(v)))
	}
	return out
}

// random returns an array of whole numbers from low to high, both included.
func random(rng *rand.Rand, low, high int, dims ...int) array {
	return arrayOf(dims, func([]int) float64 { return float64(low + rng.IntN(high-low+1)) })
}

// uniform returns an array of numbers from [low, high).
func uniform(rng *rand.Rand, low, high float64, dims ...int) array {
	return arrayOf(dims, func([]int) float64 { return low + (high-low)*rng.Float64() })
}

// tolerance is what rounding to a type may cost a short calculation.
func tolerance(t berth.DType) float64 {
	switch t {
	case berth.Float16:
		return 4e-3
	case berth.BFloat16:
		return 3e-2
	case berth.Float32:
		return 1e-5
	case berth.Float64:
		return 1e-11
	}
	return 0
}

// expect materialises p, with fresh and freed memory poisoned, and compares it
// with a reference, which is rounded to the type.
func expect(t *testing.T, what string, p *berth.Promise, typ berth.DType, want array) {
	t.Helper()
	if err := p.Err(); err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	if p.DType() != typ || !slices.Equal(p.Shape(), want.dims) {
		t.Errorf("%s: the promise is of %v%v, want %v%v", what, p.DType(), p.Shape(), typ, want.dims)
		return
	}
	out, err := berth.MaterializeWith(context.Background(), berth.RunOptions{Workers: 2, Poison: true}, p)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	tol := tolerance(typ)
	if err := berth.Close(out[0], want.tensor(typ), tol, tol); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// bits materialises p and returns its elements as a dense tensor.
func bits(t *testing.T, p *berth.Promise) *berth.Tensor {
	t.Helper()
	out, err := p.Materialize(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func label(parts ...any) string { return fmt.Sprint(parts...) }

var inf, nan = math.Inf(1), math.NaN()
