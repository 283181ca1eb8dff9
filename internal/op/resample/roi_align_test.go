package resample

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op/optest"
)

// bin computes one element of the output from the plane of a channel, sample by
// sample; size is the sum of the magnitudes that the result is made of.
func (o RoiAlign) bin(plane []float64, h, w int, roi []float64, row, col int) (result, size float64) {
	axis := func(low, high float64, bin, bins int) (at []float64) {
		low, high = low*o.Scale, high*o.Scale
		length := high - low
		if o.HalfPixel {
			low -= 0.5
		} else {
			length = max(length, 1)
		}
		length /= float64(bins)
		n := o.SamplingRatio
		if n == 0 {
			n = int(math.Ceil(length))
		}
		for i := range max(n, 0) {
			at = append(at, low+float64(bin)*length+(float64(i)+0.5)*length/float64(n))
		}
		return at
	}
	xs, ys := axis(roi[0], roi[2], col, o.Width), axis(roi[1], roi[3], row, o.Height)
	best := math.Inf(-1)
	for _, y := range ys {
		for _, x := range xs {
			if y < -1 || y > float64(h) || x < -1 || x > float64(w) {
				best = max(best, 0)
				continue
			}
			y, x := min(max(y, 0), float64(h-1)), min(max(x, 0), float64(w-1))
			for r := range h {
				for c := range w {
					part := max(1-math.Abs(y-float64(r)), 0) * max(1-math.Abs(x-float64(c)), 0)
					if part > 0 {
						best = max(best, part*plane[r*w+c])
					} else if y == math.Floor(y) || x == math.Floor(x) {
						best = max(best, 0) // a neighbour of weight 0, or the same element again
					}
					result += part * plane[r*w+c]
					size += math.Abs(part * plane[r*w+c])
				}
			}
		}
	}
	n := float64(max(len(xs)*len(ys), 1))
	if !o.Max {
		return result / n, size / n
	}
	if len(xs)*len(ys) == 0 {
		return 0, 0
	}
	return best, size
}

func TestRoiAlign(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 3))
	for range kerneltest.Rounds(1500) {
		o := RoiAlign{
			Max: rng.IntN(2) == 0, Height: 1 + rng.IntN(3), Width: 1 + rng.IntN(3),
			SamplingRatio: rng.IntN(4), Scale: []float64{0.5, 1, 2}[rng.IntN(3)], HalfPixel: rng.IntN(2) == 0,
		}
		dt := []dtype.Type{dtype.Float32, dtype.Float64}[rng.IntN(2)]
		x := optest.Type(dt, 1+rng.IntN(3), kerneltest.Extent(rng, 4), 1+rng.IntN(6), 1+rng.IntN(6))
		n := kerneltest.Extent(rng, 4)
		types := []graph.Type{x, optest.Type(dt, n, 4), optest.Type(dtype.Int64, n)}
		outs, err := o.Infer(types)
		if err != nil {
			t.Fatal(err)
		}
		in := []*kernel.Operand{kerneltest.StridedInput(rng, dt, 0, x.Shape...), kerneltest.StridedInput(rng, dt, 0, n, 4), kerneltest.StridedInput(rng, dtype.Int64, 0, n)}
		regions(rng, in[1])
		for i := range len(in[2].Data) / 8 {
			kernel.Int64Scalar(int64(rng.IntN(x.Shape[0]))).Put(in[2].Data[8*i:])
		}
		if o.Max {
			// An element of weight 0 is no part of a maximum, whichever neighbour it is.
			kerneltest.Positive(in[0])
		}
		out := []*kernel.Operand{kerneltest.StridedOutput(rng, dt, 0, outs[0].Shape...)}
		k := o.Kernel(types, outs)
		if err := kerneltest.All(rng, k, in, out); err != nil {
			t.Fatal(err)
		}
		kerneltest.CheckAllocs(t, k, in, out)
		data, rois, images, got := kerneltest.Floats(in[0]), kerneltest.Floats(in[1]), kerneltest.Values[int64](in[2]), kerneltest.Floats(out[0])
		h, w, at := x.Shape[2], x.Shape[3], 0
		kerneltest.ForEachIndex(outs[0].Shape, func(i []int) {
			plane := data[kerneltest.Flat(x.Shape, []int{int(images[i[0]]), i[1], 0, 0}):]
			want, size := o.bin(plane, h, w, rois[4*i[0]:4*i[0]+4], i[2], i[3])
			if !kerneltest.Near(got[at], want, 64*(size+1)*kerneltest.Slack(dt)) {
				t.Errorf("element %v is %v, want %v", i, got[at], want)
			}
			at++
		})
		if t.Failed() {
			t.Fatalf("%+v of %v, regions %v", o, x, rois)
		}
	}
}

