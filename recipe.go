package berth

import (
	"fmt"
	"slices"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/shape"
)

// A recipe is how a promise was made, so that a program can be built once more
// for another number of rows. That tells what the graph alone does not, such
// as which extents of a reshape follow the rows.
type recipe struct {
	in    []*Promise
	make  func(in []graph.Value) ([]graph.Value, error)
	input *inputRecipe // of an input, in place of the others
}

type inputRecipe struct {
	node *graph.Node
	rows *Extent // nil when its rows do not vary
}

// again replaces what makes the promise from operands of other extents, where
// that is not what made it at first.
func (r *recipe) again(make func(in []graph.Value) (graph.Value, error)) {
	r.make = func(in []graph.Value) ([]graph.Value, error) {
		v, err := make(in)
		return []graph.Value{v}, err
	}
}

// rebuilder returns what builds the values of promises for another number of
// rows, or nil where no recipe is needed, as the rows do not vary, or one is
// missing: packages that build graphs themselves give promises without, for
// which the extents follow from those of the inputs. The inputs must have
// different names and one row dimension.
func rebuilder(promises []*Promise) (func(rows int) ([]graph.Value, error), error) {
	recipes, others := sortRecipes(promises)
	inputs := make(map[string]bool)
	var dim *Extent
	first := "" // the input that dim is of
	for _, r := range recipes {
		if r.input == nil {
			continue
		}
		name := r.input.node.Label()
		if inputs[name] {
			return nil, fmt.Errorf("two inputs are named %q", name)
		}
		inputs[name] = true
		switch rows := r.input.rows; {
		case rows == nil:
		case dim == nil:
			dim, first = rows, name
		case *rows != *dim:
			return nil, fmt.Errorf("input %q has the dimension %q of at most %d and input %q %q of at most %d; a program has one",
				first, dim.name, dim.max, name, rows.name, rows.max)
		}
	}
	if dim == nil || !fixedValues(others) {
		return nil, nil
	}
	return func(rows int) ([]graph.Value, error) { return remake(promises, recipes, rows) }, nil
}

// sortRecipes returns the recipes that promises need, operands first, and the
// values that have none.
func sortRecipes(promises []*Promise) (recipes []*recipe, others []graph.Value) {
	type visit struct {
		r    *recipe
		next int // operand to go on with
	}
	seen := make(map[*recipe]bool)
	var stack []visit
	enter := func(p *Promise) {
		if p.made == nil {
			others = append(others, p.value)
		} else if !seen[p.made] {
			seen[p.made] = true
			stack = append(stack, visit{r: p.made})
		}
	}
	for _, p := range promises {
		enter(p)
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.next < len(top.r.in) {
				top.next++
				enter(top.r.in[top.next-1])
				continue
			}
			recipes = append(recipes, top.r)
			stack = stack[:len(stack)-1]
		}
	}
	return recipes, others
}

// fixedValues reports whether no value depends on an input.
func fixedValues(values []graph.Value) bool {
	starts := make([]*graph.Node, len(values))
	for i, v := range values {
		starts[i] = v.Node()
	}
	nodes, err := graph.Sort(starts, (*graph.Node).NumInputs, func(n *graph.Node, i int) (*graph.Node, bool) {
		return n.Input(i).Node(), !n.Input(i).IsZero()
	})
	return err == nil && !slices.ContainsFunc(nodes, func(n *graph.Node) bool {
		_, input := n.Op().(graph.Input)
		return input
	})
}

// remake follows recipes, given operands first, for a number of rows. What
// depends on constants alone stays what it is.
func remake(promises []*Promise, recipes []*recipe, rows int) ([]graph.Value, error) {
	made := make(map[*recipe][]graph.Value, len(recipes))
	value := func(p *Promise) graph.Value {
		if out, ok := made[p.made]; ok {
			return out[p.out]
		}
		return p.value
	}
	for _, r := range recipes {
		if r.input != nil {
			v, err := r.input.make(rows)
			if err != nil {
				return nil, err
			}
			made[r] = []graph.Value{v}
			continue
		}
		in := make([]graph.Value, len(r.in))
		same := true
		for i, p := range r.in {
			in[i] = value(p)
			same = same && in[i] == p.value
		}
		if same {
			continue
		}
		out, err := r.make(in)
		if err != nil {
			return nil, fmt.Errorf("%w (of %s)", err, operands(in))
		}
		made[r] = out
	}
	out := make([]graph.Value, len(promises))
	for i, p := range promises {
		out[i] = value(p)
	}
	return out, nil
}

// make returns the input for a number of rows.
func (r *inputRecipe) make(rows int) (graph.Value, error) {
	in := r.node.Op().(graph.Input)
	t := r.node.Output(0).Type()
	t.Shape = t.Shape.Clone()
	for _, axis := range in.Rows {
		t.Shape[axis] = rows
	}
	n, err := graph.NewInput(in.Key, t, in.Rows...)
	if err != nil {
		return graph.Value{}, err
	}
	return n.Output(0), nil
}

// scaled returns the shape that takes the place of target, all of whose
// extents are stated, when what is reshaped to it has the extents to instead
// of from. For each axis that changed, the extent of target is changed that
// covers it: whose own steps through the elements are no coarser than those of
// the axis, and which reaches as far as that or further.
func scaled(target, from, to shape.Shape) (shape.Shape, error) {
	out := target.Clone()
	inner := 1 // the elements of an index of the axis
	for axis := len(from) - 1; axis >= 0; inner, axis = inner*from[axis], axis-1 {
		if from[axis] == to[axis] {
			continue
		}
		reach := inner * from[axis]
		covers := -1
		for step, k := 1, len(target)-1; k >= 0 && reach > 0; step, k = step*target[k], k-1 {
			if step > 0 && inner%step == 0 && step*target[k]%reach == 0 && target[k]%from[axis] == 0 {
				covers = k
				break
			}
		}
		if covers < 0 {
			return nil, fmt.Errorf("no extent of %v holds axis %d of %v, which varies", target, axis, from)
		}
		out[covers] = out[covers] / from[axis] * to[axis]
	}
	return out, nil
}
