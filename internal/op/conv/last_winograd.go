package conv

import (
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
)

// lastWinograd is a convolution by minimal filtering of images with their channels last.
type lastWinograd struct {
	minimal

	band, bands   int  // tiles of a band, and how many there are
	wide          int  // maps done at a time
	blocks, block int  // groups of maps that are tasks of their own, and the maps of one
	chunk, run    int  // channels and tiles that are transformed at a time
	pitch         int  // of the transformed channels of a tile
	gathered      bool // steps between pixels are negative, which loops do not take
}

const (
	lastGroup     = 128 << 10 // bytes for the products of the maps done at a time
	lastLeastBand = 24        // tiles of a band that outweigh the reading of all weights
	lastMostBand  = 48        // tiles of a band behind which there is nothing to gain
	lastLines     = 3 << 10   // elements that are transformed at a time, to stay in the first-level cache
)

// newLastWinograd returns the kernel of the convolution that [newLast] states by minimal
// filtering, with the results of [newWinograd] to the last bit. Channels and maps lie
// dense; other axes of x and y may have any stride.
//
// The sums over channels are 36 products of matrices, tiles × channels by channels × maps.
// Tiles are numbered through all images, row by row, and a band is as many of them as
// follow one another. A task transforms the image for one band, and then computes some
// maps a group of strips at a time. Weights are transformed for each task unless they are
// prepacked.
func newLastWinograd(p params) kernel.Kernel { return &lastWinograd{minimal: newMinimal(p)} }

// Bind implements [kernel.Kernel].
func (k *lastWinograd) Bind(in, out []*kernel.Operand) {
	half := k.tile.Cols / 2 // a register of the tile kernel
	k.bind(in, out, 1, k.tile.Cols, half)
	tiles := k.images * k.rows * k.cols
	k.pitch = kernel.CeilDiv(k.deep, half) * half

	most := min(max(winogradImage/(winogradPoints*4*max(k.pitch, 1)), 1), lastMostBand)
	least := min(lastLeastBand, most)
	k.bands = max(kernel.CeilDiv(tiles, most), min(winogradTasks, tiles/least), 1)
	k.band = max(kernel.CeilDiv(tiles, k.bands), 1)
	k.bands = kernel.CeilDiv(tiles, k.band)

	strips := kernel.CeilDiv(k.maps, k.strip)
	k.blocks = max(min(kernel.CeilDiv(winogradTasks, max(k.bands*k.groups, 1)), k.maps/winogradMaps), 1)
	k.block = max(kernel.CeilDiv(strips, k.blocks), 1) * k.strip
	k.blocks = kernel.CeilDiv(k.maps, k.block)
	unit, _ := k.tile.Columns(k.block)
	unit = max(unit, k.strip)
	k.wide = min(max(lastGroup/(winogradPoints*4*k.band*unit), 1)*unit, k.block)

	k.chunk = min(k.deep, 4*half)
	k.run = min(max((lastLines/(6*max(k.chunk, 1))-2)/winogradTile, 1), max(k.cols, 1))
	k.gathered = k.x.Strides[1] < 0 || k.x.Strides[2] < 0
}

// Tasks implements [kernel.Kernel].
func (k *lastWinograd) Tasks() int { return k.bands * k.groups * k.blocks }

// linesElems returns the elements of the lines that are transformed at a time.
func (k *lastWinograd) linesElems() int { return 6 * (winogradTile*k.run + 2) * k.chunk }

// point returns how many elements the matrix of a point takes, of the transformed image.
// The lanes behind it are there so that all 36 matrices do not meet in a few sets of
// the first-level cache, as they would at a distance of a power of 2.
func (k *lastWinograd) point() int { return k.band*k.pitch + k.tile.Cols/2 }

// atOnce returns how many maps are done at a time: strips that share what they read of
// the image, or one, as long as a task has to transform the weights.
func (k *lastWinograd) atOnce() int {
	if k.prepacked == nil {
		return k.strip
	}
	return k.wide
}

