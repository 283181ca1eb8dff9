package conv

import (
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/gemm"
	"github.com/berth-go/berth/internal/kernel/isa"
	"github.com/berth-go/berth/internal/op/slide"
)

// direct is the form of a convolution over one or two axes that multiplies the
// padded image itself, where a product packs each element once for each tap. The
// padded image is split by the remainders of row and column divided by the
// strides: a tap reads one of these planes at unit stride, from an offset that is
// the same at every position. So the row of the right operand for a tap of a
// channel is the memory from its offset on, as [isa.Tile.MulTaps] reads it.
//
// A task computes a band, a block of rows and columns of positions, for a block of
// maps. It holds the part that the band meets of as many channels as
// [gemm.BlockK] rows of the operand belong to, in a ring that is filled as the
// product moves on.
//
// A tile lies in one row of positions, or, with run, all rows of the band and the
// few columns between one and the next are one run, whose sums are copied to
// the rows of y.
type direct struct {
	down, across  axis
	planes        int // of a channel
	size          int // elements of them
	held          int // channels in the ring
	run           bool
	offsets       isa.Taps // in the ring, of each row of the operand
	blockM        int      // maps of a task
	tasksM, bands int
}

// ringElems and sumElems bound the elements of the ring and of the sums of a task,
// which then take 256 KiB of float32 each.
const (
	ringElems = 1 << 16
	sumElems  = 1 << 16
)

// maxStrips bounds the maps of a task, in strips of tiles.
const maxStrips = 12

// An axis is one of the two axes of a direct convolution. With one axis there is
// none down, and its extents, taps and stride are 1.
type axis struct {
	in, out, taps, stride, dilation, begin int

	phases int // remainders, divided by the stride, that taps meet
	reach  int // elements of a plane that taps meet beyond those of the first
	block  int // positions of a band
}

