package onnx

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/filemap"
	"github.com/berth-go/berth/internal/intern"
	"github.com/berth-go/berth/internal/wire"
	"github.com/berth-go/berth/shape"
)

// A Model is a decoded and checked ONNX model. It is immutable and safe for
// concurrent use. Its weights stay in the bytes it was decoded from. A nil Model
// and the zero Model have no inputs and no outputs and cannot be run.
type Model struct {
	name    string // of the file, for messages
	wire    *wire.Model
	body    *body
	opsets  map[string]int64 // by domain
	weights map[*wire.Tensor][]byte
	leaves  intern.Map[*wire.Tensor, graph.Node] // the constants that programs hold
	texts   *texts                               // the strings in the file
	runs    runs                                 // what Run keeps
	loader  *wire.Loader                         // of external data
	unmap   func() error                         // of the file itself, if it is mapped
}

// usable returns an error about a model that was not loaded, or about a context
// that is nil.
func (m *Model) usable(ctx context.Context) error {
	switch {
	case m == nil || m.wire == nil:
		return errors.New("onnx: the model is nil or the zero Model, which holds no graph")
	case ctx == nil:
		return errors.New("onnx: the context is nil")
	}
	return nil
}

// graph returns the graph of the file, without anything in a model that was not
// loaded.
func (m *Model) graph() *wire.Graph {
	if m == nil || m.wire == nil {
		return &wire.Graph{}
	}
	return m.wire.Graph
}

// A ValueInfo describes an input or output of a model.
type ValueInfo struct {
	Name string
	// DType is the element type; Invalid when Berth does not have it.
	DType dtype.Type
	// TypeName spells the type as ONNX does, such as "FLOAT" or "sequence".
	TypeName string
	// Dims are the extents; nil when the model does not give a rank.
	Dims []Dim
}

// A Dim is an extent of an input or output: a number, a name that stands for
// one, or neither, when the model leaves it open.
type Dim struct {
	Size int    // -1 when it is not a number
	Name string // of a symbolic extent
}

// String returns the number, the name, or "?".
func (d Dim) String() string {
	switch {
	case d.Size >= 0:
		return strconv.Itoa(d.Size)
	case d.Name != "":
		return d.Name
	}
	return "?"
}

// String prints the value as in "x FLOAT [batch 3 224 224]".
func (v ValueInfo) String() string {
	if v.Dims == nil {
		return v.Name + " " + v.TypeName
	}
	words := make([]string, len(v.Dims))
	for i, d := range v.Dims {
		words[i] = d.String()
	}
	return fmt.Sprintf("%s %s [%s]", v.Name, v.TypeName, strings.Join(words, " "))
}

// LoadFile reads the model in a file. External data is read from the file's
// directory and from nowhere else.
//
// Where the system can do that, the files are mapped into memory, and weights
// that are aligned stay there: they are read when they are first touched, and
// shared with other processes. The files must not shrink until [Model.Close].
func LoadFile(name string) (*Model, error) {
	r, err := resolveFile(name)
	if err != nil {
		return nil, err
	}
	return r.finish()
}

// mapOrRead returns the bytes of a file, and what gives them back.
func mapOrRead(name string) (data []byte, unmap func() error, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if info.Mode().IsRegular() {
		if data, unmap, ok := filemap.Map(f, info.Size()); ok {
			return data, unmap, nil
		}
	}
	data, err = io.ReadAll(f)
	return data, func() error { return nil }, err
}

// Close gives back the memory of mapped files. The model, and every tensor and
// program that came from it, must not be used any more. A model that is used
// until the process ends need not be closed.
func (m *Model) Close() error {
	if m == nil || m.loader == nil {
		return nil
	}
	err := m.loader.Close()
	if m.unmap != nil {
		err = errors.Join(err, m.unmap())
		m.unmap = nil
	}
	return err
}

// Load reads the model name in fsys. External data is read from the same
// directory of fsys. For files on disk prefer [LoadFile], which keeps links
// from leading out of the directory.
func Load(fsys fs.FS, name string) (*Model, error) {
	if fsys == nil {
		return nil, fmt.Errorf("onnx: %s: the file system is nil", name)
	}
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("onnx: %w", err)
	}
	dir, err := fs.Sub(fsys, path.Dir(name))
	if err != nil {
		return nil, fmt.Errorf("onnx: %w", err)
	}
	return decode(name, data, wire.FS(dir))
}

