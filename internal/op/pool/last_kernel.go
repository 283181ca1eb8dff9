package pool

import (
	"math"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
	"github.com/berth-go/berth/internal/op/slide"
	"github.com/berth-go/berth/shape"
)

// newLastPool returns the kernel that is [newPool] for x [N, spatial..., C] and y
// [N, positions..., C], with the same results to the last bit but for the payloads of NaN. The
// channels of an element lie dense; the other axes may have any stride. There are neither
// indices nor lp.
func newLastPool(t dtype.Type, w slide.Window, params poolParams) kernel.Kernel {
	p := pool{window: w, params: params}
	if params.Kind == Average {
		return kernel.OfFloat(t, p, lastPoolOf[float32], lastPoolOf[float64])
	}
	return kernel.OfNumber(t, p,
		lastPoolOf[int8], lastPoolOf[int16], lastPoolOf[int32], lastPoolOf[int64],
		lastPoolOf[uint8], lastPoolOf[uint16], lastPoolOf[uint32], lastPoolOf[uint64],
		lastPoolOf[float32], lastPoolOf[float64])
}

func lastPoolOf[T kernel.Number](p pool) kernel.Kernel {
	return &lastPool[T]{pool: p, tile: isa.TileOf[T]()}
}

// lastPool is a pooling with channels last. A task reduces some rows of positions, in blocks
// of columns and channels.
type lastPool[T kernel.Number] struct {
	pool
	tile       isa.Tile[T]
	count      int // rows of positions
	rows       int // of an image that are reduced together
	cols, each int // columns of a block, and channels
	taps       int
}

// Bind implements [kernel.Kernel].
func (k *lastPool[T]) Bind(in, out []*kernel.Operand) {
	s, end := &k.slide, len(in[0].Shape)-1
	k.x, k.y = in[0], out[0]
	k.params.epilogue.Bind(k.y, in[1:]...)
	s.Bind(&k.window, k.x.Shape[1:end], k.y.Shape[1:end])
	k.channels, k.taps, k.count = k.x.Shape[end], s.OuterTaps*s.InnerTaps, k.x.Shape[0]*s.Rows
	k.tasks, k.pool.each = 0, 1
	if row := s.Width * k.channels; row > 0 {
		k.cols, k.each = s.LastBlock(k.channels, k.x.DType.Size())
		k.tasks, k.pool.each = kernel.Parts(k.count, row*max(k.taps/16, 1))
	}
	const most = 1 << 12 // offsets of taps
	k.rows = min(k.pool.each, s.Rows, max(most/k.taps, 1))
}

// Scratch implements [kernel.Kernel].
func (k *lastPool[T]) Scratch() int {
	return kernel.Carved[isa.Grid](1) + kernel.Carved[int](k.rows*k.taps) + kernel.Carved[float64](k.slide.Width) +
		kernel.Carved[float64](k.rows) + k.pool.Scratch()
}

// Run implements [kernel.Kernel].
func (k *lastPool[T]) Run(task int, scratch []byte) error {
	s := &k.slide
	g := &kernel.Carve[isa.Grid](&scratch, 1)[0]
	offsets := kernel.Carve[int](&scratch, k.rows*k.taps)
	counts := kernel.Carve[float64](&scratch, s.Width)
	lines := kernel.Carve[float64](&scratch, k.rows)
	k.counts(counts)
	axis, end := len(s.In), min((task+1)*k.pool.each, k.count)
	*g = isa.Grid{RowX: s.Step * k.x.Strides[axis], RowY: k.y.Strides[axis]}
	x, y := kernel.Slice[T](k.x), kernel.Slice[T](k.y)
	for at := task * k.pool.each; at < end; at += g.Planes {
		image, row := at/s.Rows, at%s.Rows
		g.Planes = min(k.rows, end-at, s.Rows-row)
		if axis > 2 {
			g.Planes = 1 // rows have no step from one to the next
		}
		g.PlaneY = k.y.Strides[axis-1]
		for r := range g.Planes {
			lines[r] = k.outer(row + r)
		}
		toY := k.y.Offset + image*k.y.Strides[0] + s.Place(k.y.Strides[1:], row)
		for col := 0; col < s.Width; {
			rest, run := offsets, s.Run(col)
			for r := range g.Planes {
				rest = s.FindTaps(rest, k.x.Offset+image*k.x.Strides[0], k.x.Strides[1:], row+r, col, 0, k.taps, 1)
			}
			found := offsets[:g.Planes*k.taps]
			for channel := 0; channel < k.channels; channel += g.Cols {
				g.Cols = min(k.each, k.channels-channel)
				for c := col; c < col+run; c += g.Rows {
					g.Rows = min(k.cols, col+run-c)
					atY, atX := toY+c*g.RowY+channel, (c-col)*g.RowX+channel
					if k.params.Kind == Max {
						k.tile.LastMax(y, atY, x, atX, g, found)
					} else {
						k.tile.LastMean(y, atY, x, atX, g, found, counts[c:], lines)
					}
					for r := range g.Planes {
						first := ((at+r)*s.Width + c) * k.channels
						if err := k.params.epilogue.Run(first+channel, g.Rows, k.channels, g.Cols, scratch); err != nil {
							return err
						}
					}
				}
			}
			col += run
		}
	}
	return nil
}

