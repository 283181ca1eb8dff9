package exec

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/compile"
	"github.com/berth-go/berth/internal/filemap"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/memtest"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/linear"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/internal/op/ops"
	"github.com/berth-go/berth/internal/op/view"
	"github.com/berth-go/berth/shape"
)

// multiplied compiles the product of up to most rows and a constant.
func multiplied(t *testing.T, most int, w graph.Value, gemm linear.Gemm) *compile.Program {
	t.Helper()
	return programOf(t, most, func(rows int) graph.Value {
		return must(ops.One(gemm, input(rows, 24), w))
	})
}

// TestFormsAreShared prepares programs of one constant at once and makes instances of
// them, and wants those that read it in the same form to read the same bytes, as many
// as were told before.
func TestFormsAreShared(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 3))
	w, other := weight(rng, 24, 24), weight(rng, 24, 24)
	transposed := must(ops.One(view.Permute{Perm: []int{1, 0}}, w))
	same := []*compile.Program{
		multiplied(t, 5, w, linear.Gemm{Alpha: 1}),
		multiplied(t, 70, w, linear.Gemm{Alpha: 1}),
		multiplied(t, 3, w, linear.Gemm{Alpha: 4}),
	}
	apart := []*compile.Program{
		multiplied(t, 5, other, linear.Gemm{Alpha: 1}),
		multiplied(t, 5, transposed, linear.Gemm{Alpha: 1}),
		multiplied(t, 5, w, linear.Gemm{Alpha: 1, TransB: true}),
	}
	programs := append(same, apart...)
	memory := make([][]byte, len(programs))
	var wait sync.WaitGroup
	for i, p := range programs {
		wait.Go(func() {
			prep := must(Prepare(p, true))
			told := prep.PrepackedBytes()
			inst := must(prep.NewInstance(1, false))
			defer inst.Close()
			memory[i] = prep.forms[0].data
			if told == 0 || len(prep.forms) != 1 || told != len(memory[i]) {
				t.Errorf("program %d: %d bytes are prepacked in %d forms, %d were told", i, len(memory[i]), len(prep.forms), told)
			}
		})
	}
	wait.Wait()
	for i := range programs {
		if shared := &memory[i][0] == &memory[0][0]; shared != (i < len(same)) {
			t.Errorf("program %d reads the form of the first one: %v", i, shared)
		}
	}
}

// TestFormsAreMadeLate has nothing prepacked before there is an instance.
func TestFormsAreMadeLate(t *testing.T) {
	prep := must(Prepare(multiplied(t, 5, weight(rand.New(rand.NewPCG(5, 6)), 24, 24), linear.Gemm{Alpha: 1}), true))
	if prep.forms[0].data != nil {
		t.Error("a constant is prepacked without an instance")
	}
	inst := must(prep.NewInstance(1, false))
	inst.Close()
	if prep.forms[0].data == nil {
		t.Error("no constant is prepacked with an instance")
	}
}

// TestFormsAreCollected wants a form to stay while one program reads it, and to go with
// the last one, though the constant stays.
func TestFormsAreCollected(t *testing.T) {
	collect := func(until func() bool) bool {
		for end := time.Now().Add(10 * time.Second); !until(); {
			if time.Now().After(end) {
				return false
			}
			runtime.GC()
		}
		return true
	}
	collect(func() bool { return forms.Len() == 0 })
	w := weight(rand.New(rand.NewPCG(5, 7)), 24, 24)
	x := random(rand.New(rand.NewPCG(5, 8)), 5*24)
	first, second := must(Prepare(multiplied(t, 5, w, linear.Gemm{Alpha: 1}), true)), must(Prepare(multiplied(t, 3, w, linear.Gemm{Alpha: 1}), true))
	a := must(first.NewInstance(1, false))
	want := runRows(t, a, x, 3)
	a.Close()
	a, first = nil, nil
	b := must(second.NewInstance(1, false))
	runtime.GC()
	runtime.GC()
	if n := forms.Len(); n != 1 {
		t.Errorf("%d forms are held, want that of the program that is left", n)
	}
	if !bytes.Equal(runRows(t, b, x, 3), want) {
		t.Error("programs that share a form have other results")
	}
	b.Close()
	b, second = nil, nil
	if !collect(func() bool { return forms.Len() == 0 }) {
		t.Errorf("%d forms are held without a program", forms.Len())
	}
	runtime.KeepAlive(w)
}

