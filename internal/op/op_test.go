package op_test

import (
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/op/optest"
	"github.com/berth-go/berth/internal/op/reduce"
)

// plain is an op that says nothing of itself.
type plain struct{}

func (plain) Name() string                                { return "plain" }
func (plain) Infer(in []graph.Type) ([]graph.Type, error) { return in, nil }
func (plain) Kernel(_, _ []graph.Type) kernel.Kernel      { return kernel.NewCopy(4) }

// strict wants its output denser than its inputs.
type strict struct{ plain }

func (strict) DenseAxes(operand, rank int) int { return min(rank, -operand) }

func TestDenseAxes(t *testing.T) {
	for _, c := range []struct {
		o             graph.Op
		operand, want int
	}{
		{graph.Contiguous{}, 0, 0},
		{graph.Cache{}, -1, 0},
		{reduce.Reduce{}, 0, 0},
		{strict{}, -2, 2},
		{plain{}, 0, 3}, // what is not said is not allowed
	} {
		if got := op.DenseAxes(c.o, c.operand, 3); got != c.want {
			t.Errorf("%s: operand %d wants %d axes dense, not %d", c.o.Name(), c.operand, got, c.want)
		}
	}
}

func TestTakes(t *testing.T) {
	x, absent := optest.Float32(2), graph.Type{}
	for _, c := range []struct {
		in          []graph.Type
		least, most int
		want        string
	}{
		{[]graph.Type{x}, 1, 1, ""},
		{[]graph.Type{x, absent, x}, 1, 3, ""},
		{[]graph.Type{x}, 2, 2, "takes 2 inputs, got 1"},
		{nil, 1, 1, "takes 1 input, got 0"},
		{[]graph.Type{x, x, x}, 1, 2, "takes 1 to 2 inputs, got 3"},
		{[]graph.Type{x, absent}, 2, 2, "input 1 is absent"},
		{[]graph.Type{x, optest.Float32(-1)}, 1, 2, "input 1: shape [-1]: axis 0 has the negative extent -1"},
		{[]graph.Type{{DType: dtype.Type(99)}}, 1, 1, "input 0: dtype(99) is not an element type"},
	} {
		got := ""
		if err := op.Takes(c.in, c.least, c.most); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%v, of %d to %d inputs: %q, want %q", c.in, c.least, c.most, got, c.want)
		}
	}
}

func TestGiven(t *testing.T) {
	in := []graph.Type{optest.Float32(), {}}
	for i, want := range []bool{true, false, false} {
		if got := op.Given(in, i); got != want {
			t.Errorf("input %d of 2 is given: %v", i, got)
		}
	}
}
