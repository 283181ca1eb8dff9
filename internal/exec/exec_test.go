package exec_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/exec"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/internal/op/ops"
	"github.com/berth-go/berth/internal/op/reduce"
	"github.com/berth-go/berth/internal/op/view"
	"github.com/berth-go/berth/plan"
	"github.com/berth-go/berth/shape"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func leaf(data []int32, dims ...int) graph.Leaf {
	storage := kernel.Alloc(4 * len(data))
	copy(kernel.Cast[int32](storage), data)
	return graph.Leaf{Layout: shape.Dense(dims), Data: storage}
}

func constant(data []int32, dims ...int) graph.Value {
	return must(graph.NewConstant(graph.Type{DType: dtype.Int32, Shape: dims}, leaf(data, dims...))).Output(0)
}

func addOne(v graph.Value) graph.Value {
	return must(graph.New(elementwise.Map{Program: elementwise.Program{{Code: elementwise.Add, Args: [3]elementwise.Arg{elementwise.InputArg(0), elementwise.ScalarArg(must(kernel.Int64Scalar(1).Convert(dtype.Int32)))}}}}, v)).Output(0)
}

func values(r exec.Result) []int32 {
	out := make([]int32, r.Shape.Elems())
	for i := range out {
		out[i] = kernel.Cast[int32](r.Data)[r.Layout.Offset+i*r.Layout.Strides[0]]
	}
	return out
}

// TestInputs binds storage of any layout to inputs, and names one that is not
// bound.
func TestInputs(t *testing.T) {
	in := must(graph.NewInput("x", graph.Type{DType: dtype.Int32, Shape: shape.Shape{3}})).Output(0)
	opt := exec.Options{Inputs: map[string]graph.Leaf{"x": leaf([]int32{1, 2, 3}, 3)}}
	results, err := exec.Compute(t.Context(), []graph.Value{addOne(in), in}, opt)
	if err != nil {
		t.Fatal(err)
	}
	if got := values(results[0]); !slices.Equal(got, []int32{2, 3, 4}) {
		t.Errorf("got %v", got)
	}
	if got := values(results[1]); !slices.Equal(got, []int32{1, 2, 3}) {
		t.Errorf("got %v", got)
	}
	for _, v := range []graph.Value{in, addOne(in)} {
		if _, err := exec.Compute(t.Context(), []graph.Value{v}, exec.Options{}); err == nil || !strings.Contains(err.Error(), `"x"`) {
			t.Errorf("got %v", err)
		}
	}
}

