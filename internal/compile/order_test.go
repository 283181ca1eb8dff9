package compile

import (
	"testing"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/extent"
	"github.com/berth-go/berth/internal/op/ops"
	"github.com/berth-go/berth/internal/rewrite"
	"github.com/berth-go/berth/plan"
)

// TestBesides asks for each operand of the last step whether the others keep
// the output from its bytes.
func TestBesides(t *testing.T) {
	const head = `
		a = constant float32[2 2] data=[1 2 3 4]
		x = map{program="t0=neg(x0)"} a
		y = map{program="t0=abs(x0)"} a
		i = constant int64[2 2] data=[1 0 0 1]
		v = reshape{shape=[4]} x
		w = reshape{shape=[2 2]} v
		z = permute{perm=[1 0]} x
	`
	for _, c := range []struct {
		last string
		want []bool
	}{
		{`scatter_elements x i y`, []bool{false, false, false}},
		{`scatter_elements x i x`, []bool{true, false, true}},
		{`scatter_elements x i w`, []bool{true, false, true}},
		{`map{program="t0=add(x0,x1)"} x x`, []bool{false, false}},
		{`map{program="t0=add(x0,x1)"} x w`, []bool{false, false}},
		{`map{program="t0=add(x0,x1)"} x z`, []bool{true, true}},
		{`layer_norm{axis=1} x y _`, []bool{false, false}},
	} {
		roots, err := graph.Parse(head+"n = "+c.last+"\nout n\n", ops.Parse)
		if err != nil {
			t.Fatal(err)
		}
		z, err := learn(nil, func(extent.Point) (outputs, inputs []graph.Value, err error) { return roots, nil, nil },
			func(builds [][]graph.Value, _ rewrite.Varying) ([][]graph.Value, error) { return builds, nil })
		if err != nil {
			t.Fatal(err)
		}
		built, err := plan.New(roots...)
		if err != nil {
			t.Fatal(err)
		}
		p := placer{plan: built, sizes: z, share: true}
		if err := p.place(); err != nil {
			t.Fatal(err)
		}
		step := &built.Steps[len(built.Steps)-1]
		for in, want := range c.want {
			if got := p.besides(step, in, 0); got != want {
				t.Errorf("%s, input %d: got %v", c.last, in, got)
			}
		}
	}
}
