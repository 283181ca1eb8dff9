package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/view"
	"github.com/berth-go/berth/plan"
	"github.com/berth-go/berth/shape"
)

// The planner knows nothing of arithmetic, so these tests compute with ops
// that only have types.

// mix broadcasts like an elementwise op. It may be written over the inputs that
// over lists ("any" for all), beside those that beside lists.
type mix struct {
	over, beside string
	to           dtype.Type // of the output; the inputs' if invalid
}

func (mix) Name() string { return "mix" }

func (m mix) Infer(in []graph.Type) ([]graph.Type, error) {
	shapes := make([]shape.Shape, len(in))
	for i, t := range in {
		shapes[i] = t.Shape
	}
	s, err := shape.Broadcast(shapes...)
	to := m.to
	if to == dtype.Invalid {
		to = in[0].DType
	}
	return []graph.Type{{DType: to, Shape: s}}, err
}

func (m mix) MayOverwrite(in, _ int) bool { return lists(m.over, in) }

func (m mix) MayShare(other, _, _ int) bool { return lists(m.beside, other) }

func lists(inputs string, i int) bool {
	return inputs == "any" || strings.Contains(inputs, fmt.Sprint(i))
}

// alone may be written over its first two inputs, but is no Sharer.
type alone struct{}

func (alone) Name() string                                { return "alone" }
func (alone) Infer(in []graph.Type) ([]graph.Type, error) { return in[:1], nil }
func (alone) MayOverwrite(in, _ int) bool                 { return in < 2 }

// divmod has two outputs, each of which may be written over either input.
type divmod struct{ mix }

func (d divmod) Infer(in []graph.Type) ([]graph.Type, error) {
	out, err := d.mix.Infer(in)
	return append(out, out...), err
}

func node(t *testing.T, o graph.Op, in ...graph.Value) graph.Value {
	t.Helper()
	n, err := graph.New(o, in...)
	if err != nil {
		t.Fatal(err)
	}
	return n.Output(0)
}

func leaf(t *testing.T, d dtype.Type, dims ...int) graph.Value {
	t.Helper()
	layout := shape.Dense(dims)
	n, err := graph.NewConstant(graph.Type{DType: d, Shape: dims}, graph.Leaf{Layout: layout, Data: make([]byte, layout.Shape.Elems()*d.Size())})
	if err != nil {
		t.Fatal(err)
	}
	return n.Output(0)
}

func f32(t *testing.T, dims ...int) graph.Value { return leaf(t, dtype.Float32, dims...) }

var (
	any        = mix{over: "any", beside: "any"}
	never      = mix{}
	contiguous = graph.Contiguous{}
	noop       = graph.Identity{}
	cache      = graph.Cache{}
	swapped    = view.Permute{Perm: []int{1, 0}}
)

// planned plans roots, proves the plan and returns it.
func planned(t *testing.T, roots ...graph.Value) *plan.Plan {
	t.Helper()
	p, err := plan.New(roots...)
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Check(p, roots...); err != nil {
		t.Fatalf("%v\n%v", err, p)
	}
	return p
}

// want compares the kinds of all outputs, step by step.
func want(t *testing.T, p *plan.Plan, kinds ...string) {
	t.Helper()
	var got []string
	for _, s := range p.Steps {
		for _, o := range s.Outputs {
			k := fmt.Sprint(o.Kind)
			if o.Kind == plan.InPlace {
				k += fmt.Sprint(" ", o.Over)
			}
			got = append(got, k)
		}
	}
	if strings.Join(got, ", ") != strings.Join(kinds, ", ") {
		t.Errorf("got  %v\nwant %v\n%v", got, kinds, p)
	}
}

// reads compares the node that input i of the step of reader reads.
func reads(t *testing.T, p *plan.Plan, reader graph.Value, i int, from graph.Value) {
	t.Helper()
	for _, s := range p.Steps {
		if s.Node == reader.Node() {
			if s.Inputs[i].Value != from {
				t.Errorf("%v reads %v, want %v\n%v", reader, s.Inputs[i].Value, from, p)
			}
			return
		}
	}
	t.Errorf("%v has no step\n%v", reader, p)
}

