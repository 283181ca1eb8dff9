package linear

import (
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/gemm"
	"github.com/berth-go/berth/internal/op/elementwise"
)

// params are what a product has beside its operands.
type params struct {
	transA, transB bool                  // of a and b that are matrices
	half           dtype.Type            // of b, if that is one beside an a of float32
	epilogue       *elementwise.Epilogue // may be nil
}

// newProduct returns the kernel of NumPy's matrix product: out = a·b over the last
// two axes, the axes before them broadcast, and a or b transposed if asked. A 1-d
// left operand is a row, a 1-d right one a column, and the axis this adds is absent
// from the result. Inputs may have any strides, so transposed views need no copy;
// the last axis of the output must be dense. Integers wrap. The epilogue runs on
// each block of the output, with the operands after a and b that are present. It
// returns nil for an element type without arithmetic of its own.
func newProduct(t dtype.Type, p params) kernel.Kernel {
	switch t {
	case dtype.Float32:
		return newMatMul[float32](p)
	case dtype.Float64:
		return newMatMul[float64](p)
	case dtype.Int8:
		return newMatMul[int8](p)
	case dtype.Int16:
		return newMatMul[int16](p)
	case dtype.Int32:
		return newMatMul[int32](p)
	case dtype.Int64:
		return newMatMul[int64](p)
	case dtype.Uint8:
		return newMatMul[uint8](p)
	case dtype.Uint16:
		return newMatMul[uint16](p)
	case dtype.Uint32:
		return newMatMul[uint32](p)
	case dtype.Uint64:
		return newMatMul[uint64](p)
	}
	return nil
}

func newMatMul[T kernel.Number](p params) kernel.Kernel {
	k := &matMul[T]{gemm: gemm.New[T](), params: p}
	if p.half.IsHalf() {
		k.gemm.Halves = true
		k.halves = gemm.HalvesOf(p.half)
	}
	return k
}

// matMul is a batch of products, each cut by the same gemm.
type matMul[T kernel.Number] struct {
	gemm gemm.Product[T]
	params
	a, b, out *kernel.Operand

	batch                          []int // extents of the axes that are looped over
	batchA, batchB, batchO         []int // their strides
	rowA, colA, rowB, colB, rowOut int
	swapped                        bool // the product is computed as out' = b'·a'
	count, each                    int  // products, and products in a task if a product is one task
	prepackedB                     []T
	halves                         gemm.Halves // of b
}

// Bind implements [kernel.Kernel].
func (k *matMul[T]) Bind(in, out []*kernel.Operand) {
	k.a, k.b, k.out = in[0], in[1], out[0]
	k.epilogue.Bind(k.out, in[2:]...)
	k.bindBatch()
	m, n, depth := k.bindMatrices()
	for last := len(k.batch) - 1; last >= 0 && k.moreRows(last, m); last-- {
		if m == 1 {
			k.rowA, k.rowOut = k.batchA[last], k.batchO[last]
		}
		m *= k.batch[last]
		k.batch, k.batchA, k.batchB, k.batchO = k.batch[:last], k.batchA[:last], k.batchB[:last], k.batchO[:last]
	}
	// A matrix times a column would leave the columns of a tile empty. As a
	// row times the transposed matrix it fills them, with the same sums.
	k.swapped = n == 1 && m > 1 && k.rowOut == 1 && !k.gemm.Halves
	if k.swapped {
		m, n = n, m
		k.rowA, k.colA, k.rowB, k.colB = k.colB, k.rowB, k.colA, k.rowA
		k.batchA, k.batchB = k.batchB, k.batchA
	}
	k.gemm.Plan(m, n, depth)
	k.count = 1
	for _, d := range k.batch {
		k.count *= d
	}
	k.each = 1
	if k.gemm.Tasks() == 1 {
		_, k.each = kernel.Parts(k.count, m*depth+depth*n+m*n)
	}
}

// moreRows reports whether a batch axis can be taken as more rows of one
// product: b does not change along it, and a and out go on as if each matrix
// were followed by the next.
func (k *matMul[T]) moreRows(axis, m int) bool {
	if k.batchB[axis] != 0 {
		return false
	}
	return m == 1 || k.batchA[axis] == m*k.rowA && k.batchO[axis] == m*k.rowOut
}

// bindBatch collects the batch axes, without those of extent 1.
func (k *matMul[T]) bindBatch() {
	k.batch, k.batchA, k.batchB, k.batchO = k.batch[:0], k.batchA[:0], k.batchB[:0], k.batchO[:0]
	rank := max(len(k.a.Shape), len(k.b.Shape)) - 2
	for axis := range rank {
		d := k.out.Shape[axis]
		if d == 1 {
			continue
		}
		k.batch = append(k.batch, d)
		k.batchA = append(k.batchA, batchStride(k.a, axis-rank-2))
		k.batchB = append(k.batchB, batchStride(k.b, axis-rank-2))
		k.batchO = append(k.batchO, k.out.Strides[axis])
	}
}

// batchStride returns the stride of axis, counted from the end as a negative
// number, and 0 where the operand is broadcast along it.
func batchStride(o *kernel.Operand, axis int) int {
	axis += len(o.Shape)
	if axis < 0 || o.Shape[axis] == 1 {
		return 0
	}
	return o.Strides[axis]
}

