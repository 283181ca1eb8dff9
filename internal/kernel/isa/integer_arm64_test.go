//go:build !purego

package isa

import (
	"math/rand/v2"
	"testing"
)

// TestIntegerWords: products of bytes as words equal the portable ones, also on a processor that has
// dot products and does not use them.
func TestIntegerWords(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	words := Loops{Name: "neon, words", Integer: integerWords}
	for range 400 {
		testMulQuads(t, &words, rng)
	}
}
