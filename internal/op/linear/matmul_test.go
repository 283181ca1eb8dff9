package linear

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/race"
)

// matMulReference is NumPy's matmul of dense operands, as plain loops.
func matMulReference[N kerneltest.Ring](a, b []N, sa, sb, so []int) []N {
	m, n := 1, 1
	batch := slices.Clone(so)
	if len(sb) > 1 {
		n = sb[len(sb)-1]
		batch = batch[:len(batch)-1]
	}
	if len(sa) > 1 {
		m = sa[len(sa)-2]
		batch = batch[:len(batch)-1]
	}
	k := sa[len(sa)-1]
	var out []N
	var nest func(axis int, index []int)
	nest = func(axis int, index []int) {
		if axis < len(batch) {
			for i := range batch[axis] {
				nest(axis+1, append(index, i))
			}
			return
		}
		ba, bb := batchOf(index, sa), batchOf(index, sb)
		for i := range m {
			for j := range n {
				var sum N
				for p := range k {
					sum += a[(ba*m+i)*k+p] * b[(bb*k+p)*n+j]
				}
				out = append(out, sum)
			}
		}
	}
	nest(0, nil)
	return out
}

// batchOf returns the number of the matrix that a broadcast batch index means
// in an operand of the given shape.
func batchOf(index, dims []int) int {
	outer := dims[:max(len(dims)-2, 0)]
	index = index[len(index)-len(outer):]
	at := 0
	for i, d := range outer {
		at *= d
		if d != 1 {
			at += index[i]
		}
	}
	return at
}

// anExtent is mostly small, now and then one that takes several tiles.
func anExtent(rng *rand.Rand) int {
	if rng.IntN(8) == 0 {
		return 1 + rng.IntN(100)
	}
	return kerneltest.Extent(rng, 12)
}

func matMulShapes(rng *rand.Rand) (a, b, out []int) {
	m, n, k := anExtent(rng), anExtent(rng), anExtent(rng)
	if rng.IntN(6) == 0 {
		k = 200 + rng.IntN(400) // several blocks of terms
	}
	for range rng.IntN(3) {
		d := kerneltest.Extent(rng, 4)
		out = append(out, d)
		da, db := d, d
		switch rng.IntN(4) {
		case 0:
			da = 1
		case 1:
			db = 1
		}
		if len(a) > 0 || da != 1 || rng.IntN(2) == 0 {
			a = append(a, da)
		}
		if len(b) > 0 || db != 1 || rng.IntN(2) == 0 {
			b = append(b, db)
		}
	}
	if len(a) < len(out) && len(b) < len(out) {
		a = append(slices.Repeat([]int{1}, len(out)-len(a)), a...)
	}
	if len(a) > 0 || rng.IntN(5) > 0 {
		a, out = append(a, m), append(out, m)
	}
	a = append(a, k)
	if b = append(b, k); len(b) > 1 || rng.IntN(5) > 0 {
		b, out = append(b, n), append(out, n)
	}
	return a, b, out
}

func TestMatMul(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for i := range kerneltest.Rounds(800) {
		dt := kerneltest.NumberTypes[i%len(kerneltest.NumberTypes)]
		if i%3 == 0 {
			dt = dtype.Float32
		}
		sa, sb, so := matMulShapes(rng)
		in := []*kernel.Operand{kerneltest.StridedInput(rng, dt, 0, sa...), kerneltest.StridedInput(rng, dt, 0, sb...)}
		out := kerneltest.StridedOutput(rng, dt, min(1, len(so)), so...)
		agrees := kerneltest.WantSums(dt, sa[len(sa)-1], in, func(f [][]float64, n [][]int64) ([]float64, []int64) {
			if f != nil {
				return matMulReference(f[0], f[1], sa, sb, so), nil
			}
			return nil, matMulReference(n[0], n[1], sa, sb, so)
		})
		for set := range kerneltest.Sets() {
			k := newProduct(dt, params{})
			err := kerneltest.All(rng, k, in, []*kernel.Operand{out})
			if err == nil {
				err = agrees(out)
			}
			if err != nil {
				t.Fatalf("%s %v: %v%v by %v%v: %v", set, dt, sa, in[0].Strides, sb, in[1].Strides, err)
			}
			kerneltest.CheckAllocs(t, k, in, []*kernel.Operand{out})
		}
	}
}

// gemmReference is alpha·A·B + beta·C as plain loops; c may be nil.
func gemmReference[N kerneltest.Ring](a, b, c []N, sc []int, m, n, k int, alpha, beta N, transA, transB bool) []N {
	var out []N
	for i := range m {
		for j := range n {
			var sum N
			for p := range k {
				x, y := i*k+p, p*n+j
				if transA {
					x = p*m + i
				}
				if transB {
					y = j*k + p
				}
				sum += a[x] * b[y]
			}
			sum *= alpha
			if c != nil {
				at := 0
				if len(sc) > 1 && sc[0] > 1 {
					at += i * sc[1]
				}
				if len(sc) > 0 && sc[len(sc)-1] > 1 {
					at += j
				}
				sum += beta * c[at]
			}
			out = append(out, sum)
		}
	}
	return out
}

