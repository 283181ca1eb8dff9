// Package compile turns a plan into a program: it decides which values share
// bytes for good, has package circuit lay all of them out in one arena, and
// writes down for every step where its operands lie at any number of rows.
package compile

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/berth-go/berth/circuit"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
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
	// Rebuild builds the graph for another number of rows. It may be nil:
	// then views follow the shapes of their inputs.
	Rebuild Rebuild
	// Inputs are inputs of the program even where no output depends on them.
	// The others are those that the outputs depend on.
	Inputs []graph.Value
}

// ErrBudget is wrapped by the error about an arena larger than the budget.
var ErrBudget = errors.New("the arena does not fit the budget")

// A Program is a graph whose every byte has its place. It is immutable.
type Program struct {
	MaxRows int // 1 when no input varies
	Steps   []Step
	Inputs  []Port
	Outputs []Port
	Weights []*graph.Node // constants the steps read

	Plan    *plan.Plan
	Circuit *circuit.Circuit
	Fusion  *circuit.FusionPlan
	Layout  *circuit.Layout
	Buffers *circuit.BufferPlan

	Edges  []graph.Value // what each edge of the circuit stands for
	Values []Placed      // what the steps write, in execution order
}

// Problem returns the layout problem whose solution is Buffers.
func (p *Program) Problem() *circuit.Problem {
	return &circuit.Problem{Circuit: p.Circuit, Plan: p.Fusion, Layout: p.Layout, MaxRows: int64(p.MaxRows)}
}

// A Port is an input or output that the caller binds. Elems is the number of
// its elements, and Dims their extents, as functions of the rows.
type Port struct {
	Name  string
	Type  graph.Type // at the most rows
	Elems Poly
	Dims  []Poly
}

// DimsAt returns the extents for a number of rows.
func (p *Port) DimsAt(rows int) []int {
	dims := make([]int, len(p.Dims))
	for i, d := range p.Dims {
		dims[i] = d.At(rows)
	}
	return dims
}

// A Step is one kernel to run.
type Step struct {
	Index   int // of the step of the plan
	Op      graph.Op
	Label   string
	In, Out []Operand
	// Moves says that the step copies elements without computing: a part of
	// a concatenation that is not in place, or a packing.
	Moves bool
}

// String names the step by its op and label, for messages.
func (s *Step) String() string {
	if s.Label == "" {
		return graph.Title(s.Op)
	}
	return fmt.Sprintf("%s (%s)", graph.Title(s.Op), s.Label)
}

// Varies reports whether the shape of an operand depends on the rows.
func (s *Step) Varies() bool {
	for _, list := range [][]Operand{s.In, s.Out} {
		for i := range list {
			for _, d := range list[i].Shape {
				if !d.isConstant() {
					return true
				}
			}
		}
	}
	return false
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
// from Base bytes into its space, as functions of the rows.
type Operand struct {
	Space   Space
	Index   int
	Base    int64
	Type    graph.Type // at the most rows
	Shape   []Poly
	Strides []Poly
	Offset  Poly
}

// DType returns the element type.
func (o *Operand) DType() dtype.Type { return o.Type.DType }

// An Output is a value asked for, under a name.
type Output struct {
	Name  string
	Value graph.Value
}

// An Evaluator computes values that depend on constants alone.
type Evaluator func(ctx context.Context, roots []graph.Value) ([]graph.Leaf, error)

// Compile makes a program of outputs. It has eval compute the constants.
func Compile(ctx context.Context, outputs []Output, eval Evaluator, opt Options) (*Program, error) {
	values := make([]graph.Value, len(outputs))
	named := make(map[string]bool)
	for i, o := range outputs {
		if o.Value.IsZero() {
			return nil, fmt.Errorf("output %q is the zero Value", o.Name)
		}
		if named[o.Name] {
			return nil, fmt.Errorf("two outputs are named %q", o.Name)
		}
		named[o.Name] = true
		values[i] = o.Value
	}
	most, err := maxRows(slices.Concat(values, opt.Inputs))
	if err != nil {
		return nil, err
	}
	roots, err := prepare(ctx, values, eval)
	if err != nil {
		return nil, err
	}
	samples, at, err := resize(values, slices.Concat(roots, opt.Inputs), most, opt.Rebuild)
	if err != nil {
		return nil, err
	}
	build := func(order []*graph.Node) (*lowerer, error) {
		p, err := plan.InOrder(order, roots...)
		if err != nil {
			return nil, err
		}
		l := &lowerer{
			ctx: ctx, opt: opt, outputs: outputs,
			prog: &Program{Plan: p, MaxRows: most},
			p:    placer{plan: p, samples: samples, at: at, share: !opt.NoSharing},
		}
		if err := l.p.place(); err != nil {
			return nil, err
		}
		l.circuit()
		return l, l.layOut()
	}
	l, err := build(nil)
	if err != nil {
		return nil, err
	}
	if !opt.SeedOrder {
		if l, err = reorder(ctx, l, build); err != nil {
			return nil, err
		}
	}
	if arena := l.prog.Buffers.Arena; opt.Budget > 0 && arena > opt.Budget {
		return nil, fmt.Errorf("%w: it takes %d bytes, %d are available", ErrBudget, arena, opt.Budget)
	}
	if err := l.steps(); err != nil {
		return nil, err
	}
	l.describe()
	return l.prog, nil
}

func errView(v *val, rows int) error {
	return fmt.Errorf("%v with %d rows: its view needs a copy that it does not need with more", v.Node(), rows)
}
