package berth_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/berth-go/berth"
)

// TestRunOverlap gives a run buffers that have memory in common. Every pair of
// which one is written is refused and named, before anything is written;
// neighbours and inputs that overlap each other are not.
func TestRunOverlap(t *testing.T) {
	n := berth.Dim("n", 1, 4)
	x, z := berth.Input("x", berth.Float32, n, 3), berth.Input("z", berth.Float32, n, 3)
	p := must(berth.Compile(t.Context(), berth.Outputs{"sum": x.Add(z), "product": x.Mul(z)}, nil))
	inst := must(p.NewInstance(nil))
	defer inst.Close()
	const elems = 6 // of two rows
	for _, c := range []struct {
		name               string
		x, z, sum, product int // where the buffers begin
		sumElems           int
		between            []string // the pair that overlaps
	}{
		{"apart", 0, 6, 12, 18, elems, nil},
		{"apart, backwards", 18, 12, 6, 0, elems, nil},
		{"one slice as two inputs", 0, 0, 12, 18, elems, nil},
		{"inputs overlap", 0, 3, 12, 18, elems, nil},
		{"input as output", 0, 6, 0, 18, elems, []string{`"x"`, `"sum"`}},
		{"last input as last output", 0, 6, 12, 6, elems, []string{`"z"`, `"product"`}},
		{"one slice as two outputs", 0, 6, 12, 12, elems, []string{`"sum"`, `"product"`}},
		{"output begins on the last element of an input", 0, 6, 11, 18, elems, []string{`"z"`, `"sum"`}},
		{"output ends on the first element of an input", 17, 23, 12, 0, elems, []string{`"x"`, `"sum"`}},
		{"outputs have one element in common", 0, 6, 12, 17, elems, []string{`"sum"`, `"product"`}},
		{"output around an input", 8, 24, 6, 0, 10, []string{`"x"`, `"sum"`}},
		{"in the part of an output that these rows leave alone", 19, 25, 12, 0, 12, []string{`"x"`, `"sum"`}},
	} {
		memory := make([]float32, 32)
		for i := range memory {
			memory[i] = float32(i + 1)
		}
		cut := func(at, elems int) []float32 { return memory[at:][:elems] }
		in := berth.Values{"x": cut(c.x, elems), "z": cut(c.z, elems)}
		out := berth.Values{"sum": cut(c.sum, c.sumElems), "product": cut(c.product, elems)}
		err := inst.Run(t.Context(), in, out)
		if c.between == nil {
			if err != nil || memory[c.sum] != float32(c.x+1+c.z+1) || memory[c.product] != float32((c.x+1)*(c.z+1)) {
				t.Errorf("%s: %v, %v", c.name, memory, err)
			}
			continue
		}
		wantError(t, c.name, err, append(c.between, "overlap", "berth: ")...)
		for i, v := range memory {
			if v != float32(i+1) {
				t.Fatalf("%s: element %d was written", c.name, i)
			}
		}
	}

	// The storage of a tensor is memory like any other, and nothing overlaps
	// what is empty.
	a := must(berth.FromSlice([]float32{1, 2, 3}, 1, 3))
	shared := must(berth.Data[float32](a))
	err := inst.Run(t.Context(), berth.Values{"x": a, "z": []float32{4, 5, 6}}, berth.Values{"sum": shared, "product": make([]float32, 3)})
	wantError(t, "tensor", err, `"x"`, `"sum"`)
	q := must(berth.Compile(t.Context(), berth.Outputs{"y": x.Slice(1, 0, 0, 1)}, nil))
	empty := must(q.NewInstance(nil))
	defer empty.Close()
	if err := empty.Run(t.Context(), berth.Values{"x": shared}, berth.Values{"y": shared[1:1]}); err != nil {
		t.Errorf("empty: %v", err)
	}
}

