package berth_test

import (
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
