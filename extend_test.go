package berth_test

import (
	"fmt"
	"testing"

	"github.com/berth-go/berth"
)

// TestExtends runs a program whose cache grows in place: each run sees what the
// ones before it have left, and writes what is new alone.
func TestExtends(t *testing.T) {
	ctx := t.Context()
	past, fresh := berth.Dim("past", 0, 5), berth.Dim("fresh", 1, 3)
	build := func() berth.Outputs {
		all := berth.Concat(1, berth.Input("past", berth.Float32, 2, past, 2), berth.Input("fresh", berth.Float32, 2, fresh, 2).MulScalar(10))
		return berth.Outputs{"all": all, "sum": all.Sum(1), "product": all.MatMul(all.Permute(0, 2, 1))}
	}
	p := must(berth.Compile(ctx, build(), &berth.CompileOptions{Extends: map[string]string{"all": "past"}}))
	plain := must(berth.Compile(ctx, build(), nil))
	if in := p.Inputs(); len(in) != 1 || in[0].Name != "fresh" || p.Outputs()[0].Extends != "past" {
		t.Errorf("the program has the inputs %v and the outputs %v", in, p.Outputs())
	}
	inst := must(p.NewInstance(&berth.InstanceOptions{Poison: true}))
	defer inst.Close()
	const capacity = 8
	cache := must(p.NewBuffer("all")).([]float32)
	if len(cache) != 2*capacity*2 {
		t.Fatalf("the buffer has %d elements", len(cache))
	}
	before := must(berth.Zeros(berth.Float32, 2, 0, 2))
	next := float32(1)
	for _, n := range []int{3, 1, 1, 2} { // 7 in all
		x := make([]float32, 2*n*2)
		for i := range x {
			x[i], next = next, next+1
		}
		fresh := must(berth.FromSlice(x, 2, n, 2))
		want := must(plain.RunOnce(ctx, map[string]*berth.Tensor{"past": before, "fresh": fresh}, 1))
		total := want["all"].Shape()[1]
		sum, product := make([]float32, 4), make([]float32, 2*total*total)
		extents := berth.Extents{"past": total - n}
		run := func() {
			err := inst.RunAt(ctx, extents, berth.Values{"fresh": x}, berth.Values{"all": cache, "sum": sum, "product": product})
			if err != nil {
				t.Fatal(err)
			}
		}
		run()
		got := must(must(berth.FromSlice(cache, 2, capacity, 2)).Slice(1, 0, total, 1))
		if !berth.Equal(got.Contiguous(), want["all"]) || !berth.Equal(must(berth.FromSlice(sum, 2, 2)), want["sum"]) ||
			!berth.Equal(must(berth.FromSlice(product, 2, total, total)), want["product"]) {
			t.Errorf("after %d: the cache is %v, the sums %v and the products %v, want %v", total, got, sum, product, want)
		}
		before = want["all"]
	}
	for what, opt := range map[string]map[string]string{
		"no output":          {"none": "past"},
		"no concatenation":   {"sum": "past"},
		"another first part": {"all": "fresh"},
		"no input":           {"all": "none"},
		"two of one":         {"all": "past", "sum": "past"},
	} {
		_, err := berth.Compile(ctx, build(), &berth.CompileOptions{Extends: opt})
		for output, input := range opt {
			wantError(t, what, err, fmt.Sprintf("%q", input))
			_ = output
		}
	}
	wantError(t, "the past is not stated", inst.Run(ctx, berth.Values{"fresh": make([]float32, 4)},
		berth.Values{"all": cache, "sum": make([]float32, 4), "product": make([]float32, 2)}), "past", "0 to 5")
}
