package onnx

import (
	"fmt"
	"math"
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
)

// controlOps are the operators that hold graphs.
var controlOps = []row{
	{"", "If", 1, 1, 1, convertIf},
	{"", "Loop", 1, 0, many, hosted(loop)},
	{"", "Scan", 8, 0, many, hosted(scan8)},
	{"", "Scan", 9, 1, many, hosted(scan)},
	{"", "SequenceMap", 17, 1, many, convertSequenceMap},
}

// graphOrNil returns the graph of an attribute, nil if it is absent.
func (c *call) graphOrNil(name string) *body {
	c.asked = append(c.asked, name)
	return c.node.bodies[name]
}

// graph returns the graph of an attribute.
func (c *call) graph(name string) *body {
	b := c.graphOrNil(name)
	if b == nil {
		c.failf("attribute %q, a graph, is missing", name)
	}
	return b
}

// convertIf has the nodes of the branch that is taken converted in place of the node.
// Which one that is depends on data like a shape does.
func convertIf(c *call) []graph.Value {
	then, other := c.graph("then_branch"), c.graph("else_branch")
	c.tensorAt(0)
	b := other
	if c.knownFlag(0) {
		b = then
	}
	n := len(c.node.node.Outputs)
	if len(b.graph.Outputs) != n || len(b.inputs) > 0 {
		c.failf("the branch %q has %d inputs and %d outputs, the node %d outputs", b.graph.Name, len(b.inputs), len(b.graph.Outputs), n)
	}
	c.replace(must(c.imp.enter(b, c.space)), b)
	return nil
}

// convertSequenceMap has the body converted for each item of the sequence.
func convertSequenceMap(c *call) []graph.Value {
	b := c.graph("body")
	if len(b.inputs) != len(c.symbols) || len(b.graph.Outputs) != len(c.node.node.Outputs) {
		c.failf("the body has %d inputs and %d outputs, the node %d and %d", len(b.inputs), len(b.graph.Outputs), len(c.symbols), len(c.node.node.Outputs))
	}
	items := c.sequence(0)
	for k, s := range c.symbols {
		switch {
		case s.kind == slotted:
			c.wait(k)
		case s.kind == sequence && len(s.items) != len(items):
			c.failf("input %d has %d items, the first %d", k, len(s.items), len(items))
		}
	}
	parts := make([][]part, len(b.graph.Outputs))
	var spaces []int
	for i := range items {
		inner := must(c.imp.enter(b, c.space))
		spaces = append(spaces, inner)
		for k, s := range c.symbols {
			if s.kind == sequence {
				s = s.items[i]
			}
			c.imp.spaces[inner].values[b.inputs[k].Name] = s
		}
		for k, o := range b.graph.Outputs {
			parts[k] = append(parts[k], part{inner, o.Name})
		}
	}
	var joins []join
	for k, name := range c.node.node.Outputs {
		if name != "" {
			joins = append(joins, join{name, parts[k], true})
		}
	}
	c.imp.queue = append(c.imp.queue, item{space: c.space, joins: joins})
	for _, inner := range slices.Backward(spaces) {
		c.imp.push(b, inner)
	}
	c.entered = true
	return nil
}

// tree returns the stages of a body that is run by itself. What it takes from around
// it is a constant of it or, behind its own inputs, given to each run: these values are
// put behind the inputs of the call.
func (c *call) tree(b *body) *tree {
	entries, constants := make([]entry, 0, len(b.inputs)), make(map[string]symbol)
	for _, in := range b.inputs {
		entries = append(entries, entry{name: in.Name})
	}
	seen := make(map[string]bool)
	captured(b.graph, func(name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		switch s := c.imp.spaces.find(c.space, name); {
		case s.kind == late:
			check(errWaits)
		case s.isConstant():
			constants[name] = s
		default:
			entries = append(entries, entry{name: name})
			c.symbols = append(c.symbols, s)
		}
	})
	return must(newTree(c.imp.model, b, entries, constants))
}

// A looping runs a body again and again. It is the state of a host step.
type looping struct {
	frame   *frame
	entries []Value
	targets []*Array
	spare   [][2]*Array // of what is carried: one is the value, the other the next target
	count   *Array      // the number of the iteration
	going   *Array
	stacks  []*Array // what is stacked up
	moved   []*Array // the same, along another axis than the first
	scanned []Value  // with the axis to scan first
	slices  []*Array // elements of these, and memory for them
}

// looping returns the state of the step, which runs the body of t. So many values are
// carried, behind the first results, and so many stacked up.
func (h *hostCall) looping(t *tree, first, carried, stacked int) *looping {
	l, ok := h.state.(*looping)
	if !ok {
		l = &looping{
			frame: newFrame(h.Session, t), entries: make([]Value, len(t.entries)), targets: make([]*Array, first+carried+stacked),
			spare: make([][2]*Array, carried), count: &Array{}, going: &Array{}, stacks: make([]*Array, stacked), moved: make([]*Array, stacked),
		}
		for i := range l.spare {
			l.spare[i] = [2]*Array{{}, {}}
		}
		for i := range l.targets {
			l.targets[i] = &Array{}
		}
		for i := range l.stacks {
			l.stacks[i], l.moved[i] = &Array{}, &Array{}
		}
		h.state = l
	}
	return l
}

