package circuit

import (
	"fmt"
	"slices"

	"github.com/berth-go/berth/dtype"
)

// A document is a problem as both of its forms hold it: with the names of edges,
// nodes and sections where the Go form has their numbers. Its tags are the JSON
// form; the text form is in text.go.
type document struct {
	Circuit *docCircuit `json:"circuit"`
	Plan    *docPlan    `json:"plan,omitempty"`
	Layout  *docLayout  `json:"layout,omitempty"`
	MaxRows int64       `json:"max_rows,omitempty"`
}

type (
	docCircuit struct {
		Name     string    `json:"name,omitempty"`
		Dims     []docDim  `json:"dims,omitempty"`
		Sections []string  `json:"sections,omitempty"`
		Edges    []Edge    `json:"edges"`
		Nodes    []docNode `json:"nodes"`
		Outputs  []string  `json:"outputs,omitempty"`
	}
	docDim struct {
		Name string `json:"name"`
		Size bounds `json:"size"`
	}
	docNode struct {
		Name    string   `json:"name"`
		Op      string   `json:"op,omitempty"`
		Section string   `json:"section,omitempty"`
		Inputs  []string `json:"inputs"`
		Outputs []string `json:"outputs"`
	}
	docPlan struct {
		Section string      `json:"section,omitempty"`
		Groups  []docGroup  `json:"groups"`
		Stored  []docStored `json:"stored"`
	}
	docGroup struct {
		Name  string   `json:"name,omitempty"`
		Nodes []string `json:"nodes"`
	}
	docStored struct {
		Edge   string       `json:"edge"`
		Format dtype.Format `json:"format,omitzero"`
	}
	docLayout struct {
		External []string   `json:"external,omitempty"`
		Aliases  []docAlias `json:"aliases,omitempty"`
		Packs    []docPack  `json:"packs,omitempty"`
		RowPacks []docPack  `json:"row_packs,omitempty"`
	}
	docPack struct {
		Members []string `json:"members"`
		Over    string   `json:"over,omitempty"`
		Same    bool     `json:"same,omitempty"`
	}

	// A docAlias is, in JSON, an array of the two names, and "same" if they hold
	// one value.
	docAlias struct {
		edge, of string
		same     bool
	}

	// Bounds are the smallest and the largest value of a dimension, written as one
	// number if they are equal and otherwise like "1..128".
	bounds struct{ min, max int64 }
)

// newDocument names what p numbers. p must be valid.
func newDocument(p *Problem) (*document, error) {
	if err := p.validate(); err != nil {
		return nil, err
	}
	c := p.Circuit
	for _, e := range p.Layout.everyEdge() {
		if !c.has(e) {
			return nil, &PlanError{Kind: ErrRange, Detail: c.rangeText("the layout names", e)}
		}
	}
	edge := func(e EdgeID) string { return c.Edges[e].Name }
	section := func(i int) string {
		if len(c.Sections) == 0 {
			return ""
		}
		return c.Sections[i]
	}
	d := &document{MaxRows: p.MaxRows, Circuit: &docCircuit{
		Name:     c.Name,
		Dims:     each(c.Dims, func(d Dim) docDim { return docDim{d.Name, bounds{d.Min, d.Max}} }),
		Sections: c.Sections,
		Edges:    slices.Concat([]Edge{}, c.Edges), // never nil, for JSON
		Nodes: each(c.Nodes, func(n Node) docNode {
			return docNode{n.Name, n.Op, section(n.Section), each(n.Inputs, edge), each(n.Outputs, edge)}
		}),
		Outputs: each(c.Outputs, edge),
	}}
	if f := p.Plan; f != nil {
		node := func(n NodeID) string { return c.Nodes[n].Name }
		d.Plan = &docPlan{
			Section: section(f.Section),
			Groups:  each(f.Groups, func(g Group) docGroup { return docGroup{g.Name, each(g.Nodes, node)} }),
			Stored:  each(f.Stored, func(s Stored) docStored { return docStored{edge(s.Edge), s.Format} }),
		}
	}
	if l := p.Layout; l != nil {
		pack := func(p Pack) docPack {
			over := ""
			if p.Over != nil {
				over = edge(*p.Over)
			}
			return docPack{each(p.Members, edge), over, p.Same}
		}
		d.Layout = &docLayout{
			External: each(l.External, edge),
			Aliases:  each(l.Aliases, func(a Alias) docAlias { return docAlias{edge(a.Edge), edge(a.Of), a.Same} }),
			Packs:    each(l.Packs, pack),
			RowPacks: each(l.RowPacks, func(r RowPack) docPack { return pack(Pack(r)) }),
		}
	}
	return d, nil
}

// each returns what f makes of each element. It is never nil, for JSON.
func each[A, B any](list []A, f func(A) B) []B {
	made := make([]B, len(list))
	for i, x := range list {
		made[i] = f(x)
	}
	return made
}

// A resolver finds what the names of a document mean.
type resolver struct {
	edges    map[string]EdgeID
	nodes    map[string]NodeID
	sections map[string]int
	fault    *place // the first
}

// A place is where in a document a fault lies: in an element of a list, such as
// number 3 of "circuit.nodes" and there in ".inputs[0]", or in something of which
// there is one, with number -1.
type place struct {
	list   string
	index  int
	within string
	err    error
}

func (p *place) Error() string {
	if p.index < 0 {
		return fmt.Sprintf("circuit: %s: %v", p.list, p.err)
	}
	return fmt.Sprintf("circuit: %s[%d]%s: %v", p.list, p.index, p.within, p.err)
}

