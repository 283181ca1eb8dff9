package plan

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/shape"
)

// What can be wrong with a plan. [Check] wraps one of these.
var (
	ErrWrongValue  = errors.New("reads another value than its node names")
	ErrNotWritten  = errors.New("reads a value before it is written")
	ErrOverwritten = errors.New("reads a value that has been overwritten")
	ErrDropped     = errors.New("uses a slot that has been dropped")
	ErrStillRead   = errors.New("overwrites what the same step reads or writes")
	ErrKeptLong    = errors.New("keeps a slot past its last use")
	ErrSlot        = errors.New("has a slot of the wrong size or lifetime")
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
		lastUse:  make([]int, len(p.Slots)),
		slots:    make([]slotState, len(p.Slots)),
		essences: make(map[graph.Value]graph.Value),
	}
	return c.run(roots)
}

// location is where the book says a value lies: its place, and the step that
// wrote the slot for it.
type location struct {
	Place
	writer int
}

// slotState is what the book says of a slot.
type slotState struct {
	live    bool // some step has made it
	writer  int  // the step that wrote it last
	dropped bool // some step has dropped it
}

const afterAll = math.MaxInt // the "step" that reads results and caches

type checker struct {
	plan     *Plan
	where    map[graph.Value]location
	lastUse  []int // the last step that reads or writes each slot
	slots    []slotState
	essences map[graph.Value]graph.Value
	caches   []*graph.Node // those of the steps so far
}

