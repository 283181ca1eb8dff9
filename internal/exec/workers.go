// Package exec runs plans: step by step, buffers made and dropped as the plan
// says, each step's tasks shared among workers.
package exec

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/berth-go/berth/internal/kernel"
)

// Workers run the tasks of one kernel at a time. There is a fixed number of
// them, and the caller of Run is one. Running allocates nothing. They may not be
// used by several goroutines at once.
type Workers struct {
	crew    *crew
	cleanup runtime.Cleanup
}

// crew is what the helper goroutines hold; it must not lead back to the Workers,
// so that forgotten ones can be collected and their helpers sent home.
type crew struct {
	helpers []helper
	scratch [][]byte // of the caller, then of each helper

	// What is run. A worker may read this once it has taken a task, and not
	// before: only tasks that are under way keep Run from returning and this
	// from being changed. A helper that comes late finds no task and goes.
	kern kernel.Kernel

	shares   []share       // of each worker, like scratch
	pending  atomic.Int64  // tasks that are not done, and 1 for the caller while it works
	done     chan struct{} // when a helper, not the caller, brings pending to 0
	patience time.Duration // how long to look for what is to come before going to sleep

	mu     sync.Mutex
	failed int // the lowest task that failed, and how
	err    error
}

// A share is a range of tasks that nobody has taken, [low, high) as the lower
// and the upper half of the number. It is on a cache line of its own.
type share struct {
	tasks atomic.Uint64
	_     [56]byte
}

// take takes the first task of the share, or the last one.
func (s *share) take(first bool) (task int, ok bool) {
	for {
		tasks := s.tasks.Load()
		low, high := tasks&math.MaxUint32, tasks>>32
		if low >= high {
			return 0, false
		}
		t := low
		if first {
			low++
		} else {
			high--
			t = high
		}
		if s.tasks.CompareAndSwap(tasks, high<<32|low) {
			return int(t), true
		}
	}
}

// left reports whether the share has tasks.
func (s *share) left() bool {
	tasks := s.tasks.Load()
	return tasks&math.MaxUint32 < tasks>>32
}

// A helper sleeps until it is sent a token, or sent home by a close.
type helper struct {
	wake   chan struct{}
	asleep atomic.Bool // whoever resets it may send the token, or the helper go on without
	_      [48]byte    // on a cache line of its own
}

// patience is as a rule longer than a step that a single worker does, so that
// helpers stay awake throughout a run, and too short to matter when the run is
// over. It is about what waking a helper takes: the scheduler leaves it to the
// processor that woke it for a while before another one takes it over.
const patience = 50 * time.Microsecond

// NewWorkers returns the given number of workers; 0 means one for each
// processor the program may use.
func NewWorkers(workers int) *Workers {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	c := &crew{
		helpers: make([]helper, workers-1),
		scratch: make([][]byte, workers),
		shares:  make([]share, workers),
		done:    make(chan struct{}, 1),
	}
	if workers <= runtime.GOMAXPROCS(0) {
		c.patience = patience // otherwise who waits is in the way of who works
	}
	for i := range c.helpers {
		h := &c.helpers[i]
		h.wake = make(chan struct{}, 1)
		h.asleep.Store(true)
		go c.help(i)
	}
	w := &Workers{crew: c}
	w.cleanup = runtime.AddCleanup(w, (*crew).dismiss, c)
	return w
}

func (c *crew) dismiss() {
	for i := range c.helpers {
		close(c.helpers[i].wake)
	}
}

// Close ends the helpers. The workers must not be used any more.
func (w *Workers) Close() {
	w.cleanup.Stop()
	w.crew.dismiss()
}

// Len returns the number of workers.
func (w *Workers) Len() int { return len(w.crew.scratch) }

