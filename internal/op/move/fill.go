package move

import (
	"fmt"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/shape"
)

// Fill has no input; every element of its output is Value. (A constant of one
// element under [view.BroadcastTo] takes no memory; this is for when memory is
// wanted.)
type Fill struct {
	Shape []int
	Value kernel.Scalar
}

// Name returns "fill".
func (Fill) Name() string { return "fill" }

// Infer returns the type of the value in the stated shape.
func (o Fill) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := op.Takes(in, 0, 0); err != nil {
		return nil, err
	}
	t := graph.Type{DType: o.Value.DType, Shape: shape.Shape(o.Shape).Clone()}
	return []graph.Type{t}, t.Check()
}

// Kernel returns the fill.
func (o Fill) Kernel(_, _ []graph.Type) kernel.Kernel { return newFill(o.Value) }

// Tune implements [op.Tuner]: the extents are those of the output.
func (Fill) Tune(kernel.Kernel) {}

// DenseAxes returns 0: the output may have any strides.
func (Fill) DenseAxes(int, int) int { return 0 }

// Streams implements [op.Streamer].
func (Fill) Streams() {}

// Iota has no input; its output has one axis of N elements, of which element
// i is Start + i*Delta. Integers wrap; floating-point types are computed in
// float64 and rounded once.
type Iota struct {
	N            int
	Start, Delta kernel.Scalar // of one type
}

// Name returns "iota".
func (Iota) Name() string { return "iota" }

// Infer returns N elements of the type of Start.
func (o Iota) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := op.Takes(in, 0, 0); err != nil {
		return nil, err
	}
	if o.Start.DType != o.Delta.DType || o.Start.DType == dtype.Bool {
		return nil, fmt.Errorf("start is %v and delta %v, want numbers of one type", o.Start, o.Delta)
	}
	t := graph.Type{DType: o.Start.DType, Shape: shape.Shape{o.N}}
	return []graph.Type{t}, t.Check()
}

// Kernel returns the ramp.
func (o Iota) Kernel(_, _ []graph.Type) kernel.Kernel {
	return newIota(o.Start, o.Delta)
}

// Tune implements [op.Tuner].
func (o Iota) Tune(k kernel.Kernel) {
	ramp := k.(*iotaKernel)
	ramp.start, ramp.delta = o.Start, o.Delta
}

// DenseAxes returns 0: the output may have any strides.
func (Iota) DenseAxes(int, int) int { return 0 }

// Streams implements [op.Streamer].
func (Iota) Streams() {}

// Eye has no input; its output is a matrix with ones at the elements (i, i+K)
// and zeros elsewhere.
type Eye struct {
	Rows, Cols, K int
	DType         dtype.Type
}

// Name returns "eye".
func (Eye) Name() string { return "eye" }

// Infer returns the stated type.
func (o Eye) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := op.Takes(in, 0, 0); err != nil {
		return nil, err
	}
	t := graph.Type{DType: o.DType, Shape: shape.Shape{o.Rows, o.Cols}}
	return []graph.Type{t}, t.Check()
}

// Kernel returns the fill.
func (o Eye) Kernel(_, _ []graph.Type) kernel.Kernel {
	return newEye(kernel.Int64Scalar(1).Cast(o.DType), o.K)
}

// DenseAxes returns 0: the output may have any strides.
func (Eye) DenseAxes(int, int) int { return 0 }

// newFill returns a kernel without inputs that sets every element of its
// output, which may have any strides, to value.
func newFill(value kernel.Scalar) kernel.Kernel {
	return kernel.OfWidth(value.DType.Size(),
		&fillKernel[uint8]{value: []uint8{uint8(value.Bits)}}, &fillKernel[uint16]{value: []uint16{uint16(value.Bits)}},
		&fillKernel[uint32]{value: []uint32{uint32(value.Bits)}}, &fillKernel[uint64]{value: []uint64{value.Bits}})
}

// fillKernel copies one element that is repeated along every axis.
type fillKernel[T kernel.Word] struct {
	value   []T
	out     *kernel.Operand
	move    kernel.Mover[T]
	strides []int
}

func (k *fillKernel[T]) Bind(_, out []*kernel.Operand) {
	k.out = out[0]
	k.strides = append(k.strides[:0], k.out.Strides...)
	clear(k.strides)
	k.move.Bind(k.out.Shape, k.out.Strides, k.strides)
}

func (k *fillKernel[T]) Tasks() int   { return k.move.Tasks }
func (k *fillKernel[T]) Scratch() int { return k.move.Scratch() }

func (k *fillKernel[T]) Run(task int, scratch []byte) error {
	k.move.Run(task, kernel.Slice[T](k.out), k.out.Offset, k.value, 0, scratch)
	return nil
}

// newIota returns a kernel without inputs for an output of one axis, with any
// stride. Start and delta have the element type of the output. It equals
//
//	for i in [0, n): out[i] = start + i*delta
//
// where integers wrap, and floating-point types are computed in float64 and
// then rounded once.
func newIota(start, delta kernel.Scalar) kernel.Kernel {
	return &iotaKernel{start: start, delta: delta}
}

