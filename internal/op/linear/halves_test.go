package linear

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
)

// TestHalves: a product with halves on the right has the bits of that with the same numbers in
// float32, prepacked or not, whatever lies how, and takes half the memory prepacked.
func TestHalves(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	for _, half := range []dtype.Type{dtype.Float16, dtype.BFloat16} {
		for _, c := range []struct {
			a, b   []int
			transB bool
		}{
			{[]int{1, 300}, []int{300, 70}, false},
			{[]int{1, 200}, []int{200, 333}, false},
			{[]int{1, 333}, []int{70, 333}, true},
			{[]int{5, 17}, []int{17, 33}, false},
			{[]int{5, 257}, []int{40, 257}, true},
			{[]int{130, 600}, []int{600, 31}, false},
			{[]int{600, 64}, []int{500, 64}, true},
			{[]int{3, 1}, []int{1, 2}, false},
			{[]int{40, 9}, []int{9, 1}, false},
			{[]int{9}, []int{9, 40}, false},
			{[]int{2, 3, 7, 20}, []int{20, 35}, false},
			{[]int{2, 3, 7, 20}, []int{3, 20, 35}, false},
			{[]int{4, 0}, []int{0, 5}, false},
			{[]int{0, 4}, []int{4, 5}, false},
		} {
			for set := range kerneltest.Sets() {
				a, b := kerneltest.StridedInput(rng, dtype.Float32, 0, c.a...), kerneltest.StridedInput(rng, half, 0, c.b...)
				wide := &kernel.Operand{DType: dtype.Float32, Shape: b.Shape, Strides: b.Strides, Offset: b.Offset, Data: kernel.Alloc(2 * len(b.Data))}
				kernel.Widening(half)(wide.Data, b.Data)
				out := graph.Type{DType: dtype.Float32}
				if !c.transB {
					types, err := MatMul{}.Infer([]graph.Type{{DType: dtype.Float32, Shape: c.a}, {DType: half, Shape: c.b}})
					if err != nil {
						t.Fatal(err)
					}
					out = types[0]
				} else {
					out.Shape = []int{c.a[0], c.b[0]}
				}
				want, got := kerneltest.Dense(dtype.Float32, out.Shape...), kerneltest.Dense(dtype.Float32, out.Shape...)
				run := func(k kernel.Kernel, in []*kernel.Operand, out *kernel.Operand) {
					t.Helper()
					if err := kerneltest.Run(rng, k, in, []*kernel.Operand{out}); err != nil {
						t.Fatal(err)
					}
				}
				plain := newProduct(dtype.Float32, params{transB: c.transB})
				run(plain, []*kernel.Operand{a, wide}, want)
				k := newProduct(dtype.Float32, params{transB: c.transB, half: half})
				in, outs := []*kernel.Operand{a, b}, []*kernel.Operand{got}
				run(k, in, got)
				check := func(how string) {
					t.Helper()
					for i, w := range kernel.Slice[float32](want) {
						if g := kernel.Slice[float32](got)[i]; math.Float32bits(g) != math.Float32bits(w) && (g == g || w == w) {
							t.Fatalf("%s %v: %v by %v %s: element %d is %v, want %v", set, half, c.a, c.b, how, i, g, w)
						}
					}
				}
				check("as they lie")
				kerneltest.CheckAllocs(t, k, in, outs)
				whole := kernel.Prepacker(plain.(*matMul[float32])).PrepackedBytes(1)
				if size := k.(kernel.Prepacker).PrepackedBytes(1); 2*size != whole && whole > 0 {
					t.Errorf("%s %v: %v by %v: %d bytes prepacked, of float32 %d", set, half, c.a, c.b, size, whole)
				}
				if without := kerneltest.Prepack(k, in, outs, 1); without != nil {
					clear(got.Data)
					run(k, without, got)
					check("prepacked")
					kerneltest.CheckAllocs(t, k, without, outs)
				}
			}
		}
	}
}

// TestGemmHalves: alpha and the addend of a Gemm beside halves.
func TestGemmHalves(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 7))
	a, b, c := kerneltest.StridedInput(rng, dtype.Float32, 1, 6, 30), kerneltest.StridedInput(rng, dtype.Float16, 1, 30, 50), kerneltest.StridedInput(rng, dtype.Float32, 1, 50)
	wide := &kernel.Operand{DType: dtype.Float32, Shape: b.Shape, Strides: b.Strides, Offset: b.Offset, Data: kernel.Alloc(2 * len(b.Data))}
	kernel.Widening(dtype.Float16)(wide.Data, b.Data)
	g := Gemm{Alpha: 0.5, Beta: 2}
	var results [][]byte
	for _, right := range []*kernel.Operand{b, wide} {
		in := []graph.Type{{DType: dtype.Float32, Shape: a.Shape}, {DType: right.DType, Shape: b.Shape}, {DType: dtype.Float32, Shape: c.Shape}}
		types, err := g.Infer(in)
		if err != nil {
			t.Fatal(err)
		}
		out := kerneltest.Dense(dtype.Float32, types[0].Shape...)
		if err := kerneltest.Run(rng, g.Kernel(in, types), []*kernel.Operand{a, right, c}, []*kernel.Operand{out}); err != nil {
			t.Fatal(err)
		}
		results = append(results, out.Data)
	}
	if !bytes.Equal(results[0], results[1]) {
		t.Error("halves change the result")
	}
}