// Reserve gives each worker at least n bytes of scratch. It is an error that wraps
// ErrMemory when those of all workers are more than most.
func (w *Workers) Reserve(n int, most int64) error {
	if int64(n) > most/int64(w.Len()) {
		return fmt.Errorf("%w: %d bytes of working memory for each of %d workers, %d are available", ErrMemory, n, w.Len(), most)
	}
	for i, s := range w.crew.scratch {
		if len(s) < n {
			w.crew.scratch[i] = kernel.Alloc(n)
		}
	}
	return nil
}

// Run does every task of the bound kernel k. If tasks fail, it returns the
// error of the first of them in task order. The scratch must suffice.
//
// Each worker begins with a share of the tasks that lie next to each other, so
// that from step to step it tends to meet the same part of the data, which its
// processor has in its cache; then it takes tasks from the shares of others.
// Run waits for helpers that have taken a task, but not for those that have yet
// to wake up: where tasks are short, or processors busy with other work, the
// caller has done all by then.
func (w *Workers) Run(k kernel.Kernel) error {
	tasks := k.Tasks()
	if tasks == 0 {
		return nil
	}
	c := w.crew
	helpers := min(len(c.helpers), tasks-1)
	if helpers == 0 || uint64(tasks) > math.MaxUint32 {
		for t := range tasks {
			if err := k.Run(t, c.scratch[0]); err != nil {
				return err
			}
		}
		return nil
	}
	c.kern, c.err = k, nil
	c.pending.Store(int64(tasks) + 1)
	low := 0
	for i := range helpers + 1 {
		high := tasks * (i + 1) / (helpers + 1)
		c.shares[i].tasks.Store(uint64(high)<<32 | uint64(low)) // from here on helpers take tasks
		low = high
	}
	for i := range helpers {
		if h := &c.helpers[i]; h.asleep.Load() && h.asleep.CompareAndSwap(true, false) {
			h.wake <- struct{}{} // there is room: this follows every sleep once
		}
	}
	c.work(0)
	if !c.await(c.alone) && c.pending.Add(-1) > 0 {
		<-c.done
	}
	runtime.KeepAlive(w)
	c.kern = nil
	return c.err
}

// help is the life of helper i.
func (c *crew) help(i int) {
	h := &c.helpers[i]
	for range h.wake {
		for {
			if c.work(i + 1) {
				c.done <- struct{}{}
				runtime.Gosched() // to the caller, who is next on this processor
			}
			if c.await(c.left) {
				continue
			}
			// A Run that begins now either sees that this helper sleeps, or
			// has its tasks seen here.
			h.asleep.Store(true)
			if !c.left() || !h.asleep.CompareAndSwap(true, false) {
				break
			}
		}
	}
}

// work has a worker do tasks until nobody has any left, and reports whether it
// did the last of all that were pending. A failure does not stop the others, so
// that the error reported does not depend on timing.
func (c *crew) work(worker int) bool {
	last := false
	for i := range c.shares {
		s := &c.shares[(worker+i)%len(c.shares)]
		for {
			t, ok := s.take(i == 0)
			if !ok {
				break
			}
			if err := c.kern.Run(t, c.scratch[worker]); err != nil {
				c.fail(t, err)
			}
			last = c.pending.Add(-1) == 0
		}
	}
	return last
}

// left reports whether there are tasks that nobody has taken.
func (c *crew) left() bool {
	for i := range c.shares {
		if c.shares[i].left() {
			return true
		}
	}
	return false
}

// alone reports whether all tasks are done and the caller is the last to leave.
func (c *crew) alone() bool { return c.pending.Load() == 1 }

// await looks for a while whether what is awaited has come about. Now and then
// it lets other goroutines go first.
func (c *crew) await(done func() bool) bool {
	const (
		looks  = 50 // between two looks at the clock
		rounds = 8  // between two offers to others
	)
	for start, round := time.Now(), 1; time.Since(start) < c.patience; round++ {
		for range looks {
			if done() {
				return true
			}
		}
		if round%rounds == 0 {
			runtime.Gosched()
		}
	}
	return false
}

func (c *crew) fail(task int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil || task < c.failed {
		c.failed, c.err = task, err
	}
}
