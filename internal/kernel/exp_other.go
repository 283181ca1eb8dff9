//go:build !amd64 || purego

package kernel

// exp32Native does the first elements of LoadExp32 that this processor has a
// vector form for, and returns their number.
func exp32Native(_, _, _ []float32) int { return 0 }

// expChunkNative does the same for ExpChunk.
func expChunkNative(_ []float64) int { return 0 }
