package linear

import (
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
)

// TestLongSums: the rounding errors of a sum of several hundred products are those
// of short chains.
func TestLongSums(t *testing.T) {
	const (
		n, k  = 70, 1000
		limit = 3.2 // chains of 64 come to 2.8, of 128 to 3.6
	)
	rng := rand.New(rand.NewPCG(3, 9))
	for _, m := range []int{4, 600} { // the operands are read in place, and packed
		a, b := kerneltest.Dense(dtype.Float32, m, k), kerneltest.Dense(dtype.Float32, k, n)
		kerneltest.Randomize(rng, a)
		kerneltest.Randomize(rng, b)
		want := matMulReference(kerneltest.Floats(a), kerneltest.Floats(b), a.Shape, b.Shape, []int{m, n})
		for set := range kerneltest.Sets() {
			c := kerneltest.Dense(dtype.Float32, m, n)
			if err := kerneltest.All(rng, newProduct(dtype.Float32, params{}), []*kernel.Operand{a, b}, []*kernel.Operand{c}); err != nil {
				t.Fatalf("%s: %v", set, err)
			}
			if r := kerneltest.Rounding(c, want); r > limit {
				t.Errorf("%s: rounding errors of %.2f units for %d rows, want at most %v", set, r, m, limit)
			}
		}
	}
}
