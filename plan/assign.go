package plan

import (
	"slices"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/shape"
)

// assigner walks the staged steps and gives each output its storage.
type assigner struct {
	values []value
	ends   []int         // last reader of each value
	places []Place       // of each value, once its step is reached
	slots  []Slot        // End counts from the moment it is known, kept if ever
	busy   [][]int       // slots in use, by the step that is to look whether they have ended
	free   map[int][]int // slots nothing reads any more, by size in bytes
	plan   *Plan
}

// assign makes the plan.
func assign(st *staged, ends []int) *Plan {
	a := &assigner{
		values: st.values,
		ends:   ends,
		places: make([]Place, len(st.values)),
		busy:   make([][]int, len(st.steps)),
		free:   make(map[int][]int),
		plan:   &Plan{Steps: make([]Step, len(st.steps))},
	}
	for i, v := range st.values {
		if v.leaf {
			a.places[i] = leafPlace(v.Value)
		}
	}
	for i := range st.steps {
		a.plan.Steps[i] = a.step(i, &st.steps[i])
		a.release(i)
	}
	for _, r := range st.results {
		a.plan.Results = append(a.plan.Results, Result{r.asked, a.operand(r.resolved)})
	}
	a.deallocations()
	return a.plan
}

func leafPlace(v graph.Value) Place {
	if leaf := v.Node().Stored(); leaf != nil {
		return Place{Slot: Eternal, Leaf: v.Node(), Layout: leaf.Layout}
	}
	return Place{Slot: Eternal, Leaf: v.Node(), Layout: shape.Dense(v.Type().Shape)}
}

func (a *assigner) operand(v valueID) Operand {
	if v == none {
		return Operand{Place: Place{Slot: Eternal}}
	}
	return Operand{a.values[v].Value, a.places[v]}
}

// step decides the outputs of step i.
func (a *assigner) step(i int, s *stagedStep) Step {
	out := Step{Node: s.node, Inputs: make([]Operand, len(s.inputs)), Outputs: make([]Output, s.node.NumOutputs())}
	for k, v := range s.inputs {
		out.Inputs[k] = a.operand(v)
	}
	if _, ok := s.node.Op().(graph.Cache); ok {
		a.ends[s.first] = kept
		a.plan.Caches = append(a.plan.Caches, s.node)
	}
	for o := range out.Outputs {
		v := s.first + valueID(o)
		layout, over := a.reference(s.node, out.Inputs)
		if over {
			out.Outputs[o] = a.refer(v, out.Inputs[0].Place, layout)
		} else {
			out.Outputs[o] = a.own(i, v, out.Inputs, out.Outputs[:o])
		}
		a.places[v] = out.Outputs[o].Place
	}
	return out
}

// reference returns the layout of the node's output within the storage of its
// first input, and whether it can lie there at all.
func (a *assigner) reference(n *graph.Node, in []Operand) (shape.Layout, bool) {
	switch op := n.Op().(type) {
	case graph.Viewer:
		// A view over a node that was claimed sees the claimer's layout.
		// Where it cannot express itself in that, it copies.
		return op.View(in[0].Layout)
	case graph.Contiguous:
		return in[0].Layout, in[0].Layout.IsDense()
	case graph.Cache:
		return in[0].Layout, in[0].Layout.IsDense() && a.keepable(in[0])
	}
	return shape.Layout{}, false
}

// keepable reports whether a cache may keep the storage of an operand: not
// what the caller only lends for the run, nor a buffer larger than the result.
func (a *assigner) keepable(in Operand) bool {
	if in.Slot == Eternal {
		return in.Leaf.Stored() != nil
	}
	return a.slots[in.Slot].Bytes == in.Value.Type().Bytes()
}

// refer makes v another layout of the storage at p.
func (a *assigner) refer(v valueID, p Place, layout shape.Layout) Output {
	p.Layout = layout
	if p.Slot == Eternal {
		return Output{Kind: ReferenceEternal, Place: p}
	}
	slot := &a.slots[p.Slot]
	slot.End = max(slot.End, a.ends[v])
	return Output{Kind: ReferenceSlot, Place: p}
}

// own gives v a buffer that no other live value is in.
func (a *assigner) own(i int, v valueID, in []Operand, earlier []Output) Output {
	t := a.values[v].Type()
	out := Output{Kind: Allocate, Over: -1, Place: Place{Layout: shape.Dense(t.Shape)}}
	bytes := t.Bytes()
	if k := a.overwritable(i, a.values[v].Value, out.Layout, in, earlier); k >= 0 {
		out.Kind, out.Over, out.Slot = InPlace, k, in[k].Slot
		a.slots[out.Slot].End = a.ends[v]
		return out // the slot is busy already
	}
	if list := a.free[bytes]; len(list) > 0 {
		out.Kind, out.Slot = UseSlot, list[len(list)-1]
		a.free[bytes] = list[:len(list)-1]
		a.slots[out.Slot].End = a.ends[v]
	} else {
		out.Slot = len(a.slots)
		a.slots = append(a.slots, Slot{Bytes: bytes, Start: i, End: a.ends[v]})
	}
	a.occupy(out.Slot)
	return out
}

// overwritable returns the first input of step i that output v may be written
// over, or -1. The input's buffer must end here, be of exactly the output's
// size, and hold the input in exactly the output's layout. Another operand may
// lie in it only where the op allows that, and only as the input does. No
// earlier output may have taken it.
func (a *assigner) overwritable(i int, v graph.Value, layout shape.Layout, in []Operand, earlier []Output) int {
	op, ok := v.Node().Op().(graph.Overwriter)
	if !ok {
		return -1
	}
	sharer, shares := v.Node().Op().(graph.Sharer)
	t := v.Type()
	alike := func(operand Operand) bool {
		return operand.Value.Type().DType.Size() == t.DType.Size() && operand.Layout.Equal(layout)
	}
	for k, operand := range in {
		if operand.Slot == Eternal || !op.MayOverwrite(k, v.Index()) {
			continue
		}
		slot := a.slots[operand.Slot]
		if slot.End > i || slot.Bytes != t.Bytes() || !alike(operand) {
			continue
		}
		taken := slices.ContainsFunc(earlier, func(e Output) bool { return e.Slot == operand.Slot })
		for j, other := range in {
			if j != k && other.Slot == operand.Slot && !(alike(other) && shares && sharer.MayShare(j, k, v.Index())) {
				taken = true
			}
		}
		if !taken {
			return k
		}
	}
	return -1
}

// occupy notes a slot at the step that ends it, as far as that is known.
func (a *assigner) occupy(id int) {
	if end := a.slots[id].End; end != kept {
		a.busy[end] = append(a.busy[end], id)
	}
}

// release moves the slots that step i ends to the free lists, in ascending order.
// Ends only ever grow while a slot is busy: one whose end has moved since is noted
// there.
func (a *assigner) release(i int) {
	slices.Sort(a.busy[i])
	for _, id := range a.busy[i] {
		if slot := a.slots[id]; slot.End > i {
			a.occupy(id)
		} else {
			a.free[slot.Bytes] = append(a.free[slot.Bytes], id)
		}
	}
}

// deallocations lists each slot at the step that needs it last.
func (a *assigner) deallocations() {
	for id := range a.slots {
		slot := &a.slots[id]
		if slot.End == kept {
			slot.End = Kept
			continue
		}
		step := &a.plan.Steps[slot.End]
		step.DeallocAfter = append(step.DeallocAfter, id)
	}
	a.plan.Slots = a.slots
}
