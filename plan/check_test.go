package plan_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/view"
	"github.com/berth-go/berth/plan"
	"github.com/berth-go/berth/shape"
)

// The graphs whose plans are spoiled. Each comment says what New makes of it.

// line allocates slots 0 and 1, and uses each again: 0, 1, 0, 1.
func line(t *testing.T) []graph.Value {
	x := f32(t, 4)
	for range 4 {
		x = node(t, never, x)
	}
	return []graph.Value{x}
}

// sum allocates slots 0 and 1, writes their sum over slot 0 and drops slot 1.
func sum(t *testing.T) []graph.Value {
	return []graph.Value{node(t, any, node(t, any, f32(t, 4)), node(t, any, f32(t, 4)))}
}

// transposed allocates slot 0, re-describes it and reads that into slot 1.
func transposed(t *testing.T) []graph.Value {
	return []graph.Value{node(t, never, node(t, swapped, node(t, any, f32(t, 2, 3))))}
}

// eternal re-describes a leaf and reads that into slot 0.
func eternal(t *testing.T) []graph.Value {
	return []graph.Value{node(t, never, node(t, swapped, f32(t, 2, 3)))}
}

// copied allocates slot 0, re-describes it and copies it into slot 1.
func copied(t *testing.T) []graph.Value {
	return []graph.Value{node(t, contiguous, node(t, swapped, node(t, any, f32(t, 2, 3))))}
}

// cached allocates slot 0, keeps it as a cache and reads it into slot 1.
func cached(t *testing.T) []graph.Value {
	return []graph.Value{node(t, any, node(t, cache, node(t, any, f32(t, 4))))}
}

// cachedHead allocates slot 0, re-describes the first half of it and copies
// that into slot 1, which it keeps.
func cachedHead(t *testing.T) []graph.Value {
	x := node(t, any, f32(t, 4))
	return []graph.Value{node(t, cache, node(t, view.SliceView{N: 2, Step: 1}, x))}
}

// cachedInput copies an input into slot 0, which it keeps.
func cachedInput(t *testing.T) []graph.Value {
	n, err := graph.NewInput("x", graph.Type{DType: dtype.Float32, Shape: shape.Shape{4}})
	if err != nil {
		t.Fatal(err)
	}
	return []graph.Value{node(t, cache, n.Output(0))}
}

// pair allocates slot 0 and reads it into slots 1 and 2.
func pair(t *testing.T) []graph.Value {
	n, err := graph.New(divmod{}, node(t, any, f32(t, 4)), f32(t, 4))
	if err != nil {
		t.Fatal(err)
	}
	return []graph.Value{n.Output(0), n.Output(1)}
}

// pairOver is pair with its first output over slot 0, and slot 1 for the other.
func pairOver(t *testing.T) []graph.Value {
	x := node(t, any, f32(t, 4))
	n, err := graph.New(divmod{any}, x, f32(t, 4))
	if err != nil {
		t.Fatal(err)
	}
	return []graph.Value{n.Output(0), n.Output(1)}
}

// beside allocates slot 0 for four float32, re-describes it by the given
// views, and reads it so and as it is into another slot, by o.
func beside(o graph.Op, views ...graph.Op) func(t *testing.T) []graph.Value {
	return func(t *testing.T) []graph.Value {
		x := node(t, any, f32(t, 4))
		y := x
		for _, view := range views {
			y = node(t, view, y)
		}
		return []graph.Value{node(t, o, x, y)}
	}
}

// widened allocates slot 0 for eight float32, re-describes the first four, and
// reads them into slot 1 as four float64.
func widened(t *testing.T) []graph.Value {
	head := node(t, view.SliceView{N: 4, Step: 1}, node(t, any, f32(t, 8)))
	return []graph.Value{node(t, mix{over: "any", beside: "any", to: dtype.Float64}, head)}
}

// last returns the first output of the last step.
func last(p *plan.Plan) *plan.Output { return &p.Steps[len(p.Steps)-1].Outputs[0] }

// owned returns the storage of four float32 of their own.
func owned(kind plan.Kind, slot int) plan.Output {
	return plan.Output{Kind: kind, Over: -1, Place: plan.Place{Slot: slot, Layout: shape.Dense(shape.Shape{4})}}
}