func axisOf(s *slide.Binding, i int) axis {
	a := axis{in: 1, out: 1, taps: 1, stride: 1, dilation: 1}
	if i >= 0 {
		a = axis{in: s.In[i], out: s.Out[i], taps: s.Taps[i], stride: s.Stride[i], dilation: s.Dilation[i], begin: s.Begin[i]}
	}
	a.phases = min(a.taps, a.stride/gcd(a.stride, a.dilation))
	a.reach = (a.taps - 1) * a.dilation / a.stride
	return a
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// at returns the plane that a tap reads, and where from.
func (a *axis) at(tap int) (phase, from int) { return tap % a.phases, tap * a.dilation / a.stride }

// first returns the image element at the beginning of a plane whose band begins at a
// position; the next ones are a stride apart. It may lie in the padding.
func (a *axis) first(phase, position int) int {
	return position*a.stride + phase*a.dilation%a.stride - a.begin
}

// inside returns which of n elements from i on, a stride apart, lie in the image:
// [lo, hi).
func (a *axis) inside(i, n int) (lo, hi int) {
	lo = slide.FirstAtLeast(-i, a.stride, n)
	return lo, max(lo, slide.FirstAtLeast(a.in-i, a.stride, n))
}

// extent returns the elements of a plane along the axis.
func (a *axis) extent() int { return a.block + a.reach }

func (a *axis) blocks() int { return kernel.CeilDiv(a.out, a.block) }

// halve cuts bands of the axis in two, at multiples of a unit.
func (a *axis) halve(unit int) { a.block = kernel.CeilDiv(a.block, 2*unit) * unit }

// bind cuts the convolution into tasks. It reports false where the form does not
// apply, or takes too much memory.
func (d *direct) bind(s *slide.Binding, maps, deep, rows, cols int) bool {
	last := len(s.In) - 1
	if last > 1 || maps*deep*s.Rows*s.Width == 0 || s.Pointwise() {
		return false
	}
	d.down, d.across = axisOf(s, last-1), axisOf(s, last)
	down, across := &d.down, &d.across
	taps := down.taps * across.taps
	d.planes = down.phases * across.phases
	d.held = min(deep, (gemm.BlockK-2)/taps+2)
	strips := kernel.CeilDiv(maps, rows)
	d.blockM = kernel.CeilDiv(strips, kernel.CeilDiv(strips, maxStrips)) * rows

	// The largest band that fits, in whole tiles unless it has all columns.
	fits := func(rows, cols int) bool {
		width := float64(cols) + float64(across.reach)
		return float64(d.held)*float64(d.planes)*(float64(rows)+float64(down.reach))*width <= ringElems &&
			float64(d.blockM)*float64(rows)*width <= sumElems
	}
	down.block, across.block = down.out, across.out
	for !fits(1, across.block) {
		if across.block <= cols {
			return false
		}
		across.halve(cols)
	}
	for !fits(down.block, across.block) {
		down.halve(1)
	}

	d.cut(maps, deep, rows, cols)
	d.layOut(deep)
	d.run = d.down.block > 1 && d.multiplied(cols, true) <= d.multiplied(cols, false)
	return true
}

// cut makes bands and blocks of maps smaller until there are tasks enough.
func (d *direct) cut(maps, deep, rows, cols int) {
	const (
		enough = 12      // tasks, for the workers to share evenly
		grain  = 1 << 20 // multiplications in a task worth handing out
	)
	down, across := &d.down, &d.across
	for {
		d.tasksM, d.bands = kernel.CeilDiv(maps, d.blockM), down.blocks()*across.blocks()
		work := float64(d.blockM) * float64(down.block) * float64(across.block) * float64(deep*down.taps*across.taps)
		if d.tasksM*d.bands >= enough || work <= 2*grain {
			return
		}
		switch {
		case down.block > max(4*down.reach, 1):
			down.halve(1)
		case d.blockM > 3*rows:
			d.blockM = kernel.CeilDiv(d.blockM, 2*rows) * rows
		case down.block > 1:
			down.halve(1)
		case across.block > 2*cols:
			across.halve(cols)
		default:
			return
		}
	}
}

// layOut finds where each row of the operand lies in the ring.
func (d *direct) layOut(deep int) {
	down, across := &d.down, &d.across
	d.size = d.planes * down.extent() * across.extent()
	d.offsets.Reset()
	for c := range deep {
		for h := range down.taps {
			planeH, row := down.at(h)
			for w := range across.taps {
				planeW, col := across.at(w)
				plane := c%d.held*d.planes + planeH*across.phases + planeW
				d.offsets.Append((plane*down.extent()+row)*across.extent() + col)
			}
		}
	}
}

// multiplied returns the elements of the operand's row that a band's tiles multiply,
// as a run or not. Tiles of cols columns have two registers, and multiply whole ones.
func (d *direct) multiplied(cols int, run bool) int {
	lanes := max(cols/2, 1)
	lines, length := d.down.block, d.across.block
	if run {
		lines, length = 1, d.runLength(lines, length)
	}
	return lines * kernel.CeilDiv(length, lanes) * lanes
}

// pays reports whether the direct form takes less time than packing all windows.
// For each tap, both multiply positions and copy elements; packing copies them for
// each block of blockM maps.
func (d *direct) pays(s *slide.Binding, maps, cols, blockM int) bool {
	lanes := max(cols/2, 1)
	positions := s.Rows * s.Width
	copied := float64(d.bands) * float64(d.tasksM) * float64(d.size) / float64(s.OuterTaps*s.InnerTaps)
	here := float64(float64(d.bands)*float64(d.multiplied(cols, d.run))*float64(maps)) + float64(copied*copyCost(s.Step > 2))
	packs := float64(positions) * float64(kernel.CeilDiv(maps, blockM))
	packed := float64(float64(kernel.CeilDiv(positions, lanes)*lanes)*float64(maps)) + float64(packs*copyCost(s.Step > 1))
	return here <= packed
}

// copyCost returns what copying an element costs, in multiplications, from places
// that are apart or beside each other.
func copyCost(apart bool) float64 {
	if apart {
		return 80
	}
	return 16
}

// tasks returns the tasks of an image and a group.
func (d *direct) tasks() int { return d.tasksM * d.bands }

// runLength returns the elements of a run of positions.
func (d *direct) runLength(rows, cols int) int { return (rows-1)*d.across.extent() + cols }

// sums returns the elements of the sums of a task that are not in y.
func (d *direct) sums() int {
	if !d.run {
		return 0
	}
	return d.blockM * d.runLength(d.down.block, d.across.block)
}

// ring returns the elements of the ring. Tiles read whole rows, beyond its end too.
func (d *direct) ring(cols int) int { return d.held*d.size + cols }

// directScratch returns the bytes of working memory of a task.
func (k *conv[T]) directScratch() int {
	d := &k.direct
	return kernel.Carved[T](d.ring(k.gemm.Tile.Cols)) + kernel.Carved[T](d.sums()) +
		kernel.Carved[T](gemm.Prepacked(d.blockM, min(d.offsets.Len(), gemm.BlockK), k.gemm.Tile.Rows))
}

// band computes one task of an image and a group.
func (k *conv[T]) band(image, group, task int, scratch []byte) error {
	d, s, tile := &k.direct, &k.slide, &k.gemm.Tile
	m0, at := task%d.tasksM*d.blockM, task/d.tasksM
	row, col := at/d.across.blocks()*d.down.block, at%d.across.blocks()*d.across.block
	maps, rows, cols := min(d.blockM, k.maps-m0), min(d.down.block, s.Rows-row), min(d.across.block, s.Width-col)

	rest, deep := scratch, d.offsets.Len()
	ring, sums := kernel.Carve[T](&rest, d.ring(tile.Cols)), kernel.Carve[T](&rest, d.sums())
	packed := kernel.Carve[T](&rest, gemm.Prepacked(d.blockM, min(deep, gemm.BlockK), tile.Rows))
	x := kernel.Slice[T](k.x)[k.imageAt(image)+group*k.deep*s.PlaneIn:]
	w := gemm.Matrix[T]{Data: kernel.Slice[T](k.w), At: k.w.Offset + group*k.maps*deep, Row: deep, Col: 1}
	first := ((image*k.group+group)*k.maps+m0)*k.positions + row*s.Width + col
	y := kernel.Slice[T](k.y)[k.y.Offset+image*k.y.Strides[0]+(group*k.maps+m0)*k.positions+row*s.Width+col:]

	// Positions are lines of this length, whose sums lie so far from each other.
	lines, length, to, lineStep, mapStep := rows, cols, y, s.Width, k.positions
	if d.run {
		lines, length = 1, d.runLength(rows, cols)
		to, lineStep, mapStep = sums, 0, length
	}
	filled := 0
	for k0 := 0; k0 < deep; k0 += gemm.BlockK {
		k1 := min(k0+gemm.BlockK, deep)
		c1 := kernel.CeilDiv(k1, k.taps)
		k.fillRing(ring, x, filled, c1, row, col, rows, cols)
		filled = c1
		left := packed
		if k.prepackedW != nil {
			left = k.prepackedW[group*gemm.Prepacked(k.maps, deep, tile.Rows)+gemm.Prepacked(k.maps, k0, tile.Rows)+m0*(k1-k0):]
		} else {
			gemm.Pack(packed, w, m0, m0+maps, k0, k1, tile.Rows)
		}
		for line := range lines {
			for j := 0; j < length; {
				n, height := tile.Columns(length - j)
				for m := 0; m < maps; m += tile.Rows {
					strip, end := left[m*(k1-k0):], min(m+tile.Rows, maps)
					for r := m; r < end; r += height {
						tile.MulTaps(min(height, end-r), n, strip[r-m:], ring[line*d.across.extent()+j:], d.offsets.Slice(k0, k1),
							to[r*mapStep+line*lineStep+j:], mapStep, k0 > 0)
					}
				}
				j += n
			}
		}
	}
	if d.run {
		for r := range rows {
			for j := 0; j < cols; j += tile.Cols {
				n := min(tile.Cols, cols-j)
				tile.Spread(y[r*s.Width+j:], sums[r*d.across.extent()+j:], maps, k.positions, length, 0, n, n)
			}
		}
	}
	if cols == s.Width { // all rows are one
		rows, cols = 1, rows*cols
	}
	for r := range rows {
		if err := k.epilogue.Run(first+r*s.Width, maps, k.positions, cols, scratch); err != nil {
			return err
		}
	}
	return nil
}

// fillRing copies what the windows of a band meet of channels [c0, c1) to their places
// in the ring. The band has its first position at (row, col).
func (k *conv[T]) fillRing(ring, x []T, c0, c1, row, col, rows, cols int) {
	d := &k.direct
	for c := c0; c < c1; c++ {
		place := ring[c%d.held*d.size:]
		plane := x[c*k.slide.PlaneIn : (c+1)*k.slide.PlaneIn]
		for planeH := range d.down.phases {
			for planeW := range d.across.phases {
				n := d.down.extent() * d.across.extent()
				at := (planeH*d.across.phases + planeW) * n
				fillPlane(&k.gemm.Tile, place[at:at+n], plane, &d.down, &d.across, d.down.first(planeH, row), d.across.first(planeW, col),
					rows+d.down.reach, cols+d.across.reach)
			}
		}
	}
}

// fillPlane copies rows and columns of the image x from (i, j) on, a stride apart, to a
// plane. What lies in the padding is 0.
func fillPlane[T kernel.Number](tile *isa.Tile[T], dst, x []T, down, across *axis, i, j, rows, cols int) {
	width := across.extent()
	// Rows [r0, r1) and columns [a, b) lie in the image.
	r0, r1 := down.inside(i, rows)
	a, b := across.inside(j, cols)
	if r0 == r1 || a == b {
		clear(dst[:rows*width])
		return
	}
	clear(dst[:r0*width])
	clear(dst[r1*width : rows*width])
	dst = dst[r0*width : r1*width]
	copyRows(tile, dst, x[(i+r0*down.stride)*across.in+j+a*across.stride:], r1-r0, width, down.stride*across.in, across.stride, a, b, cols)
}

// copyRows is, for each r < count and i < n,
//
//	dst[r*dstStep+i] = src[r*srcStep+(i-a)*step] if a <= i < b, or else 0
func copyRows[T kernel.Number](tile *isa.Tile[T], dst, src []T, count, dstStep, srcStep, step, a, b, n int) {
	if step == 1 && count > 1 {
		for ; n > 0; n -= tile.Cols {
			lanes, lo, hi := min(tile.Cols, n), max(a, 0), min(b, tile.Cols)
			if lo < hi {
				tile.Spread(dst, src[lo-a:], count, dstStep, srcStep, lo, hi, lanes)
			} else {
				clearRows(dst, count, dstStep, lanes)
			}
			dst, a, b = dst[lanes:], a-tile.Cols, b-tile.Cols
		}
		return
	}
	clearRows(dst, count, dstStep, a)
	clearRows(dst[b:], count, dstStep, n-b)
	dst, n = dst[a:], b-a
	switch step {
	case 1:
		copy(dst[:n], src)
	case 2:
		tile.Pick(dst, src, count, dstStep, srcStep, n)
	default:
		for r := range count {
			to, from := dst[r*dstStep:r*dstStep+n], src[r*srcStep:r*srcStep+(n-1)*step+1]
			for i := range to {
				to[i] = from[i*step]
			}
		}
	}
}

// clearRows is dst[r*step+i] = 0 for r < count and i < n.
func clearRows[T kernel.Number](dst []T, count, step, n int) {
	if n == 0 {
		return
	}
	for r := range count {
		clear(dst[r*step : r*step+n])
	}
}
