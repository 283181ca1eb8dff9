package elementwise

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/race"
	"github.com/berth-go/berth/shape"
)

// randomProgram returns a random program over inputs of random types, which are
// returned too, and the types of its results.
func randomProgram(rng *rand.Rand, length int) (prog []Instr, in, types []dtype.Type) {
	all := dtype.All()
	if rng.IntN(2) == 0 { // of few types, which meet more often
		all = []dtype.Type{dtype.Float32, dtype.Bool, all[rng.IntN(len(all))]}
	}
	codes := Codes()
	unused := map[int]bool{} // results
	for len(prog) < length || len(unused) > 1 {
		ins := Instr{Code: codes[rng.IntN(len(codes))], To: all[rng.IntN(len(all))]}
		copy(ins.Attrs[:], ins.Code.Attrs())
		if len(prog) >= length && ins.Code.Arity() < 2 {
			continue // towards a single result
		}
		if len(prog) == MaxInstrs {
			return randomProgram(rng, length)
		}
		if ins.Code != Cast {
			ins.To = dtype.Invalid
		}
		args, next := make([]dtype.Type, ins.Code.Arity()), slices.Clone(in)
		scalars := 0
		for j := range args {
			switch c := rng.IntN(8); {
			case c < 5 && len(prog) > 0:
				r := rng.IntN(len(prog))
				for u := range unused {
					if rng.IntN(2) == 0 {
						r = u
					}
				}
				ins.Args[j], args[j] = ResultArg(r), types[r]
			case c == 5 && len(next) > 0:
				s := all[rng.IntN(len(all))]
				if j > 0 {
					s = args[j-1]
				}
				few := scalarSamples(rng, s, 3)
				scalars++
				ins.Args[j], args[j] = ScalarArg(few[rng.IntN(len(few))]), s
			case c == 6 && len(next) > 0 || len(next) == MaxInputs:
				i := rng.IntN(len(next))
				ins.Args[j], args[j] = InputArg(i), next[i]
			default:
				args[j] = all[rng.IntN(len(all))]
				ins.Args[j] = InputArg(len(next))
				next = append(next, args[j])
			}
		}
		t, err := ins.Code.Result(ins.To, args...)
		if err != nil || scalars == len(args) || mayFail(ins.Code, args) {
			continue
		}
		for _, a := range ins.Args {
			if a.Kind == ArgResult {
				delete(unused, a.Index)
			}
		}
		unused[len(prog)] = true
		in, prog, types = next, append(prog, ins), append(types, t)
	}
	return prog, in, types
}

// mayFail reports codes that random integers make fail.
func mayFail(code Code, args []dtype.Type) bool {
	switch code {
	case Div, Mod, Fmod, FloorDiv, Pow:
		return args[0].IsInteger()
	}
	return false
}

// broadcasting returns a shape that broadcasts to dims.
func broadcasting(rng *rand.Rand, dims []int) []int {
	out := slices.Clone(dims)
	if rng.IntN(2) == 0 {
		for i := range out {
			if rng.IntN(3) == 0 {
				out[i] = 1
			}
		}
		out = out[rng.IntN(len(out)+1):]
	}
	return out
}

// expand returns a dense copy of o broadcast to dims.
func expand(t testing.TB, o *kernel.Operand, dims []int) *kernel.Operand {
	l, err := shape.Layout{Shape: o.Shape, Strides: o.Strides, Offset: o.Offset}.BroadcastTo(dims)
	if err != nil {
		t.Fatal(err)
	}
	view := &kernel.Operand{DType: o.DType, Shape: l.Shape, Strides: l.Strides, Offset: l.Offset, Data: o.Data}
	out := kerneltest.Dense(o.DType, dims...)
	copy(out.Data, kerneltest.Bytes(view))
	return out
}

