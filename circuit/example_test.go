package circuit_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/berth-go/berth/circuit"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/pack"
)

// A two-layer network for up to 64 rows. The two hidden edges are never live
// together with all the rest, so the arena is smaller than their sum.
func ExamplePlanBuffers() {
	f32 := dtype.Plain(dtype.Float32)
	c := &circuit.Circuit{Name: "mlp"}
	x := c.AddEdge(circuit.Edge{Name: "x", Rows: circuit.N(), Dim: circuit.Const(16), Format: f32})
	h1 := c.AddEdge(circuit.Edge{Name: "h1", Rows: circuit.N(), Dim: circuit.Const(128), Format: f32})
	h2 := c.AddEdge(circuit.Edge{Name: "h2", Rows: circuit.N(), Dim: circuit.Const(64), Format: f32})
	h3 := c.AddEdge(circuit.Edge{Name: "h3", Rows: circuit.N(), Dim: circuit.Const(128), Format: f32})
	y := c.AddEdge(circuit.Edge{Name: "y", Rows: circuit.N(), Dim: circuit.Const(4), Format: f32})
	c.AddNode(circuit.Node{Name: "fc1", Op: "gemm", Inputs: []circuit.EdgeID{x}, Outputs: []circuit.EdgeID{h1}})
	c.AddNode(circuit.Node{Name: "fc2", Op: "gemm", Inputs: []circuit.EdgeID{h1}, Outputs: []circuit.EdgeID{h2}})
	c.AddNode(circuit.Node{Name: "fc3", Op: "gemm", Inputs: []circuit.EdgeID{h2}, Outputs: []circuit.EdgeID{h3}})
	c.AddNode(circuit.Node{Name: "fc4", Op: "gemm", Inputs: []circuit.EdgeID{h3}, Outputs: []circuit.EdgeID{y}})
	c.Outputs = []circuit.EdgeID{y}

	plan, err := circuit.PlanBuffers(context.Background(), c, circuit.Unfused(c, 0), 64)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Arena, "bytes instead of", plan.Materialized)
	// Output:
	// 54272 bytes instead of 87040
}

// A layout from a file: the caller owns the output, the activation runs in place,
// and a concatenation moves no byte because its parts lie side by side in it.
func ExamplePlanBuffersWith() {
	p, err := circuit.ReadText(strings.NewReader(`
		rows 8
		edge x   n x 32 float32
		edge a   n x 48 float32
		edge b   n x 16 float32
		edge cat n x 64 float32
		edge act n x 64 float32
		edge y   n x 10 float32
		node left  gemm   : x -> a
		node right gemm   : x -> b
		node join  concat : a b -> cat
		node relu  relu   : cat -> act
		node head  gemm   : act -> y
		output y
		plan
		group left  : left
		group right : right join
		group relu  : relu
		group head  : head
		store x
		store a
		store b
		store cat
		store act
		store y
		layout
		external y
		alias act cat
		rowpack a b over cat
	`))
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := circuit.PlanBuffersWith(context.Background(), p.Circuit, p.Plan, p.Layout, p.MaxRows,
		&circuit.Options{Strategy: pack.FirstFit})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range plan.Slots {
		fmt.Printf("%-3s at %4d, row %3d, groups %d to %d\n", s.Name, s.Offset, s.RowStride, s.Start, s.End)
	}
	fmt.Println(circuit.Check(p.Circuit, p.Plan, p.Layout, plan))
	// Output:
	// x   at 2048, row 128, groups 0 to 3
	// a   at    0, row 256, groups 0 to 1
	// b   at  192, row 256, groups 1 to 1
	// cat at    0, row 256, groups 1 to 3
	// act at    0, row 256, groups 1 to 3
	// <nil>
}

// An error says which constraint cannot be honoured and why.
func ExamplePlanError() {
	f32 := dtype.Plain(dtype.Float32)
	c := &circuit.Circuit{}
	a := c.AddEdge(circuit.Edge{Name: "a", Rows: circuit.N(), Dim: circuit.Const(32), Format: f32})
	b := c.AddEdge(circuit.Edge{Name: "b", Rows: circuit.N(), Dim: circuit.Const(64), Format: f32})
	c.AddNode(circuit.Node{Name: "widen", Inputs: []circuit.EdgeID{a}, Outputs: []circuit.EdgeID{b}})
	layout := &circuit.Layout{Aliases: []circuit.Alias{{Edge: b, Of: a}}}

	_, err := circuit.PlanBuffersWith(context.Background(), c, circuit.Unfused(c, 0), layout, 8, nil)
	fmt.Println(err)
	fmt.Println(errors.Is(err, circuit.ErrAliasSize))
	// Output:
	// circuit: alias of different sizes: alias 0, edge "b", edge "a": 2048 bytes and 1024 bytes
	// true
}

// A buffer plan as text.
func ExampleBufferPlan_WriteText() {
	c := &circuit.Circuit{}
	f32 := dtype.Plain(dtype.Float32)
	a := c.AddEdge(circuit.Edge{Name: "a", Rows: circuit.N(), Dim: circuit.Const(32), Format: f32})
	b := c.AddEdge(circuit.Edge{Name: "b", Rows: circuit.N(), Dim: circuit.Const(32), Format: f32})
	c.AddNode(circuit.Node{Name: "double", Inputs: []circuit.EdgeID{a}, Outputs: []circuit.EdgeID{b}})
	plan, err := circuit.PlanBuffersWith(context.Background(), c, circuit.Unfused(c, 0), nil, 3,
		&circuit.Options{Strategy: pack.FirstFit})
	if err == nil {
		err = plan.WriteText(os.Stdout)
	}
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// max_rows 3
	// arena_bytes 896
	// lower_bound_bytes 896
	// materialized_bytes 1024
	// groups 1
	// strategy first-fit
	// optimal true
	// slot 0 a offset 0 bytes 384 groups 0..0 row_stride 128
	// slot 1 b offset 512 bytes 384 groups 0..0 row_stride 128
}
