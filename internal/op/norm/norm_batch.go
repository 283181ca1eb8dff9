package norm

import (
	"math"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/lines"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/shape"
)

// newBatchNorm returns a kernel that normalises each channel, axis 1 of x, by
// statistics that are given; x with a single axis has one channel. The inputs are
// x and, with an element for each channel, scale, bias, mean and variance; the
// output has the type and shape of x. For each element x of channel c
//
//	y = (x - mean[c]) * f + bias[c],  f = scale[c] / sqrt(variance[c] + epsilon)
//
// where f is computed in float64. The lists may be float32 or float64,
// whatever x is. All operands may have any strides, and y may be x. The epilogue,
// which may be nil, runs on y, with the operands after these five.
func newBatchNorm(t dtype.Type, epsilon float64, e *elementwise.Epilogue) kernel.Kernel {
	return kernel.OfFloat(t, batchNorm{epsilon: epsilon, epilogue: e}, batchNormOf[float32], batchNormOf[float64])
}

func batchNormOf[T kernel.Float](b batchNorm) kernel.Kernel { return &batchNormKernel[T]{b} }

type batchNorm struct {
	epsilon  float64
	epilogue *elementwise.Epilogue
	in       [5]*kernel.Operand // x, scale, bias, mean, variance
	out      *kernel.Operand

	channels          // of x, y and places
	places      []int // strides of the number of an element of y in row-major order
	inner       bool  // channels lie next to each other, and make the rows
	perTile     int   // units in each tile of channels
	units       int
	tasks, each int
}

type batchNormKernel[T kernel.Float] struct{ batchNorm }

func (k *batchNorm) Bind(in, out []*kernel.Operand) {
	copy(k.in[:], in)
	k.out = out[0]
	k.epilogue.Bind(k.out, in[len(k.in):]...)
	x, y := in[0], out[0]
	k.places = shape.DenseStrides(append(k.places[:0], y.Shape...), y.Shape)
	if k.epilogue == nil {
		clear(k.places) // which then have no say in how rows are cut
	}
	k.channels.bind(x.Shape, x.Strides, y.Strides, k.places)
	positions := k.rest.Rows * k.rest.Len
	k.inner = k.n > 1 && (positions == 1 || lines.Magnitude(k.across[0]) < lines.Magnitude(k.rest.Inner[0]))
	// A unit is one row of one channel, or one position of a tile of them.
	cost := k.rest.Len
	k.perTile = k.rest.Rows
	k.units = k.n * k.rest.Rows
	if k.inner {
		k.perTile, cost = positions, min(k.n, lines.Tile)
		k.units = kernel.CeilDiv(k.n, lines.Tile) * positions
	}
	k.tasks, k.each = kernel.Parts(k.units, cost)
}

func (k *batchNorm) Tasks() int { return k.tasks }

func (k *batchNormKernel[T]) Scratch() int {
	return 3*kernel.Carved[T](lines.Tile) + k.epilogue.Scratch()
}

func (k *batchNormKernel[T]) Run(task int, scratch []byte) error {
	mean, factor, bias := kernel.Carve[T](&scratch, lines.Tile), kernel.Carve[T](&scratch, lines.Tile), kernel.Carve[T](&scratch, lines.Tile)
	x, y := kernel.Slice[T](k.in[0]), kernel.Slice[T](k.out)
	unit := task * k.each
	end := min(unit+k.each, k.units)
	var at [3]int
	for fresh := true; unit < end; unit++ {
		// A row of a channel, or a position of a tile of channels.
		tile, i := unit/k.perTile, unit%k.perTile
		first, width, elem, n, steps := tile, 1, i*k.rest.Len, k.rest.Len, k.rest.Inner
		if k.inner {
			first = tile * lines.Tile
			width = min(lines.Tile, k.n-first)
			elem, n, steps = i, width, k.across
		}
		if fresh || i == 0 {
			k.prepare(mean[:width], factor, bias, first)
			fresh = false
		}
		k.rest.Locate(elem, elem+1, at[:])
		ax := k.in[0].Offset + at[0] + first*k.across[0]
		ay := k.out.Offset + at[1] + first*k.across[1]
		if k.inner {
			batchNormTile(y, ay, steps[1], x, ax, steps[0], mean[:width], factor, bias)
		} else {
			batchNormRow(y, ay, steps[1], x, ax, steps[0], n, mean[0], factor[0], bias[0])
		}
		if err := k.epilogue.Run(at[2]+first*k.across[2], n, steps[2], 1, scratch); err != nil {
			return err
		}
	}
	return nil
}

// prepare computes the numbers of the channels from first on.
func (k *batchNormKernel[T]) prepare(mean, factor, bias []T, first int) {
	for i := range mean {
		c := first + i
		mean[i] = T(floatAt(k.in[3], c))
		bias[i] = T(floatAt(k.in[2], c))
		factor[i] = T(floatAt(k.in[1], c) / math.Sqrt(floatAt(k.in[4], c)+k.epsilon))
	}
}

// floatAt returns element i of a list of float32 or float64.
func floatAt(o *kernel.Operand, i int) float64 {
	at := o.Offset + i*o.Strides[0]
	if o.DType == dtype.Float32 {
		return float64(kernel.Slice[float32](o)[at])
	}
	return kernel.Slice[float64](o)[at]
}

func batchNormRow[T kernel.Float](y []T, ay, sy int, x []T, ax, sx, n int, mean, factor, bias T) {
	if sx == 1 && sy == 1 {
		x, y := x[ax:ax+n], y[ay:ay+n]
		for i, v := range x {
			y[i] = T((v-mean)*factor) + bias
		}
		return
	}
	for range n {
		y[ay] = T((x[ax]-mean)*factor) + bias
		ax, ay = ax+sx, ay+sy
	}
}

func batchNormTile[T kernel.Float](y []T, ay, sy int, x []T, ax, sx int, mean, factor, bias []T) {
	factor, bias = factor[:len(mean)], bias[:len(mean)]
	if sx == 1 && sy == 1 {
		x, y := x[ax:ax+len(mean)], y[ay:ay+len(mean)]
		for i, m := range mean {
			y[i] = T((x[i]-m)*factor[i]) + bias[i]
		}
		return
	}
	for i, m := range mean {
		y[ay] = T((x[ax]-m)*factor[i]) + bias[i]
		ax, ay = ax+sx, ay+sy
	}
}
