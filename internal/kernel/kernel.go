package kernel

import (
	"unsafe"

	"github.com/berth-go/berth/dtype"
)

// An Operand is a strided view of typed memory that a kernel reads or writes.
// Strides and Offset count elements from the start of Data. The slices belong
// to whoever binds the kernel and stay valid until the next Bind.
type Operand struct {
	DType   dtype.Type
	Shape   []int
	Strides []int
	Offset  int
	Data    []byte
}

// A Kernel is one op bound to its operands. It goes through Bind, then any
// number of runs; a run calls Run once for each task in [0, Tasks()), in any
// order, from any number of goroutines at once.
//
// Tasks are cut by the shapes alone and write disjoint elements, so that the
// result does not depend on the number of workers, to the last bit.
type Kernel interface {
	// Bind fixes the operands, in the order of the op's inputs and outputs;
	// an absent optional input is nil. The kernel keeps the pointers: it
	// reads Data and Offset anew at each Run, so memory may be exchanged
	// without a Bind, but shapes and strides may not. Types, ranks and what
	// the op checks in Infer are right by contract. A second Bind with the
	// same ranks and no larger shapes allocates nothing.
	Bind(in, out []*Operand)
	// Tasks returns the number of independent parts of the bound work; 0
	// when there is nothing to do.
	Tasks() int
	// Scratch returns the bytes of working memory that each worker needs.
	// They hold anything at the start of a task. The number follows from the
	// shapes and strides bound, the attributes, and which inputs are prepacked,
	// not from where memory is.
	// It may be larger for smaller shapes, as a kernel that works in blocks
	// needs less once a block is an operand itself: whoever sets memory
	// aside for a range of shapes asks at several of them, not at the
	// largest alone, and checks at each run.
	Scratch() int
	// Run does one task. It allocates nothing, and fails only where the
	// data itself is wrong, such as an index out of range. The scratch is
	// aligned to 64 bytes and at least Scratch() long.
	Run(task int, scratch []byte) error
}

// Slice returns the storage of o, from element 0, as elements of type T,
// which must have the width of o's element type.
func Slice[T any](o *Operand) []T { return Cast[T](o.Data) }

// Cast returns the bytes b as elements of type T, without a copy; a rest too
// short for an element is cut off. b must be aligned for T.
func Cast[T any](b []byte) []T {
	var zero T
	// The one place where bytes become elements. Alignment is kept by Alloc,
	// by arena offsets, and by whoever maps a file.
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(zero)))
}

// Bytes returns the elements of s as bytes, without a copy.
func Bytes[T any](s []T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(zero)))
}

// Align is the alignment in bytes of what [Alloc] returns.
const Align = 64

// Alloc returns n zero bytes aligned to [Align].
func Alloc(n int) []byte {
	if n == 0 {
		return nil
	}
	block := make([]byte, n+Align-1)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(block))) & (Align - 1))
	return block[skip : skip+n : skip+n]
}

// Aligned reports whether b starts at a multiple of width bytes.
func Aligned(b []byte, width int) bool {
	return uintptr(unsafe.Pointer(unsafe.SliceData(b)))%uintptr(width) == 0
}

// Overlap reports whether a and b have a byte of memory in common.
func Overlap(a, b []byte) bool {
	startA, startB := uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return len(a) > 0 && len(b) > 0 && startA < startB+uintptr(len(b)) && startB < startA+uintptr(len(a))
}

// A Prepacker is a kernel that can read a constant input in a form of its own,
// made once and shared by all kernels that name it alike.
type Prepacker interface {
	Kernel
	// PrepackedBytes returns the size of the prepacked form of a bound input; 0
	// where prepacking it gains nothing.
	PrepackedBytes(input int) int
	// PrepackedForm names what the prepacked form of a bound input follows from
	// beside the elements, the type and the layout of the input, such as the height
	// of strips. Kernels of any op that name it alike read the same bytes.
	PrepackedForm(input int) string
	// Prepack writes the prepacked form of a bound input, whose memory is
	// present, to dst.
	Prepack(input int, dst []byte)
	// UsePrepacked makes later runs read prepacked in place of the input's memory,
	// also after a Bind with an input of the same shape. It keeps prepacked,
	// which must be aligned to [Align]; nil undoes it.
	UsePrepacked(input int, prepacked []byte)
}

// An Expander is a Prepacker whose prepacked forms hold more than the elements of the
// input: those that its algorithm makes of them.
type Expander interface {
	Prepacker
	// Expansion returns how many times as many elements the prepacked form of an input
	// has, but for what pads it.
	Expansion(input int) int
}

// Carved returns the bytes that [Carve] uses for n elements of type T.
func Carved[T any](n int) int {
	var zero T
	return CeilDiv(n*int(unsafe.Sizeof(zero)), Align) * Align
}

// Carve cuts n elements off the front of scratch memory.
func Carve[T any](scratch *[]byte, n int) []T {
	size := Carved[T](n)
	s := Cast[T]((*scratch)[:size])[:n:n]
	*scratch = (*scratch)[size:]
	return s
}
