package exec_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/onnx"
)

// TestPrepackedModels holds networks to the same bits with and without prepacked
// weights, by one worker and by three, at one row and at two.
func TestPrepackedModels(t *testing.T) {
	for _, c := range []struct {
		path string
		dims map[string]int
	}{
		{"models/mobilenet_v2/model.onnx", nil},
		{"models/minilm_l6_synth/model.onnx", map[string]int{"sequence_length": 9}},
		{"models/gpt_char/model.onnx", map[string]int{"seq": 3, "past_seq": 5}},
		{"models/mnist/model.onnx", nil},
	} {
		t.Run(filepath.Base(filepath.Dir(c.path)), func(t *testing.T) {
			path := filepath.Join("..", "..", "..", "shared", filepath.FromSlash(c.path))
			if _, err := os.Stat(path); err != nil {
				t.Skip("there is no model: ", err)
			}
			m, err := onnx.LoadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			program := func(noPrepack bool) *berth.Program {
				p, err := m.Compile(t.Context(), &onnx.Options{Rows: 2, Dims: c.dims, Program: berth.CompileOptions{NoPrepack: noPrepack}})
				if err != nil {
					t.Fatal(err)
				}
				return p
			}
			plain, prepacked := program(true), program(false)
			if a, b := plain.Memory().Prepacked, prepacked.Memory().Prepacked; a != 0 || b == 0 {
				t.Errorf("%d bytes are prepacked without prepacking, %d with", a, b)
			}
			for rows := 1; rows <= rowsOf(plain); rows++ {
				in := randomInputs(t, plain, rows)
				want, err := plain.RunOnce(t.Context(), in, 1)
				if err != nil {
					t.Fatal(err)
				}
				for _, workers := range []int{1, 3} {
					got, err := prepacked.RunOnce(t.Context(), in, workers)
					if err != nil {
						t.Fatal(err)
					}
					for name, w := range want {
						if !berth.Equal(got[name], w) {
							t.Errorf("%s with %d rows and %d workers: prepacking changes the result", name, rows, workers)
						}
					}
				}
			}
		})
	}
}

// rowsOf returns the most rows of a program.
func rowsOf(p *berth.Program) int {
	if dims := p.Dims(); len(dims) > 0 {
		return dims[0].Max
	}
	return 1
}

// randomInputs returns inputs of numbers from [0, 1), whole ones for integers.
func randomInputs(t *testing.T, p *berth.Program, rows int) map[string]*berth.Tensor {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 6))
	in := make(map[string]*berth.Tensor)
	for _, port := range p.Inputs() {
		dims := port.Dims
		if rowsOf(p) > 1 {
			dims[0] = rows // the rows are the first axis of every input of these models
		}
		x, err := berth.Uniform[float32](rng, dims...)
		if err != nil {
			t.Fatal(err)
		}
		v := x.Promise()
		if !port.DType.IsFloat() {
			v = v.Round()
		}
		if in[port.Name], err = v.Cast(port.DType).Materialize(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return in
}
