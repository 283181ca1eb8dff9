package circuit

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth/dtype"
)

// twoSections is a circuit of two sections, and a plan of the first.
func twoSections() (*Circuit, *FusionPlan) {
	f32 := dtype.Plain(dtype.Float32)
	c := &Circuit{Dims: []Dim{{"k", 2, 2}}, Sections: []string{"first", "second"}}
	for _, name := range []string{"in", "a", "b", "c", "across", "out", "unused"} {
		c.AddEdge(Edge{name, N(), Const(8), f32})
	}
	c.AddNode(Node{Name: "n0", Inputs: []EdgeID{0}, Outputs: []EdgeID{1}})
	c.AddNode(Node{Name: "n1", Inputs: []EdgeID{1}, Outputs: []EdgeID{2, 4}})
	c.AddNode(Node{Name: "n2", Inputs: []EdgeID{2, 1}, Outputs: []EdgeID{3}})
	c.AddNode(Node{Name: "n3", Section: 1, Inputs: []EdgeID{4, 0}, Outputs: []EdgeID{5}})
	c.Outputs = []EdgeID{5}
	return c, &FusionPlan{
		Groups: []Group{{"g0", []NodeID{0}}, {"g1", []NodeID{1}}, {"", []NodeID{2}}},
		Stored: []Stored{{Edge: 0}, {Edge: 1}, {Edge: 2}, {Edge: 3}, {Edge: 4}},
	}
}

