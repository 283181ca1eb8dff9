package quant

import (
	"fmt"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/gemm"
	"github.com/berth-go/berth/internal/op/linear"
	"github.com/berth-go/berth/shape"
)

// MatMul is the product of quantised matrices, [.., m, k] by [.., k, n], under NumPy's
// rules for the axes before the last two. [product] states the sum. The inputs are a,
// b, and optionally the zero points of a and b, the scale and zero point of the
// result, and a bias.
//
// The zero point of a broadcasts to [.., m, 1] of the result, that of b to
// [.., 1, n], and what follows to the result: [m, 1] is a number for each row.
//
//	quant_matmul a[2 3]:uint8 b[3 4]:int8                      int32[2 4], the sums
//	quant_matmul{to=uint8} a b zeroA zeroB scale zeroY         uint8[2 4]
type MatMul struct {
	To dtype.Type // int8 or uint8: of the result; where it is not set, that is the sums, in int32
}

// Name returns "quant_matmul".
func (MatMul) Name() string { return "quant_matmul" }

// Infer implements [graph.Op].
func (m MatMul) Infer(in []graph.Type) ([]graph.Type, error) {
	to, err := check(in, m.To)
	if err != nil {
		return nil, err
	}
	for i := range inZeroLeft {
		if len(in[i].Shape) < 2 {
			return nil, fmt.Errorf("%s %v: want a matrix, or several", inputNames[i], in[i])
		}
	}
	// The rule for shapes is that of any product.
	sums, err := linear.MatMul{}.Infer([]graph.Type{
		{DType: dtype.Int32, Shape: in[inLeft].Shape}, {DType: dtype.Int32, Shape: in[inRight].Shape},
	})
	if err != nil {
		return nil, err
	}
	s := sums[0].Shape
	last := len(s) - 1
	rows, cols := s.Clone(), s.Clone()
	rows[last], cols[last-1] = 1, 1
	for _, want := range []struct {
		input int
		shape shape.Shape
	}{{inZeroLeft, rows}, {inZeroRight, cols}, {inScale, s}, {inZeroOut, s}, {inBias, s}} {
		if err := broadcasts(in, want.input, want.shape); err != nil {
			return nil, err
		}
	}
	return []graph.Type{{DType: to, Shape: s}}, nil
}

// Kernel implements [op.Computer].
func (m MatMul) Kernel(in, out []graph.Type) kernel.Kernel {
	return &matMul{product: newProduct(in[inLeft].DType, in[inRight].DType, out[0].DType, false)}
}

// DenseAxes implements [op.Strider].
func (MatMul) DenseAxes(operand, rank int) int {
	if operand >= 0 {
		return 0
	}
	return min(rank, 1)
}

// matMul is a batch of products, each cut by the same product.
type matMul struct {
	product
	views       [numInputs]view
	y           view
	batch       []int // extents of the axes that are looped over
	count, each int   // products, and products in a task if a product is one task
}

// A view is an operand as one or more matrices; the result and all that broadcasts
// to it have the same axes.
type view struct {
	o        *kernel.Operand // nil where it is absent
	batch    []int           // strides of the axes that are looped over
	row, col int
}

// bind sets the strides of o, 0 where it is broadcast along an axis of out. Axes
// of out before the last two of extent 1 are left out.
func (v *view) bind(o, out *kernel.Operand) {
	v.o, v.batch, v.row, v.col = o, v.batch[:0], 0, 0
	if o == nil {
		return
	}
	rank := len(out.Shape)
	stride := func(axis int) int {
		axis += len(o.Shape) - rank
		if axis < 0 || o.Shape[axis] == 1 {
			return 0
		}
		return o.Strides[axis]
	}
	for axis, d := range out.Shape[:rank-2] {
		if d != 1 {
			v.batch = append(v.batch, stride(axis))
		}
	}
	v.row, v.col = stride(rank-2), stride(rank-1)
}

// at returns the place of the matrix at index i of the batch, counted in row-major
// order of its extents.
func (v *view) at(batch []int, i int) int {
	if v.o == nil {
		return 0
	}
	at := v.o.Offset
	for axis := len(batch) - 1; axis >= 0 && i > 0; axis-- {
		at += i % batch[axis] * v.batch[axis]
		i /= batch[axis]
	}
	return at
}

// matrix returns the matrix of v at index i of a batch.
func matrix[T kernel.Number](v *view, batch []int, i int) gemm.Matrix[T] {
	if v.o == nil {
		return gemm.Matrix[T]{}
	}
	return gemm.Matrix[T]{Data: kernel.Slice[T](v.o), At: v.at(batch, i), Row: v.row, Col: v.col}
}

