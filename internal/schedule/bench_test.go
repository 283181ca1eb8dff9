package schedule

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkOrders reports how the time to choose orders grows with the steps,
// and the peak of the best in terms of that of the seed.
func BenchmarkOrders(b *testing.B) {
	for _, kind := range kinds {
		for _, n := range []int{1e3, 1e4, 1e5} {
			if kind == "scattered" && n > 1e4 {
				continue // making it is quadratic
			}
			p := random(rand.New(rand.NewPCG(1, 1)), kind, n, largeSizes)
			b.Run(fmt.Sprintf("%s/%d", kind, n), func(b *testing.B) { benchmark(b, p) })
		}
	}
}

// BenchmarkRandomlyWired does the same for published networks, which only the
// beam search orders well.
func BenchmarkRandomlyWired(b *testing.B) {
	for seed := range uint64(4) {
		p := randomlyWired(rand.New(rand.NewPCG(seed, 1)))
		b.Run(fmt.Sprint(seed), func(b *testing.B) { benchmark(b, p) })
	}
}

func benchmark(b *testing.B, p *Problem) {
	seed := float64(Peak(p, p.seed()))
	for b.Loop() {
		orders, err := Orders(b.Context(), p)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(orders[0].Peak)/seed, "of-seed")
	}
}
