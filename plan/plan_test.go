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

// The planner knows nothing of arithmetic, so these tests compute with two
// ops that only have types: one that may work in place and one that may not.

// mix is an elementwise op: it may overwrite any input of its output's shape
// that over lists (every one if over is "any").
type mix struct {
	over string
	to   dtype.Type // of the output; the inputs' if invalid
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

func (m mix) MayOverwrite(in, _ int) bool {
	return m.over == "any" || strings.Contains(m.over, fmt.Sprint(in))
}

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
	any     = mix{over: "any"}
	never   = mix{}
	pack    = graph.Contiguous{}
	noop    = graph.Identity{}
	cache   = graph.Cache{}
	swapped = view.Permute{Perm: []int{1, 0}}
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

// x + x transposed: the buffer is read in two layouts, so neither may be
// written over.
func TestTensorPlusItsTranspose(t *testing.T) {
	x := node(t, any, f32(t, 3, 3))
	y := node(t, swapped, x)
	want(t, planned(t, node(t, any, x, y)), "allocate", "reference-slot", "allocate")
	want(t, planned(t, node(t, any, y, x)), "allocate", "reference-slot", "allocate")
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

// The worked example of the seed, with the readers in both orders.
func TestTransposedContiguousShifted(t *testing.T) {
	build := func() (transposed, contiguous, shifted graph.Value) {
		transposed = node(t, swapped, node(t, any, f32(t, 2, 3)))
		return transposed, node(t, pack, transposed), node(t, any, transposed)
	}
	transposed, contiguous, shifted := build()
	p := planned(t, node(t, any, shifted, contiguous))
	reads(t, p, shifted, 0, transposed) // before the takeover
	reads(t, p, contiguous, 0, transposed)

	transposed, contiguous, shifted = build()
	p = planned(t, node(t, any, contiguous, shifted))
	reads(t, p, shifted, 0, contiguous) // after it
	reads(t, p, contiguous, 0, transposed)
}

// What aliased the claimed node before the takeover is rewritten with it.
func TestTakeoverRewritesAliases(t *testing.T) {
	x := node(t, swapped, node(t, any, f32(t, 2, 3)))
	same := node(t, noop, x)
	before := node(t, never, same)
	packed := node(t, pack, x)
	after := node(t, never, same)
	p := planned(t, before, packed, after)
	reads(t, p, before, 0, x)
	reads(t, p, after, 0, packed)
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

func TestPackTwice(t *testing.T) {
	x := node(t, swapped, f32(t, 2, 3))
	a, b := node(t, pack, x), node(t, pack, x)
	sum := node(t, never, a, b)
	p := planned(t, sum)
	want(t, p, "reference-eternal", "allocate", "allocate")
	reads(t, p, sum, 1, a)
}

// Over an identity, whose alias promises nothing, the first packing takes over.
func TestPackOverIdentity(t *testing.T) {
	x := node(t, swapped, f32(t, 2, 3))
	same := node(t, noop, x)
	a, b := node(t, pack, same), node(t, pack, x)
	sum := node(t, never, a, b)
	p := planned(t, sum)
	want(t, p, "reference-eternal", "allocate", "allocate")
	reads(t, p, sum, 1, a)
}

func TestPackThroughCache(t *testing.T) {
	x := node(t, swapped, f32(t, 2, 3))
	kept := node(t, cache, x)
	packed := node(t, pack, kept) // the cache is contiguous
	also := node(t, pack, x)      // and has claimed x
	sum := node(t, never, packed, also)
	p := planned(t, sum)
	want(t, p, "reference-eternal", "allocate", "allocate")
	reads(t, p, sum, 0, kept)
	reads(t, p, sum, 1, kept)
	if p.Slots[p.Steps[1].Outputs[0].Slot].End != plan.Kept {
		t.Errorf("the cache's slot is not kept\n%v", p)
	}
}

// Two nodes over the same data share nothing: deduplication needs a shared node.
func TestPackThroughTwoLeaves(t *testing.T) {
	data := f32(t, 2, 3).Node().Leaf()
	packed := make([]graph.Value, 2)
	for i := range packed {
		n, err := graph.NewConstant(graph.Type{DType: dtype.Float32, Shape: shape.Shape{2, 3}}, *data)
		if err != nil {
			t.Fatal(err)
		}
		packed[i] = node(t, pack, node(t, swapped, n.Output(0)))
	}
	p := planned(t, node(t, never, packed...))
	want(t, p, "reference-eternal", "allocate", "reference-eternal", "allocate", "allocate")
}

// Packing what was computed dense, or a dense leaf, is no step at all.
func TestPackOfContiguous(t *testing.T) {
	x := node(t, pack, f32(t, 2, 3))
	p := planned(t, node(t, pack, node(t, never, x)))
	want(t, p, "allocate")
}

// Whether a view lies dense is seen only when it is placed: then it is a reference.
func TestPackOfDenseView(t *testing.T) {
	x := node(t, any, f32(t, 2, 3))
	p := planned(t, node(t, pack, node(t, view.Reshape{Shape: []int{6}}, x)))
	want(t, p, "allocate", "reference-slot", "reference-slot")
}

// Transposing twice lies dense, until the packing of the first claims it.
func TestClaimChangesLayoutOfViews(t *testing.T) {
	once := node(t, swapped, node(t, any, f32(t, 2, 3)))
	packed := node(t, pack, once)
	twice := node(t, swapped, once) // planned after the claim: over packed
	flat := node(t, view.Reshape{Shape: []int{6}}, twice)
	p := planned(t, packed, flat)
	reads(t, p, twice, 0, packed)
	// The reshape cannot be a view of that any more, so it packs.
	want(t, p, "allocate", "reference-slot", "allocate", "reference-slot", "use-slot")
}

// A cache keeps a whole buffer without a copy, and copies a part of one.
func TestCacheReferences(t *testing.T) {
	x := node(t, any, f32(t, 4))
	p := planned(t, node(t, never, node(t, cache, x)))
	want(t, p, "allocate", "reference-slot", "allocate")
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
	p := planned(t, node(t, pack, kept))
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
	p := planned(t, node(t, pack, node(t, noop, x)))
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
		y := node(t, any, node(t, pack, x), node(t, never, x))
		return planned(t, node(t, any, y, x)).String()
	}
	first := build()
	for range 10 {
		if again := build(); again != first {
			t.Fatalf("%s\n%s", first, again)
		}
	}
}
