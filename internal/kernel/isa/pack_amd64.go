//go:build !purego

package isa

// The loops of packing in assembly, which transpose so many lanes, of steps of as
// many elements as 32 bytes have, or 16 bytes with lanes of 32 in all.

//go:noescape
func transpose8x32(dst, src *float32, lane, steps, width int)

//go:noescape
func transpose4x32(dst, src *float32, lane, steps, width int)

//go:noescape
func transpose4x64(dst, src *float64, lane, steps, width int)

//go:noescape
func transpose2x64(dst, src *float64, lane, steps, width int)

var (
	transpose32 = checkedTranspose(8, 4, transpose8x32, transpose4x32)
	transpose64 = checkedTranspose(4, 2, transpose4x64, transpose2x64)
)
