// Package compile turns a plan into a program: it decides which values share
// bytes for good, has package circuit lay all of them out in one arena, and
// writes down for every step where its operands lie at any extents of its dimensions.
package compile

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/berth-go/berth/circuit"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/extent"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/rewrite"
	"github.com/berth-go/berth/pack"
	"github.com/berth-go/berth/plan"
)

// Options steer a compilation. The zero value is the default.
type Options struct {
	// SeedOrder keeps the depth-first order. Otherwise others are tried, and
	// the one with the smallest arena is taken.
	SeedOrder bool
	// Strategy is how offsets are searched for; empty is pack.Auto.
	Strategy pack.Strategy
	// SearchBudget bounds the search for offsets, in nodes; 0 is a default.
	SearchBudget int64
	// Budget is the most bytes the arena may take; 0 is no limit.
	Budget int64
	// NoSharing gives every value bytes of its own, for comparison.
	NoSharing bool
	// Extends has outputs, by name, continue inputs, by name; see extension.
	Extends map[string]string
	// Without names rewrite rules to leave out; see package rewrite.
	Without []string
}

// ErrBudget is wrapped by the error about an arena larger than the budget.
var ErrBudget = errors.New("the arena does not fit the budget")

// A Program is a graph whose every byte has its place. It is immutable.
type Program struct {
	Space   *extent.Space // of the functions below
	Largest extent.Point  // the extents that the arena is laid out for
	Steps   []Step
	Inputs  []Port
	Outputs []Port
	Weights []*graph.Node // constants the steps read
	Own     []bool        // which of these were computed for the program: the graph does not have them
	Bytes   []int64       // of the data of each; 0 where that is the data of one before it

	Plan    *plan.Plan // at the largest extents, as is what follows
	Circuit *circuit.Circuit
	Fusion  *circuit.FusionPlan
	Layout  *circuit.Layout
	Buffers *circuit.BufferPlan

	Edges  []graph.Value // what each edge of the circuit stands for
	Values []Placed      // what the steps write, in execution order
}

// Fixed reports whether an operand is the same for any extents.
func (p *Program) Fixed(o *Operand) bool { return o.uses(p.Space) == 0 }

// Problem returns the layout problem whose solution is Buffers.
func (p *Program) Problem() *circuit.Problem {
	return &circuit.Problem{Circuit: p.Circuit, Plan: p.Fusion, Layout: p.Layout, MaxRows: 1}
}

// DimsAt returns the extents of a port at a point.
func (p *Program) DimsAt(port *Port, at extent.Point) []int {
	dims := make([]int, len(port.Dims))
	for i, d := range port.Dims {
		dims[i] = p.Space.At(d, at)
	}
	return dims
}

// A Port is an input or output that the caller binds.
type Port struct {
	Name  string
	Type  graph.Type  // at the largest extents
	Elems extent.Func // that the buffer must hold
	Dims  []extent.Func
	// Extends is the input that an output continues: its buffer is laid out at
	// the largest extents, and is the caller's from run to run.
	Extends string
}

// A Step is one kernel to run.
type Step struct {
	Index   int // of the step of the plan
	Op      graph.Op
	Label   string
	In, Out []Operand
	// Moves says that the step copies elements without computing: a part of
	// a concatenation that is not in place, or a contiguous copy.
	Moves bool

	fields []field // attributes of Op that depend on the dimensions
}

// String names the step by its op and label, for messages.
func (s *Step) String() string {
	if s.Label == "" {
		return graph.Title(s.Op)
	}
	return fmt.Sprintf("%s (%s)", graph.Title(s.Op), s.Label)
}

// Uses returns the dimensions that the step depends on, a bit for each: in its
// operands, or in the attributes of its op.
func (s *Step) Uses(space *extent.Space) uint64 {
	var uses uint64
	for _, list := range [][]Operand{s.In, s.Out} {
		for i := range list {
			uses |= list[i].uses(space)
		}
	}
	for _, f := range s.fields {
		uses |= space.Uses(f.value)
	}
	return uses
}

// Retuner returns what gives the kernel of the step the attributes that its op has at
// the point at which functions have the given values, without allocating; or nil
// where the attributes are fixed.
func (s *Step) Retuner() func(k kernel.Kernel, values []int) {
	if len(s.fields) == 0 {
		return nil
	}
	cell := newOpCell(s.Op, s.fields)
	tuner := cell.at.Interface().(op.Tuner)
	return func(k kernel.Kernel, values []int) {
		cell.set(values)
		tuner.Tune(k)
	}
}

// A Space is where the storage of an operand is.
type Space uint8

// The spaces.
const (
	Absent  Space = iota // an optional operand that is left out
	Arena                // the arena, at Base
	Weight               // Program.Weights[Index]
	InPort               // the buffer bound to Program.Inputs[Index]
	OutPort              // the buffer bound to Program.Outputs[Index], at Base
)

// An Operand says where a value lies: shape, strides and offset, in elements
// from Base bytes into its space, as functions of the dimensions.
type Operand struct {
	Space   Space
	Index   int
	Base    int64
	Type    graph.Type // at the largest extents
	Shape   []extent.Func
	Strides []extent.Func
	Offset  extent.Func
}

// uses returns the dimensions that the operand depends on, a bit for each.
func (o *Operand) uses(space *extent.Space) uint64 {
	uses := space.Uses(o.Offset)
	for a := range o.Shape {
		uses |= space.Uses(o.Shape[a]) | space.Uses(o.Strides[a])
	}
	return uses
}