// TestRunNames gives runs names that the program does not have, beside those
// that it has or in place of one.
func TestRunNames(t *testing.T) {
	p := affine(t, nil)
	inst := must(p.NewInstance(nil))
	defer inst.Close()
	tensors := func() map[string]*berth.Tensor {
		return map[string]*berth.Tensor{"x": must(berth.Zeros(berth.Float32, 2, 3)), "b": must(berth.Zeros(berth.Float32, 4))}
	}
	outputs := func() berth.Values { return berth.Values{"y": make([]float32, 8), "best": make([]int64, 2)} }
	values := func(m map[string]*berth.Tensor) berth.Values {
		v := make(berth.Values)
		for name, x := range m {
			v[name] = x
		}
		return v
	}
	known := []string{"berth: ", `no input "X"`, `"b"`, `"x"`}
	for what, wrong := range map[string]func(in map[string]*berth.Tensor){
		"one more":     func(in map[string]*berth.Tensor) { in["X"] = in["x"] },
		"misspelt":     func(in map[string]*berth.Tensor) { in["X"] = in["x"]; delete(in, "x") },
		"nil besides":  func(in map[string]*berth.Tensor) { in["X"] = nil },
		"nothing else": func(in map[string]*berth.Tensor) { clear(in); in["X"] = nil },
	} {
		in := tensors()
		wrong(in)
		wantError(t, "Run, "+what, inst.Run(t.Context(), values(in), outputs()), known...)
		wantError(t, "RunOnce, "+what, second(p.RunOnce(t.Context(), in, 1)), known...)
	}
	out := outputs()
	out["z"] = out["y"]
	wantError(t, "output", inst.Run(t.Context(), values(tensors()), out), "berth: ", `no output "z"`, `"best", "y"`)
	wantError(t, "OutputDims", second(p.OutputDims("z", berth.Extents{"n": 1})), `"z"`, `"best", "y"`)
	wantError(t, "NewBuffer", second(p.NewBuffer("z")), `"z"`, `"best", "y"`)
	if err := inst.Run(t.Context(), values(tensors()), outputs()); err != nil {
		t.Error(err)
	}
}

// TestNewBuffer makes the output buffers of a program with one output of every
// type, has a run write them, and reads them.
func TestNewBuffer(t *testing.T) {
	x := berth.Input("x", berth.Float32, berth.Dim("n", 1, 3), 2)
	outputs := make(berth.Outputs)
	for _, typ := range allTypes {
		outputs[typ.String()] = x.Cast(typ)
	}
	outputs["empty"] = x.Slice(1, 0, 0, 1)
	p := must(berth.Compile(t.Context(), outputs, nil))
	inst := must(p.NewInstance(nil))
	defer inst.Close()
	buffers := buffers(p)
	in := must(berth.FromSlice([]float32{0, 1, 2, 3, 4, 5}, 3, 2))
	if err := inst.Run(t.Context(), berth.Values{"x": in}, buffers); err != nil {
		t.Fatal(err)
	}
	for _, typ := range allTypes {
		buffer := buffers[typ.String()]
		if got := fmt.Sprintf("%T", buffer); got != "[]"+typ.String() && (typ == typ.Wide() || !strings.HasPrefix(got, "[]dtype.")) {
			t.Errorf("%v: the buffer is a %s", typ, got)
			continue
		}
		if got, want := written(typ, buffer, []int{3, 2}), bits(t, in.Promise().Cast(typ)); !berth.Equal(got, want) {
			t.Errorf("%v: %v, want %v", typ, got, want)
		}
	}
	if b, ok := buffers["empty"].([]float32); !ok || len(b) != 0 {
		t.Errorf("empty: %v", buffers["empty"])
	}
}

// TestEndlessStep sums more elements than anybody waits for, which take no memory: the
// same one again and again.
func TestEndlessStep(t *testing.T) {
	much := must(berth.Full[float32](1, 1<<34, 2))
	_, err := much.Promise().Sum(0).Materialize(t.Context())
	wantError(t, "step by step", err, "17179869184")
	x := berth.Input("x", berth.Float32, 2)
	p := must(berth.Compile(t.Context(), berth.Outputs{"y": x.BroadcastTo(1<<34, 2).Sum(0)}, nil))
	_, err = p.RunOnce(t.Context(), map[string]*berth.Tensor{"x": must(berth.FromSlice([]float32{1, 2}, 2))}, 1)
	wantError(t, "a program", err, "17179869184")
}

