// Package exec runs plans: step by step, buffers made and dropped as the plan
// says, each step's tasks shared among workers.
package exec

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/berth-go/berth/internal/kernel"
)

// A Pool runs the tasks of one kernel at a time on a fixed number of workers,
// of which the caller of Run is one. Running allocates nothing. A Pool may not
// be used by several goroutines at once.
type Pool struct {
	crew    *crew
	cleanup runtime.Cleanup
	scratch [][]byte // one for each worker
}

// crew is what the helper goroutines hold; it must not lead back to the Pool,
// so that a forgotten Pool can be collected and its helpers sent home.
type crew struct {
	wake []chan []byte // for each helper: the scratch to work with
	done sync.WaitGroup
	kern kernel.Kernel
	next atomic.Int64
	all  int64

	mu     sync.Mutex
	failed int // the lowest task that failed, and how
	err    error
}

// NewPool returns a pool of the given number of workers; 0 means one for each
// processor the program may use.
func NewPool(workers int) *Pool {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	c := &crew{wake: make([]chan []byte, workers-1)}
	for i := range c.wake {
		c.wake[i] = make(chan []byte)
		go func(wake <-chan []byte) {
			for scratch := range wake {
				c.work(scratch)
				c.done.Done()
			}
		}(c.wake[i])
	}
	p := &Pool{crew: c, scratch: make([][]byte, workers)}
	p.cleanup = runtime.AddCleanup(p, dismiss, c.wake)
	return p
}

func dismiss(wake []chan []byte) {
	for _, w := range wake {
		close(w)
	}
}

// Close ends the helpers. The pool must not be used any more.
func (p *Pool) Close() {
	p.cleanup.Stop()
	dismiss(p.crew.wake)
}

// Workers returns the number of workers.
func (p *Pool) Workers() int { return len(p.scratch) }

// Reserve gives each worker at least n bytes of scratch.
func (p *Pool) Reserve(n int) {
	for i := range p.scratch {
		if len(p.scratch[i]) < n {
			p.scratch[i] = kernel.Alloc(n)
		}
	}
}

// Lend gives worker i the given scratch, which the caller keeps owning.
func (p *Pool) Lend(i int, scratch []byte) { p.scratch[i] = scratch }

// Run does every task of the bound kernel k. If tasks fail, it returns the
// error of the first of them in task order. The scratch must suffice.
func (p *Pool) Run(k kernel.Kernel) error {
	tasks := k.Tasks()
	if tasks == 0 {
		return nil
	}
	c := p.crew
	helpers := min(len(c.wake), tasks-1)
	if helpers == 0 {
		for t := range tasks {
			if err := k.Run(t, p.scratch[0]); err != nil {
				return err
			}
		}
		return nil
	}
	c.kern, c.all, c.err = k, int64(tasks), nil
	c.next.Store(0)
	c.done.Add(helpers)
	for i := range helpers {
		c.wake[i] <- p.scratch[i+1]
	}
	c.work(p.scratch[0])
	c.done.Wait()
	runtime.KeepAlive(p)
	c.kern = nil
	return c.err
}

// work takes tasks until none is left. A failure does not stop the others, so
// that the error reported does not depend on timing.
func (c *crew) work(scratch []byte) {
	for {
		t := c.next.Add(1) - 1
		if t >= c.all {
			return
		}
		if err := c.kern.Run(int(t), scratch); err != nil {
			c.mu.Lock()
			if c.err == nil || int(t) < c.failed {
				c.failed, c.err = int(t), err
			}
			c.mu.Unlock()
		}
	}
}
