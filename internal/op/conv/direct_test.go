package conv

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op/optest"
	"github.com/berth-go/berth/internal/op/slide"
)

// inForm is a convolution in a form, where that applies, whatever the shapes.
type inForm[T kernel.Number] struct {
	*conv[T]
	want    form
	applied *bool
}

// Bind implements [kernel.Kernel].
func (k inForm[T]) Bind(in, out []*kernel.Operand) {
	k.conv.Bind(in, out)
	if k.conv.form = k.want; k.want == inPlace && !k.direct.bind(&k.slide, k.maps, k.deep, k.gemm.Tile.Rows, k.gemm.Tile.Cols) {
		k.conv.form = packed
	}
	k.count, k.each = k.images*k.group, 1
	*k.applied = k.conv.form == k.want
}

// TestDirect: the direct form has the bits of the product of packed windows, for any
// shape that it applies to, chosen or not. It applies to nearly all.
func TestDirect(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 11))
	t.Run("float32", func(t *testing.T) { testDirect[float32](t, rng, dtype.Float32) })
	t.Run("float64", func(t *testing.T) { testDirect[float64](t, rng, dtype.Float64) })
	t.Run("int64", func(t *testing.T) { testDirect[int64](t, rng, dtype.Int64) })
}

func testDirect[T kernel.Number](t *testing.T, rng *rand.Rand, dt dtype.Type) {
	cases := max(kerneltest.Rounds(60), len(edges)+4)
	for set := range kerneltest.Sets() {
		count := 0
		for i := range cases {
			c := aConv(rng)
			if i < len(edges) {
				c = edges[i]
			}
			x := kerneltest.StridedInput(rng, dt, len(c.image)-1, c.image...)
			w := kerneltest.Dense(dt, c.weights...)
			kerneltest.Randomize(rng, w)
			in := []*kernel.Operand{x, w}
			var results [2]*kernel.Operand
			var applied bool
			for f := range results {
				k := inForm[T]{convOf[T](params{optest.Unpadded(c.window), nil, c.group, finish{}}).(*conv[T]), form(f), &applied}
				results[f] = kerneltest.Dense(dt, c.outputs...)
				out := results[f : f+1]
				if err := kerneltest.All(rng, k, in, out); err != nil {
					t.Fatalf("%s %v: %v", set, c, err)
				}
				kerneltest.CheckAllocs(t, k, in, out)
				plain := kerneltest.Bytes(out[0])
				if without := kerneltest.Prepack(k, in, out, 1); without != nil {
					if err := kerneltest.Run(rng, k, without, out); err != nil {
						t.Fatal(err)
					}
					if !slices.Equal(plain, kerneltest.Bytes(out[0])) {
						t.Fatalf("%s %v: prepacking the weights changes the result", set, c)
					}
				}
			}
			if applied {
				count++
			}
			if !slices.Equal(kerneltest.Bytes(results[packed]), kerneltest.Bytes(results[inPlace])) {
				t.Fatalf("%s %v: the direct form differs from the product", set, c)
			}
		}
		if count < cases/3 {
			t.Errorf("%s: the direct form applies to %d of %d convolutions", set, count, cases)
		}
	}
}

// edges are convolutions that a band, the ring or a chain of terms cuts.
var edges = []convCase{
	// Channels that the ring holds no more when they are done.
	{slide.Window{Taps: []int{3, 3}, Strides: []int{1, 1}, Dilations: []int{1, 1}, Pads: []int{1, 1, 1, 1}}, 1,
		[]int{1, 70, 9, 9}, []int{30, 70, 3, 3}, []int{1, 30, 9, 9}, false},
	// Bands of columns.
	{slide.Window{Taps: []int{3}, Strides: []int{2}, Dilations: []int{3}, Pads: []int{5, 4}}, 1,
		[]int{1, 90, 3000}, []int{5, 90, 3}, []int{1, 5, 1502}, false},
	// Rows of several tiles, and more blocks of maps than one.
	{slide.Window{Taps: []int{2, 3}, Strides: []int{1, 1}, Dilations: []int{1, 2}, Pads: []int{0, 2, 1, 2}}, 1,
		[]int{1, 3, 20, 130}, []int{200, 3, 2, 3}, []int{1, 200, 20, 130}, false},
	// Steps above 2, and planes that no tap reads.
	{slide.Window{Taps: []int{2, 40}, Strides: []int{4, 7}, Dilations: []int{2, 1}, Pads: []int{1, 20, 1, 20}}, 2,
		[]int{2, 2, 12, 300}, []int{26, 1, 2, 40}, []int{2, 26, 3, 43}, false},
	// Taps in the padding alone.
	{slide.Window{Taps: []int{3, 3}, Strides: []int{1, 1}, Dilations: []int{9, 9}, Pads: []int{9, 9, 9, 9}}, 1,
		[]int{1, 2, 2, 2}, []int{13, 2, 3, 3}, []int{1, 13, 2, 2}, false},
}

// TestChoice: the form follows from the shapes, as measured.
func TestChoice(t *testing.T) {
	square := func(taps, stride, pad int) slide.Window {
		return slide.Window{Taps: []int{taps, taps}, Strides: []int{stride, stride}, Dilations: []int{1, 1}, Pads: []int{pad, pad, pad, pad}}
	}
	for _, c := range []struct {
		window                  slide.Window
		channels, maps, in, out int
		want                    form
	}{
		{square(3, 2, 1), 3, 32, 224, 112, inPlace},
		{square(7, 2, 3), 3, 64, 224, 112, inPlace},
		{square(3, 1, 1), 64, 64, 224, 224, inPlace},
		{square(3, 2, 1), 128, 128, 56, 28, inPlace},
		{square(1, 1, 0), 16, 96, 112, 112, packed},
	} {
		k := convOf[float32](params{window: c.window, group: 1}).(*conv[float32])
		k.Bind([]*kernel.Operand{
			kerneltest.Dense(dtype.Float32, 1, c.channels, c.in, c.in),
			kerneltest.Dense(dtype.Float32, append([]int{c.maps, c.channels}, c.window.Taps...)...),
		}, []*kernel.Operand{kerneltest.Dense(dtype.Float32, 1, c.maps, c.out, c.out)})
		if k.form != c.want {
			t.Errorf("%+v of %d channels at %d² to %d maps is computed in form %d, want %d", c.window, c.channels, c.in, c.maps, k.form, c.want)
		}
	}
}
