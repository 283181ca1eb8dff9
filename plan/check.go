package plan

import (
	"errors"
	"fmt"
	"math"

	"github.com/berth-go/berth/graph"
)

// What can be wrong with a plan. [Check] wraps one of these.
var (
	ErrWrongValue  = errors.New("reads another value than its node names")
	ErrNotWritten  = errors.New("reads a value before it is written")
	ErrOverwritten = errors.New("reads a value that has been overwritten")
	ErrDropped     = errors.New("uses a slot that has been dropped")
	ErrStillRead   = errors.New("loses a value that is read later")
	ErrKeptLong    = errors.New("keeps a slot past its last use")
	ErrSize        = errors.New("has a slot of the wrong size")
	ErrLayout      = errors.New("has the wrong layout")
	ErrKind        = errors.New("has storage that does not fit its kind")
	ErrIncomplete  = errors.New("does not compute what was asked for")
)

// Check proves p against the graph it was made for: it follows the steps and
// keeps book of what each slot holds, with none of the planner's code. It
// returns an error that wraps one of the errors above and names the step.
func Check(p *Plan, roots ...graph.Value) error {
	c := &checker{
		plan:     p,
		where:    make(map[graph.Value]location),
		lastRead: make(map[graph.Value]int),
		lastUse:  make([]int, len(p.Slots)),
		slots:    make([]slotState, len(p.Slots)),
		essences: make(map[graph.Value]graph.Value),
	}
	return c.run(roots)
}

// location is where the book says a value lies: an operand's place, and which
// writing of the slot it belongs to.
type location struct {
	Place
	writing int
}

// slotState is what the book says of a slot.
type slotState struct {
	live    bool
	dropped bool
	writing int // counts how often the slot has been written
	needed  int // the last step that reads a value of this writing
}

const afterAll = math.MaxInt // the "step" that reads results and caches

type checker struct {
	plan     *Plan
	where    map[graph.Value]location
	lastRead map[graph.Value]int
	lastUse  []int // last step that reads or writes each slot
	slots    []slotState
	essences map[graph.Value]graph.Value
}

func (c *checker) run(roots []graph.Value) error {
	if len(roots) != len(c.plan.Results) {
		return fmt.Errorf("plan: %w: %d results for %d roots", ErrIncomplete, len(c.plan.Results), len(roots))
	}
	if err := c.readers(); err != nil {
		return err
	}
	for i := range c.plan.Steps {
		if err := c.step(i, &c.plan.Steps[i]); err != nil {
			return fmt.Errorf("plan: step %d, %v: %w", i, c.plan.Steps[i].Node, err)
		}
	}
	for i, r := range c.plan.Results {
		if r.Value != roots[i] {
			return fmt.Errorf("plan: result %d: %w: %v instead of %v", i, ErrIncomplete, r.Value, roots[i])
		}
		if err := c.read(roots[i], r.Operand); err != nil {
			return fmt.Errorf("plan: result %d: %w", i, err)
		}
	}
	for id, s := range c.slots {
		if !s.live {
			return fmt.Errorf("plan: slot %d: %w: no step makes it", id, ErrKind)
		}
		if !s.dropped && s.needed != afterAll {
			return fmt.Errorf("plan: slot %d: %w: it is never dropped", id, ErrKeptLong)
		}
		if (c.plan.Slots[id].End == Kept) != (s.needed == afterAll) {
			return fmt.Errorf("plan: slot %d: %w: its end is %d", id, ErrKeptLong, c.plan.Slots[id].End)
		}
	}
	return nil
}

// readers notes who reads each value and who uses each slot last.
func (c *checker) readers() error {
	use := func(slot, step int) error {
		if slot == Eternal {
			return nil
		}
		if slot < 0 || slot >= len(c.lastUse) {
			return fmt.Errorf("plan: step %d: %w: there is no slot %d", step, ErrKind, slot)
		}
		c.lastUse[slot] = step
		return nil
	}
	for i, s := range c.plan.Steps {
		for _, in := range s.Inputs {
			c.lastRead[in.Value] = i
			if err := use(in.Slot, i); err != nil {
				return err
			}
		}
		for _, out := range s.Outputs {
			if err := use(out.Slot, i); err != nil {
				return err
			}
		}
	}
	for _, r := range c.plan.Results {
		c.lastRead[r.Operand.Value] = afterAll
		if err := use(r.Slot, afterAll); err != nil {
			return err
		}
	}
	for _, n := range c.plan.Caches {
		c.lastRead[n.Output(0)] = afterAll
	}
	return nil
}

