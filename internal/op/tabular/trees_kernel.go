package tabular

import (
	"fmt"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/reduce"
)

// newTrees returns the kernel of [TreeEnsemble]. It equals
//
//	for each row, for each root in order:
//	    at = root
//	    while nodes[at] is no leaf: at = its child for what it says of x[row, feature]
//	    for each vote of the leaf in order:
//	        y[row, target] = its first weight, and later y[row, target] + weight, or the extreme of both
func newTrees(t dtype.Type, e TreeEnsemble) kernel.Kernel {
	return kernel.OfFloat(t, e, treesOf[float32], treesOf[float64])
}

func treesOf[T kernel.Float](e TreeEnsemble) kernel.Kernel { return &treesKernel[T]{TreeEnsemble: e} }

type treesKernel[T kernel.Float] struct {
	TreeEnsemble
	x, nodes, thresholds, roots, targets, weights, y *kernel.Operand
	tasks, each                                      int
}

func (k *treesKernel[T]) Bind(in, out []*kernel.Operand) {
	k.x, k.nodes, k.thresholds, k.roots, k.targets, k.weights = in[0], in[1], in[2], in[3], in[4], in[5]
	k.y = out[0]
	const perTree = 16 // a guess at the length of a path
	k.tasks, k.each = kernel.Parts(k.x.Shape[0], k.Targets+perTree*k.roots.Shape[0])
}

func (k *treesKernel[T]) Tasks() int { return k.tasks }

func (k *treesKernel[T]) Scratch() int {
	if k.tasks == 0 { // and y, which is larger, takes no memory either
		return 0
	}
	return kernel.Carved[T](k.Targets) + kernel.Carved[bool](k.Targets)
}

func (k *treesKernel[T]) Run(task int, scratch []byte) error {
	scores, voted := kernel.Carve[T](&scratch, k.Targets), kernel.Carve[bool](&scratch, k.Targets)
	f := trees[T]{
		nodes: dense[int32](k.nodes), thresholds: dense[T](k.thresholds),
		x: kernel.Slice[T](k.x), features: k.x.Shape[1], step: k.x.Strides[1],
	}
	roots, targets, weights := dense[int32](k.roots), dense[int32](k.targets), dense[T](k.weights)
	y := kernel.Slice[T](k.y)
	for row := task * k.each; row < min((task+1)*k.each, k.x.Shape[0]); row++ {
		clear(scores)
		clear(voted)
		from := k.x.Offset + row*k.x.Strides[0]
		for _, root := range roots {
			first, end, err := f.leaf(root, from)
			if err != nil {
				return err
			}
			if first < 0 || first > end || int(end) > len(targets) {
				return fmt.Errorf("a leaf has votes %d to %d of %d", first, end, len(targets))
			}
			for v, target := range targets[first:end] {
				if uint(target) >= uint(len(scores)) {
					return fmt.Errorf("vote %d is for target %d of %d", int(first)+v, target, len(scores))
				}
				weight := weights[int(first)+v]
				if voted[target] {
					weight = k.both(scores[target], weight)
				}
				scores[target], voted[target] = weight, true
			}
		}
		to := k.y.Offset + row*k.y.Strides[0]
		for _, s := range scores {
			y[to] = s
			to += k.y.Strides[1]
		}
	}
	return nil
}

// both returns what two votes come to.
func (k *treesKernel[T]) both(a, b T) T {
	switch {
	case k.Aggregate == reduce.Sum:
		return a + b
	case k.Aggregate == reduce.Max && b > a || k.Aggregate == reduce.Min && b < a:
		return b
	}
	return a
}

// trees is the questions of all trees, and the rows that they are asked of.
type trees[T kernel.Float] struct {
	nodes          []int32
	thresholds     []T
	x              []T
	features, step int // columns of x, and how far apart they lie
}

// leaf returns the votes of the leaf where the row that begins at x[from] comes to
// from a node.
func (f *trees[T]) leaf(at int32, from int) (first, end int32, err error) {
	behind := int32(-1) // what at must exceed, so that no path is without an end
	for {
		if at <= behind || int(at) >= len(f.thresholds) {
			return 0, 0, fmt.Errorf("node %d of %d leads to node %d", behind, len(f.thresholds), at)
		}
		behind = at
		n := f.nodes[Columns*int(at):][:Columns]
		if n[columnMode] == int32(Leaf) {
			return n[columnTrue], n[columnFalse], nil
		}
		if uint(n[columnFeature]) >= uint(f.features) {
			return 0, 0, fmt.Errorf("node %d asks for feature %d of %d", at, n[columnFeature], f.features)
		}
		x, t := f.x[from+int(n[columnFeature])*f.step], f.thresholds[at]
		var yes bool
		switch Mode(n[columnMode] &^ nanIsTrue) {
		case LessEqual:
			yes = x <= t
		case Less:
			yes = x < t
		case GreaterEqual:
			yes = x >= t
		case Greater:
			yes = x > t
		case Equal:
			yes = x == t
		case NotEqual:
			yes = x != t
		default:
			return 0, 0, fmt.Errorf("node %d is of mode %d, which does not exist", at, n[columnMode])
		}
		if x != x {
			yes = n[columnMode]&nanIsTrue != 0
		}
		if at = n[columnFalse]; yes {
			at = n[columnTrue]
		}
	}
}

// dense returns the elements of an operand that lies dense.
func dense[T any](o *kernel.Operand) []T {
	n := 1
	for _, d := range o.Shape {
		n *= d
	}
	return kernel.Slice[T](o)[o.Offset:][:n]
}