// The example of the seed: (a + b) * 2 runs in one allocation.
func TestSumTimesTwo(t *testing.T) {
	a, b := f32(t, 2, 3), f32(t, 2, 3)
	sum := node(t, any, a, b)
	p := planned(t, node(t, any, sum))
	want(t, p, "allocate", "in-place 0")
	if len(p.Slots) != 1 || p.Slots[0].End != plan.Kept {
		t.Errorf("slots %v", p.Slots)
	}
}

// a - b where a is the caller's and only b may be overwritten.
func TestOnlySecondOperandOverwritten(t *testing.T) {
	a := f32(t, 4)
	b := node(t, any, f32(t, 4))
	want(t, planned(t, node(t, any, a, b)), "allocate", "in-place 1")
	// The op may forbid it, whatever the buffers allow.
	want(t, planned(t, node(t, mix{over: "0"}, a, b)), "allocate", "allocate")
}

// The operand read again later is not overwritten, the other one is.
func TestOperandStillRead(t *testing.T) {
	a, b := node(t, any, f32(t, 4)), node(t, any, f32(t, 4))
	d := node(t, any, a, b)
	p := planned(t, node(t, any, d, a))
	want(t, p, "allocate", "allocate", "in-place 1", "in-place 0")
}

func TestTensorPlusItself(t *testing.T) {
	x := node(t, any, f32(t, 4))
	want(t, planned(t, node(t, any, x, x)), "allocate", "in-place 0")
}

// What an op may not share with its other inputs is not written over, in
// whatever way they come to lie in the same bytes.
func TestOperandBesideItself(t *testing.T) {
	flat := func(x graph.Value) graph.Value { return node(t, view.Reshape{Shape: []int{4}}, x) }
	for _, c := range []struct {
		name  string
		other func(x graph.Value) graph.Value
		kinds []string // of the steps between
	}{
		{"the value", func(x graph.Value) graph.Value { return x }, nil},
		{"its alias", func(x graph.Value) graph.Value { return node(t, noop, x) }, nil},
		{"it as contiguous", func(x graph.Value) graph.Value { return node(t, contiguous, x) }, nil},
		{"a view", flat, []string{"reference-slot"}},
		{"a view of a view", func(x graph.Value) graph.Value {
			return flat(node(t, view.Reshape{Shape: []int{2, 2}}, x))
		}, []string{"reference-slot", "reference-slot"}},
		{"it reversed", func(x graph.Value) graph.Value {
			return node(t, view.SliceView{Start: 3, N: 4, Step: -1}, x)
		}, []string{"reference-slot"}},
		{"a part", func(x graph.Value) graph.Value {
			return node(t, view.SliceView{Start: 1, N: 1, Step: 1}, x)
		}, []string{"reference-slot"}},
		{"its bits", func(x graph.Value) graph.Value { return node(t, view.Bitcast{To: dtype.Int32}, x) }, []string{"reference-slot"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			kinds := func(last ...string) []string { return append(append([]string{"allocate"}, c.kinds...), last...) }
			x := node(t, any, f32(t, 4))
			want(t, planned(t, node(t, alone{}, x, c.other(x))), kinds("allocate")...)
			x = node(t, any, f32(t, 4))
			y := c.other(x)
			want(t, planned(t, node(t, alone{}, y, x)), kinds("allocate")...)
			// The fact is of each input: the third may not share, the second may.
			x = node(t, any, f32(t, 4))
			want(t, planned(t, node(t, mix{over: "0", beside: "1"}, x, f32(t, 4), c.other(x))), kinds("allocate")...)
		})
	}
}

// The other inputs lie elsewhere, or may share, or another input is free to be
// written over.
func TestOperandBesideOthers(t *testing.T) {
	x, y := node(t, any, f32(t, 4)), node(t, any, f32(t, 4))
	want(t, planned(t, node(t, alone{}, x, f32(t, 4))), "allocate", "in-place 0")
	want(t, planned(t, node(t, alone{}, f32(t, 4), x)), "allocate", "in-place 1")
	want(t, planned(t, node(t, alone{}, x, y, x)), "allocate", "allocate", "in-place 1")
	want(t, planned(t, node(t, mix{over: "0", beside: "2"}, x, y, x)), "allocate", "allocate", "in-place 0")
	same := node(t, view.Reshape{Shape: []int{4}}, x)
	want(t, planned(t, node(t, mix{over: "0", beside: "1"}, x, same)), "allocate", "reference-slot", "in-place 0")
}

