package compile

import (
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/shape"
)

// concat is a concatenation: where each input begins along its axis, for each
// sampled number of rows, and the values that are in place.
type concat struct {
	axis   int
	starts [][]int // by sample, then input
	parts  []*val  // by input; nil where the input is copied
	inside map[*val]bool
	alone  bool // a single row at any number of rows: parts lie in one piece
}

// concat returns what is known of the concatenation at a step, or nil if the
// step is none.
func (p *placer) concat(step int) *concat {
	if c, ok := p.concats[step]; ok {
		return c
	}
	s := &p.plan.Steps[step]
	o, ok := s.Node.Op().(move.Concat)
	if !ok {
		return nil
	}
	axis, err := shape.Axis(o.Axis, len(s.Node.Output(0).Type().Shape))
	if err != nil {
		panic("compile: " + err.Error()) // Infer has checked it
	}
	c := &concat{axis: axis, parts: make([]*val, len(s.Inputs)), inside: make(map[*val]bool), alone: true}
	for sample := range p.samples {
		c.alone = c.alone && p.typeAt(sample, s.Node.Output(0)).Shape[:axis].Elems() == 1
		starts, at := make([]int, len(s.Inputs)), 0
		for k, in := range s.Inputs {
			starts[k] = at
			at += p.typeAt(sample, in.Value).Shape[axis]
		}
		c.starts = append(c.starts, starts)
	}
	p.concats[step] = c
	return c
}

// slices returns the part of the concatenation c that input r fills, at each
// sample, counted from its own first element. It reports false unless the
// part is rows of one length at one distance, and begins at one place, the same
// at any number of rows: that is what a pack or row pack of a circuit can say.
func (p *placer) slices(c *val, r reader) ([]shape.Layout, bool) {
	axis := p.concat(c.step).axis
	layouts := make([]shape.Layout, len(p.samples))
	width, stride, start := -1, -1, -1
	for s := range p.samples {
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
		if !ok || inner == 0 || inner > 1 && rows.Strides[1] != 1 {
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

// partOf returns the layout of what input number k fills of c.
func (p *placer) partOf(s int, c *val, k int) (shape.Layout, error) {
	known := p.concat(c.step)
	n := p.typeAt(s, p.plan.Steps[c.step].Inputs[k].Value).Shape[known.axis]
	return c.layouts[s].Slice(known.axis, known.starts[s][k], n, 1)
}
