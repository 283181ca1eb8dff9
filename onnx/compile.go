package onnx

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/shape"
)

// Options say for which shapes a model is compiled, and how. Nil stands for
// the zero value.
type Options struct {
	// Rows is the most rows of a run; 0 means 1.
	Rows int
	// RowDim is the symbolic extent that is the rows. Empty means
	// [Model.RowDim]. With "-" every extent is fixed.
	RowDim string
	// Dims are the sizes of the other symbolic extents, by name.
	Dims map[string]int
	// Open is the size of every extent that nothing else fixes; 0 makes such
	// an extent an error.
	Open int
	// Shapes are the shapes of inputs, by name, where the model leaves
	// extents open without naming them, or to override it. At most the axes
	// that the model calls RowDim may vary.
	Shapes map[string][]int
	// Values pins inputs to data, by name. They are no inputs of the program
	// any more. Inputs on whose data a shape depends must be pinned.
	Values map[string]*berth.Tensor
	// Program steers the compilation itself.
	Program berth.CompileOptions
}

// Compile plans the model as a program for the shapes that opt fixes: every
// offset is decided, and every run takes from 1 to opt.Rows rows.
func (m *Model) Compile(ctx context.Context, opt *Options) (*berth.Program, error) {
	if opt == nil {
		opt = &Options{}
	}
	prog, err := m.compile(ctx, opt)
	if err != nil {
		return nil, fmt.Errorf("onnx: %s: %w", m.name, err)
	}
	return prog, nil
}

func (m *Model) compile(ctx context.Context, opt *Options) (*berth.Program, error) {
	most := max(opt.Rows, 1)
	rowDim := opt.rowDim(m)
	// The program calls for the graph again, with other numbers of rows.
	build := func(rows int) ([]graph.Value, error) {
		inputs, err := m.shaped(opt, rowDim, rows)
		if err != nil {
			return nil, err
		}
		return m.build(ctx, inputs, false, most > 1)
	}
	inputs, err := m.shaped(opt, rowDim, most)
	if err != nil {
		return nil, err
	}
	values, err := m.build(ctx, inputs, false, most > 1)
	if err != nil {
		return nil, err
	}
	if err := checkPorts(inputs, values); err != nil {
		return nil, err
	}
	outputs := make([]berth.NamedValue, len(values))
	for i, v := range values {
		outputs[i] = berth.NamedValue{Name: m.wire.Graph.Outputs[i].Name, Value: v}
	}
	return berth.CompileGraph(ctx, outputs, build, &opt.Program)
}

// checkPorts returns an error when the inputs and outputs of a program are
// larger than any run may bind. They are no part of the arena, but kernels have
// to be prepared for them.
func checkPorts(inputs map[string]graph.Value, outputs []graph.Value) error {
	total := int64(0)
	add := func(v graph.Value) {
		// Twice the bound is as good as any more.
		total = min(total+min(int64(v.Type().Bytes()), 2*berth.DefaultMaxBytes), 2*berth.DefaultMaxBytes)
	}
	for _, v := range inputs {
		if v.Node().Leaf() == nil {
			add(v)
		}
	}
	for _, v := range outputs {
		add(v)
	}
	if total > berth.DefaultMaxBytes {
		return errPorts(total)
	}
	return nil
}

// An errPorts is the error about inputs and outputs of at least so many bytes.
type errPorts int64

func (e errPorts) Error() string {
	return fmt.Sprintf("the inputs and outputs of a run take %d bytes or more, at most %d are supported", int64(e), int64(berth.DefaultMaxBytes))
}

func (errPorts) Unwrap() error { return berth.ErrBudget }

// RowDim returns the symbolic extent that is taken as the rows when the options
// do not say: the first one of the first input that has one, if it is the
// extent of that input's first axis. It returns "" when there is none.
func (m *Model) RowDim() string {
	for _, in := range m.Inputs() {
		for axis, d := range in.Dims {
			if d.Name != "" {
				if axis == 0 {
					return d.Name
				}
				return ""
			}
		}
	}
	return ""
}