// x + x transposed: the buffer is read in two layouts, so neither may be
// written over.
func TestTensorPlusItsTranspose(t *testing.T) {
	x := node(t, any, f32(t, 3, 3))
	y := node(t, swapped, x)
	want(t, planned(t, node(t, any, x, y)), "allocate", "reference-slot", "allocate")
	want(t, planned(t, node(t, any, y, x)), "allocate", "reference-slot", "allocate")
}

// One operand that may share does not make up for one that may not.
func TestTensorTransposedBetween(t *testing.T) {
	x := node(t, any, f32(t, 3, 3))
	y := node(t, swapped, x)
	want(t, planned(t, node(t, any, x, y, x)), "allocate", "reference-slot", "allocate")
	want(t, planned(t, node(t, any, x, x, y)), "allocate", "reference-slot", "allocate")
}

func TestBroadcastOperandKept(t *testing.T) {
	small := node(t, any, f32(t, 4))
	big := f32(t, 3, 4)
	want(t, planned(t, node(t, any, small, big)), "allocate", "allocate")
	wide := node(t, view.BroadcastTo{Shape: []int{3, 4}}, small)
	want(t, planned(t, node(t, any, wide, big)), "allocate", "reference-slot", "allocate")
}

func TestStridedOperandKept(t *testing.T) {
	x := node(t, any, f32(t, 3, 3))
	want(t, planned(t, node(t, any, node(t, swapped, x))), "allocate", "reference-slot", "allocate")
}

// A slice of a buffer has the right layout and the wrong size.
func TestSliceOperandKept(t *testing.T) {
	x := node(t, any, f32(t, 4, 2))
	head := node(t, view.SliceView{Axis: 0, Start: 0, N: 2, Step: 1}, x)
	want(t, planned(t, node(t, any, head)), "allocate", "reference-slot", "allocate")
}

// The operand is a view of a buffer that another view still reads.
func TestViewOfBufferReadElsewhere(t *testing.T) {
	x := node(t, any, f32(t, 2, 3))
	flat := node(t, view.Reshape{Shape: []int{6}}, x)
	first := node(t, any, flat)
	last := node(t, any, first, node(t, view.Reshape{Shape: []int{6}}, x))
	p := planned(t, last)
	want(t, p, "allocate", "reference-slot", "allocate", "reference-slot", "in-place 0")
}

// A view that covers its whole buffer may be overwritten when it is the last.
func TestViewOverwritten(t *testing.T) {
	x := node(t, any, f32(t, 2, 3))
	flat := node(t, view.Reshape{Shape: []int{6}}, x)
	want(t, planned(t, node(t, any, flat)), "allocate", "reference-slot", "in-place 0")
}

// Two views of one buffer; one consumer may overwrite it only after the other
// has read it.
func TestTwoViewsOneOverwritten(t *testing.T) {
	x := node(t, any, f32(t, 2, 3))
	v, w := node(t, view.Reshape{Shape: []int{6}}, x), node(t, view.Reshape{Shape: []int{3, 2}}, x)
	first, second := node(t, any, v), node(t, any, w)
	p := planned(t, first, second)
	want(t, p, "allocate", "reference-slot", "allocate", "reference-slot", "in-place 0")
}

// An in-place write keeps the size of the buffer in bytes: float32 may become
// int32 in place, never bool or float64.
func TestElementWidthCounts(t *testing.T) {
	for to, kind := range map[dtype.Type]string{
		dtype.Int32: "in-place 0", dtype.Bool: "allocate", dtype.Float64: "allocate", dtype.Float16: "allocate",
	} {
		x := node(t, any, f32(t, 4))
		want(t, planned(t, node(t, mix{over: "any", to: to}, x)), "allocate", kind)
	}
}

// A freed buffer is taken over by size in bytes, whatever its type was.
func TestFreedBufferReused(t *testing.T) {
	x := node(t, never, f32(t, 4))
	y := node(t, never, x)
	z := node(t, never, y)
	half := node(t, mix{to: dtype.Int32}, z)
	p := planned(t, half)
	want(t, p, "allocate", "allocate", "use-slot", "use-slot")
	if len(p.Slots) != 2 {
		t.Errorf("%d slots", len(p.Slots))
	}
}