// bindMatrices sets the strides within a single product and returns its extents.
func (k *matMul[T]) bindMatrices() (m, n, depth int) {
	m, n = 1, 1
	k.rowA, k.colB, k.rowOut = 0, 0, 0
	la, lb, lo := len(k.a.Shape), len(k.b.Shape), len(k.out.Shape)
	depth, k.colA = k.a.Shape[la-1], k.a.Strides[la-1]
	if la > 1 {
		m, k.rowA = k.a.Shape[la-2], k.a.Strides[la-2]
		if k.transA {
			m, depth = depth, m
			k.rowA, k.colA = k.colA, k.rowA
		}
	}
	k.rowB = k.b.Strides[lb-1]
	if lb > 1 {
		n, k.colB, k.rowB = k.b.Shape[lb-1], k.b.Strides[lb-1], k.b.Strides[lb-2]
		if k.transB {
			n = k.b.Shape[lb-2]
			k.rowB, k.colB = k.colB, k.rowB
		}
	}
	switch {
	case la > 1 && lb > 1:
		k.rowOut = k.out.Strides[lo-2]
	case la > 1:
		k.rowOut = k.out.Strides[lo-1]
	}
	return m, n, depth
}

// Tasks implements [kernel.Kernel].
func (k *matMul[T]) Tasks() int {
	if k.count == 0 {
		return 0
	}
	return kernel.CeilDiv(k.count, k.each) * k.gemm.Tasks()
}

// Scratch implements [kernel.Kernel].
func (k *matMul[T]) Scratch() int { return max(k.gemm.Scratch(), k.epilogue.Scratch()) }

// Run implements [kernel.Kernel].
func (k *matMul[T]) Run(task int, scratch []byte) error {
	per := k.gemm.Tasks()
	first := task / per * k.each
	for i := first; i < min(first+k.each, k.count); i++ {
		if err := k.product(i, task%per, scratch); err != nil {
			return err
		}
	}
	return nil
}

// product computes one block of product i of the batch.
func (k *matMul[T]) product(i, block int, scratch []byte) error {
	x, y := k.a, k.b
	if k.swapped {
		x, y = y, x
	}
	a := gemm.Left[T]{Matrix: gemm.Matrix[T]{Data: kernel.Slice[T](x), At: x.Offset, Row: k.rowA, Col: k.colA}}
	b := gemm.Right[T]{Matrix: gemm.Matrix[T]{At: y.Offset, Row: k.rowB, Col: k.colB}, Prepacked: k.prepackedB, Halves: k.halves}
	if k.gemm.Halves {
		b.Halves.Data = kernel.Slice[uint16](y)
	} else {
		b.Data = kernel.Slice[T](y)
	}
	at := k.out.Offset
	for axis, rest := len(k.batch)-1, i; axis >= 0 && rest > 0; axis-- {
		j := rest % k.batch[axis]
		rest /= k.batch[axis]
		a.At += j * k.batchA[axis]
		b.At += j * k.batchB[axis]
		at += j * k.batchO[axis]
	}
	k.gemm.Run(block, scratch, &a, &b, kernel.Slice[T](k.out)[at:], k.rowOut)
	i0, i1, j0, j1 := k.gemm.Block(block)
	return k.epilogue.Run((i*k.gemm.M+i0)*k.gemm.N+j0, i1-i0, k.gemm.N, j1-j0, scratch)
}

// PrepackedBytes implements [kernel.Prepacker]: a right matrix that is the same for the
// whole batch is worth prepacking, unless a single row is multiplied by it.
func (k *matMul[T]) PrepackedBytes(input int) int {
	a, b := gemm.Matrix[T]{Row: k.rowA, Col: k.colA}, gemm.Matrix[T]{Row: k.rowB, Col: k.colB}
	if input != 1 || len(k.b.Shape) != 2 || k.swapped || k.gemm.N == 1 || k.gemm.ReadsRow(a, b) {
		return 0
	}
	return gemm.Prepacked(k.gemm.N, k.gemm.K, k.gemm.Tile.Cols) * k.b.DType.Size()
}

// PrepackedForm implements [kernel.Prepacker].
func (k *matMul[T]) PrepackedForm(int) string { return gemm.Form(k.gemm.Tile.Cols, 1, !k.transB) }

// Prepack implements [kernel.Prepacker].
func (k *matMul[T]) Prepack(input int, dst []byte) {
	if k.PrepackedBytes(input) == 0 {
		return
	}
	if k.gemm.Halves {
		prepackRight[uint16](dst, k.b, k.rowB, k.colB, k.gemm.N, k.gemm.K, k.gemm.Tile.Cols)
	} else {
		prepackRight[T](dst, k.b, k.rowB, k.colB, k.gemm.N, k.gemm.K, k.gemm.Tile.Cols)
	}
}

func prepackRight[T kernel.Number](dst []byte, o *kernel.Operand, row, col, n, depth, cols int) {
	b := gemm.Matrix[T]{Data: kernel.Slice[T](o), At: o.Offset, Row: row, Col: col}
	gemm.Prepack(kernel.Cast[T](dst), b.Transposed(), n, depth, cols)
}

// UsePrepacked implements [kernel.Prepacker].
func (k *matMul[T]) UsePrepacked(input int, prepacked []byte) {
	if input == 1 {
		k.prepackedB, k.halves.Prepacked = nil, nil
		switch {
		case prepacked == nil:
		case k.gemm.Halves:
			k.halves.Prepacked = kernel.Cast[uint16](prepacked)
		default:
			k.prepackedB = kernel.Cast[T](prepacked)
		}
	}
}
