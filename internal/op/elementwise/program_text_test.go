package elementwise

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/op/reduce"
)

// randomInstr returns an instruction that need not make sense.
func randomInstr(rng *rand.Rand) Instr {
	codes := Codes()
	ins := Instr{Code: codes[rng.IntN(len(codes))]}
	types := dtype.All()
	if ins.Code == Cast {
		ins.To = types[rng.IntN(len(types))]
	}
	for i := range ins.Code.Attrs() {
		ins.Attrs[i] = []float64{rng.NormFloat64(), 0, math.Inf(1), 1e300, 5e-324}[rng.IntN(5)]
	}
	for i := range ins.Code.Arity() {
		switch rng.IntN(3) {
		case 0:
			ins.Args[i] = InputArg(rng.IntN(100))
		case 1:
			ins.Args[i] = ResultArg(rng.IntN(100))
		default:
			s := kernel.Scalar{DType: types[rng.IntN(len(types))], Bits: rng.Uint64() >> rng.IntN(64)}
			if s.DType == dtype.Bool {
				s.Bits &= 1
			}
			s.Bits &= 1<<(8*s.DType.Size()) - 1
			if few := lowElements(s.DType); s.DType.IsLowPrecision() {
				s = few[s.Bits%uint64(len(few))]
			}
			ins.Args[i] = ScalarArg(s)
		}
	}
	return ins
}

func TestProgramText(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 5000 {
		var p Program
		for range rng.IntN(5) {
			p = append(p, randomInstr(rng))
		}
		text, err := p.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var back Program
		if err := back.UnmarshalText(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if !reflect.DeepEqual(p, back) {
			t.Fatalf("%s reads back as %s", text, back)
		}
	}
}

// TestScalarText reads every float of at most 16 bits and awkward wide ones back.
func TestScalarText(t *testing.T) {
	check := func(s kernel.Scalar) {
		t.Helper()
		if back, err := kernel.ParseScalar(s.String()); back != s || err != nil {
			t.Fatalf("%v (%#x) reads back as %v (%#x), %v", s, s.Bits, back, back.Bits, err)
		}
	}
	for i := range uint64(1 << 16) {
		check(kernel.Scalar{DType: dtype.Float16, Bits: i})
		check(kernel.Scalar{DType: dtype.BFloat16, Bits: i})
		check(kernel.Scalar{DType: dtype.Float32, Bits: i<<16 | i&1})
		check(kernel.Scalar{DType: dtype.Float64, Bits: i<<48 | i&1})
	}
	for _, t := range dtype.All() {
		if t.IsLowPrecision() {
			for _, s := range lowElements(t) {
				check(s)
			}
		}
	}
	for _, s := range []kernel.Scalar{
		kernel.Int64Scalar(math.MinInt64), {DType: dtype.Uint64, Bits: math.MaxUint64}, kernel.BoolScalar(true), kernel.Float64Scalar(math.NaN()), kernel.Float64Scalar(math.Copysign(0, -1)), {DType: dtype.Int8, Bits: 0x80},
	} {
		check(s)
	}
}

func TestProgramTextErrors(t *testing.T) {
	for text, want := range map[string]string{
		"add(x0,x1)":                "does not start with t0=",
		"t0=add(x0,x1);t2=neg(t0)":  "does not start with t1=",
		"t0=add":                    "no operands",
		"t0=add(x0":                 "no operands",
		"t0=frob(x0)":               `unknown elementwise code "frob"`,
		"t0=add(x0)":                "takes 2 operands, got 1",
		"t0=add(x0,)":               "lacks an element type",
		"t0=add(x0,x-1)":            `operand "x-1"`,
		"t0=add(x0,x99999)":         `operand "x99999"`,
		"t0=add(x0,2)":              "lacks an element type",
		"t0=add(x0,2:float99)":      "float99",
		"t0=add(x0,300:int8)":       "is not a int8",
		"t0=add(x0,2:bool)":         "is not a bool",
		"t0=elu(x0)":                "takes 1 attributes",
		"t0=elu[1,2](x0)":           "takes 1 attributes",
		"t0=elu[1(x0)":              "no ]",
		"t0=elu[one](x0)":           "invalid syntax",
		"t0=neg[1](x0)":             "takes 0 attributes",
		"t0=cast(x0)":               "element type",
		"t0=cast[float](x0)":        "element type",
		"t0=neg(x0)\n":              "no operands",
		strings.Repeat("t0=;", 100): "",
	} {
		var p Program
		if err := p.UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
}

// FuzzProgramText checks that what is read prints as something that reads
// back to the same, and can be checked.
func FuzzProgramText(f *testing.F) {
	f.Add("t0=add(x0,x1);t1=leaky_relu[0.01](t0);t2=mul(t1,2:float32);t3=cast[int32](t2)")
	f.Add("t0=where(x0,nan:float16,0xfe01:float16);t1=is_inf[1,0](t0)")
	f.Add("t0=clip(x0,-0:bfloat16,+Inf:bfloat16)")
	f.Fuzz(func(t *testing.T, text string) {
		var p, back Program
		if err := p.UnmarshalText([]byte(text)); err != nil {
			return
		}
		if err := back.UnmarshalText([]byte(p.String())); err != nil {
			t.Fatalf("%q prints as %q: %v", text, p, err)
		}
		if p.String() != back.String() {
			t.Fatalf("%q prints as %q and then as %q", text, p, back)
		}
		types := []dtype.Type{dtype.Float32, dtype.Float32}
		if _, err := check(p, types); err == nil {
			if _, err := newKernel(p, types); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestTitle: what plans and errors call a Map.
func TestTitle(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "map",
		"t0=relu(x0)":                        "relu",
		"t0=mul(x0,2:float32);t1=add(t0,x1)": "mul+add",
		"t0=neg(x0);t1=abs(t0);t2=exp(t1);t3=sqrt(t2)":                                 "neg+abs+exp+sqrt",
		"t0=neg(x0);t1=abs(t0);t2=exp(t1);t3=sqrt(t2);t4=cast[int8](t3)":               "neg+abs+exp+sqrt+...(5)",
		"t0=neg(x0);t1=abs(t0);t2=exp(t1);t3=sqrt(t2);t4=cast[int8](t3);t5=square(t4)": "neg+abs+exp+sqrt+...(6)",
	} {
		var m Map
		if err := m.Program.UnmarshalText([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if got := graph.Title(m); got != want {
			t.Errorf("%q is called %q, want %q", text, got, want)
		}
	}
	if got := graph.Title(reduce.TopK{K: 3}); got != "top_k" {
		t.Errorf("an op without another title is called %q", got)
	}
	if got := op.Format(Map{Program{{Code: Relu, Args: [3]Arg{InputArg(0)}}}}); got != `map{program="t0=relu(x0)"}` {
		t.Errorf("the title has got into the text form: %s", got)
	}
}