func TestGemm(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 2))
	for i := range kerneltest.Rounds(500) {
		dt := kerneltest.NumberTypes[i%len(kerneltest.NumberTypes)]
		m, n, k := anExtent(rng), anExtent(rng), anExtent(rng)
		transA, transB := rng.IntN(2) == 0, rng.IntN(2) == 0
		sa, sb := []int{m, k}, []int{k, n}
		if transA {
			sa = []int{k, m}
		}
		if transB {
			sb = []int{n, k}
		}
		sc := [][]int{nil, {}, {1}, {n}, {1, n}, {m, 1}, {m, n}, {1, 1}}[rng.IntN(8)]
		in := []*kernel.Operand{kerneltest.StridedInput(rng, dt, 0, sa...), kerneltest.StridedInput(rng, dt, 0, sb...), nil}
		if sc != nil {
			in[2] = kerneltest.StridedInput(rng, dt, 0, sc...)
		}
		alpha, beta := float64(rng.IntN(7)-3), float64(rng.IntN(7)-3)
		if dt.IsFloat() { // positive, so that magnitudes bound the result
			alpha, beta = math.Abs(alpha)+0.25, math.Abs(beta)+0.5
		}
		g := Gemm{Alpha: alpha, Beta: beta, TransA: transA, TransB: transB}
		types := make([]graph.Type, len(in))
		for i, o := range in {
			if o != nil {
				types[i] = graph.Type{DType: dt, Shape: o.Shape}
			}
		}
		out := kerneltest.StridedOutput(rng, dt, 1, m, n)
		agrees := kerneltest.WantSums(dt, k+4, in, func(f [][]float64, n64 [][]int64) ([]float64, []int64) {
			if f != nil {
				return gemmReference(f[0], f[1], f[2], sc, m, n, k, alpha, beta, transA, transB), nil
			}
			return nil, gemmReference(n64[0], n64[1], n64[2], sc, m, n, k, int64(alpha), int64(beta), transA, transB)
		})
		for set := range kerneltest.Sets() {
			kern := g.Kernel(types, nil)
			outs := []*kernel.Operand{out}
			check := func(how string, bound []*kernel.Operand) {
				t.Helper()
				err := kerneltest.All(rng, kern, bound, outs)
				if err == nil {
					err = agrees(out)
				}
				if err != nil {
					t.Fatalf("%s %v %s: %v by %v plus %v, transposed %v %v, alpha %v beta %v: %v", set, dt, how, sa, sb, sc, transA, transB, alpha, beta, err)
				}
			}
			check("as is", in)
			kerneltest.CheckAllocs(t, kern, in, outs)
			plain := kerneltest.Bytes(out)
			if without := kerneltest.Prepack(kern, in, outs, 1); without != nil {
				check("prepacked", without)
				if !bytes.Equal(plain, kerneltest.Bytes(out)) {
					t.Fatalf("%s %v: %v by %v: prepacking b changes the result", set, dt, sa, sb)
				}
				kerneltest.CheckAllocs(t, kern, without, outs)
			}
		}
	}
}

// TestRowsDoNotDependOnEachOther compares the first rows of a product with a
// product of these rows alone, and the same for a batch of products.
func TestRowsDoNotDependOnEachOther(t *testing.T) {
	race.SkipSequential(t)
	rng := rand.New(rand.NewPCG(3, 3))
	const most = 600 // more than are read in place
	for _, dt := range []dtype.Type{dtype.Float32, dtype.Float64} {
		for _, shape := range [][2]int{{1, 700}, {10, 300}, {33, 257}, {100, 64}, {530, 30}} {
			n, k := shape[0], shape[1]
			for _, transB := range []bool{false, true} {
				a := kerneltest.Dense(dt, most, k)
				b := kerneltest.Dense(dt, k, n)
				if transB {
					b = kerneltest.Dense(dt, n, k)
				}
				kerneltest.Randomize(rng, a)
				kerneltest.Randomize(rng, b)
				for set := range kerneltest.Sets() {
					kern := newProduct(dt, params{transB: transB})
					full := kerneltest.Dense(dt, most, n)
					if err := kerneltest.Run(rng, kern, []*kernel.Operand{a, b}, []*kernel.Operand{full}); err != nil {
						t.Fatal(err)
					}
					for _, prepacked := range []bool{false, true} {
						for _, rows := range []int{1, 2, 3, 5, 7, 12, 13, 24, 31, 64, 199} {
							few := *a
							few.Shape = []int{rows, k}
							out := kerneltest.Dense(dt, rows, n)
							in, outs := []*kernel.Operand{&few, b}, []*kernel.Operand{out}
							if prepacked {
								if in = kerneltest.Prepack(kern, in, outs, 1); in == nil {
									continue
								}
							}
							if err := kerneltest.Run(rng, kern, in, outs); err != nil {
								t.Fatal(err)
							}
							if !bytes.Equal(out.Data, full.Data[:len(out.Data)]) {
								t.Errorf("%s %v [%d %d] by %v (prepacked: %v): not the first rows of the product of %d rows", set, dt, rows, k, b.Shape, prepacked, most)
							}
						}
					}
				}
			}
		}
	}
}
