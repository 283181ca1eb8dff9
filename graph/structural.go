package graph

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/shape"
)

// Identity is the op whose output is its input: the planner makes it an alias
// and no step is run for it.
type Identity struct{}

// Name returns "identity".
func (Identity) Name() string { return "identity" }

// Infer returns the type of the only input.
func (Identity) Infer(in []Type) ([]Type, error) { return same(in) }

// Contiguous is the op whose output lies in row-major order without gaps. It
// copies an input that does not lie so already. Several over one node are
// planned as one.
type Contiguous struct{}

// Name returns "contiguous".
func (Contiguous) Name() string { return "contiguous" }

// Infer returns the type of the only input.
func (Contiguous) Infer(in []Type) ([]Type, error) { return same(in) }

// Cache is the op that keeps its input, stored contiguous, from one run to
// the next. Once it holds a result its node is a leaf.
type Cache struct{}

// Name returns "cache".
func (Cache) Name() string { return "cache" }

// Infer returns the type of the only input.
func (Cache) Infer(in []Type) ([]Type, error) { return same(in) }

func same(in []Type) ([]Type, error) {
	if len(in) != 1 {
		return nil, fmt.Errorf("takes 1 input, got %d", len(in))
	}
	if !in[0].DType.Valid() {
		return nil, errors.New("input 0 is absent")
	}
	return []Type{in[0]}, nil
}

// Constant is the op of a leaf that has its storage from the start.
type Constant struct{}

// Name returns "constant".
func (Constant) Name() string { return "constant" }

// Infer fails: constants are made by [NewConstant].
func (Constant) Infer([]Type) ([]Type, error) {
	return nil, errors.New("has no type without its storage")
}

// Input is the op of a leaf whose storage is bound when a program runs.
type Input struct {
	Key string // the name under which it is bound
}

// Name returns "input".
func (Input) Name() string { return "input" }

// Infer fails: inputs are made by [NewInput].
func (Input) Infer([]Type) ([]Type, error) { return nil, errors.New("has no type of its own") }

// A Leaf is the storage of a value that exists before the run: shared, never
// written, never freed by a plan.
type Leaf struct {
	Layout shape.Layout
	Data   []byte // the whole storage, aligned to the element width
}

// A storedLeaf is the storage of a constant, and a copy of it once somebody wants that
// aligned who finds that it is not, as in a file.
type storedLeaf struct {
	Leaf
	mu      sync.Mutex
	aligned atomic.Pointer[Leaf]
}

// inElements returns the leaf with its data aligned to a width.
func (l *storedLeaf) inElements(width int) *Leaf {
	if kernel.Aligned(l.Data, width) {
		return &l.Leaf
	}
	if a := l.aligned.Load(); a != nil {
		return a
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.aligned.Load() == nil {
		data := kernel.Alloc(len(l.Data))
		copy(data, l.Data)
		l.aligned.Store(&Leaf{l.Layout, data})
	}
	return l.aligned.Load()
}

// NewConstant returns a leaf over the storage of leaf, which it keeps and
// which must not change any more. The storage need not be aligned: the first one to ask for
// it by [Node.Leaf] has it copied then. An error names a layout that is not of the
// shape of t, has not a stride for each axis, or leaves the storage.
func NewConstant(t Type, leaf Leaf) (*Node, error) {
	if err := t.Check(); err != nil {
		return nil, fmt.Errorf("constant: %w", err)
	}
	if !t.Shape.Equal(leaf.Layout.Shape) {
		return nil, fmt.Errorf("constant %v has a layout of shape %v", t, leaf.Layout.Shape)
	}
	if err := leaf.Layout.Within(len(leaf.Data) / t.DType.Size()); err != nil {
		return nil, fmt.Errorf("constant %v: %w", t, err)
	}
	n := newNode(Constant{}, nil, []Type{t})
	n.leaf = &storedLeaf{Leaf: leaf}
	return n, nil
}

// NewInput returns a leaf that is bound under the name key at each run.
func NewInput(key string, t Type) (*Node, error) {
	if err := t.Check(); err != nil {
		return nil, fmt.Errorf("input %q: %w", key, err)
	}
	n := newNode(Input{key}, nil, []Type{t})
	n.label = key
	return n, nil
}

// Leaf returns the storage of a constant or of a filled cache, and nil for
// every other node.
func (n *Node) Leaf() *Leaf {
	if n.leaf != nil {
		return n.leaf.inElements(n.outs[0].DType.Size())
	}
	return n.Stored()
}

// Stored returns what Leaf does, at the same address for as long as the node is there, but for
// data that may lie at any byte: for those who look at no element, or copy them all.
func (n *Node) Stored() *Leaf {
	switch {
	case n.leaf != nil:
		return &n.leaf.Leaf
	case n.cache != nil:
		return n.cache.filled.Load()
	}
	return nil
}

// Forget gives up the data of a constant, which [Node.Leaf] and [Node.Stored] are without from then
// on. It is for who has made the constant, and knows that nobody reads its elements any more.
func (n *Node) Forget() { n.leaf.Data = nil }

// IsLeaf reports whether the node needs no step: a constant, an input, or a
// filled cache.
func (n *Node) IsLeaf() bool {
	_, input := n.op.(Input)
	return input || n.Stored() != nil
}

// Fill stores the result of the cache node n, which the caller has locked by
// [LockCaches]. The layout must be dense; the leaf is kept and must not change
// any more.
func (n *Node) Fill(leaf Leaf) { n.cache.filled.CompareAndSwap(nil, &leaf) }
