package resample

import (
	"math"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/shape"
)

// newGridSample returns a kernel of inputs x and grid and of one output y, which may
// have any strides. It equals the loop
//
//	for each image n, channel c and place p:
//		y[n, c, p] = sum over the elements e around grid[n, p] of x[n, c, e] times
//			the product of the weights of e along all axes
//
// Coordinates and weights are computed in the type of the elements.
func newGridSample(t dtype.Type, o GridSample) kernel.Kernel {
	return kernel.OfFloat(t, o, gridOf[float32], gridOf[float64])
}

func gridOf[T kernel.Float](o GridSample) kernel.Kernel { return &gridKernel[T]{op: o} }

type gridKernel[T kernel.Float] struct {
	op           GridSample
	x, grid, out *kernel.Operand
	places       []int // extents of the grid
	images       int
	count        int // places of an image
	most         int // elements around a place
	tasks, each  int
}

// taps is how many elements of one axis count.
var taps = [...]int{Nearest: 1, Linear: 2, Cubic: 4}

func (k *gridKernel[T]) Bind(in, out []*kernel.Operand) {
	k.x, k.grid, k.out = in[0], in[1], out[0]
	k.places = k.grid.Shape[1 : len(k.grid.Shape)-1]
	k.images, k.count, k.most = k.x.Shape[0], shape.Shape(k.places).Elems(), 1
	for range k.places {
		k.most *= taps[k.op.Mode]
	}
	units := k.images * k.count
	if k.x.Shape[1] == 0 {
		units = 0
	}
	k.tasks, k.each = kernel.Parts(units, (k.x.Shape[1]+8)*k.most)
}

func (k *gridKernel[T]) Tasks() int { return k.tasks }

func (k *gridKernel[T]) Scratch() int { return kernel.Carved[int](k.most) + kernel.Carved[T](k.most) }

func (k *gridKernel[T]) Run(task int, scratch []byte) error {
	at, weights := kernel.Carve[int](&scratch, k.most), kernel.Carve[T](&scratch, k.most)
	x, grid, y := kernel.Slice[T](k.x), kernel.Slice[T](k.grid), kernel.Slice[T](k.out)
	last := len(k.grid.Shape) - 1
	for unit := task * k.each; unit < min((task+1)*k.each, k.images*k.count); unit++ {
		image, place := unit/k.count, unit%k.count
		from := k.x.Offset + image*k.x.Strides[0]
		to := k.out.Offset + image*k.out.Strides[0]
		g := k.grid.Offset + image*k.grid.Strides[0]
		for a := len(k.places) - 1; a >= 0; a-- {
			i := place % k.places[a]
			place /= k.places[a]
			g += i * k.grid.Strides[1+a]
			to += i * k.out.Strides[2+a]
		}
		n := 1
		at[0], weights[0] = from, 1
		for a := range k.places {
			coordinate := grid[g+(len(k.places)-1-a)*k.grid.Strides[last]]
			n = k.spread(at, weights, n, coordinate, k.x.Shape[2+a], k.x.Strides[2+a])
		}
		for range k.x.Shape[1] {
			sum := T(0)
			for i, w := range weights[:n] {
				sum += T(w * x[at[i]])
			}
			y[to] = sum
			to += k.out.Strides[1]
			for i := range at[:n] {
				at[i] += k.x.Strides[1]
			}
		}
	}
	return nil
}

// spread replaces each of the first n elements by those around it on one more axis of
// so many elements a stride apart, and returns how many there are then.
func (k *gridKernel[T]) spread(at []int, weights []T, n int, coordinate T, extent, stride int) int {
	x := k.place(coordinate, T(extent))
	first, beside := k.around(x)
	var offsets [4]int
	var counts [4]T
	m := 0
	for i, w := range beside[:taps[k.op.Mode]] {
		if e := k.element(first+T(i), T(extent)); e >= 0 && w != 0 {
			offsets[m], counts[m] = e*stride, w
			m++
		}
	}
	// From the last on, so that none is overwritten before it is read.
	for i := n - 1; i >= 0; i-- {
		a, w := at[i], weights[i]
		for j := m - 1; j >= 0; j-- {
			at[i*m+j], weights[i*m+j] = a+offsets[j], T(w*counts[j])
		}
	}
	return n * m
}

// around returns the first element that counts for place x, and the weights of the
// elements from it on.
func (k *gridKernel[T]) around(x T) (first T, weights [4]T) {
	if k.op.Mode == Nearest {
		return x, [4]T{1}
	}
	first = T(math.Floor(float64(x)))
	d := x - first
	if k.op.Mode == Linear {
		return first, [4]T{1 - d, d}
	}
	p := placement{Mode: Cubic, a: -0.75}
	for i := range weights {
		weights[i] = T(p.weight(float64(d) + 1 - float64(i)))
	}
	return first - 1, weights
}

// place returns where a coordinate lies on an axis of n elements, in elements.
func (k *gridKernel[T]) place(coordinate, n T) T {
	if coordinate != coordinate {
		coordinate = -1
	}
	x := (T((coordinate+1)*n) - 1) / 2
	if k.op.AlignCorners {
		x = (coordinate + 1) / 2 * (n - 1)
	}
	if k.op.Mode == Nearest {
		x = T(math.RoundToEven(float64(x)))
	}
	low, high := k.border(n)
	switch {
	case x >= low && x <= high:
	case k.op.Padding == Border:
		x = min(max(x, 0), n-1)
	case k.op.Padding == Reflection:
		x = reflect(x, low, high)
	}
	return x
}

// border returns the ends of an axis of n elements, at which it is mirrored.
func (k *gridKernel[T]) border(n T) (low, high T) {
	if k.op.AlignCorners {
		return 0, n - 1
	}
	return -0.5, n - 0.5
}

// element returns the element that stands at a whole number on an axis of n elements,
// or -1 for zero.
func (k *gridKernel[T]) element(i, n T) int {
	if i >= 0 && i < n {
		return int(i)
	}
	switch k.op.Padding {
	case Border:
		return int(min(max(i, 0), n-1))
	case Reflection:
		low, high := k.border(n)
		return int(min(max(reflect(i, low, high), 0), n-1))
	}
	return -1
}

// reflect mirrors x at low and high until it lies between them. A place at infinity
// goes to low.
func reflect[T kernel.Float](x, low, high T) T {
	period := 2 * float64(high-low)
	d := math.Mod(math.Abs(float64(x-low)), period)
	if !(d >= 0) { // also where the axis is a point
		return low
	}
	return low + T(min(d, period-d))
}
