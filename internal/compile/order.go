package compile

import (
	"context"
	"slices"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/schedule"
	"github.com/berth-go/berth/plan"
)

// layOutBest lays out the values of the plan that place makes for an execution
// order: the depth-first one, which nil stands for, or, unless only that is asked
// for, one that keeps fewer bytes alive and whose arena turns out to be smaller.
func layOutBest(ctx context.Context, depthFirst bool, place func(order []*graph.Node) (*placer, error), layOut func(p *placer) (*lowerer, error)) (*lowerer, error) {
	seed, err := place(nil)
	if err != nil {
		return nil, err
	}
	if depthFirst {
		return layOut(seed)
	}
	problem, steps := seed.problem()
	orders, err := schedule.Orders(ctx, problem)
	if err != nil {
		return nil, err
	}
	best := orders[0]
	if best.Name == schedule.Seed {
		return layOut(seed)
	}
	other, err := place(nodesInOrder(seed.plan, steps, best.Steps))
	if err != nil {
		return nil, err
	}
	l, err := layOut(other)
	if err != nil {
		return nil, err
	}
	first, err := layOut(seed)
	if err == nil && first.prog.Buffers.Arena <= l.prog.Buffers.Arena {
		return first, nil
	}
	return l, err
}

// inArena reports whether v has bytes in the arena: of its own, or in those of
// another value.
func (v *val) inArena() bool {
	for v.storage == joined || v.storage == inConcat {
		v = v.into
	}
	return v.storage == own && v.result < 0
}

// problem states the choice of an order for the steps of the plan that compute,
// with the bytes that the values take in the arena. It returns the number of
// the plan's step for each of the problem's.
func (p *placer) problem() (*schedule.Problem, []int) {
	var steps []int
	number := make([]int, len(p.plan.Steps)) // of a plan's step in the problem
	for i := range p.plan.Steps {
		if !p.plan.Steps[i].Outputs[0].Kind.IsReference() {
			number[i] = len(steps)
			steps = append(steps, i)
		}
	}
	problem := &schedule.Problem{Steps: len(steps), After: make([][]int, len(steps))}
	index := make(map[*val]int) // of a value, or of that whose bytes it is a part of
	for i := len(p.list) - 1; i >= 0; i-- {
		v := p.list[i]
		if !v.inArena() {
			continue
		}
		readers := p.computing(v, number)
		for _, r := range readers {
			problem.After[r] = append(problem.After[r], number[v.step])
		}
		if into, ok := index[v.into]; ok && v.storage == inConcat && !v.into.concat.alone {
			// A row pack is alive as a whole while any of its parts is.
			whole := &problem.Values[into]
			whole.Also = append(append(whole.Also, number[v.step]), readers...)
			index[v] = into
			continue
		}
		value := schedule.Value{Bytes: int64(v.Type().Bytes()), Writer: number[v.step], Readers: readers}
		if v.storage == inConcat {
			// A part that lies in one piece has its own life, until that of the
			// concatenation ends.
			value.Also = p.computing(v.into, number)
		}
		if v.packed() && v.concat.alone {
			value.Bytes = 0
			for k, part := range v.concat.parts {
				if part == nil {
					value.Bytes += int64(v.Node().Input(k).Type().Bytes())
				}
			}
		}
		index[v] = len(problem.Values)
		problem.Values = append(problem.Values, value)
	}
	for i := range p.plan.Steps {
		p.inPlace(i, problem, index)
	}
	return problem, steps
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
func (p *placer) inPlace(i int, problem *schedule.Problem, index map[*val]int) {
	s := &p.plan.Steps[i]
	o, ok := s.Node.Op().(graph.Overwriter)
	if !ok || !p.share {
		return
	}
	for k := range s.Outputs {
		v := p.vals[s.Node.Output(k)]
		to, ok := index[v]
		if !ok {
			continue
		}
		for in, operand := range s.Inputs {
			if operand.Value.IsZero() || !o.MayOverwrite(in, k) || operand.Value.Type().Bytes() != v.Type().Bytes() {
				continue
			}
			if from, ok := index[p.vals[operand.Value].root()]; ok && from != to && !p.besides(s, in, k) {
				problem.Values[to].Over = append(problem.Values[to].Over, from)
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
		if w.root() == v.root() && !(shares && sharer.MayShare(k, in, out) && w.layouts[p.largest].Equal(v.layouts[p.largest])) {
			return true
		}
	}
	return false
}

// nodesInOrder returns the nodes of a plan in the order that a schedule gives to
// its computing steps. Whatever else the plan has, views and aliases, comes
// just before what needs it.
func nodesInOrder(p *plan.Plan, steps, order []int) []*graph.Node {
	var values []graph.Value
	for _, s := range order {
		values = append(values, p.Steps[steps[s]].Node.Output(0))
	}
	for _, r := range p.Results {
		values = append(values, r.Value)
	}
	return slices.DeleteFunc(graph.Nodes(values...), (*graph.Node).IsLeaf)
}
