//go:build !purego

package isa

// native returns the sets in assembly.
func native() []*Loops { return []*Loops{&neon} }
