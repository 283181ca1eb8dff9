package elementwise

import (
	"fmt"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/shape"
)

// A Finisher is an op with an epilogue: an elementwise program that its kernel
// runs on each block of its only output, once that is computed and while it is
// in cache. Input 0 of the program is the output as it would be without; the
// others follow the op's own inputs and broadcast to the output. The result has
// the type of the output.
//
//	conv{epilogue="t0=add(x0,x1);t1=relu(t0)"} x w b r    relu(conv(x, w, b) + r)
//
// Results are those of the op and a [Map] after it, to the last bit. The output
// must not lie over an input of the program, for it is written before that is
// read.
type Finisher interface {
	op.Computer
	// Finish returns the program, which is empty where there is none, and the
	// number of inputs before those of the program, absent ones counted.
	Finish() (p Program, own int)
	// Finished returns the op with p for its epilogue.
	Finished(p Program) graph.Op
}

// Own returns the first own of the inputs of an op with the epilogue p, and
// those that p reads beside the output; all inputs if p is empty.
func (p Program) Own(in []graph.Type, own int) (first, extra []graph.Type) {
	if len(p) == 0 {
		return in, nil
	}
	own = min(own, len(in))
	return in[:own], in[own:]
}

// CheckEpilogue reports an epilogue p that does not turn an output of type out,
// with inputs of the types extra, into another of that type.
func (p Program) CheckEpilogue(out graph.Type, extra []graph.Type) error {
	if len(p) == 0 {
		return nil
	}
	if out.DType.IsHalf() {
		return fmt.Errorf("epilogue: the output is %v; the ops that have one compute halves in float32", out)
	}
	if len(extra) > MaxExtra || len(p) > MaxFinish {
		return fmt.Errorf("epilogue: %d instructions with %d inputs, more than %d with %d", len(p), len(extra), MaxFinish, MaxExtra)
	}
	types, err := check(p, dtypes(append([]graph.Type{out}, extra...)))
	if err != nil {
		return fmt.Errorf("epilogue: %w", err)
	}
	if t := types[len(types)-1]; t != out.DType {
		return fmt.Errorf("epilogue: gives %v, not %v", t, out.DType)
	}
	for i, t := range extra {
		if full, err := shape.Broadcast(t.Shape, out.Shape); err != nil || !full.Equal(out.Shape) {
			return fmt.Errorf("epilogue: input %d, %v, does not broadcast to the output %v", i+1, t, out)
		}
	}
	return nil
}

// The limits of an epilogue leave room in a program for what an op itself does
// on its output: scales and an addend.
const (
	MaxExtra  = MaxInputs - 2
	MaxFinish = MaxInstrs - 3
)

// Addend is the program that adds input 1 to input 0.
var Addend = Program{{Code: Add, Args: [3]Arg{InputArg(0), InputArg(1)}}}

// An Epilogue runs a program over parts of an output in place. The nil Epilogue
// does nothing.
type Epilogue struct {
	kernel *programKernel
	in     []*kernel.Operand
	out    []*kernel.Operand
}

// EpilogueOf returns an epilogue of p, nil if that is empty, on the output of an op
// whose inputs are of the types in. The output has the element type of input 0, and
// p reads the inputs after the first own ones, but for those that are absent.
func EpilogueOf(p Program, in []graph.Type, own int) *Epilogue {
	if len(p) == 0 {
		return nil
	}
	types := []dtype.Type{in[0].DType}
	for i := own; i < len(in); i++ {
		if op.Given(in, i) {
			types = append(types, in[i].DType)
		}
	}
	k, err := newKernel(p, types)
	if err != nil {
		panic(fmt.Sprintf("elementwise: epilogue that Infer rejects: %v", err))
	}
	return &Epilogue{kernel: k, in: make([]*kernel.Operand, len(types)), out: make([]*kernel.Operand, 1)}
}

// Trail has the last axis of an input of the program meet the output that many
// axes before the end: a bias for each channel of an image does so before the
// spatial axes.
func (e *Epilogue) Trail(input, axes int) { e.kernel.trail[input] = axes }

// Bind fixes the output, and the other inputs of the program, as
// [kernel.Kernel.Bind] does; operands that are nil are none of these. All may
// have any strides.
func (e *Epilogue) Bind(out *kernel.Operand, extra ...*kernel.Operand) {
	if e == nil {
		return
	}
	e.in, e.out[0] = append(e.in[:0], out), out
	for _, o := range extra {
		if o != nil {
			e.in = append(e.in, o)
		}
	}
	e.kernel.Bind(e.in, e.out)
}

// Scratch returns the bytes of working memory of [Epilogue.Run].
func (e *Epilogue) Scratch() int {
	if e == nil {
		return 0
	}
	return e.kernel.Scratch()
}

// Run runs the program on a block of the output: rows of n elements that begin
// pitch elements apart, the first at element start, counted in row-major order of
// the shape of the output, however that lies in memory.
func (e *Epilogue) Run(start, rows, pitch, n int, scratch []byte) error {
	if e == nil {
		return nil
	}
	if n == pitch {
		rows, n = 1, rows*n
	}
	k := e.kernel
	f := k.begin(scratch, k.block)
	for rows > 0 {
		count := k.evenRows(start, pitch, n, rows)
		var err error
		if count > 1 {
			err = k.part(&f, start, count, pitch, n)
		} else {
			err = k.elements(&f, start, start+n)
		}
		if err != nil {
			return err
		}
		start, rows = start+count*pitch, rows-count
	}
	return nil
}
