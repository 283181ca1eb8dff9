package elementwise

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
)

// benchMap runs prog on one goroutine. Bytes are those of inputs and output,
// each counted once.
func benchMap(b *testing.B, prog []Instr, in []*kernel.Operand, out *kernel.Operand) {
	var types []dtype.Type
	rng := rand.New(rand.NewPCG(1, 1))
	bytes := len(out.Data)
	for _, o := range in {
		types = append(types, o.DType)
		kerneltest.Randomize(rng, o)
		bytes += len(o.Data)
	}
	k, err := newKernel(prog, types)
	if err != nil {
		b.Fatal(err)
	}
	k.Bind(in, []*kernel.Operand{out})
	scratch := kernel.Alloc(k.Scratch())
	b.SetBytes(int64(bytes))
	for b.Loop() {
		for task := range k.Tasks() {
			if err := k.Run(task, scratch); err != nil {
				b.Fatal(err)
			}
		}
	}
	n := len(out.Data) / out.DType.Size()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/elem")
}

func instr(code Code, args ...Arg) Instr {
	ins := Instr{Code: code}
	copy(ins.Attrs[:], code.Attrs())
	copy(ins.Args[:], args)
	return ins
}

// BenchmarkAdd adds a million float32 elements, beside a copy of as many:
// out of cache, both wait for memory, of which the sum moves half as much
// again.
func BenchmarkAdd(b *testing.B) {
	const n = 1 << 20
	x, y, z := kerneltest.Dense(dtype.Float32, n), kerneltest.Dense(dtype.Float32, n), kerneltest.Dense(dtype.Float32, n)
	b.Run("add", func(b *testing.B) {
		benchMap(b, []Instr{instr(Add, InputArg(0), InputArg(1))}, []*kernel.Operand{x, y}, z)
	})
	b.Run("copy", func(b *testing.B) {
		b.SetBytes(8 * n)
		for b.Loop() {
			copy(z.Data, x.Data)
		}
	})
}

// BenchmarkTree computes max(x*y+z-x, 0) * 0.5 over a million float32
// elements, as one Map and as five.
func BenchmarkTree(b *testing.B) {
	const n = 1 << 20
	in, r := InputArg, ResultArg
	half := ScalarArg(kernel.Float64Scalar(0.5).Cast(dtype.Float32))
	prog := []Instr{
		instr(Mul, in(0), in(1)), instr(Add, r(0), in(2)), instr(Sub, r(1), in(0)),
		instr(Relu, r(2)), instr(Mul, r(3), half),
	}
	var ops [5]*kernel.Operand
	for i := range ops {
		ops[i] = kerneltest.Dense(dtype.Float32, n)
	}
	x, y, z, s, t := ops[0], ops[1], ops[2], ops[3], ops[4]
	b.Run("fused", func(b *testing.B) { benchMap(b, prog, []*kernel.Operand{x, y, z}, t) })
	b.Run("unfused", func(b *testing.B) {
		var kernels []*programKernel
		for i, c := range []struct {
			ins Instr
			in  []*kernel.Operand
			out *kernel.Operand
		}{
			{instr(Mul, in(0), in(1)), []*kernel.Operand{x, y}, s},
			{instr(Add, in(0), in(1)), []*kernel.Operand{s, z}, t},
			{instr(Sub, in(0), in(1)), []*kernel.Operand{t, x}, s},
			{instr(Relu, in(0)), []*kernel.Operand{s}, t},
			{instr(Mul, in(0), half), []*kernel.Operand{t}, s},
		} {
			types := []dtype.Type{dtype.Float32, dtype.Float32}[:len(c.in)]
			k, err := newKernel([]Instr{c.ins}, types)
			if err != nil {
				b.Fatal(i, err)
			}
			k.Bind(c.in, []*kernel.Operand{c.out})
			kernels = append(kernels, k)
		}
		b.SetBytes(4 * 4 * n)
		for b.Loop() {
			for _, k := range kernels {
				for task := range k.Tasks() {
					if err := k.Run(task, nil); err != nil {
						b.Fatal(err)
					}
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/elem")
	})
}

// BenchmarkCode runs each code over 16K float32 elements, in cache.
func BenchmarkCode(b *testing.B) {
	const n = 1 << 14
	for _, code := range Codes() {
		args := []dtype.Type{dtype.Float32, dtype.Float32, dtype.Float32}[:code.Arity()]
		if code == Where {
			args[0] = dtype.Bool
		}
		result, err := code.Result(dtype.Int32, args...)
		if err != nil {
			continue
		}
		ins := instr(code, InputArg(0), InputArg(1), InputArg(2))
		ins.To = dtype.Int32
		var in []*kernel.Operand
		for _, t := range args {
			in = append(in, kerneltest.Dense(t, n))
		}
		b.Run(code.String(), func(b *testing.B) { benchMap(b, []Instr{ins}, in, kerneltest.Dense(result, n)) })
	}
}

// BenchmarkLayouts adds float32 operands of the shapes that broadcasting
// and views bring.
func BenchmarkLayouts(b *testing.B) {
	const n = 1 << 16
	add := []Instr{instr(Add, InputArg(0), InputArg(1))}
	for _, c := range []struct {
		name       string
		dims, bias []int
	}{
		{"bias of 1000 by row", []int{n / 1000, 1000}, []int{1000}},
		{"bias of 3 by row", []int{n / 3, 3}, []int{3}},
		{"bias by channel of 49", []int{n / 49, 7, 7}, []int{n / 49, 1, 1}},
		{"bias by channel of 3136", []int{n / 3136, 56, 56}, []int{n / 3136, 1, 1}},
		{"scalar", []int{n}, nil},
	} {
		b.Run(c.name, func(b *testing.B) {
			benchMap(b, add, []*kernel.Operand{kerneltest.Dense(dtype.Float32, c.dims...), kerneltest.Dense(dtype.Float32, c.bias...)}, kerneltest.Dense(dtype.Float32, c.dims...))
		})
	}
	for _, side := range []int{8, 256} {
		x, y := kerneltest.Dense(dtype.Float32, n/side, side), kerneltest.Dense(dtype.Float32, side, n/side)
		y.Shape, y.Strides = []int{n / side, side}, []int{1, n / side}
		b.Run(fmt.Sprintf("transposed, rows of %d", side), func(b *testing.B) {
			benchMap(b, add, []*kernel.Operand{x, y}, kerneltest.Dense(dtype.Float32, n/side, side))
		})
	}
}
