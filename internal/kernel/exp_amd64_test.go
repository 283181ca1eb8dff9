//go:build !purego

package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"golang.org/x/sys/cpu"
)

// TestExp32Vectors: the vector forms give the same bits as exp64, for every
// kind of float32.
func TestExp32Vectors(t *testing.T) {
	type form = func(dst, src *float32, n int, shift *float32, constants *float64)
	forms := map[string][2]form{}
	if cpu.X86.HasAVX512F {
		forms["avx512"] = [2]form{exp32RowAVX512, exp32TileAVX512}
	}
	if cpu.X86.HasAVX2 {
		forms["avx2"] = [2]form{exp32RowAVX2, exp32TileAVX2}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 1 << 12
	x, shift, got := make([]float32, n+1), make([]float32, n), make([]float32, n+1)
	for range 50 {
		for i := range n {
			x[i], shift[i] = float32(rng.NormFloat64()*40), float32(rng.NormFloat64())
			if rng.IntN(8) == 0 {
				x[i] = math.Float32frombits(rng.Uint32()) // any number, NaN or infinity
			}
		}
		for name, f := range forms {
			for tile, f := range f {
				got[n] = 7
				size := 8 * (1 + rng.IntN(n/8))
				f(&got[0], &x[0], size, &shift[0], &expConstants[0])
				for i := range size {
					m := shift[i*tile]
					want := float32(exp64(float64(x[i]) - float64(m)))
					if math.Float32bits(got[i]) != math.Float32bits(want) && (got[i] == got[i] || want == want) {
						t.Fatalf("%s, tile %d: exp(%v - %v) is %v, exp64 gives %v", name, tile, x[i], m, got[i], want)
					}
				}
				if got[n] != 7 {
					t.Fatalf("%s, tile %d: wrote beyond the end", name, tile)
				}
			}
		}
	}
}

// TestExpChunkVectors: the vector forms give the same bits as exp64, for
// numbers of any size.
func TestExpChunkVectors(t *testing.T) {
	forms := map[string]func(x *float64, n int, constants *float64){}
	if cpu.X86.HasAVX512F {
		forms["avx512"] = expChunkAVX512
	}
	if cpu.X86.HasAVX2 {
		forms["avx2"] = expChunkAVX2
	}
	rng := rand.New(rand.NewPCG(1, 3))
	const n = 1 << 12
	x, got := make([]float64, n+1), make([]float64, n+1)
	edges := []float64{0, math.Copysign(0, -1), ExpRange, -ExpRange, math.Inf(1), math.Inf(-1), math.NaN(),
		math.Nextafter(ExpRange, 400), math.Nextafter(-ExpRange, -400), math.MaxFloat64, -math.MaxFloat64}
	for range 50 {
		for i := range n {
			switch x[i] = rng.NormFloat64() * 150; rng.IntN(8) {
			case 0:
				x[i] = math.Float64frombits(rng.Uint64())
			case 1:
				x[i] = edges[rng.IntN(len(edges))]
			}
		}
		for name, f := range forms {
			copy(got, x)
			got[n] = 7
			size := 8 * (1 + rng.IntN(n/8))
			f(&got[0], size, &expConstants[0])
			for i, v := range x[:size] {
				want := exp64(v)
				if math.Float64bits(got[i]) != math.Float64bits(want) && (got[i] == got[i] || want == want) {
					t.Fatalf("%s: exp(%v) is %v, exp64 gives %v", name, v, got[i], want)
				}
			}
			for i, v := range x[size:n] {
				if math.Float64bits(got[size+i]) != math.Float64bits(v) {
					t.Fatalf("%s: wrote element %d of %d", name, size+i, size)
				}
			}
		}
	}
}
