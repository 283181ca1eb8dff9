// Package rewrite turns the graph that a user built into one that a plan is
// made of: equal results from fewer, larger nodes that kernels can compute.
//
// The list in passes.go names every rule and says why it stands where it does.
// Each rule is one file of its name, with its pattern drawn as before -> after,
// and a file testdata/NAME.txtar that shows graphs before and after it alone.
//
// Rules depend on the structure of a graph: which ops read what, with which
// attributes, and which values are constants. Three have to compare extents: fuse
// merges what has the shape of its reader, epilogue what has the shape of its input,
// and contiguous asks which axes lie dense. They ask that of all builds of a graph at
// once, by [graph.Rewriter.InAll].
package rewrite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/berth-go/berth/graph"
)

// Options say which rules are made. The zero value is for graphs that are run
// once, step by step.
type Options struct {
	// Without names rules to leave out, out of [Rules].
	Without []string
	// Program says that the graph is compiled: nothing outlives a run, and
	// each root is written into bytes of its own, which a caller binds.
	Program bool
	// Eval computes what depends on constants alone. With nil, nothing is
	// computed, and rules that make constants of constants are left out.
	Eval Evaluator
	// Varying tells the nodes of several builds that are not to be computed; nil
	// tells none. See [RunAll].
	Varying Varying

	varies map[*graph.Node]bool // what Varying told last
}

// A Varying returns the nodes of several builds of one graph that are not to be
// computed although they depend on constants alone, since their attributes differ
// from build to build, nor is what depends on them.
type Varying func(builds [][]graph.Value) (map[*graph.Node]bool, error)

// An Evaluator computes values that depend on constants alone, in the order
// given. The values need no further rewrite. It returns no leaves, and no error,
// where that takes more memory than may be spent on it.
type Evaluator func(ctx context.Context, values []graph.Value) ([]graph.Leaf, error)

// A pass is one rule with its name, and what is to be known of it.
type pass struct {
	name string
	kind kind
	make rule
}

// A rule replaces values of the graph that r was made for.
type rule func(ctx context.Context, r *graph.Rewriter, opt *Options) error

// kind is a set of facts about a rule.
type kind uint8

const (
	program   kind = 1 << iota // only for Options.Program
	constants                  // only with Options.Eval
	required                   // kernels or callers depend on it: it cannot be left out
	inexact                    // results may differ in their last bits
)

// Run returns values equal to roots after all rules that opt asks for, in the
// same order. Nodes under which nothing changes stay the same nodes. Results
// are equal to the last bit, but for the payloads of NaNs and for the rules
// that [Inexact] names.
//
// The same graph gives the same result whatever else the process does, and
// constants are computed in one call of opt.Eval. The time is that of sorting
// the nodes once for each rule that finds something. An error names an unknown
// rule, or is one of opt.Eval.
func Run(ctx context.Context, roots []graph.Value, opt Options) ([]graph.Value, error) {
	out, err := RunAll(ctx, [][]graph.Value{roots}, opt)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// RunAll is [Run] for several builds of one graph, which differ in extents alone,
// and keeps them so: each rule is made on all of them before the next one. Opt.Eval
// is called for each, with the same values in the same order.
func RunAll(ctx context.Context, builds [][]graph.Value, opt Options) ([][]graph.Value, error) {
	if err := checkRules(opt.Without); err != nil {
		return nil, err
	}
	rewriters, err := graph.NewRewriters(builds)
	if err != nil {
		return nil, err
	}
	for _, p := range passes {
		switch {
		case p.kind&program != 0 && !opt.Program,
			p.kind&constants != 0 && opt.Eval == nil,
			slices.Contains(opt.Without, p.name):
			continue
		}
		if rewriters, err = p.run(ctx, rewriters, opt); err != nil {
			return nil, err
		}
	}
	return rootsOf(rewriters), nil
}

// run makes the rule on all builds, and returns rewriters of what they became:
// the same where the rule finds nothing.
func (p pass) run(ctx context.Context, rewriters []*graph.Rewriter, opt Options) ([]*graph.Rewriter, error) {
	if p.kind&constants != 0 && opt.Varying != nil {
		var err error
		if opt.varies, err = opt.Varying(rootsOf(rewriters)); err != nil {
			return nil, err
		}
	}
	for _, r := range rewriters {
		if err := p.make(ctx, r, &opt); err != nil {
			return nil, err
		}
	}
	if !slices.ContainsFunc(rewriters, (*graph.Rewriter).Changed) {
		return rewriters, nil
	}
	return graph.NewRewriters(rootsOf(rewriters))
}

// sameShape reports whether two values have one shape, in all builds.
func sameShape(r *graph.Rewriter, v, w graph.Value) bool {
	return r.InAll(func(at func(graph.Value) graph.Value) bool {
		return at(v).Type().Shape.Equal(at(w).Type().Shape)
	})
}

// put has a node of o, which reads inputs of the new graph, stand for the only output
// of n, under a label.
func put(r *graph.Rewriter, n *graph.Node, label string, o graph.Op, inputs ...graph.Value) error {
	by, err := graph.New(o, inputs...)
	if err != nil {
		return err
	}
	r.Replace(n.Output(0), by.WithLabel(label).Output(0))
	return nil
}

// putConstant has a constant stand for v, under the label of its node.
func putConstant(r *graph.Rewriter, v graph.Value, leaf graph.Leaf) error {
	by, err := graph.NewConstant(v.Type(), leaf)
	if err != nil {
		return err
	}
	r.Replace(v, by.WithLabel(v.Node().Label()).Output(0))
	return nil
}

// rootsOf returns the roots of each build as they stand.
func rootsOf(rewriters []*graph.Rewriter) [][]graph.Value {
	builds := make([][]graph.Value, len(rewriters))
	for i, r := range rewriters {
		builds[i] = r.Roots()
	}
	return builds
}

// Rules returns the names of the rules that can be left out, in their order.
func Rules() []string { return names(func(k kind) bool { return k&required == 0 }) }

// Inexact returns the names of the rules after which results may differ in
// their last bits, because arithmetic was done in another order.
func Inexact() []string { return names(func(k kind) bool { return k&inexact != 0 }) }

func names(is func(kind) bool) []string {
	var list []string
	for _, p := range passes {
		if is(p.kind) {
			list = append(list, p.name)
		}
	}
	return list
}

// ErrRule is wrapped by the error about a name that is no rule that can be left
// out.
var ErrRule = errors.New("rewrite rule")

// checkRules returns an error for a name that is no rule that can be left out.
func checkRules(without []string) error {
	for _, name := range without {
		i := slices.IndexFunc(passes, func(p pass) bool { return p.name == name })
		switch {
		case i < 0:
			return fmt.Errorf("there is no %w %q, but %s", ErrRule, name, strings.Join(Rules(), ", "))
		case passes[i].kind&required != 0:
			return fmt.Errorf("the %w %q cannot be left out, but %s can", ErrRule, name, strings.Join(Rules(), ", "))
		}
	}
	return nil
}
