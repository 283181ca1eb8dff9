//go:build !purego

package isa

// neon is the set for arm64, every processor of which has it.
var neon = Loops{
	Name:     "neon",
	here:     true,
	Float32:  Generic.Float32,
	Float64:  Generic.Float64,
	Exp:      exp,
	Integer:  genericInteger,
	Winograd: genericWinograd,
	Maps:     mapsNEON,
}
