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
			for _, budget := range []int64{-1, 0} {
				name := "default"
				if budget < 0 {
					name = "none"
				}
				b.Run(fmt.Sprintf("%s/%d/budget=%s", kind, n, name), func(b *testing.B) {
					seed := float64(Peak(p, p.seed()))
					for b.Loop() {
						orders, err := Orders(b.Context(), p, &Options{Budget: budget})
						if err != nil {
							b.Fatal(err)
						}
						b.ReportMetric(float64(orders[0].Peak)/seed, "of-seed")
					}
				})
			}
		}
	}
}

// BenchmarkSearch reports how many graphs of a kind and size the search proves
// an optimal order for, of ten.
func BenchmarkSearch(b *testing.B) {
	for _, kind := range kinds {
		for _, n := range []int{30, 60, 120, 250} {
			b.Run(fmt.Sprintf("%s/%d", kind, n), func(b *testing.B) {
				for b.Loop() {
					proven := 0.0
					for seed := range uint64(10) {
						p := random(rand.New(rand.NewPCG(seed, 3)), kind, n, largeSizes)
						orders, err := Orders(b.Context(), p, nil)
						if err != nil {
							b.Fatal(err)
						}
						if orders[0].Optimal {
							proven++
						}
					}
					b.ReportMetric(proven, "proven")
				}
			})
		}
	}
}
