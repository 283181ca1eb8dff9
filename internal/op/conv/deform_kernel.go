package conv

import (
	"math"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/slide"
	"github.com/berth-go/berth/shape"
)

// newDeform returns a kernel of inputs x, offsets and an optional mask, for an
// output y. It equals the loop
//
//	for each image n, channel c of group g, tap t, position p:
//		at[a] = p[a]*stride[a] - pad[a] + t[a]*dilation[a] + offsets[n, (g*taps+t)*axes+a, p]
//		y[n, c, t, p] = mask[n, g*taps+t, p] * x[n, c] at at
//
// where x between its elements is the sum of those around, each times the product
// of how near it is along each axis, and 0 outside of the image. All operands may
// have any strides.
func newDeform(t dtype.Type, d deform) kernel.Kernel {
	return kernel.OfFloat(t, d, deformOf[float32], deformOf[float64])
}

func deformOf[T kernel.Float](d deform) kernel.Kernel { return &deformKernel[T]{deform: d} }

type deform struct {
	win    slide.Window
	groups int
}

type deformKernel[T kernel.Float] struct {
	deform
	x, offsets, mask, y *kernel.Operand
	taps, positions     int
	channels            int // of a group
	units, tasks, each  int // places: of an image, a group, a tap and a position
}

func (k *deformKernel[T]) Bind(in, out []*kernel.Operand) {
	k.x, k.offsets, k.y, k.mask = in[0], in[1], out[0], nil
	if len(in) > 2 {
		k.mask = in[2]
	}
	k.channels = k.x.Shape[1] / k.groups
	k.taps, k.positions = k.y.Shape[2], shape.Shape(k.y.Shape[3:]).Elems()
	k.units = k.x.Shape[0] * k.groups * k.taps * k.positions
	k.tasks, k.each = kernel.Parts(k.units, (k.channels+4)<<len(k.win.Taps))
	if k.channels == 0 {
		k.tasks = 0
	}
}

func (k *deformKernel[T]) Tasks() int { return k.tasks }

func (k *deformKernel[T]) Scratch() int {
	around := 1 << len(k.win.Taps)
	return kernel.Carved[int](around) + kernel.Carved[T](around)
}

func (k *deformKernel[T]) Run(task int, scratch []byte) error {
	around := 1 << len(k.win.Taps)
	corners := corners[T]{at: kernel.Carve[int](&scratch, around), weight: kernel.Carve[T](&scratch, around)}
	x, y := kernel.Slice[T](k.x), kernel.Slice[T](k.y)
	for unit := task * k.each; unit < min((task+1)*k.each, k.units); unit++ {
		position, rest := unit%k.positions, unit/k.positions
		tap, rest := rest%k.taps, rest/k.taps
		group, image := rest%k.groups, rest/k.groups
		n := k.locate(corners, image, group, tap, position)
		from := k.x.Offset + image*k.x.Strides[0] + group*k.channels*k.x.Strides[1]
		to := k.y.Offset + image*k.y.Strides[0] + group*k.channels*k.y.Strides[1] + tap*k.y.Strides[2] + place(k.y, 3, position)
		for range k.channels {
			sum := T(0)
			for i, at := range corners.at[:n] {
				sum += T(corners.weight[i] * x[from+at])
			}
			y[to] = sum
			from, to = from+k.x.Strides[1], to+k.y.Strides[1]
		}
	}
	return nil
}

// corners are the elements around a place: where they lie in the plane of a channel,
// and what each contributes.
type corners[T kernel.Float] struct {
	at     []int
	weight []T
}

// locate sets c to the elements of the image around a place, and returns their
// number: those outside are left out.
func (k *deformKernel[T]) locate(c corners[T], image, group, tap, position int) int {
	offsets := kernel.Slice[T](k.offsets)
	axes := len(k.win.Taps)
	tapOfGroup := group*k.taps + tap
	shift := k.offsets.Offset + image*k.offsets.Strides[0] + place(k.offsets, 2, position)
	c.at[0], c.weight[0] = 0, 1
	if k.mask != nil {
		c.weight[0] = kernel.Slice[T](k.mask)[k.mask.Offset+image*k.mask.Strides[0]+tapOfGroup*k.mask.Strides[1]+place(k.mask, 2, position)]
	}
	n := 1
	for a := axes - 1; a >= 0; a-- {
		taps, positions, extent := k.win.Taps[a], k.y.Shape[3+a], k.x.Shape[2+a]
		start := position%positions*k.win.Strides[a] - k.win.Pads[a] + tap%taps*k.win.Dilations[a]
		position, tap = position/positions, tap/taps
		v := T(start) + offsets[shift+(tapOfGroup*axes+a)*k.offsets.Strides[1]]
		if !(v > -1 && v < T(extent)) || extent == 0 { // NaN is nowhere
			return 0
		}
		low := T(math.Floor(float64(v)))
		i, near := int(low), v-low
		step, first, second := k.x.Strides[2+a], i >= 0, i+1 < extent
		for e := range n {
			at, weight := c.at[e]+i*step, c.weight[e]
			switch {
			case first && second:
				c.at[n+e], c.weight[n+e] = at+step, weight*near
				fallthrough
			case first:
				c.at[e], c.weight[e] = at, weight*(1-near)
			default:
				c.at[e], c.weight[e] = at+step, weight*near
			}
		}
		if first && second {
			n *= 2
		}
	}
	return n
}

// place returns where a position, numbered in row-major order over the axes of o
// from one on, lies behind the first.
func place(o *kernel.Operand, from, position int) int {
	at := 0
	for a := len(o.Shape) - 1; a >= from; a-- {
		at += position % o.Shape[a] * o.Strides[a]
		position /= o.Shape[a]
	}
	return at
}
