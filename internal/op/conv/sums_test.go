package conv

import (
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op/slide"
)

// TestLongSums: in every form of a convolution the rounding errors of a sum of
// several hundred products are those of short chains. A bias rounds as adding it
// to the sum does.
func TestLongSums(t *testing.T) {
	const (
		group = 2
		limit = 2.9 // chains of 64 come to 2.6, of 128 to 3.2
	)
	for _, c := range []struct {
		form  string
		deep  int
		taps  []int
		image []int
	}{
		{"a product", 40, []int{9}, []int{200}},
		{"taps of a line in blocks", 1, []int{257}, []int{700}},
		{"taps of an image in blocks", 1, []int{17, 19}, []int{40, 40}},
		{"taps one by one", 1, []int{7, 7, 7}, []int{12, 12, 12}},
	} {
		axes := len(c.taps)
		ones := make([]int, axes)
		pads := make([]int, 2*axes)
		out := []int{1, group}
		for i := range axes {
			ones[i], pads[i] = 1, 3 // of which some windows have fewer terms
			out = append(out, c.image[i]+3-c.taps[i]+1)
		}
		window := slide.Window{Taps: c.taps, Strides: ones, Dilations: ones, Pads: pads}
		rng := rand.New(rand.NewPCG(4, 9))
		normal := func(dims ...int) *kernel.Operand {
			o := kerneltest.Dense(dtype.Float32, dims...)
			kerneltest.Randomize(rng, o)
			return o
		}
		x := normal(append([]int{1, c.deep * group}, c.image...)...)
		w := normal(append([]int{group, c.deep}, c.taps...)...)
		bias := normal(group)
		convolution := convCase{window, group, x.Shape, w.Shape, out, false}
		want := convReference(convolution, kerneltest.Floats(x), kerneltest.Floats(w), nil)
		for set := range kerneltest.Sets() {
			run := func(in ...*kernel.Operand) *kernel.Operand {
				y := kerneltest.Dense(dtype.Float32, out...)
				types := make([]graph.Type, len(in))
				for i, o := range in {
					types[i] = graph.Type{DType: dtype.Float32, Shape: o.Shape}
				}
				k := newConv(dtype.Float32, params{window, nil, group, finishOf(nil, types, len(x.Shape)-2)})
				if err := kerneltest.All(rng, k, in, []*kernel.Operand{y}); err != nil {
					t.Fatalf("%s, %s: %v", set, c.form, err)
				}
				return y
			}
			sums := run(x, w)
			if r := kerneltest.Rounding(sums, want); r > limit {
				t.Errorf("%s, %s: rounding errors of %.2f units, want at most %v", set, c.form, r, limit)
			}
			biased, biases := kernel.Slice[float32](run(x, w, bias)), kernel.Slice[float32](bias)
			for i, s := range kernel.Slice[float32](sums) {
				if want := s + biases[i*group/len(biased)]; biased[i] != want {
					t.Fatalf("%s, %s: with a bias, element %d is %v, want %v", set, c.form, i, biased[i], want)
				}
			}
		}
	}
}