// step runs the body once. The entries that are carried begin at from, the results of
// these at first; they become the entries of the next step.
func (l *looping) step(from, first int) ([]Value, error) {
	for i := range l.spare {
		l.targets[first+i] = l.spare[i][0]
		if l.entries[from+i] == Value(l.spare[i][0]) {
			l.targets[first+i] = l.spare[i][1]
		}
	}
	results, err := l.frame.run(l.entries, l.targets)
	if err != nil {
		return nil, err
	}
	for i := range l.spare {
		switch v := results[first+i].(type) {
		case *Array:
			if target := l.targets[first+i]; v != target && !v.frozen && !sameArray(l.entries[from+i], v) {
				target.assign(v)
				results[first+i] = target
			}
		case Sequence:
			results[first+i] = frozenCopy(v)
		}
	}
	for i := range l.spare {
		l.entries[from+i] = results[first+i]
	}
	return results, nil
}

func sameArray(v Value, a *Array) bool {
	b, ok := v.(*Array)
	return ok && a == b
}

// loop runs the body as often as the trip count says, and while the condition holds:
//
//	in   M, cond, v...              trip count and condition may be absent
//	body (i, cond, v...) -> (cond, v..., scanned...)
//	out  v..., scanned...           what is scanned is stacked along a new first axis
func loop(c *call) hostFunc {
	b := c.graph("body")
	carried := len(b.inputs) - 2
	stacked := len(b.graph.Outputs) - 1 - carried
	for len(c.symbols) < 2 {
		c.symbols = append(c.symbols, symbol{})
	}
	if carried < 0 || stacked < 0 || len(c.symbols) != carried+2 {
		c.failf("the body has %d inputs and %d outputs, the node %d inputs", len(b.inputs), len(b.graph.Outputs), len(c.symbols))
	}
	if n := len(c.node.node.Outputs); n > carried+stacked {
		c.failf("has %d outputs, the body makes %d", n, carried+stacked)
	}
	t := c.tree(b)
	return func(h *hostCall) error {
		trips, going := int64(math.MaxInt64), true
		if h.in[0] != nil {
			v, err := oneOf[int64](h.in[0])
			if err != nil {
				return fmt.Errorf("the trip count: %w", err)
			}
			trips = v
		}
		if h.in[1] != nil {
			v, err := oneOf[bool](h.in[1])
			if err != nil {
				return fmt.Errorf("the condition: %w", err)
			}
			going = v
		}
		l := h.looping(t, 1, carried, stacked)
		copy(l.entries[2:], h.in[2:])
		l.count.become(dtype.Int64, nil, false)
		l.going.become(dtype.Bool, nil, false)
		l.entries[0], l.entries[1] = l.count, l.going
		n := int64(0)
		for ; n < trips && going; n++ {
			if err := h.iterate(1); err != nil {
				return err
			}
			kernel.Cast[int64](l.count.data)[0] = n
			kernel.Cast[bool](l.going.data)[0] = going
			results, err := l.step(2, 1)
			if err != nil {
				return fmt.Errorf("iteration %d: %w", n, err)
			}
			if going, err = oneOf[bool](results[0]); err != nil {
				return fmt.Errorf("iteration %d: the condition: %w", n, err)
			}
			for k, stack := range l.stacks {
				if err := h.push(stack, results[1+carried+k], n); err != nil {
					return fmt.Errorf("iteration %d: scan output %d: %w", n, k, err)
				}
			}
		}
		copy(h.out, l.entries[2:2+carried])
		for k, stack := range l.stacks {
			if n == 0 {
				if err := stack.emptyLike(b.graph.Outputs[1+carried+k].Type); err != nil {
					return fmt.Errorf("scan output %d: %w", k, err)
				}
			}
			if carried+k < len(h.out) {
				h.out[carried+k] = stack
			}
		}
		return nil
	}
}

// oneOf returns the only element of a tensor.
func oneOf[T dtype.Element](v Value) (T, error) {
	a, ok := v.(*Array)
	if !ok || a.typ != dtype.Of[T]() || a.ids || a.dims.Elems() != 1 {
		var zero T
		return zero, fmt.Errorf("is %s, not one element of type %v", TypeOf(v), dtype.Of[T]())
	}
	return kernel.Cast[T](a.data)[0], nil
}

// push puts v behind the n tensors that are stacked up.
func (s *Session) push(stack *Array, v Value, n int64) error {
	a, ok := v.(*Array)
	if !ok {
		return fmt.Errorf("is %s, not a tensor", TypeOf(v))
	}
	if n == 0 {
		stack.become(a.typ, nil, a.ids)
		stack.dims = append(append(stack.dims, 0), a.dims...)
		stack.data = stack.data[:0]
	}
	if a.typ != stack.typ || a.ids != stack.ids || !a.dims.Equal(stack.dims[1:]) {
		return fmt.Errorf("is %s, after %s", TypeOf(a), TypeOf(stack))
	}
	stack.dims[0] = int(n) + 1
	if err := s.options.room(stack.typ, stack.dims); err != nil {
		return err
	}
	at := len(stack.data)
	if need := at + len(a.data); need > cap(stack.data) {
		grown := kernel.Alloc(max(need, 2*cap(stack.data)))
		copy(grown, stack.data)
		stack.data = grown
	}
	stack.data = stack.data[:at+len(a.data)]
	copy(stack.data[at:], a.data)
	return nil
}
