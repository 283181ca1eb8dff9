// Package kerneltest runs kernels the way that shows their faults: tasks in
// any order and at once, working memory full of rubbish, operands with odd
// strides inside memory that must not be touched.
package kerneltest

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
	"github.com/berth-go/berth/shape"
)

// Sets yields the names of the instruction sets that this machine has. Each is
// the active one until the next is yielded, so that kernels made meanwhile have
// its loops.
func Sets() iter.Seq[string] {
	return func(yield func(string) bool) {
		defer isa.Use(isa.Active())
		for _, set := range isa.Sets() {
			isa.Use(set)
			if !yield(set.Name) {
				return
			}
		}
	}
}

// Run binds k and does its tasks one by one in random order, each with
// scratch that holds rubbish and is no longer than k asked for. It returns
// the first error of a task.
func Run(rng *rand.Rand, k kernel.Kernel, in, out []*kernel.Operand) error {
	k.Bind(in, out)
	return Again(rng, k)
}

// Again runs a kernel that is bound already, as [Run] does.
func Again(rng *rand.Rand, k kernel.Kernel) error {
	scratch := poisoned(rng, k.Scratch())
	var first error
	for _, task := range rng.Perm(k.Tasks()) {
		poison(rng, scratch)
		if err := k.Run(task, scratch); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// RunConcurrently binds k and does its tasks on four goroutines, in random
// order. Under the race detector it finds tasks that share memory.
func RunConcurrently(rng *rand.Rand, k kernel.Kernel, in, out []*kernel.Operand) error {
	const workers = 4
	k.Bind(in, out)
	order := rng.Perm(k.Tasks())
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		scratch := poisoned(rng, k.Scratch())
		wg.Go(func() {
			for i := w; i < len(order); i += workers {
				if err := k.Run(order[i], scratch); err != nil && errs[w] == nil {
					errs[w] = err
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// CheckAllocs fails the test when binding k again to the same operands, or
// running all its tasks, allocates.
func CheckAllocs(t testing.TB, k kernel.Kernel, in, out []*kernel.Operand) {
	t.Helper()
	k.Bind(in, out)
	scratch := kernel.Alloc(k.Scratch())
	n := testing.AllocsPerRun(3, func() {
		k.Bind(in, out)
		for task := range k.Tasks() {
			if err := k.Run(task, scratch); err != nil {
				t.Fatal(err)
			}
		}
	})
	if n != 0 {
		t.Fatalf("%T: a second Bind and its run allocate %v times, want 0", k, n)
	}
}

// All binds and runs k three times into out, by [Run], by [RunConcurrently]
// and by [Run] again, and reports an error when one of them fails or two of
// them leave different bytes. Outputs must not be inputs as well.
func All(rng *rand.Rand, k kernel.Kernel, in, out []*kernel.Operand) error {
	first := make([]string, len(out))
	for i, run := range []func(*rand.Rand, kernel.Kernel, []*kernel.Operand, []*kernel.Operand) error{Run, RunConcurrently, Run} {
		for _, o := range out {
			if o != nil {
				scribble(rng, o)
			}
		}
		if err := run(rng, k, in, out); err != nil {
			return err
		}
		for j, o := range out {
			switch {
			case o == nil:
			case i == 0:
				first[j] = string(Bytes(o))
			case first[j] != string(Bytes(o)):
				return fmt.Errorf("output %d differs from one run to the next", j)
			}
		}
	}
	return nil
}

// poisoned returns n bytes of rubbish, aligned as an executor aligns scratch.
func poisoned(rng *rand.Rand, n int) []byte {
	b := kernel.Alloc(n)
	poison(rng, b)
	return b
}

func poison(rng *rand.Rand, b []byte) {
	pattern := byte(rng.Uint32()) | 0x80 // negative as an integer, never 0
	for i := range b {
		b[i] = pattern
	}
}

// BenchmarkTasks runs all tasks of k on one goroutine and reports the rate of
// floating-point operations.
func BenchmarkTasks(b *testing.B, k kernel.Kernel, in, out []*kernel.Operand, prepacked bool, flops int) {
	k.Bind(in, out)
	if prepacked {
		if in = Prepack(k, in, out, 1); in == nil {
			b.Skip("nothing to prepack")
		}
		k.Bind(in, out)
	}
	scratch := kernel.Alloc(k.Scratch())
	for b.Loop() {
		for task := range k.Tasks() {
			if err := k.Run(task, scratch); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(flops)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

// Prepack prepacks an input of a kernel, and returns the inputs without
// the memory of that one; nil where the kernel does not prepack it.
func Prepack(k kernel.Kernel, in, out []*kernel.Operand, input int) []*kernel.Operand {
	p := k.(kernel.Prepacker)
	p.Bind(in, out)
	n := p.PrepackedBytes(input)
	if n == 0 {
		return nil
	}
	prepacked := kernel.Alloc(n)
	p.Prepack(input, prepacked)
	p.UsePrepacked(input, prepacked)
	in = slices.Clone(in)
	without := *in[input]
	without.Data = nil
	in[input] = &without
	return in
}

// Benchmark reports the speed of k over the bytes of its operands.
func Benchmark(b *testing.B, k kernel.Kernel, in, out []*kernel.Operand) {
	b.Helper()
	k.Bind(in, out)
	scratch := kernel.Alloc(k.Scratch())
	b.SetBytes(int64(shape.Shape(in[0].Shape).Elems() * in[0].DType.Size()))
	for b.Loop() {
		for task := range k.Tasks() {
			if err := k.Run(task, scratch); err != nil {
				b.Fatal(err)
			}
		}
	}
	sink = out
}
