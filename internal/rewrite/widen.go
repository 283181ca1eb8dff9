package rewrite

import (
	"context"
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/view"
)

// widen has an op without arithmetic for float16 and bfloat16 compute in
// float32, between casts.
//
//	half ── op ── half   ->   half ── cast ── op ── cast ── half
//
// What such an op reads is kept in float32, rounded to the values of the half type, if it
// is computed: a product then does the rounding in its epilogue, and reads what another
// one has written. Other readers of it have a cast of their own, which fuse merges into
// them, and what moves it on its way moves float32.
//
//	                 ┌─ op ──                                           ┌─ op ──
//	x ── cast{half} ─┤          ->   x ── cast{half} ── cast{float32} ──┤
//	                 └─ add ──                                          └─ cast{half} ── add ──
func widen(_ context.Context, r *graph.Rewriter, _ *Options) error {
	w := wideness{Rewriter: r, wide: make(map[graph.Value]graph.Value)}
	w.find()
	return r.Walk(func(n *graph.Node) error {
		switch n.Op().(type) {
		case op.Widener:
			return w.compute(n)
		case elementwise.Map:
			return w.elementwise(n)
		}
		if w.wanted[n.Output(0)] && w.computed[n.Output(0)] {
			return w.move(n)
		}
		return nil
	})
}

// wideness is what is known of the halves of a graph. Keys are values of the old graph.
type wideness struct {
	*graph.Rewriter
	computed map[graph.Value]bool // by an op in float32, or moved from there
	wanted   map[graph.Value]bool // in float32, by an op or on the way to one
	wide     map[graph.Value]graph.Value
}

// find finds what is computed, and then, from the roots on, what is wanted.
func (w *wideness) find() {
	w.computed, w.wanted = make(map[graph.Value]bool), make(map[graph.Value]bool)
	for _, n := range w.Nodes() {
		_, widens := n.Op().(op.Widener)
		_, elements := n.Op().(elementwise.Map)
		for i := range n.NumOutputs() {
			if v := n.Output(i); v.Type().DType.IsHalf() {
				w.computed[v] = widens || elements || w.movesComputed(n)
				w.wanted[v] = widens && len(w.Users(v)) > 1
			}
		}
	}
	for _, n := range slices.Backward(w.Nodes()) {
		for i := range n.NumInputs() {
			if v := n.Input(i); isHalf(v) && w.reads(n) {
				w.wanted[v] = true
			}
		}
	}
}

// movesComputed reports whether n moves elements that are computed, and but for these
// constants.
func (w *wideness) movesComputed(n *graph.Node) bool {
	if !op.Moves(n.Op()) {
		return false
	}
	switch n.Op().(type) {
	case graph.Cache, view.Bitcast:
		return false
	}
	some := false
	for i := range n.NumInputs() {
		v := n.Input(i)
		if _, constant := v.Node().Op().(graph.Constant); !w.computed[v] && !constant {
			return false
		}
		some = some || w.computed[v]
	}
	return some
}

// reads reports whether n reads halves in float32, as far as it is known what is wanted of
// its results.
func (w *wideness) reads(n *graph.Node) bool {
	if _, ok := n.Op().(op.Widener); ok {
		return true
	}
	out := n.Output(0)
	return widens(n) || op.Moves(n.Op()) && w.wanted[out] && w.computed[out]
}

// widens reports whether n is the cast of halves to float32.
func widens(n *graph.Node) bool {
	m, ok := n.Op().(elementwise.Map)
	return ok && len(m.Program) == 1 && m.Program[0].Code == elementwise.Cast && m.Program[0].To == dtype.Float32 && isHalf(n.Input(0))
}

func isHalf(v graph.Value) bool { return !v.IsZero() && v.Type().DType.IsHalf() }

// inputs returns the inputs of n with halves in float32, and how many these are.
func (w *wideness) inputs(n *graph.Node) (ins []graph.Value, halves int, err error) {
	ins = w.Inputs(n)
	for i, v := range ins {
		if !isHalf(v) {
			continue
		}
		halves++
		old := n.Input(i)
		if _, known := w.wide[old]; !known { // what has several readers is cast once
			if w.wide[old], err = elementwise.CastTo(v, dtype.Float32); err != nil {
				return nil, 0, err
			}
		}
		ins[i] = w.wide[old]
	}
	return ins, halves, nil
}

// compute has the op of n compute in float32.
func (w *wideness) compute(n *graph.Node) error {
	ins, halves, err := w.inputs(n)
	if err != nil || halves == 0 {
		return err
	}
	by, err := graph.New(n.Op(), ins...)
	if err != nil {
		return err
	}
	by.WithLabel(n.Label())
	for i := range n.NumOutputs() {
		narrow, err := elementwise.CastTo(by.Output(i), n.Output(i).Type().DType)
		if err != nil {
			return err
		}
		if err := w.put(n.Output(i), narrow); err != nil {
			return err
		}
	}
	return nil
}

// cast has one cast to float32 of a value stand for all.
func (w *wideness) cast(n *graph.Node) error {
	v := n.Input(0)
	if wide, known := w.wide[v]; known {
		w.Replace(n.Output(0), wide)
		return nil
	}
	w.wide[v] = n.Output(0)
	if in := w.Replacement(v); in != v {
		w.wide[v] = n.With(in).Output(0)
		w.Replace(n.Output(0), w.wide[v])
	}
	return nil
}

// elementwise has a Map read halves that are kept in float32 by casts of its own.
func (w *wideness) elementwise(n *graph.Node) error {
	if widens(n) {
		return w.cast(n)
	}
	ins, out, changed := w.Inputs(n), n.Output(0), false
	for i, v := range ins {
		old := n.Input(i)
		if wide, known := w.wide[old]; known && w.computed[old] {
			var err error
			if ins[i], err = elementwise.CastTo(wide, v.Type().DType); err != nil {
				return err
			}
		}
		changed = changed || ins[i] != old
	}
	if changed {
		out = n.With(ins...).Output(0)
	}
	return w.put(n.Output(0), out)
}

// move has n move float32.
func (w *wideness) move(n *graph.Node) error {
	ins, _, err := w.inputs(n)
	if err != nil {
		return err
	}
	by, err := graph.New(n.Op(), ins...)
	if err != nil {
		return err
	}
	wide := by.WithLabel(n.Label()).Output(0)
	w.wide[n.Output(0)] = wide
	narrow, err := elementwise.CastTo(wide, n.Output(0).Type().DType)
	if err != nil {
		return err
	}
	w.Replace(n.Output(0), narrow)
	return nil
}

// put has by stand for v, which some node computes. Where both what reads float32 and
// other nodes read it, it is kept in float32.
func (w *wideness) put(v, by graph.Value) (err error) {
	if isHalf(v) && w.wanted[v] && w.readAsHalf(v) {
		if w.wide[v], err = elementwise.CastTo(by, dtype.Float32); err != nil {
			return err
		}
		if by, err = elementwise.CastTo(w.wide[v], v.Type().DType); err != nil {
			return err
		}
	}
	if by != v {
		w.Replace(v, by)
	}
	return nil
}

// readAsHalf reports whether a node, or a caller, reads v as it is.
func (w *wideness) readAsHalf(v graph.Value) bool {
	return w.IsRoot(v) || slices.ContainsFunc(w.Users(v), func(n *graph.Node) bool { return !w.reads(n) })
}
