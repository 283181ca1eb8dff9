package rewrite

import (
	"context"
	"slices"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/elementwise"
)

// fuse merges a tree of elementwise nodes into one, so that what they hand to
// each other is never stored.
//
//	x ── exp ─┬─ add ─┬─ div ──   ->   x ─┬─ exp+add+div ──
//	     y ───│──┘    │                y ─┘
//	          └───────┘
//
// A Map is merged into its readers when they all went into one Map already,
// which has the same shape, and the program stays within
// [elementwise.MaxInputs] and [elementwise.MaxInstrs]; roots are not merged into
// others. A constant of one element becomes part of the program. Nothing is
// computed twice, and no other op is looked through.
func fuse(_ context.Context, r *graph.Rewriter, _ *Options) error {
	f := fuser{Rewriter: r, clusters: make(map[*graph.Node]*cluster)}
	nodes := r.Nodes()
	for i := len(nodes) - 1; i >= 0; i-- {
		if m, ok := nodes[i].Op().(elementwise.Map); ok {
			f.join(nodes[i], m)
		}
	}
	return r.Walk(func(n *graph.Node) error {
		c := f.clusters[n]
		if c == nil || c.leader != n || c.nodes == 1 && len(c.inputs) == n.NumInputs() {
			return nil
		}
		m := merger{fuser: &f, cluster: c, results: make(map[*graph.Node]elementwise.Arg)}
		m.append(n)
		return put(r, n, n.Label(), elementwise.Map{Program: m.prog}, m.inputs...)
	})
}

type fuser struct {
	*graph.Rewriter
	clusters map[*graph.Node]*cluster // of each Map that was met
}

// A cluster is what becomes one Map.
type cluster struct {
	leader *graph.Node // the Map that the others went into
	nodes  int
	instrs int
	inputs []graph.Value // distinct, without constants that join the program
}

// join puts the Map n into the cluster of its readers if it fits, or else starts
// a cluster with it. The readers have been joined before.
func (f *fuser) join(n *graph.Node, m elementwise.Map) {
	var inputs []graph.Value
	for j := range n.NumInputs() {
		if _, ok := f.absorbed(n, j); !ok {
			inputs = append(inputs, n.Input(j))
		}
	}
	if c := f.ofReaders(n); c != nil {
		merged := slices.DeleteFunc(slices.Clone(c.inputs), func(v graph.Value) bool { return v.Node() == n })
		for _, v := range inputs {
			if !slices.Contains(merged, v) {
				merged = append(merged, v)
			}
		}
		if sameShape(f.Rewriter, n.Output(0), c.leader.Output(0)) && len(merged) <= elementwise.MaxInputs && c.instrs+len(m.Program) <= elementwise.MaxInstrs {
			c.nodes++
			c.instrs += len(m.Program)
			c.inputs = merged
			f.clusters[n] = c
			return
		}
	}
	f.clusters[n] = &cluster{leader: n, nodes: 1, instrs: len(m.Program), inputs: inputs}
}

// ofReaders returns the cluster that all readers of n are in, or nil.
func (f *fuser) ofReaders(n *graph.Node) *cluster {
	users := f.Users(n.Output(0))
	if f.IsRoot(n.Output(0)) || len(users) == 0 {
		return nil
	}
	c := f.clusters[users[0]]
	if slices.ContainsFunc(users, func(u *graph.Node) bool { return f.clusters[u] != c }) {
		return nil
	}
	return c
}

// absorbed returns input j of the Map n as a scalar, if it is a constant of
// one element without which the shape of n stays what it is.
func (f *fuser) absorbed(n *graph.Node, j int) (kernel.Scalar, bool) {
	v := n.Input(j)
	t := v.Type()
	if _, ok := v.Node().Op().(graph.Constant); !ok || t.Shape.Elems() != 1 {
		return kernel.Scalar{}, false
	}
	for k := range n.NumInputs() {
		in := n.Input(k)
		_, constant := in.Node().Op().(graph.Constant)
		if (!constant || in.Type().Shape.Elems() != 1) && sameShape(f.Rewriter, in, n.Output(0)) {
			leaf := v.Node().Leaf()
			return kernel.ScalarAt(t.DType, leaf.Data, leaf.Layout.Offset), true
		}
	}
	return kernel.Scalar{}, false
}

// A merger makes the program of a cluster.
type merger struct {
	*fuser
	cluster *cluster
	prog    elementwise.Program
	inputs  []graph.Value // of the new graph
	results map[*graph.Node]elementwise.Arg
}

// append adds the program of n after those of the nodes in the cluster that it
// reads, and returns its result. The depth is that of the cluster, at most
// [elementwise.MaxInstrs].
func (m *merger) append(n *graph.Node) elementwise.Arg {
	if r, ok := m.results[n]; ok {
		return r
	}
	args := make([]elementwise.Arg, n.NumInputs())
	for j := range args {
		v := n.Input(j)
		if m.clusters[v.Node()] == m.cluster {
			args[j] = m.append(v.Node())
		} else if s, ok := m.absorbed(n, j); ok {
			args[j] = elementwise.ScalarArg(s)
		} else {
			args[j] = m.input(m.Replacement(v))
		}
	}
	m.prog = m.prog.Append(n.Op().(elementwise.Map).Program, func(i int) elementwise.Arg { return args[i] })
	r := elementwise.ResultArg(len(m.prog) - 1)
	m.results[n] = r
	return r
}

// input returns the input of the program that reads v, a new one if need be.
func (m *merger) input(v graph.Value) elementwise.Arg {
	at := slices.Index(m.inputs, v)
	if at < 0 {
		at = len(m.inputs)
		m.inputs = append(m.inputs, v)
	}
	return elementwise.InputArg(at)
}
