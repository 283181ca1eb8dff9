//go:build !purego

package isa

//go:generate go run ./asmgen

// native returns the sets in assembly, the best first.
func native() []*Loops { return []*Loops{&avx512, &avx2} }
