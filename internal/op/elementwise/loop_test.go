package elementwise

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
)

// TestMaps: the loops over elements of every instruction set give the bits of the plain
// ones, for all that they take as scalars and numbers of any kind, in place too, and
// write nothing else.
func TestMaps(t *testing.T) {
	for _, set := range isa.Sets() {
		for key := range set.Maps {
			code, err := parseCode(key.Function)
			if key.Function == "deviation" || key.Function == "normalized" {
				continue // of other packages
			}
			if err != nil {
				t.Errorf("%s: %v", set.Name, err)
				continue
			}
			switch key.Bits {
			case 32:
				testMap[float32](t, set, code, dtype.Float32, key.Scalars)
			case 64:
				testMap[float64](t, set, code, dtype.Float64, key.Scalars)
			}
		}
	}
}

func testMap[T kernel.Float](t *testing.T, set *isa.Loops, code Code, typ dtype.Type, scalars int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(code), uint64(scalars)))
	odd := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 1, -1, 0.5, 2.5, 1e-40, -1e30}
	some := func(n int) []T {
		x := make([]T, n)
		for i := range x {
			if x[i] = T(rng.NormFloat64() * 5); rng.IntN(3) == 0 {
				x[i] = T(odd[rng.IntN(len(odd))])
			}
		}
		return x
	}
	defer isa.Use(isa.Use(set))
	loop := loopsOf(code, typ)[scalars]
	isa.Use(&isa.Generic)
	plain := loopsOf(code, typ)[0]
	for range 60 {
		n, p := rng.IntN(150), &[2]float64{float64(float32(rng.NormFloat64())), 0}
		var args, spread [3][]T
		for i := range code.Arity() {
			args[i] = some(n + rng.IntN(3) + 1)
			spread[i] = args[i]
			if scalars>>i&1 == 1 {
				args[i] = args[i][:1]
				spread[i] = slices.Repeat(args[i], n+1)
			}
		}
		want, got := make([]T, n+1), make([]T, n+1)
		b := func(x []T) []byte { return kernel.Bytes(x) }
		plain(b(want[:n]), b(spread[0]), b(spread[1]), b(spread[2]), p)
		check := func(how string) {
			t.Helper()
			for i, w := range want {
				if v := got[i]; math.Float64bits(float64(v)) != math.Float64bits(float64(w)) && (v == v || w == w) {
					t.Fatalf("%s: %v of %v, scalars %b, %s: element %d of %d is %v, want %v", set.Name, code, typ, scalars, how, i, n, v, w)
				}
			}
		}
		loop(b(got[:n]), b(args[0]), b(args[1]), b(args[2]), p)
		check("apart")
		for i := range code.Arity() {
			if scalars>>i&1 == 0 {
				copy(got[:n], args[i])
				in := args
				in[i] = got
				loop(b(got[:n]), b(in[0]), b(in[1]), b(in[2]), p)
				check("in place")
			}
		}
	}
}
