package conv

import (
	"slices"

	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/gemm"
	"github.com/berth-go/berth/internal/kernel/isa"
)

// windows is the form of a convolution with channels last that multiplies the windows by
// the weights: positions are the rows of the product, maps its columns. The windows are
// never packed. A term lies as far from the first one at every position, so that the left
// operand is the image itself, as [isa.Tile.MulWindows] reads it.
//
// Positions lie in lines, where one is as far from the next as any, in x and in y, and
// lines lie so in planes. Where no window meets the padding, axes whose positions follow
// each other evenly are joined: with one tap and a stride of 1, all positions of dense
// images are one line. Otherwise lines are along the last spatial axis and planes along the
// last two, and the part of the image that a block meets is copied to a padded [band].
//
// A block is a part of some lines of a plane, for some maps or for all maps of some
// groups. It meets all its positions with as many strips of weights as the nearest cache
// holds, [gemm.BlockK] terms of each at most, before it takes the next ones.
type windows struct {
	inPlace               bool
	axes                  []positions // the innermost first: a line's, a plane's, and those that planes are along
	planes, lines, length int         // of all; of a plane; of a line
	stepX, lineX          int         // elements of the left operand from one position and line to the next
	stepY, lineY          int         // and of y
	terms                 isa.Taps    // where those of a window lie
	rows                  int         // of a tile
	band                  band        // unless in place

	blockLines, blockLength, blockGroups, blockMaps int // extents of a block
	acrosses, downs, groups, parts                  int // blocks along a line, a plane, all groups, and the maps of one
}

// positions are as far from each other, in x and in y.
type positions struct{ count, x, y int }

// These bound the elements of the strips that a block meets its positions with, of the
// block in y, and of a band: 32, 128 and 256 KiB of float32.
const (
	stripElems = gemm.BlockK * 32
	blockElems = 1 << 15
	bandElems  = 1 << 16
)

// bindWindows arranges the positions and cuts them into blocks.
func (k *last[T]) bindWindows() {
	f, s := &k.windows, &k.slide
	f.inPlace = k.inside()
	k.arrange()
	f.band = band{}
	if !f.inPlace {
		f.band.bind(s)
	}
	cols, _ := k.tile.Columns(k.maps)
	f.cut(k.maps, k.group, k.deep, k.taps, k.tile.WindowRows, k.tile.Cols, max(cols, k.tile.Cols))
	f.terms.Reset()
	if f.inPlace {
		k.termsInPlace()
	} else {
		f.band.fit(f.blockLines, f.blockLength, f.blockGroups, k.deep, k.taps)
		f.band.layOut(&f.terms, k.deep)
		f.stepX, f.lineX = f.band.steps()
	}
	f.rows = tileRows(&k.tile, f.stepX, f.stepY, k.x.DType.Size())
}

// inside reports whether every window lies in the image, and no axis of that runs backwards.
func (k *last[T]) inside() bool {
	s := &k.slide
	for axis, taps := range s.Taps {
		end := (s.Out[axis]-1)*s.Stride[axis] + (taps-1)*s.Dilation[axis] - s.Begin[axis]
		if s.Begin[axis] > 0 || end >= s.In[axis] {
			return false
		}
	}
	return slices.Min(k.x.Strides) >= 0
}

// arrange lays the positions out.
func (k *last[T]) arrange() {
	f, s := &k.windows, &k.slide
	f.axes = f.axes[:0]
	for axis := len(s.Out); axis >= 0; axis-- { // of x and y
		p := positions{k.images, k.x.Strides[0], k.y.Strides[0]}
		if axis > 0 {
			p = positions{s.Out[axis-1], s.Stride[axis-1] * k.x.Strides[axis], k.y.Strides[axis]}
		}
		if !f.inPlace || len(f.axes) == 0 || !f.axes[len(f.axes)-1].join(p) {
			f.axes = append(f.axes, p)
		}
		if len(s.Out) == 1 && !f.inPlace && axis == 1 {
			f.axes = append(f.axes, positions{count: 1}) // images are no lines of one band
		}
	}
	if len(f.axes) == 1 {
		f.axes = append(f.axes, positions{count: 1})
	}
	line, plane := f.axes[0], f.axes[1]
	f.length, f.stepX, f.stepY = line.count, line.x, line.y
	f.lines, f.lineX, f.lineY = plane.count, plane.x, plane.y
	f.planes = 1
	for _, p := range f.axes[2:] {
		f.planes *= p.count
	}
}

