package elementwise

import (
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/shape"
)

// programKernel runs an elementwise program over inputs that broadcast to the shape of
// its one output, in a single pass: for every block of a few hundred elements,
// each instruction in turn, with the results between them in working memory
// small enough for the first-level cache.
//
// For each index it equals the program's instructions taken one after the
// other on single elements, each rounded to its element type; so it does not
// matter to the result how instructions are spread over Maps. All operands may
// have any strides. The output may be an input's memory if both have the same
// layout and element width.
type programKernel struct {
	*lowered
	weight int // cost of an element, in rough units of one addition

	trail   []int // for each input, the axes of the output after its last one
	in      []*kernel.Operand
	out     *kernel.Operand
	strides [][]int // of the output and the inputs, over the output's shape
	walk    kernel.Walk
	total   int // elements
	tasks   int
	each    int // elements in a task

	flat    bool // blocks run on across rows
	apart   bool // rows are blocks of their own
	form    []operandForm
	gathers []gather
	scatter int // register that is copied to the output; -1 for none

	steps    []step
	prologue []step  // once for each task
	locs     []place // of values
	uniform  []bool  // values: one element for a whole block
	free     []int   // registers
	regs     int
	block    int // elements of a register
	regBytes int
}

// An operandForm says how blocks of an operand lie in memory.
type operandForm uint8

const (
	formDense operandForm = iota
	formScalar
	formStrided
)

// A gather copies blocks of a strided input into a register, which it has for itself where
// every row is the same, and blocks are whole rows.
type gather struct {
	input, reg int
	repeats    bool
}

// A step is a call bound to places, or a scalar spread out for one.
type step struct {
	loop loop
	call *call
	dst  place
	args [3]place
	n    int

	scalars int  // the operands that the loop takes as scalars, as bits
	one     bool // computes a single element
}

// A place is the place of a value: of a kind, by index, with elements of a
// width.
type place struct {
	kind  locKind
	index int
	width int
}

type locKind uint8

const (
	locReg locKind = iota
	locIn
	locConst
	locOut
)

// newKernel returns a kernel that runs prog over inputs of the given types. An
// error is that of [check].
func newKernel(prog []Instr, in []dtype.Type) (*programKernel, error) {
	l, err := lower(prog, in)
	if err != nil {
		return nil, err
	}
	k := &programKernel{lowered: l, weight: 1}
	for _, ins := range prog {
		if ins.Code.Costly() {
			k.weight += 4
		}
	}
	k.weight += len(prog) / 4
	k.strides = make([][]int, 1+len(in))
	k.trail = make([]int, len(in))
	k.form = make([]operandForm, 1+len(in))
	k.locs = make([]place, len(l.values))
	k.uniform = make([]bool, len(l.values))
	return k, nil
}

// Bind implements [kernel.Kernel].
func (k *programKernel) Bind(in, out []*kernel.Operand) {
	k.in, k.out = append(k.in[:0], in...), out[0]
	k.strides[0] = append(k.strides[0][:0], k.out.Strides...)
	k.total = shape.Shape(k.out.Shape).Elems()
	for i, o := range in {
		s := k.strides[1+i][:0]
		lead := len(k.out.Shape) - k.trail[i] - len(o.Shape)
		for a, d := range k.out.Shape {
			if a < lead || a >= lead+len(o.Shape) || o.Shape[a-lead] != d {
				s = append(s, 0)
			} else {
				s = append(s, o.Strides[a-lead])
			}
		}
		k.strides[1+i] = s
	}
	k.walk.Bind(k.out.Shape, k.strides...)
	k.chooseForms()
	k.place()
	k.tasks, k.each = kernel.Parts(k.total, k.weight)
}

// Rows of fewer elements than shortRow are run together, which copies the operands that are
// not dense: on long rows, every operand with an inner stride of 1 is read in
// place. Rows of up to equalRow elements are so if the operands that are not dense are the same for all
// rows, and so are copied once.
const shortRow, equalRow = 48, 256

func (k *programKernel) chooseForms() {
	k.flat = k.walk.Rows > 1 && k.walk.Len <= equalRow
	for o := range k.form {
		k.flat = k.flat && (k.walk.Len < shortRow || k.walk.Linear(o) || o > 0 && k.walk.Repeats(o))
	}
	for o := range k.form {
		switch inner := k.walk.Inner[o]; {
		case k.flat && k.walk.Linear(o), !k.flat && inner == 1:
			k.form[o] = formDense
		case inner == 0 && (!k.flat || k.walk.Still(o)):
			k.form[o] = formScalar
		default:
			k.form[o] = formStrided
		}
	}
	// Loops take scalars that are the same for all rows, and rows that follow each other.
	k.apart = k.flat
	if last := len(k.walk.Extents) - 1; last >= 0 {
		for o, form := range k.form {
			step := k.walk.Strides[last*len(k.form)+o]
			k.apart = k.apart || form == formScalar && step != 0 || form == formDense && step < 0
		}
	}
	// A stride of 0 is nothing special where there is one element.
	if k.form[0] == formScalar {
		k.form[0] = formStrided
	}
}