func (p *place) Unwrap() error { return p.err }

// fail notes a fault at a place, unless there is one already.
func (r *resolver) fail(at place, format string, args ...any) {
	if at.err = fmt.Errorf(format, args...); r.fault == nil {
		r.fault = &at
	}
}

// declare enters a name at a place.
func declare[ID any](r *resolver, at place, what, name string, ids map[string]ID, id ID) {
	if _, taken := ids[name]; taken {
		r.fail(at, "a second %s %q", what, name)
	}
	ids[name] = id
}

// find looks up a name at a place.
func find[ID any](r *resolver, at place, what, name string, ids map[string]ID) ID {
	id, ok := ids[name]
	if !ok {
		r.fail(at, "unknown %s %q", what, name)
	}
	return id
}

// findAll looks up a list of names at a place. It returns nil for none.
func findAll[ID any](r *resolver, at place, what string, names []string, ids map[string]ID) []ID {
	var list []ID
	for i, name := range names {
		in := at
		in.within = fmt.Sprintf("%s[%d]", at.within, i)
		list = append(list, find(r, in, what, name, ids))
	}
	return list
}

// section looks up a section; a circuit without any has the one without a name.
func (r *resolver) section(at place, name string) int {
	if name == "" {
		if len(r.sections) > 0 {
			r.fail(at, "no section is given")
		}
		return 0
	}
	return find(r, at, "section", name, r.sections)
}

// problem resolves the names and validates what comes out. A fault that has a
// place in the document is a *place.
func (d *document) problem() (*Problem, error) {
	if d.Circuit == nil {
		return nil, &place{"circuit", -1, "", fmt.Errorf("the member is missing")}
	}
	r := &resolver{edges: make(map[string]EdgeID), nodes: make(map[string]NodeID), sections: make(map[string]int)}
	p := &Problem{Circuit: d.Circuit.resolve(r), MaxRows: d.MaxRows}
	if d.Plan != nil {
		p.Plan = d.Plan.resolve(r)
	}
	if d.Layout != nil {
		p.Layout = d.Layout.resolve(r)
	}
	if r.fault != nil {
		return nil, r.fault
	}
	if err := p.validate(); err != nil {
		return nil, err
	}
	return p, nil
}

func (d *docCircuit) resolve(r *resolver) *Circuit {
	c := &Circuit{Name: d.Name, Edges: d.Edges, Sections: d.Sections}
	dims := make(map[string]bool)
	for i, dim := range d.Dims {
		declare(r, place{list: "circuit.dims", index: i}, "dimension", dim.Name, dims, true)
		c.Dims = append(c.Dims, Dim{dim.Name, dim.Size.min, dim.Size.max})
	}
	for i, name := range d.Sections {
		declare(r, place{list: "circuit.sections", index: i}, "section", name, r.sections, i)
	}
	for i, e := range d.Edges {
		declare(r, place{list: "circuit.edges", index: i, within: ".name"}, "edge", e.Name, r.edges, EdgeID(i))
	}
	for i, n := range d.Nodes {
		at := func(member string) place { return place{list: "circuit.nodes", index: i, within: member} }
		declare(r, at(".name"), "node", n.Name, r.nodes, NodeID(i))
		c.AddNode(Node{n.Name, n.Op, r.section(at(".section"), n.Section),
			findAll(r, at(".inputs"), "edge", n.Inputs, r.edges), findAll(r, at(".outputs"), "edge", n.Outputs, r.edges)})
	}
	for i, name := range d.Outputs {
		c.Outputs = append(c.Outputs, find(r, place{list: "circuit.outputs", index: i}, "edge", name, r.edges))
	}
	return c
}

func (d *docPlan) resolve(r *resolver) *FusionPlan {
	p := &FusionPlan{Section: r.section(place{list: "plan.section", index: -1}, d.Section)}
	for i, g := range d.Groups {
		at := place{list: "plan.groups", index: i, within: ".nodes"}
		p.Groups = append(p.Groups, Group{g.Name, findAll(r, at, "node", g.Nodes, r.nodes)})
	}
	for i, s := range d.Stored {
		at := place{list: "plan.stored", index: i, within: ".edge"}
		p.Stored = append(p.Stored, Stored{find(r, at, "edge", s.Edge, r.edges), s.Format})
	}
	return p
}

func (d *docLayout) resolve(r *resolver) *Layout {
	l := &Layout{}
	for i, name := range d.External {
		l.External = append(l.External, find(r, place{list: "layout.external", index: i}, "edge", name, r.edges))
	}
	for i, a := range d.Aliases {
		pair := findAll(r, place{list: "layout.aliases", index: i}, "edge", []string{a.edge, a.of}, r.edges)
		l.Aliases = append(l.Aliases, Alias{pair[0], pair[1], a.same})
	}
	pack := func(list string, i int, p docPack) Pack {
		at := func(member string) place { return place{list: list, index: i, within: member} }
		pack := Pack{Members: findAll(r, at(".members"), "edge", p.Members, r.edges), Same: p.Same}
		if p.Over != "" {
			pack.Over = new(find(r, at(".over"), "edge", p.Over, r.edges))
		}
		return pack
	}
	for i, p := range d.Packs {
		l.Packs = append(l.Packs, pack("layout.packs", i, p))
	}
	for i, p := range d.RowPacks {
		l.RowPacks = append(l.RowPacks, RowPack(pack("layout.row_packs", i, p)))
	}
	return l
}
