//go:build (!amd64 && !arm64) || purego

package isa

// native returns the sets in assembly: there are none.
func native() []*Loops { return nil }
