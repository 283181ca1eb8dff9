package exec

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/filemap"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/rewrite"
	"github.com/berth-go/berth/plan"
)

// Options change how a plan is run. The zero value is the default.
type Options struct {
	// Workers is the number of goroutines that share each step; 0 means one
	// for each processor.
	Workers int
	// Poison fills buffers with a pattern that no right program reads, when
	// they are made, taken over and dropped, so that a wrong read shows.
	Poison bool
	// MaxBytes is the most memory that buffers, or the working memory of all
	// workers, may take at a time; 0 means DefaultMaxBytes.
	MaxBytes int64
	// Inputs binds storage to the graph's input nodes, by key.
	Inputs map[string]graph.Leaf
	// Without names rewrite rules that [Compute] leaves out; see package
	// rewrite.
	Without []string
}

// DefaultMaxBytes bounds the memory of a run that states no bound. Go cannot
// recover from an allocation that the system refuses, so that a graph from a
// hostile file must not come to ask for it.
const DefaultMaxBytes = 16 << 30

// ErrMemory is wrapped by the error about a run that needs more than it may
// take.
var ErrMemory = errors.New("the run takes more memory than it may")

func (opt *Options) maxBytes() int64 { return cmp.Or(opt.MaxBytes, DefaultMaxBytes) }

// A Result is a computed value: its type and its storage. Storage may be
// shared with constants, caches and other results, and must not be changed.
type Result struct {
	graph.Type
	graph.Leaf
}

// Compute rewrites roots, plans them and runs the plan. It is safe for concurrent use with
// graphs that share nodes; a cache that several runs need is filled by one of
// them while the others wait.
func Compute(ctx context.Context, roots []graph.Value, opt Options) ([]Result, error) {
	roots, err := rewrite.Run(ctx, roots, rewrite.Options{Without: opt.Without})
	if err != nil {
		return nil, err
	}
	p, err := plan.New(roots...)
	if err != nil {
		return nil, err
	}
	if len(p.Caches) > 0 {
		unlock, err := graph.LockCaches(ctx, p.Caches)
		if err != nil {
			return nil, err
		}
		defer unlock()
		// Somebody else may have filled some while this run waited.
		if p, err = plan.New(roots...); err != nil {
			return nil, err
		}
	}
	return Run(ctx, p, opt)
}

// Evaluate computes values that depend on constants alone, in at most a number of
// bytes; 0 means DefaultMaxBytes. Where that does not suffice, it returns nil. With the
// bytes given, it is a [rewrite.Evaluator]. Pages of files that the constants lie in are
// released: as a rule, what is computed takes their place.
func Evaluate(ctx context.Context, roots []graph.Value, maxBytes int64) ([]graph.Leaf, error) {
	results, err := Compute(ctx, roots, Options{MaxBytes: maxBytes})
	for _, n := range graph.Nodes(roots...) {
		if leaf := n.Stored(); leaf != nil {
			filemap.Release(leaf.Data)
		}
	}
	switch {
	case errors.Is(err, ErrMemory):
		return nil, nil
	case err != nil:
		return nil, err
	}
	leaves := make([]graph.Leaf, len(results))
	for i, r := range results {
		leaves[i] = r.Leaf
	}
	return leaves, nil
}

// Run carries out p. Its caches must be locked by the caller. It returns the
// cause of ctx's end when that comes between two steps.
func Run(ctx context.Context, p *plan.Plan, opt Options) ([]Result, error) {
	r := newRun(p)
	r.opt = opt
	if len(p.Steps) > 0 {
		r.workers = NewWorkers(opt.Workers)
		defer r.workers.Close()
	}
	return r.do(ctx)
}

// A run is a plan with what carrying it out takes. It may be done several times.
type run struct {
	plan    *plan.Plan
	peak    int64     // the bytes that live at a time
	bound   []binding // by step; made when a step is first done
	buffers [][]byte  // by slot; nil before it is made and after it is dropped

	// What may change from one time to the next:
	opt     Options
	workers *Workers
	leaves  map[*graph.Node][]byte // the storage of leaves that have none themselves

	// kept are buffers that were dropped and are used again the next time, by slot; nil
	// where none are kept.
	kept [][]byte
}

// A binding is the kernel of a step, bound to operands that have storage while the step
// is done.
type binding struct {
	kernel    kernel.Kernel // nil of a step that only re-describes storage, or has not been done yet
	ins, outs []*kernel.Operand
}

func newRun(p *plan.Plan) *run {
	return &run{plan: p, peak: int64(p.PeakBytes()), bound: make([]binding, len(p.Steps)), buffers: make([][]byte, len(p.Slots))}
}

// do carries the plan out.
func (r *run) do(ctx context.Context) ([]Result, error) {
	if err := isa.Check(); err != nil {
		return nil, err
	}
	p := r.plan
	if r.peak > r.opt.maxBytes() {
		return nil, fmt.Errorf("%w: it takes %d bytes, %d are available", ErrMemory, r.peak, r.opt.maxBytes())
	}
	if err := r.checkInputs(); err != nil {
		return nil, err
	}
	for i := range p.Steps {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err := r.step(i); err != nil {
			return nil, fmt.Errorf("step %d, %v: %w", i, p.Steps[i].Node, err)
		}
	}
	results := make([]Result, len(p.Results))
	for i, res := range p.Results {
		results[i] = Result{res.Value.Type(), graph.Leaf{Layout: res.Layout, Data: r.storage(res.Place)}}
	}
	return results, nil
}

