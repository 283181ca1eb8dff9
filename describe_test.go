package berth_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/berth-go/berth"
)

// TestDescribeConnects wants slots that have a byte in common while both are
// live to be connected, and the description to survive JSON.
func TestDescribeConnects(t *testing.T) {
	cases := append(slices.Clone(programCases), moving...)
	// Each written over the one before, and the last one in its place.
	cases = append(cases, programCase{"in place into a concatenation", []operand{x(n, 4)}, func(in ...*berth.Promise) []*berth.Promise {
		y := in[0].MatMul(f32(4, 4))
		return one(berth.Concat(1, y.Softmax(1).CumSum(1).LayerNorm(1, f32(4), nil, 1e-5), in[0].MatMul(f32(4, 2)).Softmax(1)).MatMul(f32(6, 2)))
	}})
	// Of whose parts one is in place and two are copied.
	cases = append(cases, programCase{"copies beside what is in place", []operand{x(n, 4)}, func(in ...*berth.Promise) []*berth.Promise {
		return one(berth.Concat(1, in[0], in[0].Softmax(1), in[0]).MatMul(f32(12, 2)))
	}})
	shared := 0
	for _, c := range cases {
		p := c.program(t, &berth.CompileOptions{SearchNodes: 1})
		d := p.Describe()
		compiled := inside.Compiled(p)
		if d.Arena != p.Memory().Arena || d.Rows != most || len(d.Steps) != len(compiled.Plan.Steps) {
			t.Errorf("%s: %d bytes, %d rows, %d steps", c.name, d.Arena, d.Rows, len(d.Steps))
		}
		// The plan is what runs: every kernel, and no step without one.
		kernels := 0
		for _, s := range p.Plan() {
			if kernels += s.Kernels; s.Kernels == 0 || s.Kind == "view" && s.Op != "concat" {
				t.Errorf("%s: the plan has the step %v with %d kernels", c.name, s, s.Kernels)
			}
		}
		if kernels != len(compiled.Steps) {
			t.Errorf("%s: the plan has %d kernels, %d run", c.name, kernels, len(compiled.Steps))
		}
		end := func(id int) int {
			for d.Slots[id].Shares != nil {
				id = *d.Slots[id].Shares
				shared++
			}
			return id
		}
		for i, a := range d.Slots {
			if a.Offset < 0 || a.Offset+a.Bytes > d.Arena || a.Start > a.End || a.End >= len(d.Steps) || !slices.Contains(d.Steps[a.End].DeallocAfter, i) {
				t.Errorf("%s: slot %+v", c.name, a)
			}
			for j, b := range d.Slots[:i] {
				live := a.Start <= b.End && b.Start <= a.End
				if common := a.Offset < b.Offset+b.Bytes && b.Offset < a.Offset+a.Bytes; live && common && end(i) != end(j) {
					t.Errorf("%s: slots %d and %d have bytes in common", c.name, i, j)
				}
			}
		}
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var again berth.Description
		if err := json.Unmarshal(text, &again); err != nil {
			t.Fatal(err)
		}
		if second, err := json.Marshal(again); err != nil || string(second) != string(text) {
			t.Errorf("%s: the description changes on its way through JSON: %v", c.name, err)
		}
	}
	if shared == 0 {
		t.Error("no slot shares bytes: too little was tested")
	}
}
