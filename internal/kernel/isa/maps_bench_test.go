package isa

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth/internal/kernel"
)

// BenchmarkMaps runs each loop over elements of float32 in the first-level cache: over some
// about 0, and over far ones, where exponentials come to 0.
func BenchmarkMaps(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 7))
	const n = 2048
	x, far := make([]float32, n), make([]float32, n)
	for i := range x {
		x[i], far[i] = float32(rng.NormFloat64()*3), -200-float32(i)
	}
	y, p := make([]float32, n), &[2]float64{1, 1}
	for _, s := range Sets() {
		names := make(map[string]bool)
		for k := range s.Maps {
			names[k.Function] = true
		}
		for _, name := range slices.Sorted(maps.Keys(names)) {
			loop := s.Maps[MapKey{name, 32, 0}]
			for _, from := range []struct {
				name string
				x    []float32
			}{{"near", x}, {"far", far}} {
				b.Run(fmt.Sprintf("%s/%s/%s", s.Name, name, from.name), func(b *testing.B) {
					b.SetBytes(4 * n)
					for b.Loop() {
						loop(kernel.Bytes(y), kernel.Bytes(from.x), kernel.Bytes(x), kernel.Bytes(x), p)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/elem")
				})
			}
		}
	}
}
