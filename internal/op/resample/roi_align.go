package resample

import (
	"fmt"
	"math"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/shape"
)

// RoiAlign pools regions of interest of images (He et al., Mask R-CNN, 2017).
//
// The inputs are the images [N, C, H, W], the regions [R, 4] as x1, y1, x2, y2, of
// one floating-point type, and the number of the image of each region, int64 [R]. The
// output is [R, C, Height, Width]: regions are cut into so many bins, and each bin
// is the mean of samples that are spread over it evenly. Samples lie between the
// four elements around them, and are 0 further than an element outside the image.
type RoiAlign struct {
	// Max takes the largest part that any element has in any sample, its weight
	// included, in place of the mean.
	Max           bool
	Height, Width int
	// SamplingRatio is how many samples a bin has along both axes. 0 takes as many
	// as the bin is long, rounded up.
	SamplingRatio int
	// Scale is what the coordinates of regions are multiplied by.
	Scale float64
	// HalfPixel says that 0 is the outer edge of the first element. It is its
	// middle otherwise, and regions are at least one element wide and high.
	HalfPixel bool
}

// Name returns "roi_align".
func (RoiAlign) Name() string { return "roi_align" }

// maxSampling bounds the samples along an axis of a bin.
const maxSampling = 1 << 10

// Infer implements [graph.Op].
func (o RoiAlign) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := op.Takes(in, 3, 3); err != nil {
		return nil, err
	}
	x, rois, images := in[0], in[1], in[2]
	switch {
	case !x.DType.IsFloat() || len(x.Shape) != 4:
		return nil, fmt.Errorf("images are %v, want 4 axes of a floating-point type", x)
	case rois.DType != x.DType || len(rois.Shape) != 2 || rois.Shape[1] != 4:
		return nil, fmt.Errorf("regions are %v, want 4 numbers each, of the type of the images %v", rois, x)
	case images.DType != dtype.Int64 || len(images.Shape) != 1 || images.Shape[0] != rois.Shape[0]:
		return nil, fmt.Errorf("numbers of images are %v, want int64[%d]", images, rois.Shape[0])
	case o.SamplingRatio < 0 || o.SamplingRatio > maxSampling:
		return nil, fmt.Errorf("sampling ratio %d is not in [0, %d]", o.SamplingRatio, maxSampling)
	case math.IsNaN(o.Scale) || math.IsInf(o.Scale, 0):
		return nil, fmt.Errorf("scale %v is not finite", o.Scale)
	}
	y := graph.Type{DType: x.DType, Shape: shape.Shape{rois.Shape[0], x.Shape[1], o.Height, o.Width}}
	return []graph.Type{y}, y.Check()
}

// Kernel returns the pooling.
func (o RoiAlign) Kernel(in, _ []graph.Type) kernel.Kernel {
	return kernel.OfFloat(in[0].DType, o, roiOf[float32], roiOf[float64])
}

// DenseAxes returns 0: all strides will do.
func (RoiAlign) DenseAxes(_, _ int) int { return 0 }

// ComputesInFloat32 marks the op.
func (RoiAlign) ComputesInFloat32() {}

func roiOf[T kernel.Float](o RoiAlign) kernel.Kernel { return &roiKernel[T]{op: o} }

// A roiKernel computes a bin of all channels at a time. Coordinates are computed in the
// type of the elements.
type roiKernel[T kernel.Float] struct {
	op                   RoiAlign
	x, rois, images, out *kernel.Operand
	bins                 int
	tasks, each          int
}

func (k *roiKernel[T]) Bind(in, out []*kernel.Operand) {
	k.x, k.rois, k.images, k.out = in[0], in[1], in[2], out[0]
	y := k.out.Shape
	k.bins = y[0] * y[2] * y[3]
	k.tasks, k.each = kernel.Parts(k.bins, 16*(y[1]+4))
	if y[1] == 0 {
		k.tasks = 0
	}
}

func (k *roiKernel[T]) Tasks() int { return k.tasks }

func (k *roiKernel[T]) Scratch() int { return kernel.Carved[T](k.out.Shape[1]) }

