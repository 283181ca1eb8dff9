package plan

import (
	"fmt"
	"math"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/shape"
)

// A Kind says how the executor gets the storage for an output.
type Kind uint8

const (
	// InPlace writes over an input whose buffer nothing reads any more.
	InPlace Kind = iota
	// ReferenceSlot is another layout of a buffer that a slot owns, whose
	// lifetime is extended to cover the reference.
	ReferenceSlot
	// ReferenceEternal is another layout of storage that no plan frees: a
	// constant, an input, or a filled cache.
	ReferenceEternal
	// UseSlot takes over a freed buffer of the right size.
	UseSlot
	// Allocate makes a new buffer.
	Allocate
)

var kindNames = [...]string{"in-place", "reference-slot", "reference-eternal", "use-slot", "allocate"}

// String returns the name of k in plan texts, such as "in-place".
func (k Kind) String() string { return kindNames[k] }

// IsReference reports whether the output moves no element.
func (k Kind) IsReference() bool { return k == ReferenceSlot || k == ReferenceEternal }

// Eternal is the Slot of storage that the plan does not own.
const Eternal = -1

// Kept is the End of a slot that outlives the run: it holds a result of the
// plan or what a cache keeps.
const Kept = -1

// A Place is where a value lies: a layout within the buffer of a slot, or
// within the storage of a leaf.
type Place struct {
	Slot   int         // the slot, or Eternal
	Leaf   *graph.Node // the leaf when Slot is Eternal, else nil
	Layout shape.Layout
}

// An Operand is an input of a step, resolved when the plan was made: the value
// that is read in place of the one the node names, and where it lies. The
// operand of an absent optional input has the zero Value.
type Operand struct {
	Value graph.Value
	Place
}

// An Output is the storage decided for one output of a step.
type Output struct {
	Kind Kind
	// Over is the input that an InPlace output overwrites, or that a
	// reference re-describes; -1 for the other kinds.
	Over int
	Place
}

// A Step computes one node, or re-describes its input when every output is a
// reference.
type Step struct {
	Node    *graph.Node
	Inputs  []Operand
	Outputs []Output
	// DeallocAfter lists the slots whose buffers the executor drops as soon
	// as the step has completed, in ascending order.
	DeallocAfter []int
}

// A Slot is a buffer: made by the step Start, read or written for the last
// time by the step End (inclusive), or [Kept].
type Slot struct {
	Bytes int
	Start int
	End   int
}

// A Result is a value the plan was asked for and where it lies after the run.
type Result struct {
	Value graph.Value
	Operand
}

// A Plan is the order of steps and the storage of every value. It is immutable.
type Plan struct {
	Steps   []Step
	Slots   []Slot
	Results []Result
	// Caches are the cache nodes that the run fills, in the order of their steps.
	Caches []*graph.Node
}

// New plans the computation of roots, which may repeat a value and may name
// several outputs of a node. An error names a cycle.
func New(roots ...graph.Value) (*Plan, error) { return InOrder(nil, roots...) }

// InOrder is [New] with the nodes run in the order given, which must list
// every node that roots need but the leaves, each once and after its inputs.
// A nil order stands for the depth-first one.
func InOrder(nodes []*graph.Node, roots ...graph.Value) (*Plan, error) {
	for i, r := range roots {
		if r.IsZero() {
			return nil, fmt.Errorf("plan: result %d is the zero Value", i)
		}
	}
	ordered, err := order(roots)
	if err == nil && nodes != nil {
		ordered, err = rearrange(ordered, nodes)
	}
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	staged := stage(ordered, roots)
	ends := lifetimes(staged)
	return assign(staged, ends), nil
}

// PeakBytes returns the most bytes that the plan's slots hold at one time,
// from the step that makes each to the step that drops it; [math.MaxInt] if
// it is more than that.
func (p *Plan) PeakBytes() int {
	begin, end := make([]int, len(p.Steps)), make([]int, len(p.Steps))
	for _, s := range p.Slots {
		begin[s.Start] = sum(begin[s.Start], s.Bytes)
		if s.End != Kept {
			end[s.End] = sum(end[s.End], s.Bytes)
		}
	}
	live, peak := 0, 0
	for i := range p.Steps {
		live = sum(live, begin[i])
		if live == math.MaxInt {
			return live
		}
		peak = max(peak, live)
		live -= end[i]
	}
	return peak
}

// SlotBytes returns the bytes of all slots together; [math.MaxInt] if it is more than that.
func (p *Plan) SlotBytes() int {
	total := 0
	for _, s := range p.Slots {
		total = sum(total, s.Bytes)
	}
	return total
}

// sum adds sizes, which are not negative, up to [math.MaxInt].
func sum(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

// TotalBytes returns the bytes of every value that is computed, as if no
// buffer served twice; [math.MaxInt] if it is more than that.
func (p *Plan) TotalBytes() int {
	total := 0
	for _, s := range p.Steps {
		for i, o := range s.Outputs {
			if !o.Kind.IsReference() {
				total = sum(total, s.Node.Output(i).Type().Bytes())
			}
		}
	}
	return total
}
