package norm

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
)

// TestSets: every instruction set gives the bits of the portable one.
func TestSets(t *testing.T) {
	for _, dt := range []dtype.Type{dtype.Float32, dtype.Float64} {
		rng := rand.New(rand.NewPCG(12, uint64(dt)))
		for round := range 60 {
			rows, n := 1+rng.IntN(5), 1+rng.IntN(700)
			axis := rng.IntN(2)
			x, out := kerneltest.Dense(dt, rows, n), kerneltest.Dense(dt, rows, n)
			kerneltest.Randomize(rng, x)
			in := []*kernel.Operand{x}
			var k func() kernel.Kernel
			switch kind := normKind(round % 4); {
			case round%3 == 0:
				k = func() kernel.Kernel { return newSoftmax(dt, axis, false) }
			default:
				k = func() kernel.Kernel { return newNorm(dt, normParams{Kind: kind, Epsilon: 1e-5, Axes: []int{axis}}) }
				for range rng.IntN(3) {
					o := kerneltest.Dense(dt, []int{n, 1}[rng.IntN(2)])
					kerneltest.Randomize(rng, o)
					in = append(in, o)
				}
			}
			run := func(set *isa.Loops) string {
				defer isa.Use(isa.Use(set))
				if err := kerneltest.Run(rng, k(), in, []*kernel.Operand{out}); err != nil {
					t.Fatal(err)
				}
				return fmt.Sprintf("%x", bytes.Clone(out.Data))
			}
			want := run(&isa.Generic)
			for _, set := range isa.Sets() {
				if run(set) != want {
					t.Fatalf("%s gives other bits than %s: %v %dx%d along %d, round %d", set.Name, isa.Generic.Name, dt, rows, n, axis, round)
				}
			}
		}
	}
}
