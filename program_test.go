package berth_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/circuit"
)

// TestInputErrors declares inputs that cannot be.
func TestInputErrors(t *testing.T) {
	in := func(extents ...any) error { return berth.Input("x", berth.Float32, extents...).Err() }
	wantError(t, "no rows", in(berth.Dim("n", 1, 0)), `input "x"`, `"n"`, "0")
	wantError(t, "type of extent", in("n"), `input "x"`, "string")
	wantError(t, "negative", in(2, -3), "x", "-3")
	wantError(t, "two sizes", in(berth.Dim("n", 1, 4), berth.Dim("n", 1, 5)), "x", "4", "5")
	wantError(t, "bounds", in(berth.Dim("n", 3, 2)), "x", "3 to 2")
	wantError(t, "below nothing", in(berth.Dim("n", -1, 2)), "x", "-1")
	wantError(t, "no name", in(berth.Dim("", 1, 2)), "x", "name")
	wantError(t, "type", berth.Input("x", 0, 2).Err(), "x", "invalid")
	if err := in(berth.Dim("n", 1, 4), 3, berth.Dim("n", 1, 4)); err != nil {
		t.Error(err)
	}

	ctx := t.Context()
	compile := func(outputs berth.Outputs) error { return second(berth.Compile(ctx, outputs, nil)) }
	a, b := berth.Input("a", berth.Float32, berth.Dim("n", 1, 4), 3), berth.Input("b", berth.Float32, berth.Dim("n", 1, 5), 3)
	wantError(t, "rows", compile(berth.Outputs{"y": a.Sum().Add(b.Sum())}), "4", "5", `"a"`)
	twin := berth.Input("a", berth.Float32, berth.Dim("n", 1, 4), 3)
	wantError(t, "two inputs of a name", compile(berth.Outputs{"y": a.Add(twin)}), `"a"`)
	wantError(t, "last row", compile(berth.Outputs{"y": a.Reshape(2, 6)}), "reshape")
}