func (c *checker) run(roots []graph.Value) error {
	if len(roots) != len(c.plan.Results) {
		return fmt.Errorf("plan: %w: %d results for %d roots", ErrIncomplete, len(c.plan.Results), len(roots))
	}
	if err := c.uses(); err != nil {
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
	if !slices.Equal(c.plan.Caches, c.caches) {
		return fmt.Errorf("plan: %w: the steps fill caches %v, the plan lists %v", ErrIncomplete, c.caches, c.plan.Caches)
	}
	for _, n := range c.caches {
		v := n.Output(0)
		if err := c.read(v, Operand{v, c.where[v].Place}); err != nil {
			return fmt.Errorf("plan: cache %v: %w", n, err)
		}
	}
	for id, s := range c.slots {
		switch {
		case !s.live:
			return fmt.Errorf("plan: slot %d: %w: no step makes it", id, ErrKind)
		case s.dropped: // when it was, its end was proven
		case c.lastUse[id] != afterAll:
			return fmt.Errorf("plan: slot %d: %w: it is never dropped", id, ErrKeptLong)
		case c.plan.Slots[id].End != Kept:
			return fmt.Errorf("plan: slot %d: %w: it is kept, its end is %d", id, ErrSlot, c.plan.Slots[id].End)
		}
	}
	return nil
}

// uses notes which step uses each slot last.
func (c *checker) uses() error {
	use := func(slot, step int) error {
		if slot == Eternal {
			return nil
		}
		if slot < 0 || slot >= len(c.lastUse) {
			return fmt.Errorf("plan: %w: there is no slot %d", ErrKind, slot)
		}
		c.lastUse[slot] = max(c.lastUse[slot], step)
		return nil
	}
	for i, s := range c.plan.Steps {
		for _, in := range s.Inputs {
			if err := use(in.Slot, i); err != nil {
				return err
			}
		}
		if _, ok := s.Node.Op().(graph.Cache); ok {
			i = afterAll
		}
		for _, out := range s.Outputs {
			if err := use(out.Slot, i); err != nil {
				return err
			}
		}
	}
	for _, r := range c.plan.Results {
		if err := use(r.Slot, afterAll); err != nil {
			return err
		}
	}
	return nil
}

// essence follows a value through the ops that change no element. Two values
// with one essence have the same elements at the same indices.
func (c *checker) essence(v graph.Value) graph.Value {
	if v.IsZero() {
		return v
	}
	essence, known := c.essences[v]
	if !known {
		essence = v
		switch v.Node().Op().(type) {
		case graph.Identity, graph.Contiguous, graph.Cache:
			essence = c.essence(v.Node().Input(0))
		}
		c.essences[v] = essence
	}
	return essence
}

// read checks that operand in really holds the elements of want.
func (c *checker) read(want graph.Value, in Operand) error {
	if c.essence(want) != c.essence(in.Value) {
		return fmt.Errorf("%w: %v instead of %v", ErrWrongValue, in.Value, want)
	}
	if want.IsZero() {
		return nil
	}
	at, written := c.where[in.Value]
	if n := in.Value.Node(); !written && n.IsLeaf() {
		at, written = location{Place: Place{Slot: Eternal, Leaf: n, Layout: shape.Dense(in.Value.Type().Shape)}}, true
		if leaf := n.Stored(); leaf != nil {
			at.Layout = leaf.Layout
		}
	}
	switch {
	case !written:
		return fmt.Errorf("%w: %v", ErrNotWritten, in.Value)
	case at.Slot != in.Slot || at.Leaf != in.Leaf:
		return fmt.Errorf("%w: %v is in %s, not in %s", ErrWrongValue, in.Value, home(at.Place), home(in.Place))
	case !at.Layout.Equal(in.Layout):
		return fmt.Errorf("%w: %v lies as %v, not %v", ErrLayout, in.Value, at.Layout, in.Layout)
	case in.Slot == Eternal: // never dropped or overwritten
	case c.slots[in.Slot].dropped:
		return fmt.Errorf("%w: slot %d with %v", ErrDropped, in.Slot, in.Value)
	case c.slots[in.Slot].writer != at.writer:
		return fmt.Errorf("%w: %v in slot %d, by step %d", ErrOverwritten, in.Value, in.Slot, c.slots[in.Slot].writer)
	}
	return nil
}

// home names the storage of a place, for messages.
func home(p Place) string {
	if p.Slot == Eternal {
		return fmt.Sprintf("leaf %v", p.Leaf)
	}
	return fmt.Sprintf("slot %d", p.Slot)
}

func (c *checker) step(i int, s *Step) error {
	if len(s.Inputs) != s.Node.NumInputs() || len(s.Outputs) != s.Node.NumOutputs() {
		return fmt.Errorf("%w: %d inputs and %d outputs", ErrKind, len(s.Inputs), len(s.Outputs))
	}
	switch s.Node.Op().(type) {
	case graph.Constant, graph.Input, graph.Identity:
		return fmt.Errorf("%w: there is nothing to compute", ErrKind)
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
	if _, ok := s.Node.Op().(graph.Cache); ok {
		c.caches = append(c.caches, s.Node)
	}
	for _, id := range s.DeallocAfter {
		switch {
		case id < 0 || id >= len(c.slots) || !c.slots[id].live || c.slots[id].dropped:
			return fmt.Errorf("drops slot %d: %w", id, ErrDropped)
		case c.lastUse[id] < i:
			return fmt.Errorf("drops slot %d: %w: that was step %d", id, ErrKeptLong, c.lastUse[id])
		case c.plan.Slots[id].End != i:
			return fmt.Errorf("drops slot %d: %w: its end is %d", id, ErrSlot, c.plan.Slots[id].End)
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
		c.where[v] = location{out.Place, c.where[s.Inputs[0].Value].writer}
		return nil
	}
	if out.Kind > Allocate || out.Kind != InPlace && out.Over != -1 {
		return fmt.Errorf("%w: kind %d over input %d", ErrKind, uint8(out.Kind), out.Over)
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
		return fmt.Errorf("%w: %d bytes into slot %d of %d", ErrSlot, bytes, out.Slot, c.plan.Slots[out.Slot].Bytes)
	}
	switch start := c.plan.Slots[out.Slot].Start; {
	case out.Kind == Allocate && slot.live:
		return fmt.Errorf("%w: slot %d exists already", ErrKind, out.Slot)
	case out.Kind == Allocate && start != i:
		return fmt.Errorf("%w: slot %d is made here, its start is %d", ErrSlot, out.Slot, start)
	case out.Kind != Allocate && !slot.live:
		return fmt.Errorf("%w: no step has made slot %d", ErrKind, out.Slot)
	case slot.dropped:
		return fmt.Errorf("%w: slot %d", ErrDropped, out.Slot)
	}
	if err := c.beside(s, o); err != nil {
		return err
	}
	slot.live, slot.writer = true, i
	c.where[v] = location{out.Place, i}
	return nil
}

func (c *checker) reference(s *Step, out Output) error {
	if out.Over != 0 || len(s.Inputs) != 1 || out.Slot != s.Inputs[0].Slot || out.Leaf != s.Inputs[0].Leaf {
		return fmt.Errorf("%w: a reference to what is not its input", ErrKind)
	}
	if (out.Kind == ReferenceEternal) != (out.Slot == Eternal) {
		return fmt.Errorf("%w: %v to slot %d", ErrKind, out.Kind, out.Slot)
	}
	from := s.Inputs[0].Layout
	op := s.Node.Op()
	if view, ok := op.(graph.Viewer); ok {
		if want, ok := view.View(from); !ok || !want.Equal(out.Layout) {
			return fmt.Errorf("%w: %v as a view of %v", ErrLayout, out.Layout, from)
		}
		return nil
	}
	_, contiguous := op.(graph.Contiguous)
	_, cache := op.(graph.Cache)
	switch {
	case !contiguous && !cache:
		return fmt.Errorf("%w: a reference, but the op computes new elements", ErrKind)
	case !out.Layout.IsDense() || !out.Layout.Equal(from):
		return fmt.Errorf("%w: %v as contiguous, without a copy from %v", ErrLayout, out.Layout, from)
	case cache && out.Slot == Eternal && out.Leaf.Stored() == nil:
		return fmt.Errorf("%w: a cache cannot keep %v, which is lent for the run", ErrKind, out.Leaf)
	case cache && out.Slot != Eternal && c.plan.Slots[out.Slot].Bytes != s.Node.Output(0).Type().Bytes():
		return fmt.Errorf("%w: a cache of %d bytes cannot keep slot %d of %d", ErrSlot,
			s.Node.Output(0).Type().Bytes(), out.Slot, c.plan.Slots[out.Slot].Bytes)
	}
	return nil
}

// beside checks that output o of the step, which has elements of its own, is
// not written into what the step reads or writes besides, but for what its op
// allows.
func (c *checker) beside(s *Step, o int) error {
	out := s.Outputs[o]
	for other := range o {
		if s.Outputs[other].Slot == out.Slot {
			return fmt.Errorf("%w: output %d is in slot %d too", ErrStillRead, other, out.Slot)
		}
	}
	if out.Kind == InPlace {
		op, ok := s.Node.Op().(graph.Overwriter)
		if !ok || out.Over < 0 || out.Over >= len(s.Inputs) || !op.MayOverwrite(out.Over, o) {
			return fmt.Errorf("%w: input %d may not be overwritten", ErrKind, out.Over)
		}
		if s.Inputs[out.Over].Slot != out.Slot {
			return fmt.Errorf("%w: slot %d does not hold input %d", ErrKind, out.Slot, out.Over)
		}
	}
	sharer, shares := s.Node.Op().(graph.Sharer)
	width := s.Node.Output(o).Type().DType.Size()
	for k, in := range s.Inputs {
		switch {
		case in.Slot != out.Slot:
		case out.Kind != InPlace:
			return fmt.Errorf("%w: input %d lies in slot %d", ErrStillRead, k, out.Slot)
		case !in.Layout.Equal(out.Layout) || in.Value.Type().DType.Size() != width:
			return fmt.Errorf("%w: input %d lies in slot %d as %v%v", ErrStillRead, k, out.Slot, in.Value.Type().DType, in.Layout)
		case k != out.Over && !(shares && sharer.MayShare(k, out.Over, o)):
			return fmt.Errorf("%w: input %d may not lie in slot %d beside input %d", ErrStillRead, k, out.Slot, out.Over)
		}
	}
	return nil
}
