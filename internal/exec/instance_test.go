package exec

import (
	"bytes"
	"strings"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/compile"
	"github.com/berth-go/berth/internal/extent"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/linear"
	"github.com/berth-go/berth/internal/op/ops"
	"github.com/berth-go/berth/internal/op/reduce"
	"github.com/berth-go/berth/shape"
)

// product compiles the product of the running sums of an input of up to most
// rows with a matrix, which needs an arena for the sums.
func product(t *testing.T, most int) *compile.Program {
	t.Helper()
	square := graph.Type{DType: dtype.Float32, Shape: shape.Shape{3, 3}}
	weights, err := graph.NewConstant(square, graph.Leaf{Layout: shape.Dense(square.Shape), Data: kernel.Alloc(square.Bytes())})
	if err != nil {
		t.Fatal(err)
	}
	return programOf(t, most, func(rows int) graph.Value {
		sums := must(ops.One(reduce.Cumulative{Kind: reduce.Sum, Axis: 1}, input(rows, 3)))
		return must(ops.One(linear.MatMul{}, sums, weights.Output(0)))
	})
}

// TestArenaIsExact compares what an instance has with what the program said.
func TestArenaIsExact(t *testing.T) {
	for _, most := range []int{1, 7, 1000} {
		p := product(t, most)
		prep, err := Prepare(p, true)
		if err != nil {
			t.Fatal(err)
		}
		inst, err := prep.NewInstance(3, false)
		if err != nil {
			t.Fatal(err)
		}
		if p.Buffers.Arena == 0 || int64(len(inst.arena)) != p.Buffers.Arena {
			t.Errorf("the arena has %d bytes, the program says %d", len(inst.arena), p.Buffers.Arena)
		}
		for i, s := range inst.workers.crew.scratch {
			if len(s) != prep.ScratchBytes() {
				t.Errorf("worker %d has %d bytes of scratch, not %d", i, len(s), prep.ScratchBytes())
			}
		}
		inst.Close()
	}
}

// TestRunChecks wants an error for rows and buffers that are wrong, and no
// byte beyond the rows of the run written.
func TestRunChecks(t *testing.T) {
	p := product(t, 4)
	prep, err := Prepare(p, true)
	if err != nil {
		t.Fatal(err)
	}
	inst, err := prep.NewInstance(1, true)
	if err != nil {
		t.Fatal(err)
	}
	defer inst.Close()
	if inst.Program() != p {
		t.Error("the instance is of another program")
	}
	in, out := kernel.Alloc(4*12+4), kernel.Alloc(4*12)
	inst.BindInput(0, in[:4*12])
	inst.BindOutput(0, out)
	fails := func(what string, rows int, parts ...string) {
		t.Helper()
		err := inst.Run(t.Context(), extent.Point{rows})
		for _, part := range parts {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: the error %v lacks %q", what, err, part)
			}
		}
	}
	fails("no rows", 0, "rows=0", "1 to 4")
	fails("negative", -1, "rows=-1")
	fails("too many", 5, "rows=5", "1 to 4")
	for i := range out {
		out[i] = 0x77
	}
	if err := inst.Run(t.Context(), extent.Point{2}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out[4*6:], bytes.Repeat([]byte{0x77}, 4*6)) {
		t.Error("a run of 2 rows wrote a third one")
	}
	inst.BindOutput(0, out[:4*6-1])
	fails("short output", 2, `output "y"`, "23 bytes", "rows=2 takes 24")
	inst.BindOutput(0, out)
	inst.BindInput(0, in[1:4*12+1])
	fails("alignment", 2, `input "x"`, "aligned to 4")
	inst.BindInput(0, nil)
	fails("no input", 1, `input "x"`, "0 bytes", "rows=1 takes 12")
}
