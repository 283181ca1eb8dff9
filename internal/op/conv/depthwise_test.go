package conv

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/optest"
	"github.com/berth-go/berth/internal/op/slide"
	"github.com/berth-go/berth/shape"
)

// TestBlocks: convolutions of single channels that take several blocks along either
// axis, or several planes in one, are what plain loops give.
func TestBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 11))
	for i, c := range []struct{ image, taps, strides, dilations, pads []int }{
		{[]int{4200}, []int{3}, []int{1}, []int{1}, []int{1, 1}},
		{[]int{5001}, []int{70}, []int{2}, []int{2}, []int{70, 3}},
		{[]int{5000}, []int{9}, []int{5}, []int{3}, []int{0, 20}},
		{[]int{45, 130}, []int{3, 3}, []int{1, 1}, []int{1, 1}, []int{1, 1, 1, 1}},
		{[]int{51, 129}, []int{3, 3}, []int{2, 2}, []int{1, 1}, []int{0, 1, 1, 0}},
		{[]int{50, 133}, []int{3, 3}, []int{2, 1}, []int{1, 2}, []int{2, 1, 3, 2}},
		{[]int{50, 133}, []int{5, 2}, []int{3, 3}, []int{2, 1}, []int{4, 1, 4, 1}},
		{[]int{7, 1500}, []int{3, 3}, []int{1, 1}, []int{1, 1}, []int{1, 1, 1, 1}},
		{[]int{9, 701}, []int{7, 7}, []int{2, 2}, []int{1, 1}, []int{3, 3, 3, 3}},
		{[]int{7, 7}, []int{3, 3}, []int{1, 1}, []int{1, 1}, []int{1, 1, 1, 1}},
		{[]int{14, 13}, []int{5, 5}, []int{2, 2}, []int{1, 1}, []int{2, 2, 2, 2}},
		{[]int{1, 1}, []int{3, 3}, []int{1, 1}, []int{1, 1}, []int{1, 1, 1, 1}},
	} {
		window := slide.Window{Taps: c.taps, Strides: c.strides, Dilations: c.dilations, Pads: c.pads}
		out, err := window.Positions(c.image, false)
		if err != nil {
			t.Fatal(err)
		}
		channels := 1
		if shape.Shape(c.image).Elems() < 300 {
			channels = 70
		}
		for maps := 1; maps <= 2; maps++ {
			of := convCase{window, channels,
				append([]int{1 + channels/70, channels}, c.image...), append([]int{maps * channels, 1}, c.taps...), append([]int{1 + channels/70, maps * channels}, out...), false}
			dt := convTypes[(i+maps)%len(convTypes)]
			build := func(e finish) kernel.Kernel { return newConv(dt, params{optest.Unpadded(window), nil, channels, e}) }
			reference := func(f [][]float64, n [][]int64) ([]float64, []int64) {
				if f != nil {
					return convReference(of, f[0], f[1], f[2]), nil
				}
				return nil, convReference(of, n[0], n[1], n[2])
			}
			testConv(t, rng, dt, of, maps*channels, shape.Shape(c.taps).Elems(), build, reference)
		}
	}
}

// BenchmarkDepthwise reports the rate on one core of the depthwise convolutions of
// mobilenet_v2, of shufflenet, and of networks with larger windows.
func BenchmarkDepthwise(b *testing.B) {
	for _, c := range []struct{ channels, size, taps, stride int }{
		{32, 112, 3, 1}, {96, 112, 3, 2}, {144, 56, 3, 1}, {144, 56, 3, 2}, {192, 28, 3, 1}, {192, 28, 3, 2},
		{384, 14, 3, 1}, {576, 14, 3, 2}, {960, 7, 3, 1}, {58, 28, 3, 1},
		{240, 28, 5, 1}, {96, 56, 5, 2}, {96, 56, 7, 1},
	} {
		for _, last := range []bool{false, true} {
			b.Run(fmt.Sprintf("%dx%d,%dx%d,%d,last=%v", c.channels, c.size, c.taps, c.taps, c.stride, last), func(b *testing.B) {
				benchmarkConv(b, c.channels, c.channels, c.channels, c.size, c.taps, c.stride, last, last)
			})
		}
	}
}
