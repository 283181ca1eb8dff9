package plan

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/berth-go/berth/graph"
)

// String prints the plan, a line for each step, slot and result. Values are
// numbered in the order in which the plan meets them, so that equal graphs
// print alike. Slots are live over the steps [start, end], both included.
func (p *Plan) String() string {
	t := printer{names: make(map[graph.Value]string)}
	for i := range p.Steps {
		t.step(i, &p.Steps[i])
	}
	for id, s := range p.Slots {
		end := "kept"
		if s.End != Kept {
			end = strconv.Itoa(s.End)
		}
		fmt.Fprintf(&t.b, "slot %d: %d bytes, steps %d to %s\n", id, s.Bytes, s.Start, end)
	}
	for _, r := range p.Results {
		fmt.Fprintf(&t.b, "result %s: %v in %s\n", t.name(r.Operand.Value), r.Value.Type(), t.storage(r.Place))
	}
	fmt.Fprintf(&t.b, "peak %d bytes, %d without reuse\n", p.PeakBytes(), p.TotalBytes())
	return t.b.String()
}

type printer struct {
	b      strings.Builder
	names  map[graph.Value]string
	leaves int
}

func (t *printer) step(i int, s *Step) {
	ins := make([]string, len(s.Inputs))
	for k, in := range s.Inputs {
		ins[k] = t.name(in.Value)
	}
	outs := make([]string, len(s.Outputs))
	for o, out := range s.Outputs {
		v := s.Node.Output(o)
		name := fmt.Sprintf("%%%d", i)
		if o > 0 {
			name += "." + strconv.Itoa(o)
		}
		t.names[v] = name
		over := ""
		if out.Kind == InPlace {
			over = fmt.Sprintf(" over input %d,", out.Over)
		}
		outs[o] = fmt.Sprintf("%s %v %v%s %s", name, v.Type(), out.Kind, over, t.storage(out.Place))
	}
	fmt.Fprintf(&t.b, "step %d: %v(%s) -> %s", i, s.Node, strings.Join(ins, ", "), strings.Join(outs, "; "))
	if len(s.DeallocAfter) > 0 {
		fmt.Fprintf(&t.b, "; drop %s", strings.Trim(fmt.Sprint(s.DeallocAfter), "[]"))
	}
	t.b.WriteByte('\n')
}

// name returns the text name of a value; leaves are named when first seen.
func (t *printer) name(v graph.Value) string {
	if v.IsZero() {
		return "_"
	}
	name, ok := t.names[v]
	if !ok {
		if op, ok := v.Node().Op().(graph.Input); ok {
			name = op.Key
		} else {
			name = "leaf" + strconv.Itoa(t.leaves)
			t.leaves++
		}
		t.names[v] = name
	}
	return name
}

// storage prints a place; the layout only where it is not plain row-major
// from the start.
func (t *printer) storage(p Place) string {
	s := "slot " + strconv.Itoa(p.Slot)
	if p.Slot == Eternal {
		s = t.name(p.Leaf.Output(0))
	}
	if !p.Layout.IsDense() || p.Layout.Offset != 0 {
		s += fmt.Sprintf(" strides %v offset %d", p.Layout.Strides, p.Layout.Offset)
	}
	return s
}
