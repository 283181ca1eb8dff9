package compile

import (
	"context"

	"github.com/berth-go/berth/circuit"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/schedule"
	"github.com/berth-go/berth/plan"
)

// tries is how many orders are laid out besides the depth-first one. Their
// scores are lower bounds, which the arena mostly reaches.
const tries = 3

// reorder looks for an execution order with a smaller arena than that of seed,
// and returns the best program, seed if there is none.
func reorder(ctx context.Context, seed *lowerer, build func([]*graph.Node) (*lowerer, error)) (*lowerer, error) {
	if seed.prog.Buffers.Arena == 0 {
		return seed, nil
	}
	problem, steps := seed.problem()
	orders, err := schedule.Orders(ctx, problem)
	if err != nil {
		return nil, err
	}
	best := seed
	for i, o := range orders {
		if i == tries || o.Peak >= best.prog.Buffers.Arena {
			break // orders come by peak
		}
		if o.Name == schedule.Seed {
			continue
		}
		order, err := nodesInOrder(seed.prog.Plan, steps, o.Steps)
		if err != nil {
			return nil, err
		}
		other, err := build(order)
		if err != nil {
			return nil, err
		}
		if other.prog.Buffers.Arena < best.prog.Buffers.Arena {
			best = other
		}
	}
	return best, nil
}

// problem states the choice of an order for the steps of the plan that compute,
// with the bytes that the values take in the arena. It returns the number of
// the plan's step for each of the problem's.
func (l *lowerer) problem() (*schedule.Problem, []int) {
	var steps []int
	number := make([]int, len(l.prog.Plan.Steps)) // of a plan's step in the problem
	for i := range l.prog.Plan.Steps {
		if !l.prog.Plan.Steps[i].Outputs[0].Kind.IsReference() {
			number[i] = len(steps)
			steps = append(steps, i)
		}
	}
	p := &schedule.Problem{Steps: len(steps), After: make([][]int, len(steps))}
	index := make(map[*val]int) // of a value, or of that whose bytes it is a part of
	for i := len(l.p.list) - 1; i >= 0; i-- {
		v := l.p.list[i]
		slot, inArena := l.slots[circuit.EdgeID(v.edge)]
		if v.storage == reference || !inArena {
			continue
		}
		readers := l.p.computing(v, number)
		for _, r := range readers {
			p.After[r] = append(p.After[r], number[v.step])
		}
		if into, ok := index[v.into]; ok && v.storage == packed && !l.p.concat(v.into.step).alone {
			// A row pack is alive as a whole while any of its parts is.
			whole := &p.Values[into]
			whole.Also = append(append(whole.Also, number[v.step]), readers...)
			index[v] = into
			continue
		}
		value := schedule.Value{Bytes: slot.Bytes, Writer: number[v.step], Readers: readers}
		if v.storage == packed {
			// A part that lies in one piece has its own life, until that of the
			// concatenation ends.
			value.Also = l.p.computing(v.into, number)
		}
		if c := l.p.concat(v.step); c != nil && c.alone && len(c.inside) > 0 {
			value.Bytes = 0
			for k, part := range c.parts {
				if part == nil {
					value.Bytes += l.slots[l.fillers[filler{v.step, k}]].Bytes
				}
			}
		}
		index[v] = len(p.Values)
		p.Values = append(p.Values, value)
	}
	for i := range l.prog.Plan.Steps {
		l.inPlace(i, p, index)
	}
	return p, steps
}

// computing returns the steps of the problem that read v or a reference to it.
func (p *placer) computing(v *val, number []int) []int {
	var out []int
	for stack := []*val{v}; len(stack) > 0; {
		w := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, r := range w.readers {
			if u := p.vals[p.plan.Steps[r.step].Node.Output(0)]; u.storage == reference {
				stack = append(stack, u)
			} else {
				out = append(out, number[r.step])
			}
		}
	}
	return out
}

// inPlace says which values the outputs of step i may be written over.
func (l *lowerer) inPlace(i int, p *schedule.Problem, index map[*val]int) {
	s := &l.prog.Plan.Steps[i]
	o, ok := s.Node.Op().(graph.Overwriter)
	if !ok || l.opt.NoSharing {
		return
	}
	for k := range s.Outputs {
		v := l.p.vals[s.Node.Output(k)]
		to, ok := index[v]
		if !ok || v.storage == reference {
			continue
		}
		for in, operand := range s.Inputs {
			if operand.Value.IsZero() || !o.MayOverwrite(in, k) || operand.Value.Type().Bytes() != v.Type().Bytes() {
				continue
			}
			if from, ok := index[l.p.vals[operand.Value].root()]; ok && from != to && !l.p.besides(s, in, k) {
				p.Values[to].Over = append(p.Values[to].Over, from)
			}
		}
	}
}

// besides reports whether another operand of the step lies in the bytes of input
// in, so that output out cannot be written over them.
func (p *placer) besides(s *plan.Step, in, out int) bool {
	sharer, shares := s.Node.Op().(graph.Sharer)
	v := p.vals[s.Inputs[in].Value]
	for k, other := range s.Inputs {
		if k == in || other.Value.IsZero() {
			continue
		}
		w := p.vals[other.Value]
		if w.root() == v.root() && !(shares && sharer.MayShare(k, in, out) && w.layouts[0].Equal(v.layouts[0])) {
			return true
		}
	}
	return false
}

// nodesInOrder returns the nodes of a plan in the order that a schedule gives to
// its computing steps. Whatever else the plan has, views and aliases, comes
// just before what needs it.
func nodesInOrder(p *plan.Plan, steps, order []int) ([]*graph.Node, error) {
	var out []*graph.Node
	placed := make(map[*graph.Node]bool)
	inputs := func(n *graph.Node) int {
		if placed[n] || n.IsLeaf() {
			return 0
		}
		return n.NumInputs()
	}
	place := func(n *graph.Node) error {
		missing, err := graph.Sort([]*graph.Node{n}, inputs, func(n *graph.Node, i int) (*graph.Node, bool) {
			in := n.Input(i).Node()
			return in, in != nil && !placed[in] && !in.IsLeaf()
		})
		if err != nil {
			return err
		}
		for _, m := range missing {
			if !placed[m] && !m.IsLeaf() {
				placed[m] = true
				out = append(out, m)
			}
		}
		return nil
	}
	for _, s := range order {
		if err := place(p.Steps[steps[s]].Node); err != nil {
			return nil, err
		}
	}
	for _, r := range p.Results {
		if err := place(r.Value.Node()); err != nil {
			return nil, err
		}
	}
	return out, nil
}
