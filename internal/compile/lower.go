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
	ctx     context.Context
	opt     Options
	outputs []Output
	prog    *Program
	p       placer
	fillers map[filler]circuit.EdgeID
	slots   map[circuit.EdgeID]circuit.Slot
	bound   map[circuit.EdgeID]circuit.Binding
	weights map[*graph.Node]int
}

// filler names an input of a concatenation that is copied into its place.
type filler struct {
	step, input int
}

// circuit builds the circuit of the program, its fusion plan and its layout.
func (l *lowerer) circuit() {
	c, f, lay := &circuit.Circuit{}, &circuit.FusionPlan{}, &circuit.Layout{}
	l.prog.Circuit, l.prog.Fusion, l.prog.Layout = c, f, lay
	l.fillers = make(map[filler]circuit.EdgeID)
	for _, v := range l.p.list {
		switch {
		case v.storage == reference:
			continue
		case v.storage == leaf:
			if _, ok := v.Node().Op().(graph.Input); !ok {
				continue // a weight
			}
		}
		l.edge(v)
	}
	for i := range l.prog.Plan.Steps {
		l.node(i)
	}
	for _, v := range l.p.list {
		l.constrain(v)
	}
	for i, n := range c.Nodes {
		f.Groups = append(f.Groups, circuit.Group{Name: n.Name, Nodes: []circuit.NodeID{circuit.NodeID(i)}})
	}
	for e := range c.Edges {
		f.Stored = append(f.Stored, circuit.Stored{Edge: circuit.EdgeID(e)})
	}
}

// edge adds the edge of a value that has bytes.
func (l *lowerer) edge(v *val) {
	name := v.Value.String()
	if in, ok := v.Node().Op().(graph.Input); ok {
		name = "input " + in.Key
	}
	if v.result >= 0 {
		name = "output " + l.outputs[v.result].Name
	}
	rows, dim := l.extents(v)
	id := l.add(v.Value, name, rows, dim, v.Type().DType)
	v.edge = int(id)
	if v.result >= 0 {
		l.prog.Circuit.Outputs = append(l.prog.Circuit.Outputs, id)
		l.prog.Layout.External = append(l.prog.Layout.External, id)
	}
	if v.storage == leaf {
		l.prog.Layout.External = append(l.prog.Layout.External, id)
	}
}

func (l *lowerer) add(v graph.Value, name string, rows, dim circuit.Expr, t dtype.Type) circuit.EdgeID {
	l.prog.Edges = append(l.prog.Edges, v)
	return l.prog.Circuit.AddEdge(circuit.Edge{Name: name, Rows: rows, Dim: dim, Format: dtype.Plain(t)})
}

// extents returns the rows and the elements of a row of v, as expressions. Of
// what lies in a concatenation the rows are those of the outer axes of that;
// otherwise the rows are those of the run when the size is a multiple of them,
// and a single one when it is not.
func (l *lowerer) extents(v *val) (rows, dim circuit.Expr) {
	part := v
	for part.storage == joined {
		part = part.into
	}
	if part.storage == packed {
		r, d := l.partSize(part.into, part.input)
		return r, circuit.Const(int64(d))
	}
	sizes := make([]int, len(l.p.samples))
	most := 0
	for s := range l.p.samples {
		sizes[s] = l.p.typeAt(s, v.Value).Shape.Elems()
		most = max(most, sizes[s])
	}
	if p, err := fit(l.p.samples, sizes); err == nil && p.isMultiple() && l.prog.MaxRows > 1 {
		return circuit.N(), circuit.Const(int64(p.Slope))
	}
	return circuit.Const(1), circuit.Const(int64(most))
}

// partSize returns the rows and width of what input k fills of the
// concatenation c. The width is the same at any number of rows,
// or the input would not be packed.
func (l *lowerer) partSize(c *val, k int) (rows circuit.Expr, width int) {
	axis := l.p.concat(c.step).axis
	counts := make([]int, len(l.p.samples))
	in := l.prog.Plan.Steps[c.step].Inputs[k].Value
	for s := range l.p.samples {
		t := l.p.typeAt(s, in)
		counts[s], width = t.Shape[:axis].Elems(), t.Shape[axis:].Elems()
	}
	return l.rowExpr(counts), width
}

