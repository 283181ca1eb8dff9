package berth

import (
	"fmt"
	"slices"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/internal/op/ops"
	"github.com/berth-go/berth/internal/op/view"
	"github.com/berth-go/berth/shape"
)

// Reshape returns the elements in row-major order as another shape. One
// extent may be -1: it is what the others leave. Nothing is copied, but where
// the elements lie in an order that strides cannot express, as after a
// transposition.
func (p *Promise) Reshape(dims ...int) *Promise {
	dims = slices.Clone(dims)
	from := p.Shape()
	return build(func(in []graph.Value) (graph.Value, error) {
		x, to := in[0].Type().Shape, shape.Shape(dims)
		var err error
		if !slices.Contains(dims, -1) {
			to, err = scaled(to, from, x)
		}
		if err == nil {
			to, err = x.Resolve(to)
		}
		if err != nil {
			return graph.Value{}, fmt.Errorf("reshape: %w", err)
		}
		return reshape(in[0], to)
	}, p)
}

func reshape(v graph.Value, s shape.Shape) (graph.Value, error) {
	return ops.One(view.Reshape{Shape: s}, v)
}

// Flatten returns the elements as a single axis.
func (p *Promise) Flatten() *Promise { return p.Reshape(-1) }

// Transpose returns p with its last two axes exchanged.
func (p *Promise) Transpose() *Promise {
	return build(func(in []graph.Value) (graph.Value, error) {
		rank := len(in[0].Type().Shape)
		if rank < 2 {
			return graph.Value{}, fmt.Errorf("transpose: %v has fewer than 2 axes", in[0].Type())
		}
		perm := make([]int, rank)
		for i := range perm {
			perm[i] = i
		}
		perm[rank-2], perm[rank-1] = rank-1, rank-2
		return ops.One(view.Permute{Perm: perm}, in[0])
	}, p)
}

// Permute returns p with its axes in another order: axis i of the result is
// axis axes[i] of p.
func (p *Promise) Permute(axes ...int) *Promise {
	return apply(view.Permute{Perm: slices.Clone(axes)}, p)
}

// alongAxis is build of one operand, for what works along an axis of it, which
// is counted from 0 for make; name is what errors call it.
func (p *Promise) alongAxis(name string, axis int, make func(x graph.Value, axis int) (graph.Value, error)) *Promise {
	return build(func(in []graph.Value) (graph.Value, error) {
		at, err := shape.Axis(axis, len(in[0].Type().Shape))
		if err == nil {
			var v graph.Value
			if v, err = make(in[0], at); err == nil {
				return v, nil
			}
		}
		return graph.Value{}, fmt.Errorf("%s of %v: %w", name, in[0].Type(), err)
	}, p)
}

// Slice returns the elements start, start+step, ... before end of one axis.
// Negative bounds count from the end and bounds outside the axis are moved to
// its ends, as in NumPy. To run backwards through element 0, give an end below
// minus the extent.
func (p *Promise) Slice(axis, start, end, step int) *Promise {
	return p.alongAxis("slice", axis, func(x graph.Value, axis int) (graph.Value, error) {
		first, n, err := view.SliceRange(start, end, step, x.Type().Shape[axis])
		if err != nil {
			return graph.Value{}, err
		}
		return ops.One(view.SliceView{Axis: axis, Start: first, N: n, Step: step}, x)
	})
}

// Index returns element i of an axis, without the axis.
func (p *Promise) Index(axis, i int) *Promise {
	return p.alongAxis("index", axis, func(x graph.Value, axis int) (graph.Value, error) {
		s := x.Type().Shape
		at := i
		if at < 0 {
			at += s[axis]
		}
		if at < 0 || at >= s[axis] {
			return graph.Value{}, fmt.Errorf("index %d is outside axis %d", i, axis)
		}
		one, err := ops.One(view.SliceView{Axis: axis, Start: at, N: 1, Step: 1}, x)
		if err != nil {
			return graph.Value{}, err
		}
		return reshape(one, slices.Delete(s.Clone(), axis, axis+1))
	})
}

// BroadcastTo returns p repeated along axes of extent 1 and new outer axes.
func (p *Promise) BroadcastTo(dims ...int) *Promise {
	dims = slices.Clone(dims)
	from := p.Shape()
	lead := len(dims) - len(from)
	return build(func(in []graph.Value) (graph.Value, error) {
		to := slices.Clone(dims)
		for axis, d := range from {
			if at := lead + axis; at >= 0 && to[at] == d { // not repeated
				to[at] = in[0].Type().Shape[axis]
			}
		}
		return ops.One(view.BroadcastTo{Shape: to}, in[0])
	}, p)
}