// regions replaces the elements of o by numbers whose samples are at no edge, but
// within rounding.
func regions(rng *rand.Rand, o *kernel.Operand) {
	for i := range len(o.Data) / o.DType.Size() {
		kernel.Float64Scalar(float64(rng.IntN(24)-4)/2 + 0x1p-6*rng.Float64()).Cast(o.DType).Put(o.Data[i*o.DType.Size():])
	}
}

func TestRoiAlignFar(t *testing.T) {
	x := kerneltest.Of(dtype.Float32, []float32{1, 1, 1, 1}, 1, 1, 2, 2)
	nan := float32(math.NaN())
	for _, c := range []struct {
		roi  []float32
		most float32
	}{{[]float32{-1e30, -1e30, 1e30, 1e30}, 1}, {[]float32{nan, 0, 1, 1}, nan}, {[]float32{0, 0, float32(math.Inf(1)), 1}, 0}, {[]float32{1, 1, 0, 0}, 0}, {[]float32{-1e6, 0, 1e6, 2}, 1e-5}, {[]float32{-2e7, 0, 2e7, 2}, 0}} {
		out := optest.Compute(t, RoiAlign{Height: 1, Width: 1, Scale: 1, HalfPixel: true}, x,
			kerneltest.Of(dtype.Float32, c.roi, 1, 4), kerneltest.Of(dtype.Int64, []int64{0}, 1))[0]
		if v := kerneltest.Values[float32](out)[0]; !(v >= 0 && v <= c.most) && (v == v || c.most == c.most) {
			t.Errorf("region %v gives %v, want at most %v", c.roi, v, c.most)
		}
	}
	// Samples outside count as 0 among the parts of a maximum.
	minus := kerneltest.Of(dtype.Float32, []float32{-1, -1, -1, -1}, 1, 1, 2, 2)
	out := optest.Compute(t, RoiAlign{Max: true, Height: 1, Width: 1, SamplingRatio: 2, Scale: 1}, minus,
		kerneltest.Of(dtype.Float32, []float32{0.1, 0.1, 1.1, 1.1, -0.5, 0.1, 3.5, 1.1}, 2, 4), kerneltest.Of(dtype.Int64, []int64{0, 0}, 2))[0]
	if v := kerneltest.Values[float32](out); !(v[0] < 0) || v[1] != 0 {
		t.Errorf("maxima of -1 inside and outside are %v, want a negative number and 0", v)
	}
	images := kerneltest.Of(dtype.Int64, []int64{1}, 1)
	k := roiOf[float32](RoiAlign{Height: 1, Width: 1, Scale: 1})
	err := kerneltest.Run(rand.New(rand.NewPCG(1, 1)), k, []*kernel.Operand{x, kerneltest.Dense(dtype.Float32, 1, 4), images}, []*kernel.Operand{kerneltest.Dense(dtype.Float32, 1, 1, 1, 1)})
	if err == nil || err.Error() != "region 0 is of image 1, but there are 1 images" {
		t.Errorf("error %v", err)
	}
}

func TestRoiAlignInfer(t *testing.T) {
	types := func(x ...graph.Type) []graph.Type { return x }
	x, rois, at := optest.Float32(2, 3, 4, 5), optest.Float32(7, 4), optest.Type(dtype.Int64, 7)
	o := RoiAlign{Height: 2, Width: 3, Scale: 1}
	optest.Infers(t, o, types(x, rois, at), "float32[7 3 2 3]")
	optest.Infers(t, o, types(x, optest.Float32(0, 4), optest.Type(dtype.Int64, 0)), "float32[0 3 2 3]")
	optest.Refuses(t, o, types(x, rois), "takes 3 inputs, got 2")
	optest.Refuses(t, o, types(optest.Float32(2, 3, 4), rois, at), "images are float32[2 3 4]")
	optest.Refuses(t, o, types(x, optest.Float32(7, 5), at), "regions are float32[7 5]")
	optest.Refuses(t, o, types(x, optest.Type(dtype.Float64, 7, 4), at), "regions are float64[7 4]")
	optest.Refuses(t, o, types(x, rois, optest.Type(dtype.Int64, 6)), "numbers of images are int64[6], want int64[7]")
	optest.Refuses(t, RoiAlign{Height: -1, Width: 1, Scale: 1}, types(x, rois, at), "-1")
	optest.Refuses(t, RoiAlign{Height: 1, Width: 1, SamplingRatio: 1 << 20}, types(x, rois, at), "sampling ratio 1048576")
	optest.Refuses(t, RoiAlign{Height: 1, Width: 1, Scale: math.Inf(1)}, types(x, rois, at), "scale +Inf")
}
