package circuit

import (
	"cmp"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/berth-go/berth/dtype"
)

// A FusionPlan says how one section of a circuit runs: in which groups, in which
// order, and which edges are stored between them. It is plain data;
// [FusionPlan.Validate] says whether it fits a circuit.
type FusionPlan struct {
	// Section is the section planned, an index in Circuit.Sections.
	Section int

	// Groups are in execution order. Each node of the section is in exactly
	// one, and none of another section is.
	Groups []Group

	// Stored are the materialised edges, in any order, each once. An edge of
	// the section that is not listed is fused: it never leaves its group.
	Stored []Stored
}

// A Group is a set of nodes that run as one kernel, listed in an order in which
// they could run one by one. The name may be empty.
type Group struct {
	Name  string
	Nodes []NodeID
}

// Stored is a materialised edge and its format; the zero Format is the edge's
// own.
type Stored struct {
	Edge   EdgeID
	Format dtype.Format
}

// Unfused returns the plan of a section in which each node is a group of its
// own, in the order of the circuit, and every edge that a node of the section
// reads or writes is stored in its own format. It is valid when the nodes of the
// circuit are in an order in which they can run. The plan of a nil circuit is
// empty.
func Unfused(c *Circuit, section int) *FusionPlan {
	p := &FusionPlan{Section: section}
	if c == nil {
		return p
	}
	stored := make([]bool, len(c.Edges))
	store := func(edges []EdgeID) {
		for _, e := range edges {
			if c.has(e) && !stored[e] {
				stored[e] = true
				p.Stored = append(p.Stored, Stored{Edge: e})
			}
		}
	}
	for i, n := range c.Nodes {
		if n.Section == section {
			p.Groups = append(p.Groups, Group{n.Name, []NodeID{NodeID(i)}})
			store(n.Inputs)
			store(n.Outputs)
		}
	}
	return p
}

// Validate says what keeps p from being a plan of c, or returns nil: a node of
// the section that is in no group or in two, an edge read before it is written, a
// fused edge that is read outside the group that writes it, comes from outside
// the section, goes there or is a declared output. The error is a [*PlanError].
func (p *FusionPlan) Validate(c *Circuit) error {
	_, err := analyze(c, p)
	return err
}

// An analysis is a valid plan, indexed.
type analysis struct {
	c       *Circuit
	p       *FusionPlan
	stored  []bool         // by edge
	formats []dtype.Format // by edge, of stored edges
	first   []int          // by edge: the group that writes it; outside if it comes from outside
	last    []int          // by edge: the last group that reads it; outside if it is read outside
	touched []bool         // by edge: a node of the section reads or writes it
}

const (
	never   = -1 // no group of the plan
	outside = -2
)

func analyze(c *Circuit, p *FusionPlan) (*analysis, error) {
	writer, err := c.producers()
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, &PlanError{Kind: ErrMissing, Detail: "there is no fusion plan"}
	}
	if p.Section < 0 || p.Section >= c.sectionCount() {
		return nil, &PlanError{Kind: ErrRange, Detail: fmt.Sprintf("the plan is of section %d of %d", p.Section, c.sectionCount())}
	}
	a := &analysis{
		c: c, p: p,
		stored:  make([]bool, len(c.Edges)),
		formats: make([]dtype.Format, len(c.Edges)),
		first:   make([]int, len(c.Edges)),
		last:    make([]int, len(c.Edges)),
		touched: make([]bool, len(c.Edges)),
	}
	for _, s := range p.Stored {
		if !c.has(s.Edge) {
			return nil, &PlanError{Kind: ErrRange, Detail: c.rangeText("the plan stores", s.Edge)}
		}
		if a.stored[s.Edge] {
			return nil, &PlanError{Kind: ErrStoredTwice, Edge: c.Edges[s.Edge].Name}
		}
		if err := checkFormat(s.Format); err != nil {
			return nil, &PlanError{Kind: ErrNoSize, Edge: c.Edges[s.Edge].Name, Err: err}
		}
		a.stored[s.Edge], a.formats[s.Edge] = true, cmp.Or(s.Format, c.Edges[s.Edge].Format)
	}
	groupOf, err := a.groups()
	if err != nil {
		return nil, err
	}
	if err := a.edges(writer, groupOf); err != nil {
		return nil, err
	}
	return a, a.boundary(writer)
}

