package compile

import (
	"fmt"
	"math"
	"slices"

	"github.com/berth-go/berth/circuit"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/plan"
	"github.com/berth-go/berth/shape"
)

// A storage says whose bytes a value lies in.
type storage uint8

const (
	leaf      storage = iota // a constant, or an input that the caller binds
	reference                // another layout of its base
	own                      // bytes of its own
	joined                   // those of the value that is written over it
	inConcat                 // a part of those of the concatenation that reads it
)

const never = math.MaxInt

// val is a value of the plan and where it will lie.
type val struct {
	graph.Value
	step     int // that writes it; -1 for a leaf
	storage  storage
	base     *val // of a reference: the value it is a layout of
	readers  []reader
	lastRead int // by it or a reference to it; never for a result
	result   int // the output of the program it is, or -1

	// into is the value written over it, where it is joined; the concatenation
	// that it is a part of, where it is in one; the output that extends it, if it
	// is an input that has one.
	into  *val
	input int // inConcat: which input of it

	// layouts are within its own bytes, or within the edge that it is a
	// part of, one for each point.
	layouts []shape.Layout
	concat  *concat // of the output of one
	// overwritten is the step that puts another value into its bytes.
	overwritten int
	edge        circuit.EdgeID // for what has bytes, and otherwise -1; see lower.go
}

// reader is an operand of a step.
type reader struct{ step, input int }

// root returns the value whose bytes v lies in, following references.
func (v *val) root() *val {
	for v.storage == reference {
		v = v.base
	}
	return v
}

// placer decides which values share bytes. It walks the plan backwards, so
// that it knows where a consumer lies when it comes to the value consumed.
type placer struct {
	*sizes
	plan *plan.Plan
	vals map[graph.Value]*val
	list []*val // in execution order
	// share says whether values may share bytes beyond what views do.
	share   bool
	extends []extension
}

// collect lists the values of the plan with their readers.
func (p *placer) collect() {
	p.vals = make(map[graph.Value]*val)
	for i := range p.plan.Steps {
		s := &p.plan.Steps[i]
		for k, in := range s.Inputs {
			if in.Value.IsZero() {
				continue
			}
			v, ok := p.vals[in.Value]
			if !ok {
				v = p.add(&val{Value: in.Value, step: -1, storage: leaf})
			}
			v.readers = append(v.readers, reader{i, k})
			v.lastRead = i
		}
		for o, out := range s.Outputs {
			v := p.add(&val{Value: s.Node.Output(o), step: i, storage: own, concat: p.newConcat(s)})
			if out.Kind.IsReference() {
				v.storage, v.base = reference, p.vals[s.Inputs[0].Value]
			}
		}
	}
	for i, r := range p.plan.Results {
		v := p.vals[r.Operand.Value]
		v.result, v.lastRead = i, never
	}
	// References come after what they refer to, so their reads are known to
	// the base when the walk backwards reaches it.
	for i := len(p.list) - 1; i >= 0; i-- {
		if v := p.list[i]; v.storage == reference {
			v.base.lastRead = max(v.base.lastRead, v.lastRead)
		}
	}
}

func (p *placer) add(v *val) *val {
	v.result, v.overwritten, v.lastRead, v.edge = -1, never, v.step, -1
	v.layouts = make([]shape.Layout, len(p.points))
	for s := range p.points {
		if n := v.Node(); v.step < 0 && n.Stored() != nil {
			v.layouts[s] = n.Stored().Layout
		} else {
			v.layouts[s] = shape.Dense(p.typeAt(s, v.Value).Shape)
		}
	}
	p.vals[v.Value] = v
	p.list = append(p.list, v)
	return v
}

// place decides the storage of every value, consumers first, and then lays
// out the references.
func (p *placer) place() error {
	p.collect()
	for _, e := range p.extends {
		if err := p.extend(e); err != nil {
			return err
		}
	}
	for i := len(p.list) - 1; i >= 0 && p.share; i-- {
		v := p.list[i]
		if v.storage == own && v.result < 0 && !p.putInConcat(v) {
			p.join(v)
		}
	}
	for _, v := range p.list {
		if v.storage != reference {
			continue
		}
		for s := range p.points {
			layout, ok := p.viewed(s, v, v.base.layouts[s])
			if !ok {
				return fmt.Errorf("%v with %s: its view needs a copy that it does not need with the largest extents", v.Node(), p.text(s))
			}
			v.layouts[s] = layout
		}
	}
	return nil
}

// viewed returns the layout of reference v, at point s, when its base has the
// given one. Packing is a reference only of what lies dense.
func (p *placer) viewed(s int, v *val, base shape.Layout) (shape.Layout, bool) {
	if o, ok := p.opAt(s, v.Node()).(graph.Viewer); ok {
		return o.View(base)
	}
	return base, base.IsDense()
}

