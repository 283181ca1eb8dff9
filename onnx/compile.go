package onnx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/bridge"
	"github.com/berth-go/berth/internal/extent"
	"github.com/berth-go/berth/shape"
)

// Options say for which shapes a model is compiled, and how. Nil stands for
// the zero value.
type Options struct {
	// Rows is the most rows of a run; 0 means 1.
	Rows int
	// RowDim is the symbolic extent that is the rows. Empty means
	// [Model.RowDim]. With "-" every extent is fixed, but for those in Vary.
	RowDim string
	// Vary are symbolic extents that may vary from run to run, with their
	// bounds, beside the rows:
	//
	//	Vary: []berth.Dimension{berth.Dim("batch", 1, 4), berth.Dim("sequence", 1, 128)}
	Vary []berth.Dimension
	// Dims are the sizes of the other symbolic extents, by name.
	Dims map[string]int
	// Open is the size of every extent that nothing else fixes; 0 makes such
	// an extent an error.
	Open int
	// Shapes are the shapes of inputs, by name, where the model leaves
	// extents open without naming them, or to override it. They do not vary.
	Shapes map[string][]int
	// Values pins inputs to data, by name. They are constants of the program
	// and none of its inputs. Inputs on whose data a shape depends must be
	// pinned; those to which the file gives a value are pinned to that unless
	// another one stands here.
	Values map[string]*berth.Tensor
	// Program steers the compilation itself.
	Program berth.CompileOptions
}

// ErrName is wrapped by the error about a name in [Options] that the model does
// not have.
var ErrName = errors.New("the model has no such name")

// Compile plans the model as a program for the shapes that opt fixes: every
// offset is decided. A run takes from 1 to opt.Rows rows, and any extents within
// the bounds in opt.Vary. All inputs of the model that are not pinned are inputs
// of the program, also those that nothing reads.
func (m *Model) Compile(ctx context.Context, opt *Options) (*berth.Program, error) {
	if err := m.usable(ctx); err != nil {
		return nil, err
	}
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
	if err := m.checkOptions(opt); err != nil {
		return nil, err
	}
	var g bridge.Graph
	for _, d := range opt.vary(m) {
		g.Dims = append(g.Dims, extent.Dim(d))
	}
	for _, out := range m.wire.Graph.Outputs {
		g.Outputs = append(g.Outputs, out.Name)
	}
	for _, in := range m.wire.Graph.Inputs {
		if opt.Values[in.Name] != nil || m.body.initial[in.Name] != nil {
			g.Constants = append(g.Constants, in.Name)
		}
	}
	g.Build = func(p extent.Point) (outputs, inputs []graph.Value, err error) {
		extents := make(map[string]int)
		maps.Copy(extents, opt.Dims)
		if rowDim := opt.rowDim(m); rowDim != "" {
			extents[rowDim] = 1
		}
		for i, d := range g.Dims {
			extents[d.Name] = p[i]
		}
		values, err := m.shaped(opt, extents)
		if err != nil {
			return nil, nil, err
		}
		if outputs, err = m.build(ctx, values, false, len(g.Dims) > 0); err != nil {
			return nil, nil, err
		}
		for _, in := range m.wire.Graph.Inputs {
			if v, ok := values[in.Name]; ok && v.Node().Stored() == nil {
				inputs = append(inputs, v)
			}
		}
		return outputs, inputs, checkPorts(inputs, outputs)
	}
	return inside.Compile(ctx, g, &opt.Program)
}

// vary returns the dimensions of the program.
func (opt *Options) vary(m *Model) []berth.Dimension {
	rowDim := opt.rowDim(m)
	if opt.Rows <= 1 || rowDim == "" || slices.ContainsFunc(opt.Vary, func(d berth.Dimension) bool { return d.Name == rowDim }) {
		return opt.Vary
	}
	return append([]berth.Dimension{berth.Dim(rowDim, 1, opt.Rows)}, opt.Vary...)
}

// checkOptions returns an error about the names in opt that the model does not
// have, and about constants that are not what opt says of them.
func (m *Model) checkOptions(opt *Options) error {
	var inputs []string
	for _, in := range m.wire.Graph.Inputs {
		inputs = append(inputs, in.Name)
	}
	extents := extentNames(m.Inputs())
	var errs []error
	check := func(option, what string, known, given []string) {
		for _, name := range given {
			if !slices.Contains(known, name) {
				errs = append(errs, matching{fmt.Errorf("%s %q: the model has no %s of that name, but %s",
					"Options."+option, name, what, cmp.Or(strings.Join(known, ", "), "none")), ErrName})
			}
		}
	}
	check("Values", "input", inputs, sortedKeys(opt.Values))
	check("Shapes", "input", inputs, sortedKeys(opt.Shapes))
	check("Dims", "extent", extents, sortedKeys(opt.Dims))
	for _, d := range opt.Vary {
		check("Vary", "extent", extents, []string{d.Name})
		if _, fixed := opt.Dims[d.Name]; fixed {
			errs = append(errs, fmt.Errorf("Options: extent %q is in Vary and in Dims", d.Name))
		}
	}
	if opt.RowDim != "" && opt.RowDim != "-" {
		check("RowDim", "extent", extents, []string{opt.RowDim})
	}
	for _, name := range sortedKeys(opt.Values) {
		if opt.Values[name] == nil {
			errs = append(errs, fmt.Errorf("Options.Values: the value of input %q is nil", name))
		}
	}
	for _, name := range sortedKeys(opt.Shapes) {
		dims, constant := m.constantShape(opt, name)
		if constant && !slices.Equal(opt.Shapes[name], dims) {
			errs = append(errs, fmt.Errorf("Options.Shapes: input %q is a constant of shape %v, not %v", name, dims, shape.Shape(opt.Shapes[name])))
		}
	}
	return errors.Join(errs...)
}

