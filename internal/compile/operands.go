package compile

import (
	"fmt"
	"slices"

	"github.com/berth-go/berth/circuit"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/extent"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/plan"
	"github.com/berth-go/berth/shape"
)

// steps writes down the kernels and their operands.
func (l *lowerer) steps() error {
	l.weights = make(map[*graph.Node]int)
	if err := l.ports(); err != nil {
		return err
	}
	for i := range l.prog.Plan.Steps {
		s := &l.prog.Plan.Steps[i]
		if s.Outputs[0].Kind.IsReference() {
			continue
		}
		if err := l.step(i, s); err != nil {
			return fmt.Errorf("step %d, %v: %w", i, s.Node, err)
		}
	}
	return nil
}

func (l *lowerer) step(i int, s *plan.Step) error {
	if c := l.p.vals[s.Node.Output(0)]; c.packed() {
		return l.copies(i, s, c)
	}
	step := Step{Index: i, Op: s.Node.Op(), Label: s.Node.Label(), Moves: op.Moves(s.Node.Op())}
	if !step.Moves { // where elements go follows from the operands
		step.fields = l.p.opOf(s.Node).fields
	}
	if _, ok := step.Op.(op.Tuner); !ok && len(step.fields) > 0 {
		return fmt.Errorf("its attributes depend on the dimensions, which its kernel cannot follow: %s", l.p.varies(&step))
	}
	for _, in := range s.Inputs {
		o, err := l.operand(in.Value)
		if err != nil {
			return err
		}
		step.In = append(step.In, o)
	}
	for o := range s.Outputs {
		out, err := l.operand(s.Node.Output(o))
		if err != nil {
			return err
		}
		step.Out = append(step.Out, out)
	}
	l.prog.Steps = append(l.prog.Steps, step)
	return nil
}

// copies writes down the copies of those inputs of a concatenation that are
// not in place.
func (l *lowerer) copies(i int, s *plan.Step, c *val) error {
	for k, part := range c.concat.parts {
		if part != nil {
			continue
		}
		in := s.Inputs[k].Value
		from, err := l.operand(in)
		if err != nil {
			return err
		}
		to, err := l.within(c, in.Type(), l.p.partOf(c, k))
		if err != nil {
			return err
		}
		l.prog.Steps = append(l.prog.Steps, Step{
			Index: i, Op: graph.Contiguous{}, Label: s.Node.Label(), In: []Operand{from}, Out: []Operand{to}, Moves: true,
		})
	}
	return nil
}

// operand says where v lies, if it is not absent.
func (l *lowerer) operand(v graph.Value) (Operand, error) {
	if v.IsZero() {
		return Operand{}, nil
	}
	return l.within(l.p.vals[v], v.Type(), l.p.vals[v].layouts)
}

// within says where something of a type lies that has the given layout at each point
// within the bytes that v is in.
func (l *lowerer) within(v *val, t graph.Type, layouts []shape.Layout) (Operand, error) {
	o := Operand{Type: t}
	root := v.root()
	n := root.Node()
	if root.storage == leaf && n.Stored() != nil {
		o.Space = Weight
		index, ok := l.weights[n]
		if !ok {
			index = len(l.prog.Weights)
			l.weights[n] = index
			l.prog.Weights = append(l.prog.Weights, n)
		}
		o.Index = index
	} else if slot, ok := l.slots[root.edge]; ok {
		o.Space, o.Base = Arena, slot.Offset
	} else {
		b := l.bound[root.edge]
		o.Base = b.Offset
		o.Space, o.Index = l.port(b.External)
	}
	return o, l.p.lay(&o, layouts)
}

// port returns which buffer of the caller an external edge is.
func (l *lowerer) port(e circuit.EdgeID) (Space, int) {
	v := l.p.vals[l.prog.Edges[e]]
	if v.result >= 0 {
		return OutPort, v.result
	}
	key := v.Node().Op().(graph.Input).Key
	for i, in := range l.prog.Inputs {
		if in.Name == key {
			return InPort, i
		}
	}
	panic("compile: no port for input " + key)
}

// ports lists the inputs, those that the build stated first and the others in the
// order in which the plan meets them, and the outputs.
func (l *lowerer) ports() error {
	inputs := slices.Clone(l.p.inputs)
	for _, v := range l.p.list {
		if isInput(v) {
			inputs = append(inputs, v.Value)
		}
	}
	seen := make(map[string]*graph.Node)
	for _, v := range inputs {
		if known := l.p.vals[v]; known != nil && known.extended() {
			continue // the caller binds the output
		}
		key := v.Node().Op().(graph.Input).Key
		switch seen[key] {
		case v.Node():
			continue
		case nil:
		default:
			return fmt.Errorf("two inputs are named %q", key)
		}
		seen[key] = v.Node()
		port, err := l.newPort(key, v)
		if err != nil {
			return err
		}
		l.prog.Inputs = append(l.prog.Inputs, port)
	}
	for i, r := range l.prog.Plan.Results {
		port, err := l.newPort(l.names[i], r.Operand.Value)
		if err != nil {
			return err
		}
		if c := l.p.vals[r.Operand.Value].concat; c != nil && c.extends {
			port.Extends = c.parts[0].Node().Label()
			port.Elems = l.p.space.Const(port.Type.Shape.Elems())
		}
		l.prog.Outputs = append(l.prog.Outputs, port)
	}
	return nil
}

func (l *lowerer) newPort(name string, v graph.Value) (Port, error) {
	port := Port{Name: name, Type: v.Type()}
	var err error
	if port.Elems, err = l.p.fit(func(s int) int { return l.p.typeAt(s, v).Shape.Elems() }); err != nil {
		return port, fmt.Errorf("%q: its size %w", name, err)
	}
	port.Dims = make([]extent.Func, len(v.Type().Shape))
	for a := range port.Dims {
		if port.Dims[a], err = l.p.fit(func(s int) int { return l.p.typeAt(s, v).Shape[a] }); err != nil {
			return port, fmt.Errorf("%q: axis %d %w", name, a, err)
		}
	}
	return port, nil
}

// lay sets the layout of o from that at each point.
func (z *sizes) lay(o *Operand, layouts []shape.Layout) error {
	values, counts := make([]int, len(layouts)), make([]bool, len(layouts))
	// The stride of an axis of one element says nothing, and nor does the offset
	// of no elements; where that spoils the formula, the other points decide.
	fit := func(of func(l shape.Layout) (n int, counts bool)) (extent.Func, error) {
		for s, l := range layouts {
			values[s], counts[s] = of(l)
		}
		if f, err := z.space.Fit(values, nil); err == nil {
			return f, nil
		}
		return z.space.Fit(values, counts)
	}
	rank := len(layouts[0].Shape)
	o.Shape, o.Strides = make([]extent.Func, rank), make([]extent.Func, rank)
	var err error
	for a := range rank {
		if o.Shape[a], err = fit(func(l shape.Layout) (int, bool) { return l.Shape[a], true }); err != nil {
			return fmt.Errorf("extent %d %w", a, err)
		}
	}
	for a := rank - 1; a >= 0; a-- {
		o.Strides[a], err = fit(func(l shape.Layout) (int, bool) { return l.Strides[a], l.Shape[a] > 1 && l.Shape.Elems() > 0 })
		if err != nil {
			return fmt.Errorf("stride %d %w", a, err)
		}
	}
	if o.Offset, err = fit(func(l shape.Layout) (int, bool) { return l.Offset, l.Shape.Elems() > 0 }); err != nil {
		return fmt.Errorf("offset %w", err)
	}
	return nil
}
