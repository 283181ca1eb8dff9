package pack

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

// defaultCapacityBudget is the default to fit a capacity, or to prove an optimum.
const defaultCapacityBudget = 4_000_000

// defaultBudget is the default to improve on greedy: about a second, which is
// fewer nodes the larger the problem.
func defaultBudget(buffers int) int64 {
	return min(100_000, max(20_000, 50_000_000/max(1, int64(buffers))))
}

// A run is one call of [Place].
type run struct {
	p      *problem
	opt    Options
	comps  []*contender
	nodes  int64
	budget int64
	told   Progress
}

func place(ctx context.Context, buffers []Buffer, opt Options) (*Placement, error) {
	if err := opt.validate(); err != nil {
		return nil, err
	}
	if opt.Strategy == "" {
		opt.Strategy = Auto
	}
	p, err := newProblem(buffers)
	if err != nil {
		return nil, err
	}
	r := &run{p: p, opt: opt, budget: opt.Budget}
	if r.budget == 0 {
		_, timed := ctx.Deadline()
		switch {
		case timed:
			r.budget = math.MaxInt64
		case opt.Capacity > 0 || opt.Strategy == Exact:
			r.budget = defaultCapacityBudget
		default:
			r.budget = defaultBudget(len(buffers))
		}
	}
	for _, c := range p.components() {
		r.comps = append(r.comps, &contender{p: c, lower: c.lower})
	}
	for _, c := range r.comps {
		c.offer(firstFit(c.p))
	}
	r.progress()
	if !r.hopeless() {
		if opt.Strategy == Greedy || opt.Strategy == Auto {
			r.greedy(ctx)
		}
		if opt.Strategy == Exact || opt.Strategy == Auto {
			r.improve(ctx)
		}
	}
	return r.finish()
}

func (o *Options) validate() error {
	switch o.Strategy {
	case "", FirstFit, Greedy, Exact, Auto:
	default:
		return fmt.Errorf("pack: strategy %q is none of %s, %s, %s, %s", o.Strategy, FirstFit, Greedy, Exact, Auto)
	}
	if o.Capacity < 0 || o.Budget < 0 || o.Workers < 0 {
		return fmt.Errorf("pack: negative option: capacity %d, budget %d, workers %d", o.Capacity, o.Budget, o.Workers)
	}
	return nil
}

// goal is the arena that is good enough.
func (r *run) goal() int64 { return max(r.lower(), r.opt.Capacity) }

// hopeless reports whether the capacity is known to be too small.
func (r *run) hopeless() bool { return r.opt.Capacity > 0 && r.opt.Capacity < r.lower() }

// lower is the best lower bound known.
func (r *run) lower() int64 {
	lower := r.p.lower
	for _, c := range r.comps {
		lower = max(lower, c.lower)
	}
	return lower
}

// arena is the smallest arena found so far.
func (r *run) arena() int64 {
	arena := r.p.alone()
	for _, c := range r.comps {
		arena = max(arena, c.arena)
	}
	return arena
}

// alone is the arena of the items that occupy nothing.
func (p *problem) alone() int64 {
	var arena int64
	for i := range p.items {
		if it := &p.items[i]; len(it.rects) == 0 {
			arena = max(arena, max(it.fixed, 0)+it.size)
		}
	}
	return arena
}

func (r *run) greedy(ctx context.Context) {
	for _, c := range r.comps {
		if c.arena > r.goal() {
			c.greedy(ctx, r.goal())
		}
	}
	r.progress()
}

// improve works on whichever component needs the largest arena, round by round,
// until that is optimal, small enough, or beyond what can be tried.
func (r *run) improve(ctx context.Context) {
	for len(r.comps) > 0 && ctx.Err() == nil && !r.hopeless() {
		worst := slices.MaxFunc(r.comps, func(a, b *contender) int { return cmp.Compare(a.arena, b.arena) })
		if worst.arena <= r.goal() || worst.arena <= worst.lower || worst.done || r.budget-r.nodes < racers {
			return
		}
		if worst.scores == nil {
			worst.scores = newScorer(worst.p)
		}
		r.nodes += worst.step(ctx, r.p.lower, r.opt.Capacity, r.budget-r.nodes, &r.opt)
		r.progress()
	}
}

// progress reports where the run stands.
func (r *run) progress() {
	if r.opt.Progress == nil {
		return
	}
	if now := (Progress{r.arena(), r.lower(), r.nodes}); now != r.told {
		r.told = now
		r.opt.Progress(now)
	}
}

// finish puts the placement together, and checks it as a whole.
func (r *run) finish() (*Placement, error) {
	p := r.p
	out := &Placement{
		Offsets:    make([]int64, len(p.items)),
		LowerBound: r.lower(),
		Strategy:   r.opt.Strategy,
		Nodes:      r.nodes,
	}
	for i := range p.items {
		if it := &p.items[i]; len(it.rects) == 0 {
			out.Offsets[p.inputs[i]] = max(it.fixed, 0)
		}
	}
	for _, c := range r.comps {
		for i, in := range c.p.inputs {
			out.Offsets[in] = c.offsets[i]
		}
	}
	canonical := make([]int64, len(p.items))
	for i, in := range p.inputs {
		canonical[i] = out.Offsets[in]
	}
	if err := p.verify(canonical); err != nil {
		return nil, fmt.Errorf("pack: internal error, the placement found is wrong: %w", err)
	}
	out.Arena = p.arena(canonical)
	out.Optimal = out.Arena == out.LowerBound
	if r.opt.Capacity > 0 && out.Arena > r.opt.Capacity {
		return out, &CapacityError{
			Required:   out.Arena,
			Capacity:   r.opt.Capacity,
			LowerBound: out.LowerBound,
			Proven:     r.hopeless(),
		}
	}
	return out, nil
}
