package tabular

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op/optest"
)

func TestLookup(t *testing.T) {
	for _, dt := range kerneltest.Halfless() {
		rng := rand.New(rand.NewPCG(3, uint64(dt)))
		if dt == dtype.Bool {
			continue
		}
		for range kerneltest.Rounds(40) {
			var numbers []float64 // in ascending order
			for v := range 9 {
				if rng.IntN(2) == 0 {
					numbers = append(numbers, float64(v))
				}
			}
			if dt.IsFloat() && rng.IntN(2) == 0 {
				numbers = append(numbers, math.NaN())
			}
			keys := kerneltest.Dense(dt, len(numbers))
			for i, v := range numbers {
				kernel.Float64Scalar(v).Cast(dt).Put(keys.Data[i*dt.Size():])
			}
			dims := kerneltest.Shape(rng, 4, 7)
			if rng.IntN(20) == 0 {
				dims = []int{20000} // several tasks
			}
			x := kerneltest.StridedInput(rng, dt, 0, dims...)
			for i := range len(x.Data) / dt.Size() {
				v := float64(rng.IntN(10))
				if dt.IsFloat() && rng.IntN(5) == 0 {
					v = math.NaN()
				}
				kernel.Float64Scalar(v).Cast(dt).Put(x.Data[i*dt.Size():])
			}
			places := kerneltest.StridedOutput(rng, dtype.Int64, 0, dims...)
			k := Lookup{}.Kernel([]graph.Type{{DType: dt}}, nil)
			if err := kerneltest.SameBits(rng, k, []*kernel.Operand{x, keys}, []*kernel.Operand{places}); err != nil {
				t.Fatal(err)
			}
			all := true
			got := kerneltest.Values[int64](places)
			for i, v := range kerneltest.Floats(x) {
				want := slices.IndexFunc(numbers, func(n float64) bool { return n == v || n != n && v != v })
				if want < 0 {
					want, all = len(numbers), false
				}
				if int(got[i]) != want {
					t.Fatalf("%v: %v is at %d of %v, want %d", dt, v, got[i], numbers, want)
				}
			}
			err := kerneltest.Run(rng, Lookup{Required: true}.Kernel([]graph.Type{{DType: dt}}, nil), []*kernel.Operand{x, keys}, []*kernel.Operand{places})
			if (err == nil) != all || err != nil && !strings.Contains(err.Error(), "is not among the") {
				t.Fatalf("required, all there %v: %v", all, err)
			}
		}
	}
	rng := rand.New(rand.NewPCG(4, 4))
	in := []*kernel.Operand{kerneltest.StridedInput(rng, dtype.Int64, 0, 30, 40), kerneltest.Of(dtype.Int64, []int64{1, 2, 3}, 3)}
	kerneltest.CheckAllocs(t, Lookup{}.Kernel([]graph.Type{{DType: dtype.Int64}}, nil), in, []*kernel.Operand{kerneltest.Dense(dtype.Int64, 30, 40)})
}

func TestLookupInfer(t *testing.T) {
	i64 := func(dims ...int) graph.Type { return optest.Type(dtype.Int64, dims...) }
	optest.Infers(t, Lookup{}, []graph.Type{i64(2, 3), i64(5)}, "int64[2 3]")
	optest.Infers(t, Lookup{Required: true}, []graph.Type{optest.Float32(), optest.Float32(0)}, "int64[]")
	optest.Infers(t, Lookup{}, []graph.Type{optest.Type(dtype.Float16, 2), optest.Type(dtype.Float16, 2)}, "int64[2]")
	optest.Refuses(t, Lookup{}, []graph.Type{i64(2), optest.Float32(5)}, "have the element types")
	optest.Refuses(t, Lookup{}, []graph.Type{i64(2), i64(5, 1)}, "not a list")
	optest.Refuses(t, Lookup{}, []graph.Type{optest.Type(dtype.Bool, 2), optest.Type(dtype.Bool, 2)}, "not a number")
	optest.Refuses(t, Lookup{}, []graph.Type{i64(2)}, "takes 2 inputs")
}
