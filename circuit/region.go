package circuit

// A Region is where the rows of an edge lie: Rows rows of Width bytes each, of
// which the first begins at Offset and each next one Stride bytes after the one
// before. Its bytes have an order: row by row, and along each row.
//
// Rows that follow each other without a gap have Stride equal to Width, and so has
// a single row. What is said of bytes holds for any other unit as well.
type Region struct{ Offset, Rows, Width, Stride int64 }

// Part returns where a part of r lies: rows of width bytes each, of which row i is
// the bytes of r, in their order, from number offset + i*stride on. This decides
// what a [Layout] can express: it reports false, and nothing can place the part,
// unless each row of the part lies within one row of r, and these places are evenly
// apart. A part without bytes is at the offset of r.
//
// With r = {0, 4, 100, 150}, four rows that are 50 bytes apart:
//
//	r.Part(20, 4, 30, 100)    {20, 4, 30, 150}    some columns of each row
//	r.Part(200, 2, 100, 100)  {300, 2, 100, 150}  two whole rows
//	r.Part(120, 2, 20, 40)    {170, 2, 20, 40}    two pieces of one row
//	r.Part(0, 2, 100, 200)    {0, 2, 100, 300}    every second row
//	r.Part(0, 1, 200, 200)    false               one row over two rows of r
//	r.Part(0, 8, 50, 50)      false               two rows in each of r: 50, then 100 bytes apart
func (r Region) Part(offset, rows, width, stride int64) (Region, bool) {
	if min(r.Rows, r.Width, offset, rows, width) < 0 || stride < width || r.Stride < r.Width {
		return Region{}, false
	}
	if rows == 0 || width == 0 {
		return Region{r.Offset, rows, width, width}, true
	}
	all, ok := mul(r.Rows, r.Width)
	if !ok || width > all || offset > all-width || rows > 1 && stride > (all-width-offset)/(rows-1) {
		return Region{}, false // beyond the bytes of r
	}
	if _, ok := mul(r.Rows, r.Stride); !ok {
		return Region{}, false
	}
	row, pitch := r.Width, r.Stride
	if r.isWhole() {
		row, pitch = all, all
	}
	part := Region{r.Offset + offset/row*pitch + offset%row, rows, width, width}
	column := offset % row
	if column+width > row {
		return Region{}, false
	}
	if rows == 1 {
		return part, true
	}
	// From row to row the column moves right by the remainder of stride, or left
	// by what the remainder lacks of a row. It must do the one or the other in
	// every step, and stay within a row of r.
	steps, right := rows-1, stride%row
	switch left := row - right; {
	case right <= (row-width-column)/steps:
		part.Stride = stride/row*pitch + right
	case left <= column/steps:
		part.Stride = (stride/row+1)*pitch - left
	default:
		return Region{}, false
	}
	return part, true
}

// isWhole reports whether the bytes of a region are in one piece.
func (r Region) isWhole() bool { return r.Rows <= 1 || r.Width == 0 || r.Stride == r.Width }

func (r Region) isEmpty() bool { return r.Rows == 0 || r.Width == 0 }

// end returns the position after the last byte of a region that is not empty.
func (r Region) end() int64 {
	return r.Offset + (r.Rows-1)*r.Stride + r.Width
}

// meets reports whether two regions share a byte. If both have more rows than one,
// and neither stride is a multiple of the other, they are taken to share what lies
// between their ends.
func (r Region) meets(q Region) bool {
	if r.isEmpty() || q.isEmpty() || r.Offset >= q.end() || q.Offset >= r.end() {
		return false
	}
	switch {
	case r.Rows == 1:
		r.Stride = q.Stride
	case q.Rows == 1:
		q.Stride = r.Stride
	}
	if r.Stride > q.Stride {
		r, q = q, r
	}
	if q.Stride%r.Stride != 0 {
		return true
	}
	// Row i of r and row j of q share a byte if t = i - j*times has
	// d-r.Width < t*r.Stride < d+q.Width, where d is q.Offset-r.Offset.
	times := q.Stride / r.Stride
	d := q.Offset - r.Offset
	least := floorDiv(d-r.Width, r.Stride) + 1
	most := -floorDiv(-(d+q.Width), r.Stride) - 1
	lo, hi := max(least, -(q.Rows-1)*times), min(most, r.Rows-1)
	if lo > hi {
		return false
	}
	// The lowest i of all these t is 0 if one of them is a multiple of times.
	lap := floorDiv(lo, times)
	return lap != floorDiv(hi, times) || lo-lap*times < r.Rows
}

// floorDiv returns a/b rounded down; b is positive.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
