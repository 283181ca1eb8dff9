package kerneltest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/shape"
)

// Dense returns an operand of zeros in row-major order.
func Dense(t dtype.Type, dims ...int) *kernel.Operand {
	l := shape.Dense(dims)
	return &kernel.Operand{
		DType: t, Shape: l.Shape, Strides: l.Strides,
		Data: kernel.Alloc(l.Shape.Elems() * t.Size()),
	}
}

// Of returns a dense operand that holds values, which must have the width of t.
func Of[T any](t dtype.Type, values []T, dims ...int) *kernel.Operand {
	o := Dense(t, dims...)
	if copy(kernel.Slice[T](o), values) != shape.Shape(dims).Elems() {
		panic(fmt.Sprintf("kerneltest: %d values for shape %v", len(values), dims))
	}
	return o
}

// StridedInput returns an operand for reading, of random bytes that are valid
// elements of t, whose last denseAxes axes lie dense. The axes before those
// are in random order, with gaps, reversed, or repeated with stride 0.
func StridedInput(rng *rand.Rand, t dtype.Type, denseAxes int, dims ...int) *kernel.Operand {
	return strided(rng, t, denseAxes, dims, true)
}

// StridedOutput returns an operand for writing as [StridedInput] does, but
// without repeated or reversed axes.
func StridedOutput(rng *rand.Rand, t dtype.Type, denseAxes int, dims ...int) *kernel.Operand {
	return strided(rng, t, denseAxes, dims, false)
}

func strided(rng *rand.Rand, t dtype.Type, denseAxes int, dims []int, input bool) *kernel.Operand {
	outer := len(dims) - denseAxes
	order := rng.Perm(outer) // innermost first
	strides := make([]int, len(dims))
	n := 1
	for a := len(dims) - 1; a >= outer; a-- {
		strides[a] = n
		n *= max(dims[a], 1)
	}
	lo := 0 // the lowest element, from the operand's offset
	for _, a := range order {
		if input && rng.IntN(6) == 0 {
			continue // stride 0
		}
		if rng.IntN(3) == 0 {
			n += rng.IntN(3)
		}
		strides[a] = n
		span := n * max(dims[a]-1, 0)
		n += span
		if input && rng.IntN(4) == 0 {
			strides[a] = -strides[a]
			lo -= span
		}
	}
	before, after := rng.IntN(4), rng.IntN(4)
	o := &kernel.Operand{
		DType: t, Shape: append([]int(nil), dims...), Strides: strides,
		Offset: before - lo,
		Data:   kernel.Alloc((before + n + after) * t.Size()),
	}
	Randomize(rng, o)
	return o
}

// Randomize fills the whole storage of o with random valid elements: small
// numbers of both signs, truth values for bool.
func Randomize(rng *rand.Rand, o *kernel.Operand) {
	switch {
	case o.DType == dtype.Bool:
		for i := range o.Data {
			o.Data[i] = byte(rng.IntN(2))
		}
	case o.DType.IsHalf(): // none so small that a half has few digits for it
		rewrite(o, func(float64) float64 { return math.Ldexp(1+rng.Float64(), -rng.IntN(8)) * float64(2*rng.IntN(2)-1) })
	case o.DType.IsFloat():
		rewrite(o, func(float64) float64 { return rng.NormFloat64() })
	default:
		scribble(rng, &kernel.Operand{Data: o.Data, DType: o.DType, Shape: []int{len(o.Data) / o.DType.Size()}, Strides: []int{1}})
	}
}

// scribble writes random bytes over the elements of o, and nothing else.
func scribble(rng *rand.Rand, o *kernel.Operand) {
	w := o.DType.Size()
	each(o, func(at int) {
		bits := rng.Uint64()
		for i := range w {
			o.Data[at*w+i] = byte(bits >> (8 * i))
		}
	})
}

// Values returns the elements of o in row-major order.
func Values[T any](o *kernel.Operand) []T {
	out := make([]T, 0, shape.Shape(o.Shape).Elems())
	data := kernel.Slice[T](o)
	each(o, func(at int) { out = append(out, data[at]) })
	return out
}

// Bytes returns the bytes of the elements of o in row-major order.
func Bytes(o *kernel.Operand) []byte {
	w := o.DType.Size()
	out := kernel.Alloc(w * shape.Shape(o.Shape).Elems())[:0]
	each(o, func(at int) { out = append(out, o.Data[at*w:(at+1)*w]...) })
	return out
}

// dense returns a dense copy of o.
func dense(o *kernel.Operand) *kernel.Operand {
	d := Dense(o.DType, o.Shape...)
	copy(d.Data, Bytes(o))
	return d
}

// present returns the operands that are there.
func present(operands []*kernel.Operand) []*kernel.Operand {
	return slices.DeleteFunc(slices.Clone(operands), func(o *kernel.Operand) bool { return o == nil })
}

// Guard remembers the storage of o. The function it returns reports the first
// byte outside the elements of o that has changed since.
func Guard(o *kernel.Operand) func() error {
	before := append([]byte(nil), o.Data...)
	return func() error {
		own := make([]bool, len(before))
		w := o.DType.Size()
		each(o, func(at int) {
			for i := range w {
				own[at*w+i] = true
			}
		})
		for i, b := range before {
			if !own[i] && o.Data[i] != b {
				return fmt.Errorf("byte %d of the storage of a %v%v at %v%+d has changed from %#x to %#x, and is none of its elements",
					i, o.DType, shape.Shape(o.Shape), o.Strides, o.Offset, b, o.Data[i])
			}
		}
		return nil
	}
}

// each calls f with the storage position of each element in row-major order.
func each(o *kernel.Operand, f func(at int)) {
	l := shape.Layout{Strides: o.Strides, Offset: o.Offset}
	ForEachIndex(o.Shape, func(index []int) { f(l.At(index...)) })
}

// Shape returns up to maxRank random extents below limit, with 0 and 1 among them
// more often than chance.
func Shape(rng *rand.Rand, maxRank, limit int) []int {
	dims := make([]int, rng.IntN(maxRank+1))
	for i := range dims {
		dims[i] = Extent(rng, limit)
	}
	return dims
}

// Extent returns a random extent below limit.
func Extent(rng *rand.Rand, limit int) int {
	switch rng.IntN(20) {
	case 0:
		return 0
	case 1, 2:
		return 1
	}
	return 1 + rng.IntN(limit-1)
}

// ForEachIndex calls f with every index of dims in row-major order.
func ForEachIndex(dims []int, f func(index []int)) {
	index := make([]int, len(dims))
	var nest func(axis int)
	nest = func(axis int) {
		if axis == len(dims) {
			f(index)
			return
		}
		for index[axis] = range dims[axis] {
			nest(axis + 1)
		}
	}
	nest(0)
}

// Flat returns the row-major position of an index; -1 when it is outside.
func Flat(dims, index []int) int {
	at := 0
	for i, d := range dims {
		if index[i] < 0 || index[i] >= d {
			return -1
		}
		at = at*d + index[i]
	}
	return at
}

// Operands are the inputs or outputs of a kernel.
type Operands = []*kernel.Operand