// TestBesideItself runs ops on one value as several of their operands: those
// that may not read what they write over, and one that may.
func TestBesideItself(t *testing.T) {
	x := addOne(constant([]int32{0, 1, 2, 0}, 4)) // 1 2 3 1
	at := constant([]int32{3, 2, 1, 0}, 4)
	flat := must(ops.One(view.Reshape{Shape: []int{4}}, must(ops.One(view.Reshape{Shape: []int{2, 2}}, x))))
	column := must(ops.One(view.Reshape{Shape: []int{4, 1}}, x))
	last := must(ops.One(view.SliceView{Axis: 0, Start: 3, N: 4, Step: -1}, x))
	for name, c := range map[string]struct {
		v    graph.Value
		want []int32
	}{
		"updates":         {must(ops.One(move.ScatterElements{}, x, at, x)), []int32{1, 3, 2, 1}},
		"updates by view": {must(ops.One(move.ScatterElements{Reduction: move.ReductionAdd}, x, at, flat)), []int32{2, 5, 5, 2}},
		"reversed":        {must(ops.One(move.ScatterElements{}, x, at, last)), []int32{1, 2, 3, 1}},
		"indices":         {must(ops.One(move.ScatterElements{}, x, x, at)), []int32{1, 0, 2, 1}},
		"tuples":          {must(ops.One(move.ScatterND{}, x, column, at)), []int32{1, 0, 2, 1}},
		"sum":             {must(elementwise.Apply(elementwise.Add, nil, x, flat)), []int32{2, 4, 6, 2}},
	} {
		results, err := exec.Compute(t.Context(), []graph.Value{c.v}, exec.Options{Poison: true})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := values(results[0]); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

// stopAfter is a context that ends after its Err has been asked some times.
type stopAfter struct {
	context.Context
	left  int
	cause error
}

func (c *stopAfter) Err() error {
	if c.left--; c.left < 0 {
		return c.cause
	}
	return nil
}

// TestRunAsksBetweenSteps ends a run at each of its steps, and frees the
// caches it held.
func TestRunAsksBetweenSteps(t *testing.T) {
	x := constant([]int32{1, 2, 3}, 3)
	v := addOne(x)
	for range 4 {
		v = addOne(must(graph.New(graph.Cache{}, v)).Output(0))
	}
	n := len(must(plan.New(v)).Steps)
	stop := errors.New("enough")
	for after := range n {
		// Caches that earlier rounds filled are no steps any more.
		p := must(plan.New(v))
		if after >= len(p.Steps) {
			break
		}
		_, err := exec.Compute(&stopAfter{t.Context(), after, stop}, []graph.Value{v}, exec.Options{})
		if !errors.Is(err, stop) {
			t.Fatalf("after %d of %d steps: %v", after, len(p.Steps), err)
		}
		// Whoever comes next finds no cache locked.
		unlock, err := graph.LockCaches(t.Context(), p.Caches)
		if err != nil {
			t.Fatal(err)
		}
		unlock()
	}
	results, err := exec.Compute(t.Context(), []graph.Value{v}, exec.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := values(results[0]); !slices.Equal(got, []int32{6, 7, 8}) {
		t.Errorf("got %v", got)
	}
}

// TestWaitingForACache is given up when the context ends.
func TestWaitingForACache(t *testing.T) {
	v := must(graph.New(graph.Cache{}, addOne(constant([]int32{1}, 1)))).Output(0)
	unlock, err := graph.LockCaches(t.Context(), []*graph.Node{v.Node()})
	if err != nil {
		t.Fatal(err)
	}
	stop := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error)
	go func() {
		_, err := exec.Compute(ctx, []graph.Value{v}, exec.Options{})
		done <- err
	}()
	cancel(stop)
	if err := <-done; !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
	go func() {
		_, err := exec.Compute(t.Context(), []graph.Value{v}, exec.Options{})
		done <- err
	}()
	unlock()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if leaf := v.Node().Leaf(); leaf == nil || kernel.Cast[int32](leaf.Data)[0] != 2 {
		t.Errorf("the cache holds %v", leaf)
	}
}

// TestPoisonShowsWrongReads runs a plan that is wrong: what a step still reads
// is given to another one. Only poison makes sure that it shows.
func TestPoisonShowsWrongReads(t *testing.T) {
	x := constant([]int32{1, 2, 3}, 3)
	v := must(graph.New(reduce.Reduce{Kind: reduce.Sum}, addOne(x))).Output(0)
	p := must(plan.New(v))
	if len(p.Steps) != 2 || p.Steps[0].Outputs[0].Kind != plan.Allocate {
		t.Fatalf("another plan than the test expects:\n%v", p)
	}
	right, err := exec.Run(t.Context(), p, exec.Options{Poison: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := kernel.Cast[int32](right[0].Data)[0]; got != 9 {
		t.Errorf("got %d, want 9", got)
	}
	// The sum goes into the buffer of what it adds up.
	wrong := &p.Steps[1].Outputs[0]
	wrong.Kind, wrong.Slot = plan.UseSlot, p.Steps[0].Outputs[0].Slot
	p.Steps[1].DeallocAfter = nil
	p.Results[0].Place = wrong.Place
	got, err := exec.Run(t.Context(), p, exec.Options{Poison: true})
	if err != nil {
		t.Fatal(err)
	}
	if sum := kernel.Cast[int32](got[0].Data)[0]; sum == 9 {
		t.Error("a step read a buffer that was taken over, and nothing showed")
	}
}
