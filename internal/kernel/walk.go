package kernel

// A Walk steps several operands of one shape through memory together, as rows
// of a single innermost axis. Neighbouring axes that every operand stores as
// one are merged, axes of extent 1 dropped, so that dense operands become a
// single row. The zero Walk is ready for Bind and reuses its slices.
type Walk struct {
	Rows  int   // number of rows; 0 when the shape is empty
	Len   int   // elements in each row
	Inner []int // stride within a row, for each operand

	Extents []int // of the axes outside the row, outermost first
	Strides []int // for axis a and operand k at [a*len(Inner)+k]
}

// Bind lays the walk over shape, with one list of strides for each operand.
// Nothing of the arguments is kept.
func (w *Walk) Bind(shape []int, strides ...[]int) {
	k := len(strides)
	w.Rows, w.Len = 1, 1
	w.Inner = w.Inner[:0]
	w.Extents, w.Strides = w.Extents[:0], w.Strides[:0]
	// Collect the axes that matter, merging each into its outer neighbour
	// where that neighbour's stride is this one's stride times its extent.
	for a, d := range shape {
		if d == 0 {
			w.Rows, w.Len = 0, 0
		}
		if d == 1 {
			continue
		}
		if last := len(w.Extents) - 1; last >= 0 && w.chains(last, d, a, strides) {
			w.Extents[last] *= d
			for i, s := range strides {
				w.Strides[last*k+i] = s[a]
			}
			continue
		}
		w.Extents = append(w.Extents, d)
		for _, s := range strides {
			w.Strides = append(w.Strides, s[a])
		}
	}
	if last := len(w.Extents) - 1; last >= 0 {
		w.Inner = append(w.Inner, w.Strides[last*k:]...)
		if w.Rows != 0 {
			w.Len = w.Extents[last]
		}
		w.Extents, w.Strides = w.Extents[:last], w.Strides[:last*k]
	} else {
		for range strides {
			w.Inner = append(w.Inner, 1)
		}
	}
	for _, d := range w.Extents {
		w.Rows *= d
	}
}

func (w *Walk) chains(last, d, axis int, strides [][]int) bool {
	for i, s := range strides {
		if w.Strides[last*len(strides)+i] != s[axis]*d {
			return false
		}
	}
	return true
}

// Seek sets at[k] to where row begins in operand k, in elements counted from
// the operand's own offset. Row must be in [0, Rows).
func (w *Walk) Seek(row int, at []int) {
	k := len(w.Inner)
	clear(at[:k])
	for a := len(w.Extents) - 1; a >= 0 && row > 0; a-- {
		i := row % w.Extents[a]
		row /= w.Extents[a]
		if i != 0 {
			for o, s := range w.Strides[a*k : a*k+k] {
				at[o] += i * s
			}
		}
	}
}

// Locate sets at[k] to where an element lies in operand k, as Seek does for a row,
// and returns how many elements, this one among them, follow at the constant steps
// of Inner before element end. Elements are counted in row-major order.
func (w *Walk) Locate(elem, end int, at []int) int {
	row, col := elem/w.Len, elem%w.Len
	w.Seek(row, at)
	for k, s := range w.Inner {
		at[k] += col * s
	}
	return min(w.Len-col, end-elem)
}

// Parts cuts n units of work, each touching about cost elements, into tasks
// of a size worth handing to a worker. It returns the number of tasks and the
// units in each but the last. The cut depends on nothing but its arguments.
func Parts(n, cost int) (tasks, each int) {
	const grain = 1 << 15 // elements; tens of microseconds of work
	if n <= 0 {
		return 0, 0
	}
	each = max(1, grain/max(cost, 1))
	return CeilDiv(n, each), each
}

// CeilDiv returns n/d rounded up, for n >= 0 and d > 0.
func CeilDiv(n, d int) int { return (n + d - 1) / d }

// Linear reports whether operand o is dense over all rows.
func (w *Walk) Linear(o int) bool {
	n := 1
	if w.Inner[o] != n {
		return false
	}
	n = w.Len
	for a := len(w.Extents) - 1; a >= 0; a-- {
		if w.Strides[a*len(w.Inner)+o] != n {
			return false
		}
		n *= w.Extents[a]
	}
	return true
}

// Still reports whether operand o is one element over all rows.
func (w *Walk) Still(o int) bool { return w.Inner[o] == 0 && w.Repeats(o) }

// Repeats reports whether every row of operand o is the same.
func (w *Walk) Repeats(o int) bool {
	for a := range w.Extents {
		if w.Strides[a*len(w.Inner)+o] != 0 {
			return false
		}
	}
	return true
}
