package berth

import (
	"fmt"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
)

// TensorOf returns a tensor over storage that exists already, which must not
// change any more. The storage must be aligned to the element width, and the
// layout must lie within it.
func TensorOf(t graph.Type, leaf graph.Leaf) (*Tensor, error) {
	if err := t.Check(); err != nil {
		return nil, fmt.Errorf("berth: %w", err)
	}
	if err := leaf.Layout.Within(len(leaf.Data) / t.DType.Size()); err != nil {
		return nil, fmt.Errorf("berth: storage of %v: %w", t, err)
	}
	if _, err := graph.NewConstant(t, leaf); err != nil {
		return nil, fmt.Errorf("berth: %w", err)
	}
	if !kernel.Aligned(leaf.Data, t.DType.Size()) {
		return nil, fmt.Errorf("berth: the storage of %v is not aligned to %d bytes", t, t.DType.Size())
	}
	return &Tensor{t.DType, leaf.Layout, leaf.Data}, nil
}

// Leaf returns the storage of the tensor, which is shared and must not be
// changed.
func (t *Tensor) Leaf() graph.Leaf {
	if t == nil {
		return graph.Leaf{}
	}
	return graph.Leaf{Layout: t.layout, Data: t.data}
}
