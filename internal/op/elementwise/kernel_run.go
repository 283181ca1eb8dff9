package elementwise

import "github.com/berth-go/berth/internal/kernel"

// A frame is the state of one task: where the current block of each operand
// is.
type frame struct {
	regs  []byte
	index []int              // over the axes of the walk
	row   int                // of the walk, to which at belongs; -1 before the first
	at    [1 + MaxInputs]int // first element of the row; output first
	in    [MaxInputs][]byte
	out   []byte

	// A block is some rows of the same number of elements. In operands they lie pitch bytes
	// apart; output first.
	rows, n int
	pitch   [1 + MaxInputs]int
	held    int // elements that gathers of equal rows have in their registers, from element from of a row on
	from    int
}

// Run implements [kernel.Kernel].
func (k *programKernel) Run(task int, scratch []byte) error {
	f := k.begin(scratch, k.block)
	return k.elements(&f, task*k.each, min((task+1)*k.each, k.total))
}

// begin returns a frame that has its registers in scratch, for blocks of at most n
// elements.
func (k *programKernel) begin(scratch []byte, n int) frame {
	f := frame{index: kernel.Carve[int](&scratch, len(k.walk.Extents)), row: -1}
	f.regs = scratch
	f.rows, f.n = 1, min(n, k.block)
	for i := range k.prologue {
		k.exec(&k.prologue[i], &f)
	}
	return f
}

// elements computes elements [lo, hi) of the output, in row-major order.
func (k *programKernel) elements(f *frame, lo, hi int) error {
	for e := lo; e < hi; {
		n, rows := min(k.block, hi-e), 1
		if !k.flat {
			n = min(n, k.walk.Len-e%k.walk.Len)
		}
		if n == k.walk.Len {
			rows = k.evenRows(e, n, n, (hi-e)/n)
		}
		if err := k.part(f, e, rows, n, n); err != nil {
			return err
		}
		e += rows * n
	}
	return nil
}

// evenRows returns how many of some rows of n elements, the first from element e on and pitch
// elements apart, are a block: they lie evenly in every operand. There is 1 at least.
func (k *programKernel) evenRows(e, pitch, n, rows int) int {
	if k.apart {
		return 1
	}
	if last := len(k.walk.Extents) - 1; last >= 0 {
		if pitch != k.walk.Len || e%pitch+n > pitch {
			return 1
		}
		extent := k.walk.Extents[last]
		rows = min(rows, extent-e/pitch%extent)
	}
	return max(min(rows, k.block/n), 1)
}

// part computes a block: rows of n elements, the first from element e on, pitch elements
// apart.
func (k *programKernel) part(f *frame, e, rows, pitch, n int) error {
	row, col, operands := 0, e, len(k.walk.Inner)
	step := func(o int) int { return k.walk.Inner[o] * pitch }
	if last := len(k.walk.Extents) - 1; last >= 0 && !k.flat {
		row, col = e/k.walk.Len, e%k.walk.Len
		if row != f.row {
			k.walk.Seek(row, f.at[:])
			f.row = row
		}
		step = func(o int) int { return k.walk.Strides[last*operands+o] }
	}
	f.rows, f.n = rows, n
	for i, o := range k.in {
		w := k.values[i].width
		f.pitch[1+i] = step(1+i) * w
		switch from := o.Offset + f.at[1+i]; k.form[1+i] {
		case formDense:
			f.in[i] = o.Data[(from+col)*w:]
		case formScalar:
			f.in[i] = o.Data[from*w:]
		}
	}
	if f.from != e%k.walk.Len {
		f.held, f.from = 0, e%k.walk.Len
	}
	for _, g := range k.gathers {
		w := k.values[g.input].width
		f.in[g.input] = f.regs[g.reg*k.regBytes:][:rows*n*w]
		if g.repeats {
			k.repeat(f, g, e)
			continue
		}
		for r := range rows {
			k.move(true, 1+g.input, f.in[g.input][r*n*w:][:n*w], f, e+r*pitch, col, r*step(1+g.input))
		}
		f.pitch[1+g.input] = n * w
	}
	f.held = max(f.held, n)
	w := k.out.DType.Size()
	if k.scatter >= 0 {
		f.out, f.pitch[0] = f.regs[k.scatter*k.regBytes:][:rows*n*w], n*w
	} else {
		f.out, f.pitch[0] = k.out.Data[(k.out.Offset+f.at[0]+col)*w:], step(0)*w
	}
	if err := k.runSteps(f); err != nil {
		return err
	}
	if k.scatter >= 0 {
		for r := range rows {
			k.move(false, 0, f.out[r*n*w:][:n*w], f, e+r*pitch, col, r*step(0))
		}
	}
	return nil
}

// repeat fills the register of a gather of equal rows, for a block from element e on, unless it
// holds as many elements.
func (k *programKernel) repeat(f *frame, g gather, e int) {
	if f.held >= f.n {
		return
	}
	block := f.in[g.input]
	filled := min(k.walk.Len*k.values[g.input].width, len(block))
	k.move(true, 1+g.input, block[:filled], f, e, e, 0)
	for filled < len(block) {
		filled += copy(block[filled:], block[:filled])
	}
}