// A freed buffer is taken over once, the last freed first.
func TestFreedBuffersReusedOnce(t *testing.T) {
	x, y := node(t, never, f32(t, 4)), node(t, never, f32(t, 4))
	wide := node(t, never, x, y, f32(t, 2, 4))
	u, v := node(t, never, wide, f32(t, 2, 4)), node(t, never, f32(t, 4))
	w := node(t, never, v)
	p := planned(t, node(t, never, u, w, v))
	want(t, p, "allocate", "allocate", "allocate", "allocate", "use-slot", "use-slot", "use-slot")
	if v, w := p.Steps[4].Outputs[0].Slot, p.Steps[5].Outputs[0].Slot; v != 1 || w != 0 {
		t.Errorf("slots %d and %d are used again\n%v", v, w, p)
	}
}

// Buffers that are freed together are taken over from the last one made.
func TestFreedBuffersReusedInOrder(t *testing.T) {
	wide := make([]graph.Value, 6)
	for i := range wide {
		wide[i] = node(t, never, f32(t, 4))
	}
	joint := node(t, never, append(wide, f32(t, 2, 4))...)
	roots := []graph.Value{node(t, never, joint, f32(t, 3, 1, 1))}
	for range wide {
		roots = append(roots, node(t, never, f32(t, 4)))
	}
	p := planned(t, roots...)
	for k, r := range p.Results[1:] {
		if want := len(wide) - 1 - k; r.Slot != want {
			t.Errorf("result %d is in slot %d, want %d\n%v", k+1, r.Slot, want, p)
		}
	}
}

// A buffer that a view keeps busy does not hide one that is free.
func TestFreedBufferBesideView(t *testing.T) {
	free, x := node(t, never, f32(t, 4)), node(t, never, f32(t, 4))
	flat := node(t, view.Reshape{Shape: []int{4}}, x)
	y := node(t, never, free)
	root := node(t, never, flat, y)
	p, err := plan.InOrder([]*graph.Node{free.Node(), x.Node(), flat.Node(), y.Node(), root.Node()}, root)
	if err != nil {
		t.Fatal(err)
	}
	want(t, p, "allocate", "allocate", "reference-slot", "allocate", "use-slot")
}

// Of the buffers that one step frees, the last slot is used first, whenever it came
// out that the step is their last.
func TestFreedTogether(t *testing.T) {
	x, y := node(t, never, f32(t, 4)), node(t, never, f32(t, 4))
	flat := node(t, view.Reshape{Shape: []int{4}}, x)
	both := node(t, never, flat, y)
	root := node(t, never, both)
	p, err := plan.InOrder([]*graph.Node{x.Node(), y.Node(), flat.Node(), both.Node(), root.Node()}, root)
	if err != nil {
		t.Fatal(err)
	}
	want(t, p, "allocate", "allocate", "reference-slot", "allocate", "use-slot")
	if slot := p.Steps[4].Outputs[0].Slot; slot != 1 {
		t.Errorf("the last step uses slot %d again, not 1\n%v", slot, p)
	}
}

// The worked example of the seed, with the readers in both orders.
func TestTransposedContiguousShifted(t *testing.T) {
	build := func() (transposed, copied, shifted graph.Value) {
		transposed = node(t, swapped, node(t, any, f32(t, 2, 3)))
		return transposed, node(t, contiguous, transposed), node(t, any, transposed)
	}
	transposed, copied, shifted := build()
	p := planned(t, node(t, any, shifted, copied))
	reads(t, p, shifted, 0, transposed) // before the takeover
	reads(t, p, copied, 0, transposed)

	transposed, copied, shifted = build()
	p = planned(t, node(t, any, copied, shifted))
	reads(t, p, shifted, 0, copied) // after it
	reads(t, p, copied, 0, transposed)
}

// What aliased the claimed node before the takeover is rewritten with it.
func TestTakeoverRewritesAliases(t *testing.T) {
	x := node(t, swapped, node(t, any, f32(t, 2, 3)))
	same := node(t, noop, x)
	before := node(t, never, same)
	copied := node(t, contiguous, x)
	after := node(t, never, same)
	p := planned(t, before, copied, after)
	reads(t, p, before, 0, x)
	reads(t, p, after, 0, copied)
}

func TestViewOverIdentityOverView(t *testing.T) {
	x := node(t, any, f32(t, 2, 3))
	inner := node(t, swapped, x)
	outer := node(t, swapped, node(t, noop, inner))
	p := planned(t, node(t, any, outer))
	want(t, p, "allocate", "reference-slot", "reference-slot", "in-place 0")
	reads(t, p, outer, 0, inner)
}

