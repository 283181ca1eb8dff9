package pool

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op/slide"
)

// BenchmarkPool reports the rate on one core of poolings of squeezenet, resnet50,
// inception and densenet.
func BenchmarkPool(b *testing.B) {
	for _, c := range []struct {
		kind                               Kind
		channels, size, taps, stride, pads int
	}{
		{Max, 64, 111, 3, 2, 0}, {Max, 128, 55, 3, 2, 0}, {Max, 64, 112, 3, 2, 1}, {Max, 192, 28, 3, 1, 1},
		{Max, 480, 14, 3, 1, 1}, {Max, 832, 7, 3, 1, 1}, {Max, 64, 224, 2, 2, 0},
		{Average, 128, 56, 2, 2, 0}, {Average, 192, 28, 3, 1, 1}, {Average, 64, 112, 3, 2, 1},
	} {
		out := (c.size+2*c.pads-c.taps)/c.stride + 1
		x, y := kerneltest.Dense(dtype.Float32, 1, c.channels, c.size, c.size), kerneltest.Dense(dtype.Float32, 1, c.channels, out, out)
		kerneltest.Randomize(rand.New(rand.NewPCG(5, 3)), x)
		w := slide.Window{Taps: []int{c.taps, c.taps}, Strides: []int{c.stride, c.stride}, Dilations: []int{1, 1}, Pads: []int{c.pads, c.pads, c.pads, c.pads}}
		for set := range kerneltest.Sets() {
			k := newPool(dtype.Float32, w, poolParams{Kind: c.kind})
			b.Run(fmt.Sprintf("%v %dx%d,%dx%d,%d/%s", c.kind, c.channels, c.size, c.taps, c.taps, c.stride, set), func(b *testing.B) {
				kerneltest.BenchmarkTasks(b, k, []*kernel.Operand{x}, []*kernel.Operand{y}, false, c.channels*out*out*c.taps*c.taps)
			})
		}
	}
}