func (k *roiKernel[T]) Run(task int, scratch []byte) error {
	acc := kernel.Carve[T](&scratch, k.out.Shape[1])
	rois, images, y := kernel.Slice[T](k.rois), kernel.Slice[int64](k.images), kernel.Slice[T](k.out)
	for bin := task * k.each; bin < min((task+1)*k.each, k.bins); bin++ {
		col, row, roi := bin%k.op.Width, bin/k.op.Width%k.op.Height, bin/k.op.Width/k.op.Height
		image := images[k.images.Offset+roi*k.images.Strides[0]]
		if image < 0 || image >= int64(k.x.Shape[0]) {
			return fmt.Errorf("region %d is of image %d, but there are %d images", roi, image, k.x.Shape[0])
		}
		corner := func(i int) T {
			v := T(rois[k.rois.Offset+roi*k.rois.Strides[0]+i*k.rois.Strides[1]] * T(k.op.Scale))
			if k.op.HalfPixel {
				v -= 0.5
			}
			return v
		}
		xs := k.samples(corner(0), corner(2), col, k.op.Width, k.x.Shape[3])
		ys := k.samples(corner(1), corner(3), row, k.op.Height, k.x.Shape[2])
		k.pool(acc, int(image), &xs, &ys)
		at := k.out.Offset + roi*k.out.Strides[0] + row*k.out.Strides[2] + col*k.out.Strides[3]
		for _, v := range acc {
			y[at] = v
			at += k.out.Strides[1]
		}
	}
	return nil
}

// A samples is the samples of a bin along one axis: sample i of count lies at
// start + (i+0.5)*length/count.
type samples[T kernel.Float] struct {
	start, length, count T
	first, end           int // those that may lie in the image, half open
	extent               int
}

// mostSamples bounds the samples of a bin along an axis, whose number follows from
// data. A longer bin counts as outside the image: what it has of the image would not
// show in its mean.
const mostSamples = 1 << 24

// samples returns the samples of a bin of a region from low to high.
func (k *roiKernel[T]) samples(low, high T, bin, bins, extent int) samples[T] {
	length := high - low
	if !k.op.HalfPixel {
		length = max(length, 1)
	}
	length /= T(bins)
	s := samples[T]{start: low + T(T(bin)*length), length: length, extent: extent}
	if s.count = T(k.op.SamplingRatio); s.count == 0 {
		s.count = T(max(math.Ceil(float64(length)), 0))
	}
	if !(s.count <= mostSamples) {
		return s
	}
	s.end = int(s.count)
	if step := length / s.count; step > 0 {
		// A region may be far larger than the image.
		s.first = int(min(max((-1-s.start)/step-1, 0), s.count))
		s.end = int(min(max((T(extent)-s.start)/step+2, 0), s.count))
	}
	return s
}

// at returns the elements around sample i and how near it is to the second; ok says
// whether it lies in the image.
func (s *samples[T]) at(i int) (first, second int, near T, ok bool) {
	v := s.start + (T(i)+0.5)*s.length/s.count
	if !(v >= -1 && v <= T(s.extent)) || s.extent == 0 {
		return 0, 0, 0, false
	}
	v = max(v, 0)
	if first = int(v); first >= s.extent-1 {
		return s.extent - 1, s.extent - 1, 0, true
	}
	return first, first + 1, v - T(first), true
}

// pool sets acc to the bin of the samples in each channel.
func (k *roiKernel[T]) pool(acc []T, image int, xs, ys *samples[T]) {
	clear(acc)
	x := kernel.Slice[T](k.x)
	base := k.x.Offset + image*k.x.Strides[0]
	met := T(0) // samples in the image
	for i := ys.first; i < ys.end; i++ {
		top, bottom, down, inside := ys.at(i)
		for j := xs.first; inside && j < xs.end; j++ {
			left, right, across, ok := xs.at(j)
			if !ok {
				continue
			}
			up, back := base+top*k.x.Strides[2], base+bottom*k.x.Strides[2]
			l, r := left*k.x.Strides[3], right*k.x.Strides[3]
			k.add(acc, x, [4]int{up + l, up + r, back + l, back + r},
				[4]T{(1 - down) * (1 - across), (1 - down) * across, down * (1 - across), down * across}, met == 0)
			met++
		}
	}
	all := ys.count * xs.count
	for c, v := range acc {
		switch {
		case !k.op.Max:
			acc[c] = v / max(all, 1)
		case met < all:
			acc[c] = max(v, 0)
		}
	}
}

// add adds a sample to the bins of all channels.
func (k *roiKernel[T]) add(acc, x []T, at [4]int, weights [4]T, first bool) {
	for c := range acc {
		a, b := T(weights[0]*x[at[0]]), T(weights[1]*x[at[1]])
		d, e := T(weights[2]*x[at[2]]), T(weights[3]*x[at[3]])
		switch {
		case !k.op.Max:
			acc[c] += a + b + d + e
		case first:
			acc[c] = max(a, b, d, e)
		default:
			acc[c] = max(acc[c], a, b, d, e)
		}
		for i := range at {
			at[i] += k.x.Strides[1]
		}
	}
}
