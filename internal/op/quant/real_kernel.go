package quant

import (
	"slices"

	"github.com/berth-go/berth/internal/kernel"
)

// realKernel computes its result in runs of elements that share scales and zero points.
type realKernel struct {
	inputs   int   // how many, absent ones among them
	elements []int // the inputs that are no scales and zero points
	buffer   int   // bytes that a run needs
	// run computes n elements, no more than a chunk: at has where each input, and
	// behind them the result, has the first one.
	run func(k *realKernel, at []int, n int, scratch []byte)

	in          []*kernel.Operand
	y           *kernel.Operand
	strides     [][]int // of the inputs and the result, along the axes of that
	walk        kernel.Walk
	count, each int // elements, and those of a task
}

// chunk is how many elements are computed at a time.
const chunk = 1 << 10

// Bind implements [kernel.Kernel].
func (k *realKernel) Bind(in, out []*kernel.Operand) {
	k.in, k.y = k.in[:0], out[0]
	for len(k.strides) <= k.inputs {
		k.strides = append(k.strides, nil)
	}
	for i := range k.inputs {
		o := given(in, i)
		k.in = append(k.in, o)
		k.strides[i] = stridesAlong(k.strides[i], o, k.y.Shape)
	}
	k.strides[k.inputs] = append(k.strides[k.inputs][:0], k.y.Strides...)
	k.walk.Bind(k.y.Shape, k.strides...)
	k.count = k.walk.Rows * k.walk.Len
	_, k.each = kernel.Parts(k.count, 1)
}

// stridesAlong returns the strides of o along the axes of a shape that it broadcasts to, in
// the memory of dst; 0 where it is absent.
func stridesAlong(dst []int, o *kernel.Operand, s []int) []int {
	dst = dst[:0]
	for axis := range s {
		stride := 0
		if o != nil {
			if own := axis + len(o.Shape) - len(s); own >= 0 && o.Shape[own] != 1 {
				stride = o.Strides[own]
			}
		}
		dst = append(dst, stride)
	}
	return dst
}

// Tasks implements [kernel.Kernel].
func (k *realKernel) Tasks() int {
	if k.count == 0 {
		return 0
	}
	return kernel.CeilDiv(k.count, k.each)
}

// Scratch implements [kernel.Kernel].
func (k *realKernel) Scratch() int { return kernel.Carved[int](k.inputs+1) + k.buffer }

// Run implements [kernel.Kernel].
func (k *realKernel) Run(task int, scratch []byte) error {
	at := kernel.Carve[int](&scratch, k.inputs+1)
	end := min((task+1)*k.each, k.count)
	for e := task * k.each; e < end; {
		n := min(k.walk.Locate(e, end, at), k.shared())
		for i, o := range k.in {
			if o != nil {
				at[i] += o.Offset
			}
		}
		at[k.inputs] += k.y.Offset
		k.run(k, at, n, scratch)
		e += n
	}
	return nil
}

// shared returns how many elements along a row share scales and zero points and are
// written one behind the other, at most a chunk of them.
func (k *realKernel) shared() int {
	if k.walk.Inner[k.inputs] != 1 { // the axis that lies dense is of extent 1
		return 1
	}
	for i, o := range k.in {
		if o != nil && k.walk.Inner[i] != 0 && !slices.Contains(k.elements, i) {
			return 1
		}
	}
	return chunk
}

// scale returns the scale that is input i.
func (k *realKernel) scale(i int, at []int) float32 { return kernel.Slice[float32](k.in[i])[at[i]] }

// zero returns the zero point that is input i.
func (k *realKernel) zero(i int, at []int, signed bool) int32 {
	if k.in[i] == nil {
		return 0
	}
	return number(kernel.Slice[uint8](k.in[i])[at[i]], signed)
}

// chunkOf returns n elements of input i, which are brought together in memory off the
// scratch where they do not follow one another.
func chunkOf[T float32 | int32 | uint8](k *realKernel, i int, at []int, n int, scratch *[]byte) []T {
	data, step := kernel.Slice[T](k.in[i]), k.walk.Inner[i]
	buffer := kernel.Carve[T](scratch, chunk)[:n]
	if step == 1 || n == 1 {
		return data[at[i]:][:n]
	}
	from := at[i]
	for j := range buffer {
		buffer[j] = data[from]
		from += step
	}
	return buffer
}
