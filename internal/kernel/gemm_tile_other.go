//go:build !amd64 || purego

package kernel

// nativeTiles returns no tile kernel: this processor runs the portable one.
func nativeTiles[T Number]() []tile[T] { return nil }
