package circuit

import (
	"fmt"
	"math/rand/v2"

	"github.com/berth-go/berth/dtype"
)

// A sample is a random circuit with everything needed to plan it.
type sample struct {
	c    *Circuit
	p    *FusionPlan
	l    *Layout
	rows int64
}

// randomSample makes a circuit of the given number of nodes. Its sizes are drawn
// from few values, so that constraints between edges often fit; its layout holds
// the given number of constraints, of which any may be impossible.
func randomSample(r *rand.Rand, nodes, constraints int) sample {
	s := sample{rows: 1 + r.Int64N(4)}
	s.c = randomCircuit(r, nodes)
	s.p = randomPlan(r, s.c)
	s.l = randomLayout(r, s, constraints)
	return s
}

func randomCircuit(r *rand.Rand, nodes int) *Circuit {
	c := &Circuit{Name: "random", Dims: []Dim{{"k", 2, 2}, {"d", 64, 64}, {"v", 1, 2}}}
	if r.IntN(3) == 0 {
		c.Sections = []string{"a", "b"}
	}
	dims := []int64{64, 64, 128, 192, 256, 32, 96} // all multiples of grain
	if r.IntN(2) == 0 {
		dims = dims[:2] // then whole rows of one edge are rows of another
	}
	newEdge := func() EdgeID {
		rows := []Expr{N(), N(), N(), Product(N(), Var("k")), Product(N(), Var("v")), Const(2), CeilDiv(N(), Const(2))}
		e := Edge{Name: fmt.Sprintf("e%d", len(c.Edges)), Format: dtype.Plain(dtype.Uint8)}
		e.Rows = rows[r.IntN(len(rows))]
		e.Dim = Const(dims[r.IntN(len(dims))])
		if r.IntN(40) == 0 {
			e.Dim = Const(0)
		}
		return c.AddEdge(e)
	}
	for range 1 + r.IntN(3) {
		newEdge()
	}
	for i := range nodes {
		n := Node{Name: fmt.Sprintf("n%d", i), Op: "op", Section: r.IntN(c.sectionCount())}
		for range r.IntN(4) {
			back := 1 + r.IntN(min(len(c.Edges), 12))
			if r.IntN(8) == 0 {
				back = 1 + r.IntN(len(c.Edges))
			}
			n.Inputs = append(n.Inputs, EdgeID(len(c.Edges)-back))
		}
		for range 1 + r.IntN(2) {
			n.Outputs = append(n.Outputs, newEdge())
		}
		c.AddNode(n)
	}
	for e := range c.Edges {
		if r.IntN(12) == 0 {
			c.Outputs = append(c.Outputs, EdgeID(e))
		}
	}
	return c
}

// randomPlan groups the nodes of a random section in a random valid order and
// stores the edges that must be, and some that need not.
func randomPlan(r *rand.Rand, c *Circuit) *FusionPlan {
	p := &FusionPlan{Section: r.IntN(c.sectionCount())}
	writer := make([]int, len(c.Edges))
	for i := range writer {
		writer[i] = -1
	}
	for i, n := range c.Nodes {
		for _, e := range n.Outputs {
			writer[e] = i
		}
	}
	done := make([]bool, len(c.Nodes))
	group := make([]int, len(c.Nodes))
	for {
		var ready []int
		for i, n := range c.Nodes {
			ok := n.Section == p.Section && !done[i]
			for _, e := range n.Inputs {
				w := writer[e]
				ok = ok && (w < 0 || done[w] || c.Nodes[w].Section != p.Section)
			}
			if ok {
				ready = append(ready, i)
			}
		}
		if len(ready) == 0 {
			break
		}
		i := ready[r.IntN(len(ready))]
		if len(p.Groups) == 0 || r.IntN(3) > 0 {
			p.Groups = append(p.Groups, Group{Name: fmt.Sprintf("g%d", len(p.Groups))})
		}
		last := len(p.Groups) - 1
		p.Groups[last].Nodes = append(p.Groups[last].Nodes, NodeID(i))
		done[i], group[i] = true, last
	}
	touched := make([]bool, len(c.Edges))
	must := make([]bool, len(c.Edges))
	for i, n := range c.Nodes {
		for _, e := range n.Inputs {
			w := writer[e]
			here := n.Section == p.Section
			touched[e] = touched[e] || here
			inside := w >= 0 && c.Nodes[w].Section == p.Section
			if here != inside || here && group[w] != group[i] {
				must[e] = true
			}
		}
		for _, e := range n.Outputs {
			touched[e] = touched[e] || n.Section == p.Section
		}
	}
	for _, e := range c.Outputs {
		must[e] = true
	}
	for e := range c.Edges {
		if touched[e] && (must[e] || r.IntN(4) == 0) {
			p.Stored = append(p.Stored, Stored{Edge: EdgeID(e)})
		}
	}
	return p
}

