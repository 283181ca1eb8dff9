package conv

import (
	"fmt"
	"testing"
)

// BenchmarkDepthwise reports the rate on one core of the depthwise convolutions of
// mobilenet_v2, of shufflenet, and of networks with larger windows.
func BenchmarkDepthwise(b *testing.B) {
	for _, c := range []struct{ channels, size, taps, stride int }{
		{32, 112, 3, 1}, {96, 112, 3, 2}, {144, 56, 3, 1}, {144, 56, 3, 2}, {192, 28, 3, 1}, {192, 28, 3, 2},
		{384, 14, 3, 1}, {576, 14, 3, 2}, {960, 7, 3, 1}, {58, 28, 3, 1},
		{240, 28, 5, 1}, {96, 56, 5, 2}, {96, 56, 7, 1},
	} {
		b.Run(fmt.Sprintf("%dx%d,%dx%d,%d", c.channels, c.size, c.taps, c.taps, c.stride), func(b *testing.B) {
			benchmarkConv(b, c.channels, c.channels, c.channels, c.size, c.taps, c.stride, false)
		})
	}
}
