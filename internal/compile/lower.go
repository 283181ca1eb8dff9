package compile

import (
	"context"
	"fmt"

	"github.com/berth-go/berth/circuit"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
)

// lowerer makes a program of a plan, in the order of its methods.
type lowerer struct {
	names   []string // of the outputs
	prog    *Program
	p       *placer
	slots   map[circuit.EdgeID]circuit.Slot
	bound   map[circuit.EdgeID]circuit.Binding
	weights map[*graph.Node]int
}

// circuit builds the circuit of the program, its fusion plan and its layout.
func (l *lowerer) circuit() error {
	l.prog.Circuit, l.prog.Fusion, l.prog.Layout = &circuit.Circuit{Dims: l.dims()}, &circuit.FusionPlan{}, &circuit.Layout{}
	for _, v := range l.p.list {
		if weight := v.storage == leaf && !isInput(v); weight || v.storage == reference || v.extended() {
			continue
		}
		if err := l.edge(v); err != nil {
			return err
		}
	}
	for _, v := range l.p.list {
		switch {
		case v.extended():
			v.edge = v.into.edge
		case v.storage == joined:
			l.prog.Layout.Aliases = append(l.prog.Layout.Aliases, circuit.Alias{Edge: v.into.edge, Of: v.edge})
		}
	}
	for i := range l.prog.Plan.Steps {
		if err := l.node(i); err != nil {
			return err
		}
	}
	return nil
}

func isInput(v *val) bool {
	_, ok := v.Node().Op().(graph.Input)
	return ok
}

// extended reports whether v is an input that an output continues: what is there
// before a run stays there, so that no step has to wait for it.
func (v *val) extended() bool { return v.storage == leaf && v.into != nil }

// edge adds the edge of a value that has bytes.
func (l *lowerer) edge(v *val) error {
	rows, dim, err := l.extents(v)
	if err != nil {
		return fmt.Errorf("%v: its size %w", v.Node(), err)
	}
	v.edge = l.add(v.Value, l.name(v), rows, dim)
	if v.result >= 0 {
		l.prog.Circuit.Outputs = append(l.prog.Circuit.Outputs, v.edge)
	}
	if v.result >= 0 || v.storage == leaf {
		l.prog.Layout.External = append(l.prog.Layout.External, v.edge)
	}
	return nil
}

// name returns the name of the edge of v: of the port that it is, or else of the
// step that writes it.
func (l *lowerer) name(v *val) string {
	switch in, ok := v.Node().Op().(graph.Input); {
	case ok:
		return "input " + in.Key
	case v.result >= 0:
		return "output " + l.names[v.result]
	case v.Index() > 0:
		return fmt.Sprintf("t%d.%d", v.step, v.Index())
	}
	return fmt.Sprintf("t%d", v.step)
}

// add adds an edge for v, or for a part of it.
func (l *lowerer) add(v graph.Value, name string, rows, dim circuit.Expr) circuit.EdgeID {
	id := l.prog.Circuit.AddEdge(circuit.Edge{Name: name, Rows: rows, Dim: dim, Format: dtype.Plain(v.Type().DType)})
	l.prog.Fusion.Stored = append(l.prog.Fusion.Stored, circuit.Stored{Edge: id})
	l.prog.Edges = append(l.prog.Edges, v)
	return id
}

// extents returns the rows of v, and the elements of one. What lies in a
// concatenation has the rows of the part that it is. Otherwise a row is made of
// the last axes, as far as these do not vary.
func (l *lowerer) extents(v *val) (rows, dim circuit.Expr, err error) {
	part := v
	for part.storage == joined {
		part = part.into
	}
	if part.storage == inConcat {
		return l.partSize(part.into, part.input)
	}
	axis := 0 // of a row the first
	for s := range l.p.points {
		for a, d := range l.p.typeAt(s, v.Value).Shape {
			if d != v.Type().Shape[a] {
				axis = max(axis, a+1)
			}
		}
	}
	return l.rows(v.Value, axis)
}

// partSize returns the rows of what input k fills of the concatenation c, and
// the elements of one.
func (l *lowerer) partSize(c *val, k int) (rows, dim circuit.Expr, err error) {
	return l.rows(c.Node().Input(k), c.concat.axis)
}

// rows takes the axes of v before one for its rows, and the others, which do not
// vary, for the elements of a row.
func (l *lowerer) rows(v graph.Value, axis int) (rows, dim circuit.Expr, err error) {
	f, err := l.p.fit(func(s int) int { return l.p.typeAt(s, v).Shape[:axis].Elems() })
	return l.expr(f), circuit.Const(int64(v.Type().Shape[axis:].Elems())), err
}

// node adds the node of a step that computes.
func (l *lowerer) node(i int) error {
	s := &l.prog.Plan.Steps[i]
	if s.Outputs[0].Kind.IsReference() {
		return nil
	}
	n := circuit.Node{Name: fmt.Sprintf("%d %v", i, s.Node), Op: s.Node.Op().Name()}
	for _, in := range s.Inputs {
		if in.Value.IsZero() {
			continue
		}
		if v := l.p.vals[in.Value].root(); v.edge >= 0 && !v.extended() {
			n.Inputs = append(n.Inputs, v.edge)
		}
	}
	for o := range s.Outputs {
		n.Outputs = append(n.Outputs, l.p.vals[s.Node.Output(o)].edge)
	}
	if c := l.p.vals[s.Node.Output(0)]; c.packed() {
		copied, err := l.pack(c)
		if err != nil {
			return err
		}
		n.Outputs = append(n.Outputs, copied...)
	}
	id := l.prog.Circuit.AddNode(n)
	l.prog.Fusion.Groups = append(l.prog.Fusion.Groups, circuit.Group{Name: n.Name, Nodes: []circuit.NodeID{id}})
	return nil
}

// pack lays the concatenation c over its parts. Those that are not in place get
// edges, so that the pack has no holes, and are returned.
func (l *lowerer) pack(c *val) (copied []circuit.EdgeID, err error) {
	members := make([]circuit.EdgeID, len(c.concat.parts))
	for k, part := range c.concat.parts {
		if part != nil && !part.extended() {
			members[k] = part.edge
			continue
		}
		rows, dim, err := l.partSize(c, k)
		if err != nil {
			return nil, fmt.Errorf("%v: the size of input %d %w", c.Node(), k, err)
		}
		members[k] = l.add(c.Value, fmt.Sprintf("%s part %d", l.name(c), k), rows, dim)
		copied = append(copied, members[k])
	}
	// The step of a concatenation writes only the parts that are not in place: it
	// and its parts hold one value.
	lay, over := l.prog.Layout, c.edge
	if c.concat.alone {
		lay.Packs = append(lay.Packs, circuit.Pack{Members: members, Over: &over, Same: true})
	} else {
		lay.RowPacks = append(lay.RowPacks, circuit.RowPack{Members: members, Over: &over, Same: true})
	}
	return copied, nil
}

// layOut has the circuit planned.
func (l *lowerer) layOut(ctx context.Context, opt *circuit.Options) error {
	b, err := l.prog.Problem().PlanBuffers(ctx, opt)
	if err != nil {
		return err
	}
	l.prog.Buffers = b
	l.slots = make(map[circuit.EdgeID]circuit.Slot, len(b.Slots))
	for _, s := range b.Slots {
		l.slots[s.Edge] = s
	}
	l.bound = make(map[circuit.EdgeID]circuit.Binding, len(b.Bound))
	for _, s := range b.Bound {
		l.bound[s.Edge] = s
	}
	return nil
}
