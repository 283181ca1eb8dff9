//go:build !purego

package gemm

import (
	"golang.org/x/sys/cpu"

	"github.com/berth-go/berth/internal/kernel"
)

//go:generate go run ./gemmgen -out tile_amd64.s

// nativeTiles returns the tile kernels in assembly that this processor can
// run. Elements are chains of fused multiply-adds, the same in each of them.
func nativeTiles[T kernel.Number]() []Tile[T] {
	var all any
	switch any(T(0)).(type) {
	case float32:
		all = native(
			Tile[float32]{"avx512", 12, 32, mul32By512, spread32By512, tapSum32By512},
			Tile[float32]{"avx2", 6, 16, mul32By256, spread32By256, tapSum32By256})
	case float64:
		all = native(
			Tile[float64]{"avx512", 12, 16, mul64By512, spread64By512, tapSum64By512},
			Tile[float64]{"avx2", 6, 8, mul64By256, spread64By256, tapSum64By256})
	}
	tiles, _ := all.([]Tile[T])
	return tiles
}

// native returns those of a 512-bit and a 256-bit kernel that can run.
func native[T kernel.Number](wide, narrow Tile[T]) []Tile[T] {
	var tiles []Tile[T]
	if cpu.X86.HasAVX512F {
		tiles = append(tiles, wide)
	}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		tiles = append(tiles, narrow)
	}
	return tiles
}

// The kernels in assembly read and write the elements that Tile.Mul states,
// and check nothing.

//go:noescape
func mulTile32AVX512(h, w, k int, a, b *float32, ldb int, c *float32, ldc int, add bool)

//go:noescape
func mulTile64AVX512(h, w, k int, a, b *float64, ldb int, c *float64, ldc int, add bool)

//go:noescape
func mulTile32AVX2(h, w, k int, a, b *float32, ldb int, c *float32, ldc int, add bool)

//go:noescape
func mulTile64AVX2(h, w, k int, a, b *float64, ldb int, c *float64, ldc int, add bool)

func mul32By512(h, w, k int, a, b []float32, ldb int, c []float32, ldc int, add bool) {
	checkTile(h, w, k, 12, 32, a, b, ldb, c, ldc)
	mulTile32AVX512(h, w, k, &a[0], &b[0], ldb, &c[0], ldc, add)
}

func mul64By512(h, w, k int, a, b []float64, ldb int, c []float64, ldc int, add bool) {
	checkTile(h, w, k, 12, 16, a, b, ldb, c, ldc)
	mulTile64AVX512(h, w, k, &a[0], &b[0], ldb, &c[0], ldc, add)
}

func mul32By256(h, w, k int, a, b []float32, ldb int, c []float32, ldc int, add bool) {
	checkTile(h, w, k, 6, 16, a, b, ldb, c, ldc)
	mulTile32AVX2(h, w, k, &a[0], &b[0], ldb, &c[0], ldc, add)
}

func mul64By256(h, w, k int, a, b []float64, ldb int, c []float64, ldc int, add bool) {
	checkTile(h, w, k, 6, 8, a, b, ldb, c, ldc)
	mulTile64AVX2(h, w, k, &a[0], &b[0], ldb, &c[0], ldc, add)
}

// checkTile panics unless the slices hold what a kernel touches.
func checkTile[T kernel.Number](h, w, k, rows, cols int, a, b []T, ldb int, c []T, ldc int) {
	if h <= 0 || h > rows || w <= 0 || w > cols || k <= 0 || ldb < 0 || ldc < 0 {
		panic("gemm: tile out of range")
	}
	_ = a[k*rows-1]
	_ = b[(k-1)*ldb+cols-1]
	_ = c[(h-1)*ldc+w-1]
}
