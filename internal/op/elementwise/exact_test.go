package elementwise

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/race"
)

// float64Ulps is how many units in the last place a function of float64 may be
// off. What others are made of is held closer. Gelu is off by more about -1, where
// the tail of the normal distribution is a product of two approximations, and HardSwish
// has a product more, by the rounded sixth.
func float64Ulps(code Code) float64 {
	switch code {
	case Log, Log2:
		return 0.51
	case Pow:
		return 0.65
	case Exp, Sin, Cos: // Exp among subnormal results, which are rounded twice
		return 0.8
	case Gelu, HardSwish:
		return 2.5
	}
	return 2
}

// wideFunctions are the functions of the table over the closed interval where
// the result is neither infinite nor known without computing. Attributes have
// their default values.
var wideFunctions = []struct {
	code     Code
	from, to float64
	f        func(x wide) wide
}{
	{Square, -1e154, 1e154, func(x wide) wide { return x.times(x) }},
	{Reciprocal, -huge, huge, func(x wide) wide { return x.of(1).over(x) }},
	{Sqrt, 0, huge, wide.root},
	{Rsqrt, tiny, huge, func(x wide) wide { return x.of(1).over(x.root()) }},
	{Exp, -745, 709.78, wide.exp},
	{Expm1, -745, 709.78, wide.expm1},
	{Log, tiny, huge, wide.log},
	{Log1p, -belowOne, huge, wide.log1p},
	{Log2, tiny, huge, func(x wide) wide { return x.log().over(wideLn2().rounded(wideBits)) }},
	{Sin, -huge, huge, func(x wide) wide { s, _ := x.sinCos(); return s }},
	{Cos, -huge, huge, func(x wide) wide { _, c := x.sinCos(); return c }},
	{Tan, -huge, huge, func(x wide) wide { s, c := x.sinCos(); return s.over(c) }},
	{Asin, -1, 1, wide.asin},
	{Acos, -1, 1, wide.acos},
	{Atan, -huge, huge, wide.atan},
	{Sinh, -710.47, 710.47, wide.sinh},
	{Cosh, -710.47, 710.47, wide.cosh},
	{Tanh, -400, 400, wide.tanh},
	{Asinh, -huge, huge, wide.asinh},
	{Acosh, 1, huge, wide.acosh},
	{Atanh, -belowOne, belowOne, wide.atanh},
	{Erf, -6, 6, wide.erf},
	{Sigmoid, -745, 745, func(x wide) wide { return x.logistic(x.of(1)) }},
	{Softplus, -745, 745, func(x wide) wide { return x.exp().log1p() }},
	{Softsign, -huge, huge, func(x wide) wide { return x.over(x.of(1).plus(x.abs())) }},
	{Gelu, -38.5, 45, func(x wide) wide { return x.times(x.neg().over(x.of(2).root()).erfc()).scaled(-1) }},
	{GeluTanh, -22, 45, func(x wide) wide {
		cubic := x.of(44715).over(x.of(1e6)).times(x).times(x).times(x)
		return x.plus(cubic).times(x.of(8).over(widePi().rounded(wideBits)).root()).logistic(x)
	}},
	{Mish, -745, 745, func(x wide) wide {
		e := x.exp()
		n := e.times(e.plus(x.of(2)))
		return x.times(n.over(n.plus(x.of(2))))
	}},
	{Swish, -745, 745, func(x wide) wide { return x.logistic(x) }},
	{LeakyRelu, -huge, 0, func(x wide) wide { return x.times(x.of(LeakyRelu.Attrs()[0])) }},
	{Elu, -745, 0, wide.expm1},
	{Celu, -745, 0, wide.expm1},
	{Selu, -745, 0, func(x wide) wide {
		return x.expm1().times(x.of(Selu.Attrs()[0])).times(x.of(Selu.Attrs()[1]))
	}},
	{HardSigmoid, -2.499, 2.5, func(x wide) wide {
		return x.times(x.of(HardSigmoid.Attrs()[0])).plus(x.of(HardSigmoid.Attrs()[1]))
	}},
	{HardSwish, -3, 3, func(x wide) wide { return x.times(x.plus(x.of(3))).over(x.of(6)) }},
}

const (
	huge     = math.MaxFloat64
	tiny     = math.SmallestNonzeroFloat64
	belowOne = 1 - 0x1p-53
)

// TestFloat64Covers finds functions that no bound on their error holds: those of
// several operations have one each, be it here or as exact in the table's test.
func TestFloat64Covers(t *testing.T) {
	bounded := map[Code]bool{
		Pow: true, Atan2: true, // TestFloat64Pairs
		Mod: true, Fmod: true, FloorDiv: true, // exact
	}
	for _, w := range wideFunctions {
		bounded[w.code] = true
	}
	for _, code := range Codes() {
		if code.Costly() && !bounded[code] {
			t.Errorf("%v of float64 is compared with nothing that has more digits", code)
		}
	}
}

// TestFloat64 bounds the error of the functions of one number.
func TestFloat64(t *testing.T) {
	race.SkipSequential(t)
	rng := rand.New(rand.NewPCG(64, 64))
	n := 200
	if fewSamples() {
		n = 20
	}
	for _, w := range wideFunctions {
		xs := arguments(rng, w.from, w.to, n)
		got := run64(t, rng, w.code, xs)
		checkUlps(t, w.code, got, func(i int) (wide, []float64) { return w.f(widen(xs[i], wideBits)), xs[i : i+1] })
	}
}

