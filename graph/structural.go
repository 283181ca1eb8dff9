package graph

import (
	"fmt"

	"github.com/berth-go/berth/shape"
)

// Identity is the op whose output is its input: the planner makes it an alias
// and no step is run for it.
type Identity struct{}

// Name returns "identity".
func (Identity) Name() string { return "identity" }

// Infer returns the type of the only input.
func (Identity) Infer(in []Type) ([]Type, error) { return same("identity", in) }

// Contiguous is the op that packs its input into row-major storage without
// gaps. Several over one node are planned as one.
type Contiguous struct{}

// Name returns "contiguous".
func (Contiguous) Name() string { return "contiguous" }

// Infer returns the type of the only input.
func (Contiguous) Infer(in []Type) ([]Type, error) { return same("contiguous", in) }

// Cache is the op that keeps its input, stored contiguous, from one run to
// the next. Once it holds a result its node is a leaf.
type Cache struct{}

// Name returns "cache".
func (Cache) Name() string { return "cache" }

// Infer returns the type of the only input.
func (Cache) Infer(in []Type) ([]Type, error) { return same("cache", in) }

func same(name string, in []Type) ([]Type, error) {
	if len(in) != 1 {
		return nil, fmt.Errorf("takes 1 input, got %d", len(in))
	}
	return []Type{in[0]}, nil
}

// Constant is the op of a leaf that has its storage from the start.
type Constant struct{}

// Name returns "constant".
func (Constant) Name() string { return "constant" }

// Infer fails: constants are made by [NewConstant].
func (Constant) Infer([]Type) ([]Type, error) {
	return nil, fmt.Errorf("has no type without its storage")
}

// Input is the op of a leaf whose storage is bound when a program runs.
type Input struct {
	Key string // the name under which it is bound
	// Rows lists the axes whose extent is the number of rows of a run. The
	// type of the node has the largest number there.
	Rows []int
}

// Name returns "input".
func (Input) Name() string { return "input" }

// Infer fails: inputs are made by [NewInput].
func (Input) Infer([]Type) ([]Type, error) { return nil, fmt.Errorf("has no type of its own") }

// A Leaf is the storage of a value that exists before the run: shared, never
// written, never freed by a plan.
type Leaf struct {
	Layout shape.Layout
	Data   []byte // the whole storage, aligned to the element width
}

// NewConstant returns a leaf over data, which it keeps and which must not
// change any more. An error names a layout that leaves the storage.
func NewConstant(t Type, leaf Leaf) (*Node, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	if !t.Shape.Equal(leaf.Layout.Shape) {
		return nil, fmt.Errorf("constant %v has a layout of shape %v", t, leaf.Layout.Shape)
	}
	if lo, hi := leaf.Layout.Bounds(); lo < 0 || hi > len(leaf.Data)/t.DType.Size() {
		return nil, fmt.Errorf("constant %v: layout %v reads elements [%d, %d) of a storage of %d bytes", t, leaf.Layout, lo, hi, len(leaf.Data))
	}
	n := newNode(Constant{}, nil, []Type{t})
	n.leaf = &leaf
	return n, nil
}

// NewInput returns a leaf that is bound under the name key at each run. Rows
// lists the axes of t whose extent varies with the rows of the run.
func NewInput(key string, t Type, rows ...int) (*Node, error) {
	if err := t.Check(); err != nil {
		return nil, fmt.Errorf("input %q: %w", key, err)
	}
	for _, axis := range rows {
		if axis < 0 || axis >= len(t.Shape) || t.Shape[axis] != t.Shape[rows[0]] {
			return nil, fmt.Errorf("input %q: axes %v of %v are not all its rows", key, rows, t)
		}
	}
	n := newNode(Input{key, rows}, nil, []Type{t})
	n.label = key
	return n, nil
}

// Leaf returns the storage of a constant or of a filled cache, and nil for
// every other node.
func (n *Node) Leaf() *Leaf {
	switch {
	case n.leaf != nil:
		return n.leaf
	case n.cache != nil:
		return n.cache.load()
	}
	return nil
}

// IsLeaf reports whether the node needs no step: a constant, an input, or a
// filled cache.
func (n *Node) IsLeaf() bool {
	if _, ok := n.op.(Input); ok {
		return true
	}
	return n.Leaf() != nil
}

// Fill stores the result of the cache node n, which the caller has locked by
// [LockCaches]. The layout must be dense; the leaf is kept and must not change
// any more.
func (n *Node) Fill(leaf Leaf) { n.cache.fill(leaf) }