// rowDim returns the name of the row dimension, or "" when nothing varies.
func (opt *Options) rowDim(m *Model) string {
	name := opt.RowDim
	switch name {
	case "-":
		return ""
	case "":
		name = m.RowDim()
	}
	if _, fixed := opt.Dims[name]; fixed {
		return ""
	}
	return name
}

// Extents returns the symbolic extents of the model's inputs, by name, that
// the given tensors have.
func (m *Model) Extents(inputs map[string]*berth.Tensor) map[string]int {
	extents := make(map[string]int)
	for _, in := range m.Inputs() {
		t := inputs[in.Name]
		if t == nil || t.Rank() != len(in.Dims) {
			continue
		}
		for axis, d := range in.Dims {
			if d.Name != "" {
				extents[d.Name] = t.Shape()[axis]
			}
		}
	}
	return extents
}

// OpenExtents returns the extents of inputs that opt does not fix, each once:
// by name, or as input and axis where the model gives no name. These are the
// ones that opt.Open stands for.
func (m *Model) OpenExtents(opt *Options) []string {
	var open []string
	rowDim := opt.rowDim(m)
	for _, in := range m.Inputs() {
		if opt.Shapes[in.Name] != nil || opt.Values[in.Name] != nil {
			continue
		}
		for axis, d := range in.Dims {
			name := d.Name
			if _, fixed := opt.Dims[name]; d.Size >= 0 || name != "" && (fixed || name == rowDim) {
				continue
			}
			if name == "" {
				name = fmt.Sprintf("%d of input %s", axis, in.Name)
			}
			if !slices.Contains(open, name) {
				open = append(open, name)
			}
		}
	}
	return open
}

// shaped returns the inputs of the graph for a number of rows.
func (m *Model) shaped(opt *Options, rowDim string, rows int) (map[string]graph.Value, error) {
	var errs []error
	values := make(map[string]graph.Value)
	for _, in := range m.Inputs() {
		if t := opt.Values[in.Name]; t != nil {
			v, err := t.Promise().Value()
			if err == nil {
				err = in.accepts(t.DType(), t.Shape())
			}
			errs = append(errs, err)
			values[in.Name] = v
			continue
		}
		v, err := in.leaf(opt, rowDim, rows)
		errs = append(errs, err)
		values[in.Name] = v
	}
	return values, errors.Join(errs...)
}

// leaf returns an input of the graph, with the extents that opt fixes.
func (v ValueInfo) leaf(opt *Options, rowDim string, rows int) (graph.Value, error) {
	if !v.DType.Valid() {
		return graph.Value{}, fmt.Errorf("input %v: %w", v, ErrType)
	}
	given := opt.Shapes[v.Name]
	if v.Dims == nil && given == nil {
		return graph.Value{}, fmt.Errorf("input %v: the model gives it no rank; state its shape", v)
	}
	if given != nil && v.Dims != nil && len(given) != len(v.Dims) {
		return graph.Value{}, fmt.Errorf("input %v: the shape %v has another rank", v, shape.Shape(given))
	}
	dims := make(shape.Shape, max(len(v.Dims), len(given)))
	if err := checkRank(dims); err != nil {
		return graph.Value{}, fmt.Errorf("input %v: %w", v, err)
	}
	var vary []int
	for axis := range dims {
		d := Dim{Size: -1}
		if v.Dims != nil {
			d = v.Dims[axis]
		}
		size, named := opt.Dims[d.Name]
		switch {
		case given != nil:
			dims[axis] = given[axis]
		case d.Size >= 0:
			dims[axis] = d.Size
		case d.Name != "" && d.Name == rowDim:
			dims[axis] = rows
			vary = append(vary, axis)
		case d.Name != "" && named:
			dims[axis] = size
		case opt.Open > 0:
			dims[axis] = opt.Open
		default:
			return graph.Value{}, fmt.Errorf("input %v: the extent of axis %d is open; state it", v, axis)
		}
	}
	n, err := graph.NewInput(v.Name, graph.Type{DType: v.DType, Shape: dims}, vary...)
	if err != nil {
		return graph.Value{}, err
	}
	return n.Output(0), nil
}
