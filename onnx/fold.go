package onnx

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/exec"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/op/quant"
	"github.com/berth-go/berth/shape"
)

// What shapes are computed from is small in every real model. A file may be
// hostile, though, and a few bytes of it can ask for any number of elements,
// so there are bounds on what is done before the shapes are known.
const (
	// shapeBytes bounds the memory of a computation.
	shapeBytes = 256 << 20
	// foldWork bounds the work of all computations together, in elements that
	// are read and written; see workOf.
	foldWork = 1 << 26
	// foldElems bounds the results that are computed while the graph is built.
	// Shapes, and what is computed from them, are far below; weights are not
	// touched here.
	foldElems = 4096
	// mostListed bounds the lists of extents, axes, bounds and the like.
	mostListed = 1 << 16
	// mostAxes bounds ranks. No array library that models come from has more.
	mostAxes = 64
)

// errWork is the error about a shape whose computation would exceed foldWork.
var errWork = errors.New("computing the shape takes more work than a shape may")

// checkRank returns an error when a shape has more axes than mostAxes.
func checkRank(s []int) error {
	if len(s) > mostAxes {
		return fmt.Errorf("there are %d axes, at most %d are supported", len(s), mostAxes)
	}
	return nil
}

// fold returns v, or a constant in its place when v depends on constants alone
// and is small and cheap to compute.
func (imp *importer) fold(v graph.Value) (graph.Value, error) {
	// Asked of every value, so that the answer is never far to seek.
	if imp.dependsOnInput(v) || imp.keep || v.Node().IsLeaf() || v.Type().Shape.Elems() > foldElems {
		return v, nil
	}
	if _, ok := v.Node().Op().(quant.Dequantize); ok { // package rewrite may multiply the integers
		return v, nil
	}
	folded, err := imp.compute(v, shapeBytes)
	switch {
	case errors.Is(err, berth.ErrMemory) || errors.Is(err, errWork):
		return v, nil // computed with the rest, if at all
	case err != nil:
		return graph.Value{}, err
	}
	return folded, nil
}

// dependsOnInput reports whether v is more than a function of constants.
func (imp *importer) dependsOnInput(v graph.Value) bool {
	n := v.Node()
	if known, ok := imp.varies[n]; ok {
		return known
	}
	_, varies := n.Op().(graph.Input)
	for i := 0; i < n.NumInputs() && !varies; i++ {
		varies = !n.Input(i).IsZero() && imp.dependsOnInput(n.Input(i))
	}
	imp.varies[n] = varies
	return varies
}

// known returns a constant with the elements of v, which a shape depends on.
func (imp *importer) known(v graph.Value) (graph.Value, error) {
	if v.Node().Stored() != nil {
		return v, nil
	}
	if c, ok := imp.peeked[v]; ok {
		return c, nil
	}
	limit := int64(shapeBytes)
	if imp.dependsOnInput(v) {
		if !imp.bound {
			return graph.Value{}, needsData{v}
		}
		limit = berth.DefaultMaxBytes // data of this run, not of the file
	}
	c, err := imp.compute(v, limit)
	if err == nil {
		imp.peeked[v] = c
	}
	return c, err
}

// compute returns a constant with the elements of v, computed in at most the
// given memory. What depends on constants alone is charged to imp.work.
func (imp *importer) compute(v graph.Value, maxBytes int64) (graph.Value, error) {
	if !imp.dependsOnInput(v) && !imp.spend(v) {
		return graph.Value{}, errWork
	}
	results, err := exec.Compute(imp.ctx, []graph.Value{v}, exec.Options{Workers: 1, MaxBytes: maxBytes})
	if err != nil {
		return graph.Value{}, err
	}
	leaf := results[0].Leaf
	// A part of a large buffer would keep all of it.
	if need := v.Type().Bytes(); len(leaf.Data) > 2*need {
		data := kernel.Compact(leaf.Data, leaf.Layout, v.Type().DType.Size())
		leaf = graph.Leaf{Layout: shape.Dense(leaf.Layout.Shape), Data: data}
	}
	n, err := graph.NewConstant(v.Type(), leaf)
	if err != nil {
		return graph.Value{}, err
	}
	return n.Output(0), nil
}

// spend takes the work of computing v off imp.work, and reports whether it was
// enough. Looking is charged as well.
func (imp *importer) spend(v graph.Value) bool {
	seen := map[*graph.Node]bool{v.Node(): true}
	for open := []*graph.Node{v.Node()}; len(open) > 0; {
		n := open[len(open)-1]
		open = open[:len(open)-1]
		if n.IsLeaf() {
			continue
		}
		work := workOf(n)
		if work >= imp.work {
			imp.work -= min(imp.work, int64(len(seen)))
			return false
		}
		imp.work -= work
		for i := range n.NumInputs() {
			if in := n.Input(i); !in.IsZero() && !seen[in.Node()] {
				seen[in.Node()] = true
				open = append(open, in.Node())
			}
		}
	}
	return true
}

// workOf returns a bound on the elements that computing a node reads and
// writes. Ops that are no [op.Streamer] are taken to look at all inputs for every
// element of the output.
func workOf(n *graph.Node) int64 {
	in, out := int64(1), int64(1)
	for i := range n.NumInputs() {
		if v := n.Input(i); !v.IsZero() {
			in = min(in+places(v), foldWork)
		}
	}
	for i := range n.NumOutputs() {
		out = min(out+places(n.Output(i)), foldWork)
	}
	switch n.Op().(type) {
	case graph.Contiguous, op.Streamer:
		return in + out // a reshape, too, may have to copy
	case graph.Viewer:
		return 1
	}
	hi, lo := bits.Mul64(uint64(in), uint64(out))
	if hi != 0 || lo > foldWork {
		return foldWork
	}
	return int64(lo)
}

// places returns the number of elements of v, or of what would be its elements
// if no axis were empty: a kernel may go along the others all the same.
func places(v graph.Value) int64 {
	n := int64(1)
	for _, d := range v.Type().Shape {
		n = min(n*int64(min(max(d, 1), foldWork)), foldWork)
	}
	return n
}
