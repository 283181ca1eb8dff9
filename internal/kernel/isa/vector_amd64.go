//go:build !purego

package isa

// Dot products in assembly: of groups of 8 rows of float32, and of 4 of float64.

//go:noescape
func dots32(groups, k int, a, b *float32, ldb int, c *float32)

//go:noescape
func dots64(groups, k int, a, b *float64, ldb int, c *float64)

var (
	vectors32AVX512 = checkedVectors(8, mulRow32AVX512, dots32)
	vectors64AVX512 = checkedVectors(4, mulRow64AVX512, dots64)
	vectors32AVX2   = checkedVectors(8, mulRow32AVX2, dots32)
	vectors64AVX2   = checkedVectors(4, mulRow64AVX2, dots64)
)

//go:noescape
func mulRow32AVX512(n, k int, a, b *float32, ldb int, c *float32, add bool)

//go:noescape
func mulRow64AVX512(n, k int, a, b *float64, ldb int, c *float64, add bool)

//go:noescape
func mulRow32AVX2(n, k int, a, b *float32, ldb int, c *float32, add bool)

//go:noescape
func mulRow64AVX2(n, k int, a, b *float64, ldb int, c *float64, add bool)
