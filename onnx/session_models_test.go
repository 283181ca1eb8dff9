package onnx_test

import (
	"testing"

	"github.com/berth-go/berth/internal/conformance"
	"github.com/berth-go/berth/internal/race"
	"github.com/berth-go/berth/onnx"
)

// TestSessions runs models in one session each, at all sizes that are stored, twice
// around: the second time builds nothing and allocates nothing.
func TestSessions(t *testing.T) {
	for _, name := range []string{"silero_vad", "byte_bilstm", "gpt_char", "minilm_l6_synth"} {
		t.Run(name, func(t *testing.T) {
			if race.Enabled && name == "minilm_l6_synth" {
				t.Skip("takes long; run without -race")
			}
			dir := shared(t, "models", name)
			m, err := conformance.Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			sets, err := conformance.Sets(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, workers := range []int{1, 2, 4} {
				s, err := m.NewSession(&onnx.SessionOptions{Workers: workers, Poison: true})
				if err != nil {
					t.Fatal(err)
				}
				runs := make([]func(), len(sets))
				for i, set := range sets {
					in, want, err := conformance.ReadValues(m, set)
					if err != nil {
						t.Fatal(err)
					}
					out := make(map[string]onnx.Value)
					runs[i] = func() {
						if err := s.Run(t.Context(), in, out); err != nil {
							t.Fatalf("set %d: %v", i, err)
						}
					}
					runs[i]()
					if err := conformance.DifferValues(m, conformance.Network, out, want); err != nil {
						t.Errorf("set %d: %v", i, err)
					}
				}
				for i, run := range runs {
					// More runs than workers: a goroutine that blocks for the first time
					// makes the runtime allocate once, whatever the run does.
					if n := testing.AllocsPerRun(workers+2, run); n != 0 && !race.Enabled {
						t.Errorf("set %d, %d workers: %v allocations in a run", i, workers, n)
					}
				}
				s.Close()
			}
		})
	}
}
