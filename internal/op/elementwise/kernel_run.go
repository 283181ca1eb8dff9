package elementwise

import "github.com/berth-go/berth/internal/kernel"

// A frame is the state of one task: where the current block of each operand
// is.
type frame struct {
	regs  []byte
	index []int              // over the axes of the walk
	at    [1 + MaxInputs]int // first element of the row; output first
	in    [MaxInputs][]byte
	out   []byte
}

// Run implements [kernel.Kernel].
func (k *programKernel) Run(task int, scratch []byte) error {
	f := k.begin(scratch, k.block)
	return k.elements(&f, task*k.each, min((task+1)*k.each, k.total))
}

// begin returns a frame that has its registers in scratch, for blocks of at most n
// elements.
func (k *programKernel) begin(scratch []byte, n int) frame {
	f := frame{index: kernel.Carve[int](&scratch, len(k.walk.Extents))}
	f.regs = scratch
	for i := range k.prologue {
		k.exec(&k.prologue[i], &f, min(n, k.block))
	}
	return f
}

// elements computes elements [lo, hi) of the output, in row-major order.
func (k *programKernel) elements(f *frame, lo, hi int) error {
	last := -1
	for e := lo; e < hi; {
		row, col := 0, e
		n := min(k.block, hi-e)
		if !k.flat {
			if k.walk.Rows > 1 {
				row, col = e/k.walk.Len, e%k.walk.Len
			}
			if row != last {
				k.walk.Seek(row, f.at[:])
				last = row
			}
			n = min(n, k.walk.Len-col)
		}
		for i, o := range k.in {
			w := k.values[i].width
			switch from := o.Offset + f.at[1+i]; k.form[1+i] {
			case formDense:
				f.in[i] = o.Data[(from+col)*w:]
			case formScalar:
				f.in[i] = o.Data[from*w:]
			}
		}
		for _, g := range k.gathers {
			w := k.values[g.input].width
			dst := f.regs[g.reg*k.regBytes:][:n*w]
			k.move(true, 1+g.input, dst, f, e, col)
			f.in[g.input] = dst
		}
		w := k.out.DType.Size()
		if k.scatter >= 0 {
			f.out = f.regs[k.scatter*k.regBytes:][:n*w]
		} else {
			f.out = k.out.Data[(k.out.Offset+f.at[0]+col)*w:]
		}
		if err := k.runSteps(f, n); err != nil {
			return err
		}
		if k.scatter >= 0 {
			k.move(false, 0, f.out, f, e, col)
		}
		e += n
	}
	return nil
}

// runSteps runs the steps of a block of n elements, whose operands are in f.
func (k *programKernel) runSteps(f *frame, n int) error {
	for i := range k.steps {
		if s := &k.steps[i]; !k.exec(s, f, n) {
			return s.call.err
		}
	}
	return nil
}

// exec runs a step over n elements.
func (k *programKernel) exec(s *step, f *frame, n int) bool {
	if s.one {
		n = 1
	}
	var args [3][]byte
	for j, l := range s.args[:s.n] {
		args[j] = k.at(l, f)
	}
	return s.loop(k.at(s.dst, f)[:n*s.dst.width], args[0], args[1], args[2], &s.call.attrs)
}

// at returns the memory from the place l on.
func (k *programKernel) at(l place, f *frame) []byte {
	switch l.kind {
	case locReg:
		return f.regs[l.index*k.regBytes:][:k.regBytes]
	case locIn:
		return f.in[l.index]
	case locConst:
		return k.consts[l.index:]
	}
	return f.out
}

// move copies the elements of a dense block from operand o, where in is true, or
// to it: those from element e of the output on, which is element col of a row
// that starts at f.at[o].
func (k *programKernel) move(in bool, o int, block []byte, f *frame, e, col int) {
	op := k.out
	if o > 0 {
		op = k.in[o-1]
	}
	switch op.DType.Size() {
	case 1:
		moveElems[uint8](k, in, o, op, block, f, e, col)
	case 2:
		moveElems[uint16](k, in, o, op, block, f, e, col)
	case 4:
		moveElems[uint32](k, in, o, op, block, f, e, col)
	default:
		moveElems[uint64](k, in, o, op, block, f, e, col)
	}
}

func moveElems[T any](k *programKernel, in bool, o int, op *kernel.Operand, block []byte, f *frame, e, col int) {
	b, mem := kernel.Cast[T](block), kernel.Slice[T](op)
	stride := k.walk.Inner[o]
	if !k.flat {
		moveRow(in, b, mem, op.Offset+f.at[o]+col*stride, stride)
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
	for {
		n := min(w.Len-col, len(b))
		moveRow(in, b[:n], mem, at+col*stride, stride)
		if b = b[n:]; len(b) == 0 {
			return
		}
		col = 0
		for a := len(w.Extents) - 1; a >= 0; a-- {
			f.index[a]++
			at += w.Strides[a*operands+o]
			if f.index[a] < w.Extents[a] {
				break
			}
			at -= w.Extents[a] * w.Strides[a*operands+o]
			f.index[a] = 0
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