// TestFloat64Pairs bounds the error of powers and angles.
func TestFloat64Pairs(t *testing.T) {
	race.SkipSequential(t)
	rng := rand.New(rand.NewPCG(65, 65))
	n := 4000
	if fewSamples() {
		n = 400
	}
	var xs, ns []float64
	var want []wide
	for len(xs) < n {
		x := math.Ldexp(1+rng.Float64(), rng.IntN(2098)-1074)
		switch rng.IntN(3) {
		case 0:
			x = 1 + math.Ldexp(rng.Float64()-0.5, -rng.IntN(52))
		case 1:
			x = float64(2 + rng.IntN(100))
		}
		e := 700 * (2*rng.Float64() - 1) / math.Log(x)
		if rng.IntN(2) == 0 {
			e = math.Trunc(e / float64(1+rng.IntN(100)))
		}
		if x != 1 {
			xs, ns, want = append(xs, x), append(ns, e), append(want, wideLogTimes(x, e).exp())
		}
	}
	got := run64(t, rng, Pow, xs, ns)
	checkUlps(t, Pow, got, func(i int) (wide, []float64) { return want[i], []float64{xs[i], ns[i]} })

	all := arguments(rng, -huge, huge, n/100)
	a, b := make([]float64, len(all)), make([]float64, len(all))
	for i := range all {
		a[i], b[i] = all[rng.IntN(len(all))], all[rng.IntN(len(all))]
		if i%2 == 0 { // of a similar size
			b[i] = a[i] * math.Ldexp(0.5+rng.Float64(), rng.IntN(60)-30)
		}
		if b[i] == 0 || math.IsInf(b[i], 0) {
			b[i] = 1
		}
		a[i], b[i] = math.Copysign(a[i], rng.Float64()-0.5), math.Copysign(b[i], rng.Float64()-0.5)
	}
	checkUlps(t, Atan2, run64(t, rng, Atan2, a, b), func(i int) (wide, []float64) {
		y, x := widen(a[i], wideBits), widen(b[i], wideBits)
		angle := y.over(x).atan()
		if b[i] < 0 {
			pi := widePi().rounded(wideBits)
			if a[i] < 0 {
				pi = pi.neg()
			}
			angle = angle.plus(pi)
		}
		return angle, []float64{a[i], b[i]}
	})
}

// arguments returns numbers of a closed interval: of all magnitudes, and such
// where functions are hard. 0 is not among them.
func arguments(rng *rand.Rand, from, to float64, n int) (xs []float64) {
	add := func(values ...float64) {
		for _, v := range values {
			for _, x := range [...]float64{v, -v} {
				if from <= x && x <= to && x != 0 {
					xs = append(xs, x)
				}
			}
		}
	}
	around := func(v float64) { add(math.Nextafter(v, 0), v, math.Nextafter(v, huge)) }
	for range n {
		add(math.Ldexp(1+rng.Float64(), rng.IntN(2098)-1074))
		add(math.Ldexp(1+rng.Float64(), rng.IntN(60)-30))
		add(math.Ldexp(1+rng.Float64(), rng.IntN(8)-4))
		add(from*rng.Float64() + to*rng.Float64())
		add(1 + math.Ldexp(rng.Float64()-0.5, -rng.IntN(52)))
		turns := float64(rng.IntN(1<<rng.IntN(40))) * (math.Pi / 2)
		around(turns)
		add(turns * (1 + math.Ldexp(rng.Float64()-0.5, -rng.IntN(52))))
	}
	step := 3
	if fewSamples() {
		step = 50
	}
	for e := -1074; e <= 1023; e += step {
		around(math.Ldexp(1, e))
	}
	for v, i := from, 0; i < 20; i++ {
		add(v)
		v = math.Nextafter(v, 0)
	}
	for v, i := to, 0; i < 20; i++ {
		add(v)
		v = math.Nextafter(v, 0)
	}
	// The numbers of float64 nearest to multiples of π/2, over all and about 1.
	add(6381956970095103*0x1p797, 0x1.6ac5b262ca1ffp+849, math.Pi/2, math.Pi)
	return xs
}

// run64 runs a code over columns of float64.
func run64(t *testing.T, rng *rand.Rand, code Code, columns ...[]float64) []float64 {
	t.Helper()
	ins := instr(code)
	var in []*kernel.Operand
	var types []dtype.Type
	for i, c := range columns {
		ins.Args[i] = InputArg(i)
		in, types = append(in, kerneltest.Of(dtype.Float64, c, len(c))), append(types, dtype.Float64)
	}
	k, err := newKernel([]Instr{ins}, types)
	if err != nil {
		t.Fatal(err)
	}
	out := kerneltest.Dense(dtype.Float64, len(columns[0]))
	if err := kerneltest.Run(rng, k, in, []*kernel.Operand{out}); err != nil {
		t.Fatal(err)
	}
	return kernel.Slice[float64](out)
}

// checkUlps holds results against numbers of many bits.
func checkUlps(t *testing.T, code Code, got []float64, want func(i int) (wide, []float64)) {
	t.Helper()
	var worst float64
	var at []float64
	for i, v := range got {
		w, args := want(i)
		if e := w.ulpsTo(v); e > worst {
			worst, at = e, args
		}
	}
	t.Logf("%-12v %.3f ulp at %v", code, worst, at)
	if worst > float64Ulps(code) {
		t.Errorf("%v is %.2f units in the last place off at %v", code, worst, at)
	}
}
