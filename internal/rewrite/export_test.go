package rewrite

import (
	"context"
	"fmt"
	"slices"

	"github.com/berth-go/berth/graph"
)

// All returns the names of all rules, in their order.
func All() []string { return names(func(kind) bool { return true }) }

// Alone makes the rule of the given name and no other.
func Alone(ctx context.Context, name string, roots []graph.Value, opt Options) ([]graph.Value, error) {
	i := slices.IndexFunc(passes, func(p pass) bool { return p.name == name })
	if i < 0 {
		return nil, fmt.Errorf("there is no rule %q", name)
	}
	rewriters, err := graph.NewRewriters([][]graph.Value{roots})
	if err == nil {
		rewriters, err = passes[i].run(ctx, rewriters, opt)
	}
	if err != nil {
		return nil, err
	}
	return rewriters[0].Roots(), nil
}
