package compile

import (
	"github.com/berth-go/berth/circuit"
	"github.com/berth-go/berth/internal/op"
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
	// expressible says, once asked, that a circuit can place the parts.
	asked, expressible bool
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
	joiner, ok := step.Node.Op().(op.Joiner)
	if !ok {
		return nil
	}
	axis := joiner.JoinAxis(len(step.Node.Output(0).Type().Shape))
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
// distance, beginning at one place, the same at every point, and where c is itself
// a part, at places that are evenly apart there too, as those of its other parts
// have to be.
func (p *placer) slices(c *val, r reader) ([]shape.Layout, bool) {
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
	return layouts, p.expressible(c)
}

// expressible reports whether a circuit can say where each part of the
// concatenation c lies: those that are copied are edges too. It is asked once c
// is placed, and answers for good.
func (p *placer) expressible(c *val) bool {
	known := p.concat(c.step)
	if known.asked {
		return known.expressible
	}
	region, ok := p.region(c)
	for k := range known.parts {
		if ok {
			_, ok = p.partRegion(region, c, k)
		}
	}
	known.asked, known.expressible = true, ok
	return ok
}

// region returns where the rows of the concatenation c lie, in elements, within
// the outermost one that it is a part of.
func (p *placer) region(c *val) (circuit.Region, bool) {
	part := c
	for part.storage == joined {
		part = part.into
	}
	if part.storage != inConcat {
		n := int64(c.Type().Shape.Elems())
		return circuit.Region{Rows: 1, Width: n, Stride: n}, true
	}
	outer, ok := p.region(part.into)
	if !ok {
		return outer, false
	}
	return p.partRegion(outer, part.into, part.input)
}

// partRegion returns where the rows of input k of the concatenation c lie, given
// that of c.
func (p *placer) partRegion(region circuit.Region, c *val, k int) (circuit.Region, bool) {
	known := p.concat(c.step)
	whole, in := c.Type().Shape, p.plan.Steps[c.step].Inputs[k].Value.Type().Shape
	inner := whole[known.axis+1:].Elems()
	return region.Part(int64(known.starts[p.largest][k]*inner), int64(in[:known.axis].Elems()),
		int64(in[known.axis:].Elems()), int64(whole[known.axis:].Elems()))
}

// partOf returns the layout of what input number k fills of c.
func (p *placer) partOf(s int, c *val, k int) (shape.Layout, error) {
	known := p.concat(c.step)
	n := p.typeAt(s, p.plan.Steps[c.step].Inputs[k].Value).Shape[known.axis]
	return c.layouts[s].Slice(known.axis, known.starts[s][k], n, 1)
}
