package rewrite

import (
	"context"
	"slices"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/op/conv"
	"github.com/berth-go/berth/internal/op/view"
	"github.com/berth-go/berth/shape"
)

// channelsLast has regions of a network compute over images with their channels last,
// where convolutions gain more by that than the transposes around a region cost:
//
//	x ── conv ── relu ── f   ->   x ── permute 0 2 3 1 ── conv{last} ── relu ── permute 0 3 1 2 ── f
//
// A region is what is connected by values that an [op.Layouter] writes and another one
// reads as an image. A reshape of the spatial axes alone counts as one.
func channelsLast(_ context.Context, r *graph.Rewriter, opt *Options) error {
	regions := findRegions(r, fixed(r, opt.varies))
	l := layout{r: r, last: make(map[graph.Value]graph.Value)}
	return r.Walk(func(n *graph.Node) error {
		if region := regions.of(n); region == nil || !region.pays {
			return nil
		}
		return l.lay(n)
	})
}

// A region is a set of nodes that are laid out together, or not at all.
type region struct {
	nodes []*graph.Node
	pays  bool
}

// regions holds the regions of a graph.
type regions struct {
	r     *graph.Rewriter
	index map[*graph.Node]int // of the region of a node, or of a node of the same region
	list  []*region
	root  []int
}

// findRegions returns the regions of the graph of r. Nodes that are fixed, and constants
// all the more, are in none.
func findRegions(r *graph.Rewriter, fixed map[*graph.Node]bool) *regions {
	g := &regions{r: r, index: make(map[*graph.Node]int)}
	for _, n := range r.Nodes() {
		if r.IsLeaf(n) || fixed[n] || g.images(n) == 0 {
			continue
		}
		g.index[n] = len(g.root)
		g.root = append(g.root, len(g.root))
		for i := range min(g.images(n), n.NumInputs()) {
			if from, ok := g.index[n.Input(i).Node()]; ok && isImage(n, i) {
				g.root[g.find(from)] = g.find(g.index[n])
			}
		}
	}
	g.list = make([]*region, len(g.root))
	for _, n := range r.Nodes() {
		if _, ok := g.index[n]; ok {
			i := g.find(g.index[n])
			if g.list[i] == nil {
				g.list[i] = &region{}
			}
			g.list[i].nodes = append(g.list[i].nodes, n)
		}
	}
	for _, region := range g.list {
		if region != nil {
			region.pays = g.pay(region)
		}
	}
	return g
}

// find returns the representative of a region.
func (g *regions) find(i int) int {
	for g.root[i] != i {
		g.root[i] = g.root[g.root[i]]
		i = g.root[i]
	}
	return i
}

// of returns the region of a node, nil if it is in none.
func (g *regions) of(n *graph.Node) *region {
	i, ok := g.index[n]
	if !ok {
		return nil
	}
	return g.list[g.find(i)]
}

// images returns how many of the first inputs of n are images that may have their channels
// last; 0 if n has no such form.
func (g *regions) images(n *graph.Node) int {
	if n.NumOutputs() != 1 || len(n.Output(0).Type().Shape) < 3 {
		return 0
	}
	if _, ok := n.Op().(view.Reshape); ok && !g.keepsChannels(n) {
		return 0
	}
	_, images := withChannelsLast(n)
	return images
}

// keepsChannels reports whether a reshape leaves the first two axes as they are, and so the
// order of the elements along the others.
func (g *regions) keepsChannels(n *graph.Node) bool {
	return g.r.InAll(func(at func(graph.Value) graph.Value) bool {
		from, to := at(n.Input(0)).Type().Shape, at(n.Output(0)).Type().Shape
		return len(from) > 2 && len(to) > 2 && from[:2].Equal(to[:2])
	})
}

// withChannelsLast returns the op of n over images with their channels last, and how many
// of the first inputs are images: 0 if there is none.
func withChannelsLast(n *graph.Node) (o graph.Op, images int) {
	switch o := n.Op().(type) {
	case view.Reshape:
		return view.Reshape{Shape: op.ChannelsLast(n.Output(0).Type().Shape)}, 1
	case op.Layouter:
		return o.WithChannelsLast(len(n.Output(0).Type().Shape))
	}
	return nil, 0
}

// isImage reports whether input i of n is an image: it has as many axes as the output, or is
// reshaped to that.
func isImage(n *graph.Node, i int) bool {
	v := n.Input(i)
	return !v.IsZero() && len(v.Type().Shape) == imageRank(n)
}

// imageRank returns the axes of the images that n reads.
func imageRank(n *graph.Node) int {
	if _, ok := n.Op().(view.Reshape); ok {
		return len(n.Input(0).Type().Shape)
	}
	return len(n.Output(0).Type().Shape)
}

