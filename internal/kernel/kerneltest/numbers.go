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
	switch o.DType {
	case dtype.Float32:
		s := kernel.Slice[float32](o)
		for i := range s {
			s[i] = float32(rng.IntN(5) - 2)
			if rng.IntN(30) == 0 {
				s[i] = float32(math.NaN())
			}
		}
	case dtype.Float64:
		s := kernel.Slice[float64](o)
		for i := range s {
			s[i] = float64(rng.IntN(5)-2) * math.Copysign(1, float64(rng.IntN(2))-.5)
			if rng.IntN(30) == 0 {
				s[i] = math.NaN()
			}
		}
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

// Elements returns the elements of o in row-major order.
func Elements[N Ring](o *kernel.Operand) []N {
	switch o.DType {
	case dtype.Float32:
		return widened[N](Values[float32](o))
	case dtype.Float64:
		return widened[N](Values[float64](o))
	case dtype.Int8:
		return widened[N](Values[int8](o))
	case dtype.Int16:
		return widened[N](Values[int16](o))
	case dtype.Int32:
		return widened[N](Values[int32](o))
	case dtype.Int64:
		return widened[N](Values[int64](o))
	case dtype.Uint8:
		return widened[N](Values[uint8](o))
	case dtype.Uint16:
		return widened[N](Values[uint16](o))
	case dtype.Uint32:
		return widened[N](Values[uint32](o))
	case dtype.Uint64:
		return widened[N](Values[uint64](o))
	}
	panic("no numbers in " + o.DType.String())
}

func widened[N Ring, T kernel.Number](in []T) []N {
	out := make([]N, len(in))
	for i, v := range in {
		out[i] = N(v)
	}
	return out
}

func magnitudes[N Ring](in []N) []N {
	out := slices.Clone(in)
	for i, v := range out {
		out[i] = max(v, -v)
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
				ints[i] = Elements[int64](o)
			}
		}
		_, want := reference(nil, ints)
		bits := 64 - 8*t.Size()
		return func(got *kernel.Operand) error {
			for i, v := range Elements[int64](got) {
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
			floats[i] = Elements[float64](o)
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
		for i, v := range Elements[float64](got) {
			if !(math.Abs(v-want[i]) <= eps*math.Abs(bound[i])*float64(min(terms, 256)+terms/256+4)) {
				return fmt.Errorf("element %d is %v, want %v", i, v, want[i])
			}
		}
		return nil
	}
}

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
