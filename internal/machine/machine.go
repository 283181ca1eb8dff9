// Package machine measures what a processor and its memory can do, for others to be
// compared with.
package machine

import (
	"sync"
	"time"

	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
)

// Peaks are the most that a machine was seen to do with a number of threads.
type Peaks struct {
	Products float64 // of float32, added up, a second: those of operands in the first-level cache
	Bytes    float64 // copied a second, read and written each counted
}

const (
	depth  = 64       // of the product
	rounds = 5        // of which the best counts
	region = 32 << 20 // bytes that each thread copies: more than caches hold
)

// Measure returns the peaks of that many threads. It takes about a tenth of a second.
func Measure(threads int) Peaks {
	tile := isa.TileOf[float32]()
	times := 1 << 26 / (tile.Rows * tile.Cols * depth)
	multiply := func() func() {
		a, b := aligned[float32](tile.Rows*depth), aligned[float32](tile.Cols*depth)
		c := aligned[float32](tile.Rows * tile.Cols)
		return func() {
			for range times {
				tile.Mul(tile.Rows, tile.Cols, depth, a, b, tile.Cols, c, tile.Cols, false)
			}
		}
	}
	move := func() func() {
		a, b := kernel.Alloc(region), kernel.Alloc(region)
		return func() { copy(a, b) }
	}
	return Peaks{
		Products: rate(threads, multiply) * float64(times*tile.Rows*tile.Cols*depth),
		Bytes:    rate(threads, move) * 2 * region,
	}
}

func aligned[T any](n int) []T {
	var zero [1]T
	return kernel.Cast[T](kernel.Alloc(n * len(kernel.Bytes(zero[:]))))
}

// rate returns how often a second a number of threads together do what of makes for each.
func rate(threads int, of func() func()) float64 {
	work := make([]func(), threads)
	for i := range work {
		work[i] = of()
		work[i]() // takes the memory
	}
	best := time.Duration(1 << 62)
	for range rounds {
		start := time.Now()
		var done sync.WaitGroup
		for _, f := range work {
			done.Go(f)
		}
		done.Wait()
		best = min(best, time.Since(start))
	}
	return float64(threads) / best.Seconds()
}