// join makes p and the next axis outside it one, if their positions follow each other
// evenly.
func (p *positions) join(outer positions) bool {
	switch {
	case outer.count == 1:
	case p.count == 1:
		*p = outer
	case outer.x == p.count*p.x && outer.y == p.count*p.y:
		p.count *= outer.count
	default:
		return false
	}
	return true
}

// termsInPlace finds the terms of a window in x.
func (k *last[T]) termsInPlace() {
	s := &k.slide
	for c := range k.deep {
		for tap := range k.taps {
			at := c
			for axis := len(s.Taps) - 1; axis >= 0; axis-- {
				at += tap % s.Taps[axis] * s.Dilation[axis] * k.x.Strides[1+axis]
				tap /= s.Taps[axis]
			}
			k.windows.terms.Append(at)
		}
	}
}

// cut chooses the extents of blocks: what the caches hold, and less until there are blocks
// enough. A strip has a number of columns, and tiles take so many maps at once.
func (f *windows) cut(maps, group, deep, taps, rows, cols, atOnce int) {
	const (
		enough = 12      // blocks, for the workers to share evenly
		grain  = 1 << 20 // multiplications in a block worth handing out
		many   = 128     // positions that are worth reading the weights for
	)
	strips := kernel.CeilDiv(maps, cols)
	f.blockMaps = min(kernel.CeilDiv(strips, kernel.CeilDiv(strips, maxStrips))*cols, maps)
	f.blockGroups = min(max(maxStrips*cols/maps, 1), group)
	f.blockLines, f.blockLength = f.lines, f.length
	halve := func(n *int, unit int) { *n = kernel.CeilDiv(*n, 2*unit) * unit }
	for !f.fits(deep, taps) {
		switch {
		case f.blockLines > 1:
			halve(&f.blockLines, 1)
		case f.blockLength > rows:
			halve(&f.blockLength, rows)
		case f.blockGroups > 1:
			halve(&f.blockGroups, 1)
		default:
			f.count(group, maps)
			return
		}
	}
	for {
		f.count(group, maps)
		at := f.blockLines * f.blockLength
		if f.blocks() >= enough || f.work(deep*taps) <= 2*grain {
			return
		}
		switch {
		case f.blockLines > 1 && at > many:
			halve(&f.blockLines, 1)
		case at > many:
			halve(&f.blockLength, rows)
		case f.blockGroups > 1:
			halve(&f.blockGroups, 1)
		case f.blockMaps > atOnce:
			halve(&f.blockMaps, atOnce)
		case f.blockLines > 1:
			halve(&f.blockLines, 1)
		case f.blockLength > rows:
			halve(&f.blockLength, rows)
		default:
			return
		}
	}
}

// fits reports whether the caches hold a block.
func (f *windows) fits(deep, taps int) bool {
	if float64(f.blockLines)*float64(f.blockLength)*float64(f.blockGroups*f.blockMaps) > blockElems {
		return false
	}
	return f.inPlace || f.band.fit(f.blockLines, f.blockLength, f.blockGroups, deep, taps)
}

// count counts the blocks.
func (f *windows) count(group, maps int) {
	f.acrosses, f.downs = kernel.CeilDiv(f.length, f.blockLength), kernel.CeilDiv(f.lines, f.blockLines)
	f.groups, f.parts = kernel.CeilDiv(group, f.blockGroups), kernel.CeilDiv(maps, f.blockMaps)
}

func (f *windows) blocks() int { return f.planes * f.downs * f.acrosses * f.groups * f.parts }

// work returns the multiplications of a block with so many terms.
func (f *windows) work(terms int) float64 {
	return float64(f.blockLines*f.blockLength) * float64(f.blockGroups*f.blockMaps) * float64(terms)
}

