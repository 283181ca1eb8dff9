package berth

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/compile"
	"github.com/berth-go/berth/internal/op"
)

// A Description is a program as plain data: its steps, and every value they
// write with its place in the arena at the largest extents. [Program.Describe] makes
// one. Its text and the object that encoding/json makes of it are what the
// command berth plan prints; fields that the object leaves out say so.
type Description struct {
	Inputs       []Port      `json:"-"`
	Outputs      []Port      `json:"-"`
	Memory       Memory      `json:"-"`
	Dims         []Dimension `json:"-"`
	Rows         int         `json:"rows"` // the largest extent of the first dimension, 1 if there is none
	Arena        int64       `json:"arena_bytes"`
	LowerBound   int64       `json:"lower_bound_bytes"`
	Materialized int64       `json:"materialized_bytes"`
	Strategy     string      `json:"strategy"`
	Steps        Steps       `json:"steps"`
	Slots        []Slot      `json:"slots"`
}

// Steps are steps of a program in the order of a run.
type Steps []Step

// A Step is one step of a program. Op is what it computes, such as "softmax" or,
// for arithmetic on single elements in one pass, "mul+add". Its operands are
// named as slots are, or as "input x", "output y" and "weight w" for what is
// not in the arena.
type Step struct {
	Index int    `json:"index"` // among the steps of the description
	Op    string `json:"op"`
	Name  string `json:"name"`
	// Kind is how its first output is stored: "own" bytes, "in-place" over an
	// input, a "pack"ed part of a concatenation, or a "view" of an input.
	Kind    string   `json:"kind"`
	Inputs  []string `json:"inputs"`
	Outputs []string `json:"outputs"`
	// DeallocAfter lists the slots that the step is the last to use, by ID.
	DeallocAfter []int `json:"dealloc_after"`
	// Kernels is how many kernels run: none for a view, nor for a
	// concatenation whose parts are written into their places, and one for
	// each part of another.
	Kernels int `json:"-"`
	// Moved is how many bytes a run at the largest extents copies from one place to
	// another without computing.
	Moved int64 `json:"-"`
	// Products is how many multiplications with an addition a run at the largest extents
	// takes, where the op is a product of matrices or a convolution.
	Products int64 `json:"-"`
	// Touched is the bytes of the operands that the kernels of such a run read and write,
	// each counted once as a whole.
	Touched int64 `json:"-"`
}

// A Slot is a value in the arena: Bytes bytes from Offset on, live
// from step Start to step End, both included.
type Slot struct {
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
	if p.usable() != nil {
		return Description{}
	}
	d := Description{
		Inputs:       p.Inputs(),
		Outputs:      p.Outputs(),
		Memory:       p.Memory(),
		Dims:         p.Dims(),
		Rows:         1,
		Arena:        p.prog.Buffers.Arena,
		LowerBound:   p.prog.Buffers.LowerBound,
		Materialized: p.prog.Buffers.Materialized,
		Strategy:     string(p.prog.Buffers.Strategy),
		Slots:        []Slot{},
	}
	if len(d.Dims) > 0 {
		d.Rows = d.Dims[0].Max
	}
	names, kinds := make(map[graph.Value]string), make(map[graph.Value]string)
	slots := make(map[int]int) // ID by index among the values
	for i := range p.prog.Values {
		v := &p.prog.Values[i]
		names[v.Value], kinds[v.Value] = p.nameOf(v), kindOf(v)
		if v.Space != compile.Arena {
			continue
		}
		id := len(d.Slots)
		slots[i] = id
		t := v.Value.Type()
		d.Slots = append(d.Slots, Slot{
			ID: id, Name: names[v.Value], DType: t.DType.String(), Shape: t.Shape.Clone(),
			Offset: v.Offset, Bytes: v.Bytes, Start: v.First, End: v.Last, RowStride: v.RowStride,
		})
	}
	for i, id := range slots {
		if other, ok := slots[p.prog.Values[i].Shares]; ok {
			d.Slots[id].Shares = &other
		}
	}
	for i := range p.prog.Plan.Steps {
		s := &p.prog.Plan.Steps[i]
		step := Step{
			Index: i, Op: graph.Title(s.Node.Op()), Name: s.Node.Label(), Kind: kinds[s.Node.Output(0)],
			Inputs: []string{}, Outputs: []string{}, DeallocAfter: []int{},
		}
		for _, in := range s.Inputs {
			name, written := names[in.Value]
			if !written && !in.Value.IsZero() {
				name = leafName(in.Value)
			}
			step.Inputs = append(step.Inputs, name)
		}
		for o := range s.Outputs {
			step.Outputs = append(step.Outputs, names[s.Node.Output(o)])
		}
		d.Steps = append(d.Steps, step)
	}
	for i := range p.prog.Steps {
		s := &p.prog.Steps[i]
		d.Steps[s.Index].Kernels++
		d.Steps[s.Index].Products += op.Products(s.Op, types(s.In), types(s.Out))
		for _, t := range append(types(s.In), types(s.Out)...) {
			d.Steps[s.Index].Touched += int64(t.Bytes())
		}
		if s.Moves {
			d.Steps[s.Index].Moved += int64(s.Out[0].Type.Bytes())
		}
	}
	for _, slot := range d.Slots {
		s := &d.Steps[slot.End]
		s.DeallocAfter = append(s.DeallocAfter, slot.ID)
	}
	return d
}