func (l *lowerer) rowExpr(counts []int) circuit.Expr {
	p, err := fit(l.p.samples, counts)
	if err == nil && p.isMultiple() && l.prog.MaxRows > 1 {
		if p.Slope == 1 {
			return circuit.N()
		}
		return circuit.Product(circuit.N(), circuit.Const(int64(p.Slope)))
	}
	return circuit.Const(int64(counts[len(counts)-1]))
}

// node adds the node of a step that computes.
func (l *lowerer) node(i int) {
	s := &l.prog.Plan.Steps[i]
	if s.Outputs[0].Kind.IsReference() {
		return
	}
	n := circuit.Node{Name: fmt.Sprintf("%d %v", i, s.Node), Op: s.Node.Op().Name()}
	for _, in := range s.Inputs {
		if in.Value.IsZero() {
			continue
		}
		if v := l.p.vals[in.Value].root(); v.edge >= 0 {
			n.Inputs = append(n.Inputs, circuit.EdgeID(v.edge))
		}
	}
	for o := range s.Outputs {
		n.Outputs = append(n.Outputs, circuit.EdgeID(l.p.vals[s.Node.Output(o)].edge))
	}
	if parts := l.parts(i); parts != nil {
		n.Outputs = append(n.Outputs, l.fill(i, parts)...)
	}
	l.prog.Circuit.AddNode(n)
}

// parts returns, if some input of the concatenation at step i is in place, for
// each input the value that is, or nil.
func (l *lowerer) parts(i int) []*val {
	c := l.p.concat(i)
	if c == nil || len(c.inside) == 0 {
		return nil
	}
	return c.parts
}

// fill adds edges for the inputs of a concatenation that are not in place, so
// that the pack over its output has no holes.
func (l *lowerer) fill(i int, parts []*val) []circuit.EdgeID {
	s := &l.prog.Plan.Steps[i]
	c := l.p.vals[s.Node.Output(0)]
	var edges []circuit.EdgeID
	for k, v := range parts {
		if v != nil {
			continue
		}
		rows, width := l.partSize(c, k)
		id := l.add(c.Value, fmt.Sprintf("%v part %d", c.Value, k), rows, circuit.Const(int64(width)), c.Type().DType)
		l.fillers[filler{i, k}] = id
		edges = append(edges, id)
	}
	return edges
}

// constrain adds what the layout says of a value.
func (l *lowerer) constrain(v *val) {
	lay := l.prog.Layout
	if v.storage == joined {
		lay.Aliases = append(lay.Aliases, circuit.Alias{Edge: circuit.EdgeID(v.into.edge), Of: circuit.EdgeID(v.edge)})
	}
	if v.step < 0 || v.edge < 0 {
		return
	}
	parts := l.parts(v.step)
	if parts == nil {
		return
	}
	members := make([]circuit.EdgeID, len(parts))
	for k, part := range parts {
		if part == nil {
			members[k] = l.fillers[filler{v.step, k}]
			continue
		}
		members[k] = circuit.EdgeID(part.edge)
	}
	// The step of a concatenation writes only the parts that are not in place: it
	// and its parts hold one value.
	over := circuit.EdgeID(v.edge)
	if l.p.concat(v.step).alone {
		lay.Packs = append(lay.Packs, circuit.Pack{Members: members, Over: &over, Same: true})
	} else {
		lay.RowPacks = append(lay.RowPacks, circuit.RowPack{Members: members, Over: &over, Same: true})
	}
}

// layOut has the circuit planned.
func (l *lowerer) layOut() error {
	b, err := circuit.PlanBuffersWith(l.ctx, l.prog.Circuit, l.prog.Fusion, l.prog.Layout, int64(l.prog.MaxRows),
		&circuit.Options{Strategy: l.opt.Strategy, Budget: l.opt.SearchBudget})
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
