package elementwise

import (
	"fmt"
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
)

// A Vector runs a program over vectors: as many elements of each input, which lie
// dense, wherever that is. Kernels of other ops use it on their working memory.
// Results are those of a [Map], to the last bit. It may be used by several
// goroutines at once.
type Vector struct{ kernel *programKernel }

// vectorBlock is how many elements a Vector does at once, at most: enough for
// the calls of loops not to count.
const vectorBlock = 1024

// VectorOf returns a Vector for a program of as many inputs, all of type t, which
// is no half type. The program must be valid, and its result of type t.
func VectorOf(p Program, t dtype.Type, inputs int) *Vector {
	k, err := newKernel(p, slices.Repeat([]dtype.Type{t}, inputs))
	if err != nil {
		panic(fmt.Sprintf("elementwise: vector of an invalid program: %v", err))
	}
	// Bound to some dense operands: what is planned for them holds for all.
	o := &kernel.Operand{DType: t, Shape: []int{vectorBlock}, Strides: []int{1}}
	k.Bind(slices.Repeat([]*kernel.Operand{o}, inputs), []*kernel.Operand{o})
	return &Vector{k}
}

// Scratch returns the bytes of working memory of [Vector.Run].
func (v *Vector) Scratch() int { return v.kernel.Scratch() }

// Run sets dst to the results for the first inputs in in, of at least as many
// bytes as dst. Dst may be one of them.
func (v *Vector) Run(dst []byte, in *[MaxInputs][]byte, scratch []byte) error {
	k, width := v.kernel, v.kernel.out.DType.Size()
	f := k.begin(scratch, len(dst)/width)
	for at := 0; at < len(dst); at += k.block * width {
		end := min(at+k.block*width, len(dst))
		for i := range k.in {
			f.in[i] = in[i][at:end]
		}
		f.out = dst[at:end]
		f.n = (end - at) / width
		if err := k.runSteps(&f); err != nil {
			return err
		}
	}
	return nil
}
