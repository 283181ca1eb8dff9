//go:build !purego

package isa

// The loops over images with their channels last.

var (
	channels32AVX512 = channelLoops[float32]{lastTaps32AVX512, last3Lines32AVX512, last5Lines32AVX512, lastMax32AVX512, lastMean32AVX512, lastPlane32AVX512}
	channels32AVX2   = channelLoops[float32]{lastTaps32AVX2, last3Lines32AVX2, last5Lines32AVX2, lastMax32AVX2, lastMean32AVX2, lastPlane32AVX2}
	channels64AVX512 = channelLoops[float64]{lastTaps64AVX512, last3Lines64AVX512, last5Lines64AVX512, lastMax64AVX512, lastMean64AVX512, lastPlane64AVX512}
	channels64AVX2   = channelLoops[float64]{lastTaps64AVX2, last3Lines64AVX2, last5Lines64AVX2, lastMax64AVX2, lastMean64AVX2, lastPlane64AVX2}
)

//go:noescape
func lastTaps32AVX512(y, x *float32, grid *Grid, offsets *int, weights *float32, taps, pitch int, bias *float32, add bool, atX int)

//go:noescape
func last3Lines32AVX512(y, x *float32, grid *Grid, offsets *int, weights *float32, lines, pitch int, bias *float32, within, step, atX int)

//go:noescape
func last5Lines32AVX512(y, x *float32, grid *Grid, offsets *int, weights *float32, lines, pitch int, bias *float32, within, step, atX int)

//go:noescape
func lastTaps32AVX2(y, x *float32, grid *Grid, offsets *int, weights *float32, taps, pitch int, bias *float32, add bool, atX int)

//go:noescape
func last3Lines32AVX2(y, x *float32, grid *Grid, offsets *int, weights *float32, lines, pitch int, bias *float32, within, step, atX int)

//go:noescape
func last5Lines32AVX2(y, x *float32, grid *Grid, offsets *int, weights *float32, lines, pitch int, bias *float32, within, step, atX int)

//go:noescape
func lastTaps64AVX512(y, x *float64, grid *Grid, offsets *int, weights *float64, taps, pitch int, bias *float64, add bool, atX int)

//go:noescape
func last3Lines64AVX512(y, x *float64, grid *Grid, offsets *int, weights *float64, lines, pitch int, bias *float64, within, step, atX int)

//go:noescape
func last5Lines64AVX512(y, x *float64, grid *Grid, offsets *int, weights *float64, lines, pitch int, bias *float64, within, step, atX int)

//go:noescape
func lastTaps64AVX2(y, x *float64, grid *Grid, offsets *int, weights *float64, taps, pitch int, bias *float64, add bool, atX int)

//go:noescape
func last3Lines64AVX2(y, x *float64, grid *Grid, offsets *int, weights *float64, lines, pitch int, bias *float64, within, step, atX int)

//go:noescape
func last5Lines64AVX2(y, x *float64, grid *Grid, offsets *int, weights *float64, lines, pitch int, bias *float64, within, step, atX int)

//go:noescape
func lastMax32AVX512(y, x *float32, grid *Grid, offsets *int, atX, taps int)

//go:noescape
func lastMean32AVX512(y, x *float32, grid *Grid, offsets *int, atX, taps int, counts, lines *float64)

//go:noescape
func lastPlane32AVX512(y, x *float32, channels, positions, step int)

//go:noescape
func lastMax32AVX2(y, x *float32, grid *Grid, offsets *int, atX, taps int)

//go:noescape
func lastMean32AVX2(y, x *float32, grid *Grid, offsets *int, atX, taps int, counts, lines *float64)

//go:noescape
func lastPlane32AVX2(y, x *float32, channels, positions, step int)

//go:noescape
func lastMax64AVX512(y, x *float64, grid *Grid, offsets *int, atX, taps int)

//go:noescape
func lastMean64AVX512(y, x *float64, grid *Grid, offsets *int, atX, taps int, counts, lines *float64)

//go:noescape
func lastPlane64AVX512(y, x *float64, channels, positions, step int)

//go:noescape
func lastMax64AVX2(y, x *float64, grid *Grid, offsets *int, atX, taps int)

//go:noescape
func lastMean64AVX2(y, x *float64, grid *Grid, offsets *int, atX, taps int, counts, lines *float64)

//go:noescape
func lastPlane64AVX2(y, x *float64, channels, positions, step int)