// Scratch implements [kernel.Kernel].
func (k *lastWinograd) Scratch() int {
	n := 2*kernel.Carved[float32](k.linesElems()) + kernel.Carved[float32](winogradPoints*k.point()) +
		kernel.Carved[float32](winogradPoints*k.band*k.atOnce())
	if k.prepacked == nil {
		n += kernel.Carved[float32](k.elems(k.strip) + k.beyond())
	}
	return n + k.epilogue.Scratch()
}

// Run implements [kernel.Kernel].
func (k *lastWinograd) Run(task int, scratch []byte) error {
	// Bands come first: tasks that follow one another then read the same weights.
	band, task := task%k.bands, task/k.bands
	group, block := task/k.blocks, task%k.blocks
	t0 := band * k.band
	t1 := min(t0+k.band, k.images*k.rows*k.cols)
	transformed := k.transform(t0, t1, group, &scratch)
	step := k.atOnce()
	products := kernel.Carve[float32](&scratch, winogradPoints*k.band*step)
	var own []float32
	if k.prepacked == nil {
		own = kernel.Carve[float32](&scratch, k.elems(k.strip)+k.beyond())
	}
	map1 := min((block+1)*k.block, k.maps)
	for m := block * k.block; m < map1; m += step {
		end := min(m+step, map1)
		weights := own
		if k.prepacked != nil {
			weights = k.from(group, m)
		} else {
			k.pack(own, group, m, end)
		}
		k.multiply(products, weights, transformed, t1-t0, m, end)
		if err := k.store(t0, t1, group, m, end, products, scratch); err != nil {
			return err
		}
	}
	return nil
}

// A tileRun is some tiles that follow one another in a row of tiles.
type tileRun struct{ image, row, col, n int }

// runFrom returns the run that begins with tile t and ends before t1, at most so long.
func (k *lastWinograd) runFrom(t, t1, longest int) tileRun {
	row, col := t/k.cols, t%k.cols
	return tileRun{row / k.rows, row % k.rows, col, min(k.cols-col, t1-t, longest)}
}

// transform returns the transformed tiles [t0, t1) of a group: channel c of a tile, of
// point p, at [p*point+(tile-t0)*pitch+c].
func (k *lastWinograd) transform(t0, t1, group int, scratch *[]byte) []float32 {
	lines := kernel.Carve[float32](scratch, k.linesElems())
	copied := kernel.Carve[float32](scratch, k.linesElems())
	out := kernel.Carve[float32](scratch, winogradPoints*k.point())
	for t := t0; t < t1; {
		r := k.runFrom(t, t1, k.run)
		for c := 0; c < k.deep; c += k.chunk {
			n := min(k.chunk, k.deep-c)
			k.transformLines(lines, copied, r, group*k.deep+c, n)
			for i := range 6 {
				to := out[6*i*k.point()+(t-t0)*k.pitch+c:]
				k.loops.InRows(to, lines[i*n:], r.n, k.pitch, winogradTile*6*n, k.point(), 6*n, n)
			}
		}
		t += r.n
	}
	return out
}

// transformLines transforms the columns of a run of tiles, n channels from one on: line i
// of a column to lines[(6*column+i)*n:].
func (k *lastWinograd) transformLines(lines, copied []float32, r tileRun, channel, n int) {
	top, left := r.row*winogradTile-k.slide.Begin[0], r.col*winogradTile-k.slide.Begin[1]
	columns := winogradTile*r.n + 2
	// Columns [lo, hi) lie in the image.
	lo := min(max(-left, 0), columns)
	hi := max(min(k.slide.In[1]-left, columns), lo)
	clear(lines[:lo*6*n])
	clear(lines[hi*6*n : columns*6*n])
	if lo == hi {
		return
	}
	down, across := k.x.Strides[1], k.x.Strides[2]
	at := k.x.Offset + r.image*k.x.Strides[0] + top*down + (left+lo)*across + channel
	x := kernel.Slice[float32](k.x)
	if !k.gathered && top >= 0 && top+6 <= k.slide.In[0] {
		k.loops.InRows(lines[lo*6*n:], x[at:], hi-lo, 6*n, across, n, down, n)
		return
	}
	for i := range 6 {
		row := copied[i*columns*n:]
		if y := top + i; y < 0 || y >= k.slide.In[0] {
			clear(row[:(hi-lo)*n])
			continue
		}
		for j := range hi - lo {
			copy(row[j*n:(j+1)*n], x[at+i*down+j*across:])
		}
	}
	k.loops.InRows(lines[lo*6*n:], copied, hi-lo, 6*n, n, n, columns*n, n)
}

