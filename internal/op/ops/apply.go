package ops

import (
	"fmt"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/shape"
)

// Apply returns the outputs of a new node of o. Where the kernel of o needs an
// operand dense that may turn out strided, the node reads it through
// [graph.Contiguous]; where o has no arithmetic for float16 or bfloat16, the
// node computes in float32 between casts. Absent optional inputs are zero
// Values.
func Apply(o graph.Op, inputs ...graph.Value) ([]graph.Value, error) {
	if _, ok := o.(op.Widener); ok && anyHalf(inputs) {
		return applyWidened(o, inputs)
	}
	ins := make([]graph.Value, len(inputs))
	for i, v := range inputs {
		packed, err := pack(o, i, v)
		if err != nil {
			return nil, err
		}
		ins[i] = packed
	}
	n, err := graph.New(o, ins...)
	if err != nil {
		return nil, err
	}
	outs := make([]graph.Value, n.NumOutputs())
	for i := range outs {
		outs[i] = n.Output(i)
	}
	return outs, nil
}

// One is [Apply] for an op with a single output.
func One(o graph.Op, inputs ...graph.Value) (graph.Value, error) {
	outs, err := Apply(o, inputs...)
	if err != nil {
		return graph.Value{}, err
	}
	return outs[0], nil
}

func anyHalf(inputs []graph.Value) bool {
	for _, v := range inputs {
		if v.Type().DType.IsHalf() {
			return true
		}
	}
	return false
}

// applyWidened computes o in float32. The types are checked, and the types of
// the outputs found, as if o computed in the narrow type.
func applyWidened(o graph.Op, inputs []graph.Value) ([]graph.Value, error) {
	types := make([]graph.Type, len(inputs))
	for i, v := range inputs {
		types[i] = v.Type()
	}
	want, err := o.Infer(types)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Name(), err)
	}
	wide := make([]graph.Value, len(inputs))
	for i, v := range inputs {
		if wide[i] = v; v.Type().DType.IsHalf() {
			if wide[i], err = elementwise.CastTo(v, dtype.Float32); err != nil {
				return nil, err
			}
		}
	}
	outs, err := Apply(o, wide...)
	if err != nil {
		return nil, err
	}
	for i, v := range outs {
		if v.Type().DType != want[i].DType {
			if outs[i], err = elementwise.CastTo(v, want[i].DType); err != nil {
				return nil, err
			}
		}
	}
	return outs, nil
}

// pack returns v, or a packing of it where o needs its input i denser than v
// is sure to lie.
func pack(o graph.Op, i int, v graph.Value) (graph.Value, error) {
	if _, view := o.(graph.Viewer); v.IsZero() || view {
		return v, nil
	}
	switch o.(type) {
	case graph.Identity, graph.Contiguous, graph.Cache:
		return v, nil
	}
	rank := len(v.Type().Shape)
	need := rank
	if s, ok := o.(op.Strider); ok {
		need = s.DenseAxes(i, rank)
	}
	if denseAxes(v) >= need {
		return v, nil
	}
	n, err := graph.New(graph.Contiguous{}, v)
	if err != nil {
		return graph.Value{}, err
	}
	return n.Output(0), nil
}

// denseAxes returns how many trailing axes of v lie dense whatever the
// planner does. A view lies dense or not depending on which of the views
// under it the planner finds packed already, so each of these cases counts.
func denseAxes(v graph.Value) int {
	const deepest = 8 // views looked through before giving up
	layouts := []shape.Layout{}
	var views []graph.Viewer // from v down
	for at := v; ; at = at.Node().Input(0) {
		n := at.Node()
		if _, ok := n.Op().(graph.Identity); ok {
			continue
		}
		// Whatever at is, it may have been claimed by a packing of it.
		layouts = append(layouts, replay(shape.Dense(at.Type().Shape), views))
		view, ok := n.Op().(graph.Viewer)
		if !ok || n.IsLeaf() {
			if leaf := n.Leaf(); leaf != nil {
				layouts = append(layouts, replay(leaf.Layout, views))
			}
			break
		}
		if len(views) == deepest {
			return 0
		}
		views = append(views, view)
	}
	rank := len(v.Type().Shape)
	least := rank
	for _, l := range layouts {
		least = min(least, l.DenseAxes())
	}
	return least
}

// replay applies views, the last one first, to a base layout. A view that the
// layout cannot express is packed and starts afresh, as in the planner.
func replay(l shape.Layout, views []graph.Viewer) shape.Layout {
	for i := len(views) - 1; i >= 0; i-- {
		next, ok := views[i].View(l)
		if !ok {
			// Only the shape matters; let the view of a dense layout tell it.
			next, _ = views[i].View(shape.Dense(l.Shape))
			next = shape.Dense(next.Shape)
		}
		l = next
	}
	return l
}