type iotaKernel struct {
	start, delta kernel.Scalar
	out          *kernel.Operand
	tasks, each  int
}

func (k *iotaKernel) Bind(_, out []*kernel.Operand) {
	k.out = out[0]
	k.tasks, k.each = kernel.Parts(k.out.Shape[0], 1)
}

func (k *iotaKernel) Tasks() int   { return k.tasks }
func (k *iotaKernel) Scratch() int { return 0 }

func (k *iotaKernel) Run(task int, _ []byte) error {
	lo, hi := task*k.each, min((task+1)*k.each, k.out.Shape[0])
	at, step := k.out.Offset+lo*k.out.Strides[0], k.out.Strides[0]
	start, delta := k.start.Float64(), k.delta.Float64()
	switch k.out.DType {
	case dtype.Float64:
		for dst := kernel.Slice[float64](k.out); lo < hi; lo, at = lo+1, at+step {
			dst[at] = ramp(start, delta, lo)
		}
	case dtype.Float32:
		for dst := kernel.Slice[float32](k.out); lo < hi; lo, at = lo+1, at+step {
			dst[at] = float32(ramp(start, delta, lo))
		}
	case dtype.Float16:
		for dst := kernel.Slice[dtype.F16](k.out); lo < hi; lo, at = lo+1, at+step {
			dst[at] = dtype.ToF16(kernel.OddFloat32(ramp(start, delta, lo)))
		}
	case dtype.BFloat16:
		for dst := kernel.Slice[dtype.BF16](k.out); lo < hi; lo, at = lo+1, at+step {
			dst[at] = dtype.ToBF16(kernel.OddFloat32(ramp(start, delta, lo)))
		}
	default:
		k.integers(lo, hi, at)
	}
	return nil
}

// ramp returns start + i*delta; the conversion keeps compilers from fusing
// the two operations on some machines only.
func ramp(start, delta float64, i int) float64 { return start + float64(float64(i)*delta) }

// integers writes elements [lo, hi): wrapping arithmetic is the same for
// signed and unsigned numbers, and in more bits than are kept.
func (k *iotaKernel) integers(lo, hi, at int) {
	start, delta, step := k.start.Bits, k.delta.Bits, k.out.Strides[0]
	switch k.out.DType.Size() {
	case 1:
		for dst := kernel.Slice[uint8](k.out); lo < hi; lo, at = lo+1, at+step {
			dst[at] = uint8(start + uint64(lo)*delta)
		}
	case 2:
		for dst := kernel.Slice[uint16](k.out); lo < hi; lo, at = lo+1, at+step {
			dst[at] = uint16(start + uint64(lo)*delta)
		}
	case 4:
		for dst := kernel.Slice[uint32](k.out); lo < hi; lo, at = lo+1, at+step {
			dst[at] = uint32(start + uint64(lo)*delta)
		}
	case 8:
		for dst := kernel.Slice[uint64](k.out); lo < hi; lo, at = lo+1, at+step {
			dst[at] = start + uint64(lo)*delta
		}
	}
}

// newEye returns a kernel without inputs for an output of two axes, with any
// strides: element (i, j) is one where j-i is the diagonal, and zero elsewhere.
func newEye(one kernel.Scalar, diagonal int) kernel.Kernel {
	return kernel.OfWidth(one.DType.Size(),
		&eyeKernel[uint8]{one: uint8(one.Bits), diagonal: diagonal}, &eyeKernel[uint16]{one: uint16(one.Bits), diagonal: diagonal},
		&eyeKernel[uint32]{one: uint32(one.Bits), diagonal: diagonal}, &eyeKernel[uint64]{one: one.Bits, diagonal: diagonal})
}

type eyeKernel[T kernel.Word] struct {
	one         T
	diagonal    int
	out         *kernel.Operand
	tasks, each int // rows
}

func (k *eyeKernel[T]) Bind(_, out []*kernel.Operand) {
	k.out = out[0]
	k.tasks, k.each = kernel.Parts(k.out.Shape[0], k.out.Shape[1])
	if k.out.Shape[1] == 0 {
		k.tasks = 0
	}
}

func (k *eyeKernel[T]) Tasks() int   { return k.tasks }
func (k *eyeKernel[T]) Scratch() int { return 0 }

func (k *eyeKernel[T]) Run(task int, _ []byte) error {
	rows, cols := k.out.Shape[0], k.out.Shape[1]
	// Bounds on the diagonal that change nothing, so that no sum overflows.
	diagonal := min(max(k.diagonal, -rows), cols)
	dst := kernel.Slice[T](k.out)
	var zero T
	for i := task * k.each; i < min((task+1)*k.each, rows); i++ {
		at := k.out.Offset + i*k.out.Strides[0]
		kernel.FillStrided(dst, at, k.out.Strides[1], cols, zero)
		if j := i + diagonal; j >= 0 && j < cols {
			dst[at+j*k.out.Strides[1]] = k.one
		}
	}
	return nil
}
