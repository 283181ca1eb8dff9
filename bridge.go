package berth

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/bridge"
	"github.com/berth-go/berth/internal/compile"
	"github.com/berth-go/berth/internal/exec"
	"github.com/berth-go/berth/internal/kernel"
)

// The other packages of this module reach what is behind the exported types
// through package bridge.
func init() {
	bridge.Provide(bridge.Functions[Tensor, Promise, Program, CompileOptions]{
		Tensor:   tensorOf,
		Leaf:     (*Tensor).leaf,
		Promise:  promiseOf,
		Value:    (*Promise).graphValue,
		Compile:  compileGraph,
		Compiled: func(p *Program) *compile.Program { return p.prog },
		Prepared: func(p *Program) *exec.Prepared { return p.prep },
	})
}

// tensorOf returns a tensor over storage that exists already.
func tensorOf(t graph.Type, leaf graph.Leaf) (*Tensor, error) {
	if _, err := graph.NewConstant(t, leaf); err != nil {
		return nil, fmt.Errorf("berth: %w", err)
	}
	if !kernel.Aligned(leaf.Data, t.DType.Size()) {
		return nil, fmt.Errorf("berth: the storage of %v is not aligned to %d bytes", t, t.DType.Size())
	}
	return &Tensor{t.DType, leaf.Layout, leaf.Data}, nil
}

// leaf returns the storage of the tensor.
func (t *Tensor) leaf() graph.Leaf { return graph.Leaf{Layout: t.layout, Data: t.data} }

// promiseOf returns a promise of a value of a graph.
func promiseOf(v graph.Value) *Promise {
	if v.IsZero() {
		return &Promise{err: errors.New("berth: a promise of the zero Value")}
	}
	return &Promise{value: v}
}

// graphValue returns the value that p stands for, or the error that broke p.
func (p *Promise) graphValue() (graph.Value, error) {
	if err := p.Err(); err != nil {
		return graph.Value{}, err
	}
	return p.value, nil
}

// compileGraph plans a graph as a program.
func compileGraph(ctx context.Context, g bridge.Graph, opt *CompileOptions) (*Program, error) {
	if ctx == nil {
		return nil, errContext
	}
	if opt == nil {
		opt = &CompileOptions{}
	}
	prog, err := compile.Compile(ctx, g.Outputs, g.Dims, g.Build, exec.Evaluate, compile.Options{
		Strategy: opt.Strategy, SearchBudget: opt.SearchNodes, Budget: cmp.Or(opt.MaxArena, DefaultMaxBytes),
		SeedOrder: opt.SeedOrder, NoSharing: opt.NoSharing, Without: opt.Without, Extends: opt.Extends,
	})
	if err != nil {
		return nil, fmt.Errorf("berth: %w", err)
	}
	prep, err := exec.Prepare(prog, !opt.NoPrepack)
	if err != nil {
		return nil, fmt.Errorf("berth: %w", err)
	}
	return &Program{prog, prep, g.Constants}, nil
}
