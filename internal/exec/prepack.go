package exec

import (
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/berth-go/berth/internal/compile"
	"github.com/berth-go/berth/internal/filemap"
	"github.com/berth-go/berth/internal/kernel"
)

// prepack has workers make the prepacked forms that no other program has made, once, releases
// the pages of files that are not read any more, and forgets constants of the program's own that
// are not. Of the constants that are read in prepacked forms
// alone, only those that a worker is at are in memory at a time, beside the forms.
func (p *Prepared) prepack(workers *Workers) error {
	p.once.Do(func() {
		k := &packing{
			Prepared: p,
			values:   make([]int, p.prog.Space.Len()),
			stored:   p.readAsStored(),
			forms:    make([][]source, len(p.prog.Weights)),
			spare:    make(chan []byte, workers.Len()),
		}
		p.prog.Space.Eval(p.prog.Largest, k.values)
		for _, c := range p.forms {
			weight := p.prog.Steps[c.step].In[c.input].Index
			k.forms[weight] = append(k.forms[weight], c)
		}
		p.onceMade = workers.Run(k)
	})
	return p.onceMade
}

// packing is the kernel that makes the forms, in a task for each constant.
type packing struct {
	*Prepared
	values []int       // of the functions of the program at the largest extents
	stored []bool      // the constants that are read as they are, too
	forms  [][]source  // by constant
	spare  chan []byte // memory for copies

	forgotten atomic.Int64 // bytes since the last collection
}

// Bind implements [kernel.Kernel]: there is nothing to bind.
func (k *packing) Bind(in, out []*kernel.Operand) {}

// Tasks implements [kernel.Kernel].
func (k *packing) Tasks() int { return len(k.forms) }

// Scratch implements [kernel.Kernel].
func (k *packing) Scratch() int { return 0 }

// Run implements [kernel.Kernel].
func (k *packing) Run(weight int, _ []byte) error {
	node := k.prog.Weights[weight]
	file := node.Stored().Data
	data, released := file, true
	switch aligned := kernel.Aligned(file, node.Output(0).Type().DType.Size()); {
	case k.stored[weight]:
		data, released = node.Leaf().Data, !aligned
	case len(k.forms[weight]) > 0 && !aligned:
		data = k.copyOf(file)
		defer func() { k.spare <- data }()
	}
	for _, c := range k.forms[weight] {
		if err := k.fill(c, data); err != nil {
			return err
		}
	}
	if released {
		filemap.Release(file)
	}
	if k.forgets(weight, k.stored[weight]) {
		node.Forget()
		k.collect(len(file))
	}
	return nil
}

// collect has the memory of constants that are forgotten used again, now and then: those of a
// model together may be as large as all forms of them.
func (k *packing) collect(bytes int) {
	const often = 16 << 20
	if n := k.forgotten.Add(int64(bytes)); n >= often && k.forgotten.CompareAndSwap(n, 0) {
		runtime.GC()
	}
}

// Forgets reports whether a constant is dropped once its forms are made: it was computed for the
// program, and nothing reads it in another form.
func (p *Prepared) Forgets(weight int) bool { return p.forgets(weight, p.readAsStored()[weight]) }

func (p *Prepared) forgets(weight int, stored bool) bool {
	return p.prog.Own[weight] && !stored && p.PrepackedBytesOf(weight) > 0
}

// fill makes a form of a constant whose elements are data.
func (k *packing) fill(c source, data []byte) error {
	return c.fill(func(dst []byte) error {
		b, err := newBoundStep(k.prog, c.step)
		if err != nil {
			return err
		}
		b.in[c.input].Data = data
		b.bind(k.values)
		b.kern.(kernel.Prepacker).Prepack(c.input, dst)
		return nil
	})
}

// copyOf returns an aligned copy, in memory of an earlier one if that suffices.
func (k *packing) copyOf(data []byte) []byte {
	var to []byte
	select {
	case to = <-k.spare:
	default:
	}
	if cap(to) < len(data) {
		to = kernel.Alloc(len(data))
	}
	to = to[:len(data)]
	copy(to, data)
	return to
}

// readAsStored returns which weights a step reads in another form than a prepacked one.
func (p *Prepared) readAsStored() []bool {
	stored := make([]bool, len(p.prog.Weights))
	for step := range p.prog.Steps {
		for i, o := range p.prog.Steps[step].In {
			if o.Space == compile.Weight && !isUsed(p.uses[step], i) {
				stored[o.Index] = true
			}
		}
	}
	return stored
}

// isUsed reports whether an input of a step is among those that are read in a prepacked form.
func isUsed(uses []use, input int) bool {
	return slices.ContainsFunc(uses, func(u use) bool { return u.input == input })
}

// usePrepacked has the kernel of a step read its prepacked inputs.
func (p *Prepared) usePrepacked(step int, b *boundStep) {
	for _, u := range p.uses[step] {
		b.kern.(kernel.Prepacker).UsePrepacked(u.input, p.forms[u.form].data)
	}
}