// essence follows a value through the ops that change no element. Two values
// with one essence have the same elements at the same indices.
func (c *checker) essence(v graph.Value) graph.Value {
	var trail []graph.Value
	for !v.IsZero() {
		if known, ok := c.essences[v]; ok {
			v = known
			break
		}
		trail = append(trail, v)
		switch v.Node().Op().(type) {
		case graph.Identity, graph.Contiguous, graph.Cache:
			v = v.Node().Input(0)
			continue
		}
		break
	}
	for _, t := range trail {
		c.essences[t] = v
	}
	return v
}

// read checks that operand in really holds the elements of want.
func (c *checker) read(want graph.Value, in Operand) error {
	if want.IsZero() != in.Value.IsZero() || c.essence(want) != c.essence(in.Value) {
		return fmt.Errorf("%w: %v instead of %v", ErrWrongValue, in.Value, want)
	}
	if want.IsZero() {
		return nil
	}
	at, written := c.where[in.Value]
	if !written && in.Slot == Eternal && in.Leaf == in.Value.Node() && in.Leaf.IsLeaf() {
		if leaf := in.Leaf.Leaf(); leaf != nil && !leaf.Layout.Equal(in.Layout) || leaf == nil && !in.Layout.IsDense() {
			return fmt.Errorf("%w: leaf %v as %v", ErrLayout, in.Value, in.Layout)
		}
		return nil
	}
	switch {
	case !written:
		return fmt.Errorf("%w: %v", ErrNotWritten, in.Value)
	case at.Slot != in.Slot || at.Leaf != in.Leaf:
		return fmt.Errorf("%w: %v is in slot %d, not %d", ErrWrongValue, in.Value, at.Slot, in.Slot)
	case !at.Layout.Equal(in.Layout):
		return fmt.Errorf("%w: %v lies as %v, not %v", ErrLayout, in.Value, at.Layout, in.Layout)
	case in.Slot == Eternal:
		return nil
	case c.slots[in.Slot].dropped:
		return fmt.Errorf("%w: slot %d with %v", ErrDropped, in.Slot, in.Value)
	case c.slots[in.Slot].writing != at.writing:
		return fmt.Errorf("%w: %v in slot %d", ErrOverwritten, in.Value, in.Slot)
	}
	return nil
}

func (c *checker) step(i int, s *Step) error {
	if len(s.Inputs) != s.Node.NumInputs() || len(s.Outputs) != s.Node.NumOutputs() {
		return fmt.Errorf("%w: %d inputs and %d outputs", ErrKind, len(s.Inputs), len(s.Outputs))
	}
	for k, in := range s.Inputs {
		if err := c.read(s.Node.Input(k), in); err != nil {
			return fmt.Errorf("input %d: %w", k, err)
		}
	}
	for o := range s.Outputs {
		if err := c.output(i, s, o); err != nil {
			return fmt.Errorf("output %d: %w", o, err)
		}
	}
	for _, id := range s.DeallocAfter {
		switch {
		case id < 0 || id >= len(c.slots) || !c.slots[id].live || c.slots[id].dropped:
			return fmt.Errorf("drops slot %d: %w", id, ErrDropped)
		case c.slots[id].needed > i:
			return fmt.Errorf("drops slot %d: %w", id, ErrStillRead)
		case c.lastUse[id] != i:
			return fmt.Errorf("drops slot %d: %w: step %d uses it", id, ErrKeptLong, c.lastUse[id])
		}
		c.slots[id].dropped = true
	}
	return nil
}

