// Package kerneltest runs kernels the way that shows their faults: tasks in
// any order and at once, working memory full of rubbish, operands with odd
// strides inside memory that must not be touched.
package kerneltest

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
	"github.com/berth-go/berth/internal/race"
	"github.com/berth-go/berth/shape"
)

// Sets yields the names of the instruction sets that this machine has. Each is
// the active one until the next is yielded, so that kernels made meanwhile have
// its loops. Under the race detector, which sees nothing of what assembly reads and
// writes, it yields the best set, for the way in which that cuts tasks, and the one
// in Go.
func Sets() iter.Seq[string] {
	return func(yield func(string) bool) {
		defer isa.Use(isa.Active())
		for i, set := range isa.Sets() {
			if race.Enabled && i > 0 && set.Name != "generic" {
				continue
			}
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
	scratch := kernel.Alloc(k.Scratch())
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
		scratch := kernel.Alloc(k.Scratch())
		poison(rng, scratch)
		wg.Go(func() {
			for i := w; i < len(order); i += workers {
				if err := k.Run(order[i], scratch); err != nil && errs[w] == nil {
					errs[w] = err
				}
			}
		})
	}
	wg.Wait()
	return cmp.Or(errs...)
}

// Rounds returns how often a test draws its case: n times, a fifth of that where tests are to
// be short, and a tenth under the race detector.
func Rounds(n int) int {
	switch {
	case race.Enabled:
		return max(n/10, 1)
	case testing.Short():
		return max(n/5, 1)
	}
	return n
}

// CheckAllocs fails the test when binding k again to the same operands, or
// running all its tasks, allocates. Short tests leave it out: no processor and no
// detector changes what is allocated.
func CheckAllocs(t testing.TB, k kernel.Kernel, in, out []*kernel.Operand) {
	if testing.Short() || race.Enabled {
		return
	}
	t.Helper()
	k.Bind(in, out)
	scratch := kernel.Alloc(k.Scratch())
	n := testing.AllocsPerRun(3, func() {
		k.Bind(in, out)
		runTasks(t, k, scratch)
	})
	if n != 0 {
		t.Fatalf("%T: a second Bind and its run allocate %v times, want 0", k, n)
	}
}

// All binds and runs k three times into out, by [Run], by [RunConcurrently]
// and by [Run] again, and reports an error when one of them fails, two of them
// leave different bytes, or a byte outside the outputs has changed. Outputs must
// not be inputs as well. Short tests leave out the third run, and under the race
// detector RunConcurrently is the only one.
func All(rng *rand.Rand, k kernel.Kernel, in, out []*kernel.Operand) error {
	runs := []func(*rand.Rand, kernel.Kernel, []*kernel.Operand, []*kernel.Operand) error{Run, RunConcurrently, Run}
	switch {
	case race.Enabled:
		runs = runs[1:2]
	case testing.Short():
		runs = runs[:2]
	}
	first := make([]string, len(out))
	var guards []func() error
	for _, o := range present(out) {
		guards = append(guards, Guard(o))
	}
	for i, run := range runs {
		for _, o := range present(out) {
			scribble(rng, o)
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
	for _, intact := range guards {
		if err := intact(); err != nil {
			return err
		}
	}
	return nil
}

// SameBits runs k over strided operands and over dense copies of them, and
// reports outputs that differ in any bit. The race detector has it run over the
// strided ones alone.
func SameBits(rng *rand.Rand, k kernel.Kernel, in, out []*kernel.Operand) error {
	if err := All(rng, k, in, out); err != nil || race.Enabled {
		return err
	}
	denseIn, denseOut := slices.Clone(in), slices.Clone(out)
	for i, o := range in {
		if o != nil {
			denseIn[i] = dense(o)
		}
	}
	for i, o := range out {
		if o != nil {
			denseOut[i] = Dense(o.DType, o.Shape...)
		}
	}
	if err := Run(rng, k, denseIn, denseOut); err != nil {
		return err
	}
	for i, o := range out {
		if o != nil && !bytes.Equal(Bytes(o), Bytes(denseOut[i])) {
			return fmt.Errorf("output %d: strides %v and %v give other bits than dense operands", i, in[0].Strides, o.Strides)
		}
	}
	return nil
}

// OverInput runs k with output 0 over input 0, a dense copy of in[0], and
// reports when that differs from the elements of want.
func OverInput(rng *rand.Rand, k kernel.Kernel, in []*kernel.Operand, want *kernel.Operand, others ...*kernel.Operand) error {
	x := dense(in[0])
	ins := append([]*kernel.Operand{x}, in[1:]...)
	if err := Run(rng, k, ins, append([]*kernel.Operand{x}, others...)); err != nil {
		return err
	}
	if !bytes.Equal(x.Data, Bytes(want)) {
		return fmt.Errorf("in place over %v%v the result differs", x.DType, x.Shape)
	}
	return nil
}

// poison fills scratch with rubbish.
func poison(rng *rand.Rand, scratch []byte) {
	kernel.Fill(scratch, byte(rng.Uint32())|0x80) // negative as an integer, never 0
}

// runTasks runs all tasks of a bound kernel in order.
func runTasks(t testing.TB, k kernel.Kernel, scratch []byte) {
	for task := range k.Tasks() {
		if err := k.Run(task, scratch); err != nil {
			t.Fatal(err)
		}
	}
}

// BenchmarkTasks runs all tasks of k on one goroutine and reports the rate of
// floating-point operations.
func BenchmarkTasks(b *testing.B, k kernel.Kernel, in, out []*kernel.Operand, prepacked bool, flops int) {
	if prepacked {
		if in = Prepack(k, in, out, 1); in == nil {
			b.Skip("nothing to prepack")
		}
	}
	Benchmark(b, k, in, out)
	b.ReportMetric(float64(flops)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

// Prepack prepacks an input of a kernel, in memory full of rubbish, and returns
// the inputs without the memory of that one; nil where the kernel does not
// prepack it.
func Prepack(k kernel.Kernel, in, out []*kernel.Operand, input int) []*kernel.Operand {
	p := k.(kernel.Prepacker)
	p.Bind(in, out)
	n := p.PrepackedBytes(input)
	if n == 0 {
		return nil
	}
	prepacked := kernel.Alloc(n)
	kernel.Fill(prepacked, 0xa5)
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
		runTasks(b, k, scratch)
	}
}
