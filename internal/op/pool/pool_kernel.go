package pool

import (
	"math"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
	"github.com/berth-go/berth/internal/kernel/lines"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/slide"
)

// poolParams are the attributes of [newPool].
type poolParams struct {
	Kind            Kind
	CountIncludePad bool // an average counts taps in the padding, as zeros
	ColumnMajor     bool // indices count the first spatial axis fastest
	P               float64
	epilogue        *elementwise.Epilogue // on each plane of y, with the operands after x
}

// newPool returns the kernel that reduces each window over each plane of x
// [N, C, spatial...] to one element of y [N, C, positions...]:
//
//	max      the largest element, NaN if there is one
//	average  the sum divided by the number of elements, or of all taps up to
//	         the end of the padding with CountIncludePad
//	lp       (sum of |element|^P) ^ (1/P)
//
// Taps in the padding meet no element. A window without any gives the lowest
// value, 0 and 0. A second output of max, int64, holds where the first of the
// largest elements is in a dense x, -1 for a window without any. Sums are
// float64. The batch axes of x and the outputs may have any stride. It returns
// nil for an element type that the kind does not take.
func newPool(t dtype.Type, w slide.Window, p poolParams) kernel.Kernel {
	k := pool{window: w, params: p}
	if p.Kind != Max {
		return kernel.OfFloat(t, k, meanPoolOf[float32], meanPoolOf[float64])
	}
	return kernel.OfNumber(t, k,
		maxPoolOf[int8], maxPoolOf[int16], maxPoolOf[int32], maxPoolOf[int64],
		maxPoolOf[uint8], maxPoolOf[uint16], maxPoolOf[uint32], maxPoolOf[uint64],
		maxPoolOf[float32], maxPoolOf[float64])
}

func maxPoolOf[T kernel.Number](p pool) kernel.Kernel {
	return &maxPool[T]{pool: p, tile: isa.TileOf[T](), lowest: lines.Lowest[T]()}
}

func meanPoolOf[T kernel.Float](p pool) kernel.Kernel { return &meanPool[T]{p, isa.TileOf[T]()} }

// pool is what the poolings share: planes cut into tasks.
type pool struct {
	window      slide.Window
	params      poolParams
	x, y        *kernel.Operand
	slide       slide.Binding
	blocked     bool // planes are reduced in blocks
	blocks      slide.Blocks
	channels    int
	planes      int
	perImage    int // blocks
	tasks, each int // planes or blocks in a task
}

// bindWindow binds windows, which are reduced in blocks where they can be and that is
// wanted.
func (k *pool) bindWindow(in, out []*kernel.Operand, blocks bool) {
	k.slide.Bind(&k.window, in[0].Shape[2:], out[0].Shape[2:])
	positions, taps := k.slide.Rows*k.slide.Width, k.slide.OuterTaps*k.slide.InnerTaps
	k.bind(in, out, positions*taps)
	k.blocked = blocks && k.blocks.Bind(&k.slide, k.x.DType.Size())
	switch b := &k.blocks; {
	case positions == 0:
		k.tasks = 0
	case k.blocked:
		k.perImage = b.Count(k.channels)
		k.tasks, k.each = kernel.Parts(k.x.Shape[0]*k.perImage, b.Planes*b.Rows*b.Cols*max(taps/16, 1))
	}
}

// bind cuts the planes into tasks, each plane of the given cost.
func (k *pool) bind(in, out []*kernel.Operand, cost int) {
	k.x, k.y = in[0], out[0]
	k.params.epilogue.Bind(k.y, in[1:]...)
	k.channels = k.x.Shape[1]
	k.planes = k.x.Shape[0] * k.channels
	k.tasks, k.each = kernel.Parts(k.planes, cost)
}

// runBlocks does a task of blocks. Reduce computes one, over the positions of g, from the
// patch x.
func runBlocks[T kernel.Number](k *pool, task int, scratch []byte, tile *isa.Tile[T], pad T, reduce func(y, x []T, g *isa.Grid, at slide.Block)) error {
	s := &k.slide
	positions := s.Rows * s.Width
	patch := slide.NewPatch(&scratch, &k.blocks, s, tile, pad)
	for i := task * k.each; i < min((task+1)*k.each, k.x.Shape[0]*k.perImage); i++ {
		image, at := i/k.perImage, patch.Block(i%k.perImage, k.channels)
		plane, first := image*k.channels+at.Plane, at.Row*s.Width+at.Col
		patch.Fill(planesOf[T](k, k.x, plane, at.Planes, s.PlaneIn), &at)
		reduce(planesOf[T](k, k.y, plane, at.Planes, positions)[first:], patch.Elems, patch.Grid, at)
		if err := k.params.epilogue.Run(plane*positions+first, at.Planes*at.Rows, s.Width, at.Cols, scratch); err != nil {
			return err
		}
	}
	return nil
}

// Tasks implements [kernel.Kernel].
func (k *pool) Tasks() int { return k.tasks }

