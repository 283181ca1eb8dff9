package kernel

import (
	"slices"

	"github.com/berth-go/berth/dtype"
)

// NewFill returns a kernel without inputs that sets every element of its
// output, which may have any strides, to value.
func NewFill(value Scalar) Kernel {
	return ofWidth(value.DType.Size(),
		&fillKernel[uint8]{value: []uint8{uint8(value.Bits)}}, &fillKernel[uint16]{value: []uint16{uint16(value.Bits)}},
		&fillKernel[uint32]{value: []uint32{uint32(value.Bits)}}, &fillKernel[uint64]{value: []uint64{value.Bits}})
}

// fillKernel copies one element that is repeated along every axis.
type fillKernel[T word] struct {
	value   []T
	out     *Operand
	move    mover[T]
	strides []int
}

func (k *fillKernel[T]) Bind(_, out []*Operand) {
	k.out = out[0]
	k.strides = append(k.strides[:0], k.out.Strides...)
	clear(k.strides)
	k.move.bind(k.out.Shape, k.out.Strides, k.strides)
}

func (k *fillKernel[T]) Tasks() int   { return k.move.tasks }
func (k *fillKernel[T]) Scratch() int { return k.move.scratch() }

func (k *fillKernel[T]) Run(task int, scratch []byte) error {
	k.move.run(task, Slice[T](k.out), k.out.Offset, k.value, 0, scratch)
	return nil
}

// NewIota returns a kernel without inputs for an output of one axis, with any
// stride. Start and delta have the element type of the output. It equals
//
//	for i in [0, n): out[i] = start + i*delta
//
// where integers wrap, and floating-point types are computed in float64 and
// then rounded once.
func NewIota(start, delta Scalar) *IotaKernel { return &IotaKernel{start: start, delta: delta} }

// An IotaKernel is a kernel of [NewIota].
type IotaKernel struct {
	start, delta Scalar
	out          *Operand
	tasks, each  int
}

// Set gives the kernel another start and delta, of the same types.
func (k *IotaKernel) Set(start, delta Scalar) { k.start, k.delta = start, delta }

// Bind implements [Kernel].
func (k *IotaKernel) Bind(_, out []*Operand) {
	k.out = out[0]
	k.tasks, k.each = Parts(k.out.Shape[0], 1)
}

// Tasks implements [Kernel].
func (k *IotaKernel) Tasks() int { return k.tasks }

// Scratch implements [Kernel].
func (k *IotaKernel) Scratch() int { return 0 }

// Run implements [Kernel].
func (k *IotaKernel) Run(task int, _ []byte) error {
	lo, hi := task*k.each, min((task+1)*k.each, k.out.Shape[0])
	at, step := k.out.Offset+lo*k.out.Strides[0], k.out.Strides[0]
	start, delta := k.start.Float64(), k.delta.Float64()
	switch k.out.DType {
	case dtype.Float64:
		for dst := Slice[float64](k.out); lo < hi; lo, at = lo+1, at+step {
			dst[at] = ramp(start, delta, lo)
		}
	case dtype.Float32:
		for dst := Slice[float32](k.out); lo < hi; lo, at = lo+1, at+step {
			dst[at] = float32(ramp(start, delta, lo))
		}
	case dtype.Float16:
		for dst := Slice[dtype.F16](k.out); lo < hi; lo, at = lo+1, at+step {
			dst[at] = dtype.ToF16(oddFloat32(ramp(start, delta, lo)))
		}
	case dtype.BFloat16:
		for dst := Slice[dtype.BF16](k.out); lo < hi; lo, at = lo+1, at+step {
			dst[at] = dtype.ToBF16(oddFloat32(ramp(start, delta, lo)))
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
func (k *IotaKernel) integers(lo, hi, at int) {
	start, delta, step := k.start.Bits, k.delta.Bits, k.out.Strides[0]
	switch k.out.DType.Size() {
	case 1:
		for dst := Slice[uint8](k.out); lo < hi; lo, at = lo+1, at+step {
			dst[at] = uint8(start + uint64(lo)*delta)
		}
	case 2:
		for dst := Slice[uint16](k.out); lo < hi; lo, at = lo+1, at+step {
			dst[at] = uint16(start + uint64(lo)*delta)
		}
	case 4:
		for dst := Slice[uint32](k.out); lo < hi; lo, at = lo+1, at+step {
			dst[at] = uint32(start + uint64(lo)*delta)
		}
	case 8:
		for dst := Slice[uint64](k.out); lo < hi; lo, at = lo+1, at+step {
			dst[at] = start + uint64(lo)*delta
		}
	}
}

// NewEye returns a kernel without inputs for an output of two axes, with any
// strides: element (i, j) is one where j-i is the diagonal, and zero elsewhere.
func NewEye(one Scalar, diagonal int) Kernel {
	return ofWidth(one.DType.Size(),
		&eyeKernel[uint8]{one: uint8(one.Bits), diagonal: diagonal}, &eyeKernel[uint16]{one: uint16(one.Bits), diagonal: diagonal},
		&eyeKernel[uint32]{one: uint32(one.Bits), diagonal: diagonal}, &eyeKernel[uint64]{one: one.Bits, diagonal: diagonal})
}

type eyeKernel[T word] struct {
	one         T
	diagonal    int
	out         *Operand
	tasks, each int // rows
}

func (k *eyeKernel[T]) Bind(_, out []*Operand) {
	k.out = out[0]
	k.tasks, k.each = Parts(k.out.Shape[0], k.out.Shape[1])
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
	dst := Slice[T](k.out)
	var zero T
	for i := task * k.each; i < min((task+1)*k.each, rows); i++ {
		at := k.out.Offset + i*k.out.Strides[0]
		fillStrided(dst, at, k.out.Strides[1], cols, zero)
		if j := i + diagonal; j >= 0 && j < cols {
			dst[at+j*k.out.Strides[1]] = k.one
		}
	}
	return nil
}

// NewList returns a kernel without inputs for an output of one axis, with any
// stride, of int64 elements: the given ones.
func NewList(elems []int) *ListKernel { return &ListKernel{elems: slices.Clone(elems)} }

// A ListKernel is a kernel of [NewList].
type ListKernel struct {
	elems []int
	out   *Operand
}

// Set gives the kernel other elements, as many as before.
func (k *ListKernel) Set(elems []int) { copy(k.elems, elems) }

// Bind implements [Kernel].
func (k *ListKernel) Bind(_, out []*Operand) { k.out = out[0] }

// Tasks implements [Kernel].
func (k *ListKernel) Tasks() int { return min(len(k.elems), 1) }

// Scratch implements [Kernel].
func (k *ListKernel) Scratch() int { return 0 }

// Run implements [Kernel].
func (k *ListKernel) Run(int, []byte) error {
	out := Slice[int64](k.out)
	for i, n := range k.elems {
		out[k.out.Offset+i*k.out.Strides[0]] = int64(n)
	}
	return nil
}