// newLastGlobalPool returns the kernel that is [newGlobalPool] for x [N, spatial..., C] and
// y [N, 1..., C], with the same results to the last bit but for the payloads of NaN. There is no lp.
func newLastGlobalPool(t dtype.Type, p poolParams) kernel.Kernel {
	return kernel.OfFloat(t, pool{params: p}, lastGlobalPoolOf[float32], lastGlobalPoolOf[float64])
}

func lastGlobalPoolOf[T kernel.Float](p pool) kernel.Kernel {
	return &lastGlobalPool[T]{pool: p, tile: isa.TileOf[T]()}
}

// lastGlobalPool is a global pooling with channels last. A task reduces some channels of an
// image.
type lastGlobalPool[T kernel.Float] struct {
	pool
	tile isa.Tile[T]
	size int // positions of an image
}

// maximaTogether is how many positions, or maxima of these, are reduced at a time.
const maximaTogether = 64

// Bind implements [kernel.Kernel].
func (k *lastGlobalPool[T]) Bind(in, out []*kernel.Operand) {
	k.x, k.y = in[0], out[0]
	k.params.epilogue.Bind(k.y, in[1:]...)
	last := len(k.x.Shape) - 1
	k.size, k.channels = shape.Shape(k.x.Shape[1:last]).Elems(), k.x.Shape[last]
	const multiple, most = 32, 256
	_, k.each = kernel.Parts(k.channels, k.size)
	k.each = min(kernel.CeilDiv(max(k.each, 1), multiple)*multiple, most)
	k.tasks = k.x.Shape[0] * kernel.CeilDiv(k.channels, k.each)
}

// Scratch implements [kernel.Kernel].
func (k *lastGlobalPool[T]) Scratch() int {
	return kernel.Carved[isa.Grid](1) + kernel.Carved[int](maximaTogether) + kernel.Carved[T](maximaTogether*k.each) + k.pool.Scratch()
}

// Run implements [kernel.Kernel].
func (k *lastGlobalPool[T]) Run(task int, scratch []byte) error {
	blocks := kernel.CeilDiv(k.channels, k.each)
	image, channel := task/blocks, task%blocks*k.each
	at := k.y.Offset + image*k.y.Strides[0] + channel
	y := kernel.Slice[T](k.y)[at : at+min(k.each, k.channels-channel)]
	switch {
	case k.size == 0 && k.params.Kind == Max:
		kernel.Fill(y, T(math.Inf(-1)))
	case k.size == 0:
		kernel.Fill(y, T(math.NaN()))
	case k.params.Kind == Max:
		k.largest(y, kernel.Slice[T](k.x)[k.x.Offset+image*k.x.Strides[0]+channel:], scratch)
	default:
		k.tile.LastPlane(y, kernel.Slice[T](k.x)[k.x.Offset+image*k.x.Strides[0]+channel:], k.size, k.channels)
	}
	return k.params.epilogue.Run(image*k.channels+channel, 1, len(y), len(y), scratch)
}

// largest sets y to the largest elements of the channels of x: those of some positions, and
// then those of these.
func (k *lastGlobalPool[T]) largest(y, x []T, scratch []byte) {
	g := &kernel.Carve[isa.Grid](&scratch, 1)[0]
	offsets := kernel.Carve[int](&scratch, maximaTogether)
	maxima := kernel.Carve[T](&scratch, maximaTogether*k.each)
	*g = isa.Grid{Planes: 1, Rows: 1, Cols: len(y)}
	reduce := func(to, from []T, n, step int) {
		for i := range n {
			offsets[i] = i * step
		}
		k.tile.LastMax(to, 0, from, 0, g, offsets[:n])
	}
	held := 0
	for p := 0; p < k.size; p += maximaTogether {
		reduce(maxima[held*len(y):], x[p*k.channels:], min(maximaTogether, k.size-p), k.channels)
		if held++; held == maximaTogether {
			reduce(y, maxima, held, len(y))
			copy(maxima, y)
			held = 1
		}
	}
	reduce(y, maxima, held, len(y))
}