// An identity chain leaves no step behind.
func TestIdentities(t *testing.T) {
	x := node(t, any, f32(t, 4))
	y := x
	for range 5 {
		y = node(t, noop, y)
	}
	p := planned(t, node(t, any, y))
	want(t, p, "allocate", "in-place 0")
}

// Views that bottom out at a leaf own nothing, however long the chain.
func TestEternalChain(t *testing.T) {
	edge := f32(t, 1, 4)
	flat := node(t, view.Reshape{Shape: []int{4}}, edge)
	wide := node(t, view.BroadcastTo{Shape: []int{3, 4}}, flat)
	p := planned(t, node(t, never, wide))
	want(t, p, "reference-eternal", "reference-eternal", "allocate")
}

func TestContiguousTwice(t *testing.T) {
	x := node(t, swapped, f32(t, 2, 3))
	a, b := node(t, contiguous, x), node(t, contiguous, x)
	sum := node(t, never, a, b)
	p := planned(t, sum)
	want(t, p, "reference-eternal", "allocate", "allocate")
	reads(t, p, sum, 1, a)
}

// Over an identity, whose alias promises nothing, the first copy takes over.
func TestContiguousOverIdentity(t *testing.T) {
	x := node(t, swapped, f32(t, 2, 3))
	same := node(t, noop, x)
	a, b := node(t, contiguous, same), node(t, contiguous, x)
	sum := node(t, never, a, b)
	p := planned(t, sum)
	want(t, p, "reference-eternal", "allocate", "allocate")
	reads(t, p, sum, 1, a)
}

func TestContiguousThroughCache(t *testing.T) {
	x := node(t, swapped, f32(t, 2, 3))
	kept := node(t, cache, x)
	copied := node(t, contiguous, kept) // the cache is contiguous
	also := node(t, contiguous, x)      // and has claimed x
	sum := node(t, never, copied, also)
	p := planned(t, sum)
	want(t, p, "reference-eternal", "allocate", "allocate")
	reads(t, p, sum, 0, kept)
	reads(t, p, sum, 1, kept)
	if p.Slots[p.Steps[1].Outputs[0].Slot].End != plan.Kept {
		t.Errorf("the cache's slot is not kept\n%v", p)
	}
}

// Two nodes over the same data share nothing: deduplication needs a shared node.
func TestContiguousThroughTwoLeaves(t *testing.T) {
	data := f32(t, 2, 3).Node().Leaf()
	copies := make([]graph.Value, 2)
	for i := range copies {
		n, err := graph.NewConstant(graph.Type{DType: dtype.Float32, Shape: shape.Shape{2, 3}}, *data)
		if err != nil {
			t.Fatal(err)
		}
		copies[i] = node(t, contiguous, node(t, swapped, n.Output(0)))
	}
	p := planned(t, node(t, never, copies...))
	want(t, p, "reference-eternal", "allocate", "reference-eternal", "allocate", "allocate")
}

// What was computed dense, or is a dense leaf, is contiguous without a step.
func TestContiguousOfContiguous(t *testing.T) {
	x := node(t, contiguous, f32(t, 2, 3))
	p := planned(t, node(t, contiguous, node(t, never, x)))
	want(t, p, "allocate")
}

// A leaf that does not lie dense is copied, and read so from then on.
func TestContiguousOfStridedLeaf(t *testing.T) {
	n, err := graph.NewConstant(graph.Type{DType: dtype.Float32, Shape: shape.Shape{2}},
		graph.Leaf{Layout: shape.Layout{Shape: shape.Shape{2}, Strides: []int{2}}, Data: make([]byte, 12)})
	if err != nil {
		t.Fatal(err)
	}
	copied := node(t, contiguous, n.Output(0))
	sum := node(t, never, copied, n.Output(0))
	p := planned(t, sum)
	want(t, p, "allocate", "allocate")
	reads(t, p, sum, 1, copied)
}