// overwrite has the last step write over its input k, in place of the slot that
// was made for it.
func overwrite(k int) func(p *plan.Plan) {
	return func(p *plan.Plan) {
		step := &p.Steps[len(p.Steps)-1]
		slot := step.Inputs[k].Slot
		last(p).Kind, last(p).Over, last(p).Slot = plan.InPlace, k, slot
		p.Slots = p.Slots[:len(p.Slots)-1]
		p.Slots[slot].End, p.Results[0].Slot, step.DeallocAfter = plan.Kept, slot, nil
	}
}

// TestCheckRefuses spoils plans in each way that Check tells from others.
func TestCheckRefuses(t *testing.T) {
	other := f32(t, 4)
	for _, c := range []struct {
		name  string
		graph func(t *testing.T) []graph.Value
		spoil func(p *plan.Plan)
		is    error
		says  string
	}{
		// What the plan was asked for.
		{"a result too few", line, func(p *plan.Plan) { p.Results = nil },
			plan.ErrIncomplete, "0 results for 1 roots"},
		{"another result", line, func(p *plan.Plan) { p.Results[0].Value = other },
			plan.ErrIncomplete, "result 0"},
		{"another value as the result", line, func(p *plan.Plan) { p.Results[0].Operand = p.Steps[3].Inputs[0] },
			plan.ErrWrongValue, "result 0"},
		{"a cache that is not listed", cached, func(p *plan.Plan) { p.Caches = nil },
			plan.ErrIncomplete, "fill caches [cache], the plan lists []"},
		{"a cache that is not filled", line, func(p *plan.Plan) { p.Caches = append(p.Caches, other.Node()) },
			plan.ErrIncomplete, "fill caches [], the plan lists [constant]"},

		// What a step reads.
		{"an input in no slot", line, func(p *plan.Plan) { p.Steps[1].Inputs[0].Slot = 2 },
			plan.ErrKind, "there is no slot 2"},
		{"an output in no slot", line, func(p *plan.Plan) { p.Steps[1].Outputs[0].Slot = -2 },
			plan.ErrKind, "there is no slot -2"},
		{"a result in no slot", line, func(p *plan.Plan) { p.Results[0].Slot = 2 },
			plan.ErrKind, "there is no slot 2"},
		{"another value", line, func(p *plan.Plan) { p.Steps[3].Inputs[0] = p.Steps[1].Inputs[0] },
			plan.ErrWrongValue, "step 3, mix: input 0"},
		{"an absent value", line, func(p *plan.Plan) { p.Steps[1].Inputs[0].Value = graph.Value{} },
			plan.ErrWrongValue, "_ instead of"},
		{"a leaf in a slot", line, func(p *plan.Plan) { p.Steps[0].Inputs[0].Slot = 1 },
			plan.ErrWrongValue, "is in leaf constant, not in slot 1"},
		{"another leaf", line, func(p *plan.Plan) { p.Steps[0].Inputs[0].Leaf = other.Node() },
			plan.ErrWrongValue, "is in leaf constant, not in leaf constant"},
		{"what is no leaf as one", line, func(p *plan.Plan) {
			in := &p.Steps[2].Inputs[0]
			in.Slot, in.Leaf = plan.Eternal, in.Value.Node()
			p.Steps[1], p.Steps[2] = p.Steps[2], p.Steps[1]
		}, plan.ErrNotWritten, "step 1"},
		{"a leaf in another layout", line, func(p *plan.Plan) { p.Steps[0].Inputs[0].Layout.Offset = 1 },
			plan.ErrLayout, "lies as"},
		{"an input that does not lie dense", cachedInput, func(p *plan.Plan) { p.Steps[0].Inputs[0].Layout.Strides = []int{2} },
			plan.ErrLayout, "lies as"},
		{"a value before it is written", line, func(p *plan.Plan) { p.Steps[1], p.Steps[2] = p.Steps[2], p.Steps[1] },
			plan.ErrNotWritten, "step 1"},
		{"a value in another slot", line, func(p *plan.Plan) { p.Steps[1].Inputs[0].Slot = 1 },
			plan.ErrWrongValue, "is in slot 0, not in slot 1"},
		{"a view of another leaf", eternal, func(p *plan.Plan) { p.Steps[1].Inputs[0].Leaf = other.Node() },
			plan.ErrWrongValue, "is in leaf constant, not in leaf constant"},
		{"a value in another layout", transposed, func(p *plan.Plan) { p.Steps[2].Inputs[0].Layout = shape.Dense(shape.Shape{3, 2}) },
			plan.ErrLayout, "lies as"},
		{"a value that is overwritten", func(t *testing.T) []graph.Value {
			x := node(t, any, f32(t, 4))
			return []graph.Value{node(t, never, node(t, never, node(t, never, x)), x)}
		}, func(p *plan.Plan) { // x is in slot 0
			p.Steps[2].Outputs[0], p.Steps[3].Inputs[0].Slot = owned(plan.UseSlot, 0), 0
		}, plan.ErrOverwritten, "in slot 0, by step 2"},
		{"a value that is overwritten in place", func(t *testing.T) []graph.Value {
			x := node(t, any, f32(t, 4))
			return []graph.Value{node(t, never, node(t, any, x), x)}
		}, func(p *plan.Plan) {
			p.Steps[1].Outputs[0].Kind, p.Steps[1].Outputs[0].Over, p.Steps[1].Outputs[0].Slot = plan.InPlace, 0, 0
			p.Steps[2].Inputs[0].Slot = 0
		}, plan.ErrOverwritten, "in slot 0, by step 1"},
		{"a cache that is overwritten", cached, overwrite(0),
			plan.ErrOverwritten, "cache cache"},
		{"a value whose slot is dropped", func(t *testing.T) []graph.Value {
			x := node(t, any, f32(t, 4))
			return []graph.Value{node(t, never, node(t, never, x), x)}
		}, func(p *plan.Plan) { p.Steps[1].DeallocAfter, p.Slots[0].End = []int{0}, 1 },
			plan.ErrDropped, "slot 0 with"},
		{"a result whose slot is dropped", line, func(p *plan.Plan) { p.Steps[3].DeallocAfter, p.Slots[1].End = []int{0, 1}, 3 },
			plan.ErrDropped, "result 0"},
		{"a cache whose slot is dropped", cached, func(p *plan.Plan) { p.Steps[2].DeallocAfter, p.Slots[0].End = []int{0}, 2 },
			plan.ErrDropped, "cache cache"},

		// What a step is.
		{"an input too few", line, func(p *plan.Plan) { p.Steps[1].Inputs = nil },
			plan.ErrKind, "0 inputs and 1 outputs"},
		{"an output too many", line, func(p *plan.Plan) { p.Steps[1].Outputs = append(p.Steps[1].Outputs, owned(plan.UseSlot, 0)) },
			plan.ErrKind, "1 inputs and 2 outputs"},
		{"a leaf as a step", line, func(p *plan.Plan) {
			p.Steps = append(p.Steps, plan.Step{Node: other.Node(), Outputs: []plan.Output{owned(plan.UseSlot, 0)}})
		}, plan.ErrKind, "nothing to compute"},
		{"a node twice", line, func(p *plan.Plan) { p.Steps[2] = p.Steps[1] },
			plan.ErrKind, "computed twice"},
		{"a kind that does not exist", line, func(p *plan.Plan) { last(p).Kind = plan.Allocate + 1 },
			plan.ErrKind, "kind 5"},

		// References.
		{"a reference to no input", transposed, func(p *plan.Plan) { p.Steps[1].Outputs[0].Over = -1 },
			plan.ErrKind, "not its input"},
		{"a reference to another slot", transposed, func(p *plan.Plan) { p.Steps[1].Outputs[0].Slot = 1 },
			plan.ErrKind, "not its input"},
		{"a reference to another leaf", eternal, func(p *plan.Plan) { p.Steps[0].Outputs[0].Leaf = other.Node() },
			plan.ErrKind, "not its input"},
		{"a reference to one of two inputs", pair, func(p *plan.Plan) {
			p.Steps[1].Outputs[0] = plan.Output{Kind: plan.ReferenceSlot, Place: p.Steps[1].Inputs[0].Place}
		}, plan.ErrKind, "not its input"},
		{"a slot as eternal", transposed, func(p *plan.Plan) { p.Steps[1].Outputs[0].Kind = plan.ReferenceEternal },
			plan.ErrKind, "reference-eternal to slot 0"},
		{"a leaf as a slot", eternal, func(p *plan.Plan) { p.Steps[0].Outputs[0].Kind = plan.ReferenceSlot },
			plan.ErrKind, "reference-slot to slot -1"},
		{"a view in another layout", transposed, func(p *plan.Plan) { p.Steps[1].Outputs[0].Layout = shape.Dense(shape.Shape{3, 2}) },
			plan.ErrLayout, "as a view of"},
		{"an op that computes as a reference", line, func(p *plan.Plan) {
			p.Steps[1].Outputs[0] = plan.Output{Kind: plan.ReferenceSlot, Place: p.Steps[0].Outputs[0].Place}
		}, plan.ErrKind, "computes new elements"},
		{"contiguous in strides", copied, func(p *plan.Plan) {
			p.Steps[2].Outputs[0] = plan.Output{Kind: plan.ReferenceSlot, Place: p.Steps[1].Outputs[0].Place}
		}, plan.ErrLayout, "as contiguous"},
		{"contiguous in another layout", copied, func(p *plan.Plan) {
			p.Steps[2].Outputs[0] = plan.Output{Kind: plan.ReferenceSlot, Place: plan.Place{Layout: shape.Dense(shape.Shape{3, 2})}}
		}, plan.ErrLayout, "as contiguous"},
		{"a cache of what is lent", cachedInput, func(p *plan.Plan) {
			p.Steps[0].Outputs[0] = plan.Output{Kind: plan.ReferenceEternal, Place: p.Steps[0].Inputs[0].Place}
		}, plan.ErrKind, "cannot keep input (x)"},
		{"a cache of half a slot", cachedHead, func(p *plan.Plan) {
			p.Steps[2].Outputs[0] = plan.Output{Kind: plan.ReferenceSlot, Place: p.Steps[1].Outputs[0].Place}
		}, plan.ErrSlot, "a cache of 8 bytes cannot keep slot 0 of 16"},

		// Elements of their own.
		{"another shape", line, func(p *plan.Plan) { last(p).Layout = shape.Dense(shape.Shape{2, 2}) },
			plan.ErrLayout, "shape [2 2], the node has [4]"},
		{"in strides", line, func(p *plan.Plan) { last(p).Layout.Strides = []int{2} },
			plan.ErrLayout, "new elements"},
		{"at an offset", line, func(p *plan.Plan) { last(p).Layout.Offset = 1 },
			plan.ErrLayout, "new elements"},
		{"over an input, in a slot of their own", line, func(p *plan.Plan) { last(p).Over = 0 },
			plan.ErrKind, "over input 0"},
		{"for a view that needs none", transposed, func(p *plan.Plan) {
			p.Steps[1].Outputs[0] = plan.Output{Kind: plan.Allocate, Over: -1, Place: plan.Place{Slot: 1, Layout: shape.Dense(shape.Shape{3, 2})}}
		}, plan.ErrKind, "could be a reference"},
		{"in a leaf", line, func(p *plan.Plan) { last(p).Slot = plan.Eternal },
			plan.ErrKind, "does not own"},
		{"in a slot of another size", line, func(p *plan.Plan) { p.Slots[0].Bytes = 12 },
			plan.ErrSlot, "16 bytes into slot 0 of 12"},
		{"in a slot made twice", line, func(p *plan.Plan) { p.Steps[2].Outputs[0].Kind = plan.Allocate },
			plan.ErrKind, "exists already"},
		{"in a slot that starts later", line, func(p *plan.Plan) { p.Slots[0].Start = 1 },
			plan.ErrSlot, "its start is 1"},
		{"in a slot that is not made", line, func(p *plan.Plan) { p.Steps[0].Outputs[0].Kind = plan.UseSlot },
			plan.ErrKind, "no step has made slot 0"},
		{"in a slot that is dropped", line, func(p *plan.Plan) { p.Steps[1].DeallocAfter, p.Slots[0].End = []int{0}, 1 },
			plan.ErrDropped, "step 2, mix: output 0"},

		// Beside what the step reads and writes.
		{"into another output", pair, func(p *plan.Plan) { p.Steps[1].Outputs[1] = owned(plan.UseSlot, 1) },
			plan.ErrStillRead, "output 0 is in slot 1 too"},
		{"into the other output's input", pairOver, func(p *plan.Plan) {
			p.Steps[1].Outputs[1] = p.Steps[1].Outputs[0]
		}, plan.ErrStillRead, "output 0 is in slot 0 too"},
		{"into an input that is not overwritten", line, func(p *plan.Plan) { p.Steps[1].Outputs[0] = owned(plan.UseSlot, 0) },
			plan.ErrStillRead, "input 0 lies in slot 0"},
		{"over no input", sum, func(p *plan.Plan) { last(p).Over = 2 },
			plan.ErrKind, "input 2 may not"},
		{"over an input before the first", sum, func(p *plan.Plan) { last(p).Over = -1 },
			plan.ErrKind, "input -1 may not"},
		{"over an input that the op keeps", beside(mix{over: "1"}), overwrite(0),
			plan.ErrKind, "input 0 may not"},
		{"over an input, by an op that cannot", beside(optional{}), overwrite(0),
			plan.ErrKind, "input 0 may not"},
		{"over an input that is elsewhere", sum, func(p *plan.Plan) { last(p).Over = 1 },
			plan.ErrKind, "slot 0 does not hold input 1"},
		{"over an input in strides", beside(mix{over: "1", beside: "any"}, view.SliceView{Start: 3, N: 4, Step: -1}), overwrite(1),
			plan.ErrStillRead, "lies in slot 0 as float32"},
		{"beside a reversed view", beside(any, view.SliceView{Start: 3, N: 4, Step: -1}), overwrite(0),
			plan.ErrStillRead, "input 1 lies in slot 0 as float32"},
		{"over elements of another width", widened, overwrite(0),
			plan.ErrStillRead, "input 0 lies in slot 0 as float32"},
		{"beside the same value", beside(alone{}), overwrite(0),
			plan.ErrStillRead, "input 1 may not lie in slot 0 beside input 0"},
		{"beside itself, over the other", beside(alone{}), overwrite(1),
			plan.ErrStillRead, "input 0 may not lie in slot 0 beside input 1"},
		{"beside a view of it", beside(alone{}, view.Reshape{Shape: []int{2, 2}}, view.Reshape{Shape: []int{4}}), overwrite(0),
			plan.ErrStillRead, "input 1 may not lie in slot 0 beside input 0"},
		{"beside an input that the op names", beside(mix{over: "any", beside: "1"}), func(p *plan.Plan) { last(p).Over = 1 },
			plan.ErrStillRead, "input 0 may not lie in slot 0 beside input 1"},

		// Drops.
		{"no slot", line, func(p *plan.Plan) { p.Steps[1].DeallocAfter = []int{2} },
			plan.ErrDropped, "drops slot 2"},
		{"a slot before the first", line, func(p *plan.Plan) { p.Steps[1].DeallocAfter = []int{-1} },
			plan.ErrDropped, "drops slot -1"},
		{"a slot that is not made yet", line, func(p *plan.Plan) { p.Steps[0].DeallocAfter = []int{1} },
			plan.ErrDropped, "drops slot 1"},
		{"a slot twice", line, func(p *plan.Plan) { p.Steps[3].DeallocAfter = []int{0, 0} },
			plan.ErrDropped, "drops slot 0"},
		{"a slot too late", func(t *testing.T) []graph.Value {
			return []graph.Value{node(t, never, node(t, any, f32(t, 8))), node(t, never, f32(t, 4))}
		}, func(p *plan.Plan) {
			p.Steps[1].DeallocAfter, p.Steps[2].DeallocAfter, p.Slots[0].End = nil, []int{0}, 2
		},
			plan.ErrKeptLong, "drops slot 0: keeps a slot past its last use: that was step 1"},
		{"a slot that ends elsewhere", line, func(p *plan.Plan) { p.Slots[0].End = 2 },
			plan.ErrSlot, "its end is 2"},

		// Slots after the run.
		{"a slot that no step makes", line, func(p *plan.Plan) { p.Slots = append(p.Slots, plan.Slot{Bytes: 16}) },
			plan.ErrKind, "slot 2: "},
		{"a slot that is never dropped", line, func(p *plan.Plan) { p.Steps[3].DeallocAfter = nil },
			plan.ErrKeptLong, "slot 0: "},
		{"a result whose slot ends", line, func(p *plan.Plan) { p.Slots[1].End = 3 },
			plan.ErrSlot, "it is kept, its end is 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			roots := c.graph(t)
			p := planned(t, roots...)
			c.spoil(p)
			err := plan.Check(p, roots...)
			if !errors.Is(err, c.is) || !strings.Contains(fmt.Sprint(err), c.says) {
				t.Errorf("got  %v\nwant %v, with %q\n%v", err, c.is, c.says, p)
			}
		})
	}
}
