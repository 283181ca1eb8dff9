package elementwise

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
)

// TestJoin: programs give the bits that they give where no loops are joined, for numbers of
// any kind, and as many calls are joined as stated.
func TestJoin(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	const n = 500
	for _, c := range []struct {
		text  string
		calls int // with a set that has all
	}{
		{"t0=cast[HALF](x0);t1=relu(t0);t2=cast[float32](t1)", 1},
		{"t0=cast[HALF](x0);t1=clip(t0,0:HALF,6:HALF);t2=cast[float32](t1)", 1},
		{"t0=cast[HALF](x0);t1=clip(t0,-0:HALF,0.5:HALF);t2=neg(t1);t3=cast[float32](t2)", 2},
		{"t0=cast[HALF](x0);t1=cast[HALF](x1);t2=add(t0,t1);t3=relu(t2);t4=cast[float32](t3)", 4},
		{"t0=mul(x0,2:float32);t1=add(3:float32,t0);t2=cast[HALF](t1);t3=cast[float32](t2)", 1},
		{"t0=mul(x0,0.1:float32);t1=add(t0,x1)", 1},
		{"t0=mul(x0,0.1:float32);t1=sub(t0,x1);t2=cast[HALF](t1);t3=cast[float32](t2)", 2},
		{"t0=sub(x0,x1);t1=cast[HALF](t0);t2=div(t1,3:HALF);t3=cast[float32](t2)", 2},
		{"t0=cast[HALF](x0);t1=cast[float32](t0);t2=clip(t1,0.5:float32,6:float32)", 1},
		{"t0=cast[HALF](x0);t1=cast[float32](t0);t2=clip(t1,0.1:float32,6:float32)", 2},
		{"t0=cast[HALF](x0);t1=cast[float32](t0);t2=clip(t1,x1,6:float32)", 2},
		{"t0=mul(x0,x1);t1=add(t0,t0)", 2},
		{"t0=mul(x0,x1);t1=add(t0,x1);t2=mul(t1,t0)", 3},
		{"t0=mul(x0,x1);t1=sub(x1,t0);t2=cast[HALF](t1);t3=sub(2:HALF,t2);t4=cast[float32](t3)", 3},
	} {
		for _, half := range []string{"float16", "bfloat16"} {
			text := strings.ReplaceAll(c.text, "HALF", half)
			var p Program
			if err := p.UnmarshalText([]byte(text)); err != nil {
				t.Fatal(err)
			}
			typ := graph.Type{DType: dtype.Float32, Shape: []int{n}}
			var in []*kernel.Operand
			var types []graph.Type
			for i := range 2 {
				if !strings.Contains(text, []string{"x0", "x1"}[i]) {
					continue
				}
				o := kerneltest.Dense(dtype.Float32, n)
				for j := range n {
					x := float32(rng.NormFloat64())
					switch rng.IntN(3) {
					case 0:
						x = math.Float32frombits(rng.Uint32())
					case 1:
						x = []float32{0, float32(math.Copysign(0, -1)), 1e-9, -1e-9, 65519.9, 65520, float32(math.Inf(1)), float32(math.NaN()), 6, 6.0001, 0.5}[rng.IntN(11)]
					}
					kernel.Slice[float32](o)[j] = x
				}
				in, types = append(in, o), append(types, typ)
			}
			run := func(set *isa.Loops) (out []float32, calls int) {
				defer isa.Use(isa.Use(set))
				k, err := newKernel(p, dtypes(types))
				if err != nil {
					t.Fatal(err)
				}
				o := kerneltest.Dense(dtype.Float32, n)
				if err := kerneltest.Run(rng, k, in, []*kernel.Operand{o}); err != nil {
					t.Fatal(err)
				}
				return kernel.Slice[float32](o), len(k.calls)
			}
			want, _ := run(&isa.Generic)
			for _, set := range isa.Sets() {
				got, calls := run(set)
				if set.Name != isa.Generic.Name && calls != c.calls {
					t.Errorf("%s: %s has %d calls, want %d", set.Name, text, calls, c.calls)
				}
				for i, w := range want {
					if v := got[i]; math.Float32bits(v) != math.Float32bits(w) && (v == v || w == w) {
						t.Fatalf("%s: %s of %v: %v, want %v", set.Name, text, kernel.Slice[float32](in[0])[i], v, w)
					}
				}
			}
		}
	}
}
