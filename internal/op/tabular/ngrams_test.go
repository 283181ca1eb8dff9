package tabular

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op/optest"
)

// TestNGrams compares with a search for each run of the pool at each place and
// distance.
func TestNGrams(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	for range kerneltest.Rounds(300) {
		var o NGrams
		var runs [][]int
		for length := 1; length <= 3; length++ {
			o.Starts = append(o.Starts, len(o.Pool))
			seen := make(map[[3]int]bool)
			for range rng.IntN(4) {
				var run [3]int
				for i := range length {
					run[i] = 1 + rng.IntN(3)
				}
				if !seen[run] {
					seen[run] = true
					o.Pool = append(o.Pool, run[:length]...)
					runs = append(runs, run[:length:length])
				}
			}
		}
		o.Least = 1 + rng.IntN(3)
		o.Most = o.Least + rng.IntN(4-o.Least)
		o.Skip, o.Once = rng.IntN(4), rng.IntN(3) == 0
		for range max(len(runs), 1) {
			o.Columns = append(o.Columns, rng.IntN(9))
		}
		columns := slices.Max(o.Columns) + 1
		if rng.IntN(2) == 0 {
			for range columns {
				o.Weights = append(o.Weights, rng.Float64())
			}
		}
		dims := []int{rng.IntN(3), rng.IntN(8)}[rng.IntN(2):]
		dt := []dtype.Type{dtype.Int32, dtype.Int64}[rng.IntN(2)]
		x := kerneltest.Dense(dt, dims...)
		for i := range len(x.Data) / dt.Size() {
			kernel.Int64Scalar(1 + rng.Int64N(4)).Cast(dt).Put(x.Data[i*dt.Size():])
		}
		types := []graph.Type{optest.Type(dt, dims...)}
		outs, err := o.Infer(types)
		if err != nil {
			t.Fatal(err)
		}
		y := kerneltest.Dense(dtype.Float32, outs[0].Shape...)
		k := o.Kernel(types, outs)
		if err := kerneltest.All(rng, k, []*kernel.Operand{x}, []*kernel.Operand{y}); err != nil {
			t.Fatal(err)
		}
		kerneltest.CheckAllocs(t, k, []*kernel.Operand{x}, []*kernel.Operand{y})
		tokens, got := kerneltest.Floats(x), kerneltest.Values[float32](y)
		length := dims[len(dims)-1]
		for row := range len(got) / columns {
			want := make([]float32, columns)
			sequence := tokens[row*length:][:length]
			for i, run := range runs {
				if len(run) < o.Least || len(run) > o.Most {
					continue
				}
				n := float32(0)
				for step := 1; step <= o.Skip+1; step++ {
					if len(run) == 1 && step > 1 {
						break
					}
					for start := range sequence {
						n += isAt(sequence, start, step, run)
					}
				}
				want[o.Columns[i]] += n
			}
			for i := range want {
				if o.Once {
					want[i] = min(want[i], 1)
				}
				if len(o.Weights) > 0 {
					want[i] *= float32(o.Weights[i])
				}
			}
			if g := got[row*columns:][:columns]; !slices.Equal(g, want) {
				t.Fatalf("%+v in %v: %v, want %v", o, sequence, g, want)
			}
		}
	}
}

// isAt returns 1 where a run begins at a place, and 0 where it does not.
func isAt(sequence []float64, start, step int, run []int) float32 {
	for i, token := range run {
		if at := start + i*step; at >= len(sequence) || sequence[at] != float64(token) {
			return 0
		}
	}
	return 1
}

func TestNGramsInfer(t *testing.T) {
	o := NGrams{Least: 1, Most: 2, Pool: []int{5, 6, 7}, Starts: []int{0, 1}, Columns: []int{4, 0}}
	one := func(x graph.Type) []graph.Type { return []graph.Type{x} }
	x := optest.Type(dtype.Int64, 3, 7)
	optest.Infers(t, o, one(x), "float32[3 5]")
	optest.Infers(t, o, one(optest.Type(dtype.Int32, 0)), "float32[5]")
	optest.Refuses(t, o, one(optest.Float32(3)), "input 0 is float32[3], want int32 or int64")
	optest.Refuses(t, o, one(optest.Type(dtype.Int64, 1, 1, 1)), "of 1 or 2 axes")
	for part, change := range map[string]func(o *NGrams){
		"runs of 3 to 2 tokens":                       func(o *NGrams) { o.Least = 3 },
		"runs of 1 to 3 tokens":                       func(o *NGrams) { o.Most = 3 },
		"skips of up to -1 tokens":                    func(o *NGrams) { o.Skip = -1 },
		"there are no columns":                        func(o *NGrams) { o.Columns = nil },
		"columns from -1 to 0":                        func(o *NGrams) { o.Columns = []int{0, -1} },
		"columns from 0 to 1099511627776":             func(o *NGrams) { o.Columns = []int{0, 1 << 40} },
		"there are 2 runs, and columns for 1":         func(o *NGrams) { o.Columns = []int{0} },
		"there are 2 weights for 5 columns":           func(o *NGrams) { o.Weights = []float64{1, 2} },
		"runs of 1 tokens from 0 to 9":                func(o *NGrams) { o.Starts = []int{0, 9} },
		"runs of 1 tokens from -1 to 1":               func(o *NGrams) { o.Starts = []int{-1, 1} },
		"runs of 2 tokens from 0 to 3 in a pool of 3": func(o *NGrams) { o.Starts = []int{0, 0} },
	} {
		changed := o
		change(&changed)
		optest.Refuses(t, changed, one(x), part)
	}
}
