package elementwise

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
	"github.com/berth-go/berth/internal/race"
)

// TestMaps: the loops over elements of every instruction set give the bits of the plain
// ones, one after the other where they are joined, for all that they take as scalars and
// numbers of any kind, in place too, and write nothing else.
func TestMaps(t *testing.T) {
	race.SkipSequential(t)
	for _, set := range isa.Sets() {
		for key := range set.Maps {
			if slices.Contains([]string{"deviation", "exp_chunk", "exp_shift", "normalized", "round_float16", "round_bfloat16"}, key.Function) {
				continue // not of the table
			}
			switch key.Bits {
			case 32:
				testMap[float32](t, set, key, dtype.Float32)
			case 64:
				testMap[float64](t, set, key, dtype.Float64)
			}
		}
	}
}

// plainOf returns the plain loops of the functions in a name, and how many operands these
// take together.
func plainOf(t *testing.T, name string, typ dtype.Type) (run loop, arity int) {
	t.Helper()
	defer isa.Use(isa.Use(&isa.Generic))
	arity = 1
	run = func(dst, a, b, c []byte, p *[2]float64) bool {
		rest := [][]byte{a, b, c}
		for name := range strings.SplitSeq(name, "+") {
			n, f := 1, loop(nil)
			switch name {
			case "round_float16":
				f = roundLoops(dtype.Float16)[0]
			case "round_bfloat16":
				f = roundLoops(dtype.BFloat16)[0]
			default:
				code, err := parseCode(name)
				if err != nil {
					t.Fatal(err)
				}
				n, f = code.Arity(), loopsOf(code, typ)[0]
			}
			var args [3][]byte
			copy(args[:n], rest)
			f(dst, args[0], args[1], args[2], p)
			rest = append([][]byte{dst}, rest[n:]...)
		}
		return true
	}
	for name := range strings.SplitSeq(name, "+") {
		if code, err := parseCode(name); err == nil {
			arity += code.Arity() - 1
		}
	}
	return run, arity
}

func testMap[T kernel.Float](t *testing.T, set *isa.Loops, key isa.MapKey, typ dtype.Type) {
	t.Helper()
	scalars := key.Scalars
	rng := rand.New(rand.NewPCG(uint64(len(key.Function)), uint64(scalars)))
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
	loop := set.Maps[key]
	plain, arity := plainOf(t, key.Function, typ)
	defer isa.Use(isa.Use(&isa.Generic))
	for range 60 {
		n, p := rng.IntN(150), &[2]float64{float64(float32(rng.NormFloat64())), 0}
		var args, spread [3][]T
		for i := range arity {
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
					t.Fatalf("%s: %v of %v, scalars %b, %s: element %d of %d is %v, want %v", set.Name, key.Function, typ, scalars, how, i, n, v, w)
				}
			}
		}
		loop(b(got[:n]), b(args[0]), b(args[1]), b(args[2]), p)
		check("apart")
		for i := range arity {
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

// TestRounds: roundings to halves give the values of the plain ones.
func TestRounds(t *testing.T) {
	race.SkipSequential(t)
	rng := rand.New(rand.NewPCG(2, 4))
	for _, set := range isa.Sets() {
		for _, typ := range []dtype.Type{dtype.Float16, dtype.BFloat16} {
			loop := set.Maps[isa.MapKey{Function: "round_" + typ.String(), Bits: 32}]
			if loop == nil {
				if set.Name != isa.Generic.Name {
					t.Errorf("%s does not round to %v", set.Name, typ)
				}
				continue
			}
			x, got, want := make([]float32, 1000), make([]float32, 1000), make([]float32, 1000)
			for range 100 {
				for i := range x {
					x[i] = math.Float32frombits(rng.Uint32())
					if rng.IntN(2) == 0 {
						x[i] = float32(math.Ldexp(1+float64(rng.IntN(1<<12))/(1<<12), rng.IntN(48)-30))
					}
				}
				loop(kernel.Bytes(got), kernel.Bytes(x), nil, nil, nil)
				kernel.Rounding(typ)(kernel.Bytes(want), kernel.Bytes(x))
				for i, w := range want {
					if got[i] != w && (got[i] == got[i] || w == w) {
						t.Fatalf("%s: %v as %v is %v, want %v", set.Name, x[i], typ, got[i], w)
					}
				}
			}
		}
	}
}

// TestCasts: the conversions of every instruction set give the bits of the plain ones, of all
// elements of 16 bits and some of others, and write nothing else.
func TestCasts(t *testing.T) {
	race.SkipSequential(t)
	rng := rand.New(rand.NewPCG(2, 3))
	for _, set := range isa.Sets() {
		for key, fast := range set.Casts {
			plain := kernel.Casting(key.From, key.To)
			switch {
			case key.From.Wide() != key.From:
				plain = kernel.Widening(key.From)
			case key.To.Wide() != key.To:
				plain = kernel.Narrowing(key.To)
			}
			from, to := key.From.Size(), key.To.Size()
			for first := 0; first < 1<<16; first += 1 << 12 {
				size := 1<<12 - rng.IntN(40)
				a, got, want := kernel.Alloc(from*size), kernel.Alloc(to*(size+1)), kernel.Alloc(to*(size+1))
				for i := range size {
					bits := uint64(first + i)
					if from > 2 {
						bits = rng.Uint64()
						if key.From == dtype.Float32 && rng.IntN(2) == 0 { // in the range of halves, and next to ties
							bits = uint64(math.Float32bits(float32(math.Ldexp(1+float64(rng.IntN(1<<14))/(1<<12), rng.IntN(48)-30))))
							bits += uint64(rng.IntN(3)) - 1
						}
					}
					kernel.Scalar{DType: key.From, Bits: bits}.Put(a[i*from:])
				}
				plain(want[:to*size], a)
				n := fast(got[:to*size], a)
				if n < size-15 || n > size {
					t.Fatalf("%s: %v to %v converts %d of %d", set.Name, key.From, key.To, n, size)
				}
				for i := range n + 1 {
					v, w := kernel.ScalarAt(key.To, got, i), kernel.ScalarAt(key.To, want, i)
					if i == n {
						w = kernel.ScalarAt(key.To, make([]byte, 8), 0) // untouched
					}
					if v != w && !(math.IsNaN(v.Float64()) && math.IsNaN(w.Float64())) {
						t.Fatalf("%s: %v to %v: %v becomes %v, want %v", set.Name, key.From, key.To, kernel.ScalarAt(key.From, a, min(i, size-1)), v, w)
					}
				}
			}
		}
	}
}
