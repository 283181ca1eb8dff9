package graph_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/shape"
)

func TestNewConstantErrors(t *testing.T) {
	s := shape.Shape{2, 3}
	float := graph.Type{DType: dtype.Float32, Shape: s}
	for _, c := range []struct {
		t      graph.Type
		layout shape.Layout
		bytes  int
		want   string
	}{
		{float, shape.Dense(s), 24, ""},
		{float, shape.Layout{Shape: s, Strides: []int{0, -1}, Offset: 2}, 12, ""},
		{graph.Type{Shape: s}, shape.Dense(s), 24, "not an element type"},
		{graph.Type{DType: dtype.Float32, Shape: shape.Shape{-1}}, shape.Dense(shape.Shape{-1}), 24, "negative"},
		{float, shape.Dense(shape.Shape{3, 2}), 24, "layout of shape [3 2]"},
		{float, shape.Dense(s), 23, "leaves its storage of 5 elements"},
		{float, shape.Layout{Shape: s}, 24, "0 strides, want 2"},
		{float, shape.Layout{Shape: s, Strides: []int{3}}, 24, "1 strides, want 2"},
		{float, shape.Layout{Shape: s, Strides: []int{3, 1}, Offset: -1}, 24, "leaves"},
		// Sums of which an int would hold 0.
		{float, shape.Layout{Shape: s, Strides: []int{math.MinInt, math.MinInt}}, 24, "leaves"},
		{float, shape.Layout{Shape: s, Strides: []int{3, math.MaxInt/2 + 1}, Offset: 1}, 24, "leaves"},
	} {
		_, err := graph.NewConstant(c.t, graph.Leaf{Layout: c.layout, Data: make([]byte, c.bytes)})
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%v in %v: %v", c.t, c.layout, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%v in %v: error %v, want one with %q", c.t, c.layout, err, c.want)
		}
	}
}

// TestWith: a copy reads other inputs and stays the same in all else.
func TestWith(t *testing.T) {
	outs := parse(t, `a = input "a" float32[2]
b = input "b" float32[2]
c = cache a : float32[2] "kept"
out b
out c
`)
	b, c := outs[0], outs[1].Node()
	d := c.With(b)
	if d.ID() == c.ID() {
		t.Errorf("two nodes have the number %d", c.ID())
	}
	if c.Input(0) == b || d.Input(0) != b || d.Label() != "kept" || !d.Output(0).Type().Equal(c.Output(0).Type()) {
		t.Error("the copy is not like its original with another input")
	}
	leaf := graph.Leaf{Layout: shape.Dense(shape.Shape{2}), Data: make([]byte, 8)}
	c.Fill(leaf)
	if !d.IsLeaf() || &d.Leaf().Data[0] != &leaf.Data[0] {
		t.Error("the copy does not share the result of the cache")
	}
	c.Fill(graph.Leaf{Layout: leaf.Layout, Data: make([]byte, 8)})
	if &c.Leaf().Data[0] != &leaf.Data[0] {
		t.Error("a cache was filled twice")
	}
}

// TestLockCaches: the lock is exclusive over all nodes that share a cache, can
// be given up, and is free again behind a failure.
func TestLockCaches(t *testing.T) {
	outs := parse(t, `a = input "a" float32[2]
b = cache a
c = cache a
out b
out c
`)
	b, c := outs[0].Node(), outs[1].Node()
	copied := b.With(b.Input(0))
	ctx := context.Background()
	unlock, err := graph.LockCaches(ctx, []*graph.Node{c, copied, b})
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("enough waited")
	short, cancel := context.WithCancelCause(ctx)
	cancel(why)
	for _, nodes := range [][]*graph.Node{{b}, {c}, {b, c}} {
		if _, err := graph.LockCaches(short, nodes); !errors.Is(err, why) {
			t.Fatalf("a held lock of %d nodes was given with error %v", len(nodes), err)
		}
	}
	unlock()
	if unlock, err = graph.LockCaches(ctx, []*graph.Node{c}); err != nil {
		t.Fatal(err)
	}
	// Here b may be taken before c is found to be held.
	if _, err := graph.LockCaches(short, []*graph.Node{c, b}); !errors.Is(err, why) {
		t.Fatalf("error %v", err)
	}
	unlock()
	if unlock, err = graph.LockCaches(ctx, []*graph.Node{b, c}); err != nil {
		t.Fatal(err)
	}
	unlock()
}

// TestUnalignedConstant wants the storage left where it is, and one aligned copy for all who ask for elements.
func TestUnalignedConstant(t *testing.T) {
	storage := kernel.Alloc(9)
	for i := range storage {
		storage[i] = byte(i)
	}
	dims := shape.Shape{2}
	for skip, copied := range []bool{false, true} {
		n, err := graph.NewConstant(graph.Type{DType: dtype.Float32, Shape: dims}, graph.Leaf{Layout: shape.Dense(dims), Data: storage[skip : skip+8]})
		if err != nil {
			t.Fatal(err)
		}
		stored, leaf := n.Stored(), n.Leaf()
		if &stored.Data[0] != &storage[skip] || n.Stored() != stored || n.With().Stored() != stored {
			t.Errorf("%d: the storage moved", skip)
		}
		if !bytes.Equal(leaf.Data, stored.Data) || !kernel.Aligned(leaf.Data, 4) || (&leaf.Data[0] != &stored.Data[0]) != copied {
			t.Errorf("%d: %v of %v", skip, leaf.Data, stored.Data)
		}
		if n.Leaf() != leaf || n.With().Leaf() != leaf {
			t.Errorf("%d: there are several copies", skip)
		}
	}
}