func (c *checker) output(i int, s *Step, o int) error {
	out, v := s.Outputs[o], s.Node.Output(o)
	if _, again := c.where[v]; again {
		return fmt.Errorf("%w: it is computed twice", ErrKind)
	}
	if !out.Layout.Shape.Equal(v.Type().Shape) {
		return fmt.Errorf("%w: shape %v, the node has %v", ErrLayout, out.Layout.Shape, v.Type().Shape)
	}
	if out.Kind.IsReference() {
		if err := c.reference(s, out); err != nil {
			return err
		}
		c.place(v, out.Place)
		return nil
	}
	if !out.Layout.IsDense() || out.Layout.Offset != 0 {
		return fmt.Errorf("%w: new elements in %v", ErrLayout, out.Layout)
	}
	if view, ok := s.Node.Op().(graph.Viewer); ok {
		if _, can := view.View(s.Inputs[0].Layout); can {
			return fmt.Errorf("%w: a view that could be a reference", ErrKind)
		}
	}
	if out.Slot < 0 {
		return fmt.Errorf("%w: %v of storage the plan does not own", ErrKind, out.Kind)
	}
	slot := &c.slots[out.Slot]
	if bytes := v.Type().Bytes(); bytes != c.plan.Slots[out.Slot].Bytes {
		return fmt.Errorf("%w: %d bytes into slot %d of %d", ErrSize, bytes, out.Slot, c.plan.Slots[out.Slot].Bytes)
	}
	for other := range o {
		if s.Outputs[other].Slot == out.Slot {
			return fmt.Errorf("%w: output %d is in slot %d too", ErrStillRead, other, out.Slot)
		}
	}
	if out.Kind == Allocate {
		if slot.live || c.plan.Slots[out.Slot].Start != i {
			return fmt.Errorf("%w: slot %d exists already", ErrKind, out.Slot)
		}
	} else if !slot.live || slot.dropped {
		return fmt.Errorf("%w: slot %d", ErrDropped, out.Slot)
	}
	switch out.Kind {
	case UseSlot:
		if slot.needed >= i {
			return fmt.Errorf("%w: slot %d is read by step %d", ErrStillRead, out.Slot, slot.needed)
		}
	case InPlace:
		if slot.needed > i {
			return fmt.Errorf("%w: slot %d is read by step %d", ErrStillRead, out.Slot, slot.needed)
		}
		if err := c.inPlace(s, o); err != nil {
			return err
		}
	}
	*slot = slotState{live: true, writing: slot.writing + 1, needed: i}
	c.place(v, out.Place)
	return nil
}

// place enters a value into the book.
func (c *checker) place(v graph.Value, p Place) {
	at := location{Place: p}
	if p.Slot != Eternal {
		slot := &c.slots[p.Slot]
		at.writing = slot.writing
		slot.needed = max(slot.needed, c.lastRead[v])
	}
	c.where[v] = at
}

func (c *checker) reference(s *Step, out Output) error {
	if out.Over != 0 || len(s.Inputs) != 1 || out.Slot != s.Inputs[0].Slot || out.Leaf != s.Inputs[0].Leaf {
		return fmt.Errorf("%w: a reference to what is not its input", ErrKind)
	}
	if (out.Kind == ReferenceEternal) != (out.Slot == Eternal) {
		return fmt.Errorf("%w: %v to slot %d", ErrKind, out.Kind, out.Slot)
	}
	from := s.Inputs[0].Layout
	switch op := s.Node.Op().(type) {
	case graph.Viewer:
		if want, ok := op.View(from); !ok || !want.Equal(out.Layout) {
			return fmt.Errorf("%w: %v as a view of %v", ErrLayout, out.Layout, from)
		}
	case graph.Contiguous, graph.Cache:
		if !out.Layout.IsDense() || !out.Layout.Equal(from) {
			return fmt.Errorf("%w: %v packed without a copy from %v", ErrLayout, out.Layout, from)
		}
	default:
		return fmt.Errorf("%w: %v computes new elements", ErrKind, s.Node)
	}
	return nil
}

func (c *checker) inPlace(s *Step, o int) error {
	out := s.Outputs[o]
	op, ok := s.Node.Op().(graph.Overwriter)
	if !ok || out.Over < 0 || out.Over >= len(s.Inputs) || !op.MayOverwrite(out.Over, o) {
		return fmt.Errorf("%w: input %d may not be overwritten", ErrKind, out.Over)
	}
	if s.Inputs[out.Over].Slot != out.Slot {
		return fmt.Errorf("%w: slot %d does not hold input %d", ErrKind, out.Slot, out.Over)
	}
	width := s.Node.Output(o).Type().DType.Size()
	for k, in := range s.Inputs {
		if in.Slot == out.Slot && (!in.Layout.Equal(out.Layout) || in.Value.Type().DType.Size() != width) {
			return fmt.Errorf("%w: input %d lies in slot %d as %v", ErrStillRead, k, out.Slot, in.Layout)
		}
	}
	return nil
}
