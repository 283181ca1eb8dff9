package onnx_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/conformance"
	"github.com/berth-go/berth/internal/race"
	"github.com/berth-go/berth/internal/rewrite"
	"github.com/berth-go/berth/onnx"
)

// tolerances are those of models whose stored outputs are farther from what the file says,
// computed in float64, than [conformance.Network] admits:
//
//	basic_pitch  by up to 1.1e-3, in sums of 256 products of which a logarithm is taken
//	magika       by up to 7.3e-4, in sums of 512 elements whose variance is next to nothing
//
// Berth is nearer to that than they are.
var tolerances = map[string]conformance.Tolerance{
	"basic_pitch": {Rel: 1e-3, Abs: 2e-3},
	"magika":      {Rel: 1e-3, Abs: 8e-4},
}

// modelTolerance returns how far outputs of a model may be from those stored.
func modelTolerance(name string) conformance.Tolerance {
	if tol, ok := tolerances[name]; ok {
		return tol
	}
	return conformance.Network
}

// TestModels compares networks that people use with the outputs stored beside them: every
// data set, with 1, 2 and 4 workers, with rewrites and without.
func TestModels(t *testing.T) {
	folders, err := filepath.Glob(filepath.Join(shared(t, "models"), "*", "model.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range folders {
		dir := filepath.Dir(file)
		name := filepath.Base(dir)
		t.Run(name, func(t *testing.T) {
			if race.Enabled && name == "minilm_l6_synth" {
				t.Skip("takes long; run without -race")
			}
			for _, opt := range []berth.RunOptions{{Workers: 1}, {Workers: 2}, {Workers: 4, Without: rewrite.Rules()}} {
				if testing.Short() && opt.Workers != 2 {
					continue
				}
				if _, err := conformance.Run(t.Context(), dir, modelTolerance(name), opt); err != nil {
					t.Errorf("%d workers, without rewrites %v: %v", opt.Workers, opt.Without != nil, err)
				}
			}
		})
	}
}

// TestModelsWithoutEachRule leaves each rewrite out in turn, of which others have to do without
// what it makes.
func TestModelsWithoutEachRule(t *testing.T) {
	if testing.Short() || race.Enabled {
		t.Skip("takes long; run without -short and -race")
	}
	folders, err := filepath.Glob(filepath.Join(shared(t, "models"), "*", "model.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range folders {
		dir := filepath.Dir(file)
		for _, rule := range rewrite.Rules() {
			opt := berth.RunOptions{Workers: 2, Without: []string{rule}}
			if _, err := conformance.Run(t.Context(), dir, modelTolerance(filepath.Base(dir)), opt); err != nil {
				t.Errorf("%s without %s: %v", filepath.Base(dir), rule, err)
			}
		}
	}
}

// TestModelsChain feeds a decoder its own results: the key-value cache of a
// step is what the step before it returned, and the token is its likeliest.
// The cache begins with no rows at all.
func TestModelsChain(t *testing.T) {
	dir := shared(t, "models", "gpt_char")
	m, err := conformance.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	sets, err := conformance.Sets(dir)
	if err != nil {
		t.Fatal(err)
	}
	in, _, err := conformance.ReadSet(m, sets[0])
	if err != nil {
		t.Fatal(err)
	}
	for step, set := range sets {
		_, want, err := conformance.ReadSet(m, set)
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.Run(t.Context(), in)
		if err != nil {
			t.Fatalf("step %d: %v", step, err)
		}
		if err := conformance.DifferAll(m, conformance.Network, got, want); err != nil {
			t.Errorf("step %d: %v", step, err)
		}
		for _, out := range m.Outputs() {
			if past, ok := strings.CutPrefix(out.Name, "present"); ok {
				in["past"+past] = got[out.Name]
			}
		}
		if in["input_ids"], err = berth.FromSlice([]int64{likeliest(t, got["logits"])}, 1, 1); err != nil {
			t.Fatal(err)
		}
	}
}

// likeliest returns the index of the greatest logit of the last position.
func likeliest(t *testing.T, logits *berth.Tensor) int64 {
	t.Helper()
	all, err := berth.Data[float32](logits)
	if err != nil {
		t.Fatal(err)
	}
	s := logits.Shape()
	last := all[len(all)-s[len(s)-1]:]
	return int64(slices.Index(last, slices.Max(last)))
}

// TestLight runs the image networks of the backend tests, whose weights are
// all made by ConstantOfShape, on a ramp from 0 to 1.
func TestLight(t *testing.T) {
	light(t, func(t *testing.T, m *onnx.Model, in map[string]*berth.Tensor) map[string]*berth.Tensor {
		got, err := m.Run(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		return got
	})
}

// light has run compute the outputs of each network that TestLight is about,
// and compares them with the stored ones.
func light(t *testing.T, run func(*testing.T, *onnx.Model, map[string]*berth.Tensor) map[string]*berth.Tensor) {
	dir := shared(t, "onnx-backend", "light")
	files, err := filepath.Glob(filepath.Join(dir, "light_*.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".onnx")
		t.Run(name, func(t *testing.T) {
			if (testing.Short() || race.Enabled) && name != "light_squeezenet" {
				t.Skip("takes long; run without -short and -race")
			}
			m, err := onnx.LoadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			in := make(map[string]*berth.Tensor)
			for _, v := range m.Inputs() {
				in[v.Name] = unitRamp(t, v)
			}
			want, err := conformance.ReadTensors(dir, name+"_output")
			if err != nil {
				t.Fatal(err)
			}
			if err := conformance.DifferAll(m, conformance.Upstream, run(t, m, in), want); err != nil {
				t.Error(err)
			}
		})
	}
}

// unitRamp returns the elements i/n of an input with n elements.
func unitRamp(t *testing.T, v onnx.ValueInfo) *berth.Tensor {
	t.Helper()
	n := 1
	dims := make([]int, len(v.Dims))
	for i, d := range v.Dims {
		dims[i] = d.Size
		n *= d.Size
	}
	data := make([]float32, n)
	for i := range data {
		data[i] = float32(float64(i) / float64(n))
	}
	x, err := berth.FromSlice(data, dims...)
	if err != nil {
		t.Fatalf("%v: %v", v, err)
	}
	return x
}
