package berth

import (
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/shape"
)

// The methods of this file return views of a tensor: other layouts of the
// storage that both then share. They copy nothing, but for Reshape where it
// says so. Each takes what the method of [Promise] of the same name takes.

// through returns what view makes of t, which is computed by layouts alone.
func (t *Tensor) through(view func(p *Promise) *Promise) (*Tensor, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	p := view(t.Promise())
	if p.err != nil {
		return nil, p.err
	}
	return viewOf(p.value), nil
}

// viewOf returns the tensor that a value is which views make of a constant. What
// strides cannot express is copied.
func viewOf(v graph.Value) *Tensor {
	n := v.Node()
	if leaf := n.Leaf(); leaf != nil {
		return &Tensor{v.Type().DType, leaf.Layout, leaf.Data}
	}
	t, view := viewOf(n.Input(0)), n.Op().(graph.Viewer)
	l, ok := view.View(t.layout)
	if !ok {
		t = t.Contiguous()
		l, _ = view.View(t.layout)
	}
	return &Tensor{t.dtype, l, t.data}
}

// Reshape returns the elements in row-major order as another shape. One extent
// may be -1: it is what the others leave. The result is a view where strides
// can express it, always so when t is dense; elsewhere, as after a
// transposition, it is a dense copy.
func (t *Tensor) Reshape(dims ...int) (*Tensor, error) {
	return t.through(func(p *Promise) *Promise { return p.Reshape(dims...) })
}

// Slice returns the elements start, start+step, ... before end of one axis.
// Negative bounds count from the end and bounds outside the axis are moved to
// its ends, as in NumPy. To run backwards through element 0, give an end below
// minus the extent.
func (t *Tensor) Slice(axis, start, end, step int) (*Tensor, error) {
	return t.through(func(p *Promise) *Promise { return p.Slice(axis, start, end, step) })
}

// Index returns element i of an axis, without the axis. A negative i counts
// from the end.
func (t *Tensor) Index(axis, i int) (*Tensor, error) {
	return t.through(func(p *Promise) *Promise { return p.Index(axis, i) })
}

// Transpose returns t with its last two axes exchanged.
func (t *Tensor) Transpose() (*Tensor, error) { return t.through((*Promise).Transpose) }

// Permute returns t with its axes in another order: axis i of the result is
// axis axes[i] of t.
func (t *Tensor) Permute(axes ...int) (*Tensor, error) {
	return t.through(func(p *Promise) *Promise { return p.Permute(axes...) })
}

// BroadcastTo returns t repeated along axes of extent 1 and new outer axes, as
// strides of 0.
func (t *Tensor) BroadcastTo(dims ...int) (*Tensor, error) {
	return t.through(func(p *Promise) *Promise { return p.BroadcastTo(dims...) })
}

// Contiguous returns t itself when it is dense or holds nothing, a dense copy
// otherwise.
func (t *Tensor) Contiguous() *Tensor {
	if t.usable() != nil || t.IsDense() {
		return t
	}
	return &Tensor{t.dtype, shape.Dense(t.layout.Shape), t.bytes()}
}

// describe names a tensor in messages by its type and shape.
func (t *Tensor) describe() string { return t.dtype.String() + t.layout.Shape.String() }
