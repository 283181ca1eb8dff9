package rewrite

import (
	"context"

	"github.com/berth-go/berth/graph"
)

// All returns the names of all rules, in their order.
func All() []string { return names(func(kind) bool { return true }) }

// Alone makes the rule of the given name and no other.
func Alone(ctx context.Context, name string, roots []graph.Value, opt Options) ([]graph.Value, error) {
	for _, p := range passes {
		if p.name == name {
			builds, err := p.run(ctx, [][]graph.Value{roots}, opt)
			if err != nil {
				return nil, err
			}
			return builds[0], nil
		}
	}
	return roots, nil
}
