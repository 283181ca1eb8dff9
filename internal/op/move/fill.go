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
	if t := o.Start.DType; t != o.Delta.DType || t == dtype.Bool || t.IsLowPrecision() {
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
	start, delta := k.start.Float64(), k.delta.Float64()
	// The conversion keeps compilers from fusing the two operations on some
	// machines only.
	value := func(i int) float64 { return start + float64(float64(i)*delta) }
	// Wrapping arithmetic is the same for signed and unsigned numbers, and in
	// more bits than are kept.
	bits := func(i int) uint64 { return k.start.Bits + uint64(i)*k.delta.Bits }
	switch t := k.out.DType; {
	case t == dtype.Float64:
		ramp(k.out, lo, hi, value)
	case t == dtype.Float32:
		ramp(k.out, lo, hi, func(i int) float32 { return float32(value(i)) })
	case t == dtype.Float16:
		ramp(k.out, lo, hi, func(i int) dtype.F16 { return dtype.ToF16(kernel.OddFloat32(value(i))) })
	case t == dtype.BFloat16:
		ramp(k.out, lo, hi, func(i int) dtype.BF16 { return dtype.ToBF16(kernel.OddFloat32(value(i))) })
	case t.Size() == 1:
		ramp(k.out, lo, hi, func(i int) uint8 { return uint8(bits(i)) })
	case t.Size() == 2:
		ramp(k.out, lo, hi, func(i int) uint16 { return uint16(bits(i)) })
	case t.Size() == 4:
		ramp(k.out, lo, hi, func(i int) uint32 { return uint32(bits(i)) })
	default:
		ramp(k.out, lo, hi, bits)
	}
	return nil
}

// ramp sets elements [lo, hi) of o to those of a function of their number.
func ramp[T any](o *kernel.Operand, lo, hi int, element func(i int) T) {
	dst := kernel.Slice[T](o)
	for i := lo; i < hi; i++ {
		dst[o.Offset+i*o.Strides[0]] = element(i)
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
