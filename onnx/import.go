package onnx

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/bridge"
)

// ErrNeedsData is wrapped by the error about a node whose output shape depends
// on data that is known only when the model runs.
var ErrNeedsData = errors.New("the shape depends on the data of an input")

// ErrHost is wrapped by the error about what no single program can hold, since it runs
// on the host between segments: loops, sequences, strings, and operators that look at
// data to decide how many elements they return. [Model.Run] and a [Session] run it.
var ErrHost = errors.New("runs on the host, between compiled segments")

// inside reaches the graphs and the storage behind the types of package berth.
var inside = bridge.Berth[berth.Tensor, berth.Promise, berth.Program, berth.CompileOptions]()

// A needsData is the error about a value on whose elements a shape depends.
type needsData struct{ value graph.Value }

func (e needsData) Error() string { return ErrNeedsData.Error() }
func (e needsData) Unwrap() error { return ErrNeedsData }

// An importer turns a model, or as much of one as can be, into a graph, for inputs of
// known types.
type importer struct {
	model  *Model
	ctx    context.Context
	spaces spaces
	queue  []item // what is to be converted, the next one last
	// cut takes what cannot be converted now; nil when all must be.
	cut *cutter
	// varies holds, for each node looked at, whether its result depends on an
	// input of the model. What does not is computed at once when it is small.
	varies map[*graph.Node]bool
	// peeked holds the values of runtime data that a shape depended on.
	peeked map[graph.Value]graph.Value
	// bound says that inputs are constants of this one run, so that their
	// data may be looked at.
	bound bool
	// work is what may still be spent on constants; see foldWork.
	work int64
	// keep says that what depends on constants alone stays in the graph: its
	// shape may follow a dimension of the program.
	keep bool
	held int // see hold
}

func newImporter(ctx context.Context, m *Model) *importer {
	return &importer{
		model:  m,
		ctx:    ctx,
		varies: make(map[*graph.Node]bool),
		peeked: make(map[graph.Value]graph.Value),
		work:   foldWork,
	}
}

// An item is one node to be converted in a space; or, without a node, values of the
// space to be made of those of spaces within it.
type item struct {
	space int
	node  *node
	joins []join
}

// A join makes a value of those of other spaces: of the only part, or as a sequence.
type join struct {
	name     string
	parts    []part
	sequence bool
}

// A part is a name in a space.
type part struct {
	space int
	name  string
}

// mostHeld bounds the nodes and values of the bodies that are entered, and the items of
// the sequences that are made, all together. A map over a sequence within a map over a
// sequence would otherwise ask for any number of nodes.
const mostHeld = 1 << 18

// hold counts n nodes, values or items.
func (imp *importer) hold(n int) error {
	if imp.held += n; imp.held > mostHeld {
		return fmt.Errorf("bodies and sequences hold more than %d nodes, values and items in all", mostHeld)
	}
	return nil
}

// enter opens a space for a graph of the model, with its initializers.
func (imp *importer) enter(b *body, outer int) (int, error) {
	if err := imp.hold(1 + len(b.nodes) + len(b.names)); err != nil {
		return 0, err
	}
	s := imp.spaces.enter(outer)
	if err := b.constants(imp.model, imp.spaces[s].values); err != nil {
		return 0, err
	}
	return s, nil
}

// constants adds the initializers of b to values, except for those that are there.
func (b *body) constants(m *Model, values map[string]symbol) error {
	for _, t := range b.initializers {
		if _, overridden := values[t.Name]; overridden {
			continue
		}
		v, err := m.constant(t)
		if err != nil {
			return fmt.Errorf("initializer %q: %w", t.Name, err)
		}
		values[t.Name] = v
	}
	return nil
}

// push puts the nodes of b at the front of the queue.
func (imp *importer) push(b *body, space int) {
	for i := range slices.Backward(b.nodes) {
		imp.queue = append(imp.queue, item{space: space, node: &b.nodes[i]})
	}
}

// replace has the nodes of b converted in place of the node, in a space of theirs. The
// outputs of the node are those of b.
func (c *call) replace(inner int, b *body) {
	var joins []join
	for i, name := range c.node.node.Outputs {
		if name != "" {
			joins = append(joins, join{name: name, parts: []part{{inner, b.graph.Outputs[i].Name}}})
		}
	}
	c.imp.queue = append(c.imp.queue, item{space: c.space, joins: joins})
	c.imp.push(b, inner)
	c.entered = true
}