// An Evaluator computes values that depend on constants alone, in at most maxBytes; 0
// is no limit. It returns no leaves, and no error, where that does not suffice.
type Evaluator func(ctx context.Context, values []graph.Value, maxBytes int64) ([]graph.Leaf, error)

// widening is how many bytes of values the compiler may compute of each byte of a
// constant: the integers of two bits of a weight are float32 in the end.
const widening = 16

// Compile makes a program of the outputs that build returns, one for each name,
// for any extents of dims within their bounds. It has eval compute the constants, in
// as much memory as the arena may take and [widening] allows.
func Compile(ctx context.Context, names []string, dims []extent.Dim, build Build, eval Evaluator, opt Options) (*Program, error) {
	if err := CheckDims(dims...); err != nil {
		return nil, err
	}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("two outputs are named %q", name)
		}
	}
	extends, err := extensions(names, opt.Extends)
	if err != nil {
		return nil, err
	}
	given := make(map[*graph.Leaf]bool)
	budget := opt.Budget
	z, err := learn(dims, build, func(builds [][]graph.Value, varying rewrite.Varying) ([][]graph.Value, error) {
		for _, roots := range builds {
			for _, n := range graph.Nodes(roots...) {
				if leaf := n.Stored(); leaf != nil && !given[leaf] {
					given[leaf] = true
					budget += widening * int64(len(leaf.Data))
				}
			}
			for i, v := range roots {
				if v.IsZero() {
					return nil, fmt.Errorf("output %q is the zero Value", names[i])
				}
			}
		}
		if opt.Budget == 0 {
			budget = 0
		}
		once := onlyOnce(func(ctx context.Context, values []graph.Value) ([]graph.Leaf, error) {
			return eval(ctx, values, budget)
		})
		return rewrite.RunAll(ctx, builds, rewrite.Options{Without: opt.Without, Program: true, Eval: once, Varying: varying})
	})
	if err != nil {
		return nil, err
	}
	if len(z.roots) != len(names) {
		return nil, fmt.Errorf("%d values for %d outputs", len(z.roots), len(names))
	}
	place := func(order []*graph.Node) (*placer, error) {
		steps, err := plan.InOrder(order, z.roots...)
		if err != nil {
			return nil, err
		}
		p := &placer{plan: steps, sizes: z, share: !opt.NoSharing, extends: extends}
		return p, p.place()
	}
	layOut := func(p *placer) (*lowerer, error) {
		l := &lowerer{names: names, p: p, prog: &Program{Plan: p.plan, Space: z.space, Largest: z.points[z.largest]}}
		if err := l.circuit(); err != nil {
			return nil, err
		}
		return l, l.layOut(ctx, &circuit.Options{Strategy: opt.Strategy, Budget: opt.SearchBudget})
	}
	l, err := layOutBest(ctx, opt.SeedOrder, place, layOut)
	if err != nil {
		return nil, err
	}
	if arena := l.prog.Buffers.Arena; opt.Budget > 0 && arena > opt.Budget {
		return nil, fmt.Errorf("%w: it takes %d bytes, %d are available", ErrBudget, arena, opt.Budget)
	}
	if err := l.steps(); err != nil {
		return nil, err
	}
	seen := make(map[*byte]bool)
	for _, w := range l.prog.Weights {
		leaf, bytes := w.Stored(), int64(0)
		if data := leaf.Data; len(data) > 0 && !seen[&data[0]] {
			seen[&data[0]] = true
			bytes = int64(len(data))
		}
		l.prog.Own, l.prog.Bytes = append(l.prog.Own, !given[leaf]), append(l.prog.Bytes, bytes)
	}
	l.describe()
	return l.prog, nil
}

// CheckDims returns an error unless dimensions have names, each one of its own,
// and bounds.
func CheckDims(dims ...extent.Dim) error {
	const most = 16
	if len(dims) > most {
		return fmt.Errorf("%d dimensions, a program has %d at most", len(dims), most)
	}
	for i, d := range dims {
		switch {
		case d.Name == "":
			return fmt.Errorf("a dimension of %d to %d has no name", d.Min, d.Max)
		case slices.ContainsFunc(dims[:i], func(e extent.Dim) bool { return e.Name == d.Name }):
			return fmt.Errorf("two dimensions are named %q", d.Name)
		case d.Min < 0 || d.Max < d.Min || d.Max < 1:
			return fmt.Errorf("dimension %q is %d to %d", d.Name, d.Min, d.Max)
		}
	}
	return nil
}

// onlyOnce returns an evaluator that has the constants of the first build stand
// for those of the others, which ask for the same ones in the same order. A build
// that asks for others is none of those that are alike.
func onlyOnce(eval rewrite.Evaluator) rewrite.Evaluator {
	var asked []graph.Value
	var known []graph.Leaf
	like := func(v, w graph.Value) bool { return v.Type().Equal(w.Type()) }
	return func(ctx context.Context, roots []graph.Value) ([]graph.Leaf, error) {
		if asked != nil && slices.EqualFunc(asked, roots, like) {
			return known, nil
		}
		leaves, err := eval(ctx, roots)
		if asked == nil {
			asked, known = roots, leaves
		}
		return leaves, err
	}
}