// groups returns the group of each node, and checks that the groups hold the
// nodes of the section, each once.
func (a *analysis) groups() ([]int, error) {
	groupOf := slices.Repeat([]int{never}, len(a.c.Nodes))
	for g, group := range a.p.Groups {
		if !utf8.ValidString(group.Name) {
			return nil, &PlanError{Kind: ErrName, Group: a.groupName(g), Detail: "the name is not UTF-8"}
		}
		for _, n := range group.Nodes {
			if n < 0 || int(n) >= len(a.c.Nodes) {
				return nil, &PlanError{Kind: ErrRange, Group: a.groupName(g),
					Detail: fmt.Sprintf("node number %d of %d", n, len(a.c.Nodes))}
			}
			node := &a.c.Nodes[n]
			if node.Section != a.p.Section {
				return nil, &PlanError{Kind: ErrSection, Node: node.Name, Group: a.groupName(g),
					Detail: fmt.Sprintf("the node is of section %d, the plan of section %d", node.Section, a.p.Section)}
			}
			if groupOf[n] != never {
				return nil, &PlanError{Kind: ErrNodeTwice, Node: node.Name, Group: a.groupName(g),
					Detail: "it is already in " + a.groupName(groupOf[n])}
			}
			groupOf[n] = g
		}
	}
	for n, g := range groupOf {
		if g == never && a.c.Nodes[n].Section == a.p.Section {
			return nil, &PlanError{Kind: ErrNodeMissing, Node: a.c.Nodes[n].Name}
		}
	}
	return groupOf, nil
}

// edges finds which groups write and read each edge, walking the plan in
// execution order.
func (a *analysis) edges(writer []NodeID, groupOf []int) error {
	for e, w := range writer {
		a.last[e] = never
		a.first[e] = outside
		if w != noNode && a.c.Nodes[w].Section == a.p.Section {
			a.first[e] = never // until the walk comes to it
		}
	}
	for g, group := range a.p.Groups {
		for _, n := range group.Nodes {
			node := &a.c.Nodes[n]
			for _, e := range node.Inputs {
				a.touched[e] = true
				a.last[e] = g
				switch {
				case a.first[e] == never:
					return &PlanError{Kind: ErrOrder, Edge: a.c.Edges[e].Name, Node: node.Name, Group: a.groupName(g),
						Detail: "it is written in " + a.groupName(groupOf[writer[e]])}
				case !a.stored[e] && a.first[e] != g:
					where := "it comes from outside the section"
					if a.first[e] >= 0 {
						where = "it is written in " + a.groupName(a.first[e])
					}
					return &PlanError{Kind: ErrFused, Edge: a.c.Edges[e].Name, Node: node.Name, Group: a.groupName(g), Detail: where}
				}
			}
			for _, e := range node.Outputs {
				a.touched[e] = true
				a.first[e] = g
			}
		}
	}
	return nil
}

// boundary finds the edges that are read outside the plan.
func (a *analysis) boundary(writer []NodeID) error {
	leaves := func(e EdgeID, node, why string) error {
		a.last[e] = outside
		if !a.stored[e] {
			return &PlanError{Kind: ErrFused, Edge: a.c.Edges[e].Name, Node: node, Detail: why}
		}
		return nil
	}
	for i := range a.c.Nodes {
		node := &a.c.Nodes[i]
		if node.Section == a.p.Section {
			continue
		}
		for _, e := range node.Inputs {
			if a.first[e] >= 0 {
				if err := leaves(e, node.Name, "the node that reads it is of another section"); err != nil {
					return err
				}
			}
		}
	}
	for _, e := range a.c.Outputs {
		if a.touched[e] || a.stored[e] {
			if err := leaves(e, "", "it is a declared output"); err != nil {
				return err
			}
		}
	}
	for e, stored := range a.stored {
		if stored && !a.touched[e] && writer[e] != noNode {
			return &PlanError{Kind: ErrSection, Edge: a.c.Edges[e].Name,
				Detail: "the plan stores it, but no node of the section reads or writes it"}
		}
	}
	return nil
}

func (a *analysis) groupName(g int) string {
	if name := a.p.Groups[g].Name; name != "" {
		return fmt.Sprintf("group %d %q", g, name)
	}
	return fmt.Sprintf("group %d", g)
}
