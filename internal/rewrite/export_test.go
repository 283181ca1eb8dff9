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
			rewriters, err := graph.NewRewriters([][]graph.Value{roots})
			if err != nil {
				return nil, err
			}
			if rewriters, err = p.run(ctx, rewriters, opt); err != nil {
				return nil, err
			}
			return rewriters[0].Roots(), nil
		}
	}
	return roots, nil
}
