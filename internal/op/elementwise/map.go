// Package elementwise holds arithmetic element by element. It is not an op for
// each function but one, [Map], with a program: [Apply], [WithScalar] and
// [CastTo] build programs of one instruction, package rewrite merges them.
//
// # Where to find what
//
//	map.go, apply.go     the op, and how values of it are made
//	code.go, table.go, signature.go
//	                     the functions: their names, a row of a table for each,
//	                     and the element types that they take
//	program.go, program_text.go
//	                     programs, what makes one valid, and their text
//	lower.go             a program as calls of typed loops; halves as float32
//	join.go              calls in a row as one loop
//	kernel.go, kernel_run.go
//	                     calls bound to blocks of operands and registers; a task
//	epilogue.go          programs that other ops run on blocks of their output
//	vector.go            programs that other ops run on their working memory
//	loop.go              the one signature of loops, and adapters to it
//	loop_*.go            the loops, by the arithmetic that they share
//	exact.go, exact_trig.go, pair.go
//	                     functions of float64, and numbers of twice its digits
//	fast.go, fast_chunk.go
//	                     functions of float32, faster than through those
package elementwise

import (
	"fmt"
	"strings"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/shape"
)

// Map is the op that runs a straight-line program of elementwise
// instructions over inputs that broadcast against each other under NumPy's
// rules. It yields one output, the result of the last instruction, in one pass
// over the data.
//
// Every elementwise op is a Map; [Apply], [WithScalar] and [CastTo]
// build them, and package rewrite merges them.
type Map struct {
	Program Program
}

// Name returns "map".
func (Map) Name() string { return "map" }

// String prints the codes of the program, as [Program.Title] does.
func (m Map) String() string {
	if len(m.Program) == 0 {
		return m.Name()
	}
	return m.Program.Title("")
}

// Infer returns the broadcast shape with the element type of the last result.
// Every input must be read and every other result used, and the program must
// keep [MaxInputs] and [MaxInstrs].
func (m Map) Infer(in []graph.Type) ([]graph.Type, error) {
	if len(in) == 0 {
		return nil, fmt.Errorf("takes at least 1 input, got none")
	}
	types, err := check(m.Program, dtypes(in))
	if err != nil {
		if len(m.Program) == 1 && m.Program[0].Code.Valid() {
			return nil, fmt.Errorf("%w, for inputs %s", err, typeList(in))
		}
		return nil, err
	}
	s, err := broadcast(in)
	if err != nil {
		return nil, err
	}
	return []graph.Type{{DType: types[len(types)-1], Shape: s}}, nil
}

// Kernel implements [op.Computer].
func (m Map) Kernel(in, _ []graph.Type) kernel.Kernel {
	k, err := newKernel(m.Program, dtypes(in))
	if err != nil {
		panic(fmt.Sprintf("elementwise: map with inputs %s that Infer rejects: %v", typeList(in), err))
	}
	return k
}

// MayOverwrite reports true: a block of the output is written after the same
// block of every input was read. An input of the output's layout is not one
// that is broadcast; its elements must be as wide as the output's, which the
// planner sees to.
func (Map) MayOverwrite(in, out int) bool { return true }

// MayShare reports true, for the same reason.
func (Map) MayShare(other, in, out int) bool { return true }

// DenseAxes implements [op.Strider]: all operands may have any strides.
func (Map) DenseAxes(operand, rank int) int { return 0 }

// Streams implements [op.Streamer].
func (Map) Streams() {}

// WithChannelsLast implements [op.Layouter]: the order of the axes is that of the inputs.
func (m Map) WithChannelsLast(int) (graph.Op, int) { return m, MaxInputs }

func dtypes(in []graph.Type) []dtype.Type {
	types := make([]dtype.Type, len(in))
	for i, t := range in {
		types[i] = t.DType
	}
	return types
}

func broadcast(in []graph.Type) (shape.Shape, error) {
	shapes := make([]shape.Shape, len(in))
	for i, t := range in {
		shapes[i] = t.Shape
	}
	return shape.Broadcast(shapes...)
}

// typeList prints types as in "float32[2 3], int64[]".
func typeList(in []graph.Type) string {
	words := make([]string, len(in))
	for i, t := range in {
		words[i] = t.String()
	}
	return strings.Join(words, ", ")
}