// windowScratch returns the bytes of working memory of a block.
func (k *last[T]) windowScratch() int {
	n := kernel.Carved[T](k.windows.band.elems()) + kernel.Carved[isa.Grid](1)
	if k.prepackedW == nil {
		n += kernel.Carved[T](k.packedBlock())
	}
	return n
}

// packedBlock returns the elements of the weights that a block packs at a time.
func (k *last[T]) packedBlock() int {
	return gemm.Prepacked(k.windows.blockMaps, min(k.deep*k.taps, gemm.BlockK), k.tile.Cols)
}

// block computes one of the blocks.
func (k *last[T]) block(i int, scratch []byte) error {
	f := &k.windows
	next := func(blocks int) int {
		at := i % blocks
		i /= blocks
		return at
	}
	col, line, plane := next(f.acrosses)*f.blockLength, next(f.downs)*f.blockLines, next(f.planes)
	m0, group := next(f.parts)*f.blockMaps, i*f.blockGroups
	b := windowBlock{
		plane: plane, line: line, lines: min(f.blockLines, f.lines-line), col: col, cols: min(f.blockLength, f.length-col),
		group: group, groups: min(f.blockGroups, k.group-group), map0: m0, maps: min(f.blockMaps, k.maps-m0),
	}
	k.multiply(&b, scratch)

	all := k.maps * k.group
	lines, cols := b.lines, b.cols
	if cols == f.length { // all lines are one
		lines, cols = 1, lines*cols
	}
	first := ((plane*f.lines+line)*f.length+col)*all + group*k.maps + m0
	for l := range lines {
		if err := k.rest.Run(first+l*f.length*all, cols, all, (b.groups-1)*k.maps+b.maps, scratch); err != nil {
			return err
		}
	}
	return nil
}

// A windowBlock says which part of the result a block is.
type windowBlock struct {
	plane, line, lines, col, cols int
	group, groups, map0, maps     int
}

// multiply computes the sums of a block.
func (k *last[T]) multiply(b *windowBlock, scratch []byte) {
	f, cols := &k.windows, k.tile.Cols
	band, grid := kernel.Carve[T](&scratch, f.band.elems()), &kernel.Carve[isa.Grid](&scratch, 1)[0]
	var packed []T
	if k.prepackedW == nil {
		packed = kernel.Carve[T](&scratch, k.packedBlock())
	}
	x, y := k.x.Offset, k.y.Offset+b.line*f.lineY+b.col*f.stepY
	for at, i := b.plane, 2; i < len(f.axes); i++ {
		axis := &f.axes[i]
		x, y, at = x+at%axis.count*axis.x, y+at%axis.count*axis.y, at/axis.count
	}
	left := band
	if f.inPlace {
		left = kernel.Slice[T](k.x)[x+b.line*f.lineX+b.col*f.stepX+b.group*k.deep:]
	}
	filled, deep := 0, k.deep*k.taps
	for g := range b.groups {
		m0 := (b.group+g)*k.maps + b.map0
		to := kernel.Slice[T](k.y)[y+m0:]
		var bias []T
		if k.bias != nil {
			bias = kernel.Slice[T](k.bias)[k.bias.Offset+m0:][:b.maps]
		}
		if deep == 0 {
			k.empty(to, bias, b)
		}
		for k0 := 0; k0 < deep; k0 += gemm.BlockK {
			k1 := min(k0+gemm.BlockK, deep)
			if !f.inPlace && filled*k.taps < k1 {
				// As many channels as have a place once those before k0 are left.
				c1 := min(k0/k.taps+f.band.held, k.deep)
				k.fillBand(band, x, b, filled, c1, grid)
				filled = c1
			}
			strips := packed
			if k.prepackedW != nil {
				strips = k.prepackedW[(b.group+g)*k.packedGroup()+gemm.Prepacked(k.maps, k0, cols)+b.map0*(k1-k0):]
			} else {
				gemm.Pack(packed, k.weights(b.group+g), b.map0, b.map0+b.maps, k0, k1, cols)
			}
			var last []T
			if k1 == deep {
				last = bias
			}
			p := windowProduct[T]{
				tile: &k.tile, rows: f.rows, lines: b.lines, cols: b.cols,
				left: left[g*k.deep:], lineX: f.lineX, stepX: f.stepX, terms: f.terms.Slice(k0, k1),
				strips: strips, bias: last, y: to, lineY: f.lineY, stepY: f.stepY, add: k0 > 0,
			}
			p.run(b.maps)
		}
	}
}

