package berth_test

import (
	"testing"

	"github.com/berth-go/berth"
)

// BenchmarkSmallRun is what a run costs beside its kernels: programs of four numbers, of one step and of ten.
func BenchmarkSmallRun(b *testing.B) {
	for _, c := range []struct {
		name  string
		steps int
	}{{"1 step", 1}, {"10 steps", 10}} {
		b.Run(c.name, func(b *testing.B) {
			x := berth.Input("x", berth.Float32, 4, 1)
			y := x
			for range c.steps {
				y = y.Sum(1).Reshape(4, 1).Softmax(0)
			}
			prog, err := berth.Compile(b.Context(), berth.Outputs{"y": y}, nil)
			if err != nil {
				b.Fatal(err)
			}
			inst, err := prog.NewInstance(nil)
			if err != nil {
				b.Fatal(err)
			}
			defer inst.Close()
			in, out := berth.Values{"x": make([]float32, 4)}, berth.Values{"y": make([]float32, 4)}
			b.ReportAllocs()
			for b.Loop() {
				if err := inst.Run(b.Context(), in, out); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
