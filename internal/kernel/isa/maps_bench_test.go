package isa

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth/internal/kernel"
)

// BenchmarkMaps runs each loop over elements of float32 in the first-level cache.
func BenchmarkMaps(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 7))
	const n = 2048
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64() * 3)
	}
	y, p := make([]float32, n), &[2]float64{1, 1}
	for _, s := range Sets() {
		names := make(map[string]bool)
		for k := range s.Maps {
			names[k.Function] = true
		}
		for _, name := range slices.Sorted(maps.Keys(names)) {
			loop := s.Maps[MapKey{name, 32, 0}]
			b.Run(fmt.Sprintf("%s/%s", s.Name, name), func(b *testing.B) {
				b.SetBytes(4 * n)
				for b.Loop() {
					loop(kernel.Bytes(y), kernel.Bytes(x), kernel.Bytes(x), kernel.Bytes(x), p)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/elem")
			})
		}
	}
}
