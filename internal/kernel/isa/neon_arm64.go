//go:build !purego

package isa

// neon is the set for arm64, every processor of which has it.
var neon = Loops{
	Name: "neon",
	here: true,
	Float32: tileOfNEON(Generic.Float32, tileLoops[float32]{
		rows: 8, cols: 12, windowRows: 8,
		mul: mulTile32NEON, mulTaps: mulTaps32NEON, windows: mulWindows32NEON,
		transpose: checkedTranspose(8, 4, transpose8x32, transpose4x32),
		vectors:   checkedVectors(8, mulRow32NEON, dots32NEON),
	}),
	Float64: tileOfNEON(Generic.Float64, tileLoops[float64]{
		rows: 8, cols: 6, windowRows: 8,
		mul: mulTile64NEON, mulTaps: mulTaps64NEON, windows: mulWindows64NEON,
		transpose: checkedTranspose(4, 2, transpose4x64, transpose2x64),
		vectors:   checkedVectors(4, mulRow64NEON, dots64NEON),
	}),
	Exp:      exp,
	Integer:  genericInteger,
	Winograd: genericWinograd,
	Maps:     mapsNEON,
}

// tileOfNEON returns the tile of the loops. Those that have no assembly, which are the loops of
// convolutions of each channel for itself, of poolings, and of copies of rows, are the portable ones.
func tileOfNEON[T float32 | float64](portable Tile[T], l tileLoops[T]) Tile[T] {
	t := l.checked()
	t.Pick, t.Spread, t.CopyRows, t.Split = portable.Pick, portable.Spread, portable.CopyRows, portable.Split
	t.TapRows, t.Tap3x3, t.MaxRows, t.MeanRows, t.Channels = portable.TapRows, portable.Tap3x3, portable.MaxRows, portable.MeanRows, portable.Channels
	return t
}

//go:noescape
func mulTile32NEON(h, w, k int, a *float32, rowA, colA int, b *float32, ldb, next int, ahead, c *float32, ldc int, add bool)

//go:noescape
func mulTaps32NEON(h, w, k int, a, b *float32, offsets *int, c *float32, ldc int, add bool)

//go:noescape
func mulWindows32NEON(h, tiles, w, k int, left *float32, row int, offsets *int, b *float32, next int, ahead, bias, c *float32, ldc int, add bool)

//go:noescape
func mulRow32NEON(n, k int, a, b *float32, ldb int, c *float32, add bool)

//go:noescape
func dots32NEON(groups, k int, a, b *float32, ldb int, c *float32)

//go:noescape
func transpose8x32(dst, src *float32, lane, steps, width int)

//go:noescape
func transpose4x32(dst, src *float32, lane, steps, width int)

//go:noescape
func mulTile64NEON(h, w, k int, a *float64, rowA, colA int, b *float64, ldb, next int, ahead, c *float64, ldc int, add bool)

//go:noescape
func mulTaps64NEON(h, w, k int, a, b *float64, offsets *int, c *float64, ldc int, add bool)

//go:noescape
func mulWindows64NEON(h, tiles, w, k int, left *float64, row int, offsets *int, b *float64, next int, ahead, bias, c *float64, ldc int, add bool)

//go:noescape
func mulRow64NEON(n, k int, a, b *float64, ldb int, c *float64, add bool)

//go:noescape
func dots64NEON(groups, k int, a, b *float64, ldb int, c *float64)

//go:noescape
func transpose4x64(dst, src *float64, lane, steps, width int)

//go:noescape
func transpose2x64(dst, src *float64, lane, steps, width int)
