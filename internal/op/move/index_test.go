package move

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
)

func TestOneHot(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	for n := range 1500 {
		dt := anyType(rng)
		dims := kerneltest.Shape(rng, 3, 6)
		if n%500 == 0 { // several tasks
			dims = []int{60, 3, 70}
		}
		depth := kerneltest.Extent(rng, 9)
		axis := rng.IntN(len(dims) + 1)
		// Indices run beyond the depth on both sides.
		idx := indices(rng, func([]int) int { return depth + 2 }, dims...)
		values := kerneltest.StridedInput(rng, dt, 0, 2)
		want, x, v := newTable(slices.Insert(slices.Clone(dims), axis, depth)), tableOf(idx), tableOf(values)
		eachIndex(want.dims, func(i []int) {
			hot := wrap(x.indexOf(idx, slices.Delete(slices.Clone(i), axis, axis+1)), depth)
			if hot == i[axis] {
				want.set(i, v.bits[1])
			} else {
				want.set(i, v.bits[0])
			}
		})
		out := kerneltest.StridedOutput(rng, dt, 0, want.dims...)
		check(t, rng, newOneHot(dt.Size(), axis, depth), kerneltest.Operands{idx, values}, out, want)
	}
}

// Lines of no depth leave an output without storage, which is not to be touched.
func TestOneHotOfNoDepth(t *testing.T) {
	for _, axis := range []int{0, 1} {
		dims := slices.Insert([]int{3}, axis, 0)
		k := newOneHot(1, axis, 0)
		k.Bind(
			[]*kernel.Operand{
				{DType: dtype.Int64, Shape: []int{3}, Strides: []int{1}, Data: kernel.Bytes([]int64{0, 1, -1})},
				{DType: dtype.Bool, Shape: []int{2}, Strides: []int{1}, Data: []byte{0, 1}},
			},
			[]*kernel.Operand{{DType: dtype.Bool, Shape: dims, Strides: []int{1, 1}}})
		for task := range k.Tasks() {
			if err := k.Run(task, nil); err != nil {
				t.Errorf("axis %d: %v", axis, err)
			}
		}
	}
}

func TestTrilu(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	for n := range 1500 {
		dt := anyType(rng)
		dims := append(kerneltest.Shape(rng, 2, 5), kerneltest.Extent(rng, 7), kerneltest.Extent(rng, 7))
		if n%500 == 0 {
			dims = []int{30, 30, 40}
		}
		diagonal := rng.IntN(17) - 8
		if rng.IntN(20) == 0 {
			diagonal = []int{math.MinInt, math.MaxInt}[rng.IntN(2)]
		}
		upper := rng.IntN(2) == 0
		in := kerneltest.StridedInput(rng, dt, 0, dims...)
		want, d := newTable(dims), tableOf(in)
		eachIndex(dims, func(i []int) {
			off := i[len(i)-1] - i[len(i)-2]
			if upper && off >= diagonal || !upper && off <= diagonal {
				want.set(i, d.at(i))
			}
		})
		k := newTrilu(dt.Size(), upper, diagonal)
		check(t, rng, k, kerneltest.Operands{in}, kerneltest.StridedOutput(rng, dt, 0, dims...), want)
		inPlace(t, rng, k, in, nil, want)
	}
}

func TestReverseSequence(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 3))
	for n := range 1500 {
		dt := anyType(rng)
		dims := append(kerneltest.Shape(rng, 2, 5), kerneltest.Extent(rng, 7), kerneltest.Extent(rng, 7))
		if n%500 == 0 {
			dims = []int{30, 30, 40}
		}
		axes := rng.Perm(len(dims))
		batch, time := axes[0], axes[1]
		lens := make([]int64, dims[batch])
		for i := range lens {
			lens[i] = int64(rng.IntN(dims[time] + 1))
		}
		lengths := kerneltest.StridedOutput(rng, dtype.Int64, 0, dims[batch])
		set(lengths, lens)
		in := kerneltest.StridedInput(rng, dt, 0, dims...)
		want, d := newTable(dims), tableOf(in)
		eachIndex(dims, func(i []int) {
			from := slices.Clone(i)
			if n := int(lens[i[batch]]); i[time] < n {
				from[time] = n - 1 - i[time]
			}
			want.set(i, d.at(from))
		})
		out := kerneltest.StridedOutput(rng, dt, 0, dims...)
		check(t, rng, newReverseSequence(dt.Size(), batch, time), kerneltest.Operands{in, lengths}, out, want)
	}
	for _, bad := range []int64{-1, 4, math.MinInt64} {
		in, lengths := kerneltest.Dense(dtype.Int8, 2, 3), kerneltest.Of(dtype.Int64, []int64{1, bad}, 2)
		err := kerneltest.Run(rng, newReverseSequence(1, 0, 1), kerneltest.Operands{in, lengths}, kerneltest.Operands{kerneltest.Dense(dtype.Int8, 2, 3)})
		if err == nil || !strings.Contains(err.Error(), "sequence 1") {
			t.Errorf("length %d: error %v, want one that names sequence 1", bad, err)
		}
	}
}

func TestFill(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range kerneltest.Rounds(500) {
		dt := anyType(rng)
		dims := kerneltest.Shape(rng, 4, 7)
		value := kernel.Int64Scalar(rng.Int64N(100)).Cast(dt)
		want := newTable(dims)
		for i := range want.bits {
			want.bits[i] = value.Bits
		}
		check(t, rng, newFill(value), nil, kerneltest.StridedOutput(rng, dt, 0, dims...), want)
	}
}

func TestIota(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	for _, dt := range dtype.All() {
		if dt == dtype.Bool || dt.IsLowPrecision() {
			continue
		}
		for _, n := range []int{0, 1, 7, 40000} {
			start, delta := kernel.Int64Scalar(rng.Int64N(200)-100).Cast(dt), kernel.Int64Scalar(rng.Int64N(7)-3).Cast(dt)
			want := newTable([]int{n})
			for i := range want.bits {
				if dt.IsFloat() {
					want.bits[i] = kernel.Float64Scalar(start.Float64() + delta.Float64()*float64(i)).Cast(dt).Bits
				} else {
					want.bits[i] = kernel.Int64Scalar(start.Int64() + delta.Int64()*int64(i)).Cast(dt).Bits
				}
			}
			check(t, rng, newIota(start, delta), nil, kerneltest.StridedOutput(rng, dt, 0, n), want)
		}
	}
}

func TestEye(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 6))
	for n := range 500 {
		dt := anyType(rng)
		dims := []int{kerneltest.Extent(rng, 7), kerneltest.Extent(rng, 7)}
		if n%250 == 0 {
			dims = []int{130, 260}
		}
		diagonal := rng.IntN(15) - 7
		if rng.IntN(20) == 0 {
			diagonal = []int{math.MinInt, math.MaxInt}[rng.IntN(2)]
		}
		one := kernel.BoolScalar(true).Cast(dt)
		want := newTable(dims)
		eachIndex(dims, func(i []int) {
			if i[1]-i[0] == diagonal {
				want.set(i, one.Bits)
			}
		})
		check(t, rng, newEye(one, diagonal), nil, kerneltest.StridedOutput(rng, dt, 0, dims...), want)
	}
}
