//go:build !purego

package isa

import (
	"math/rand/v2"
	"testing"

	"golang.org/x/sys/cpu"
)

// TestOlderIntegers: products of bytes equal the portable ones in each of the forms that this processor
// can run, not in the best alone.
func TestOlderIntegers(t *testing.T) {
	forms := []Loops{{Name: "neon, by words", Integer: integerWords}}
	if cpu.ARM64.HasASIMDDP {
		forms = append(forms, Loops{Name: "neon, by dot products", Integer: integerDots})
	}
	rng := rand.New(rand.NewPCG(1, 5))
	for i := range forms {
		for range 400 {
			testMulQuads(t, &forms[i], rng)
		}
	}
}
