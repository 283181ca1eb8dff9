package onnx_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/circuit"
	"github.com/berth-go/berth/internal/bridge"
	"github.com/berth-go/berth/internal/conformance"
	"github.com/berth-go/berth/internal/race"
	"github.com/berth-go/berth/onnx"
	"github.com/berth-go/berth/pack"
)

// inside reaches the layout of programs.
var inside = bridge.Berth[berth.Tensor, berth.Promise, berth.Program, berth.CompileOptions]()

// runProgram runs a program with a poisoned arena and returns what it
// computed. Further runs must not allocate and must compute the same again.
func runProgram(t *testing.T, p *berth.Program, inputs map[string]*berth.Tensor, workers int) map[string]*berth.Tensor {
	t.Helper()
	b, err := onnx.Bind(p, inputs, &berth.InstanceOptions{Workers: workers, Poison: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	run := func() {
		if err := b.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	run()
	results, err := b.Results()
	if err != nil {
		t.Fatal(err)
	}
	if race.Enabled {
		return results // there, runs allocate
	}
	// More runs than workers: a goroutine that blocks for the first time makes
	// the runtime allocate once, whatever the run does.
	if n := testing.AllocsPerRun(workers+2, run); n != 0 {
		t.Errorf("%v allocations in a run", n)
	}
	again, err := b.Results()
	if err != nil {
		t.Fatal(err)
	}
	for name := range results {
		if err := identical(again[name], results[name]); err != nil {
			t.Errorf("output %q of a later run: %v", name, err)
		}
	}
	return results
}

// identical returns how got differs from want in element type, in shape or in
// any bit of an element.
func identical(got, want *berth.Tensor) error {
	if berth.Equal(got, want) {
		return nil
	}
	if err := berth.Close(got, want, 0, 0); err != nil {
		return err
	}
	return fmt.Errorf("elements of %v%v are equal as numbers and have other bits", want.DType(), want.Shape())
}

// proven has the layout of a program checked, and compares the arena with that
// of the plain first-fit rule.
func proven(t *testing.T, p *berth.Program) {
	t.Helper()
	c := inside.Compiled(p)
	if err := circuit.Check(c.Circuit, c.Fusion, c.Layout, c.Buffers); err != nil {
		t.Error(err)
	}
	first, err := c.Problem().PlanBuffers(context.Background(), &circuit.Options{Strategy: pack.FirstFit})
	if err != nil {
		t.Fatal(err)
	}
	if c.Buffers.Arena > first.Arena {
		t.Errorf("the arena of %d bytes is larger than that of first fit, %d", c.Buffers.Arena, first.Arena)
	}
}

// TestPrograms compiles networks that people use for the shapes of each stored
// data set and compares what the programs compute.
func TestPrograms(t *testing.T) {
	folders, err := filepath.Glob(filepath.Join(shared(t, "models"), "*", "model.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range folders {
		dir := filepath.Dir(file)
		name := filepath.Base(dir)
		t.Run(name, func(t *testing.T) {
			m, err := conformance.Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			sets, err := conformance.Sets(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, set := range sets {
				in, want, err := conformance.ReadSet(m, set)
				if err != nil {
					t.Fatal(err)
				}
				p, err := m.Compile(t.Context(), conformance.Fixed(in))
				if errors.Is(err, onnx.ErrNeedsData) || errors.Is(err, onnx.ErrHost) {
					t.Skipf("runs in segments alone: %v", err)
				}
				if err != nil {
					t.Fatalf("%s: %v", set, err)
				}
				proven(t, p)
				if err := conformance.DifferAll(m, modelTolerance(name), runProgram(t, p, in, 2), want); err != nil {
					t.Errorf("%s: %v", set, err)
				}
				logMemory(t, p)
			}
		})
	}
}

func logMemory(t *testing.T, p *berth.Program) {
	t.Helper()
	mem := p.Memory()
	moved := int64(0)
	for _, s := range p.Describe().Steps {
		moved += s.Moved
	}
	t.Logf("arena %d, lower bound %d, without reuse %d; moves %d bytes", mem.Arena, mem.LowerBound, mem.NoReuse, moved)
}

// TestMobileNetArena holds the arena of MobileNet V2 to its published lower
// bound.
func TestMobileNetArena(t *testing.T) {
	m, err := conformance.Load(shared(t, "models", "mobilenet_v2"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Compile(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Memory().Arena; got > 6021120 {
		t.Errorf("the arena takes %d bytes, want at most 6021120", got)
	}
}

// TestLightPrograms compiles the networks of [TestLight].
func TestLightPrograms(t *testing.T) {
	light(t, func(t *testing.T, m *onnx.Model, in map[string]*berth.Tensor) map[string]*berth.Tensor {
		p, err := m.Compile(t.Context(), conformance.Fixed(in))
		if err != nil {
			t.Fatal(err)
		}
		proven(t, p)
		logMemory(t, p)
		opt := conformance.Fixed(in)
		opt.Program.SeedOrder = true
		seed, err := m.Compile(t.Context(), opt)
		if err != nil {
			t.Fatal(err)
		}
		if arena, before := p.Memory().Arena, seed.Memory().Arena; arena > before {
			t.Errorf("the arena of %d bytes is larger than that of the depth-first order, %d", arena, before)
		}
		return runProgram(t, p, in, 2)
	})
}
