package move

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/x448/float16"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
)

var combines = []Reduction{ReductionNone, ReductionAdd, ReductionMul, ReductionMax, ReductionMin}

// combineBits combines two elements given by their bits, one operation at a
// time in the element type.
func combineBits(t dtype.Type, how Reduction, old, update uint64) uint64 {
	if how == ReductionNone {
		return update
	}
	mask := uint64(math.MaxUint64) >> (64 - 8*t.Size())
	switch t.Kind() {
	case dtype.KindInt:
		shift := 64 - 8*t.Size()
		return uint64(combineNumbers(how, int64(old<<shift)>>shift, int64(update<<shift)>>shift)) & mask
	case dtype.KindUint:
		return combineNumbers(how, old, update) & mask
	}
	switch t {
	case dtype.Float64:
		return math.Float64bits(combineNumbers(how, math.Float64frombits(old), math.Float64frombits(update)))
	case dtype.Float32:
		return uint64(math.Float32bits(combineNumbers(how, math.Float32frombits(uint32(old)), math.Float32frombits(uint32(update)))))
	case dtype.Float16:
		a, b := float16.Frombits(uint16(old)).Float32(), float16.Frombits(uint16(update)).Float32()
		return uint64(float16.Fromfloat32(combineNumbers(how, a, b)).Bits())
	}
	// bfloat16: round to nearest even by hand.
	v := math.Float32bits(combineNumbers(how, math.Float32frombits(uint32(old)<<16), math.Float32frombits(uint32(update)<<16)))
	low := v & 0xffff
	v >>= 16
	if low > 0x8000 || low == 0x8000 && v&1 == 1 {
		v++
	}
	return uint64(v)
}

func combineNumbers[T int64 | uint64 | float32 | float64](how Reduction, a, b T) T {
	switch how {
	case ReductionAdd:
		return a + b
	case ReductionMul:
		return a * b
	case ReductionMax:
		if b > a {
			return b
		}
		return a
	}
	if b < a {
		return b
	}
	return a
}

func anyCombine(rng *rand.Rand, t dtype.Type) Reduction {
	if t == dtype.Bool || t.IsLowPrecision() {
		return ReductionNone
	}
	return combines[rng.IntN(len(combines))]
}

func TestScatterElements(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for n := range 1000 {
		dt := anyType(rng)
		how := anyCombine(rng, dt)
		dims := append(kerneltest.Shape(rng, 3, 6), 1+rng.IntN(6))
		if n%250 == 0 {
			dims = []int{100 + rng.IntN(50), 2 + rng.IntN(2), 150} // several tasks
		}
		axis := rng.IntN(len(dims))
		list := slices.Clone(dims)
		for a := range list {
			if list[a] > 0 && rng.IntN(3) == 0 {
				list[a] = rng.IntN(list[a])
			}
		}
		if list[axis] = kerneltest.Extent(rng, 9); dims[axis] == 0 {
			list[axis] = 0
		}
		data := kerneltest.StridedInput(rng, dt, 0, dims...)
		idx := indices(rng, func([]int) int { return dims[axis] }, list...)
		updates := kerneltest.StridedInput(rng, dt, 0, list...)
		want, x, u := tableOf(data), tableOf(idx), tableOf(updates)
		eachIndex(list, func(i []int) {
			to := slices.Clone(i)
			to[axis] = wrap(x.indexOf(idx, i), dims[axis])
			want.set(to, combineBits(dt, how, want.at(to), u.at(i)))
		})
		out := kerneltest.StridedOutput(rng, dt, 0, dims...)
		k := newScatterElements(dt, axis, how)
		check(t, rng, k, kerneltest.Operands{data, idx, updates}, out, want)
		inPlace(t, rng, k, data, kerneltest.Operands{idx, updates}, want)
	}
}

