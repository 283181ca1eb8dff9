package move

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/shape"
)

// A table is the elements of an operand by their bits, in row-major order.
type table struct {
	dims []int
	bits []uint64
}

func tableOf(o *kernel.Operand) table {
	t := table{dims: o.Shape}
	w := o.DType.Size()
	for b := range slices.Chunk(kerneltest.Bytes(o), w) {
		var v uint64
		for i, x := range b {
			v |= uint64(x) << (8 * i)
		}
		t.bits = append(t.bits, v)
	}
	return t
}

func newTable(dims []int) table {
	return table{dims, make([]uint64, shape.Shape(dims).Elems())}
}

func (t table) place(index []int) int {
	at := 0
	for a, i := range index {
		if i < 0 || i >= t.dims[a] {
			panic(fmt.Sprintf("index %v of shape %v", index, t.dims))
		}
		at = at*t.dims[a] + i
	}
	return at
}

func (t table) at(index []int) uint64     { return t.bits[t.place(index)] }
func (t table) set(index []int, v uint64) { t.bits[t.place(index)] = v }

// indexOf returns an element of a table of indices as a number.
func (t table) indexOf(o *kernel.Operand, index []int) int {
	if o.DType == dtype.Int32 {
		return int(int32(t.at(index)))
	}
	return int(int64(t.at(index)))
}

// eachIndex calls f with every index of the shape, in row-major order.
func eachIndex(dims []int, f func(index []int)) {
	index := make([]int, len(dims))
	var nest func(axis int)
	nest = func(axis int) {
		if axis == len(dims) {
			f(slices.Clone(index))
			return
		}
		for index[axis] = range dims[axis] {
			nest(axis + 1)
		}
	}
	nest(0)
}

// check runs k in every way and compares its output with want.
func check(t *testing.T, rng *rand.Rand, k kernel.Kernel, in kerneltest.Operands, out *kernel.Operand, want table) {
	t.Helper()
	unharmed := kerneltest.Guard(out)
	if err := kerneltest.All(rng, k, in, kerneltest.Operands{out}); err != nil {
		t.Fatal(err)
	}
	if err := unharmed(); err != nil {
		t.Fatal(err)
	}
	got := tableOf(out)
	for i := range want.bits {
		if got.bits[i] != want.bits[i] {
			var shapes []string
			for _, o := range in {
				if o != nil {
					shapes = append(shapes, fmt.Sprintf("%v%v", o.DType, shape.Shape(o.Shape)))
				}
			}
			t.Fatalf("%T of %v into %v: element %d is %#x, want %#x", k, shapes, out.Shape, i, got.bits[i], want.bits[i])
		}
	}
	if rng.IntN(8) == 0 { // measuring takes long
		kerneltest.CheckAllocs(t, k, in, kerneltest.Operands{out})
	}
}

func anyType(rng *rand.Rand) dtype.Type { return dtype.All()[rng.IntN(len(dtype.All()))] }

// indices returns a strided operand of indices for an axis, negative ones
// among them; an extent of 0 allows no index.
func indices(rng *rand.Rand, extent func(index []int) int, dims ...int) *kernel.Operand {
	t := []dtype.Type{dtype.Int32, dtype.Int64}[rng.IntN(2)]
	o := kerneltest.StridedOutput(rng, t, 0, dims...)
	var values []int64
	eachIndex(dims, func(index []int) {
		n := extent(index)
		values = append(values, int64(rng.IntN(2*n)-n))
	})
	if t == dtype.Int64 {
		set(o, values)
		return o
	}
	narrow := make([]int32, len(values))
	for i, v := range values {
		narrow[i] = int32(v)
	}
	set(o, narrow)
	return o
}

func wrap(i, extent int) int {
	if i < 0 {
		return i + extent
	}
	return i
}

func TestGather(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 1000 {
		dt := anyType(rng)
		dims := append(kerneltest.Shape(rng, 3, 6), 1+rng.IntN(6))
		list := kerneltest.Shape(rng, 2, 6)
		if n%200 == 0 { // several tasks
			dims, list = []int{9, 40, 7}, []int{17, 20}
		}
		axis := rng.IntN(len(dims))
		if dims[axis] == 0 {
			list = append(list, 0)
		}
		data := kerneltest.StridedInput(rng, dt, 0, dims...)
		idx := indices(rng, func([]int) int { return dims[axis] }, list...)
		want := newTable(slices.Concat(dims[:axis], list, dims[axis+1:]))
		d, x := tableOf(data), tableOf(idx)
		eachIndex(want.dims, func(i []int) {
			k := wrap(x.indexOf(idx, i[axis:axis+len(list)]), dims[axis])
			want.set(i, d.at(slices.Concat(i[:axis], []int{k}, i[axis+len(list):])))
		})
		out := kerneltest.StridedOutput(rng, dt, 0, want.dims...)
		check(t, rng, newGather(dt.Size(), axis), kerneltest.Operands{data, idx}, out, want)
	}
}