// putInConcat tries to let v be written straight into its place in a concatenation.
func (p *placer) putInConcat(v *val) bool {
	for _, w := range p.covering(v) {
		for _, r := range w.readers {
			c := p.vals[p.plan.Steps[r.step].Node.Output(0)]
			known := c.concat
			if known == nil || known.extends || known.parts[r.input] != nil || v.lastRead >= c.overwritten {
				continue
			}
			layouts, ok := p.slices(c, r.input)
			if !ok || !p.feasible(v, layouts) {
				continue
			}
			v.storage, v.into, v.input = inConcat, c, r.input
			v.overwritten = c.overwritten
			known.parts[r.input] = v
			return true
		}
	}
	return false
}

// seen is a value with the layouts that it has when another one, of which it is
// a reference or the value itself, has certain layouts.
type seen struct {
	*val
	layouts []shape.Layout // by point
}

// references returns the values that are references to w, with their layouts.
// It reports false when one of them has none at some point.
func (p *placer) references(w seen) ([]seen, bool) {
	var out []seen
	for _, r := range w.readers {
		u := p.vals[p.plan.Steps[r.step].Node.Output(0)]
		if u.storage != reference {
			continue
		}
		layouts := make([]shape.Layout, len(p.points))
		for s := range p.points {
			var ok bool
			if layouts[s], ok = p.viewed(s, u, w.layouts[s]); !ok {
				return nil, false
			}
		}
		out = append(out, seen{u, layouts})
	}
	return out, true
}

// covering returns v, which lies dense so far, and the references that are all of v
// in the same order, at every point: reshapes.
func (p *placer) covering(v *val) []*val {
	var out []*val
	for queue := []seen{{v, v.layouts}}; len(queue) > 0; queue = queue[1:] {
		w := queue[0]
		covers := true
		for s, l := range w.layouts {
			covers = covers && l.Offset == 0 && l.IsDense() && l.Shape.Elems() == v.layouts[s].Shape.Elems()
		}
		if !covers {
			continue // nor does what is a part of it
		}
		out = append(out, w.val)
		if more, ok := p.references(w); ok {
			queue = append(queue, more...)
		}
	}
	return out
}

// join tries to let v be written where the value will be that overwrites it.
func (p *placer) join(v *val) {
	for _, w := range p.covering(v) {
		for _, r := range w.readers {
			step := &p.plan.Steps[r.step]
			for o, out := range step.Outputs {
				e := p.vals[step.Node.Output(o)]
				if out.Kind != plan.InPlace || out.Over != r.input || v.lastRead > r.step || !p.alike(step, v) {
					continue
				}
				if p.feasible(v, e.layouts) {
					v.storage, v.into, v.overwritten = joined, e, r.step
					return
				}
			}
		}
	}
}

// alike reports whether every operand of the step that lies in the bytes of v is
// all of v in the same order, at any extents. The planner has asked the op about
// such operands, but has seen them at the largest extents only: what is one
// element there may be several in reverse at others.
func (p *placer) alike(step *plan.Step, v *val) bool {
	whole := p.covering(v)
	for _, in := range step.Inputs {
		if in.Value.IsZero() || p.vals[in.Value].root() != v {
			continue
		}
		if !slices.Contains(whole, p.vals[in.Value]) {
			return false
		}
	}
	return true
}

// feasible tries to give v the layouts of the bytes it would lie in. They may
// have another shape of as many elements. Whoever writes v, and whoever reads
// it or a reference to it, must be able to work with them. On success v has
// the layouts.
func (p *placer) feasible(v *val, layouts []shape.Layout) bool {
	mine := make([]shape.Layout, len(layouts))
	for s, l := range layouts {
		var ok bool
		if mine[s], ok = l.Reshape(p.typeAt(s, v.Value).Shape); !ok {
			return false
		}
	}
	return p.lies(v, mine) == nil
}

// lies gives v certain layouts, unless the step that writes it, or one that reads
// it or a reference to it, cannot work with them: then it returns that node.
func (p *placer) lies(v *val, layouts []shape.Layout) *graph.Node {
	for _, l := range layouts {
		if v.step >= 0 && !writes(v, l) {
			return v.Node()
		}
	}
	for stack := []seen{{v, layouts}}; len(stack) > 0; {
		w := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if n := p.unreadable(w); n != nil {
			return n
		}
		more, ok := p.references(w)
		if !ok {
			return w.Node()
		}
		stack = append(stack, more...)
	}
	v.layouts = layouts
	return nil
}

// unreadable returns a node that reads w itself and cannot do with its layouts, or
// nil.
func (p *placer) unreadable(w seen) *graph.Node {
	for _, r := range w.readers {
		n := p.plan.Steps[r.step].Node
		if p.vals[n.Output(0)].storage == reference {
			continue
		}
		for _, l := range w.layouts {
			if !reads(n.Op(), r.input, l) {
				return n
			}
		}
	}
	return nil
}

// writes reports whether the node of v can write it in layout l.
func writes(v *val, l shape.Layout) bool {
	return l.DenseAxes() >= op.DenseAxes(v.Node().Op(), -1-v.Index(), len(l.Shape))
}

// reads reports whether a node of o can read its input i in layout l.
func reads(o graph.Op, i int, l shape.Layout) bool {
	return l.DenseAxes() >= op.DenseAxes(o, i, len(l.Shape))
}
