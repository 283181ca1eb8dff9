package onnx

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/berth-go/berth/internal/wire"
)

// ErrUnsupported is wrapped by errors about an operator, or a version of one,
// that Berth does not have.
var ErrUnsupported = errors.New("operator is not supported")

// A MissingOperator is an operator that a model uses and Berth does not have.
type MissingOperator struct {
	Name    string // as in [Info].Ops
	Opset   int64  // the version that the model asks for
	Nodes   int    // how many use it
	Example string // one of these nodes, and where it stands
}

// An UnsupportedError is the error about a model with operators that Berth does
// not have. Its text names the nodes that use them, and whatever else is wrong.
type UnsupportedError struct {
	Operators []MissingOperator // in the order of the nodes
	err       error
}

func (e *UnsupportedError) Error() string { return e.err.Error() }

// Unwrap returns an error that wraps [ErrUnsupported] and every other fault.
func (e *UnsupportedError) Unwrap() error { return e.err }

// miss notes that Berth does not have the operator of n.
func (r *resolver) miss(n *node, opset int64) {
	key := MissingOperator{Name: opName(n.node), Opset: opset}
	i, known := r.missed[key]
	if !known {
		i = len(r.missing)
		r.missed[key] = i
		r.missing = append(r.missing, key)
		r.missing[i].Example = n.place().String()
	}
	r.missing[i].Nodes++
}

// Info is what a model file says of itself. Each call of a function counts as the
// nodes of its body.
type Info struct {
	IRVersion     int64
	Opsets        map[string]int64 // version by domain; "" is ai.onnx
	Producer      string           // the program that wrote the file, and its version
	Domain        string           // of the model, such as "com.example"
	ModelVersion  int64
	Documentation string
	Metadata      map[string]string // custom properties; see [Model.LookupMetadata]
	GraphName     string
	Inputs        []ValueInfo
	Outputs       []ValueInfo
	Extents       []string       // the symbolic extents of the inputs, in ascending order
	Nodes         int            // subgraphs counted
	Ops           map[string]int // how often each operator is used
	Functions     map[string]int // how often each function of the file is called
	Weights       int            // tensors: initializers, and those in attributes
	Parameters    int64          // their elements
	WeightBytes   int64          // their size, without data that cannot be read
	// Missing are the operators that Berth does not have, and Faults says what
	// else keeps the model from being loaded. Both are nil for a [Model].
	Missing []MissingOperator
	Faults  []error
}

// Inspect reads a file as [LoadFile] does, and returns what it says of itself,
// whether or not Berth can run it. An error is about a file that cannot be read or
// is no model at all.
func Inspect(name string) (info Info, err error) {
	r, err := resolveFile(name)
	if err != nil {
		return Info{}, err
	}
	defer func() { err = errors.Join(err, r.model.Close()) }()
	info = r.model.Info()
	info.Missing = r.missing
	for _, err := range r.errs {
		if !errors.Is(err, ErrUnsupported) {
			info.Faults = append(info.Faults, err)
		}
	}
	return info, nil
}

// resolveFile resolves the model in a file, which stays mapped until the model is
// closed.
func resolveFile(name string) (*resolver, error) {
	data, unmap, err := mapOrRead(name)
	if err != nil {
		return nil, fmt.Errorf("onnx: %w", err)
	}
	dir, err := wire.OpenDir(filepath.Dir(name))
	if err != nil {
		return nil, fmt.Errorf("onnx: %s: %w", name, errors.Join(err, unmap()))
	}
	defer dir.Close()
	r, err := resolve(name, data, dir)
	if err != nil {
		return nil, errors.Join(err, unmap())
	}
	r.model.unmap = unmap
	return r, nil
}

// Info returns what the file says of itself.
func (m *Model) Info() Info {
	if m == nil || m.wire == nil {
		return Info{}
	}
	info := Info{
		IRVersion:     m.wire.IRVersion,
		Opsets:        m.opsets,
		Producer:      strings.TrimSpace(m.wire.ProducerName + " " + m.wire.ProducerVersion),
		Domain:        m.wire.Domain,
		ModelVersion:  m.wire.ModelVersion,
		Documentation: m.wire.DocString,
		Metadata:      make(map[string]string),
		GraphName:     m.wire.Graph.Name,
		Inputs:        m.Inputs(),
		Outputs:       m.Outputs(),
		Extents:       extentNames(m.Inputs()),
		Ops:           make(map[string]int),
		Functions:     make(map[string]int),
		Weights:       len(m.weights),
	}
	for _, p := range m.wire.Metadata {
		info.Metadata[p.Key] = p.Value
	}
	var visit func(b *body)
	visit = func(b *body) {
		for _, n := range b.nodes {
			if n.function != nil {
				info.Functions[opName(n.node)]++
				visit(n.function)
				continue
			}
			info.Nodes++
			info.Ops[opName(n.node)]++
			for _, sub := range n.bodies {
				visit(sub)
			}
		}
	}
	visit(m.body)
	for t, data := range m.weights {
		dims, _ := dimsOf(t) // as resolver.weight has checked
		info.Parameters += min(int64(dims.Elems()), math.MaxInt64-info.Parameters)
		info.WeightBytes += int64(len(data))
	}
	return info
}

// opName returns the name of an operator, behind the domain if that is not
// ai.onnx.
func opName(n *wire.Node) string {
	if d := canonicalDomain(n.Domain); d != "" {
		return d + "." + n.OpType
	}
	return n.OpType
}

// extentNames returns the symbolic extents of values, each once, in ascending
// order.
func extentNames(values []ValueInfo) []string {
	var extents []string
	for _, v := range values {
		for _, d := range v.Dims {
			if d.Name != "" {
				extents = append(extents, d.Name)
			}
		}
	}
	slices.Sort(extents)
	return slices.Compact(extents)
}

// LookupMetadata returns the value of a custom property of the file, such as the
// names of the classes that a classifier tells apart, and whether it has one of
// that key. Where a key stands more than once, the last value holds.
func (m *Model) LookupMetadata(key string) (value string, ok bool) {
	if m == nil || m.wire == nil {
		return "", false
	}
	for _, p := range slices.Backward(m.wire.Metadata) {
		if p.Key == key {
			return p.Value, true
		}
	}
	return "", false
}