func TestInvalidPlans(t *testing.T) {
	bad := dtype.Format{Type: 99}
	for _, test := range []struct {
		name  string
		spoil func(c *Circuit, p *FusionPlan)
		kind  Kind
		says  string
	}{
		{"edge without a name", func(c *Circuit, p *FusionPlan) { c.Edges[1].Name = "" }, ErrName, "edge number 1"},
		{"two edges of one name", func(c *Circuit, p *FusionPlan) { c.Edges[2].Name = "a" }, ErrName, `edge number 2, "a"`},
		{"two nodes of one name", func(c *Circuit, p *FusionPlan) { c.Nodes[2].Name = "n0" }, ErrName, `node number 2, "n0"`},
		{"two sections of one name", func(c *Circuit, p *FusionPlan) { c.Sections[1] = "first" }, ErrName, "section number 1"},
		{"name that is not text", func(c *Circuit, p *FusionPlan) { c.Nodes[0].Name = "\xff" }, ErrName, "UTF-8"},
		{"op that is not text", func(c *Circuit, p *FusionPlan) { c.Nodes[0].Op = "\xff" }, ErrName, "UTF-8"},
		{"group that is not text", func(c *Circuit, p *FusionPlan) { p.Groups[0].Name = "\xff" }, ErrName, "group 0"},
		{"circuit that is not text", func(c *Circuit, p *FusionPlan) { c.Name = "\xff" }, ErrName, "circuit"},
		{"dimension n", func(c *Circuit, p *FusionPlan) { c.Dims[0].Name = "n" }, ErrName, `"n"`},
		{"dimension with a space", func(c *Circuit, p *FusionPlan) { c.Dims[0].Name = "a b" }, ErrName, `"a b"`},
		{"two dimensions of one name", func(c *Circuit, p *FusionPlan) { c.Dims = append(c.Dims, c.Dims[0]) }, ErrName, "dimension number 1"},
		{"negative dimension", func(c *Circuit, p *FusionPlan) { c.Dims[0].Min = -1 }, ErrNegative, "k is -1"},
		{"dimension without a value", func(c *Circuit, p *FusionPlan) { c.Dims[0].Min = 3 }, ErrBounds, "k is 3 at least and 2 at most"},
		{"size that shrinks as a dimension grows", func(c *Circuit, p *FusionPlan) {
			c.Dims[0].Max = 3
			c.Edges[0].Rows = CeilDiv(N(), Var("k"))
		}, ErrExpr, "as k grows"},
		{"shrinking size", func(c *Circuit, p *FusionPlan) { c.Edges[0].Rows = CeilDiv(Const(8), N()) }, ErrExpr, `"in"`},
		{"no such format", func(c *Circuit, p *FusionPlan) { c.Edges[0].Format = bad }, ErrNoSize, `"in"`},
		{"reads no such edge", func(c *Circuit, p *FusionPlan) { c.Nodes[0].Inputs[0] = 7 }, ErrRange, "edge number 7 of 7"},
		{"writes no such edge", func(c *Circuit, p *FusionPlan) { c.Nodes[0].Outputs[0] = -1 }, ErrRange, "edge number -1"},
		{"declares no such edge", func(c *Circuit, p *FusionPlan) { c.Outputs[0] = 99 }, ErrRange, "99"},
		{"declares twice", func(c *Circuit, p *FusionPlan) { c.Outputs = []EdgeID{5, 5} }, ErrName, `"out"`},
		{"no such section", func(c *Circuit, p *FusionPlan) { c.Nodes[0].Section = 2 }, ErrRange, "section 2 of 2"},
		{"written twice", func(c *Circuit, p *FusionPlan) { c.Nodes[2].Outputs = []EdgeID{1} }, ErrWrittenTwice, `"n0"`},
		{"cycle", func(c *Circuit, p *FusionPlan) { c.Nodes[0].Inputs = []EdgeID{3} }, ErrCycle, "waits for its own output"},
		{"node that reads what it writes", func(c *Circuit, p *FusionPlan) { c.Nodes[3].Inputs = []EdgeID{5} }, ErrCycle, `"n3"`},

		{"plan of no such section", func(c *Circuit, p *FusionPlan) { p.Section = -1 }, ErrRange, "section -1"},
		{"no such node", func(c *Circuit, p *FusionPlan) { p.Groups[1].Nodes[0] = 4 }, ErrRange, `group 1 "g1"`},
		{"node of another section", func(c *Circuit, p *FusionPlan) { p.Groups[2].Nodes[0] = 3 }, ErrSection, `"n3"`},
		{"node missing", func(c *Circuit, p *FusionPlan) { p.Groups = p.Groups[:2] }, ErrNodeMissing, `"n2"`},
		{"node twice", func(c *Circuit, p *FusionPlan) { p.Groups[2].Nodes = []NodeID{2, 0} }, ErrNodeTwice, `"n0", group 2`},
		{"wrong order", func(c *Circuit, p *FusionPlan) { slices.Reverse(p.Groups) }, ErrOrder, `"b", node "n2", group 0: it is written in group 1`},
		{"wrong order in a group", func(c *Circuit, p *FusionPlan) {
			p.Groups = []Group{{"g", []NodeID{0, 2, 1}}}
		}, ErrOrder, `"b"`},
		{"fused edge read later", func(c *Circuit, p *FusionPlan) { p.Stored = slices.Delete(p.Stored, 1, 2) }, ErrFused, `"a", node "n1"`},
		{"fused input", func(c *Circuit, p *FusionPlan) { p.Stored = p.Stored[1:] }, ErrFused, `"in", node "n0"`},
		{"fused edge of another section", func(c *Circuit, p *FusionPlan) { p.Stored = p.Stored[:4] }, ErrFused, `"across", node "n3"`},
		{"fused output", func(c *Circuit, p *FusionPlan) {
			c.Outputs = []EdgeID{3}
			p.Stored = slices.Delete(p.Stored, 3, 4)
		}, ErrFused, "declared output"},
		{"stored twice", func(c *Circuit, p *FusionPlan) { p.Stored[1].Edge = 0 }, ErrStoredTwice, `"in"`},
		{"no such edge stored", func(c *Circuit, p *FusionPlan) { p.Stored[1].Edge = 70 }, ErrRange, "70"},
		{"stored in no such format", func(c *Circuit, p *FusionPlan) { p.Stored[1].Format = bad }, ErrNoSize, `"a"`},
		{"edge of another section", func(c *Circuit, p *FusionPlan) { p.Stored = append(p.Stored, Stored{Edge: 5}) }, ErrSection, `"out"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, p := twoSections()
			if err := p.Validate(c); err != nil {
				t.Fatal(err)
			}
			test.spoil(c, p)
			_, err := LiveRanges(c, p)
			var pe *PlanError
			if !errors.As(err, &pe) || pe.Kind != test.kind || !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want %q with %s", err, test.kind, test.says)
			}
			if _, err := PlanBuffers(context.Background(), c, p, 8); !errors.Is(err, test.kind) {
				t.Errorf("PlanBuffers: %v", err)
			}
		})
	}
}

func TestLiveRanges(t *testing.T) {
	c, p := twoSections()
	ranges, err := LiveRanges(c, p)
	if err != nil {
		t.Fatal(err)
	}
	want := []LiveRange{
		{0, 0, 2}, // an input
		{1, 0, 2},
		{2, 1, 2},
		{3, 2, 2}, // nobody reads it
		{4, 0, 2}, // another section reads it
	}
	if !slices.Equal(ranges, want) {
		t.Errorf("got %v, want %v", ranges, want)
	}

	c.Outputs = append(c.Outputs, 2) // now whole
	ranges, _ = LiveRanges(c, p)
	if want[2] = (LiveRange{2, 0, 2}); !slices.Equal(ranges, want) {
		t.Errorf("got %v, want %v", ranges, want)
	}

	second := Unfused(c, 1)
	ranges, err = LiveRanges(c, second)
	if err != nil {
		t.Fatal(err)
	}
	if want := []LiveRange{{0, 0, 0}, {4, 0, 0}, {5, 0, 0}}; !slices.Equal(ranges, want) {
		t.Errorf("the second section: got %v, want %v", ranges, want)
	}

	// An input that only the outside reads, in a plan without groups.
	empty := &Circuit{Edges: c.Edges[:1], Outputs: []EdgeID{0}}
	ranges, err = LiveRanges(empty, &FusionPlan{Stored: []Stored{{Edge: 0}}})
	if err != nil || !slices.Equal(ranges, []LiveRange{{0, 0, 0}}) {
		t.Errorf("no groups: %v, error %v", ranges, err)
	}
}

// Every way in which an edge can have no size has a name, and fused edges need
// none.
func TestSizes(t *testing.T) {
	f32 := dtype.Plain(dtype.Float32)
	int4 := dtype.Grouped(dtype.CodeInt4, 32, dtype.Float16)
	big := Const(math.MaxInt64)
	for _, test := range []struct {
		name   string
		edge   Edge
		stored dtype.Format
		kind   Kind
		bytes  int64
	}{
		{name: "float32", edge: Edge{Rows: N(), Dim: Const(3), Format: f32}, bytes: 5 * 12},
		{name: "named dimension", edge: Edge{Rows: Product(N(), Var("k")), Dim: Const(3), Format: f32}, bytes: 10 * 12},
		{name: "rows rounded up", edge: Edge{Rows: CeilDiv(N(), Const(4)), Dim: Var("k"), Format: f32}, bytes: 2 * 8},
		{name: "grouped", edge: Edge{Rows: N(), Dim: Const(64), Format: int4}, bytes: 5 * (32 + 4)},
		{name: "stored in another format", edge: Edge{Rows: N(), Dim: Const(64), Format: f32}, stored: int4, bytes: 5 * 36},
		{name: "no rows", edge: Edge{Rows: Const(0), Dim: Const(64), Format: f32}},
		{name: "no columns", edge: Edge{Rows: N(), Dim: Const(0), Format: f32}},

		{name: "rows not given", edge: Edge{Dim: Const(3), Format: f32}, kind: ErrNoSize},
		{name: "dim not given", edge: Edge{Rows: N(), Format: f32}, kind: ErrNoSize},
		{name: "format not given", edge: Edge{Rows: N(), Dim: Const(3)}, kind: ErrNoSize},
		{name: "unknown dimension", edge: Edge{Rows: Var("m"), Dim: Const(3), Format: f32}, kind: ErrDimension},
		{name: "too few rows", edge: Edge{Rows: mustParse("n-6"), Dim: Const(3), Format: f32}, kind: ErrNegative},
		{name: "division by zero", edge: Edge{Rows: mustParse("ceil(n/0)"), Dim: Const(3), Format: f32}, kind: ErrZero},
		{name: "rows overflow", edge: Edge{Rows: Product(N(), big), Dim: Const(1), Format: f32}, kind: ErrOverflow},
		{name: "row overflows", edge: Edge{Rows: Const(0), Dim: big, Format: f32}, kind: ErrOverflow},
		{name: "bytes overflow", edge: Edge{Rows: Const(1 << 32), Dim: Const(1 << 30), Format: f32}, kind: ErrOverflow},
		{name: "not a multiple of the group", edge: Edge{Rows: N(), Dim: Const(48), Format: int4}, kind: ErrGroup},
		{name: "not a multiple of the group stored in", edge: Edge{Rows: N(), Dim: Const(3), Format: f32}, stored: int4, kind: ErrGroup},
		{name: "arena overflows", edge: Edge{Rows: Const(1 << 31), Dim: Const(1 << 30), Format: f32}, kind: ErrOverflow},
		{name: "alignment overflows", edge: Edge{Rows: Const(1), Dim: big, Format: dtype.Plain(dtype.Bool)}, kind: ErrOverflow},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := &Circuit{Dims: []Dim{{"k", 2, 2}}}
			test.edge.Name = "edge"
			e := c.AddEdge(test.edge)
			fused := c.AddEdge(Edge{Name: "fused"})
			c.AddNode(Node{Name: "a", Outputs: []EdgeID{e, fused}})
			c.AddNode(Node{Name: "b", Inputs: []EdgeID{e, fused}})
			p := &FusionPlan{Groups: []Group{{"", []NodeID{0, 1}}}, Stored: []Stored{{e, test.stored}}}
			plan, err := PlanBuffers(context.Background(), c, p, 5)
			if test.kind == "" {
				if err != nil || plan.Slots[0].Bytes != test.bytes {
					t.Fatalf("got %v, error %v; want %d bytes", plan, err, test.bytes)
				}
				if err := Check(c, p, nil, plan); err != nil {
					t.Error(err)
				}
				return
			}
			var pe *PlanError
			if !errors.As(err, &pe) || pe.Kind != test.kind || pe.Edge != "edge" {
				t.Errorf("got %v, want %q", err, test.kind)
			}
			var group *dtype.GroupError
			if test.kind == ErrGroup && !errors.As(err, &group) {
				t.Errorf("the cause is lost: %v", err)
			}
		})
	}
	c, p := twoSections()
	for _, rows := range []int64{0, -1, math.MinInt64} {
		if _, err := PlanBuffers(context.Background(), c, p, rows); !errors.Is(err, ErrNegative) {
			t.Errorf("%d rows: %v", rows, err)
		}
	}
}

func TestLayoutOverflows(t *testing.T) {
	c := &Circuit{}
	for _, name := range []string{"a", "b", "c"} {
		c.AddEdge(Edge{name, Const(2), Const(1 << 60), dtype.Plain(dtype.Uint8)})
		c.AddNode(Node{Name: name, Outputs: []EdgeID{EdgeID(len(c.Nodes))}})
	}
	c.AddEdge(Edge{"wide", Const(1), Const(math.MaxInt64), dtype.Plain(dtype.Uint8)})
	c.AddEdge(Edge{"wide too", Const(1), Const(math.MaxInt64), dtype.Plain(dtype.Uint8)})
	c.AddNode(Node{Name: "wide", Outputs: []EdgeID{3, 4}})
	for _, name := range []string{"d", "e"} {
		c.AddNode(Node{Name: name, Outputs: []EdgeID{c.AddEdge(Edge{name, Const(2), Const(1 << 60), dtype.Plain(dtype.Uint8)})}})
	}
	p := Unfused(c, 0)
	for name, l := range map[string]*Layout{
		"pack":              {Packs: []Pack{{Members: []EdgeID{0, 1, 2}}}},
		"bytes of a pack":   {Packs: []Pack{{Members: []EdgeID{3, 4}}}},
		"row pack":          {RowPacks: []RowPack{{Members: []EdgeID{0, 1, 2}}}},
		"all of a row pack": {RowPacks: []RowPack{{Members: []EdgeID{0, 1, 2, 5, 6}}}},
		"row of a row pack": {RowPacks: []RowPack{{Members: []EdgeID{3, 4}}}},
		"no constraint":     {},
	} {
		if _, err := PlanBuffersWith(context.Background(), c, p, l, 1, nil); !errors.Is(err, ErrOverflow) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, l := range []*Layout{
		{External: []EdgeID{9}}, {Aliases: []Alias{{Edge: 0, Of: -1}}}, {Packs: []Pack{{Members: []EdgeID{9}}}},
		{RowPacks: []RowPack{{Members: []EdgeID{0}, Over: new(EdgeID(-2))}}},
	} {
		if _, err := PlanBuffersWith(context.Background(), c, p, l, 1, nil); !errors.Is(err, ErrRange) {
			t.Errorf("a layout of no such edge: %v", err)
		}
	}
}

func mustParse(text string) Expr {
	e, err := ParseExpr(text)
	if err != nil {
		panic(err)
	}
	return e
}