// stepwise runs the instructions one by one, each as a kernel of its own over
// dense operands, and returns the last result.
func stepwise(t testing.TB, rng *rand.Rand, prog []Instr, types []dtype.Type, in []*kernel.Operand, dims []int) *kernel.Operand {
	var results []*kernel.Operand
	for i, ins := range prog {
		single := ins
		var args []*kernel.Operand
		var argTypes []dtype.Type
		for j, a := range ins.Args[:ins.Code.Arity()] {
			var o *kernel.Operand
			switch a.Kind {
			case ArgInput:
				o = expand(t, in[a.Index], dims)
			case ArgResult:
				o = results[a.Index]
			default:
				o = kerneltest.Dense(a.Scalar.DType)
				a.Scalar.Put(o.Data)
				o = expand(t, o, dims)
			}
			single.Args[j] = InputArg(len(args))
			args, argTypes = append(args, o), append(argTypes, o.DType)
		}
		k, err := newKernel([]Instr{single}, argTypes)
		if err != nil {
			t.Fatal(err)
		}
		out := kerneltest.Dense(types[i], dims...)
		if err := kerneltest.Run(rng, k, args, []*kernel.Operand{out}); err != nil {
			t.Fatal(err)
		}
		results = append(results, out)
	}
	return results[len(results)-1]
}

// sameElements compares two operands bit by bit, but for the bits of NaNs:
// which operand's payload an instruction passes on is the processor's choice.
func sameElements(got, want *kernel.Operand) error {
	a, b := kerneltest.Bytes(got), kerneltest.Bytes(want)
	if bytes.Equal(a, b) {
		return nil
	}
	w := got.DType.Size()
	for i := 0; i < len(a); i += w {
		x, y := kernel.ScalarAt(got.DType, a, i/w), kernel.ScalarAt(got.DType, b, i/w)
		if !withinUlps(x, y, 0) {
			return fmt.Errorf("element %d is %v, want %v", i/w, x, y)
		}
	}
	return nil
}

// randomElements fills an operand's storage with awkward elements.
func randomElements(rng *rand.Rand, o *kernel.Operand) {
	some := scalarSamples(rng, o.DType, 20)
	w := o.DType.Size()
	for i := 0; i+w <= len(o.Data); i += w {
		some[rng.IntN(len(some))].Put(o.Data[i:])
	}
}

// TestPrograms compares random programs over random layouts with their
// instructions run one by one, to the last bit.
func TestPrograms(t *testing.T) {
	seeds := uint64(900)
	if race.Enabled {
		seeds = 200
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 9))
		prog, inTypes, types := randomProgram(rng, 1+rng.IntN(12))
		dims := kerneltest.Shape(rng, 4, 9)
		switch rng.IntN(10) {
		case 0: // rows long enough to be read in place
			dims = []int{1 + rng.IntN(3), 1 + rng.IntN(3), 100 + rng.IntN(2000)}
		case 1:
			dims = []int{20 + rng.IntN(2000), 1 + rng.IntN(5)}
		}
		var in []*kernel.Operand
		for _, dt := range inTypes {
			o := kerneltest.StridedInput(rng, dt, rng.IntN(2)*len(dims), dims...)
			if small := broadcasting(rng, dims); len(small) < len(dims) || !slices.Equal(small, dims) {
				o = kerneltest.StridedInput(rng, dt, 0, small...)
			}
			randomElements(rng, o)
			in = append(in, o)
		}
		last := types[len(types)-1]
		out := kerneltest.Dense(last, dims...)
		if rng.IntN(3) == 0 {
			out = kerneltest.StridedOutput(rng, last, 0, dims...)
		}
		k, err := newKernel(prog, inTypes)
		if err != nil {
			t.Fatal(err)
		}
		want := stepwise(t, rng, prog, types, in, dims)
		guard := kerneltest.Guard(out)
		if err := kerneltest.All(rng, k, in, []*kernel.Operand{out}); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if err := guard(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if err := sameElements(out, want); err != nil {
			t.Fatalf("seed %d: %v over %v: %v", seed, prog, dims, err)
		}
		kerneltest.CheckAllocs(t, k, in, []*kernel.Operand{out})
	}
}

