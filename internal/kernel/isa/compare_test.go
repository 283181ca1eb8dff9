package isa

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
)

// TestCompares: the comparisons of every set are those of Go, also of NaN, zeros and extreme numbers, and
// write nothing else.
func TestCompares(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 6))
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	floats := []float32{0, float32(math.Copysign(0, -1)), 1, -1, nan, inf, -inf, math.MaxFloat32}
	ints := []int32{0, 1, -1, math.MaxInt32, math.MinInt32}
	for _, s := range Sets() {
		for key, compare := range s.Compares {
			for range 100 {
				n := rng.IntN(100)
				if key.Type == dtype.Float32 {
					testCompare(t, s.Name, key, compare, n, func() float32 { return floats[rng.IntN(len(floats))] })
				} else {
					testCompare(t, s.Name, key, compare, n, func() int32 { return ints[rng.IntN(len(ints))] })
				}
			}
		}
	}
}

func testCompare[T int32 | float32](t *testing.T, set string, key CompareKey, compare Compare, n int, draw func() T) {
	t.Helper()
	a, b, dst := make([]T, n), make([]T, max(n, 1)), make([]byte, n+1)
	for i := range a {
		a[i] = draw()
	}
	for i := range b {
		b[i] = draw()
	}
	if key.Scalar {
		b = b[:1]
	}
	for i := range dst {
		dst[i] = 7
	}
	done := compare(dst[:n], kernel.Bytes(a), kernel.Bytes(b))
	if done > n || done < n-15 {
		t.Fatalf("%s: %v compares %d of %d", set, key, done, n)
	}
	for i, got := range dst {
		want := byte(7)
		if i < done {
			x, y := a[i], b[i%len(b)]
			holds := map[string]bool{"eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}[key.Function]
			want = map[bool]byte{true: 1}[holds]
		}
		if got != want {
			t.Fatalf("%s: %v: byte %d is %d, want %d; of %v and %v", set, key, i, got, want, a, b)
		}
	}
}