// Bind implements [kernel.Kernel].
func (k *matMul) Bind(in, out []*kernel.Operand) {
	y := out[0]
	rank := len(y.Shape)
	for i := range k.views {
		k.views[i].bind(given(in, i), y)
	}
	k.y.bind(y, y)
	k.batch = k.batch[:0]
	for _, d := range y.Shape[:rank-2] {
		if d != 1 {
			k.batch = append(k.batch, d)
		}
	}
	m, n := y.Shape[rank-2], y.Shape[rank-1]
	depth := in[inLeft].Shape[len(in[inLeft].Shape)-1]
	for last := len(k.batch) - 1; last >= 0 && k.moreRows(last, m); last-- {
		for _, v := range k.rowViews() {
			if v.o != nil && m == 1 {
				v.row = v.batch[last]
			}
		}
		m *= k.batch[last]
		k.batch = k.batch[:last]
	}
	k.cut.Plan(m, n, depth)
	k.count = 1
	for _, d := range k.batch {
		k.count *= d
	}
	k.each = 1
	if k.cut.Tasks() == 1 {
		_, k.each = kernel.Parts(k.count, m*depth+depth*n+m*n)
	}
}

// rowViews returns the operands that have rows of the result.
func (k *matMul) rowViews() [6]*view {
	v := &k.views
	return [...]*view{&v[inLeft], &v[inZeroLeft], &v[inScale], &v[inZeroOut], &v[inBias], &k.y}
}

// moreRows reports whether a batch axis can be taken as more rows of one product:
// b does not change along it, and all else goes on as if each matrix were
// followed by the next.
func (k *matMul) moreRows(axis, m int) bool {
	for _, v := range [...]*view{&k.views[inRight], &k.views[inZeroRight]} {
		if v.o != nil && v.batch[axis] != 0 {
			return false
		}
	}
	for _, v := range k.rowViews() {
		if v.o != nil && m != 1 && v.batch[axis] != m*v.row {
			return false
		}
	}
	return true
}

// Tasks implements [kernel.Kernel].
func (k *matMul) Tasks() int {
	if k.count == 0 {
		return 0
	}
	return kernel.CeilDiv(k.count, k.each) * k.cut.Tasks()
}

// Run implements [kernel.Kernel].
func (k *matMul) Run(task int, scratch []byte) error {
	per := k.cut.Tasks()
	first := task / per * k.each
	v := &k.views
	strips, sums := prepacked(k.prepacked, k.cut.N)
	for i := first; i < min(first+k.each, k.count); i++ {
		f := factors{
			a:     gemm.Left[uint8]{Matrix: matrix[uint8](&v[inLeft], k.batch, i)},
			b:     gemm.Right[uint8]{Matrix: matrix[uint8](&v[inRight], k.batch, i), Prepacked: strips},
			sumB:  sums,
			zeroA: matrix[uint8](&v[inZeroLeft], k.batch, i),
			zeroB: matrix[uint8](&v[inZeroRight], k.batch, i),
			bias:  matrix[int32](&v[inBias], k.batch, i),
			scale: matrix[float32](&v[inScale], k.batch, i),
			zeroY: matrix[uint8](&v[inZeroOut], k.batch, i),
		}
		k.run(task%per, scratch, &f, k.y.o, k.y.at(k.batch, i), k.y.row)
	}
	return nil
}

// PrepackedBytes implements [kernel.Prepacker]: a right matrix that is the same for the
// whole batch is worth prepacking.
func (k *matMul) PrepackedBytes(input int) int {
	if input != inRight || len(k.views[inRight].o.Shape) != 2 {
		return 0
	}
	return prepackedBytes(k.cut.N, k.cut.K, k.tile.Cols)
}

// PrepackedForm implements [kernel.Prepacker].
func (k *matMul) PrepackedForm(int) string {
	return "quads with sums, " + gemm.Form(k.tile.Cols, 1, true)
}

// Prepack implements [kernel.Prepacker].
func (k *matMul) Prepack(input int, dst []byte) {
	if k.PrepackedBytes(input) == 0 {
		return
	}
	b := matrix[uint8](&k.views[inRight], nil, 0)
	k.prepack(dst, b.Transposed(), k.cut.N, k.cut.K, k.tile.Cols, k.flipB)
}

// UsePrepacked implements [kernel.Prepacker].
func (k *matMul) UsePrepacked(input int, prepacked []byte) {
	if input == inRight {
		k.prepacked = prepacked
	}
}
