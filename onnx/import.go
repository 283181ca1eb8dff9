package onnx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/bridge"
)

// ErrNeedsData is wrapped by the error about a node whose output shape depends
// on data that is known only when the model runs.
var ErrNeedsData = errors.New("the shape depends on the data of an input")

// inside reaches the graphs and the storage behind the types of package berth.
var inside = bridge.Berth[berth.Tensor, berth.Promise, berth.Program, berth.CompileOptions]()

// An importer turns a model into a graph, for inputs of known types.
type importer struct {
	model *Model
	ctx   context.Context
	// values holds what is known so far of the graph, by name.
	values map[string]graph.Value
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
}

// run converts the nodes of the model in order and returns its outputs.
func (imp *importer) run() ([]graph.Value, error) {
	b := imp.model.body
	for _, t := range b.initializers {
		if _, overridden := imp.values[t.Name]; overridden {
			continue
		}
		v, err := leafOf(t, imp.model.weights[t])
		if err != nil {
			return nil, fmt.Errorf("initializer %q: %w", t.Name, err)
		}
		imp.values[t.Name] = v
	}
	for i := range b.nodes {
		n := &b.nodes[i]
		if err := imp.ctx.Err(); err != nil {
			return nil, context.Cause(imp.ctx)
		}
		outs, err := imp.node(n)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", n, err)
		}
		for k, name := range n.node.Outputs {
			if name != "" {
				imp.values[name] = outs[k]
			}
		}
	}
	outs := make([]graph.Value, len(b.graph.Outputs))
	for i, out := range b.graph.Outputs {
		outs[i] = imp.values[out.Name]
	}
	return outs, nil
}

// node converts one node. What it computes from constants alone is folded.
func (imp *importer) node(n *node) ([]graph.Value, error) {
	c := &call{imp: imp, node: n, in: make([]graph.Value, len(n.node.Inputs))}
	for i, name := range n.node.Inputs {
		c.in[i] = imp.values[name] // nothing has the empty name
	}
	outs, err := c.convert()
	if err != nil {
		return nil, err
	}
	for _, name := range n.node.Outputs[min(len(outs), len(n.node.Outputs)):] {
		if name != "" {
			return nil, fmt.Errorf("has %d outputs, the operator %d", len(n.node.Outputs), len(outs))
		}
	}
	for i, v := range outs {
		if v.IsZero() {
			continue
		}
		if err := checkRank(v.Type().Shape); err != nil {
			return nil, fmt.Errorf("output %d: %w", i, err)
		}
		if outs[i], err = imp.fold(v); err != nil {
			return nil, err
		}
	}
	return outs, nil
}

// build converts the whole model for the given inputs, by name; bound and keep
// are those of the importer.
func (m *Model) build(ctx context.Context, inputs map[string]graph.Value, bound, keep bool) ([]graph.Value, error) {
	imp := &importer{
		model:  m,
		ctx:    ctx,
		values: make(map[string]graph.Value, len(inputs)),
		varies: make(map[*graph.Node]bool),
		peeked: make(map[graph.Value]graph.Value),
		bound:  bound,
		work:   foldWork,
		keep:   keep,
	}
	for name, v := range inputs {
		imp.values[name] = v
		// Inputs that a program is given now are constants of it.
		imp.varies[v.Node()] = bound || v.Node().Leaf() == nil
	}
	outs, err := imp.run()
	if err == nil {
		err = m.checkOutputs(inputs, outs)
	}
	return outs, err
}

// Run computes the outputs of the model for the given inputs, by name. Every
// input without a value in the file must be there, with the element type and
// the fixed extents that the model declares; one with a value may be replaced.
//
// The model is planned for these very inputs, so that even shapes that depend
// on data are known; inputs and outputs may share storage.
func (m *Model) Run(ctx context.Context, inputs map[string]*berth.Tensor) (map[string]*berth.Tensor, error) {
	return m.RunWith(ctx, berth.RunOptions{}, inputs)
}

// RunWith is [Model.Run] with options.
func (m *Model) RunWith(ctx context.Context, opt berth.RunOptions, inputs map[string]*berth.Tensor) (map[string]*berth.Tensor, error) {
	promises, err := m.Promises(ctx, inputs)
	if err != nil {
		return nil, err
	}
	results, err := berth.MaterializeWith(ctx, opt, promises...)
	if err != nil {
		return nil, fmt.Errorf("onnx: %s: %w", m.name, err)
	}
	outputs := make(map[string]*berth.Tensor, len(results))
	for i, out := range m.wire.Graph.Outputs {
		outputs[out.Name] = results[i]
	}
	return outputs, nil
}

// Promises returns the outputs of the model, in the order of [Model.Outputs],
// as promises over the given inputs. It may compute parts of the model on
// which shapes depend.
func (m *Model) Promises(ctx context.Context, inputs map[string]*berth.Tensor) ([]*berth.Promise, error) {
	if err := m.usable(ctx); err != nil {
		return nil, err
	}
	values, err := m.bind(inputs)
	if err != nil {
		return nil, fmt.Errorf("onnx: %s: %w", m.name, err)
	}
	outs, err := m.build(ctx, values, true, false)
	if err != nil {
		return nil, fmt.Errorf("onnx: %s: %w", m.name, err)
	}
	promises := make([]*berth.Promise, len(outs))
	for i, v := range outs {
		promises[i] = inside.Promise(v)
	}
	return promises, nil
}

// bind checks inputs against what the model declares.
func (m *Model) bind(inputs map[string]*berth.Tensor) (map[string]graph.Value, error) {
	var errs []error
	values := make(map[string]graph.Value, len(inputs))
	declared := make(map[string]ValueInfo)
	for _, in := range infos(m.wire.Graph.Inputs) {
		declared[in.Name] = in
	}
	for _, in := range m.Inputs() {
		if inputs[in.Name] == nil {
			errs = append(errs, fmt.Errorf("input %v is missing", in))
		}
	}
	for _, name := range sortedKeys(inputs) {
		t := inputs[name]
		in, ok := declared[name]
		if !ok {
			errs = append(errs, fmt.Errorf("the model has no input %q, but %s", name, cmp.Or(strings.Join(sortedKeys(declared), ", "), "none")))
			continue
		}
		if t == nil {
			if m.body.initial[name] != nil {
				errs = append(errs, fmt.Errorf("input %v is given a nil tensor", in))
			}
			continue
		}
		if err := in.accepts(t.DType(), t.Shape()); err != nil {
			errs = append(errs, err)
			continue
		}
		v, err := inside.Value(t.Promise())
		if err != nil {
			errs = append(errs, err)
			continue
		}
		values[name] = v
	}
	return values, errors.Join(errs...)
}

// accepts reports how a tensor does not fit the declaration of an input.
func (v ValueInfo) accepts(t dtype.Type, dims []int) error {
	if !v.fits(dims) || v.DType != t {
		return fmt.Errorf("input %v is given %v%v", v, t, dims)
	}
	return nil
}
