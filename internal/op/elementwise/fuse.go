package elementwise

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/shape"
)

// Fuse returns values equal to roots, to the last bit but for the payloads of
// NaNs, in whose graph trees of Maps are merged into single ones, so that what
// they hand to each other is never stored. Nodes that nothing changes under stay the same nodes.
//
// A Map is merged into its readers when they all went into one Map already,
// which has the same shape, and the program stays within
// [MaxInputs] and [MaxInstrs]; roots are not merged into
// others. A constant of one element becomes part of the program. Nothing is
// computed twice, and no other op is looked through.
//
// The time is that of sorting the nodes of the graph.
func Fuse(roots []graph.Value) ([]graph.Value, error) {
	f := newFuser(roots)
	f.gather()
	if err := f.rebuild(); err != nil {
		return nil, err
	}
	out := make([]graph.Value, len(roots))
	for i, v := range roots {
		out[i] = f.rebuilt(v)
	}
	return out, nil
}

// A fuser works on the nodes of a graph by their rank in it.
type fuser struct {
	nodes []fuseNode // in the order of their IDs: inputs before readers
	rank  map[*graph.Node]int
}

type fuseNode struct {
	node  *graph.Node
	leaf  bool
	isMap bool        // a Map
	new   *graph.Node // what the node became; nil for itself

	// The rank of the Map that all readers so far went into; a reader that is
	// no Map, two different ones, and being a root make it several.
	readers int
	leader  int      // the rank of the Map that a Map went into; its own at first
	cluster *cluster // of a leader
}

const (
	noReader = -1
	several  = -2
)

// A cluster is what went into one Map.
type cluster struct {
	nodes  int
	instrs int
	inputs []graph.Value // distinct, without constants that join the program
}

func newFuser(roots []graph.Value) *fuser {
	f := &fuser{rank: map[*graph.Node]int{}}
	var stack []*graph.Node
	visit := func(v graph.Value) {
		if n := v.Node(); n != nil {
			if _, seen := f.rank[n]; !seen {
				f.rank[n] = 0
				stack = append(stack, n)
			}
		}
	}
	for _, v := range roots {
		visit(v)
	}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		_, isMap := n.Op().(Map)
		// Whether a cache is a leaf is asked once: it may be filled meanwhile.
		leaf := n.IsLeaf()
		f.nodes = append(f.nodes, fuseNode{node: n, leaf: leaf, isMap: isMap, readers: noReader})
		for i := 0; i < n.NumInputs() && !leaf; i++ {
			visit(n.Input(i))
		}
	}
	slices.SortFunc(f.nodes, func(a, b fuseNode) int { return cmp.Compare(a.node.ID(), b.node.ID()) })
	for i := range f.nodes {
		f.nodes[i].leader = i
		f.rank[f.nodes[i].node] = i
	}
	for _, v := range roots {
		if !v.IsZero() {
			f.nodes[f.rank[v.Node()]].readers = several
		}
	}
	return f
}

// gather decides, readers first, which Map each Map goes into.
func (f *fuser) gather() {
	for i := len(f.nodes) - 1; i >= 0; i-- {
		n := &f.nodes[i]
		if n.leaf {
			continue
		}
		into := several
		if n.isMap {
			f.join(i)
			into = n.leader
		}
		for j := range n.node.NumInputs() {
			v := n.node.Input(j)
			if v.IsZero() {
				continue
			}
			switch in := &f.nodes[f.rank[v.Node()]]; in.readers {
			case noReader:
				in.readers = into
			case into:
			default:
				in.readers = several
			}
		}
	}
}

// join puts Map i into the cluster of its readers if it fits, or else starts
// a cluster with it.
func (f *fuser) join(i int) {
	n := &f.nodes[i]
	m := n.node.Op().(Map)
	var inputs []graph.Value
	for j := range n.node.NumInputs() {
		if _, ok := absorbed(n.node, j); !ok {
			inputs = append(inputs, n.node.Input(j))
		}
	}
	if n.readers >= 0 {
		c := f.nodes[n.readers].cluster
		merged := make([]graph.Value, 0, MaxInputs)
		for _, v := range c.inputs {
			if v.Node() != n.node {
				merged = append(merged, v)
			}
		}
		for _, v := range inputs {
			if !slices.Contains(merged, v) {
				merged = append(merged, v)
			}
		}
		same := outShape(n.node).Equal(outShape(f.nodes[n.readers].node))
		if same && len(merged) <= MaxInputs && c.instrs+len(m.Program) <= MaxInstrs {
			n.leader = n.readers
			c.nodes++
			c.instrs += len(m.Program)
			c.inputs = merged
			return
		}
	}
	n.cluster = &cluster{nodes: 1, instrs: len(m.Program), inputs: inputs}
}

