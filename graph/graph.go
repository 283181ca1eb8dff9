// Package graph holds computations that have not run: immutable nodes, the
// values between them, and what an op declares about itself.
//
// A graph has no container. It is whatever is reachable from the values one
// asks for, through [Node.Input]; a node can only name nodes that exist
// already, so constructors cannot build a cycle.
package graph

import (
	"fmt"
	"sync/atomic"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/shape"
)

// A Type is the element type and shape of a value. Where a value lies in
// memory is not part of its type.
type Type struct {
	DType dtype.Type
	Shape shape.Shape
}

// String prints the type as in "float32[2 3]".
func (t Type) String() string { return t.DType.String() + t.Shape.String() }

// Equal reports whether t and u have the same element type and shape.
func (t Type) Equal(u Type) bool { return t.DType == u.DType && t.Shape.Equal(u.Shape) }

// Bytes returns the bytes of a dense value of this type. The type must have
// passed [Type.Check].
func (t Type) Bytes() int { return t.Shape.Elems() * t.DType.Size() }

// Check reports an invalid element type or shape.
func (t Type) Check() error {
	if !t.DType.Valid() {
		return fmt.Errorf("%v is not an element type", t.DType)
	}
	return t.Shape.Check()
}

// An Op is what a node computes: a small immutable value whose exported
// fields are its attributes. An op that is not one of this package's
// structural ops ([Identity], [Contiguous], [Cache]) either implements
// [Viewer] or computes new elements.
//
// An op whose name alone says little to a reader implements [fmt.Stringer]
// with a few words to stand for it in messages and plans; see [Title].
type Op interface {
	// Name is the op's name in text forms, such as "softmax".
	Name() string
	// Infer returns the types of the outputs for the given inputs, or an
	// error that names the shapes which do not fit. It must not keep in.
	Infer(in []Type) ([]Type, error)
}

// A Viewer is an op that only re-describes the storage of its first input:
// it has one output and moves no element. Other inputs are not allowed.
type Viewer interface {
	Op
	// View returns the layout of the output given the layout of the input.
	// It reports false where that layout cannot express the view, as when a
	// transposed tensor is reshaped; the elements must then be copied first.
	View(in shape.Layout) (shape.Layout, bool)
}

// An Overwriter is an op that can work in place.
type Overwriter interface {
	Op
	// MayOverwrite reports whether output out may be written over input in,
	// provided that both have the same layout and elements of one width, that
	// nothing reads the input later, and that no other input of the node lies
	// in its bytes. A [Sharer] relaxes the last condition.
	MayOverwrite(in, out int) bool
}

// A Sharer is an Overwriter that may find other inputs in the bytes that it
// writes. An op that is none may rely on those bytes being one input alone.
//
// An elementwise sum is a Sharer: it reads element i of both inputs, and only
// then writes element i, so that x+x may be written over x. A scatter is none:
// it reads the updates at other places than it writes, so that the element
// which it reads next may be one that it has written.
type Sharer interface {
	Overwriter
	// MayShare reports whether output out may be written over input in while
	// input other lies in the same bytes, in the same layout and with elements
	// of the same width. It is asked only where MayOverwrite(in, out) holds.
	MayShare(other, in, out int) bool
}

// A Value is one output of a node. Values are comparable.
type Value struct {
	node  *Node
	index int
}

// Node returns the node that produces v.
func (v Value) Node() *Node { return v.node }

// Index returns which output of its node v is.
func (v Value) Index() int { return v.index }

// IsZero reports whether v is the zero Value, which no node produces. It
// stands for an optional input that is absent.
func (v Value) IsZero() bool { return v.node == nil }

// Type returns the element type and shape of v; the zero Type for the zero Value.
func (v Value) Type() Type {
	if v.node == nil {
		return Type{}
	}
	return v.node.outs[v.index]
}

// String prints v as in "n12" or "n12.1" for outputs after the first.
func (v Value) String() string {
	switch {
	case v.node == nil:
		return "_"
	case v.index == 0:
		return fmt.Sprintf("n%d", v.node.id)
	}
	return fmt.Sprintf("n%d.%d", v.node.id, v.index)
}

// A Node is an op applied to inputs, or a leaf. Nodes are immutable, but for
// the result that a [Cache] node holds.
type Node struct {
	id    uint64
	op    Op
	ins   []Value
	outs  []Type
	label string

	leaf  *storedLeaf // of a Constant
	cache *cacheState // of a Cache
}

var lastID atomic.Uint64

// New returns a node that applies op to inputs, after checking their types.
// It keeps inputs. An absent optional input is the zero [Value].
func New(op Op, inputs ...Value) (*Node, error) {
	types := make([]Type, len(inputs))
	for i, v := range inputs {
		types[i] = v.Type()
	}
	outs, err := op.Infer(types)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Title(op), err)
	}
	for i, t := range outs {
		if err := t.Check(); err != nil {
			return nil, fmt.Errorf("%s: output %d: %w", Title(op), i, err)
		}
	}
	n := newNode(op, inputs, outs)
	if _, ok := op.(Cache); ok {
		n.cache = newCacheState(n.id)
	}
	return n, nil
}

func newNode(op Op, inputs []Value, outs []Type) *Node {
	return &Node{id: lastID.Add(1), op: op, ins: inputs, outs: outs}
}

// WithLabel sets the name under which errors and plans speak of the node,
// such as an ONNX node name or a source position, and returns the node. It
// must be called before the node is shared.
func (n *Node) WithLabel(label string) *Node {
	n.label = label
	return n
}

// With returns a node like n that reads other inputs of the same types, which
// it keeps. A leaf's storage and a cache's result are shared with n. Rewrites
// use it to rebuild a graph around nodes they replace.
func (n *Node) With(inputs ...Value) *Node {
	c := *n
	c.id, c.ins = lastID.Add(1), inputs
	return &c
}

// ID returns a number that no other node of the process has. Inputs have
// smaller numbers than the nodes that read them.
func (n *Node) ID() uint64 { return n.id }

// Op returns what the node computes.
func (n *Node) Op() Op { return n.op }

// Label returns the name given by [Node.WithLabel], or "".
func (n *Node) Label() string { return n.label }

// NumInputs returns the number of inputs, absent ones counted.
func (n *Node) NumInputs() int { return len(n.ins) }

// Input returns input i, which is the zero Value when it is absent.
func (n *Node) Input(i int) Value { return n.ins[i] }

// NumOutputs returns the number of outputs.
func (n *Node) NumOutputs() int { return len(n.outs) }

// Output returns output i.
func (n *Node) Output(i int) Value { return Value{n, i} }

// Title returns what op computes in a word or a few, for readers: what its
// String method prints if it has one, and else its name. Nothing parses it.
func Title(op Op) string {
	if s, ok := op.(fmt.Stringer); ok {
		return s.String()
	}
	return op.Name()
}

// String prints the [Title] of the node's op and its label, for messages.
func (n *Node) String() string {
	if n.label != "" {
		return fmt.Sprintf("%s (%s)", Title(n.op), n.label)
	}
	return Title(n.op)
}