// TestInPlace runs random programs over an input of the output's layout.
func TestInPlace(t *testing.T) {
	tried := 0
	for seed := uint64(0); tried < 300; seed++ {
		rng := rand.New(rand.NewPCG(seed, 10))
		prog, inTypes, types := randomProgram(rng, 1+rng.IntN(6))
		last := types[len(types)-1]
		at := slices.IndexFunc(inTypes, func(t dtype.Type) bool { return t.Size() == last.Size() })
		if at < 0 {
			continue
		}
		tried++
		dims := kerneltest.Shape(rng, 3, 12)
		if rng.IntN(4) == 0 {
			dims = []int{2, 700 + rng.IntN(1000)}
		}
		var in []*kernel.Operand
		for i, dt := range inTypes {
			o := kerneltest.StridedInput(rng, dt, 0, broadcasting(rng, dims)...)
			if i == at {
				o = kerneltest.StridedOutput(rng, dt, rng.IntN(len(dims)+1), dims...)
			}
			randomElements(rng, o)
			in = append(in, o)
		}
		want := stepwise(t, rng, prog, types, in, dims)
		out := *in[at]
		out.DType = last
		k, err := newKernel(prog, inTypes)
		if err != nil {
			t.Fatal(err)
		}
		run := kerneltest.Run
		if seed%2 == 0 {
			run = kerneltest.RunConcurrently
		}
		if err := run(rng, k, in, []*kernel.Operand{&out}); err != nil {
			t.Fatal(err)
		}
		if err := sameElements(&out, want); err != nil {
			t.Fatalf("seed %d: %v over input %d of %v: %v", seed, prog, at, dims, err)
		}
	}
}

// TestCheck names each way a program can be wrong.
func TestCheck(t *testing.T) {
	x, y, r := InputArg(0), InputArg(1), ResultArg
	neg := Instr{Code: Neg, Args: [3]Arg{x}}
	binary := func(c Code, a, b Arg) Instr {
		return Instr{Code: c, Args: [3]Arg{a, b}}
	}
	f, i := dtype.Float32, dtype.Int64
	for _, c := range []struct {
		want string
		prog []Instr
		in   []dtype.Type
	}{
		{"empty", nil, nil},
		{"65 instructions, more than 64", slices.Repeat([]Instr{neg}, 65), []dtype.Type{f}},
		{"9 inputs, more than 8", []Instr{neg}, slices.Repeat([]dtype.Type{f}, 9)},
		{"not an elementwise code", []Instr{{}}, nil},
		{"not an elementwise code", []Instr{{Code: 250}}, nil},
		{"reads input 0 of 0", []Instr{neg}, nil},
		{"reads input -1 of 1", []Instr{{Code: Neg, Args: [3]Arg{InputArg(-1)}}}, []dtype.Type{f}},
		{"result t0, which is not there yet", []Instr{binary(Add, x, r(0))}, []dtype.Type{f}},
		{"lacks operand 1", []Instr{{Code: Add, Args: [3]Arg{x}}}, []dtype.Type{f}},
		{"lacks operand 1", []Instr{binary(Add, x, ScalarArg(kernel.Scalar{}))}, []dtype.Type{f}},
		{"operands are float32 and int64", []Instr{binary(Add, x, y)}, []dtype.Type{f, i}},
		{"operand 0 is bool, not a numeric type", []Instr{neg}, []dtype.Type{dtype.Bool}},
		{"operand 0 is int64, not a floating-point type", []Instr{{Code: Exp, Args: neg.Args}}, []dtype.Type{i}},
		{"the condition is int64, not bool", []Instr{{Code: Where, Args: [3]Arg{x, x, x}}}, []dtype.Type{i}},
		{"is not an element type to cast to", []Instr{{Code: Cast, Args: neg.Args}}, []dtype.Type{i}},
		{"input 1 is not read", []Instr{neg}, []dtype.Type{f, f}},
		{"the result t0 is lost", []Instr{neg, neg}, []dtype.Type{f}},
	} {
		_, err := check(c.prog, c.in)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v over %v: error %v, want one with %q", c.prog, c.in, err, c.want)
		}
	}
}