// Whether a view lies dense is seen only when it is placed: then it is a reference.
func TestContiguousOfDenseView(t *testing.T) {
	x := node(t, any, f32(t, 2, 3))
	p := planned(t, node(t, contiguous, node(t, view.Reshape{Shape: []int{6}}, x)))
	want(t, p, "allocate", "reference-slot", "reference-slot")
	// So it is of a part of a buffer, and of what the caller lends for the run.
	head := node(t, view.SliceView{N: 1, Step: 1}, x)
	want(t, planned(t, node(t, contiguous, head)), "allocate", "reference-slot", "reference-slot")
	lent, err := graph.NewInput("x", graph.Type{DType: dtype.Float32, Shape: shape.Shape{2, 3}})
	if err != nil {
		t.Fatal(err)
	}
	flat := node(t, view.Reshape{Shape: []int{6}}, lent.Output(0))
	want(t, planned(t, node(t, contiguous, flat)), "reference-eternal", "reference-eternal")
}

// Transposing twice lies dense, until a copy of the first claims it.
func TestClaimChangesLayoutOfViews(t *testing.T) {
	once := node(t, swapped, node(t, any, f32(t, 2, 3)))
	copied := node(t, contiguous, once)
	twice := node(t, swapped, once) // planned after the claim: over the copy
	flat := node(t, view.Reshape{Shape: []int{6}}, twice)
	p := planned(t, copied, flat)
	reads(t, p, twice, 0, copied)
	// The reshape cannot be a view of that, so it copies.
	want(t, p, "allocate", "reference-slot", "allocate", "reference-slot", "use-slot")
}

// A cache keeps a whole buffer or a constant without a copy. It copies a part of
// a buffer, and an input, which is the caller's.
func TestCacheReferences(t *testing.T) {
	x := node(t, any, f32(t, 4))
	p := planned(t, node(t, never, node(t, cache, x)))
	want(t, p, "allocate", "reference-slot", "allocate")
	want(t, planned(t, node(t, never, node(t, cache, f32(t, 4)))), "reference-eternal", "allocate")
	want(t, planned(t, cachedInput(t)...), "allocate")
	head := node(t, view.SliceView{Axis: 0, Start: 0, N: 2, Step: 1}, node(t, any, f32(t, 4)))
	p = planned(t, node(t, never, node(t, cache, head)))
	want(t, p, "allocate", "reference-slot", "allocate", "allocate")
}

// Whatever a cache keeps is never overwritten, even after its last reader.
func TestCachedBufferNotOverwritten(t *testing.T) {
	x := node(t, any, f32(t, 4))
	kept := node(t, cache, x)
	p := planned(t, node(t, any, kept))
	want(t, p, "allocate", "reference-slot", "allocate")
}

func TestFilledCacheIsLeaf(t *testing.T) {
	kept := node(t, cache, node(t, any, f32(t, 4)))
	kept.Node().Fill(*f32(t, 4).Node().Leaf())
	p := planned(t, node(t, contiguous, kept))
	want(t, p)
	if got := p.Results[0].Operand.Value; got != kept {
		t.Errorf("the result is %v", got)
	}
	want(t, planned(t, node(t, any, kept)), "allocate")
}

// A cache of a cache, and a cache of an identity of a cache.
func TestCacheOfCache(t *testing.T) {
	one := node(t, cache, node(t, any, f32(t, 4)))
	two := node(t, cache, node(t, noop, one))
	p := planned(t, two)
	want(t, p, "allocate", "reference-slot", "reference-slot")
	if len(p.Caches) != 2 {
		t.Errorf("fills %d caches", len(p.Caches))
	}
}

// What a cache keeps is not claimed by another one.
func TestCacheNotClaimed(t *testing.T) {
	x := node(t, any, f32(t, 4))
	one := node(t, cache, x)
	two := node(t, cache, one)
	ofOne, ofX := node(t, never, one), node(t, never, x)
	p := planned(t, two, ofOne, ofX)
	reads(t, p, two, 0, one)
	reads(t, p, ofOne, 0, one)
	reads(t, p, ofX, 0, one)
}

// An output that nobody reads is dropped at once, the other is kept.
func TestResultNobodyReads(t *testing.T) {
	n, err := graph.New(divmod{}, node(t, any, f32(t, 4)), f32(t, 4))
	if err != nil {
		t.Fatal(err)
	}
	p := planned(t, node(t, never, n.Output(1)))
	want(t, p, "allocate", "allocate", "allocate", "use-slot")
	if got := fmt.Sprint(p.Steps[1].DeallocAfter); got != "[0]" {
		t.Errorf("step 1 drops %s\n%v", got, p)
	}
	p = planned(t, n.Output(0))
	if got := fmt.Sprint(p.Steps[1].DeallocAfter); got != "[0 2]" {
		t.Errorf("step 1 drops %s\n%v", got, p)
	}
}