// inline converts the nodes of b now, for the given inputs, and returns the outputs, all
// of them tensors. Nothing in b may have to wait for data.
func (c *call) inline(b *body, in ...graph.Value) []graph.Value {
	imp := c.imp
	captured(b.graph, func(name string) {
		if k := imp.spaces.find(c.space, name).kind; k == late || k == slotted {
			check(errWaits)
		}
	})
	inner := must(imp.enter(b, c.space))
	for i, v := range in {
		imp.spaces[inner].values[b.inputs[i].Name] = tensorSymbol(v)
	}
	queue := imp.queue
	imp.queue = nil
	imp.push(b, inner)
	err := imp.run()
	imp.queue = queue
	check(err)
	outs := make([]graph.Value, len(b.graph.Outputs))
	for i, o := range b.graph.Outputs {
		v := imp.spaces.find(inner, o.Name)
		if v.kind != tensor || v.text {
			c.failf("%v: output %q is no tensor of numbers, or depends on data", b, o.Name)
		}
		outs[i] = v.tensor
	}
	return outs
}

// run converts what is in the queue, in order.
func (imp *importer) run() error {
	for len(imp.queue) > 0 {
		it := imp.queue[len(imp.queue)-1]
		imp.queue = imp.queue[:len(imp.queue)-1]
		if err := imp.ctx.Err(); err != nil {
			return context.Cause(imp.ctx)
		}
		if it.node == nil {
			imp.join(it)
		} else if err := imp.node(it); err != nil {
			return fmt.Errorf("%s: %w", it.node.place(), err)
		}
	}
	return nil
}

// join makes values of a space of others.
func (imp *importer) join(it item) {
	made := make([]symbol, len(it.joins))
	for i, j := range it.joins {
		items := make([]symbol, len(j.parts))
		for k, p := range j.parts {
			if items[k] = imp.spaces.find(p.space, p.name); items[k].kind == late {
				imp.cut.wait(imp, it)
				return
			}
		}
		if j.sequence {
			made[i] = symbol{kind: sequence, items: items}
		} else {
			made[i] = items[0]
		}
	}
	for i, j := range it.joins {
		imp.spaces[it.space].values[j.name] = made[i]
	}
}

// node converts one node. What it computes from constants alone is folded.
func (imp *importer) node(it item) error {
	n := it.node
	c := &call{
		imp: imp, node: n, space: it.space,
		in: make([]graph.Value, len(n.node.Inputs)), symbols: make([]symbol, len(n.node.Inputs)),
	}
	for i, name := range n.node.Inputs {
		c.symbols[i] = imp.spaces.find(it.space, name) // nothing has the empty name
		if c.symbols[i].kind == late {
			imp.cut.wait(imp, it)
			return nil
		}
		c.in[i] = c.symbols[i].tensor
	}
	outs, err := c.convert()
	var data needsData
	switch {
	case imp.cut != nil && errors.As(err, &data):
		imp.cut.demand(imp, data.value, c.in)
		imp.cut.wait(imp, it)
		return nil
	case imp.cut != nil && errors.Is(err, errWaits):
		imp.cut.wait(imp, it)
		return nil
	case err != nil || c.entered:
		return err
	}
	for _, name := range n.node.Outputs[min(len(outs), len(n.node.Outputs)):] {
		if name != "" {
			return fmt.Errorf("has %d outputs, the operator %d", len(n.node.Outputs), len(outs))
		}
	}
	for i, v := range outs {
		if v.kind == tensor {
			if err := checkRank(v.tensor.Type().Shape); err != nil {
				return fmt.Errorf("output %d: %w", i, err)
			}
			if v.tensor, err = imp.fold(v.tensor); err != nil {
				return err
			}
		}
		if i < len(n.node.Outputs) && n.node.Outputs[i] != "" {
			imp.spaces[it.space].values[n.node.Outputs[i]] = v
		}
	}
	return nil
}

// build converts the whole model for the given inputs, by name; bound and keep
// are those of the importer.
func (m *Model) build(ctx context.Context, inputs map[string]graph.Value, bound, keep bool) ([]graph.Value, error) {
	imp := newImporter(ctx, m)
	imp.bound, imp.keep = bound, keep
	imp.spaces.enter(-1)
	for name, v := range inputs {
		imp.spaces[0].values[name] = tensorSymbol(v)
		// Inputs that a program is given now are constants of it.
		imp.varies[v.Node()] = bound || v.Node().Stored() == nil
	}
	if err := m.body.constants(m, imp.spaces[0].values); err != nil {
		return nil, err
	}
	imp.push(m.body, 0)
	if err := imp.run(); err != nil {
		return nil, err
	}
	outs := make([]graph.Value, len(m.body.graph.Outputs))
	for i, out := range m.body.graph.Outputs {
		v := imp.spaces.find(0, out.Name)
		switch {
		case v.kind == noValue:
			return nil, fmt.Errorf("output %v is absent", info(out))
		case v.kind != tensor || v.text:
			return nil, fmt.Errorf("output %q is no tensor of numbers: %w", out.Name, ErrHost)
		}
		outs[i] = v.tensor
	}
	return outs, m.checkOutputs(inputs, outs)
}
