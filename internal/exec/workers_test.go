package exec

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/berth-go/berth/internal/kernel"
)

// countKernel counts how often each of its tasks is run, and fails at some.
type countKernel struct {
	runs    []atomic.Int32
	fails   map[int]error
	scratch int
	short   atomic.Bool // a task got less scratch than it asked for
	wait    time.Duration
}

func (k *countKernel) Bind(_, _ []*kernel.Operand) {}
func (k *countKernel) Tasks() int                  { return len(k.runs) }
func (k *countKernel) Scratch() int                { return k.scratch }

func (k *countKernel) Run(task int, scratch []byte) error {
	k.runs[task].Add(1)
	if len(scratch) < k.scratch {
		k.short.Store(true)
	}
	for i := range scratch[:min(len(scratch), k.scratch)] {
		scratch[i]++ // a race, should two workers have the same
	}
	if k.wait > 0 {
		time.Sleep(k.wait)
	}
	return k.fails[task]
}

func newCount(tasks, scratch int) *countKernel {
	return &countKernel{runs: make([]atomic.Int32, tasks), scratch: scratch}
}

// TestWorkersRunsEveryTaskOnce does so for more and fewer tasks than workers.
func TestWorkersRunsEveryTaskOnce(t *testing.T) {
	for workers := 1; workers <= 5; workers++ {
		p := NewWorkers(workers)
		if p.Len() != workers {
			t.Errorf("%d workers, want %d", p.Len(), workers)
		}
		for _, tasks := range []int{0, 1, 2, 3, 4, 5, 6, 100} {
			k := newCount(tasks, 10*tasks)
			if err := p.Reserve(k.Scratch(), DefaultMaxBytes); err != nil {
				t.Fatal(err)
			}
			for round := range 3 {
				if err := p.Run(k); err != nil {
					t.Fatal(err)
				}
				for i := range k.runs {
					if n := k.runs[i].Load(); n != int32(round+1) {
						t.Fatalf("%d workers, %d tasks: task %d was run %d times in %d rounds", workers, tasks, i, n, round+1)
					}
				}
			}
			if k.short.Load() {
				t.Errorf("%d workers, %d tasks: a worker has too little scratch", workers, tasks)
			}
		}
		p.Close()
	}
	if p := NewWorkers(0); p.Len() != runtime.GOMAXPROCS(0) {
		t.Errorf("%d workers by default", p.Len())
	}
}

// TestWorkersReportsTheFirstFailure wants the error of the lowest task that
// fails, whoever comes upon it.
func TestWorkersReportsTheFirstFailure(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		p := NewWorkers(1 + rng.IntN(4))
		k := newCount(1+rng.IntN(30), 0)
		first := -1
		k.fails = make(map[int]error)
		for task := range k.runs {
			if rng.IntN(5) == 0 {
				k.fails[task] = fmt.Errorf("task %d", task)
				if first < 0 {
					first = task
				}
			}
		}
		err := p.Run(k)
		switch {
		case first < 0 && err != nil:
			t.Errorf("no task failed: %v", err)
		case first >= 0 && !errors.Is(err, k.fails[first]):
			t.Errorf("the first failure is %v, Run says %v", k.fails[first], err)
		}
		// The workers go on to work.
		if err := p.Run(newCount(8, 0)); err != nil {
			t.Errorf("after a failure: %v", err)
		}
		p.Close()
	}
}

// TestWorkersSharesTasks has tasks that sleep, so that helpers must come to take
// some.
func TestWorkersSharesTasks(t *testing.T) {
	p := NewWorkers(4)
	defer p.Close()
	if err := p.Reserve(1, DefaultMaxBytes); err != nil {
		t.Fatal(err)
	}
	own := p.crew.scratch[0]
	k := newCount(16, 1)
	k.wait = time.Millisecond
	if err := p.Run(k); err != nil {
		t.Fatal(err)
	}
	if own[0] == 16 {
		t.Error("the caller ran every task itself")
	}
}

func TestWorkersAllocatesNothing(t *testing.T) {
	for _, workers := range []int{1, 4} {
		p := NewWorkers(workers)
		k := newCount(9, 0)
		if n := testing.AllocsPerRun(50, func() { p.Run(k) }); n != 0 {
			t.Errorf("%d workers: %v allocations in a run", workers, n)
		}
		p.Close()
	}
}

// TestForgottenWorkers collects the helpers of workers that nobody closed.
func TestForgottenWorkers(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 20 {
		NewWorkers(5).Run(newCount(10, 0))
	}
	for range 500 {
		runtime.GC()
		if runtime.NumGoroutine() <= before+4 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}