// TestForgotten wants a constant that was computed for a program to be dropped once it is
// prepacked, unless a step reads it as it is, and one that was given to stay.
func TestForgotten(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 11))
	w := weight(rng, 24, 24)
	computed := func() graph.Value { return must(elementwise.Apply(elementwise.Exp, nil, w)) }
	x := random(rng, 5*24)
	for _, c := range []struct {
		name    string
		value   func(rows int) graph.Value
		dropped int
	}{
		{"given", func(rows int) graph.Value { return must(ops.One(linear.Gemm{Alpha: 1}, input(rows, 24), w)) }, 0},
		{"computed", func(rows int) graph.Value { return must(ops.One(linear.Gemm{Alpha: 1}, input(rows, 24), computed())) }, 1},
		{"read as it is, too", func(rows int) graph.Value {
			e := computed()
			y := must(ops.One(linear.Gemm{Alpha: 1}, input(rows, 24), e))
			return must(ops.One(move.Concat{}, y, e))
		}, 0},
	} {
		p := programOf(t, 5, c.value)
		prep := must(Prepare(p, true))
		told := 0
		for i := range p.Weights {
			if prep.Forgets(i) {
				told++
			}
		}
		first := must(prep.NewInstance(2, false))
		second := must(prep.NewInstance(1, false))
		dropped := 0
		for _, n := range p.Weights {
			if len(n.Stored().Data) == 0 {
				dropped++
			}
		}
		if dropped != c.dropped || told != dropped {
			t.Errorf("%s: %d constants are dropped, %d were told, want %d", c.name, dropped, told, c.dropped)
		}
		plain := must(must(Prepare(programOf(t, 5, c.value), false)).NewInstance(1, false))
		want := runRows(t, plain, x, 3)
		for _, inst := range []*Instance{first, second} {
			if !bytes.Equal(runRows(t, inst, x, 3), want) {
				t.Errorf("%s: the result has changed", c.name)
			}
			inst.Close()
		}
		plain.Close()
	}
}

// TestPackedPagesAreReleased multiplies by constants in a mapped file, whose pages count
// no more once they are prepacked, and are read again by a program that does not prepack. A constant
// that does not lie at a multiple of its elements is not copied for the sake of the forms.
func TestPackedPagesAreReleased(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 9))
	const n, size = 1024, 4 * 1024 * 1024
	name := filepath.Join(t.TempDir(), "weight")
	if err := os.WriteFile(name, append(random(rng, 2*n*n), 0), 0o600); err != nil {
		t.Fatal(err)
	}
	f := must(os.Open(name))
	defer f.Close()
	file, unmap, ok := filemap.Map(f, 2*size+1)
	if !ok {
		t.Skip("files cannot be mapped here")
	}
	defer unmap()
	dims := []int{n, n}
	x := random(rng, n)
	for _, data := range [][]byte{file[:size], file[size+1:]} {
		w := must(graph.NewConstant(graph.Type{DType: dtype.Float32, Shape: dims}, graph.Leaf{Layout: shape.Dense(dims), Data: data})).Output(0)
		product := func(w graph.Value) *compile.Program {
			return programOf(t, 2, func(rows int) graph.Value { return must(ops.One(linear.MatMul{}, input(rows, n), w)) })
		}
		p := product(w)
		heap := func() (m runtime.MemStats) { runtime.GC(); runtime.ReadMemStats(&m); return m }

		_ = bytes.Count(data, []byte{1}) // has it read
		touched, before := memtest.Resident(t, memtest.Files), heap()
		prep := must(Prepare(p, true))
		workers := NewWorkers(2)
		prepacked := must(prep.NewInstanceOn(workers, false))
		defer workers.Close()
		prepacked.UseArena(kernel.Alloc(prepacked.ArenaBytes()))
		if gone := touched - memtest.Resident(t, memtest.Files); gone < size-256<<10 {
			t.Errorf("%d bytes of the file left memory, want about %d", gone, size)
		}
		if grown := int64(heap().HeapAlloc) - int64(before.HeapAlloc); grown > size+size/4 {
			t.Errorf("%d bytes were taken for forms of %d", grown, prep.PrepackedBytes())
		}
		plain := must(must(Prepare(p, false)).NewInstance(1, false))
		defer plain.Close()
		if gone := touched - memtest.Resident(t, memtest.Files); !kernel.Aligned(data, 4) && gone < size-256<<10 {
			t.Errorf("%d bytes of the file left memory once they were copied, want about %d", gone, size)
		}
		heaped := must(graph.NewConstant(w.Type(), graph.Leaf{Layout: shape.Dense(dims), Data: append(kernel.Alloc(size)[:0], data...)})).Output(0)
		other := must(must(Prepare(product(heaped), false)).NewInstance(1, false))
		defer other.Close()
		want := runRows(t, other, x, 1)
		for _, inst := range []*Instance{plain, prepacked} {
			if !bytes.Equal(runRows(t, inst, x, 1), want) {
				t.Error("released pages change the result")
			}
		}
	}
}
