package onnx

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/circuit"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/pack"
)

// fixed returns options for a program that takes just these inputs. Inputs of
// rank 0 and 1 of integers, such as a choice of branch, may decide shapes.
func fixed(inputs map[string]*berth.Tensor) *Options {
	opt := &Options{RowDim: "-", Shapes: make(map[string][]int)}
	for name, t := range inputs {
		opt.Shapes[name] = t.Shape()
	}
	return opt
}

// runProgram runs a program once for its results and then counts what further
// runs allocate.
func runProgram(t *testing.T, p *berth.Program, rows int, inputs map[string]*berth.Tensor, workers int) map[string]*berth.Tensor {
	t.Helper()
	inst, err := p.NewInstance(&berth.InstanceOptions{Workers: workers, Poison: true})
	if err != nil {
		t.Fatal(err)
	}
	defer inst.Close()
	in, out := berth.Values{}, berth.Values{}
	for _, port := range p.Inputs() {
		in[port.Name] = inputs[port.Name]
	}
	results := make(map[string]*berth.Tensor)
	for _, port := range p.Outputs() {
		dims, err := p.OutputDims(port.Name, rows)
		if err != nil {
			t.Fatal(err)
		}
		if results[port.Name], err = berth.Zeros(port.DType, dims...); err != nil {
			t.Fatal(err)
		}
		out[port.Name] = elementsOf(t, results[port.Name])
	}
	run := func() {
		if err := inst.Run(context.Background(), in, out); err != nil {
			t.Fatal(err)
		}
	}
	run()
	if n := testing.AllocsPerRun(2, run); n != 0 && !raceDetector {
		t.Errorf("%v allocations in a run", n)
	}
	return results
}

// elementsOf returns the storage of a tensor that a test has just made, for
// writing.
func elementsOf(t *testing.T, x *berth.Tensor) any {
	t.Helper()
	data := x.Leaf().Data
	switch x.DType() {
	case berth.Float32:
		return kernel.Cast[float32](data)
	case berth.Int64:
		return kernel.Cast[int64](data)
	}
	t.Fatalf("an output of %v", x.DType())
	return nil
}

// proven has the layout of a program checked, and compares the arena with that
// of the plain first-fit rule.
func proven(t *testing.T, p *berth.Program) {
	t.Helper()
	problem, plan := p.Circuit()
	if err := circuit.Check(problem.Circuit, problem.Plan, problem.Layout, plan); err != nil {
		t.Error(err)
	}
	first, err := problem.PlanBuffers(context.Background(), &circuit.Options{Strategy: pack.FirstFit})
	if err != nil {
		t.Fatal(err)
	}
	if plan.Arena > first.Arena {
		t.Errorf("the arena of %d bytes is larger than that of first fit, %d", plan.Arena, first.Arena)
	}
}

// TestPrograms compiles networks that people use for the shapes of each stored
// data set and compares what the programs compute.
func TestPrograms(t *testing.T) {
	for _, name := range []string{"mnist", "mobilenet_v2", "super_resolution", "minilm_l6_synth", "gpt_char"} {
		t.Run(name, func(t *testing.T) {
			dir := shared(t, "models", name)
			m, err := LoadFile(filepath.Join(dir, "model.onnx"))
			if err != nil {
				t.Fatal(err)
			}
			sets, err := filepath.Glob(filepath.Join(dir, "test_data_set_*"))
			if err != nil {
				t.Fatal(err)
			}
			for _, set := range sets {
				names, tensors, err := readTensors(set, "input")
				if err != nil {
					t.Fatal(err)
				}
				in := make(map[string]*berth.Tensor)
				for i, name := range names {
					in[name] = tensors[i]
				}
				_, want, err := readTensors(set, "output")
				if err != nil {
					t.Fatal(err)
				}
				p, err := m.Compile(t.Context(), fixed(in))
				if err != nil {
					t.Fatalf("%s: %v", set, err)
				}
				proven(t, p)
				got := runProgram(t, p, 1, in, 2)
				for i, out := range m.Outputs() {
					if err := whole.differ(got[out.Name], want[i]); err != nil {
						t.Errorf("%s: %s: %v", set, out.Name, err)
					}
				}
				mem := p.Memory()
				t.Logf("%s: arena %d, lower bound %d, without reuse %d; moves %v", filepath.Base(set), mem.Arena, mem.LowerBound, mem.NoReuse, p.Moved())
			}
		})
	}
}

// TestMobileNetArena holds the arena of MobileNet V2 to its published lower
// bound.
func TestMobileNetArena(t *testing.T) {
	m, err := LoadFile(filepath.Join(shared(t, "models", "mobilenet_v2"), "model.onnx"))
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

// TestLightPrograms compiles the image networks of the backend tests.
func TestLightPrograms(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared(t, "onnx-backend", "light"), "light_*.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".onnx")
		t.Run(name, func(t *testing.T) {
			if (testing.Short() || raceDetector) && name != "light_squeezenet" {
				t.Skip("takes long; run without -short and -race")
			}
			m, err := LoadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			in := make(map[string]*berth.Tensor)
			for _, v := range m.Inputs() {
				in[v.Name] = unitRamp(t, v)
			}
			p, err := m.Compile(t.Context(), fixed(in))
			if err != nil {
				t.Fatal(err)
			}
			proven(t, p)
			got := runProgram(t, p, 1, in, 2)
			for i, out := range m.Outputs() {
				data, err := os.ReadFile(strings.TrimSuffix(file, ".onnx") + fmt.Sprintf("_output_%d.pb", i))
				if err != nil {
					t.Fatal(err)
				}
				_, want, err := ReadTensor(data)
				if err != nil {
					t.Fatal(err)
				}
				if err := upstream.differ(got[out.Name], want); err != nil {
					t.Errorf("%s: %v", out.Name, err)
				}
			}
			mem := p.Memory()
			t.Logf("arena %d, lower bound %d, without reuse %d; moves %v", mem.Arena, mem.LowerBound, mem.NoReuse, p.Moved())
		})
	}
}
