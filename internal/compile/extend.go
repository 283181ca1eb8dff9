package compile

import (
	"fmt"
	"maps"
	"slices"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/shape"
)

// An extension is an output that continues an input, both by number or name: the
// output is the input and something behind it, and both are one buffer of the
// caller, laid out at the largest extents. So a run writes only what is new:
//
//	past     aaaa......    4 of up to 10 columns, in each of two rows
//	         aaaa......
//	present  aaaab.....    the same bytes, and a column behind them
//	         aaaab.....
type extension struct {
	output int
	input  string
}

// extensions returns the extensions that the options ask for, in the order of the
// outputs.
func extensions(names []string, extends map[string]string) ([]extension, error) {
	var out []extension
	by := make(map[string]string) // the output that extends an input
	for i, name := range names {
		input, ok := extends[name]
		if !ok {
			continue
		}
		if other, twice := by[input]; twice {
			return nil, fmt.Errorf("outputs %q and %q both extend input %q", other, name, input)
		}
		by[input] = name
		out = append(out, extension{i, input})
	}
	for _, name := range slices.Sorted(maps.Keys(extends)) {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("output %q, which is to extend input %q, is none of %q", name, extends[name], names)
		}
	}
	return out, nil
}

// extend lays an output and the input that it extends out in one buffer.
func (p *placer) extend(e extension) error {
	c := p.vals[p.plan.Results[e.output].Operand.Value]
	fail := func(format string, args ...any) error {
		return fmt.Errorf("output %d, %v, cannot extend input %q: %w", e.output, c.Node(), e.input, fmt.Errorf(format, args...))
	}
	if c.concat == nil {
		return fail("it is no concatenation")
	}
	past := p.vals[p.plan.Steps[c.step].Inputs[0].Value]
	if in, ok := past.Node().Op().(graph.Input); !ok || in.Key != e.input {
		return fail("its first part is %v", past.Node())
	}
	largest := shape.Dense(c.Type().Shape).Strides
	for _, v := range []*val{c, past} {
		layouts := make([]shape.Layout, len(p.points))
		for s := range layouts {
			layouts[s] = shape.Layout{Shape: p.typeAt(s, v.Value).Shape, Strides: largest}
		}
		if n := p.lies(v, layouts); n != nil {
			return fail("%v needs it without gaps", n)
		}
	}
	past.into = c
	c.concat.parts[0], c.concat.extends = past, true
	return nil
}