// A windowProduct multiplies windows at all positions of a block by strips of weights, for
// some terms.
type windowProduct[T kernel.Number] struct {
	tile                       *isa.Tile[T]
	rows                       int // of a tile of one strip; see [tileRows]
	lines, cols                int // of positions
	left                       []T // from the first position on
	terms                      isa.Taps
	strips, bias, y            []T  // from the first map on, y at the first position
	add                        bool // to what there is in y
	lineX, stepX, lineY, stepY int  // elements of left and of y from a line and a position to the next
}

// tileRows returns the most rows of a tile of one strip, whose positions lie so many elements
// of size bytes apart, in the left operand and the result.
func tileRows[T kernel.Number](tile *isa.Tile[T], stepX, stepY, size int) int {
	// Rows a multiple of alias bytes apart share a place in the nearest cache, which holds
	// 8 of them or more.
	const alias, few = 4096, 7
	if stepX*size%alias == 0 || stepY*size%alias == 0 {
		return min(tile.WindowRows, few)
	}
	return tile.WindowRows
}

// run multiplies by the strips of so many maps: by as many at a time as the nearest cache holds.
func (p *windowProduct[T]) run(maps int) {
	atOnce, _ := p.tile.Columns(maps)
	each := max(stripElems/p.terms.Len()/atOnce, 1) * atOnce
	for m := 0; m < maps; m += each {
		p.multiply(m, min(m+each, maps))
	}
}

// multiply multiplies by the strips of maps [m0, m1).
func (p *windowProduct[T]) multiply(m0, m1 int) {
	wide := m0
	for {
		n, _ := p.tile.Columns(m1 - wide)
		if n <= p.tile.Cols {
			break
		}
		wide += n
	}
	p.tiles(m0, wide, 2*p.tile.Cols, p.tile.WideRows)
	p.tiles(wide, m1, p.tile.Cols, p.rows)
}

// tiles multiplies by the strips of maps [m0, m1), as many positions and maps at a time.
func (p *windowProduct[T]) tiles(m0, m1, width, rows int) {
	if m0 == m1 {
		return
	}
	n, at, cols := p.terms.Len(), 0, p.tile.Cols
	for l := range p.lines {
		// Tiles as high as each other, and behind them those of a row less: one by one as
		// long as they fetch strips ahead, and then all at once.
		tiles := kernel.CeilDiv(p.cols, rows)
		h, col := kernel.CeilDiv(p.cols, tiles), 0
		for high := p.cols - tiles*(h-1); tiles > 0; {
			if high == 0 {
				h, high = h-1, tiles
			}
			count := high
			if width > cols && at < isa.AheadTiles {
				count = 1
			}
			left, y := p.left[l*p.lineX+col*p.stepX:], p.y[l*p.lineY+col*p.stepY:]
			for m := m0; m < m1; m += width {
				bias := p.bias
				if bias != nil {
					bias = bias[m:]
				}
				right := isa.Strips[T]{Data: p.strips[m*n:], Row: cols, Next: cols * n}
				if width > cols {
					right.Ahead = isa.Ahead(p.strips[min((m1+m-m0)*n, len(p.strips)):], right.Next, at, n)
				}
				p.tile.MulWindows(h, count, min(width, m1-m), left, p.stepX, p.terms, right, bias, y[m:], p.stepY, p.add)
			}
			tiles, high, at, col = tiles-count, high-count, at+count, col+count*h
		}
	}
}

// empty writes the sums of a block without terms for the maps of a group.
func (k *last[T]) empty(y, bias []T, b *windowBlock) {
	for l := range b.lines {
		for col := range b.cols {
			to := y[l*k.windows.lineY+col*k.windows.stepY:][:b.maps]
			clear(to)
			for m, v := range bias {
				to[m] += v
			}
		}
	}
}