// types returns the types of operands at the largest extents; that of an absent one has no
// elements.
func types(operands []compile.Operand) []graph.Type {
	list := make([]graph.Type, len(operands))
	for i, o := range operands {
		if o.Space != compile.Absent {
			list[i] = o.Type
		}
	}
	return list
}

// Plan returns the steps at which a run computes or copies something, in order:
// those of [Program.Describe] with kernels.
func (p *Program) Plan() Steps {
	return slices.DeleteFunc(p.Describe().Steps, func(s Step) bool { return s.Kernels == 0 })
}

// String describes the program as [Description] does.
func (p *Program) String() string { return p.Describe().String() }

// String prints a line for each input, output, step and slot, and the memory.
func (d Description) String() string {
	var b strings.Builder
	for _, in := range d.Inputs {
		fmt.Fprintf(&b, "input  %s %v%v\n", in.Name, in.DType, in.Dims)
	}
	for _, out := range d.Outputs {
		fmt.Fprintf(&b, "output %s %v%v\n", out.Name, out.DType, out.Dims)
	}
	for _, dim := range d.Dims {
		fmt.Fprintf(&b, "dim    %s %d to %d\n", dim.Name, dim.Min, dim.Max)
	}
	fmt.Fprintf(&b, "%v", d.Steps)
	for _, s := range d.Slots {
		fmt.Fprintln(&b, s)
	}
	b.WriteString(d.Memory.String())
	return b.String()
}

// String prints a line for each step.
func (s Steps) String() string {
	var b strings.Builder
	for _, step := range s {
		fmt.Fprintln(&b, step)
	}
	return b.String()
}

// String prints the step as in "step 3: add(t1, weight b) -> t3, in-place".
func (s Step) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "step %d: %s", s.Index, s.Op)
	if s.Name != "" {
		fmt.Fprintf(&b, " %q", s.Name)
	}
	fmt.Fprintf(&b, "(%s) -> %s, %s", strings.Join(s.Inputs, ", "), strings.Join(s.Outputs, ", "), s.Kind)
	if s.Moved > 0 {
		fmt.Fprintf(&b, ", moves %d bytes", s.Moved)
	}
	return b.String()
}

// String prints the slot as in "slot 1: t3 float32[8 10], bytes [0, 320), steps
// 3 to 4, row stride 40, shares slot 0".
func (s Slot) String() string {
	text := fmt.Sprintf("slot %d: %s %s%v, bytes [%d, %d), steps %d to %d", s.ID, s.Name, s.DType, s.Shape, s.Offset, s.Offset+s.Bytes, s.Start, s.End)
	if s.RowStride != s.Bytes {
		text += fmt.Sprintf(", row stride %d", s.RowStride)
	}
	if s.Shares != nil {
		text += fmt.Sprintf(", shares slot %d", *s.Shares)
	}
	return text
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

// kindOf is the Kind of a step whose first output is v.
func kindOf(v *compile.Placed) string {
	switch {
	case v.Why == "view":
		return "view"
	case v.InPlace:
		return "in-place"
	case v.Why == "pack":
		return "pack"
	}
	return "own"
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
