package conv

import (
	"math"

	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
)

// winograd is a convolution by minimal filtering.
type winograd struct {
	minimal

	positions          int // of an image
	bandRows, bandCols int // tiles of a band
	downs, acrosses    int // bands of an image
	lanes              int // of a band in memory, at most
	blocks, block      int // groups of maps that are tasks of their own, and the maps of one
	pitch              int // of the transformed rows of an image, before their columns are
}

const (
	winogradTile   = 4         // positions along each side of a tile
	winogradPoints = 36        // products of a tile
	winogradImage  = 768 << 10 // bytes that the transformed image of a band is to take at most
	winogradGroup  = 192 << 10 // bytes for the products of the maps done at a time
	winogradTasks  = 12        // tasks, for the workers to share evenly
	winogradMaps   = 128       // maps of a task that outweigh the transforms of the image
	winogradPlanes = 8         // channels whose rows are transformed at a time
)

// newWinograd returns the kernel of a convolution with 3×3 taps at steps of 1 by
// Winograd's minimal filtering, as Lavin and Gray have it ("Fast Algorithms for
// Convolutional Neural Networks", 2015). For each tile of 4×4 positions of a map m,
//
//	y[m] = output( sum over c of weights(w[m,c]) ∘ input(x[c]) )
//
// where ∘ multiplies 6×6 matrices element by element, and output, weights and input are
// the transforms of [isa.Winograd]: 36 multiplications in place of 144. Operands and
// finish are those of [newConv], for float32 and two spatial axes.
//
// Rounding errors are 2 to 5 times those of newConv, in the root of the mean square, and
// the largest up to 8 times: 6e-6 of the root mean square of the results, for normally
// distributed elements and 16 to 512 channels. They are relative to all elements that a
// tile reads, not to those of a window alone. An infinity or a NaN in the image may make
// all 4×4 results of its tile, and of those tiles that overlap with it, NaN.
//
// The sums over channels for the tiles of a band are 36 products of matrices, maps ×
// channels by channels × tiles, added up in chains as in package gemm. A band is a
// rectangle of tiles of one image. A task transforms the image for one band, and then
// computes some maps a group of strips at a time. Weights are transformed for each task
// unless they are prepacked.
func newWinograd(p params) kernel.Kernel {
	return &winograd{minimal: newMinimal(p)}
}

// Bind implements [kernel.Kernel].
func (k *winograd) Bind(in, out []*kernel.Operand) {
	k.bind(in, out, 2, k.tile.Rows, k.tile.Rows)
	k.positions = k.slide.Rows * k.slide.Width
	k.planBands()
	strips := kernel.CeilDiv(k.maps, k.tile.Rows)
	k.blocks = max(min(kernel.CeilDiv(winogradTasks, max(k.images*k.group*k.downs*k.acrosses, 1)), k.maps/winogradMaps), 1)
	k.block = max(kernel.CeilDiv(strips, k.blocks), 1) * k.tile.Rows
	k.blocks = kernel.CeilDiv(k.maps, k.block)
}

// planBands chooses the extents of a band: those for which an image costs least, as
// counted by cost.
func (k *winograd) planBands() {
	half := k.tile.Cols / 2 // a register of the tile kernel
	limit := min(max(winogradImage/(winogradPoints*4*max(k.deep, 1))/half, 1), 4) * half
	k.bandRows, k.bandCols, k.downs, k.acrosses = 1, 1, k.rows, k.cols // where there are no tiles
	least := math.Inf(1)
	for acrosses := max(kernel.CeilDiv(k.cols, limit), 1); acrosses <= k.cols; acrosses++ {
		cols := kernel.CeilDiv(k.cols, acrosses)
		if acrosses > 1 && cols < half {
			break // rows of the image as short as that are not worth cutting
		}
		for rows := 1; rows <= min(limit/cols, k.rows); rows++ {
			downs := kernel.CeilDiv(k.rows, rows)
			if cost := float64(acrosses*downs) * k.cost(rows, cols); cost < least {
				least = cost
				k.bandRows, k.bandCols, k.downs, k.acrosses = rows, cols, downs, acrosses
			}
		}
	}
	k.lanes = kernel.CeilDiv(k.bandRows*k.bandCols, half) * half
	k.pitch = winogradTile*(k.bandCols+half) + 2 + isa.WinogradBeyond
}

