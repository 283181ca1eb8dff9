package exec

import (
	"bytes"
	"context"
	"encoding/binary"
	"runtime"
	"slices"
	"sync"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel/isa"
	"github.com/berth-go/berth/internal/rewrite"
	"github.com/berth-go/berth/plan"
)

// The bounds of what a [Recent] keeps.
const (
	// MostRuns is how many plans are kept.
	MostRuns = 64
	// MostKept is how many bytes of buffers all of them keep together, and how many of
	// working memory the workers do.
	MostKept = 64 << 20
)

// A Recent computes values as [Compute] does, and remembers how: the next graph of the
// same structure, as [graph.StructureOf] has it, is neither rewritten nor planned, has its
// kernels bound already, and finds the buffers of what it does not return. Graphs may differ in
// where their leaves are and what these hold. Results are the same to the last bit.
//
// Nothing is kept of a graph but its structure, so that tensors are collected when the
// caller lets go of them. Of what is kept, the plans that were used longest ago go when there are more than
// [MostRuns], or when their buffers take more than [MostKept].
//
// The zero Recent keeps nothing yet. A Recent is safe for concurrent use: a run is taken out while it is
// done, and another one of the same structure made meanwhile is kept beside it.
type Recent struct {
	mu   sync.Mutex
	runs []*keptRun // the one used last at the end

	workers sync.Pool // of *Workers
}

// A keptRun is a run that can be done again.
type keptRun struct {
	run
	key    []byte
	leaves []*graph.Node // those that have no storage, in the order of [graph.Structure]
	bytes  int           // of its buffers; 0 if none are kept
}

// Compute is [Compute].
func (c *Recent) Compute(ctx context.Context, roots []graph.Value, opt Options) ([]Result, error) {
	structure, ok := graph.StructureOf(roots)
	if !ok {
		return Compute(ctx, roots, opt)
	}
	key := appendWord(structure.Key, isa.Active().Name)
	for _, rule := range opt.Without {
		key = appendWord(key, rule)
	}
	r := c.take(key)
	if r == nil {
		var err error
		if r, err = newKeptRun(ctx, key, roots, structure.Leaves, opt); err != nil {
			return nil, err
		}
	}
	for i, n := range structure.Leaves {
		r.run.leaves[r.leaves[i]] = n.Leaf().Window(n.Output(0).Type()).Data
	}
	if r.opt = opt; int64(r.plan.SlotBytes()) > opt.maxBytes() {
		r.kept, r.bytes = nil, 0 // all at once are more than what lives at a time
	}
	if len(r.plan.Steps) > 0 {
		r.workers = c.takeWorkers(opt.Workers)
	}
	results, err := r.do(ctx)
	if r.workers != nil {
		c.putWorkers(r.workers)
	}
	c.put(r)
	return results, err
}

func appendWord(key []byte, word string) []byte {
	return append(binary.AppendUvarint(key, uint64(len(word))), word...)
}

// newKeptRun rewrites and plans a graph without its storage.
func newKeptRun(ctx context.Context, key []byte, roots []graph.Value, leaves []*graph.Node, opt Options) (*keptRun, error) {
	roots, standIns, err := graph.Detached(roots, leaves)
	if err != nil {
		return nil, err
	}
	if roots, err = rewrite.Run(ctx, roots, rewrite.Options{Without: opt.Without}); err != nil {
		return nil, err
	}
	p, err := plan.New(roots...)
	if err != nil {
		return nil, err
	}
	r := &keptRun{run: *newRun(p), key: key, leaves: standIns}
	r.run.leaves = make(map[*graph.Node][]byte, len(leaves))
	r.kept = make([][]byte, len(p.Slots))
	for _, s := range p.Slots {
		if s.End != plan.Kept {
			r.bytes += s.Bytes
		}
		if r.bytes > MostKept {
			r.kept, r.bytes = nil, 0
			break
		}
	}
	return r, nil
}

// take takes out the run of a key that was used last, or returns nil.
func (c *Recent) take(key []byte) *keptRun {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := len(c.runs) - 1; i >= 0; i-- {
		if r := c.runs[i]; bytes.Equal(r.key, key) {
			c.runs = slices.Delete(c.runs, i, i+1)
			return r
		}
	}
	return nil
}

// put keeps a run that is done, without what it has from the caller or has given to him.
func (c *Recent) put(r *keptRun) {
	r.opt, r.workers = Options{}, nil
	for leaf := range r.run.leaves {
		r.run.leaves[leaf] = nil
	}
	clear(r.buffers)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runs = append(c.runs, r)
	total, first := 0, len(c.runs)
	for first > 0 && len(c.runs)-first < MostRuns && total+c.runs[first-1].bytes <= MostKept {
		first--
		total += c.runs[first].bytes
	}
	c.runs = slices.Delete(c.runs, 0, first)
}

// takeWorkers returns workers that nobody else uses.
func (c *Recent) takeWorkers(n int) *Workers {
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	if w, ok := c.workers.Get().(*Workers); ok {
		if w.Len() == n {
			return w
		}
		w.Close()
	}
	return NewWorkers(n)
}

// putWorkers keeps workers, unless their working memory is large. Those that nobody
// uses for long are collected with the garbage.
func (c *Recent) putWorkers(w *Workers) {
	total := 0
	for _, s := range w.crew.scratch {
		total += len(s)
	}
	if total > MostKept {
		w.Close()
		return
	}
	c.workers.Put(w)
}