func TestScatterND(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	for n := range 1000 {
		dt := anyType(rng)
		how := anyCombine(rng, dt)
		dims := kerneltest.Shape(rng, 4, 6)
		tuple := rng.IntN(len(dims) + 1)
		list := kerneltest.Shape(rng, 2, 6)
		if n%250 == 0 {
			dims, tuple = []int{100 + rng.IntN(50), 2 + rng.IntN(2), 150}, rng.IntN(3)
		}
		if slices.Contains(dims[:tuple], 0) {
			list = append(list, 0)
		}
		data := kerneltest.StridedInput(rng, dt, 0, dims...)
		idx := tuples(rng, dims, 0, tuple, list)
		updates := kerneltest.StridedInput(rng, dt, 0, slices.Concat(list, dims[tuple:])...)
		want, x, u := tableOf(data), tableOf(idx), tableOf(updates)
		eachIndex(updates.Shape, func(i []int) {
			var to []int
			for j := range tuple {
				to = append(to, wrap(x.indexOf(idx, append(slices.Clone(i[:len(list)]), j)), dims[j]))
			}
			to = append(to, i[len(list):]...)
			want.set(to, combineBits(dt, how, want.at(to), u.at(i)))
		})
		out := kerneltest.StridedOutput(rng, dt, 0, dims...)
		k := newScatterND(dt, how)
		check(t, rng, k, kerneltest.Operands{data, idx, updates}, out, want)
		inPlace(t, rng, k, data, kerneltest.Operands{idx, updates}, want)
	}
}

// inPlace runs k with its first input as its output as well.
func inPlace(t *testing.T, rng *rand.Rand, k kernel.Kernel, data *kernel.Operand, rest kerneltest.Operands, want table) {
	t.Helper()
	o := kerneltest.StridedOutput(rng, data.DType, 0, data.Shape...)
	if err := kerneltest.Run(rng, kernel.NewCopy(data.DType.Size()), kerneltest.Operands{data}, kerneltest.Operands{o}); err != nil {
		t.Fatal(err)
	}
	unharmed := kerneltest.Guard(o)
	if err := kerneltest.RunConcurrently(rng, k, append(kerneltest.Operands{o}, rest...), kerneltest.Operands{o}); err != nil {
		t.Fatal(err)
	}
	if err := unharmed(); err != nil {
		t.Fatal(err)
	}
	if got := tableOf(o); !slices.Equal(got.bits, want.bits) {
		t.Fatalf("%T in place on %v: wrong elements", k, data.Shape)
	}
}

func TestScatterNaN(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 4))
	nan := float32(math.NaN())
	for _, how := range []Reduction{ReductionMax, ReductionMin} {
		data := kerneltest.Of(dtype.Float32, []float32{nan, 1}, 2)
		idx := kerneltest.Of(dtype.Int64, []int64{0, 1}, 2)
		updates := kerneltest.Of(dtype.Float32, []float32{1, nan}, 2)
		out := kerneltest.Dense(dtype.Float32, 2)
		if err := kerneltest.Run(rng, newScatterElements(dtype.Float32, 0, how), kerneltest.Operands{data, idx, updates}, kerneltest.Operands{out}); err != nil {
			t.Fatal(err)
		}
		for i, v := range kerneltest.Values[float32](out) {
			if v == v {
				t.Errorf("combine %d: element %d is %v, want NaN", how, i, v)
			}
		}
	}
}

func BenchmarkScatterElements(b *testing.B) {
	rng := rand.New(rand.NewPCG(2, 5))
	const n = 1 << 16
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = rng.Int64N(n)
	}
	for _, axis := range []int{0, 1} {
		dims := []int{256, 256}
		in := kerneltest.Operands{kerneltest.Dense(dtype.Float32, dims...), kerneltest.Of(dtype.Int64, ids, dims...), kerneltest.Dense(dtype.Float32, dims...)}
		for i := range ids {
			ids[i] %= 256
		}
		copy(kernel.Slice[int64](in[1]), ids)
		b.Run([]string{"axis-0", "axis-1"}[axis], func(b *testing.B) {
			out := kerneltest.Dense(dtype.Float32, dims...)
			k := newScatterElements(dtype.Float32, axis, ReductionAdd)
			k.Bind(in, kerneltest.Operands{out})
			scratch := kernel.Alloc(k.Scratch())
			b.SetBytes(int64(len(out.Data)))
			for b.Loop() {
				for task := range k.Tasks() {
					if err := k.Run(task, scratch); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
