package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/berth-go/berth"
)

// TestKernels measures a small kernel of each table with what there is of libraries, which is
// said where there is nothing.
func TestKernels(t *testing.T) {
	for table, name := range map[string]string{
		"product": "^64×64×64$", "vector": "^1000×1000 by", "convolution": "^960→160", "elementwise": "64 KiB|1536 rows",
	} {
		var out bytes.Buffer
		err := compare(t.Context(), []string{"-kernels", table, "-run", name, "-threads", "1,2", "-rounds", "1", "-time", "1ms"}, &out, &out)
		if errors.As(err, new(missing)) {
			t.Skip(err)
		}
		if err != nil || !strings.Contains(out.String(), " | 2 | ") {
			t.Errorf("%s: %v\n%s", table, err, out.String())
		}
	}
	if _, _, err := libraries(); err == nil {
		if err := compare(t.Context(), []string{"-kernels", "none"}, new(bytes.Buffer), new(bytes.Buffer)); err == nil {
			t.Error("there is a table none")
		}
	}
}

// TestMeasure has results that differ be an error, and rounds of both.
func TestMeasure(t *testing.T) {
	x := []float32{1, 2, 4}
	for _, want := range [][]float32{{2, 4, 8}, {2, 4, 8.1}, {2, 4}} {
		calls := 0
		k := kernel{make: func(int) (*peer, error) {
			return &peer{
				outputs: berth.Outputs{"y": berth.Input("x", berth.Float32, 3).MulScalar(2)},
				inputs:  berth.Values{"x": x},
				library: func() { calls++ },
				result:  func() []float32 { return want },
				free:    func() { calls = -calls },
			}, nil
		}}
		c, b, err := k.measure(t.Context(), 1, 2, time.Millisecond)
		if right := len(want) == 3 && want[2] == 8; (err == nil) != right || right && (len(c) != 2 || len(b) != 2) {
			t.Errorf("with %v in C: %v and %v, error %v", want, c, b, err)
		}
		if calls >= 0 {
			t.Errorf("with %v in C what the library holds is not freed", want)
		}
	}
}
