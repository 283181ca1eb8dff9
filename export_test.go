package berth

import (
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/ops"
)

// Apply returns promises of the n outputs of an op that has no method.
func Apply(n int, o graph.Op, in ...*Promise) []*Promise {
	return buildAll(n, func(in []graph.Value) ([]graph.Value, error) { return ops.Apply(o, in...) }, in...)
}
