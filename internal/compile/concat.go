package compile

import (
	"slices"

	"github.com/berth-go/berth/circuit"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/plan"
	"github.com/berth-go/berth/shape"
)

// concat is what is known of a concatenation: where each input begins along its axis,
// at each point, and the values that are in place.
type concat struct {
	axis   int
	starts [][]int // by point, then input
	parts  []*val  // by input; nil where the input is copied
	alone  bool    // a single row at every point: parts lie in one piece
	// extends says that the first part is an input, in whose buffer the whole
	// lies. The others lie where that ends in a run, and are copied there.
	extends bool
}

// newConcat returns what is known of the concatenation at a step before anything is
// in place, or nil if the step is none.
func (p *placer) newConcat(step *plan.Step) *concat {
	joiner, ok := step.Node.Op().(op.Joiner)
	if !ok {
		return nil
	}
	out := step.Node.Output(0)
	c := &concat{axis: joiner.JoinAxis(len(out.Type().Shape)), parts: make([]*val, len(step.Inputs)), alone: true}
	for s := range p.points {
		c.alone = c.alone && p.typeAt(s, out).Shape[:c.axis].Elems() == 1
		starts, at := make([]int, len(step.Inputs)), 0
		for k, in := range step.Inputs {
			starts[k] = at
			at += p.typeAt(s, in.Value).Shape[c.axis]
		}
		c.starts = append(c.starts, starts)
	}
	return c
}

// packed reports whether v is a concatenation of which some input is in place.
func (v *val) packed() bool {
	return v.concat != nil && slices.ContainsFunc(v.concat.parts, func(part *val) bool { return part != nil })
}

// slices returns the part of the concatenation c that its input k fills, at each
// point, counted from its own first element. It reports false unless that is
// what a pack or row pack of a circuit can say: rows of one length at one
// distance, beginning at one place, the same at every point, and where c is itself
// a part, at places that are evenly apart there too, as those of its other parts
// have to be.
func (p *placer) slices(c *val, k int) ([]shape.Layout, bool) {
	layouts := p.partOf(c, k)
	start, width, stride := 0, 0, 0
	for s := range layouts {
		part := &layouts[s]
		first := part.Offset
		part.Offset = 0
		outer, inner := part.Shape[:c.concat.axis].Elems(), part.Shape[c.concat.axis:].Elems()
		rows, ok := part.Reshape(shape.Shape{outer, inner})
		if !ok || inner == 0 || inner > 1 && rows.Strides[1] != 1 || outer == 0 && s == p.largest {
			return nil, false
		}
		if s == 0 {
			start, width = first, inner
		}
		if outer > 1 && stride == 0 {
			stride = rows.Strides[0]
		}
		if first != start || inner != width || outer > 1 && rows.Strides[0] != stride {
			return nil, false
		}
	}
	return layouts, p.expressible(c)
}

// expressible reports whether a circuit can say where each part of the
// concatenation c, which is placed, lies: those that are copied are edges too.
func (p *placer) expressible(c *val) bool {
	region, ok := p.region(c)
	for k := 0; k < len(c.concat.parts) && ok; k++ {
		_, ok = p.partRegion(region, c, k)
	}
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
	axis, start := c.concat.axis, c.concat.starts[p.largest][k]
	whole, in := c.Type().Shape, c.Node().Input(k).Type().Shape
	return region.Part(int64(start*whole[axis+1:].Elems()), int64(in[:axis].Elems()),
		int64(in[axis:].Elems()), int64(whole[axis:].Elems()))
}

// partOf returns the layout of what input number k fills of c, at each point.
func (p *placer) partOf(c *val, k int) []shape.Layout {
	layouts := make([]shape.Layout, len(p.points))
	axis := c.concat.axis
	for s := range layouts {
		var err error
		n := p.typeAt(s, c.Node().Input(k)).Shape[axis]
		if layouts[s], err = c.layouts[s].Slice(axis, c.concat.starts[s][k], n, 1); err != nil {
			panic("compile: " + err.Error()) // the parts make up the whole
		}
	}
	return layouts
}