func outShape(n *graph.Node) shape.Shape { return n.Output(0).Type().Shape }

// absorbed returns input j of the Map n as a scalar, if it is a constant of
// one element without which the shape of n stays what it is.
func absorbed(n *graph.Node, j int) (kernel.Scalar, bool) {
	v := n.Input(j)
	t := v.Type()
	if _, ok := v.Node().Op().(graph.Constant); !ok || t.Shape.Elems() != 1 {
		return kernel.Scalar{}, false
	}
	for k := range n.NumInputs() {
		in := n.Input(k)
		_, constant := in.Node().Op().(graph.Constant)
		if (!constant || in.Type().Shape.Elems() != 1) && in.Type().Shape.Equal(outShape(n)) {
			leaf := v.Node().Leaf()
			return kernel.ScalarAt(t.DType, leaf.Data, leaf.Layout.Offset), true
		}
	}
	return kernel.Scalar{}, false
}

// rebuild makes the new nodes, inputs first.
func (f *fuser) rebuild() error {
	for i := range f.nodes {
		n := &f.nodes[i]
		switch {
		case n.leaf || n.isMap && n.leader != i:
		case n.isMap && (n.cluster.nodes > 1 || n.cluster.absorbs(n.node)):
			if err := f.merge(i); err != nil {
				return err
			}
		default:
			f.rewire(n)
		}
	}
	return nil
}

// absorbs reports whether inputs of the Map n became part of its program.
func (c *cluster) absorbs(n *graph.Node) bool { return len(c.inputs) < n.NumInputs() }

// rewire makes n read the new nodes, if any of its inputs changed.
func (f *fuser) rewire(n *fuseNode) {
	changed := false
	inputs := make([]graph.Value, n.node.NumInputs())
	for j := range inputs {
		inputs[j] = f.rebuilt(n.node.Input(j))
		changed = changed || inputs[j] != n.node.Input(j)
	}
	if changed {
		n.new = n.node.With(inputs...)
	}
}

func (f *fuser) rebuilt(v graph.Value) graph.Value {
	if v.IsZero() {
		return v
	}
	if n := f.nodes[f.rank[v.Node()]].new; n != nil {
		return n.Output(v.Index())
	}
	return v
}

// merge makes one Map of a cluster.
func (f *fuser) merge(leader int) error {
	m := merger{f: f, leader: leader, results: map[*graph.Node]Arg{}}
	m.append(f.nodes[leader].node)
	n, err := graph.New(Map{m.prog}, m.inputs...)
	if err != nil {
		return fmt.Errorf("fusing %v: %w", f.nodes[leader].node, err)
	}
	f.nodes[leader].new = n.WithLabel(f.nodes[leader].node.Label())
	return nil
}

type merger struct {
	f       *fuser
	leader  int
	prog    Program
	inputs  []graph.Value
	results map[*graph.Node]Arg
}

// append adds the program of n after those of the nodes in the cluster that it
// reads, and returns its result. The depth is that of the cluster, at most
// [MaxInstrs].
func (m *merger) append(n *graph.Node) Arg {
	if r, ok := m.results[n]; ok {
		return r
	}
	args := make([]Arg, n.NumInputs())
	for j := range args {
		v := n.Input(j)
		if in := &m.f.nodes[m.f.rank[v.Node()]]; in.isMap && in.leader == m.leader {
			args[j] = m.append(in.node)
		} else if s, ok := absorbed(n, j); ok {
			args[j] = ScalarArg(s)
		} else {
			args[j] = m.input(m.f.rebuilt(v))
		}
	}
	base := len(m.prog)
	for _, ins := range n.Op().(Map).Program {
		for j, a := range ins.Args {
			switch a.Kind {
			case ArgInput:
				ins.Args[j] = args[a.Index]
			case ArgResult:
				ins.Args[j] = ResultArg(base + a.Index)
			}
		}
		m.prog = append(m.prog, ins)
	}
	r := ResultArg(len(m.prog) - 1)
	m.results[n] = r
	return r
}

func (m *merger) input(v graph.Value) Arg {
	at := slices.Index(m.inputs, v)
	if at < 0 {
		at = len(m.inputs)
		m.inputs = append(m.inputs, v)
	}
	return InputArg(at)
}
