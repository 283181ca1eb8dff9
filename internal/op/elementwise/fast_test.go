package elementwise

import (
	"math"
	"os"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/race"
)

// TestFloat32 runs every unary code over a dense sample of all float32
// numbers, by their bits, and compares with float64 functions: at most as far apart as
// codeTolerance says. With BERTH_EVERY=1 it runs over all of them.
func TestFloat32(t *testing.T) {
	race.SkipSequential(t)
	const n = 1 << 16
	step := uint32(1<<32/(16*n) + 1) // odd, so that low bits vary too
	if fewSamples() {
		step = step*8 + 1
	}
	if os.Getenv("BERTH_EVERY") != "" {
		step = 1
	}
	x, y := kerneltest.Dense(dtype.Float32, n), kerneltest.Dense(dtype.Float32, n)
	xs, ys := kernel.Slice[float32](x), kernel.Slice[float32](y)
	for _, code := range Codes() {
		if r, err := code.Result(dtype.Invalid, []dtype.Type{dtype.Float32, 0, 0}[:code.Arity()]...); err != nil || code.Arity() > 1 || r != dtype.Float32 || !code.Costly() {
			continue
		}
		ins := instr(code, InputArg(0))
		k, err := newKernel([]Instr{ins}, []dtype.Type{dtype.Float32})
		if err != nil {
			t.Fatal(err)
		}
		k.Bind([]*kernel.Operand{x}, []*kernel.Operand{y})
		scratch := kernel.Alloc(k.Scratch())
		var worst, at float64
		for bits, done := uint32(0), false; !done; {
			for i := range xs {
				xs[i] = math.Float32frombits(bits)
				next := bits + step
				done = done || next < bits
				bits = next
			}
			for task := range k.Tasks() {
				if err := k.Run(task, scratch); err != nil {
					t.Fatal(err)
				}
			}
			for i, got := range ys {
				want := floatFormula(code, ins.Attrs, float64(xs[i]), 0, 0)
				if e := ulpError(got, want); e > worst {
					worst, at = e, float64(xs[i])
				}
			}
		}
		t.Logf("%-10v %.3f ulp at %v", code, worst, at)
		if worst > float64(codeTolerance(code)) {
			t.Errorf("%v is %.2f ulp off at %v", code, worst, at)
		}
	}
}

// ulpError returns the distance from got to want in units of the last place
// of the float32 nearest to want.
func ulpError(got float32, want float64) float64 {
	near := float32(want)
	switch {
	case want != want || got != got:
		if want != want && got != got {
			return 0
		}
		return math.Inf(1)
	case math.IsInf(float64(near), 0) || math.IsInf(float64(got), 0):
		if near == got {
			return 0
		}
		// Next to the end of the range, the last number is one off.
		return math.Abs(float64(int32(math.Float32bits(near) - math.Float32bits(got))))
	}
	_, e := math.Frexp(float64(near))
	return math.Abs(float64(got)-want) / math.Ldexp(1, max(e-24, -149))
}
