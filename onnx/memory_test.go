package onnx_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/memtest"
	"github.com/berth-go/berth/internal/race"
	"github.com/berth-go/berth/onnx"
)

// sentenceEncoder is a model of 50 MB, most of whose weights are not aligned.
const sentenceEncoder = "../../shared/models/minilm_l6_synth/model.onnx"

// lengths are the sequence lengths that programs are compiled for.
var lengths = []int{16, 64, 128, 256}

// A footprint is what programs of one model take.
type footprint struct {
	Resident int64
	Programs []berth.Memory
}

// encoders compiles the model for all lengths at once, with an instance each.
func encoders(t *testing.T, m *onnx.Model) ([]*berth.Program, []*berth.Instance) {
	t.Helper()
	programs, instances := make([]*berth.Program, len(lengths)), make([]*berth.Instance, len(lengths))
	var wait sync.WaitGroup
	for i, n := range lengths {
		wait.Go(func() {
			var err error
			programs[i], err = m.Compile(t.Context(), &onnx.Options{RowDim: "-", Dims: map[string]int{"batch_size": 1, "sequence_length": n}})
			if err == nil {
				instances[i], err = programs[i].NewInstance(&berth.InstanceOptions{Workers: 1})
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return programs, instances
}

// TestWeightsOnce compiles a model for four sequence lengths in a process of its own, and
// bounds what that has in memory: the weights once, their packed forms once, the arenas,
// and 25 MB. Weights that lie unaligned in the file are copied, so that most of the file
// must have left memory again.
func TestWeightsOnce(t *testing.T) {
	const child = "BERTH_TEST_FOOTPRINT"
	if _, err := os.Stat(sentenceEncoder); err != nil {
		t.Skip("there is no model: ", err)
	}
	if race.Enabled {
		t.Skip("the race detector takes memory of its own")
	}
	if os.Getenv(child) != "" {
		m, err := onnx.LoadFile(sentenceEncoder)
		if err != nil {
			t.Fatal(err)
		}
		programs, instances := encoders(t, m)
		var f footprint
		for _, p := range programs {
			f.Programs = append(f.Programs, p.Memory())
		}
		runtime.GC()
		debug.FreeOSMemory()
		f.Resident = memtest.Resident(t, memtest.All)
		runtime.KeepAlive(instances)
		text, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("\n%s %s\n", child, text)
		return
	}
	memtest.Resident(t, memtest.All) // or skip
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), child+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	_, text, _ := strings.Cut(string(out), child+" ")
	text, _, _ = strings.Cut(text, "\n")
	var f footprint
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	first := f.Programs[0]
	most := first.Weights + first.Prepacked + 25_000_000
	for i, p := range f.Programs {
		if p.Prepacked != first.Prepacked || p.Own > 1<<20 {
			t.Errorf("program %d: %d bytes are prepacked, %d are its own; of the first %d are prepacked", i, p.Prepacked, p.Own, first.Prepacked)
		}
		most += p.Arena + p.Scratch + p.Own
	}
	if f.Resident > most {
		t.Errorf("%d bytes are in memory, want at most %d", f.Resident, most)
	}
	if f.Resident < first.Prepacked {
		t.Errorf("%d bytes are in memory, %d are prepacked", f.Resident, first.Prepacked)
	}
}