// Scratch implements [kernel.Kernel].
func (k *pool) Scratch() int { return k.params.epilogue.Scratch() }

// patchScratch returns the bytes of the patch of [runBlocks].
func patchScratch[T kernel.Number](k *pool, tile *isa.Tile[T]) int {
	if !k.blocked {
		return 0
	}
	return slide.PatchScratch(&k.blocks, tile)
}

// part returns the half-open range of planes of a task.
func (k *pool) part(task int) (first, end int) {
	return task * k.each, min((task+1)*k.each, k.planes)
}

// planeOf returns the size elements of a plane of o.
func planeOf[T any](k *pool, o *kernel.Operand, plane, size int) []T {
	return planesOf[T](k, o, plane, 1, size)
}

// planesOf returns the elements of n planes of o in one image, each of the given size.
func planesOf[T any](k *pool, o *kernel.Operand, plane, n, size int) []T {
	if size == 0 {
		return nil // an empty tensor has no place of its own
	}
	at := o.Offset + plane/k.channels*o.Strides[0] + plane%k.channels*size
	return kernel.Slice[T](o)[at : at+n*size]
}

type maxPool[T kernel.Number] struct {
	pool
	tile    isa.Tile[T]
	lowest  T
	indices *kernel.Operand // nil if not asked for
}

// Bind implements [kernel.Kernel].
func (k *maxPool[T]) Bind(in, out []*kernel.Operand) {
	k.indices = nil
	if len(out) > 1 {
		k.indices = out[1]
	}
	k.bindWindow(in, out, k.indices == nil)
}

// Scratch implements [kernel.Kernel].
func (k *maxPool[T]) Scratch() int { return patchScratch(&k.pool, &k.tile) + k.pool.Scratch() }

// Run implements [kernel.Kernel].
func (k *maxPool[T]) Run(task int, scratch []byte) error {
	s := &k.slide
	if b := &k.blocks; k.blocked {
		return runBlocks(&k.pool, task, scratch, &k.tile, k.lowest, func(y, x []T, g *isa.Grid, _ slide.Block) {
			k.tile.MaxRows(y, x, g, b.Offsets)
		})
	}
	positions := s.Rows * s.Width
	plane, end := k.part(task)
	for ; plane < end; plane++ {
		x, y := planeOf[T](&k.pool, k.x, plane, s.PlaneIn), planeOf[T](&k.pool, k.y, plane, positions)
		var indices []int64
		if k.indices != nil {
			indices = planeOf[int64](&k.pool, k.indices, plane, positions)
		}
		for row := range s.Rows {
			if indices == nil {
				k.row(y[row*s.Width:(row+1)*s.Width], x, row)
			} else {
				k.rowIndexed(y[row*s.Width:(row+1)*s.Width], indices[row*s.Width:(row+1)*s.Width], x, row, plane*s.PlaneIn)
			}
		}
		if err := k.params.epilogue.Run(plane*positions, 1, positions, positions, scratch); err != nil {
			return err
		}
	}
	return nil
}

func (k *maxPool[T]) row(y, x []T, row int) {
	s := &k.slide
	kernel.Fill(y, k.lowest)
	for outer := range s.OuterTaps {
		base := s.Row(outer, row)
		if base < 0 {
			continue
		}
		for inner := range s.InnerTaps {
			if lo, hi := s.Lo[inner], s.Hi[inner]; lo < hi {
				maxTap(y[lo:hi], x[base+s.From[inner]+lo*s.Step:], s.Step)
			}
		}
	}
}

// maxTap is y[i] = the larger of y[i] and x[i*step], NaN being the largest; of equal ones, such as
// zeros of either sign, y[i].
func maxTap[T kernel.Number](y, x []T, step int) {
	at := 0
	for i, m := range y {
		if v := x[at]; v > m || v != v && m == m {
			y[i] = v
		}
		at += step
	}
}

func (k *maxPool[T]) rowIndexed(y []T, indices []int64, x []T, row, first int) {
	s := &k.slide
	kernel.Fill(y, k.lowest)
	kernel.Fill(indices, -1)
	for outer := range s.OuterTaps {
		base := s.Row(outer, row)
		if base < 0 {
			continue
		}
		for inner := range s.InnerTaps {
			if s.Lo[inner] >= s.Hi[inner] {
				continue
			}
			from, step := s.From[inner], s.Step
			index, indexStep := first+base, 1
			if k.params.ColumnMajor {
				index, indexStep = k.columnMajor(base)
				index += first
			}
			for c := s.Lo[inner]; c < s.Hi[inner]; c++ {
				i := from + c*step
				if v := x[base+i]; v > y[c] || indices[c] < 0 || v != v && y[c] == y[c] {
					y[c], indices[c] = v, int64(index+i*indexStep)
				}
			}
		}
	}
}

