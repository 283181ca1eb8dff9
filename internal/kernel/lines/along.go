package lines

import "github.com/berth-go/berth/internal/kernel"

// Along is lines along one axis of an input and of an output of its shape: what
// kernels have in common that make one line of another.
type Along struct {
	Axis    int
	In, Out *kernel.Operand
	Lines   Lines
}

// Bind implements [kernel.Kernel].
func (a *Along) Bind(in, out []*kernel.Operand) {
	a.In, a.Out = in[0], out[0]
	a.Lines.Bind(a.In.Shape, []int{a.Axis}, a.In.Strides, a.Out.Strides)
}

// Tasks implements [kernel.Kernel].
func (a *Along) Tasks() int {
	if a.Lines.Length == 0 {
		return 0
	}
	return a.Lines.Tasks
}
