package pack

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// networkTrace resembles the trace of a deep network: mostly short lives, some long
// ones, sizes over several orders of magnitude.
func networkTrace(n int, seed uint64) []Buffer {
	rng := rand.New(rand.NewPCG(seed, 1))
	buffers := make([]Buffer, n)
	for i := range buffers {
		life := 1 + rng.Int64N(20)
		if rng.IntN(20) == 0 {
			life = 1 + rng.Int64N(2000)
		}
		start := rng.Int64N(int64(n))
		size := int64(256) << rng.IntN(12)
		buffers[i] = Buffer{ID: fmt.Sprint(i), Start: start, End: start + life, Size: size * (1 + rng.Int64N(7)), Align: 256}
	}
	return buffers
}

func BenchmarkScale(b *testing.B) {
	for _, strategy := range []Strategy{FirstFit, Greedy, Auto} {
		for _, n := range []int{10_000, 60_000, 100_000, 1_000_000} {
			b.Run(fmt.Sprintf("%s/%d", strategy, n), func(b *testing.B) {
				buffers := networkTrace(n, 1)
				var pl *Placement
				for b.Loop() {
					var err error
					if pl, err = Place(context.Background(), buffers, &Options{Strategy: strategy}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(pl.Arena)/float64(pl.LowerBound), "arena/bound")
			})
		}
	}
}

func BenchmarkLowerBound(b *testing.B) {
	buffers := networkTrace(100_000, 1)
	for b.Loop() {
		LowerBound(buffers)
	}
}

// BenchmarkCapacity is the published challenge: each instance within 1 MiB.
func BenchmarkCapacity(b *testing.B) {
	for _, in := range sharedInstances(b, "minimalloc/challenging/*.csv") {
		b.Run(in.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Place(context.Background(), in.buffers, &Options{Capacity: 1 << 20}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkDeadline reports how close to the lower bound a deadline gets.
func BenchmarkDeadline(b *testing.B) {
	instances := append(sharedInstances(b, "minimalloc/challenging/*.csv"), sharedInstances(b, "large/*.csv")...)
	for _, d := range []time.Duration{50 * time.Millisecond, time.Second} {
		for _, in := range instances {
			b.Run(fmt.Sprintf("%v/%s", d, in.name), func(b *testing.B) {
				var pl *Placement
				for b.Loop() {
					ctx, cancel := context.WithTimeout(context.Background(), d)
					pl, _ = Place(ctx, in.buffers, nil)
					cancel()
				}
				b.ReportMetric(float64(pl.Arena)/float64(pl.LowerBound), "arena/bound")
			})
		}
	}
}