// place gives each value its place, spreads scalars out for the loops that do
// not take them, and so makes the steps of a block.
func (k *programKernel) place() {
	k.steps, k.prologue = k.steps[:0], k.prologue[:0]
	k.gathers, k.free, k.regs, k.scatter = k.gathers[:0], k.free[:0], 0, -1
	for v, val := range k.values {
		k.uniform[v] = false
		switch val.kind {
		case valueInput:
			k.locs[v] = place{locIn, val.index, val.width}
			switch k.form[1+val.index] {
			case formScalar:
				k.uniform[v] = true
			case formStrided:
				k.gathers = append(k.gathers, gather{val.index, k.own(), k.flat && k.walk.Repeats(1+val.index)})
			}
		case valueConst:
			k.locs[v] = place{locConst, val.index, val.width}
			k.uniform[v] = true
		case valueOutput:
			k.locs[v] = place{locOut, 0, val.width}
		}
	}
	for i := range k.calls {
		k.placeOp(i)
	}
	if k.form[0] != formDense {
		k.scatter = k.own()
	}
	k.sizeBlock()
}

func (k *programKernel) placeOp(i int) {
	o := &k.calls[i]
	s := step{call: o, n: o.n}
	scalars := 0
	for j, a := range o.args[:o.n] {
		s.args[j] = k.locs[a]
		if k.uniform[a] {
			scalars |= 1 << j
		}
	}
	var spares [3]int
	spare := spares[:0] // registers of operands spread out for this step alone
	if scalars == 1<<o.n-1 {
		s.loop, s.one = o.loops[0], true
	} else {
		s.loop, s.scalars = o.loops.best(scalars)
		for j, a := range o.args[:o.n] {
			if (scalars&^s.scalars)>>j&1 == 0 {
				continue
			}
			from := s.args[j]
			s.args[j] = place{kind: locReg, width: from.width}
			if k.values[a].kind == valueConst {
				s.args[j].index = k.own()
				k.prologue = append(k.prologue, spreadStep(o, s.args[j], from))
			} else {
				s.args[j].index = k.alloc()
				k.steps = append(k.steps, spreadStep(o, s.args[j], from))
				spare = append(spare, s.args[j].index)
			}
		}
	}
	out := k.values[o.dst].kind == valueOutput
	s.dst = k.locs[o.dst]
	if !out || s.one {
		s.dst = place{locReg, k.alloc(), k.values[o.dst].width}
	}
	k.steps = append(k.steps, s)
	switch {
	case !out:
		k.locs[o.dst], k.uniform[o.dst] = s.dst, s.one
	case s.one: // the output is one element, repeated
		k.steps = append(k.steps, spreadStep(o, k.locs[o.dst], s.dst))
	}
	k.free = append(k.free, spare...)
	for j, a := range o.args[:o.n] {
		if k.values[a].last == i && !slices.Contains(o.args[:j], a) {
			k.release(a)
		}
	}
}

// spreadStep returns the step that fills dst with the element at from, for the
// call o.
func spreadStep(o *call, dst, from place) step {
	return step{loop: spreadLoop(from.width), call: o, dst: dst, args: [3]place{from}, n: 1, scalars: 1}
}

// own returns a register that no other value ever has.
func (k *programKernel) own() int {
	k.regs++
	return k.regs - 1
}

// alloc returns a register for a while. The operands of a step are released
// after its result has one, as loops work in place only at equal widths.
func (k *programKernel) alloc() int {
	if n := len(k.free); n > 0 {
		r := k.free[n-1]
		k.free = k.free[:n-1]
		return r
	}
	return k.own()
}

// release frees the register of value v, if it has one.
func (k *programKernel) release(v int) {
	switch val := k.values[v]; val.kind {
	case valueTemp:
		k.free = append(k.free, k.locs[v].index)
	case valueInput:
		for _, g := range k.gathers {
			if g.input == val.index && !g.repeats {
				k.free = append(k.free, g.reg)
			}
		}
	}
}

// sizeBlock fits the registers into half of a first-level cache.
func (k *programKernel) sizeBlock() {
	const budget = 16 << 10
	width := 1
	for _, v := range k.values {
		width = max(width, v.width)
	}
	k.block = k.total
	if k.regs > 0 {
		k.block = min(max(budget/(k.regs*width)&^63, 128), 1024)
	}
	if slices.ContainsFunc(k.gathers, func(g gather) bool { return g.repeats }) {
		k.block = max(k.block/k.walk.Len, 1) * k.walk.Len
	}
	k.regBytes = k.block * width
}

// Tasks implements [kernel.Kernel].
func (k *programKernel) Tasks() int { return k.tasks }

// Scratch implements [kernel.Kernel].
func (k *programKernel) Scratch() int {
	return kernel.Carved[int](len(k.walk.Extents)) + k.regs*k.regBytes
}