// multiply computes the sums over channels for maps [m0, m1) of some tiles: map m of a
// tile, of point p, at [(p*tiles+tile)*(m1-m0)+m-m0].
func (k *lastWinograd) multiply(products, weights, transformed []float32, tiles, m0, m1 int) {
	maps := m1 - m0
	if k.deep == 0 {
		clear(products[:winogradPoints*tiles*maps])
		return
	}
	for p := range winogradPoints {
		for m := m0; m < m1; {
			width, n, rows := k.width(m), min(k.strip, m1-m), k.tile.Rows
			if k.tile.WideRows > 0 && k.strip == k.tile.Cols && m+2*k.strip <= m1 {
				n, rows = 2*k.strip, k.tile.WideRows
			}
			of, next := weights[k.elems(m-m0)+p*k.deep*width:], k.elems(k.strip)
			// Tiles as high as each other, or as the next.
			t, parts := 0, kernel.CeilDiv(tiles, rows)
			for i := range parts {
				h := kernel.CeilDiv(tiles-t, parts-i)
				b := isa.Strips[float32]{Data: of, Row: width, Next: next, Ahead: isa.Ahead(of[min(k.deep*width, len(of)):], k.deep*width, i, k.deep)}
				k.tile.MulFrom(h, n, k.deep, transformed[p*k.point()+t*k.pitch:], k.pitch, 1, b, products[(p*tiles+t)*maps+m-m0:], maps, false)
				t += h
			}
			m += n
		}
	}
}

// store transforms the products of maps [m0, m1) of tiles [t0, t1) to the result, and has
// the epilogue run on it.
func (k *lastWinograd) store(t0, t1, group, m0, m1 int, products []float32, scratch []byte) error {
	maps, tiles := m1-m0, t1-t0
	y := kernel.Slice[float32](k.y)
	down, across := k.y.Strides[1], k.y.Strides[2]
	for t := t0; t < t1; {
		r := k.runFrom(t, t1, k.cols)
		from := products[(t-t0)*maps:]
		k.loops.OutRows(from, from, 6, tiles*maps, tiles*maps, 6*tiles*maps, 6*tiles*maps, r.n*maps, winogradTile)
		top, left := r.row*winogradTile, r.col*winogradTile
		columns := min(winogradTile*r.n, k.slide.Width-left)
		for i := range min(winogradTile, k.slide.Rows-top) {
			at := k.y.Offset + r.image*k.y.Strides[0] + (top+i)*down + left*across + group*k.maps + m0
			line := from[6*i*tiles*maps:]
			if whole := columns / winogradTile; whole > 0 {
				k.loops.OutRows(y[at:], line, whole, winogradTile*across, maps, across, tiles*maps, maps, winogradTile)
			}
			if rest := columns % winogradTile; rest > 0 {
				c := columns - rest
				k.loops.OutRows(y[at+c*across:], line[c/winogradTile*maps:], 1, 0, 0, across, tiles*maps, maps, rest)
			}
			all := k.groups * k.maps
			first := ((r.image*k.slide.Rows+top+i)*k.slide.Width+left)*all + group*k.maps + m0
			if err := k.epilogue.Run(first, columns, all, maps, scratch); err != nil {
				return err
			}
		}
		t += r.n
	}
	return nil
}