// runSteps runs the steps of a block, whose operands are in f.
func (k *programKernel) runSteps(f *frame) error {
	for i := range k.steps {
		if s := &k.steps[i]; !k.exec(s, f) {
			return s.call.err
		}
	}
	return nil
}

// exec runs a step over a block.
func (k *programKernel) exec(s *step, f *frame) bool {
	n, rows := f.n, f.rows
	if s.one {
		n, rows = 1, 1
	}
	var args [3][]byte
	var pitch [3]int
	dst, to := k.at(s.dst, f)
	dense := to == n*s.dst.width
	for j, l := range s.args[:s.n] {
		args[j], pitch[j] = k.at(l, f)
		if s.scalars>>j&1 == 1 {
			pitch[j] = 0
		} else {
			dense = dense && pitch[j] == n*l.width
		}
	}
	if dense {
		n, rows = n*rows, 1
	}
	for r := range rows {
		var row [3][]byte
		for j := range s.n {
			row[j] = args[j][r*pitch[j]:]
		}
		if !s.loop(dst[r*to:][:n*s.dst.width], row[0], row[1], row[2], &s.call.attrs) {
			return false
		}
	}
	return true
}

// at returns the memory from the place l on, and the bytes from a row to the next.
func (k *programKernel) at(l place, f *frame) (memory []byte, pitch int) {
	switch l.kind {
	case locReg:
		return f.regs[l.index*k.regBytes:][:k.regBytes], f.n * l.width
	case locIn:
		return f.in[l.index], f.pitch[1+l.index]
	case locConst:
		return k.consts[l.index:], 0
	}
	return f.out, f.pitch[0]
}

// move copies the elements of a dense block from operand o, where in is true, or
// to it: those from element e of the output on, which is element col of a row
// that starts so many elements after f.at[o].
func (k *programKernel) move(in bool, o int, block []byte, f *frame, e, col, after int) {
	op := k.out
	if o > 0 {
		op = k.in[o-1]
	}
	switch op.DType.Size() {
	case 1:
		moveElems[uint8](k, in, o, op, block, f, e, col, after)
	case 2:
		moveElems[uint16](k, in, o, op, block, f, e, col, after)
	case 4:
		moveElems[uint32](k, in, o, op, block, f, e, col, after)
	default:
		moveElems[uint64](k, in, o, op, block, f, e, col, after)
	}
}

func moveElems[T any](k *programKernel, in bool, o int, op *kernel.Operand, block []byte, f *frame, e, col, after int) {
	b, mem := kernel.Cast[T](block), kernel.Slice[T](op)
	stride := k.walk.Inner[o]
	if !k.flat {
		moveRow(in, b, mem, op.Offset+f.at[o]+after+col*stride, stride)
		return
	}
	w, operands := &k.walk, len(k.walk.Inner)
	at, row := op.Offset, e/w.Len
	col = e % w.Len
	for a := len(w.Extents) - 1; a >= 0; a-- {
		f.index[a] = row % w.Extents[a]
		row /= w.Extents[a]
		at += f.index[a] * w.Strides[a*operands+o]
	}
	last := len(w.Extents) - 1
	step := w.Strides[last*operands+o]
	for {
		// Part of a row, or whole rows that lie evenly.
		n, rows := min(w.Len-col, len(b)), 1
		if n < w.Len {
			moveRow(in, b[:n], mem, at+col*stride, stride)
		} else {
			rows = min(w.Extents[last]-f.index[last], len(b)/n)
			moveRows(in, b[:rows*n], mem, at, rows, stride, step)
		}
		if b = b[rows*n:]; len(b) == 0 {
			return
		}
		col = 0
		f.index[last] += rows
		at += rows * step
		for a := last; f.index[a] == w.Extents[a]; a-- {
			at += w.Strides[(a-1)*operands+o] - w.Extents[a]*w.Strides[a*operands+o]
			f.index[a] = 0
			f.index[a-1]++
		}
	}
}

// moveRows copies between b and as many rows of mem, the first of which begins at at and the next
// ones step elements apart, with stride elements from one of a row to the next: along that of both
// whose elements are nearer to each other.
func moveRows[T any](in bool, b, mem []T, at, rows, stride, step int) {
	n := len(b) / rows
	outer, outerB, outerAt, inner, innerB, innerAt := rows, n, step, n, 1, stride
	if max(step, -step) < max(stride, -stride) {
		outer, outerB, outerAt, inner, innerB, innerAt = inner, innerB, innerAt, outer, outerB, outerAt
	}
	for i := range outer {
		to, from := i*outerB, at+i*outerAt
		for range inner {
			if in {
				b[to] = mem[from]
			} else {
				mem[from] = b[to]
			}
			to, from = to+innerB, from+innerAt
		}
	}
}

// moveRow copies between b and the elements at, at+stride, ... of mem.
func moveRow[T any](in bool, b, mem []T, at, stride int) {
	if in {
		for i := range b {
			b[i] = mem[at]
			at += stride
		}
		return
	}
	for i := range b {
		mem[at] = b[i]
		at += stride
	}
}
