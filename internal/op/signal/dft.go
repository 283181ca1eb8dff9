// Package signal is the family of ops on signals: the discrete Fourier
// transform.
//
// # Where to find what
//
//	dft.go  the op and its kernel
//	fft.go  one transform of complex numbers, of any length
package signal

import (
	"fmt"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/shape"
)

// DFT is the discrete Fourier transform of the lines along an axis. Complex
// numbers are pairs on the last axis, the real part first; real ones are alone
// on it. A line is cut, or continued by zeros, to Length elements x, and becomes
//
//	y[k] = sum over j of x[j] * exp(-2πi*j*k/Length), k in [0, Length)
//
// OneSided leaves out those that follow from the others when x is real, which it
// must be then: what is left are the Length/2+1 first ones.
//
// Inverse undoes this: with the other sign in the exponent, and divided by
// Length. With OneSided it takes Length/2+1 complex elements and gives Length
// real ones; the imaginary parts of those that are real for a real x, the first and
// for an even Length the last, are not looked at.
//
// It takes floating-point types and computes in float64.
type DFT struct {
	Axis     int // negative: from the end; not the last
	Length   int
	Inverse  bool
	OneSided bool
}

// maxLength bounds the length of a transform, whose tables take about 100 bytes
// for each element.
const maxLength = 1 << 24

// Name returns "dft".
func (DFT) Name() string { return "dft" }

// Infer returns the type of the input with other extents of the axis and of the
// last one.
func (o DFT) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := op.Takes(in, 1, 1); err != nil {
		return nil, err
	}
	x := in[0]
	rank := len(x.Shape)
	axis, err := shape.Axis(o.Axis, rank)
	switch {
	case err != nil:
		return nil, fmt.Errorf("of %v: %w", x, err)
	case !x.DType.IsFloat():
		return nil, fmt.Errorf("of %v, not of a floating-point type", x)
	case axis == rank-1:
		return nil, fmt.Errorf("of %v: axis %d has the parts of numbers", x, axis)
	case x.Shape[rank-1] != 1 && x.Shape[rank-1] != 2:
		return nil, fmt.Errorf("of %v: numbers have %d parts, want 1 or 2", x, x.Shape[rank-1])
	case o.OneSided && (x.Shape[rank-1] == 2) != o.Inverse:
		return nil, fmt.Errorf("of %v: one-sided, it takes real numbers, and its inverse complex ones", x)
	case o.Length < 1 || o.Length > maxLength:
		return nil, fmt.Errorf("of %v: length %d is not in [1, %d]", x, o.Length, maxLength)
	}
	y := graph.Type{DType: x.DType, Shape: x.Shape.Clone()}
	y.Shape[axis], y.Shape[rank-1] = o.Length, 2
	switch {
	case o.OneSided && o.Inverse:
		y.Shape[rank-1] = 1
	case o.OneSided:
		y.Shape[axis] = o.Length/2 + 1
	}
	return []graph.Type{y}, y.Check()
}

// Kernel returns the transform.
func (o DFT) Kernel(in, _ []graph.Type) kernel.Kernel {
	o.Axis, _ = shape.Axis(o.Axis, len(in[0].Shape))
	return kernel.OfFloat(in[0].DType, o, newDFT[float32], newDFT[float64])
}

// DenseAxes returns 0: all strides will do.
func (DFT) DenseAxes(_, _ int) int { return 0 }

// ComputesInFloat32 marks the op.
func (DFT) ComputesInFloat32() {}

// newDFT returns the kernel of o, whose axis counts from 0.
func newDFT[T kernel.Float](o DFT) kernel.Kernel { return &dftKernel[T]{DFT: o} }

type dftKernel[T kernel.Float] struct {
	DFT
	transform *transform
	in, out   *kernel.Operand
	lines     kernel.Walk // over the beginnings of lines in both operands
	shape     []int
	strides   [2][]int
	tasks     int
	each      int // lines of a task
}

func (k *dftKernel[T]) Bind(in, out []*kernel.Operand) {
	k.in, k.out = in[0], out[0]
	if k.transform == nil {
		k.transform = newTransform(k.Length)
	}
	last := len(k.in.Shape) - 1
	k.shape = append(append(k.shape[:0], k.in.Shape[:k.Axis]...), k.in.Shape[k.Axis+1:last]...)
	for i, o := range [...]*kernel.Operand{k.in, k.out} {
		k.strides[i] = append(append(k.strides[i][:0], o.Strides[:k.Axis]...), o.Strides[k.Axis+1:last]...)
	}
	k.lines.Bind(k.shape, k.strides[0], k.strides[1])
	k.tasks, k.each = kernel.Parts(k.lines.Rows*k.lines.Len, 16*k.Length)
}

func (k *dftKernel[T]) Tasks() int { return k.tasks }

func (k *dftKernel[T]) Scratch() int { return 2 * kernel.Carved[complex128](workLength(k.Length)) }

func (k *dftKernel[T]) Run(task int, scratch []byte) error {
	x := kernel.Carve[complex128](&scratch, workLength(k.Length))
	work := kernel.Carve[complex128](&scratch, workLength(k.Length))
	lines := k.lines.Rows * k.lines.Len
	var at [2]int
	for line := task * k.each; line < min((task+1)*k.each, lines); line++ {
		k.lines.Locate(line, line+1, at[:])
		k.read(x[:k.Length], k.in.Offset+at[0])
		k.write(k.out.Offset+at[1], k.transform.run(x, work))
	}
	return nil
}

// read sets x to the line that begins at an element of the input. What is to be
// transformed back is conjugated.
func (k *dftKernel[T]) read(x []complex128, at int) {
	src := kernel.Slice[T](k.in)
	last := len(k.in.Shape) - 1
	step, toImag := k.in.Strides[k.Axis], k.in.Strides[last]
	given := min(len(x), k.in.Shape[k.Axis])
	if k.OneSided && k.Inverse {
		given = min(len(x)/2+1, k.in.Shape[k.Axis])
	}
	clear(x)
	for j := range given {
		re, im := float64(src[at+j*step]), 0.0
		if k.in.Shape[last] == 2 {
			im = float64(src[at+j*step+toImag])
		}
		if k.Inverse {
			im = -im
		}
		x[j] = complex(re, im)
		if mirror := len(x) - j; k.OneSided && k.Inverse {
			switch {
			case j == 0 || mirror == j:
				x[j] = complex(re, 0)
			default:
				x[mirror] = complex(re, -im)
			}
		}
	}
}

// write puts the transformed line y to where it begins in the output.
func (k *dftKernel[T]) write(at int, y []complex128) {
	dst := kernel.Slice[T](k.out)
	last := len(k.out.Shape) - 1
	step, toImag := k.out.Strides[k.Axis], k.out.Strides[last]
	for _, v := range y[:k.out.Shape[k.Axis]] {
		re, im := real(v), imag(v)
		if k.Inverse {
			re, im = re/float64(k.Length), -im/float64(k.Length)
		}
		dst[at] = T(re)
		if k.out.Shape[last] == 2 {
			dst[at+toImag] = T(im)
		}
		at += step
	}
}
