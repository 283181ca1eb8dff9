//go:build !amd64 || purego

package gemm

import "github.com/berth-go/berth/internal/kernel"

// nativeTiles returns no tile kernel: this processor runs the portable one.
func nativeTiles[T kernel.Number]() []Tile[T] { return nil }
