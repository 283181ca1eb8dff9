// Package bridge gives the packages of this module what they need of package
// berth and its users do not: graphs and storage behind promises, tensors and
// programs.
//
// Package berth cannot export these without showing them to everybody, and
// this package cannot import it. So berth hands its functions over when it is
// initialised, which is before any package that imports it.
package bridge

import (
	"context"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/compile"
	"github.com/berth-go/berth/internal/exec"
	"github.com/berth-go/berth/internal/extent"
)

// A Graph is what a program is made of.
type Graph struct {
	Outputs []string // their names
	// Constants are names of constants that a caller might take for inputs.
	Constants []string
	Dims      []extent.Dim
	Build     compile.Build
}

// Functions work on the types of package berth.
type Functions[Tensor, Promise, Program, CompileOptions any] struct {
	// Tensor returns a tensor over storage that exists already, which must
	// not change any more. The storage must be aligned to the element width,
	// and the layout must lie within it.
	Tensor func(graph.Type, graph.Leaf) (*Tensor, error)
	// Leaf returns the storage of a tensor, which is shared and must not be
	// changed.
	Leaf func(*Tensor) graph.Leaf
	// Promise returns a promise of a value, broken for the zero Value.
	Promise func(graph.Value) *Promise
	// Value returns the value that a promise is of, or the error that broke
	// the promise.
	Value func(*Promise) (graph.Value, error)
	// Compile plans a graph as a program.
	Compile func(context.Context, Graph, *CompileOptions) (*Program, error)
	// Compiled returns what a program is made of.
	Compiled func(*Program) *compile.Program
	// Prepared returns a program as instances are made of it.
	Prepared func(*Program) *exec.Prepared
}

var functions any

// Provide is called by package berth, once.
func Provide[T, P, G, O any](f Functions[T, P, G, O]) { functions = f }

// Berth returns the functions, whose types are those of package berth: Tensor,
// Promise, Program and CompileOptions.
func Berth[T, P, G, O any]() Functions[T, P, G, O] { return functions.(Functions[T, P, G, O]) }
