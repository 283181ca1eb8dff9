package onnx

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth"
)

// whole is the tolerance for whole networks.
var whole = tolerance{rtol: 1e-3, atol: 1e-5}

// TestModels compares networks that people use with the outputs stored beside
// them, for every stored data set.
func TestModels(t *testing.T) {
	for _, name := range []string{"mnist", "mobilenet_v2", "super_resolution", "minilm_l6_synth", "gpt_char"} {
		t.Run(name, func(t *testing.T) {
			if raceDetector && name == "minilm_l6_synth" {
				t.Skip("takes long; run without -race")
			}
			if _, err := runFolder(t.Context(), shared(t, "models", name), whole); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestModelsChain feeds a decoder its own results: the key-value cache of a
// step is what the step before it returned, and the token is its likeliest.
// The cache begins with no rows at all.
func TestModelsChain(t *testing.T) {
	dir := shared(t, "models", "gpt_char")
	m, err := LoadFile(filepath.Join(dir, "model.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	names, tensors, err := readTensors(filepath.Join(dir, "test_data_set_0"), "input")
	if err != nil {
		t.Fatal(err)
	}
	in := make(map[string]*berth.Tensor)
	for i, name := range names {
		in[name] = tensors[i]
	}
	for step := range 3 {
		set := filepath.Join(dir, "test_data_set_"+string(rune('0'+step)))
		_, want, err := readTensors(set, "output")
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.Run(t.Context(), in)
		if err != nil {
			t.Fatalf("step %d: %v", step, err)
		}
		for i, out := range m.Outputs() {
			if err := whole.differ(got[out.Name], want[i]); err != nil {
				t.Errorf("step %d: %s: %v", step, out.Name, err)
			}
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
	root := shared(t, "onnx-backend", "light")
	files, err := filepath.Glob(filepath.Join(root, "light_*.onnx"))
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
			got, err := m.Run(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			for i, out := range m.Outputs() {
				data, err := os.ReadFile(strings.TrimSuffix(file, ".onnx") + "_output_" + string(rune('0'+i)) + ".pb")
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
		})
	}
}

// unitRamp returns the elements i/n of an input with n elements.
func unitRamp(t *testing.T, v ValueInfo) *berth.Tensor {
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
