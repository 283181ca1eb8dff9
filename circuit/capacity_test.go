package circuit

import (
	"context"
	"errors"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/pack"
)

// Two edges that are live at once need twice Align bytes: with that capacity there
// is a plan, with less an error that says how much it takes.
func TestCapacity(t *testing.T) {
	c := &Circuit{}
	a := c.AddEdge(Edge{Name: "a", Rows: N(), Dim: Const(4), Format: dtype.Plain(dtype.Float32)})
	b := c.AddEdge(Edge{Name: "b", Rows: N(), Dim: Const(4), Format: dtype.Plain(dtype.Float32)})
	c.AddNode(Node{Name: "m", Inputs: []EdgeID{a}, Outputs: []EdgeID{b}})
	plan := func(capacity int64) (*BufferPlan, error) {
		return PlanBuffersWith(context.Background(), c, Unfused(c, 0), nil, Align/16, &Options{Capacity: capacity})
	}
	if p, err := plan(2 * Align); err != nil || p.Arena != 2*Align {
		t.Errorf("%v, %v", p, err)
	}
	_, err := plan(2*Align - 1)
	var capacity *pack.CapacityError
	if !errors.As(err, &capacity) || capacity.Required != 2*Align || !capacity.Proven {
		t.Errorf("got %v, want an error that %d bytes are required", err, 2*Align)
	}
}
