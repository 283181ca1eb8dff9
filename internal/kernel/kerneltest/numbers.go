package kerneltest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
)

// FewValues makes ties and, in floating-point types, NaN frequent.
func FewValues(rng *rand.Rand, o *kernel.Operand) {
	if !o.DType.IsFloat() {
		return
	}
	rewrite(o, func(float64) float64 {
		if rng.IntN(30) == 0 {
			return math.NaN()
		}
		return float64(rng.IntN(5)-2) * math.Copysign(1, float64(rng.IntN(2))-.5)
	})
}

// rewrite replaces each element in the storage of o, of a floating-point type.
func rewrite(o *kernel.Operand, f func(v float64) float64) {
	for i := range len(o.Data) / o.DType.Size() {
		v := kernel.ScalarAt(o.DType, o.Data, i).Float64()
		kernel.Float64Scalar(f(v)).Cast(o.DType).Put(o.Data[i*o.DType.Size():])
	}
}

// ArgReduced is the plain definition: the first (last) NaN, or else the first
// (last) extreme.
func ArgReduced(x []float64, largest, last bool) int {
	found := -1
	for i, v := range x {
		switch {
		case found < 0:
			found = i
		case v != v && (x[found] == x[found] || last):
			found = i
		case x[found] != x[found]:
		case largest && v > x[found], !largest && v < x[found], last && v == x[found]:
			found = i
		}
	}
	return found
}

// A Ring is one of the two types in which sums of products are checked. Between
// them they hold every element type: float64, and int64 whose wrapped results
// truncate to narrower ones.
type Ring interface{ float64 | int64 }

// Floats returns the elements of o in row-major order as float64.
func Floats(o *kernel.Operand) []float64 { return elements(o, kernel.Scalar.Float64) }

func elements[N Ring](o *kernel.Operand, value func(kernel.Scalar) N) []N {
	out := []N{}
	each(o, func(at int) { out = append(out, value(kernel.ScalarAt(o.DType, o.Data, at))) })
	return out
}

func magnitudes(in []float64) []float64 {
	out := slices.Clone(in)
	for i, v := range out {
		out[i] = math.Abs(v)
	}
	return out
}

// WantSums returns a check of an output against what reference makes of the
// elements of the inputs: exact for integers, and within terms roundings of the
// sum of the magnitudes for floats.
func WantSums(t dtype.Type, terms int, in []*kernel.Operand, reference func(floats [][]float64, ints [][]int64) ([]float64, []int64)) func(got *kernel.Operand) error {
	if t.IsInteger() {
		ints := make([][]int64, len(in))
		for i, o := range in {
			if o != nil {
				ints[i] = elements(o, kernel.Scalar.Int64)
			}
		}
		_, want := reference(nil, ints)
		bits := 64 - 8*t.Size()
		return func(got *kernel.Operand) error {
			for i, v := range elements(got, kernel.Scalar.Int64) {
				if v<<bits != want[i]<<bits {
					return fmt.Errorf("element %d is %d, want %d, but for its upper %d bits", i, v, want[i], bits)
				}
			}
			return nil
		}
	}
	floats, sizes := make([][]float64, len(in)), make([][]float64, len(in))
	for i, o := range in {
		if o != nil {
			floats[i] = Floats(o)
			sizes[i] = magnitudes(floats[i])
		}
	}
	want, _ := reference(floats, nil)
	bound, _ := reference(sizes, nil)
	eps := 0x1p-24
	if t == dtype.Float64 {
		eps = 0x1p-53
	}
	return func(got *kernel.Operand) error {
		for i, v := range Floats(got) {
			if !(math.Abs(v-want[i]) <= eps*math.Abs(bound[i])*float64(min(terms, 256)+terms/256+4)) {
				return fmt.Errorf("element %d is %v, want %v", i, v, want[i])
			}
		}
		return nil
	}
}

// Halfless lists the element types that kernels compute in.
func Halfless() []dtype.Type {
	return slices.DeleteFunc(dtype.All(), func(t dtype.Type) bool { return t != t.Wide() })
}

// Arithmetic lists the element types that have arithmetic, and bool.
func Arithmetic() []dtype.Type {
	return slices.DeleteFunc(dtype.All(), dtype.Type.IsLowPrecision)
}

// Slack is how much a result of type t may be off, as a part of the magnitude
// of what it is computed from.
func Slack(t dtype.Type) float64 {
	if t == dtype.Float32 {
		return 0x1p-21
	}
	return 0x1p-42
}

// Rounding is the root mean square of how far elements are off those of want, the
// numbers without rounding, in units of 2^-24 of the root mean square of want.
func Rounding(o *kernel.Operand, want []float64) float64 {
	var off, all float64
	for i, v := range Floats(o) {
		off += (v - want[i]) * (v - want[i])
		all += want[i] * want[i]
	}
	return math.Sqrt(off/all) * 0x1p24
}

// NumberTypes are the element types of [Halfless] but bool, floats first.
var NumberTypes = []dtype.Type{
	dtype.Float32, dtype.Float64, dtype.Int8, dtype.Int16, dtype.Int32, dtype.Int64,
	dtype.Uint8, dtype.Uint16, dtype.Uint32, dtype.Uint64,
}

// Near reports whether got is at most off from want, or NaN like it.
func Near(got, want, off float64) bool {
	return got == want || math.Abs(got-want) <= off || got != got && want != want
}

// Positive replaces the elements of o by their magnitudes.
func Positive(o *kernel.Operand) {
	rewrite(o, math.Abs)
}