// cost returns about how long a band of the given extents takes, for each channel, in
// multiplications of one register by another. The tile kernel is slower on a single
// register of columns; transforms take their time for each register of a row of tiles.
func (k *winograd) cost(rows, cols int) float64 {
	const (
		single    = 1.2  // what a register alone counts
		call      = 30.0 // a row of tiles
		transform = 80.0 // a register of it
	)
	half := k.tile.Cols / 2
	registers := kernel.CeilDiv(rows*cols, half)
	products := float64(registers/2*2) + float64(single*float64(registers%2))
	transforms := call + float64(transform*float64(kernel.CeilDiv(cols, half)))
	return float64(winogradPoints*float64(k.maps)*products) + float64(float64(rows)*transforms)
}

// atOnce returns how many maps are done at a time: strips that share what they read of
// the image, or one, as long as a task has to transform the weights.
func (k *winograd) atOnce() int {
	strips := 1
	if k.prepacked != nil {
		strips = max(min(winogradGroup/(winogradPoints*4*k.lanes*k.tile.Rows), k.block/k.tile.Rows), 1)
	}
	return strips * k.tile.Rows
}

// Tasks implements [kernel.Kernel].
func (k *winograd) Tasks() int {
	if k.positions == 0 {
		return 0
	}
	return k.images * k.group * k.downs * k.acrosses * k.blocks
}

// Scratch implements [kernel.Kernel].
func (k *winograd) Scratch() int {
	n := 2*kernel.Carved[float32](winogradPlanes*6*k.pitch) +
		kernel.Carved[float32](winogradPoints*k.point(k.lanes)+k.tile.Cols) +
		kernel.Carved[float32](winogradPoints*k.atOnce()*k.lanes+isa.WinogradBeyond)
	if k.prepacked == nil {
		n += kernel.Carved[float32](k.elems(k.tile.Rows))
	}
	return n + k.epilogue.Scratch()
}

// A winogradBlock is what a task computes: tiles [row0, row1) × [col0, col1) of the
// maps [map0, map1) of a group.
type winogradBlock struct {
	image, group           int
	row0, row1, col0, col1 int
	map0, map1             int
	lanes                  int // that the tiles take in memory, zeros behind them
}

func (k *winograd) blockOf(task int) winogradBlock {
	// Bands come first: tasks that follow one another then read the same weights.
	var b winogradBlock
	across, task := task%k.acrosses, task/k.acrosses
	down, task := task%k.downs, task/k.downs
	block, task := task%k.blocks, task/k.blocks
	b.group, b.image = task%k.group, task/k.group
	b.row0, b.col0, b.map0 = down*k.bandRows, across*k.bandCols, block*k.block
	b.row1, b.col1 = min(b.row0+k.bandRows, k.rows), min(b.col0+k.bandCols, k.cols)
	b.map1 = min(b.map0+k.block, k.maps)
	half := k.tile.Cols / 2
	b.lanes = kernel.CeilDiv((b.row1-b.row0)*(b.col1-b.col0), half) * half
	return b
}

// Run implements [kernel.Kernel].
func (k *winograd) Run(task int, scratch []byte) error {
	b := k.blockOf(task)
	transformed := k.transformImage(&b, &scratch)
	step := k.atOnce()
	products := kernel.Carve[float32](&scratch, winogradPoints*step*k.lanes+isa.WinogradBeyond)
	var own []float32
	if k.prepacked == nil {
		own = kernel.Carve[float32](&scratch, k.elems(k.strip))
	}
	for m := b.map0; m < b.map1; m += step {
		end := min(m+step, b.map1)
		weights := own
		if k.prepacked != nil {
			weights = k.from(b.group, m)
		} else {
			k.pack(own, b.group, m, end)
		}
		k.multiply(products, weights, transformed, end-m, b.lanes)
		if err := k.store(&b, m, end, products, scratch); err != nil {
			return err
		}
	}
	return nil
}

// point returns how many elements the matrix of a point takes, of a transformed image.
// The lanes behind it are there so that all 36 matrices do not meet in a few sets of
// the first-level cache, as they would at a distance of a power of 2.
func (k *winograd) point(lanes int) int { return k.deep*lanes + k.tile.Cols/2 }

