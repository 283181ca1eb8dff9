package pool

import (
	"fmt"
	"math"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/shape"
)

// MaxRoi pools regions of interest of images (Girshick, Fast R-CNN, 2015).
//
// The inputs are the images [N, C, H, W] and the regions [R, 5], of one
// floating-point type: the number of an image, and then the first and the last
// column and row as x1, y1, x2, y2. The output is [R, C, Height, Width]: a region is
// cut into so many bins, which may overlap by an element, and each becomes its
// largest element, or 0 where none of it lies in the image.
type MaxRoi struct {
	Height, Width int
	// Scale is what the coordinates of regions are multiplied by.
	Scale float64
}

// Name returns "max_roi".
func (MaxRoi) Name() string { return "max_roi" }

// Infer implements [graph.Op].
func (o MaxRoi) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := op.Takes(in, 2, 2); err != nil {
		return nil, err
	}
	x, rois := in[0], in[1]
	switch {
	case !x.DType.IsFloat() || len(x.Shape) != 4:
		return nil, fmt.Errorf("images are %v, want 4 axes of a floating-point type", x)
	case rois.DType != x.DType || len(rois.Shape) != 2 || rois.Shape[1] != 5:
		return nil, fmt.Errorf("regions are %v, want 5 numbers each, of the type of the images %v", rois, x)
	case o.Height < 1 || o.Width < 1:
		return nil, fmt.Errorf("%d x %d bins: there is one at least", o.Height, o.Width)
	case math.IsNaN(o.Scale) || math.IsInf(o.Scale, 0):
		return nil, fmt.Errorf("scale %v is not finite", o.Scale)
	}
	y := graph.Type{DType: x.DType, Shape: shape.Shape{rois.Shape[0], x.Shape[1], o.Height, o.Width}}
	return []graph.Type{y}, y.Check()
}

// Kernel implements [op.Computer].
func (o MaxRoi) Kernel(in, _ []graph.Type) kernel.Kernel {
	return kernel.OfFloat(in[0].DType, o, maxRoiOf[float32], maxRoiOf[float64])
}

// DenseAxes returns 0: all strides will do.
func (MaxRoi) DenseAxes(_, _ int) int { return 0 }

// ComputesInFloat32 marks the op.
func (MaxRoi) ComputesInFloat32() {}

func maxRoiOf[T kernel.Float](o MaxRoi) kernel.Kernel { return &maxRoiKernel[T]{MaxRoi: o} }

// A maxRoiKernel computes all bins of one channel of a region at a time.
type maxRoiKernel[T kernel.Float] struct {
	MaxRoi
	x, rois, out       *kernel.Operand
	units, tasks, each int
}

func (k *maxRoiKernel[T]) Bind(in, out []*kernel.Operand) {
	k.x, k.rois, k.out = in[0], in[1], out[0]
	k.units = k.out.Shape[0] * k.out.Shape[1]
	k.tasks, k.each = kernel.Parts(k.units, k.x.Shape[2]*k.x.Shape[3]+k.Height*k.Width)
}

func (k *maxRoiKernel[T]) Tasks() int   { return k.tasks }
func (k *maxRoiKernel[T]) Scratch() int { return 0 }

func (k *maxRoiKernel[T]) Run(task int, _ []byte) error {
	rois, x, y := kernel.Slice[T](k.rois), kernel.Slice[T](k.x), kernel.Slice[T](k.out)
	channels := k.out.Shape[1]
	for unit := task * k.each; unit < min((task+1)*k.each, k.units); unit++ {
		roi, channel := unit/channels, unit%channels
		number := func(i int) T { return rois[k.rois.Offset+roi*k.rois.Strides[0]+i*k.rois.Strides[1]] }
		image := number(0)
		if !(image >= 0 && image < T(k.x.Shape[0])) {
			return fmt.Errorf("region %d is of image %v, but there are %d images", roi, image, k.x.Shape[0])
		}
		cols := newBins(T(number(1)*T(k.Scale)), T(number(3)*T(k.Scale)), k.Width, k.x.Shape[3])
		rows := newBins(T(number(2)*T(k.Scale)), T(number(4)*T(k.Scale)), k.Height, k.x.Shape[2])
		plane := k.x.Offset + int(image)*k.x.Strides[0] + channel*k.x.Strides[1]
		for row := range k.Height {
			top, bottom := rows.bounds(row)
			for col := range k.Width {
				left, right := cols.bounds(col)
				most := T(math.Inf(-1))
				for i := top; i < bottom; i++ {
					for j := left; j < right; j++ {
						most = max(most, x[plane+i*k.x.Strides[2]+j*k.x.Strides[3]])
					}
				}
				if top >= bottom || left >= right {
					most = 0
				}
				y[k.out.Offset+roi*k.out.Strides[0]+channel*k.out.Strides[1]+row*k.out.Strides[2]+col*k.out.Strides[3]] = most
			}
		}
	}
	return nil
}

// bins are the parts of a region along one axis, which has an extent.
type bins[T kernel.Float] struct{ start, size, extent T }

// newBins cuts the elements from first to last, both of them included, into n bins;
// one element is the least there is.
func newBins[T kernel.Float](first, last T, n, extent int) bins[T] {
	start := T(math.Round(float64(first)))
	length := max(T(math.Round(float64(last)))-start+1, 1)
	return bins[T]{start, length / T(n), T(extent)}
}

// bounds returns the elements of bin i that there are, half open.
func (b bins[T]) bounds(i int) (from, to int) {
	low := b.start + T(math.Floor(float64(T(i)*b.size)))
	high := b.start + T(math.Ceil(float64(T(i+1)*b.size)))
	if low != low || high != high {
		return 0, 0
	}
	return int(min(max(low, 0), b.extent)), int(min(max(high, 0), b.extent))
}