// Unsqueeze returns p with a new axis of extent 1 before the given one; -1
// puts it last.
func (p *Promise) Unsqueeze(axis int) *Promise {
	return build(func(in []graph.Value) (graph.Value, error) {
		s := in[0].Type().Shape
		at, err := shape.Axis(axis, len(s)+1)
		if err != nil {
			return graph.Value{}, fmt.Errorf("unsqueeze of %v: %w", in[0].Type(), err)
		}
		return reshape(in[0], slices.Insert(s.Clone(), at, 1))
	}, p)
}

// Squeeze returns p without an axis, whose extent must be 1.
func (p *Promise) Squeeze(axis int) *Promise {
	return p.alongAxis("squeeze", axis, func(x graph.Value, axis int) (graph.Value, error) {
		s := x.Type().Shape
		if s[axis] != 1 {
			return graph.Value{}, fmt.Errorf("axis %d has %d elements, not 1", axis, s[axis])
		}
		return reshape(x, slices.Delete(s.Clone(), axis, axis+1))
	})
}

// Concat returns promises joined along an axis, on which alone they may differ.
func Concat(axis int, promises ...*Promise) *Promise {
	if len(promises) == 0 {
		return broken("concat of nothing")
	}
	return apply(move.Concat{Axis: axis}, promises...)
}

// Stack returns promises of one shape side by side along a new axis.
func Stack(axis int, promises ...*Promise) *Promise {
	if len(promises) == 0 {
		return broken("stack of nothing")
	}
	each := make([]*Promise, len(promises))
	for i, p := range promises {
		each[i] = p.Unsqueeze(axis)
	}
	return Concat(axis, each...)
}

// Split returns p cut along an axis into parts of the given sizes, which must
// add up to its extent. The parts are views.
func (p *Promise) Split(axis int, sizes ...int) []*Promise {
	return buildAll(len(sizes), func(in []graph.Value) ([]graph.Value, error) {
		at, err := shape.Axis(axis, len(in[0].Type().Shape))
		var outs []graph.Value
		if err == nil {
			outs, err = view.Split(in[0], at, sizes)
		}
		if err != nil {
			return nil, fmt.Errorf("split of %v: %w", in[0].Type(), err)
		}
		return outs, nil
	}, p)
}

// Gather returns the elements of an axis that indices, of type int64 or
// int32, name; the axis is replaced by the axes of indices. Negative indices
// count from the end; one out of range is an error of Materialize.
func (p *Promise) Gather(axis int, indices *Promise) *Promise {
	return apply(move.Gather{Axis: axis}, p, indices)
}

// GatherElements returns, at each index of indices, the element of p at that
// index with its coordinate on the axis replaced by the one in indices.
func (p *Promise) GatherElements(axis int, indices *Promise) *Promise {
	return apply(move.GatherElements{Axis: axis}, p, indices)
}

// A Reduction says what a scatter does with the element that is there.
type Reduction = move.Reduction

// The reductions of scatters.
const (
	ScatterReplace = move.ReductionNone
	ScatterAdd     = move.ReductionAdd
	ScatterMul     = move.ReductionMul
	ScatterMax     = move.ReductionMax
	ScatterMin     = move.ReductionMin
)

// ScatterElements returns p with updates written where [Promise.GatherElements]
// would read them.
func (p *Promise) ScatterElements(axis int, indices, updates *Promise, r Reduction) *Promise {
	return apply(move.ScatterElements{Axis: axis, Reduction: r}, p, indices, updates)
}

// A PadMode says what stands around a padded tensor.
type PadMode = move.PadMode

// The ways to pad.
const (
	PadZero    = move.PadConstant
	PadEdge    = move.PadEdge
	PadReflect = move.PadReflect
	PadWrap    = move.PadWrap
)

// Pad returns p with elements added around it: pads lists how many before
// each axis, then how many behind each. Negative ones are removed.
func (p *Promise) Pad(mode PadMode, pads ...int) *Promise {
	return apply(move.Pad{Mode: mode, Pads: slices.Clone(pads)}, p)
}

// Tile returns p repeated along each axis.
func (p *Promise) Tile(repeats ...int) *Promise {
	return apply(move.Tile{Repeats: slices.Clone(repeats)}, p)
}

// Tril returns p with the elements above diagonal k of its last two axes set
// to zero.
func (p *Promise) Tril(k int) *Promise { return apply(move.Trilu{K: k}, p) }

// Triu returns p with the elements below diagonal k of its last two axes set
// to zero.
func (p *Promise) Triu(k int) *Promise { return apply(move.Trilu{Upper: true, K: k}, p) }
