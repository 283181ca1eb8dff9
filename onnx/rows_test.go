package onnx_test

import (
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/conformance"
	"github.com/berth-go/berth/internal/race"
	"github.com/berth-go/berth/onnx"
)

// TestRows runs programs for up to several rows at fewer, and compares with
// programs compiled for exactly those, for several numbers of workers, and
// with a run that is planned anew, to the last bit.
func TestRows(t *testing.T) {
	for _, c := range []struct {
		model string
		rows  int
		dims  map[string]int
	}{
		{"mobilenet_v2", 3, nil},
		{"minilm_l6_synth", 8, map[string]int{"sequence_length": 9}},
		{"gpt_char", 7, map[string]int{"seq": 2, "past_seq": 5}},
	} {
		t.Run(c.model, func(t *testing.T) {
			if (testing.Short() || race.Enabled) && c.model == "mobilenet_v2" {
				t.Skip("takes long; run without -short and -race")
			}
			m, err := conformance.Load(shared(t, "models", c.model))
			if err != nil {
				t.Fatal(err)
			}
			p, err := m.Compile(t.Context(), &onnx.Options{Rows: c.rows, Dims: c.dims})
			if err != nil {
				t.Fatal(err)
			}
			if dims := p.Dims(); len(dims) != 1 || dims[0].Max != c.rows {
				t.Fatalf("the program has the dimensions %v", dims)
			}
			proven(t, p)
			rng := rand.New(rand.NewPCG(1, 2))
			for _, rows := range []int{c.rows, 1, c.rows - 1} {
				in := randomInputs(t, rng, p, rows)
				got := runProgram(t, p, in, 2)
				fixedProgram, err := m.Compile(t.Context(), conformance.Fixed(in))
				if err != nil {
					t.Fatal(err)
				}
				for _, workers := range []int{1, 4} {
					same := runProgram(t, fixedProgram, in, workers)
					for name := range got {
						if err := identical(got[name], same[name]); err != nil {
							t.Errorf("%d rows, %s, against a program for just these: %v", rows, name, err)
						}
					}
				}
				want, err := m.Run(t.Context(), in)
				if err != nil {
					t.Fatal(err)
				}
				for name := range got {
					if err := identical(got[name], want[name]); err != nil {
						t.Errorf("%d rows, %s, against a run step by step: %v", rows, name, err)
					}
				}
			}
		})
	}
}

// randomInputs returns inputs of a program with the given number of rows.
func randomInputs(t *testing.T, rng *rand.Rand, p *berth.Program, rows int) map[string]*berth.Tensor {
	t.Helper()
	in := make(map[string]*berth.Tensor)
	for _, port := range p.Inputs() {
		dims := port.Dims
		dims[0] = rows
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