// Parse decodes a model that is in memory and has no external data. It keeps
// data, which must not change any more.
func Parse(data []byte) (*Model, error) { return decode("model", data, nil) }

// decode makes a Model of data. External data is read here, so that source is
// not needed afterwards.
func decode(name string, data []byte, source wire.Source) (*Model, error) {
	r, err := resolve(name, data, source)
	if err != nil {
		return nil, err
	}
	return r.finish()
}

// newestOpsets holds the newest version that is known of each domain. A later
// one may have given an operator another meaning under the same name.
var newestOpsets = map[string]int64{"": 27, "ai.onnx.ml": 5, "ai.onnx.preview": 1, microsoft: 1}

// canonicalDomain returns the one spelling of a domain that has two.
func canonicalDomain(domain string) string {
	if domain == "ai.onnx" {
		return ""
	}
	return domain
}

// Name returns the name of the file the model came from.
func (m *Model) Name() string {
	if m == nil {
		return ""
	}
	return m.name
}

// Inputs returns the inputs that a run must bind: those of the file without a
// value of their own.
func (m *Model) Inputs() []ValueInfo {
	if m == nil || m.body == nil {
		return nil
	}
	return infos(m.body.inputs)
}

// Defaults returns the inputs to which the file gives a value. They are
// constants of a program, which [Options.Values] replaces; [Model.Run] takes
// other values for them.
func (m *Model) Defaults() []ValueInfo {
	var list []ValueInfo
	for _, in := range m.graph().Inputs {
		if m.body.initial[in.Name] != nil {
			list = append(list, info(in))
		}
	}
	return list
}

// Outputs returns the outputs, in the order of the file.
func (m *Model) Outputs() []ValueInfo { return infos(m.graph().Outputs) }

// checkOutputs reports an output of another type than the model declares. Fixed
// extents are compared where all inputs have those that the model declares:
// [Options].Shapes may override them.
func (m *Model) checkOutputs(inputs map[string]graph.Value, outs []graph.Value) error {
	overridden := false
	for _, in := range infos(m.wire.Graph.Inputs) {
		v, given := inputs[in.Name]
		overridden = overridden || given && !in.fits(v.Type().Shape)
	}
	for i, out := range m.Outputs() {
		if outs[i].IsZero() {
			return fmt.Errorf("output %v is absent", out)
		}
		t := outs[i].Type()
		known := out.TypeName != unknownType && out.TypeName != wire.Undefined.String()
		if known && out.DType != t.DType || !overridden && !out.fits(t.Shape) {
			return fmt.Errorf("output %v is declared, but %v is what the model computes", out, t)
		}
	}
	return nil
}

// fits reports whether a shape has the rank and the fixed extents of v. One element fits
// where a scalar is declared: exporters leave its axes out, and so do callers.
func (v ValueInfo) fits(dims []int) bool {
	if v.Dims != nil && len(v.Dims) == 0 {
		return shape.Shape(dims).Elems() == 1
	}
	fits := v.Dims == nil || len(v.Dims) == len(dims)
	for i := range min(len(v.Dims), len(dims)) {
		fits = fits && (v.Dims[i].Size < 0 || v.Dims[i].Size == dims[i])
	}
	return fits
}

// unknownType is the type name of a value whose type the file does not give.
const unknownType = "unknown"

func infos(values []wire.ValueInfo) []ValueInfo {
	out := make([]ValueInfo, len(values))
	for i, v := range values {
		out[i] = info(v)
	}
	return out
}

func info(v wire.ValueInfo) ValueInfo {
	out := ValueInfo{Name: v.Name, TypeName: unknownType}
	if v.Type == nil {
		return out
	}
	tensor := v.Type.Tensor
	if tensor == nil {
		out.TypeName = v.Type.Kind()
		return out
	}
	out.TypeName = tensor.Elem.String()
	out.DType, _ = elementType(tensor.Elem)
	if tensor.Shape != nil {
		out.Dims = make([]Dim, len(tensor.Shape.Dims))
		for i, d := range tensor.Shape.Dims {
			out.Dims[i] = Dim{Size: -1, Name: d.Param}
			if d.HasValue && d.Value >= 0 {
				out.Dims[i].Size = int(d.Value)
			}
		}
	}
	return out
}