// transformImage returns the transformed tiles of a block: element (c, tile) of the
// matrix of point p at [p*point+c*lanes+tile].
func (k *winograd) transformImage(b *winogradBlock, scratch *[]byte) []float32 {
	pitch := k.pitch
	padded := kernel.Carve[float32](scratch, winogradPlanes*6*pitch)
	rows := kernel.Carve[float32](scratch, winogradPlanes*6*pitch)
	out := kernel.Carve[float32](scratch, winogradPoints*k.point(k.lanes)+k.tile.Cols)
	clear(rows)
	height, width, plane := k.slide.In[0], k.slide.In[1], k.slide.PlaneIn
	tiles := b.col1 - b.col0
	// Columns [left, left+n) of the image lie in the rows, from column lo on.
	first := b.col0*winogradTile - k.slide.Begin[1]
	left := max(first, 0)
	lo := left - first
	n := min(first+tiles*winogradTile+2, width) - left
	image := kernel.Slice[float32](k.x)
	for r := b.row0; r < b.row1; r++ {
		lane := (r - b.row0) * tiles
		count := tiles
		if r == b.row1-1 {
			count = b.lanes - lane // what is behind the tiles becomes 0
		}
		top := r*winogradTile - k.slide.Begin[0]
		for c := 0; c < k.deep; c += winogradPlanes {
			planes := min(winogradPlanes, k.deep-c)
			if n > 0 {
				at := k.x.Offset + b.image*k.x.Strides[0] + (b.group*k.deep+c)*plane + left
				from, over, step := padded, 6*pitch, pitch
				if top >= 0 && top+6 <= height {
					from, over, step = image[at+top*width:], plane, width
				} else {
					k.pad(padded, image[min(at, len(image)):], planes, top, n)
				}
				k.loops.InRows(rows[lo:], from, planes, 6*pitch, over, pitch, step, n)
			}
			k.loops.InCols(out[c*b.lanes+lane:], rows, planes, b.lanes, k.point(b.lanes), pitch, count)
		}
	}
	return out
}

// pad copies rows [top, top+6) of some channels, n elements of each, with zeros in place
// of rows outside of the image.
func (k *winograd) pad(dst, image []float32, planes, top, n int) {
	for i := range 6 * planes {
		to, y := dst[i*k.pitch:i*k.pitch+n], top+i%6
		if y >= 0 && y < k.slide.In[0] {
			copy(to, image[i/6*k.slide.PlaneIn+y*k.slide.In[1]:])
		} else {
			clear(to)
		}
	}
}

// multiply computes the sums over channels for some maps: of point p at
// [(p*maps+m)*lanes+tile].
func (k *winograd) multiply(products, weights, transformed []float32, maps, lanes int) {
	height := k.tile.Rows
	if k.deep == 0 {
		clear(products)
		return
	}
	for p := range winogradPoints {
		image := transformed[p*k.point(lanes):]
		for j := 0; j < lanes; {
			w, rows := k.tile.Columns(lanes - j)
			for m := 0; m < maps; m += height {
				of, end := weights[k.elems(m)+p*k.deep*height:], min(m+height, maps)
				for r := m; r < end; r += rows {
					to := products[(p*maps+r)*lanes+j:]
					k.tile.MulFrom(min(rows, end-r), w, k.deep, of[r-m:], 1, height, isa.Strips[float32]{Data: image[j:], Row: lanes, Next: k.tile.Cols}, to, lanes, false)
				}
			}
			j += w
		}
	}
}

// store transforms the products of maps [m0, m1) to the result, and has the epilogue
// run on it.
func (k *winograd) store(b *winogradBlock, m0, m1 int, products []float32, scratch []byte) error {
	maps, width := m1-m0, k.slide.Width
	n := maps * b.lanes
	k.loops.OutRows(products, products, 6, n, n, 6*n, 6*n, n, 4)
	tiles := b.col1 - b.col0
	x0, x1 := b.col0*winogradTile, min(b.col1*winogradTile, width)
	y0, y1 := b.row0*winogradTile, min(b.row1*winogradTile, k.slide.Rows)
	base := k.y.Offset + b.image*k.y.Strides[0] + (b.group*k.maps+m0)*k.positions
	y := kernel.Slice[float32](k.y)
	for m := range maps {
		for r := b.row0; r < b.row1; r++ {
			top := r * winogradTile
			from := products[m*b.lanes+(r-b.row0)*tiles:]
			to := y[base+m*k.positions+top*width+x0:]
			k.loops.OutCols(to, from, min(winogradTile, k.slide.Rows-top), width, maps*b.lanes, x1-x0)
		}
	}
	// Whole rows lie one after the other.
	n = x1 - x0
	step := 1
	if n == width {
		n, step = (y1-y0)*width, y1-y0
	}
	first := ((b.image*k.group+b.group)*k.maps + m0) * k.positions
	for row := y0; row < y1; row += step {
		if err := k.epilogue.Run(first+row*width+x0, maps, k.positions, n, scratch); err != nil {
			return err
		}
	}
	return nil
}