// TestOutOfReach asks for programs, buffers and runs that would take terabytes.
func TestOutOfReach(t *testing.T) {
	x := berth.Input("x", berth.Float32, berth.Dim("n", 1, 1<<40), 2)
	p := must(berth.Compile(t.Context(), berth.Outputs{"y": x.Relu(), "sum": x.Sum(0)}, nil))
	_, err := p.NewBuffer("y")
	wantError(t, "buffer", err, `output "y"`, "8796093022208 bytes", "17179869184")
	if !errors.Is(err, berth.ErrMemory) {
		t.Errorf("%v does not match ErrMemory", err)
	}
	if b, err := p.NewBuffer("sum"); err != nil || len(b.([]float32)) != 2 {
		t.Errorf("got %v, %v", b, err)
	}
	wide := must(berth.Full[float32](1, 1<<33, 2))
	_, err = must(berth.Compile(t.Context(), berth.Outputs{"y": x.Sum(1)}, nil)).RunOnce(t.Context(), map[string]*berth.Tensor{"x": wide}, 1)
	wantError(t, "run", err, `output "y" with n=8589934592`, "34359738368 bytes")
	_, err = must(berth.Compile(t.Context(), berth.Outputs{"y": x.Sum(0)}, nil)).RunOnce(t.Context(), map[string]*berth.Tensor{"x": wide}, 1)
	wantError(t, "copy of an input", err, `input "x" with n=8589934592`, "68719476736 bytes")
	sorted, _ := berth.Input("x", berth.Float32, 2, 1<<38).TopK(1<<38, 1, true)
	_, err = must(berth.Compile(t.Context(), berth.Outputs{"y": sorted}, &berth.CompileOptions{MaxArena: 1 << 50})).NewInstance(nil)
	wantError(t, "working memory", err, "bytes of working memory for each")
}

// TestEmptyAtOneRow runs programs of which values that lie in every kind of
// place have no elements with one row: inputs and their parts, outputs and their
// parts, values of the arena, operands of reductions.
func TestEmptyAtOneRow(t *testing.T) {
	behind := func(p *berth.Promise) *berth.Promise { return p.Slice(0, 1, math.MaxInt, 1) } // all rows but the first
	for name, build := range map[string]func(x *berth.Promise) *berth.Promise{
		"view of an input":         func(x *berth.Promise) *berth.Promise { return behind(x) },
		"view of a value":          func(x *berth.Promise) *berth.Promise { return behind(x.Exp()) },
		"computed":                 func(x *berth.Promise) *berth.Promise { return behind(x.Softmax(1)).Softmax(1) },
		"backwards":                func(x *berth.Promise) *berth.Promise { return x.Exp().Slice(0, -2, math.MinInt, -1).Softmax(1) },
		"in the arena":             func(x *berth.Promise) *berth.Promise { return behind(x).MatMul(f32(3, 4)).Softmax(1).MatMul(f32(4, 2)) },
		"copied":                   func(x *berth.Promise) *berth.Promise { return behind(x.Exp()).Transpose().Contiguous() },
		"summed":                   func(x *berth.Promise) *berth.Promise { return behind(x.Exp()).Sum(0) },
		"inside a product":         func(x *berth.Promise) *berth.Promise { y := behind(x.Exp()); return y.Transpose().MatMul(y) },
		"side by side":             func(x *berth.Promise) *berth.Promise { y := behind(x); return berth.Concat(1, y.Tanh(), y.Exp()) },
		"one below the other":      func(x *berth.Promise) *berth.Promise { y := behind(x); return berth.Concat(0, y.Tanh(), y.Exp()) },
		"beside rows that are not": func(x *berth.Promise) *berth.Promise { return berth.Concat(0, behind(x).Tanh(), x.Exp()) },
		"part of a value side by side": func(x *berth.Promise) *berth.Promise {
			y := behind(x.Softmax(1))
			return berth.Concat(1, y.Softmax(1), y.MatMul(f32(3, 2))).Slice(1, 1, 4, 1)
		},
	} {
		x := berth.Input("x", berth.Float32, berth.Dim("n", 1, 4), 3)
		p, err := berth.Compile(t.Context(), berth.Outputs{"y": build(x)}, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		inst := must(p.NewInstance(&berth.InstanceOptions{Poison: true}))
		for _, rows := range []int{4, 1, 2, 1} {
			data := must(berth.Uniform[float32](rand.New(rand.NewPCG(1, 2)), rows, 3))
			want := bits(t, build(data.Promise()))
			exact := make([]float32, want.Len())
			roomy := must(p.NewBuffer("y")).([]float32)
			for _, y := range [][]float32{exact, roomy, append([]float32(nil), exact...)} {
				if err := inst.Run(t.Context(), berth.Values{"x": data}, berth.Values{"y": y}); err != nil {
					t.Errorf("%s, %d rows: %v", name, rows, err)
				} else if got := must(berth.FromSlice(y[:want.Len()], want.Shape()...)); !berth.Equal(got, want) {
					t.Errorf("%s, %d rows: %v, want %v", name, rows, got, want)
				}
			}
			if once, err := p.RunOnce(t.Context(), map[string]*berth.Tensor{"x": data}, 1); err != nil || !berth.Equal(once["y"], want) {
				t.Errorf("%s, %d rows, once: %v, %v, want %v", name, rows, once["y"], err, want)
			}
		}
		inst.Close()
	}
}