func TestGatherElements(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for n := range 1000 {
		dt := anyType(rng)
		dims := append(kerneltest.Shape(rng, 3, 6), 1+rng.IntN(6))
		if n%200 == 0 {
			dims = []int{60, 40, 50}
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
		want, d, x := newTable(list), tableOf(data), tableOf(idx)
		eachIndex(list, func(i []int) {
			from := slices.Clone(i)
			from[axis] = wrap(x.indexOf(idx, i), dims[axis])
			want.set(i, d.at(from))
		})
		out := kerneltest.StridedOutput(rng, dt, 0, list...)
		check(t, rng, newGatherElements(dt.Size(), axis), kerneltest.Operands{data, idx}, out, want)
	}
}

// tuples returns random index tuples into dims behind the batch axes.
func tuples(rng *rand.Rand, dims []int, batch, n int, list []int) *kernel.Operand {
	return indices(rng, func(i []int) int { return dims[batch+i[len(i)-1]] }, append(slices.Clone(list), n)...)
}

func TestGatherND(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 4))
	for i := range kerneltest.Rounds(1000) {
		dt := anyType(rng)
		dims := kerneltest.Shape(rng, 4, 6)
		more := kerneltest.Shape(rng, 2, 5)
		if i%200 == 0 {
			dims, more = []int{6, 8, 30}, []int{40, 7}
		}
		batch := rng.IntN(len(dims) + 1)
		n := rng.IntN(len(dims) - batch + 1)
		if i%200 == 0 {
			batch, n = rng.IntN(3), 1
		}
		list := append(slices.Clone(dims[:batch]), more...)
		if slices.Contains(dims[batch:batch+n], 0) {
			list = append(list, 0)
		}
		data := kerneltest.StridedInput(rng, dt, 0, dims...)
		idx := tuples(rng, dims, batch, n, list)
		want, d, x := newTable(slices.Concat(list, dims[batch+n:])), tableOf(data), tableOf(idx)
		eachIndex(want.dims, func(i []int) {
			from := slices.Clone(i[:batch])
			for j := range n {
				from = append(from, wrap(x.indexOf(idx, append(slices.Clone(i[:len(list)]), j)), dims[batch+j]))
			}
			want.set(i, d.at(append(from, i[len(list):]...)))
		})
		out := kerneltest.StridedOutput(rng, dt, 0, want.dims...)
		check(t, rng, newGatherND(dt.Size(), batch), kerneltest.Operands{data, idx}, out, want)
	}
}

func TestIndexOutOfRange(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	data := kerneltest.Dense(dtype.Float32, 2, 3)
	empty := kerneltest.Dense(dtype.Float32, 0)
	for _, bad := range []int32{3, -4, 1 << 30, -1 << 31} {
		idx := kerneltest.Of(dtype.Int32, []int32{0, bad}, 1, 2)
		tuple := kerneltest.Of(dtype.Int32, []int32{0, bad}, 2)
		one := kerneltest.Of(dtype.Int32, []int32{bad}, 1)
		for _, c := range []struct {
			k    kernel.Kernel
			in   kerneltest.Operands
			dims []int
			want string
		}{
			{newGather(4, 1), kerneltest.Operands{data, idx}, []int{2, 1, 2}, "axis 1, which has 3 elements"},
			{newGatherElements(4, 1), kerneltest.Operands{data, idx}, []int{1, 2}, "axis 1, which has 3 elements"},
			{newGatherND(4, 0), kerneltest.Operands{data, tuple}, nil, "axis 1, which has 3 elements"},
			{newScatterElements(dtype.Float32, 1, ReductionNone), kerneltest.Operands{data, idx, kerneltest.Dense(dtype.Float32, 1, 2)}, []int{2, 3}, "axis 1, which has 3 elements"},
			{newScatterElements(dtype.Float16, 0, ReductionAdd), kerneltest.Operands{kerneltest.Dense(dtype.Float16, 3), one, kerneltest.Dense(dtype.Float16, 1)}, []int{3}, "axis 0, which has 3 elements"},
			{newScatterND(dtype.Float32, ReductionMax), kerneltest.Operands{data, tuple, kerneltest.Dense(dtype.Float32)}, []int{2, 3}, "axis 1, which has 3 elements"},
			{newScatterND(dtype.Float32, ReductionNone), kerneltest.Operands{empty, one, kerneltest.Dense(dtype.Float32)}, []int{0}, "axis 0, which has 0 elements"},
			{newScatterElements(dtype.Float32, 0, ReductionNone), kerneltest.Operands{empty, one, kerneltest.Dense(dtype.Float32, 1)}, []int{0}, "axis 0, which has 0 elements"},
		} {
			out := kerneltest.Dense(c.in[0].DType, c.dims...)
			err := kerneltest.Run(rng, c.k, c.in, kerneltest.Operands{out})
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("index %d ", bad)) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%T with index %d: error %v, want one with the index and %q", c.k, bad, err, c.want)
			}
		}
	}
}

func BenchmarkGather(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 6))
	const n = 1 << 16
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = rng.Int64N(1000)
	}
	idx := kerneltest.Of(dtype.Int64, ids, n)
	for _, width := range []int{1, 4, 64} {
		b.Run(fmt.Sprintf("rows-of-%d", width), func(b *testing.B) {
			data, out := kerneltest.Dense(dtype.Float32, 1000, width), kerneltest.Dense(dtype.Float32, n, width)
			k := newGather(4, 0)
			k.Bind(kerneltest.Operands{data, idx}, kerneltest.Operands{out})
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

// set writes values, in row-major order, over the elements of o.
func set[T any](o *kernel.Operand, values []T) {
	data := kernel.Slice[T](o)
	kerneltest.ForEachIndex(o.Shape, func(index []int) {
		at := o.Offset
		for axis, i := range index {
			at += i * o.Strides[axis]
		}
		data[at], values = values[0], values[1:]
	})
}
