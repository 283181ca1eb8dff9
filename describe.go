package berth

import (
	"fmt"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/compile"
)

// A Description is a program as plain data: its steps, and every value they
// write with its place in the arena at the most rows. [Program.Describe] makes
// one; package planview shows it.
type Description struct {
	Rows         int               `json:"rows"`
	Arena        int64             `json:"arena_bytes"`
	LowerBound   int64             `json:"lower_bound_bytes"`
	Materialized int64             `json:"materialized_bytes"`
	Strategy     string            `json:"strategy"`
	Steps        []StepDescription `json:"steps"`
	Slots        []SlotDescription `json:"slots"`
}

// A StepDescription is one step. Op is what it computes, such as "softmax" or,
// for arithmetic on single elements in one pass, "mul+add". Its operands are
// named as slots are, or as "input x", "output y" and "weight w" for what is
// not in the arena.
type StepDescription struct {
	Index int    `json:"index"`
	Op    string `json:"op"`
	Name  string `json:"name"`
	// Kind is how its first output is stored: "own" bytes, "in-place" over an
	// input, a "pack"ed part of a concatenation, or a "view" of an input, for
	// which nothing is run.
	Kind    string   `json:"kind"`
	Inputs  []string `json:"inputs"`
	Outputs []string `json:"outputs"`
	// DeallocAfter lists the slots that the step is the last to use, by ID.
	DeallocAfter []int `json:"dealloc_after"`
}

// A SlotDescription is a value in the arena: Bytes bytes from Offset on, live
// from step Start to step End, both included.
type SlotDescription struct {
	ID        int    `json:"id"`
	Name      string `json:"name"`
	DType     string `json:"dtype"`
	Shape     []int  `json:"shape"`
	Offset    int64  `json:"offset"`
	Bytes     int64  `json:"bytes"`
	Start     int    `json:"start"`
	End       int    `json:"end"`
	RowStride int64  `json:"row_stride"` // bytes from one row to the next
	// Shares is the ID of a slot whose bytes it shares on purpose: what it is
	// written over, what it is a view of, or the concatenation that it is
	// packed into. It is null when the bytes are its own, or when another
	// slot says that it shares them.
	Shares *int `json:"shares"`
}

// Describe returns the program as plain data. No two slots that do not share,
// directly or through others, have a byte in common while both are live.
func (p *Program) Describe() Description {
	d := Description{
		Rows:         p.rows(),
		Arena:        p.prog.Buffers.Arena,
		LowerBound:   p.prog.Buffers.LowerBound,
		Materialized: p.prog.Buffers.Materialized,
		Strategy:     string(p.prog.Buffers.Strategy),
		Slots:        []SlotDescription{},
	}
	names := make(map[graph.Value]string)
	slots := make(map[int]int) // ID by index among the values
	for i := range p.prog.Values {
		v := &p.prog.Values[i]
		names[v.Value] = p.nameOf(v)
		if v.Space != compile.Arena {
			continue
		}
		id := len(d.Slots)
		slots[i] = id
		t := v.Value.Type()
		d.Slots = append(d.Slots, SlotDescription{
			ID: id, Name: names[v.Value], DType: t.DType.String(), Shape: t.Shape.Clone(),
			Offset: v.Offset, Bytes: v.Bytes, Start: v.First, End: v.Last, RowStride: v.RowStride,
		})
	}
	for i, id := range slots {
		if other, ok := slots[p.prog.Values[i].Shares]; ok {
			d.Slots[id].Shares = &other
		}
	}
	kinds := make(map[graph.Value]string)
	for i := range p.prog.Values {
		v := &p.prog.Values[i]
		switch {
		case v.Why == "view":
			kinds[v.Value] = "view"
		case v.InPlace:
			kinds[v.Value] = "in-place"
		case v.Why == "pack":
			kinds[v.Value] = "pack"
		default:
			kinds[v.Value] = "own"
		}
	}
	for i := range p.prog.Plan.Steps {
		s := &p.prog.Plan.Steps[i]
		step := StepDescription{
			Index: i, Op: graph.Title(s.Node.Op()), Name: s.Node.Label(), Kind: kinds[s.Node.Output(0)],
			Inputs: []string{}, Outputs: []string{}, DeallocAfter: []int{},
		}
		for _, in := range s.Inputs {
			switch name, ok := names[in.Value]; {
			case in.Value.IsZero():
				step.Inputs = append(step.Inputs, "")
			case ok:
				step.Inputs = append(step.Inputs, name)
			default:
				step.Inputs = append(step.Inputs, leafName(in.Value))
			}
		}
		for o := range s.Outputs {
			step.Outputs = append(step.Outputs, names[s.Node.Output(o)])
		}
		d.Steps = append(d.Steps, step)
	}
	for _, slot := range d.Slots {
		s := &d.Steps[slot.End]
		s.DeallocAfter = append(s.DeallocAfter, slot.ID)
	}
	return d
}

// nameOf names a value that a step writes.
func (p *Program) nameOf(v *compile.Placed) string {
	if v.Space == compile.OutPort && v.Why == "" {
		return "output " + p.prog.Outputs[v.Index].Name
	}
	name := fmt.Sprintf("t%d", v.First)
	if i := v.Value.Index(); i > 0 {
		name += fmt.Sprintf(".%d", i)
	}
	return name
}

func leafName(v graph.Value) string {
	if in, ok := v.Node().Op().(graph.Input); ok {
		return "input " + in.Key
	}
	if label := v.Node().Label(); label != "" {
		return "weight " + label
	}
	return "weight"
}
