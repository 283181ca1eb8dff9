package exec

import (
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"weak"

	"github.com/berth-go/berth/internal/compile"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
)

// A Prepared is a program with what all of its instances share: how much
// working memory a worker needs, and the constants that kernels read in a
// prepacked form, which it shares with other programs that do. It may be used by
// several goroutines at once.
type Prepared struct {
	prog    *compile.Program
	scratch int
	forms   []source
	uses    [][]use // by step
	size    int     // bytes of all forms

	once     sync.Once
	onceMade error // of making the forms
}

// A source is where the program can make a form from: by the kernel of a step, from one
// of its inputs.
type source struct {
	*form
	step, input int
}

// A use is an input of a step that is read in its prepacked form.
type use struct{ input, form int }

// The prepacked forms of a constant together take no more than prepackGrowth times
// its storage and prepackSlack bytes. Prepacking pads matrices to the extents of a
// tile, so that this leaves out large matrices of a few columns, which would
// grow most and gain least. What a [kernel.Expander] says of a form is its storage.
const (
	prepackGrowth = 2
	prepackSlack  = 64 << 10
)

// Prepare finds what all instances of p share. With prepack, constants are prepacked
// for the kernels that can read them so, when the first instance is made;
// results are the same to the last bit.
func Prepare(p *compile.Program, prepack bool) (*Prepared, error) {
	if err := isa.Check(); err != nil {
		return nil, err
	}
	prep := &Prepared{prog: p, uses: make([][]use, len(p.Steps))}
	values := make([]int, p.Space.Len())
	find := finder{Prepared: prep, known: make(map[formKey]int), taken: make(map[int]int)}
	for i := range p.Steps {
		b, err := newBoundStep(p, i)
		if err != nil {
			return nil, err
		}
		if k, ok := b.kern.(kernel.Prepacker); ok && prepack {
			p.Space.Eval(p.Largest, values)
			b.bind(values)
			find.inputs(i, k, b.in)
			for _, u := range prep.uses[i] {
				k.UsePrepacked(u.input, []byte{}) // to be made later: who asks for scratch need not have it
			}
		}
		prep.scratch = max(prep.scratch, b.mostScratch(p, values))
	}
	return prep, nil
}

// mostScratch returns the most working memory that the step takes for any extents
// within the bounds. A kernel may need more for smaller ones, where it works in
// another way, so all of the least extents are tried, as many as dense says, and
// beyond these the powers of two with their neighbours, and the largest.
func (b *boundStep) mostScratch(p *compile.Program, values []int) int {
	dense := [...]int{0, 1024, 24, 8}[min(bits.OnesCount64(b.uses), 3)]
	most := 0
	point := slices.Clone(p.Largest)
	var try func(dim int)
	try = func(dim int) {
		if dim == len(point) {
			p.Space.Eval(point, values)
			b.bind(values)
			most = max(most, b.kern.Scratch())
			return
		}
		if b.uses>>dim&1 == 0 {
			try(dim + 1)
			return
		}
		d := p.Space.Dims()[dim]
		for n := d.Min; ; n = min(next(n, d.Min+dense), d.Max) {
			point[dim] = n
			try(dim + 1)
			if n == d.Max {
				return
			}
		}
	}
	try(0)
	return most
}

// next returns the extent to try after n: the next one up to a bound, and beyond
// it each power of two with its neighbours.
func next(n, bound int) int {
	if n < bound {
		return n + 1
	}
	power := 1 << (bits.Len(uint(n)) - 1)
	for _, m := range []int{power, power + 1, 2*power - 1} {
		if m > n {
			return m
		}
	}
	return 2 * power
}

// A finder collects what is to be prepacked.
type finder struct {
	*Prepared
	known map[formKey]int // forms
	taken map[int]int     // bytes of the forms of a weight
}

// inputs finds the inputs to prepack of a step, whose kernel k is bound to in.
func (f *finder) inputs(step int, k kernel.Prepacker, in []*kernel.Operand) {
	s := &f.prog.Steps[step]
	for i := range s.In {
		o := &s.In[i]
		if o.Space != compile.Weight || !f.prog.Fixed(o) {
			continue
		}
		leaf := f.prog.Weights[o.Index].Stored()
		stored := len(leaf.Data)
		if o.Type.Bytes() > stored {
			continue // broadcast: it would take up memory that it does not have now
		}
		size := k.PrepackedBytes(i)
		if size <= 0 {
			continue
		}
		layout := fmt.Sprint(in[i].Shape, in[i].Strides, in[i].Offset)
		key := formKey{weak.Make(leaf), o.Type.DType, layout, k.PrepackedForm(i)}
		p, ok := f.known[key]
		if !ok {
			if e, ok := k.(kernel.Expander); ok {
				stored *= e.Expansion(i)
			}
			if f.taken[o.Index]+size > prepackGrowth*stored+prepackSlack {
				continue
			}
			f.taken[o.Index] += size
			p = len(f.forms)
			f.known[key] = p
			f.forms = append(f.forms, source{formOf(key, size), step, i})
			f.size += size
		}
		f.uses[step] = append(f.uses[step], use{i, p})
	}
}

// Program returns what was prepared.
func (p *Prepared) Program() *compile.Program { return p.prog }

// ScratchBytes returns the bytes of working memory that each worker needs.
func (p *Prepared) ScratchBytes() int { return p.scratch }

// PrepackedBytes returns the bytes of the constants in prepacked form. They are
// taken once, with the first instance of a program that reads them.
func (p *Prepared) PrepackedBytes() int { return p.size }

// EachPrepacked calls visit with each of the forms that these bytes are, and its size. A
// form that two programs share is the same key.
func (p *Prepared) EachPrepacked(visit func(form any, size int)) {
	for _, c := range p.forms {
		visit(c.form, c.size)
	}
}

// PrepackedBytesOf returns how many of these bytes are a weight's.
func (p *Prepared) PrepackedBytesOf(weight int) int {
	n := 0
	for _, c := range p.forms {
		if p.prog.Steps[c.step].In[c.input].Index == weight {
			n += c.size
		}
	}
	return n
}