// moveCost is what moving an element to its place in another layout costs, in
// multiplications at the peak.
const moveCost = 64

// pay reports whether the convolutions of a region gain more than it costs to move the
// images that it reads and those of it that others read. Those that a permutation has moved
// from channels last, or will move there, cost nothing: with that of the region it is undone.
func (g *regions) pay(region *region) bool {
	return g.r.InAll(func(at func(graph.Value) graph.Value) bool {
		var gain float64
		moved := make(map[graph.Value]bool)
		move := func(v graph.Value) {
			if !moved[v] {
				moved[v] = true
				gain -= moveCost * float64(at(v).Type().Shape.Elems())
			}
		}
		for _, n := range region.nodes {
			if _, ok := n.Op().(conv.Conv); ok {
				gain += convGain(at(n.Output(0)).Node())
			}
			for i := range min(g.images(n), n.NumInputs()) {
				v := n.Input(i)
				if isImage(n, i) && v.Node().Leaf() == nil && g.of(v.Node()) != region && !permutes(v.Node(), toFirst) {
					move(v)
				}
			}
			out, within := n.Output(0), !g.r.IsRoot(n.Output(0))
			for _, user := range g.r.Users(out) {
				within = within && (g.of(user) == region || permutes(user, toLast))
			}
			if !within {
				move(out)
			}
		}
		return gain > 0
	})
}

// permutes reports whether n is the permutation of its axes that order returns for as many.
func permutes(n *graph.Node, order func(rank int) []int) bool {
	p, ok := n.Op().(view.Permute)
	return ok && slices.Equal(p.Perm, order(len(p.Perm)))
}

// convGain returns what a convolution gains by channels last, in multiplications at the
// peak.
func convGain(n *graph.Node) float64 {
	in := make([]graph.Type, n.NumInputs())
	for i := range in {
		if v := n.Input(i); !v.IsZero() {
			in[i] = v.Type()
		}
	}
	return n.Op().(conv.Conv).LastGain(in, n.Output(0).Type())
}

// layout lays nodes out with channels last.
type layout struct {
	r    *graph.Rewriter
	last map[graph.Value]graph.Value // of values of the old graph, the same with channels last
}

// lay has n computed with channels last.
func (l *layout) lay(n *graph.Node) error {
	o, images := withChannelsLast(n)
	ins := l.r.Inputs(n)
	for i := range min(images, len(ins)) {
		if ins[i].IsZero() {
			continue
		}
		v, err := l.moved(n.Input(i), imageRank(n))
		if err != nil {
			return err
		}
		ins[i] = v
	}
	by, err := graph.New(o, ins...)
	if err != nil {
		return err
	}
	last := by.WithLabel(n.Label()).Output(0)
	back, err := permuted(last, toFirst(len(last.Type().Shape)))
	if err != nil {
		return err
	}
	l.last[n.Output(0)] = last
	l.r.Replace(n.Output(0), back)
	return nil
}

// moved returns v, of the old graph, with channels last, as the input of an op over images
// of the given rank. Axes that broadcasting would add are there.
func (l *layout) moved(v graph.Value, rank int) (graph.Value, error) {
	by := l.r.Replacement(v)
	s := by.Type().Shape
	if last, ok := l.last[v]; ok && len(s) == rank {
		return last, nil
	}
	if len(s) == 0 || v.Node().Leaf() != nil && s.Elems() == 1 {
		return by, nil
	}
	if len(s) < rank {
		full := make(shape.Shape, rank-len(s), rank)
		for i := range full {
			full[i] = 1
		}
		n, err := graph.New(view.Reshape{Shape: append(full, s...)}, by)
		if err != nil {
			return graph.Value{}, err
		}
		by = n.Output(0)
	}
	last, err := permuted(by, toLast(rank))
	if err == nil && len(s) == rank {
		l.last[v] = last
	}
	return last, err
}

func permuted(v graph.Value, perm []int) (graph.Value, error) {
	n, err := graph.New(view.Permute{Perm: perm}, v)
	if err != nil {
		return graph.Value{}, err
	}
	return n.Output(0), nil
}

// toLast returns the permutation that moves axis 1 to the end.
func toLast(rank int) []int { return op.ChannelsLast(axes(rank)) }

// toFirst returns the permutation that moves the last axis to axis 1.
func toFirst(rank int) []int { return slices.Insert(axes(rank-1), 1, rank-1) }

// axes returns the numbers of so many axes.
func axes(rank int) []int {
	list := make([]int, rank)
	for i := range list {
		list[i] = i
	}
	return list
}