// randomLayout draws constraints. It looks for edges whose sizes fit, and now and
// then takes others.
func randomLayout(r *rand.Rand, s sample, constraints int) *Layout {
	l := &Layout{}
	var edges []EdgeID
	for _, st := range s.p.Stored {
		edges = append(edges, st.Edge)
	}
	if len(edges) == 0 {
		return l
	}
	value := lookupIn(map[string]int64{"n": s.rows, "k": 2, "v": 2})
	rows := func(e EdgeID) int64 { v, _ := s.c.Edges[e].Rows.Eval(value); return v }
	dim := func(e EdgeID) int64 { v, _ := s.c.Edges[e].Dim.Eval(value); return v }
	pick := func() EdgeID { return edges[r.IntN(len(edges))] }
	find := func(ok func(EdgeID) bool) (EdgeID, bool) {
		at := r.IntN(len(edges))
		for i := range edges {
			if e := edges[(at+i)%len(edges)]; ok(e) {
				return e, true
			}
		}
		return pick(), r.IntN(20) == 0
	}
	used := make(map[EdgeID]bool)
	fresh := func(m EdgeID) bool {
		if used[m] && r.IntN(10) > 0 {
			return false
		}
		used[m] = true
		return true
	}
	// parts finds members over an edge that is itself a member of a row pack: whole
	// rows of it, or with each of them fewer and evenly apart rows.
	parts := func(o EdgeID, each int64) (members []EdgeID) {
		for left := rows(o); left > 0; {
			x, ok := find(func(x EdgeID) bool {
				return x != o && !used[x] && dim(x) == dim(o) && rows(x) <= left && (each == 0 || rows(x)*each == rows(o))
			})
			if !ok || len(members) > 3 {
				break
			}
			used[x] = true
			members = append(members, x)
			left -= rows(x)
		}
		return members
	}
	for range constraints {
		switch r.IntN(11) {
		case 0:
			if r.IntN(3) == 0 {
				l.External = append(l.External, pick())
			}
		case 1, 2:
			a := pick()
			if b, ok := find(func(b EdgeID) bool { return a != b && rows(a)*dim(a) == rows(b)*dim(b) }); ok {
				l.Aliases = append(l.Aliases, Alias{a, b, r.IntN(4) > 0})
			}
		case 3, 4:
			p := Pack{Same: r.IntN(4) > 0}
			var bytes int64
			for range 1 + r.IntN(4) {
				if m := pick(); fresh(m) {
					p.Members = append(p.Members, m)
					bytes += rows(m) * dim(m)
				}
			}
			if len(l.RowPacks) > 0 && r.IntN(3) == 0 {
				if r := l.RowPacks[r.IntN(len(l.RowPacks))]; len(r.Members) > 0 {
					p.Members = append(p.Members, r.Members[0])
				}
			}
			if r.IntN(2) == 0 {
				if e, ok := find(func(e EdgeID) bool { return rows(e)*dim(e) == bytes }); ok {
					p.Over = new(e)
				}
			}
			if len(p.Members) > 0 {
				l.Packs = append(l.Packs, p)
			}
		case 5, 6, 7:
			if len(l.RowPacks) == 0 {
				continue
			}
			in := l.RowPacks[r.IntN(len(l.RowPacks))].Members
			over := in[r.IntN(len(in))]
			if r.IntN(2) == 0 {
				if members := parts(over, 0); len(members) > 0 {
					l.Packs = append(l.Packs, Pack{members, new(over), r.IntN(4) > 0})
				}
			} else if members := parts(over, 2); len(members) > 0 {
				l.RowPacks = append(l.RowPacks, RowPack{members, new(over), r.IntN(4) > 0})
			}
		default:
			p := RowPack{Same: r.IntN(4) > 0}
			m := pick()
			var width int64
			for range 1 + r.IntN(3) {
				if x, ok := find(func(x EdgeID) bool { return rows(x) == rows(m) && !used[x] }); ok && fresh(x) {
					p.Members = append(p.Members, x)
					width += dim(x)
				}
			}
			if r.IntN(2) == 0 {
				same := r.IntN(3) > 0
				e, ok := find(func(e EdgeID) bool {
					return !used[e] && rows(e)*dim(e) == rows(m)*width && (!same || rows(e) == rows(m))
				})
				if ok {
					p.Over = new(e)
				}
			}
			if len(p.Members) > 0 {
				l.RowPacks = append(l.RowPacks, p)
			}
		}
	}
	return l
}
