package exec

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/berth-go/berth/internal/kernel"
)

// spinKernel has tasks that keep a processor busy for a while.
type spinKernel struct{ tasks, work int }

func (k spinKernel) Bind(_, _ []*kernel.Operand) {}
func (k spinKernel) Tasks() int                  { return k.tasks }
func (k spinKernel) Scratch() int                { return 0 }

func (k spinKernel) Run(int, []byte) error {
	x := uint64(1)
	for range k.work {
		x = x*6364136223846793005 + 1442695040888963407
	}
	runtime.KeepAlive(x)
	return nil
}

// BenchmarkWorkers runs two tasks, of about 1 to 100 µs, over and over: what more
// than half of the time of one worker two workers need is the cost of sharing.
func BenchmarkWorkers(b *testing.B) {
	for _, work := range []int{1000, 10_000, 100_000} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%dmuls/%dworkers", work, workers), func(b *testing.B) {
				p := NewWorkers(workers)
				defer p.Close()
				k := kernel.Kernel(spinKernel{2, work})
				for b.Loop() {
					if err := p.Run(k); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
