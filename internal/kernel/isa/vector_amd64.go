//go:build !purego

package isa

import "github.com/berth-go/berth/dtype"

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

var halfRowsAVX512 = map[dtype.Type]HalfRow{
	dtype.Float16: checkedHalfRow(1, mulRowFloat16AVX512), dtype.BFloat16: checkedHalfRow(1, mulRowBFloat16AVX512),
}

var halfRowsAVX2 = map[dtype.Type]HalfRow{
	dtype.Float16: checkedHalfRow(8, mulRowFloat16AVX2), dtype.BFloat16: checkedHalfRow(8, mulRowBFloat16AVX2),
}

//go:noescape
func mulRowFloat16AVX512(n, k int, a *float32, b *uint16, ldb int, c *float32, add bool)

//go:noescape
func mulRowBFloat16AVX512(n, k int, a *float32, b *uint16, ldb int, c *float32, add bool)

//go:noescape
func mulRowFloat16AVX2(n, k int, a *float32, b *uint16, ldb int, c *float32, add bool)

//go:noescape
func mulRowBFloat16AVX2(n, k int, a *float32, b *uint16, ldb int, c *float32, add bool)