// Two outputs may not both be written over one input.
func TestOutputsDoNotShare(t *testing.T) {
	x := node(t, any, f32(t, 4))
	n, err := graph.New(divmod{any}, x, x)
	if err != nil {
		t.Fatal(err)
	}
	p := planned(t, n.Output(0), n.Output(1))
	want(t, p, "allocate", "in-place 0", "allocate")
	// Not even when nobody reads the one that has it.
	x = node(t, any, f32(t, 4))
	if n, err = graph.New(divmod{any}, x, x); err != nil {
		t.Fatal(err)
	}
	want(t, planned(t, n.Output(1)), "allocate", "in-place 0", "allocate")
}

func TestSameNodeTwiceAsResult(t *testing.T) {
	x := node(t, any, f32(t, 4))
	p := planned(t, x, x, node(t, any, x))
	want(t, p, "allocate", "allocate")
	if p.Results[0].Slot != p.Results[1].Slot {
		t.Error("the results differ")
	}
}

// A result that another result is computed from is not overwritten.
func TestResultInsideAnother(t *testing.T) {
	x := node(t, any, f32(t, 4))
	y := node(t, any, x)
	want(t, planned(t, y, x), "allocate", "allocate")
}

func TestRootIsLeaf(t *testing.T) {
	x := f32(t, 4)
	p := planned(t, x)
	want(t, p)
	if p.Results[0].Leaf != x.Node() {
		t.Errorf("result %v", p.Results[0])
	}
}

func TestRootIsPureAlias(t *testing.T) {
	x := node(t, any, f32(t, 2, 2))
	p := planned(t, node(t, contiguous, node(t, noop, x)))
	want(t, p, "allocate")
	if p.Results[0].Operand.Value != x || p.Slots[0].End != plan.Kept {
		t.Errorf("%v", p)
	}
}

func TestRootIsSlice(t *testing.T) {
	x := node(t, any, f32(t, 4, 2))
	p := planned(t, node(t, view.SliceView{Axis: 0, Start: 1, N: 2, Step: 1}, x))
	want(t, p, "allocate", "reference-slot")
	if p.Slots[0].End != plan.Kept || p.Results[0].Layout.Offset != 2 {
		t.Errorf("%v", p)
	}
}

func TestRootIsViewOfCache(t *testing.T) {
	kept := node(t, cache, node(t, any, f32(t, 2, 3)))
	p := planned(t, node(t, swapped, kept))
	want(t, p, "allocate", "reference-slot", "reference-slot")
	kept.Node().Fill(*f32(t, 2, 3).Node().Leaf())
	want(t, planned(t, node(t, swapped, kept)), "reference-eternal")
}

func TestEmptyAndScalar(t *testing.T) {
	for _, dims := range [][]int{{}, {0}, {3, 0}} {
		x := node(t, any, f32(t, dims...))
		want(t, planned(t, node(t, any, x, x)), "allocate", "in-place 0")
	}
}

func TestAbsentInput(t *testing.T) {
	x := node(t, any, f32(t, 4))
	n, err := graph.New(optional{}, x, graph.Value{}, x)
	if err != nil {
		t.Fatal(err)
	}
	p := planned(t, n.Output(0))
	if !p.Steps[1].Inputs[1].Value.IsZero() {
		t.Errorf("%v", p)
	}
}

type optional struct{}

func (optional) Name() string                                { return "optional" }
func (optional) Infer(in []graph.Type) ([]graph.Type, error) { return in[:1], nil }

func TestZeroRoot(t *testing.T) {
	if _, err := plan.New(graph.Value{}); err == nil {
		t.Error("no error")
	}
}

// The same graph gives the same text, whatever else the process has built.
func TestDeterministic(t *testing.T) {
	build := func() string {
		x := node(t, swapped, node(t, any, f32(t, 3, 3)))
		y := node(t, any, node(t, contiguous, x), node(t, never, x))
		return planned(t, node(t, any, y, x)).String()
	}
	first := build()
	for range 10 {
		if again := build(); again != first {
			t.Fatalf("%s\n%s", first, again)
		}
	}
}