// TestOutputs asks for outputs that nothing computes, or that are one value.
func TestOutputs(t *testing.T) {
	for _, c := range []programCase{
		{"input", []operand{x(n, 3)}, func(in ...*berth.Promise) []*berth.Promise { return in }},
		{"view of an input", []operand{x(n, 3)}, func(in ...*berth.Promise) []*berth.Promise {
			return []*berth.Promise{in[0].Transpose(), in[0].Index(1, 1), in[0].Slice(1, -1, -5, -1)}
		}},
		{"constants", []operand{x(n, 3)}, func(in ...*berth.Promise) []*berth.Promise {
			return []*berth.Promise{in[0], f32(4, 5), f32(4, 5).Transpose(), f32(4, 5).Exp(), berth.Scalar[int64](7).Promise()}
		}},
		{"one value", []operand{x(n, 3)}, func(in ...*berth.Promise) []*berth.Promise {
			y := in[0].Exp()
			return []*berth.Promise{y, y, y.Contiguous(), y.Reshape(-1, 3), y.Cache()}
		}},
		{"outputs that others read", []operand{x(n, 3)}, func(in ...*berth.Promise) []*berth.Promise {
			y := in[0].Softmax(1)
			z := y.MatMul(f32(3, 4))
			return []*berth.Promise{y, z, y.Neg(), z.Transpose(), z.Sum(0), berth.Concat(1, y, z)}
		}},
		{"parts", []operand{x(n, 6)}, func(in ...*berth.Promise) []*berth.Promise { return in[0].Exp().Split(1, 2, 0, 4) }},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t, c.program(t, nil)) })
	}
	// No input at all.
	p, err := berth.Compile(t.Context(), berth.Outputs{"y": f32(2, 3).Exp()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.RunOnce(t.Context(), nil, 1)
	if err != nil || !berth.Equal(out["y"], bits(t, f32(2, 3).Exp())) {
		t.Errorf("got %v, %v", out["y"], err)
	}
	wantError(t, "no outputs", second(berth.Compile(t.Context(), nil, nil)), "no outputs")
}

// affine is a small program: y = x*w + b, and the index of its largest column.
func affine(t *testing.T, opt *berth.CompileOptions) *berth.Program {
	t.Helper()
	in := berth.Input("x", berth.Float32, berth.Dim("n", 1, most), 3)
	bias := berth.Input("b", berth.Float32, 4)
	y := in.MatMul(f32(3, 4)).Add(bias)
	p, err := berth.Compile(t.Context(), berth.Outputs{"y": y.Softmax(1), "best": y.ArgMax(1, false)}, opt)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestRunErrors gives wrong buffers to a run, after each of which a right one
// works.
func TestRunErrors(t *testing.T) {
	p := affine(t, nil)
	inst, err := p.NewInstance(nil)
	if err != nil {
		t.Fatal(err)
	}
	right := func() (berth.Values, berth.Values) {
		return berth.Values{"x": make([]float32, 6), "b": []float32{1, 2, 4, 3}}, berth.Values{"y": make([]float32, 8), "best": make([]int64, 2)}
	}
	for _, c := range []struct {
		name  string
		wrong func(in, out berth.Values)
		parts []string
	}{
		{"no input", func(in, _ berth.Values) { delete(in, "x") }, []string{`input "x"`, "not given"}},
		{"nil input", func(in, _ berth.Values) { in["b"] = nil }, []string{`input "b"`, "not given"}},
		{"nil tensor", func(in, _ berth.Values) { in["b"] = (*berth.Tensor)(nil) }, []string{`input "b"`, "nil"}},
		{"no slice", func(in, _ berth.Values) { in["b"] = 3.5 }, []string{`input "b"`, "float64"}},
		{"slice of others", func(in, _ berth.Values) { in["b"] = []string{"1"} }, []string{`input "b"`, "[]string"}},
		{"type", func(in, _ berth.Values) { in["x"] = make([]float64, 6) }, []string{`input "x"`, "float32", "float64"}},
		{"part of a row", func(in, _ berth.Values) { in["x"] = make([]float32, 7) }, []string{`input "x"`, "7 elements", "n 1 to 12", "float32[n 3]"}},
		{"too many rows", func(in, _ berth.Values) { in["x"] = make([]float32, 39) }, []string{`input "x"`, "39 elements", "n 1 to 12"}},
		{"no rows", func(in, _ berth.Values) { in["x"] = []float32{} }, []string{`input "x"`, "0 elements"}},
		{"fixed length", func(in, _ berth.Values) { in["b"] = make([]float32, 5) }, []string{`input "b"`, "5 elements", "float32[4]"}},
		{"shape", func(in, _ berth.Values) { in["x"] = must(berth.Zeros(berth.Float32, 3, 2)) }, []string{`input "x"`, "[3 2]", "float32[n 3]"}},
		{"rank", func(in, _ berth.Values) { in["x"] = must(berth.Zeros(berth.Float32, 6)) }, []string{`input "x"`, "[6]", "float32[n 3]"}},
		{"layout", func(in, _ berth.Values) {
			in["x"] = must(must(berth.Zeros(berth.Float32, 3, 2)).Transpose())
		}, []string{`input "x"`, "not dense"}},
		{"no output", func(_, out berth.Values) { delete(out, "best") }, []string{`output "best"`, "not given"}},
		{"output type", func(_, out berth.Values) { out["best"] = make([]int32, 2) }, []string{`output "best"`, "int64", "int32"}},
		{"short output", func(_, out berth.Values) { out["y"] = make([]float32, 7) }, []string{`output "y"`, "28 bytes", "n=2 takes 32"}},
		{"tensor as output", func(_, out berth.Values) { out["y"] = must(berth.Zeros(berth.Float32, 2, 4)) }, []string{`output "y"`, "tensor", "immutable"}},
	} {
		in, out := right()
		c.wrong(in, out)
		wantError(t, c.name, inst.Run(t.Context(), in, out), append(c.parts, "berth: ")...)
		in, out = right()
		if err := inst.Run(t.Context(), in, out); err != nil {
			t.Fatalf("after %s: %v", c.name, err)
		}
		if got := out["best"].([]int64); got[0] != 2 || got[1] != 2 {
			t.Errorf("after %s: got %v", c.name, got)
		}
	}

	// Larger output buffers are filled from their start.
	in, out := right()
	out["best"] = []int64{9, 9, 9, 9}
	if err := inst.Run(t.Context(), in, out); err != nil || fmt.Sprint(out["best"]) != "[2 2 9 9]" {
		t.Errorf("got %v, %v", out["best"], err)
	}

	stop := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	if err := inst.Run(ctx, in, out); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
	inst.Close()
	inst.Close()
	wantError(t, "closed", inst.Run(t.Context(), in, out), "closed")
	wantError(t, "name", second(p.OutputDims("z", berth.Extents{"n": 1})), `"z"`)
	wantError(t, "rows", second(p.OutputDims("y", berth.Extents{"n": 13})), "13", "12")
	wantError(t, "rows", second(p.OutputDims("y", berth.Extents{"n": 0})), "0", "12")
	wantError(t, "no rows", second(p.OutputDims("y", nil)), "n", "1 to 12")
	wantError(t, "another dimension", second(p.OutputDims("y", berth.Extents{"n": 1, "m": 1})), `"m"`)
	wantError(t, "name", second(p.NewBuffer("z")), `"z"`)
}

// TestRunFails names the step and leaves the instance usable.
func TestRunFails(t *testing.T) {
	at := berth.Input("i", berth.Int64, berth.Dim("n", 1, 4))
	p := must(berth.Compile(t.Context(), berth.Outputs{"y": f32(3, 2).Gather(0, at)}, nil))
	inst := must(p.NewInstance(nil))
	defer inst.Close()
	y := make([]float32, 8)
	wantError(t, "index", inst.Run(t.Context(), berth.Values{"i": []int64{0, 3}}, berth.Values{"y": y}), "gather", "3")
	if err := inst.Run(t.Context(), berth.Values{"i": []int64{0, -1}}, berth.Values{"y": y}); err != nil {
		t.Error(err)
	}
}

// TestOneRunAtATime refuses a run while another one of the same instance goes
// on, which would write into its arena.
func TestOneRunAtATime(t *testing.T) {
	p := affine(t, nil)
	inst := must(p.NewInstance(&berth.InstanceOptions{Workers: 1}))
	defer inst.Close()
	in := berth.Values{"x": make([]float32, 6), "b": make([]float32, 4)}
	ctx := &nested{Context: t.Context(), inst: inst, in: in}
	if err := inst.Run(ctx, in, berth.Values{"y": make([]float32, 8), "best": make([]int64, 2)}); err != nil {
		t.Error(err)
	}
	wantError(t, "nested", ctx.err, "running")
}

// nested is a context that starts another run when a run asks whether it has
// ended.
type nested struct {
	context.Context
	inst *berth.Instance
	in   berth.Values
	err  error
}

func (c *nested) Err() error {
	if c.err == nil {
		c.err = errors.New("no error")
		if err := c.inst.Run(c.Context, c.in, berth.Values{"y": make([]float32, 8), "best": make([]int64, 2)}); err != nil {
			c.err = err
		}
	}
	return nil
}

// TestInstancesRunConcurrently shares one program among instances of several
// goroutines.
func TestInstancesRunConcurrently(t *testing.T) {
	for _, c := range programCases {
		if c.name != "conv" && c.name != "matmul" && c.name != "views" {
			continue
		}
		p := c.program(t, nil)
		inputs, want := c.results(t, 7)
		var wg sync.WaitGroup
		for g := range 6 {
			wg.Go(func() {
				inst, err := p.NewInstance(&berth.InstanceOptions{Workers: 1 + g%2, Poison: true})
				if err != nil {
					t.Error(err)
					return
				}
				defer inst.Close()
				outputs := buffers(p)
				for range 5 {
					if err := inst.Run(context.Background(), inputs, outputs); err != nil {
						t.Error(err)
						return
					}
					for name, w := range want {
						if !berth.Equal(written(w.DType(), outputs[name], w.Shape()), w) {
							t.Errorf("%s: %s differs", c.name, name)
						}
					}
				}
			})
		}
		wg.Wait()
	}
}

// TestRunOnce tells the rows by the shapes of the inputs.
func TestRunOnce(t *testing.T) {
	for _, c := range programCases {
		p := c.program(t, &berth.CompileOptions{SearchNodes: 1})
		for _, rows := range []int{1, 5} {
			values, want := c.results(t, rows)
			inputs := make(map[string]*berth.Tensor)
			for name, v := range values {
				x := v.(*berth.Tensor)
				inputs[name] = backwards(backwards(x).Contiguous()) // not dense
			}
			got, err := p.RunOnce(t.Context(), inputs, 2)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			for name, w := range want {
				if !berth.Equal(got[name], w) {
					t.Errorf("%s, %d rows: %s differs: %v", c.name, rows, name, berth.Close(got[name], w, 0, 0))
				}
			}
		}
	}
	p := affine(t, nil)
	b := must(berth.Zeros(berth.Float32, 4))
	wantError(t, "missing", second(p.RunOnce(t.Context(), map[string]*berth.Tensor{"b": b}, 1)), `"x"`, "not given")
	wantError(t, "shape", second(p.RunOnce(t.Context(), map[string]*berth.Tensor{"b": b, "x": must(berth.Zeros(berth.Float32, 3, 2))}, 1)), `"x"`, "[3 2]")
	wantError(t, "rows", second(p.RunOnce(t.Context(), map[string]*berth.Tensor{"b": b, "x": must(berth.Zeros(berth.Float32, 13, 3))}, 1)), `"x"`, "13")
}

// TestRowsAgree compares a program for many row counts with programs made for
// just one.
func TestRowsAgree(t *testing.T) {
	for _, c := range programCases {
		p := c.program(t, &berth.CompileOptions{SearchNodes: 1})
		for _, rows := range []int{1, 4, most} {
			values, _ := c.results(t, rows)
			inputs := make(map[string]*berth.Tensor)
			var in []*berth.Promise
			for _, o := range c.inputs {
				x := values[o.name].(*berth.Tensor)
				inputs[o.name] = x
				extents := make([]any, x.Rank())
				for a, d := range x.Shape() {
					extents[a] = d
				}
				in = append(in, berth.Input(o.name, o.typ, extents...))
			}
			outputs := make(berth.Outputs)
			for i, q := range c.build(in...) {
				outputs[fmt.Sprint("y", i)] = q
			}
			exact := must(berth.Compile(t.Context(), outputs, &berth.CompileOptions{SearchNodes: 1}))
			want, err := exact.RunOnce(t.Context(), inputs, 1)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			got, err := p.RunOnce(t.Context(), inputs, 1)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			for name, w := range want {
				if !berth.Equal(got[name], w) {
					t.Errorf("%s, %d rows: %s differs", c.name, rows, name)
				}
			}
		}
	}
}

// TestBudget has programs that do not fit refused with what they take, and
// fitting ones not.
func TestBudget(t *testing.T) {
	build := func(max int64, rows int) (*berth.Program, error) {
		in := berth.Input("x", berth.Float32, berth.Dim("n", 1, rows), 1000)
		y := in.Softmax(1).MatMul(f32(1000, 8)).Softmax(1).Sum(0)
		return berth.Compile(t.Context(), berth.Outputs{"y": y}, &berth.CompileOptions{MaxArena: max})
	}
	p := must(build(0, 100))
	need := p.Memory().Arena
	if need < 400000 {
		t.Fatalf("the arena takes %d bytes", need)
	}
	if _, err := build(need, 100); err != nil {
		t.Error(err)
	}
	_, err := build(need-1, 100)
	wantError(t, "one byte less", err, fmt.Sprint(need), fmt.Sprint(need-1))
	if !errors.Is(err, berth.ErrBudget) {
		t.Errorf("%v is no ErrBudget", err)
	}
	// A program of terabytes is refused before anything of that size is made.
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = build(1<<30, 1<<30)
	runtime.ReadMemStats(&after)
	if !errors.Is(err, berth.ErrBudget) || !strings.Contains(err.Error(), fmt.Sprint(1<<30)) {
		t.Errorf("got %v", err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 16<<20 {
		t.Errorf("the refused program took %d bytes to refuse", n)
	}
}

// TestBudgetOfConstants wants what depends on constants alone computed within the memory of
// the arena and of the constants, and what takes more as a part of the program.
func TestBudgetOfConstants(t *testing.T) {
	x := berth.Input("x", berth.Float32, 1)
	build := func(constant *berth.Promise) (*berth.Program, error) {
		return berth.Compile(t.Context(), berth.Outputs{"y": x.Add(constant)}, &berth.CompileOptions{MaxArena: 1 << 20})
	}
	// The float32 form of the integers is four times as long as the integers, and larger
	// than the arena.
	p := must(build(fixed(berth.Int8, -3, 5, 1<<20).Cast(berth.Float32)))
	if m := p.Memory(); m.Weights != 4<<20 {
		t.Errorf("the weights take %d bytes, want %d", m.Weights, 4<<20)
	}
	// A broadcast of four bytes is not worth gigabytes.
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := build(f32(1).BroadcastTo(1 << 28).Sqrt().Softmax(0).Max())
	runtime.ReadMemStats(&after)
	if !errors.Is(err, berth.ErrBudget) {
		t.Errorf("%v is no ErrBudget", err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 16<<20 {
		t.Errorf("the refused program took %d bytes to refuse", n)
	}
}

// TestMemory compares the stated memory with what an instance allocates.
func TestMemory(t *testing.T) {
	in := berth.Input("x", berth.Float32, berth.Dim("n", 1, 500), 1000)
	p := must(berth.Compile(t.Context(), berth.Outputs{"y": in.CumSum(1).MatMul(f32(1000, 300)).CumSum(0).Sum()}, nil))
	m := p.Memory()
	if m.LowerBound > m.Arena || m.Arena > m.NoReuse || m.Arena < 500*1300*4 || m.Weights != 4*1000*300 {
		t.Errorf("%+v", m)
	}
	first := must(p.NewInstance(&berth.InstanceOptions{Workers: 3})) // prepacks weights
	defer first.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	inst := must(p.NewInstance(&berth.InstanceOptions{Workers: 3}))
	runtime.ReadMemStats(&after)
	defer inst.Close()
	stated := m.Arena + 3*m.Scratch
	if got := int64(after.TotalAlloc - before.TotalAlloc); got < stated || got > stated+64<<10 {
		t.Errorf("an instance allocated %d bytes, the program states %d", got, stated)
	}
	c := inside.Compiled(p)
	if err := circuit.Check(c.Circuit, c.Fusion, c.Layout, c.Buffers); err != nil || c.Buffers.Arena != m.Arena {
		t.Errorf("%d bytes, %v", c.Buffers.Arena, err)
	}
	text := p.String()
	for _, part := range []string{"input  x float32[500 1000]", "output y float32[]", "dim    n 1 to 500", fmt.Sprint(m.Arena), fmt.Sprint(m.LowerBound)} {
		if !strings.Contains(text, part) {
			t.Errorf("%q lacks %q", text, part)
		}
	}
	// Weights that several outputs share are counted once.
	w := f32(100, 100)
	shared := must(berth.Compile(t.Context(), berth.Outputs{"a": berth.Input("a", berth.Float32, 2, 100).MatMul(w), "b": berth.Input("b", berth.Float32, 2, 100).MatMul(w.Transpose())}, nil))
	if got := shared.Memory().Weights; got != 4*100*100 {
		t.Errorf("shared weights take %d bytes", got)
	}
	if m.Own != 0 || shared.Memory().Own != 0 {
		t.Errorf("%d and %d bytes are programs' own, which compute no constants", m.Own, shared.Memory().Own)
	}
	// What is computed from them is a program's own, of which the prepacked form alone is kept.
	computed := must(berth.Compile(t.Context(), berth.Outputs{"y": berth.Input("a", berth.Float32, 2, 100).MatMul(w).MatMul(w.Exp())}, nil)).Memory()
	if computed.Weights != 2*4*100*100 || computed.Prepacked == 0 || computed.Own != computed.Prepacked/2 {
		t.Errorf("half of the weights are computed: %+v", computed)
	}
}

// TestWatch wants each step that computes reported once for each run, with its number among
// those of the description, which has what it multiplies and touches.
func TestWatch(t *testing.T) {
	x := berth.Input("x", berth.Float32, 4, 8)
	p := must(berth.Compile(t.Context(), berth.Outputs{"y": x.MatMul(f32(8, 16)).Softmax(1)}, nil))
	seen := make(map[int]int)
	inst := must(p.NewInstance(&berth.InstanceOptions{Watch: func(step int, took time.Duration) {
		if seen[step]++; took < 0 {
			t.Errorf("step %d took %v", step, took)
		}
	}}))
	defer inst.Close()
	for range 3 {
		if err := inst.Run(t.Context(), berth.Values{"x": make([]float32, 32)}, berth.Values{"y": make([]float32, 64)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range p.Describe().Steps {
		if want := 3 * s.Kernels; seen[s.Index] != want {
			t.Errorf("step %d was reported %d times, want %d", s.Index, seen[s.Index], want)
		}
		switch s.Op {
		case "matmul":
			if s.Products != 4*8*16 || s.Touched != 4*(4*8+8*16+4*16) {
				t.Errorf("%s: %d products, %d bytes", s.Op, s.Products, s.Touched)
			}
		case "softmax":
			if s.Products != 0 || s.Touched != 4*2*4*16 {
				t.Errorf("%s: %d products, %d bytes", s.Op, s.Products, s.Touched)
			}
		}
	}
}
