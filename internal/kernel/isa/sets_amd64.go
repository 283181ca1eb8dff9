//go:build !purego

package isa

//go:generate go run ./tilegen -out tile_amd64.s

// native returns the sets in assembly, the best first.
func native() []*Loops { return []*Loops{&avx512, &avx2} }
