package recurrent

import (
	"fmt"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/gemm"
	"github.com/berth-go/berth/internal/op/elementwise"
)

// kernelParams are what a kernel is made of: a layer, and for which operands.
type kernelParams struct {
	*layer
	given bool // there are parameters
	dtype dtype.Type
}

// newKernel returns the kernel of a layer. It takes the steps one after the other,
// with the states of a few rows of the batch in working memory:
//
//	for each direction and row, in tasks of some rows:
//		h, c = the states before the first step
//		for each step s that the row has, in the order of the direction:
//			for each phase:
//				gates = left·r'ᵀ + x[s]    of the gates of the phase
//				for each update: to = program(from)
//			y[s] = h
//		y = 0 at the other steps
//		h, c go to the last outputs
//
// The last axis of each operand must lie dense. Products are summed as package
// gemm states, and do not depend on what rows are done together.
func newKernel[T kernel.Float](p kernelParams) kernel.Kernel {
	k := &layerKernel[T]{layer: p.layer}
	per := len(p.functions) / p.direction.Layers()
	for d := range p.direction.Layers() {
		phases := p.phases(p.functions[d*per:(d+1)*per], &formulas{p.dtype, p.clip, p.given})
		k.phases = append(k.phases, phases)
		var vectors []*elementwise.Vector
		for _, ph := range phases {
			for _, u := range ph.updates {
				v := elementwise.VectorOf(u.program, p.dtype, len(u.from))
				k.vectorScratch = max(k.vectorScratch, v.Scratch())
				vectors = append(vectors, v)
			}
		}
		k.vectors = append(k.vectors, vectors)
	}
	for range k.phases[0] {
		k.products = append(k.products, gemm.New[T]())
	}
	return k
}

type layerKernel[T kernel.Float] struct {
	*layer
	phases        [][]phase               // of each direction
	vectors       [][]*elementwise.Vector // of each direction, its updates in order
	products      []gemm.Product[T]       // of each phase
	vectorScratch int

	in  [inCells + 2]*kernel.Operand // nil: absent
	p   *kernel.Operand              // parameters; nil: absent
	y   *kernel.Operand              // nil: not asked for
	out [2]*kernel.Operand           // the last states

	steps, batch, size int // size: elements of the hidden state
	rows               int // of a task
	prepacked          []T // every direction's weights
}

// Bind implements [kernel.Kernel].
func (k *layerKernel[T]) Bind(in, out []*kernel.Operand) {
	clear(k.in[:])
	k.p = nil
	copy(k.in[:], in)
	if last := k.inputs() - 1; k.params > 0 && last < len(in) {
		k.p, k.in[last] = in[last], nil
	}
	k.y = nil
	if !k.final {
		k.y, out = out[0], out[1:]
	}
	copy(k.out[:], out)
	x := k.in[inX].Shape
	k.steps, k.batch, k.size = x[0], x[1], k.in[inR].Shape[2]
	k.rows = k.rowsOfTask()
	for i, p := range k.phases[0] {
		k.products[i].Plan(k.rows, (p.to-p.from)*k.size, k.size)
	}
}

// rowsOfTask cuts the batch: into some tasks, for the workers to share, but none
// of fewer rows than a tile of a product has.
func (k *layerKernel[T]) rowsOfTask() int {
	const enough = 8 // tasks
	tile := k.products[0].Tile.Rows
	rows := kernel.CeilDiv(k.batch*k.direction.Layers(), enough)
	return min(k.batch, kernel.CeilDiv(rows, tile)*tile)
}

// blocks returns the number of tasks of a direction.
func (k *layerKernel[T]) blocks() int {
	if k.batch == 0 || k.size == 0 {
		return 0
	}
	return kernel.CeilDiv(k.batch, k.rows)
}

// Tasks implements [kernel.Kernel].
func (k *layerKernel[T]) Tasks() int { return k.direction.Layers() * k.blocks() }

// Scratch implements [kernel.Kernel].
func (k *layerKernel[T]) Scratch() int {
	if k.Tasks() == 0 {
		return 0
	}
	own := kernel.Carved[T](k.rows*k.gates*k.size) + 3*kernel.Carved[T](k.rows*k.size)
	if k.prepacked == nil {
		own += kernel.Carved[T](k.packedSize())
	}
	shared := k.vectorScratch
	for i := range k.products {
		shared = max(shared, k.products[i].Scratch())
	}
	return own + shared
}

// packedSize returns the elements that the packed weights of a direction take.
func (k *layerKernel[T]) packedSize() int {
	n := 0
	for i := range k.products {
		n += k.packedOf(i)
	}
	return n
}

// packedOf returns the elements that those of the phase i take.
func (k *layerKernel[T]) packedOf(i int) int {
	g := &k.products[i]
	return gemm.Prepacked(g.N, g.K, g.Tile.Cols)
}

// pack packs the weights of a direction, those of one phase after the other.
func (k *layerKernel[T]) pack(dst []T, direction int) {
	r := k.in[inR]
	for i, p := range k.phases[direction] {
		g := &k.products[i]
		m := gemm.Matrix[T]{
			Data: kernel.Slice[T](r), At: r.Offset + direction*r.Strides[0] + p.from*k.size*r.Strides[1],
			Row: r.Strides[1], Col: r.Strides[2],
		}
		gemm.Prepack(dst, m, g.N, g.K, g.Tile.Cols)
		dst = dst[k.packedOf(i):]
	}
}

// PrepackedBytes implements [kernel.Prepacker].
func (k *layerKernel[T]) PrepackedBytes(input int) int {
	if input != inR {
		return 0
	}
	return k.direction.Layers() * k.packedSize() * k.in[inR].DType.Size()
}

// PrepackedForm implements [kernel.Prepacker]: for each direction and phase, the gates
// that are packed together.
func (k *layerKernel[T]) PrepackedForm(int) string {
	form := gemm.Form(k.products[0].Tile.Cols, k.direction.Layers(), false)
	for _, phases := range k.phases {
		for _, p := range phases {
			form += fmt.Sprintf(", gates [%d, %d)", p.from, p.to)
		}
	}
	return form
}

// Prepack implements [kernel.Prepacker].
func (k *layerKernel[T]) Prepack(input int, dst []byte) {
	if input != inR {
		return
	}
	size := k.packedSize()
	for d := range k.direction.Layers() {
		k.pack(kernel.Cast[T](dst)[d*size:], d)
	}
}

// UsePrepacked implements [kernel.Prepacker].
func (k *layerKernel[T]) UsePrepacked(input int, prepacked []byte) {
	if input == inR {
		k.prepacked = kernel.Cast[T](prepacked)
	}
}
