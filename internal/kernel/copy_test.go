package kernel_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/shape"
)

func TestCopy(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range kerneltest.Rounds(3000) {
		dt := dtype.All()[rng.IntN(len(dtype.All()))]
		limit := 7
		if rng.IntN(50) == 0 {
			limit = 40 // several blocks, strips of eight and what is left over
		}
		dims := kerneltest.Shape(rng, 5, limit)
		if shape.Shape(dims).Elems() > 1<<16 {
			continue
		}
		in := kerneltest.StridedInput(rng, dt, 0, dims...)
		out := kerneltest.StridedOutput(rng, dt, 0, dims...)
		checkCopy(t, rng, in, out)
	}
}

func TestCopyToAnotherShape(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for range kerneltest.Rounds(3000) {
		dims := kerneltest.Shape(rng, 4, 7)
		in := kerneltest.StridedInput(rng, dtype.Uint16, rng.IntN(len(dims)+1), dims...)
		to := regroup(rng, shape.Shape(dims).Elems())
		out := kerneltest.StridedOutput(rng, dtype.Uint16, rng.IntN(len(to)+1), to...)
		checkCopy(t, rng, in, out)
	}
}

// regroup returns a random shape with n elements.
func regroup(rng *rand.Rand, n int) []int {
	var dims []int
	for n > 1 {
		d := 1 + rng.IntN(min(n, 12))
		if n%d == 0 {
			dims = append(dims, d)
			n /= d
		}
	}
	if n == 0 {
		dims = append(dims, 3, 0, 2)
	}
	return dims
}

func checkCopy(t *testing.T, rng *rand.Rand, in, out *kernel.Operand) {
	t.Helper()
	if err := kerneltest.All(rng, kernel.NewCopy(in.DType.Size()), kerneltest.Operands{in}, kerneltest.Operands{out}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(kerneltest.Bytes(in), kerneltest.Bytes(out)) {
		t.Fatalf("%v copied from %v%+d to %v%+d: wrong elements", shape.Shape(in.Shape), in.Strides, in.Offset, out.Strides, out.Offset)
	}
}

func TestCopyLargeTranspose(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, dims := range [][]int{{140, 267}, {2, 130, 259}, {20, 3, 300}} {
		for _, perm := range [][]int{{1, 0, 2}, {2, 1, 0}, {0, 2, 1}, {2, 0, 1}} {
			perm = slices.DeleteFunc(slices.Clone(perm), func(p int) bool { return p >= len(dims) })
			o := kerneltest.Dense(dtype.Float32, dims...)
			kerneltest.Randomize(rng, o)
			l, err := shape.Layout{Shape: o.Shape, Strides: o.Strides}.Permute(perm)
			if err != nil {
				t.Fatal(err)
			}
			in := &kernel.Operand{DType: o.DType, Shape: l.Shape, Strides: l.Strides, Data: o.Data}
			checkCopy(t, rng, in, kerneltest.Dense(dtype.Float32, l.Shape...))
			checkCopy(t, rng, o, &kernel.Operand{DType: o.DType, Shape: dims, Strides: permuted(l, perm), Data: kernel.Alloc(len(o.Data))})
		}
	}
}

// permuted returns the strides that make a dense tensor of l's shape appear
// with the axes that perm has put in another order.
func permuted(l shape.Layout, perm []int) []int {
	dense := shape.Dense(l.Shape)
	strides := make([]int, len(perm))
	for i, p := range perm {
		strides[p] = dense.Strides[i]
	}
	return strides
}

func TestCopyOntoItself(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	o := kerneltest.StridedOutput(rng, dtype.Int32, 0, 5, 6, 7)
	before := slices.Clone(o.Data)
	if err := kerneltest.Run(rng, kernel.NewCopy(4), kerneltest.Operands{o}, kerneltest.Operands{o}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(before, o.Data) {
		t.Error("copying an operand onto itself changed it")
	}
}

func TestCopyAllocs(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 50 {
		dims := kerneltest.Shape(rng, 5, 9)
		in := kerneltest.StridedInput(rng, dtype.Float32, 0, dims...)
		out := kerneltest.StridedOutput(rng, dtype.Float32, 0, dims...)
		kerneltest.CheckAllocs(t, kernel.NewCopy(4), kerneltest.Operands{in}, kerneltest.Operands{out})
		flat := kerneltest.StridedOutput(rng, dtype.Float32, 0, shape.Shape(dims).Elems())
		kerneltest.CheckAllocs(t, kernel.NewCopy(4), kerneltest.Operands{in}, kerneltest.Operands{flat})
	}
}

func BenchmarkCopy(b *testing.B) {
	const n = 1024
	dense := kerneltest.Dense(dtype.Float32, n, n)
	transposed := &kernel.Operand{DType: dtype.Float32, Shape: []int{n, n}, Strides: []int{1, n}, Data: dense.Data}
	sliced := kerneltest.Dense(dtype.Float32, n, 2*n)
	sliced.Shape = []int{n, n}
	channels := &kernel.Operand{DType: dtype.Float32, Shape: []int{n * n / 4, 4}, Strides: []int{1, n * n / 4}, Data: dense.Data}
	every := kerneltest.Dense(dtype.Float32, n, n, 2)
	every.Shape, every.Strides = []int{n, n}, []int{2 * n, 2}
	for _, c := range []struct {
		name string
		in   *kernel.Operand
	}{{"dense", dense}, {"rows", sliced}, {"transpose", transposed}, {"to-channels-last", channels}, {"every-second", every}} {
		b.Run(c.name, func(b *testing.B) {
			out := kerneltest.Dense(dtype.Float32, c.in.Shape...)
			k := kernel.NewCopy(4)
			k.Bind(kerneltest.Operands{c.in}, kerneltest.Operands{out})
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
	b.Run("memmove", func(b *testing.B) {
		out := make([]byte, len(dense.Data))
		b.SetBytes(int64(len(out)))
		for b.Loop() {
			copy(out, dense.Data)
		}
	})
}

func ExampleNewCopy() {
	in := kerneltest.Of(dtype.Int32, []int32{1, 2, 3, 4, 5, 6}, 2, 3)
	in.Shape, in.Strides = []int{3, 2}, []int{1, 3}
	out := kerneltest.Dense(dtype.Int32, 3, 2)
	k := kernel.NewCopy(4)
	k.Bind(kerneltest.Operands{in}, kerneltest.Operands{out})
	for task := range k.Tasks() {
		if err := k.Run(task, make([]byte, k.Scratch())); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(kernel.Slice[int32](out))
	// Output: [1 4 2 5 3 6]
}
