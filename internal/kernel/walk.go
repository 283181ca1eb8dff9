package kernel

// A Walk steps several operands of one shape through memory together, as rows
// of a single innermost axis. Neighbouring axes that every operand stores as
// one are merged, axes of extent 1 dropped, so that dense operands become a
// single row. The zero Walk is ready for Bind and reuses its slices.
type Walk struct {
	Rows  int   // number of rows; 0 when the shape is empty
	Len   int   // elements in each row
	Inner []int // stride within a row, for each operand

	extents []int // of the axes outside the row, outermost first
	strides []int // for axis a and operand k at [a*len(Inner)+k]
}

// Bind lays the walk over shape, with one list of strides for each operand.
// Nothing of the arguments is kept.
func (w *Walk) Bind(shape []int, strides ...[]int) {
	k := len(strides)
	w.Rows, w.Len = 1, 1
	w.Inner = w.Inner[:0]
	w.extents, w.strides = w.extents[:0], w.strides[:0]
	// Collect the axes that matter, merging each into its outer neighbour
	// where that neighbour's stride is this one's stride times its extent.
	for a, d := range shape {
		if d == 0 {
			w.Rows, w.Len = 0, 0
		}
		if d == 1 {
			continue
		}
		if last := len(w.extents) - 1; last >= 0 && w.chains(last, d, a, strides) {
			w.extents[last] *= d
			for i, s := range strides {
				w.strides[last*k+i] = s[a]
			}
			continue
		}
		w.extents = append(w.extents, d)
		for _, s := range strides {
			w.strides = append(w.strides, s[a])
		}
	}
	if last := len(w.extents) - 1; last >= 0 {
		w.Inner = append(w.Inner, w.strides[last*k:]...)
		if w.Rows != 0 {
			w.Len = w.extents[last]
		}
		w.extents, w.strides = w.extents[:last], w.strides[:last*k]
	} else {
		for range strides {
			w.Inner = append(w.Inner, 1)
		}
	}
	for _, d := range w.extents {
		w.Rows *= d
	}
}

func (w *Walk) chains(last, d, axis int, strides [][]int) bool {
	for i, s := range strides {
		if w.strides[last*len(strides)+i] != s[axis]*d {
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
	for a := len(w.extents) - 1; a >= 0 && row > 0; a-- {
		i := row % w.extents[a]
		row /= w.extents[a]
		if i != 0 {
			for o, s := range w.strides[a*k : a*k+k] {
				at[o] += i * s
			}
		}
	}
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
	return (n + each - 1) / each, each
}
