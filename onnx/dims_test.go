package onnx_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/conformance"
	"github.com/berth-go/berth/onnx"
)

// TestDims runs models whose several extents vary, each as one program, over a
// grid of these extents, and compares with programs compiled for just those, to
// the last bit.
func TestDims(t *testing.T) {
	for _, c := range []struct {
		model string
		vary  []berth.Dimension
		dims  map[string]int
		grid  []berth.Extents
	}{
		{"minilm_l6_synth", []berth.Dimension{berth.Dim("batch_size", 1, 4), berth.Dim("sequence_length", 1, 128)}, nil, []berth.Extents{
			{"batch_size": 1, "sequence_length": 1}, {"batch_size": 4, "sequence_length": 9}, {"batch_size": 1, "sequence_length": 128}, {"batch_size": 3, "sequence_length": 2},
		}},
		{"gpt_char", []berth.Dimension{berth.Dim("seq", 1, 64), berth.Dim("past_seq", 0, 511)}, map[string]int{"batch": 1}, []berth.Extents{
			{"seq": 36, "past_seq": 0}, {"seq": 1, "past_seq": 36}, {"seq": 1, "past_seq": 0}, {"seq": 7, "past_seq": 100}, {"seq": 64, "past_seq": 192}, {"seq": 1, "past_seq": 255}, // the model has 256 positions
		}},
		{"ppocr_rec", []berth.Dimension{berth.Dim("p2o.DynamicDimension.1", 48, 320)}, map[string]int{"p2o.DynamicDimension.0": 1}, []berth.Extents{
			{"p2o.DynamicDimension.1": 320}, {"p2o.DynamicDimension.1": 48}, {"p2o.DynamicDimension.1": 101}, {"p2o.DynamicDimension.1": 192},
		}},
		{"byte_bilstm", []berth.Dimension{berth.Dim("batch", 1, 9), berth.Dim("length", 1, 40)}, nil, []berth.Extents{
			{"batch": 1, "length": 1}, {"batch": 9, "length": 40}, {"batch": 2, "length": 11}, {"batch": 7, "length": 3},
		}},
		{"melspectrogram", []berth.Dimension{berth.Dim("samples", 1280, 17280)}, map[string]int{"batch_size": 1}, []berth.Extents{
			{"samples": 17280}, {"samples": 1280}, {"samples": 12400}, {"samples": 4001},
		}},
	} {
		t.Run(c.model, func(t *testing.T) {
			m, err := conformance.Load(shared(t, "models", c.model))
			if err != nil {
				t.Fatal(err)
			}
			p, err := m.Compile(t.Context(), &onnx.Options{Vary: c.vary, Dims: c.dims})
			if err != nil {
				t.Fatal(err)
			}
			proven(t, p)
			rng := rand.New(rand.NewPCG(1, 2))
			for _, extents := range c.grid {
				in := make(map[string]*berth.Tensor)
				for _, info := range m.Inputs() {
					dims := make([]int, len(info.Dims))
					for i, d := range info.Dims {
						if dims[i] = d.Size; d.Size < 0 {
							if n, ok := extents[d.Name]; ok {
								dims[i] = n
							} else {
								dims[i] = c.dims[d.Name]
							}
						}
					}
					x, err := berth.Uniform[float32](rng, dims...)
					if err != nil {
						t.Fatal(err)
					}
					v := x.Promise()
					if !info.DType.IsFloat() {
						v = v.Round()
					}
					if in[info.Name], err = v.Cast(info.DType).Materialize(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				got := runProgram(t, p, in, 2)
				exact, err := m.Compile(t.Context(), conformance.Fixed(in))
				if err != nil {
					t.Fatal(err)
				}
				want := runProgram(t, exact, in, 1)
				for name := range got {
					if err := identical(got[name], want[name]); err != nil {
						t.Errorf("%s, %s: %v", fmt.Sprint(extents), name, err)
					}
				}
			}
		})
	}
}
