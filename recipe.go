package berth

import (
	"fmt"
	"slices"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/compile"
	"github.com/berth-go/berth/internal/extent"
	"github.com/berth-go/berth/shape"
)

// A recipe is how a promise was made, so that a program can be built once more
// for other extents. That tells what the graph alone does not, such as which
// extents of a reshape follow which dimension.
type recipe struct {
	in    []*Promise
	make  func(in []graph.Value) ([]graph.Value, error)
	input *inputRecipe // of an input, in place of the others
}

type inputRecipe struct {
	node *graph.Node // at the largest extents
	axes []Dimension // by axis; the zero Dimension where the extent is fixed
}

// rebuilder returns the dimensions of the inputs that promises need, and what
// builds the values of the promises for a choice of these. The inputs must have
// different names, and dimensions of one name must be one. Promises without a
// recipe, as packages that build graphs themselves give, have the same value for
// any extents.
func rebuilder(promises []*Promise) ([]extent.Dim, compile.Build, error) {
	recipes, err := sortRecipes(promises)
	if err != nil {
		return nil, nil, err
	}
	inputs := make(map[string]bool)
	var dims []extent.Dim
	first := make(map[string]string) // the input that a dimension was met at
	for _, r := range recipes {
		if r.input == nil {
			continue
		}
		name := r.input.node.Label()
		if inputs[name] {
			return nil, nil, fmt.Errorf("two inputs are named %q", name)
		}
		inputs[name] = true
		for _, d := range r.input.axes {
			known := slices.IndexFunc(dims, func(e extent.Dim) bool { return e.Name == d.Name })
			switch {
			case d == Dimension{}:
			case known < 0:
				first[d.Name] = name
				dims = append(dims, extent.Dim(d))
			case dims[known] != extent.Dim(d):
				return nil, nil, fmt.Errorf("dimension %v of input %q is %v at input %q", dims[known], first[d.Name], d, name)
			}
		}
	}
	return dims, func(p extent.Point) (outputs, inputs []graph.Value, err error) {
		extents := make(map[string]int, len(dims))
		for i, d := range dims {
			extents[d.Name] = p[i]
		}
		outputs, err = remake(promises, recipes, extents)
		return outputs, nil, err
	}, nil
}

// sortRecipes returns the recipes that promises need, operands first.
func sortRecipes(promises []*Promise) ([]*recipe, error) {
	var roots []*recipe
	for _, p := range promises {
		if p.made != nil {
			roots = append(roots, p.made)
		}
	}
	return graph.Sort(roots,
		func(r *recipe) int { return len(r.in) },
		func(r *recipe, i int) (*recipe, bool) { return r.in[i].made, r.in[i].made != nil })
}

// remake follows recipes, given operands first, for extents of the dimensions.
// What depends on constants alone stays what it is.
func remake(promises []*Promise, recipes []*recipe, extents map[string]int) ([]graph.Value, error) {
	made := make(map[*recipe][]graph.Value, len(recipes))
	value := func(p *Promise) graph.Value {
		if out, ok := made[p.made]; ok {
			return out[p.out]
		}
		return p.value
	}
	for _, r := range recipes {
		if r.input != nil {
			v, err := r.input.make(extents)
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

// make returns the input for extents of the dimensions.
func (r *inputRecipe) make(extents map[string]int) (graph.Value, error) {
	t := r.node.Output(0).Type()
	t.Shape = t.Shape.Clone()
	for axis, d := range r.axes {
		if n, varies := extents[d.Name]; varies {
			t.Shape[axis] = n
		}
	}
	if t.Equal(r.node.Output(0).Type()) {
		return r.node.Output(0), nil
	}
	n, err := graph.NewInput(r.node.Label(), t)
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
