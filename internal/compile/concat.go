package compile

import (
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/shape"
)

// concat is a concatenation: where each input begins along its axis, at each
// point, and the values that are in place.
type concat struct {
	axis   int
	starts [][]int // by point, then input
	parts  []*val  // by input; nil where the input is copied
	inside map[*val]bool
	alone  bool // a single row at every point: parts lie in one piece
	// extends says that the first part is an input, in whose buffer the whole
	// lies. The others lie where that ends in a run, and are copied there.
	extends bool
}

// concat returns what is known of the concatenation at a step, or nil if the
// step is none.
func (p *placer) concat(number int) *concat {
	if c, ok := p.concats[number]; ok {
		return c
	}
	step := &p.plan.Steps[number]
	o, ok := step.Node.Op().(move.Concat)
	if !ok {
		return nil
	}
	axis, err := shape.Axis(o.Axis, len(step.Node.Output(0).Type().Shape))
	if err != nil {
		panic("compile: " + err.Error()) // Infer has checked it
	}
	c := &concat{axis: axis, parts: make([]*val, len(step.Inputs)), inside: make(map[*val]bool), alone: true}
	for s := range p.points {
		c.alone = c.alone && p.typeAt(s, step.Node.Output(0)).Shape[:axis].Elems() == 1
		starts, at := make([]int, len(step.Inputs)), 0
		for k, in := range step.Inputs {
			starts[k] = at
			at += p.typeAt(s, in.Value).Shape[axis]
		}
		c.starts = append(c.starts, starts)
	}
	p.concats[number] = c
	return c
}

// slices returns the part of the concatenation c that input r fills, at each
// point, counted from its own first element. It reports false unless that is
// what a pack or row pack of a circuit can say: rows of one length at one
// distance, beginning at one place, the same at every point.
func (p *placer) slices(c *val, r reader) ([]shape.Layout, bool) {
	if !p.expressible(c) {
		return nil, false
	}
	axis := p.concat(c.step).axis
	layouts := make([]shape.Layout, len(p.points))
	width, stride, start := -1, -1, -1
	for s := range p.points {
		part, err := p.partOf(s, c, r.input)
		if err != nil {
			return nil, false
		}
		if start < 0 {
			start = part.Offset
		}
		if part.Offset != start {
			return nil, false
		}
		part.Offset = 0
		outer, inner := part.Shape[:axis].Elems(), part.Shape[axis:].Elems()
		rows, ok := part.Reshape(shape.Shape{outer, inner})
		if !ok || inner == 0 || inner > 1 && rows.Strides[1] != 1 || outer == 0 && s == p.largest {
			return nil, false
		}
		if width < 0 {
			width = inner
		}
		if outer > 1 {
			if stride < 0 {
				stride = rows.Strides[0]
			}
			if rows.Strides[0] != stride {
				return nil, false
			}
		}
		if inner != width {
			return nil, false
		}
		layouts[s] = part
	}
	return layouts, true
}

// expressible reports whether a circuit can say that values are parts of the
// concatenation c, where c is placed already. It can, unless c is itself a part
// whose rows have others between them. Then the parts must have the rows of c:
//
//	concat(concat(a, b), c), both along the last axis      aabbc
//	                                                       aabbc
//
// In a concatenation along the first axis, next to something along the last one,
// they do not, and are copied.
func (p *placer) expressible(c *val) bool {
	part := c
	for part.storage == joined {
		part = part.into
	}
	if part.storage != packed || p.concat(part.into.step).alone {
		return true
	}
	outer, inner := p.concat(part.into.step), p.concat(c.step)
	for s := range p.points {
		rows := p.typeAt(s, part.into.Value).Shape[:outer.axis].Elems()
		if rows != p.typeAt(s, c.Value).Shape[:inner.axis].Elems() {
			return false
		}
	}
	return true
}

// partOf returns the layout of what input number k fills of c.
func (p *placer) partOf(s int, c *val, k int) (shape.Layout, error) {
	known := p.concat(c.step)
	n := p.typeAt(s, p.plan.Steps[c.step].Inputs[k].Value).Shape[known.axis]
	return c.layouts[s].Slice(known.axis, known.starts[s][k], n, 1)
}