// constantShape returns the shape of an input that is a constant of the program.
func (m *Model) constantShape(opt *Options, name string) (dims shape.Shape, constant bool) {
	if t := opt.Values[name]; t != nil {
		return t.Shape(), true
	}
	if t := m.body.initial[name]; t != nil {
		typ, err := tensorType(t)
		return typ.Shape, err == nil
	}
	return nil, false
}

// A matching error matches another one, whose text it does not repeat.
type matching struct {
	error
	other error
}

func (e matching) Unwrap() error { return e.other }

// checkPorts returns an error when the inputs and outputs of a program are
// larger than any run may bind. They are no part of the arena, but kernels have
// to be prepared for them.
func checkPorts(inputs, outputs []graph.Value) error {
	const most = int64(berth.DefaultMaxBytes)
	const enough = 2 * most // as good as any more
	total := int64(0)
	for _, v := range slices.Concat(inputs, outputs) {
		total = min(total+min(int64(v.Type().Bytes()), enough), enough)
	}
	if total > most {
		return matching{fmt.Errorf("the inputs and outputs of a run take %d bytes or more, at most %d are supported", total, most), berth.ErrBudget}
	}
	return nil
}

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
	if opt == nil {
		opt = &Options{}
	}
	var open []string
	rowDim := opt.rowDim(m)
	for _, in := range m.Inputs() {
		if opt.Shapes[in.Name] != nil || opt.Values[in.Name] != nil {
			continue
		}
		for axis, d := range in.Dims {
			name := d.Name
			_, fixed := opt.Dims[name]
			varies := slices.ContainsFunc(opt.Vary, func(d berth.Dimension) bool { return d.Name == name })
			if d.Size >= 0 || name != "" && (fixed || varies || name == rowDim) {
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

// shaped returns the inputs of the graph for sizes of the symbolic extents.
func (m *Model) shaped(opt *Options, extents map[string]int) (map[string]graph.Value, error) {
	var errs []error
	values := make(map[string]graph.Value)
	for _, in := range infos(m.wire.Graph.Inputs) {
		if t := opt.Values[in.Name]; t != nil {
			v, err := inside.Value(t.Promise())
			if err == nil {
				err = in.accepts(t.DType(), t.Shape())
			}
			errs = append(errs, err)
			values[in.Name] = v
		} else if m.body.initial[in.Name] == nil {
			v, err := in.leaf(opt, extents)
			errs = append(errs, err)
			values[in.Name] = v
		}
	}
	return values, errors.Join(errs...)
}

// leaf returns an input of the graph, with the extents that opt fixes.
func (v ValueInfo) leaf(opt *Options, extents map[string]int) (graph.Value, error) {
	if !v.DType.Valid() {
		return graph.Value{}, fmt.Errorf("input %v: %w", v, ErrType)
	}
	given := opt.Shapes[v.Name]
	if v.Dims == nil && given == nil {
		return graph.Value{}, fmt.Errorf("input %v: the model gives it no rank; state its shape", v)
	}
	if given != nil && v.Dims != nil && len(given) != len(v.Dims) && !v.fits(given) {
		return graph.Value{}, fmt.Errorf("input %v: the shape %v has another rank", v, shape.Shape(given))
	}
	dims := make(shape.Shape, max(len(v.Dims), len(given)))
	if err := checkRank(dims); err != nil {
		return graph.Value{}, fmt.Errorf("input %v: %w", v, err)
	}
	for axis := range dims {
		d := Dim{Size: -1}
		if axis < len(v.Dims) {
			d = v.Dims[axis]
		}
		size, named := extents[d.Name]
		switch {
		case given != nil:
			dims[axis] = given[axis]
		case d.Size >= 0:
			dims[axis] = d.Size
		case d.Name != "" && named:
			dims[axis] = size
		case opt.Open > 0:
			dims[axis] = opt.Open
		default:
			return graph.Value{}, fmt.Errorf("input %v: the extent of axis %d is open; state it", v, axis)
		}
	}
	n, err := graph.NewInput(v.Name, graph.Type{DType: v.DType, Shape: dims})
	if err != nil {
		return graph.Value{}, err
	}
	return n.Output(0), nil
}