// checkInputs returns an error about the first input that the run reads and that is
// not bound.
func (r *run) checkInputs() error {
	check := func(o plan.Operand) error {
		if o.Value.IsZero() || o.Slot != plan.Eternal {
			return nil
		}
		in, ok := o.Leaf.Op().(graph.Input)
		if _, bound := r.opt.Inputs[in.Key]; ok && !bound {
			return fmt.Errorf("input %q is not bound", in.Key)
		}
		return nil
	}
	for i := range r.plan.Steps {
		for _, in := range r.plan.Steps[i].Inputs {
			if err := check(in); err != nil {
				return err
			}
		}
	}
	for _, res := range r.plan.Results {
		if err := check(res.Operand); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) step(i int) error {
	s := &r.plan.Steps[i]
	if !s.Outputs[0].Kind.IsReference() {
		if err := r.compute(s, &r.bound[i]); err != nil {
			return err
		}
	}
	if _, ok := s.Node.Op().(graph.Cache); ok {
		out := s.Outputs[0]
		s.Node.Fill(graph.Leaf{Layout: out.Layout, Data: r.storage(out.Place)})
	}
	for _, slot := range s.DeallocAfter {
		poison(r.buffers[slot], r.opt.Poison)
		if r.kept != nil {
			r.kept[slot] = r.buffers[slot]
		}
		r.buffers[slot] = nil
	}
	return nil
}

// compute runs the kernel of a step on its operands.
func (r *run) compute(s *plan.Step, b *binding) error {
	if b.kernel == nil {
		if err := b.bind(s); err != nil {
			return err
		}
	}
	for i, in := range b.ins {
		if in != nil {
			in.Data = r.storage(s.Inputs[i].Place)
		}
	}
	for i := range s.Outputs {
		out := &s.Outputs[i]
		switch out.Kind {
		case plan.Allocate:
			r.buffers[out.Slot] = r.buffer(out.Slot)
			poison(r.buffers[out.Slot], r.opt.Poison)
		case plan.UseSlot:
			poison(r.buffers[out.Slot], r.opt.Poison)
		}
		b.outs[i].Data = r.buffers[out.Slot]
	}
	defer b.release()
	k := b.kernel
	if k.Tasks() == 0 {
		return nil // and no working memory
	}
	if err := r.workers.Reserve(k.Scratch(), r.opt.maxBytes()); err != nil {
		return err
	}
	return r.workers.Run(k)
}

// bind makes the kernel of a step.
func (b *binding) bind(s *plan.Step) error {
	inTypes, outTypes := make([]graph.Type, len(s.Inputs)), make([]graph.Type, len(s.Outputs))
	b.ins, b.outs = make([]*kernel.Operand, len(s.Inputs)), make([]*kernel.Operand, len(s.Outputs))
	for i, in := range s.Inputs {
		if !in.Value.IsZero() {
			inTypes[i] = in.Value.Type()
			b.ins[i] = operand(inTypes[i], in.Place)
		}
	}
	for i, out := range s.Outputs {
		outTypes[i] = s.Node.Output(i).Type()
		b.outs[i] = operand(outTypes[i], out.Place)
	}
	k, err := op.KernelOf(s.Node.Op(), inTypes, outTypes)
	if err != nil {
		return err
	}
	k.Bind(b.ins, b.outs)
	if k.Tasks() > 0 && (isEndless(b.ins) || isEndless(b.outs)) {
		return errElems
	}
	b.kernel = k
	return nil
}

// release lets go of the storage, so that it can be dropped.
func (b *binding) release() {
	for _, list := range [][]*kernel.Operand{b.ins, b.outs} {
		for _, o := range list {
			if o != nil {
				o.Data = nil
			}
		}
	}
}

// buffer returns memory for a slot: what was kept of it, which holds anything.
func (r *run) buffer(slot int) []byte {
	if r.kept != nil && r.kept[slot] != nil {
		return r.kept[slot]
	}
	return kernel.Alloc(r.plan.Slots[slot].Bytes)
}

func operand(t graph.Type, p plan.Place) *kernel.Operand {
	return &kernel.Operand{DType: t.DType, Shape: p.Layout.Shape, Strides: p.Layout.Strides, Offset: p.Layout.Offset}
}

// storage returns the bytes a place lies in.
func (r *run) storage(p plan.Place) []byte {
	if p.Slot != plan.Eternal {
		return r.buffers[p.Slot]
	}
	if in, ok := p.Leaf.Op().(graph.Input); ok {
		return r.opt.Inputs[in.Key].Data
	}
	if data, ok := r.leaves[p.Leaf]; ok {
		return data
	}
	return p.Leaf.Leaf().Data
}

// poison fills b, if that is asked for, with bytes that read as NaN in every float
// type and as a large odd number in every integer type.
func poison(b []byte, asked bool) {
	if asked {
		for i := range b {
			b[i] = 0xff
		}
	}
}