// columnMajor returns the index, counted with the first axis fastest, of the
// image row that begins at element base, and the step from column to column.
func (k *maxPool[T]) columnMajor(base int) (index, step int) {
	in := k.slide.In
	last := len(in) - 1
	row := base / in[last]
	size := k.slide.PlaneIn / in[last]
	step = size
	for axis := last - 1; axis >= 0; axis-- {
		size /= in[axis]
		index += row % in[axis] * size
		row /= in[axis]
	}
	return index, step
}

// meanPool is the poolings that sum.
type meanPool[T kernel.Float] struct {
	pool
	tile isa.Tile[T]
}

// Bind implements [kernel.Kernel].
func (k *meanPool[T]) Bind(in, out []*kernel.Operand) {
	k.bindWindow(in, out, k.params.Kind == Average)
}

// Scratch implements [kernel.Kernel]: the divisors of columns, those of rows and a patch
// or else the sums of a row, and that of the epilogue.
func (k *meanPool[T]) Scratch() int {
	n := kernel.Carved[float64](k.slide.Width)
	if k.blocked {
		n += kernel.Carved[float64](k.slide.Rows) + patchScratch(&k.pool, &k.tile)
	} else {
		n += kernel.Carved[float64](k.slide.Width)
	}
	return n + k.pool.Scratch()
}

// Run implements [kernel.Kernel].
func (k *meanPool[T]) Run(task int, scratch []byte) error {
	s := &k.slide
	counts := kernel.Carve[float64](&scratch, s.Width)
	k.counts(counts)
	if b := &k.blocks; k.blocked {
		lines := kernel.Carve[float64](&scratch, s.Rows)
		for row := range lines {
			lines[row] = k.outer(row)
		}
		return runBlocks(&k.pool, task, scratch, &k.tile, 0, func(y, x []T, g *isa.Grid, at slide.Block) {
			k.tile.MeanRows(y, x, g, b.Offsets, counts[at.Col:], lines[at.Row:])
		})
	}
	sums := kernel.Carve[float64](&scratch, s.Width)
	plane, end := k.part(task)
	for ; plane < end; plane++ {
		x, y := planeOf[T](&k.pool, k.x, plane, s.PlaneIn), planeOf[T](&k.pool, k.y, plane, s.Rows*s.Width)
		for row := range s.Rows {
			k.sum(sums, x, row)
			k.finish(y[row*s.Width:(row+1)*s.Width], sums, counts, row)
		}
		if err := k.params.epilogue.Run(plane*len(y), 1, len(y), len(y), scratch); err != nil {
			return err
		}
	}
	return nil
}

// sum adds up the windows of a row of positions.
func (k *meanPool[T]) sum(sums []float64, x []T, row int) {
	s := &k.slide
	clear(sums)
	for outer := range s.OuterTaps {
		base := s.Row(outer, row)
		if base < 0 {
			continue
		}
		for inner := range s.InnerTaps {
			if s.Lo[inner] >= s.Hi[inner] {
				continue
			}
			to := sums[s.Lo[inner]:s.Hi[inner]]
			from := x[base+s.From[inner]+s.Lo[inner]*s.Step:]
			switch {
			case k.params.Kind == Average && s.Step == 1:
				for i, v := range from[:len(to)] {
					to[i] += float64(v)
				}
			case k.params.Kind == Average:
				for i := range to {
					to[i] += float64(from[i*s.Step])
				}
			default:
				for i := range to {
					to[i] += power(float64(from[i*s.Step]), k.params.P)
				}
			}
		}
	}
}

// finish turns the sums of a row of positions into results.
func (k *meanPool[T]) finish(y []T, sums, counts []float64, row int) {
	if k.params.Kind == Lp {
		for i, v := range sums {
			y[i] = T(root(v, k.params.P))
		}
		return
	}
	outer := k.outer(row)
	for i, v := range sums {
		y[i] = T(v / (counts[i] * outer))
	}
}

// counts sets n to how many taps of the innermost axis count at each column, and to 1 where
// none does.
func (k *pool) counts(n []float64) {
	for c := range n {
		n[c] = float64(max(k.slide.Meets(len(k.slide.In)-1, c, k.params.CountIncludePad), 1))
	}
}

// outer returns how many taps of the outer axes count at a row of positions, and 1 for
// none, whose sum is 0.
func (k *pool) outer(row int) float64 {
	n := 1
	for axis := len(k.slide.In) - 2; axis >= 0; axis-- {
		n *= k.slide.Meets(axis, row%k.slide.Out[axis], k.params.CountIncludePad)
		row /= k.slide.Out[axis]
	}
	return float64(max(n, 1))
}

// power returns |v|^p, rounded before it is added to anything.
func power(v, p float64) float64 {
	switch p {
	case 1:
		return math.Abs(v)
	case 2:
		return float64(v * v)
	}
	return math.Pow(math.Abs(v), p)
}

// root returns the p-th root of v.
func root(v, p float64) float64 {
	switch p {
	case 1:
		return v
	case 2:
		return math.Sqrt(v)
	}
	return math.Pow(v, 1/p)
}
