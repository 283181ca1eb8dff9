package circuit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/berth-go/berth/dtype"
)

// The JSON form names edges, nodes and sections where the Go form numbers them.
type (
	jsonProblem struct {
		Circuit *jsonCircuit `json:"circuit"`
		Plan    *jsonPlan    `json:"plan,omitempty"`
		Layout  *jsonLayout  `json:"layout,omitempty"`
		MaxRows int64        `json:"max_rows,omitempty"`
	}
	jsonCircuit struct {
		Name     string     `json:"name,omitempty"`
		Dims     []Dim      `json:"dims,omitempty"`
		Sections []string   `json:"sections,omitempty"`
		Edges    []jsonEdge `json:"edges"`
		Nodes    []jsonNode `json:"nodes"`
		Outputs  []string   `json:"outputs,omitempty"`
	}
	jsonEdge struct {
		Name   string       `json:"name"`
		Rows   Expr         `json:"rows"`
		Dim    Expr         `json:"dim"`
		Format dtype.Format `json:"format"`
	}
	jsonNode struct {
		Name    string   `json:"name"`
		Op      string   `json:"op,omitempty"`
		Section string   `json:"section,omitempty"`
		Inputs  []string `json:"inputs"`
		Outputs []string `json:"outputs"`
	}
	jsonPlan struct {
		Section string       `json:"section,omitempty"`
		Groups  []jsonGroup  `json:"groups"`
		Stored  []jsonStored `json:"stored"`
	}
	jsonGroup struct {
		Name  string   `json:"name,omitempty"`
		Nodes []string `json:"nodes"`
	}
	jsonStored struct {
		Edge   string       `json:"edge"`
		Format dtype.Format `json:"format,omitzero"`
	}
	jsonLayout struct {
		External []string    `json:"external,omitempty"`
		Aliases  [][2]string `json:"aliases,omitempty"`
		Packs    []jsonPack  `json:"packs,omitempty"`
		RowPacks []jsonPack  `json:"row_packs,omitempty"`
	}
	jsonPack struct {
		Members []string `json:"members"`
		Over    *string  `json:"over,omitempty"`
	}
)

// WriteJSON writes the JSON form of p, which must be valid, indented. [ReadJSON]
// reads it back as it was.
func (p *Problem) WriteJSON(w io.Writer) error {
	if err := p.validate(); err != nil {
		return err
	}
	for _, e := range p.Layout.everyEdge() {
		if !p.Circuit.has(e) {
			return &PlanError{Kind: ErrRange, Detail: p.Circuit.rangeText("the layout names", e)}
		}
	}
	return writeJSON(w, p.toJSON())
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func (p *Problem) toJSON() *jsonProblem {
	c := p.Circuit
	section := func(i int) string {
		if len(c.Sections) == 0 {
			return ""
		}
		return c.Sections[i]
	}
	list := func(edges []EdgeID) []string {
		names := make([]string, len(edges))
		for i, e := range edges {
			names[i] = c.Edges[e].Name
		}
		return names
	}
	j := &jsonProblem{MaxRows: p.MaxRows, Circuit: &jsonCircuit{
		Name: c.Name, Dims: c.Dims, Sections: c.Sections, Outputs: list(c.Outputs),
		Edges: make([]jsonEdge, len(c.Edges)), Nodes: make([]jsonNode, len(c.Nodes)),
	}}
	for i, e := range c.Edges {
		j.Circuit.Edges[i] = jsonEdge(e)
	}
	for i, n := range c.Nodes {
		j.Circuit.Nodes[i] = jsonNode{n.Name, n.Op, section(n.Section), list(n.Inputs), list(n.Outputs)}
	}
	if p.Plan != nil {
		j.Plan = &jsonPlan{Section: section(p.Plan.Section), Groups: []jsonGroup{}, Stored: []jsonStored{}}
		for _, g := range p.Plan.Groups {
			names := make([]string, len(g.Nodes))
			for i, n := range g.Nodes {
				names[i] = c.Nodes[n].Name
			}
			j.Plan.Groups = append(j.Plan.Groups, jsonGroup{g.Name, names})
		}
		for _, s := range p.Plan.Stored {
			j.Plan.Stored = append(j.Plan.Stored, jsonStored{c.Edges[s.Edge].Name, s.Format})
		}
	}
	if l := p.Layout; l != nil {
		packing := func(members []EdgeID, over *EdgeID) jsonPack {
			pack := jsonPack{Members: list(members)}
			if over != nil {
				pack.Over = &c.Edges[*over].Name
			}
			return pack
		}
		j.Layout = &jsonLayout{External: list(l.External)}
		for _, a := range l.Aliases {
			j.Layout.Aliases = append(j.Layout.Aliases, [2]string{c.Edges[a.Edge].Name, c.Edges[a.Of].Name})
		}
		for _, p := range l.Packs {
			j.Layout.Packs = append(j.Layout.Packs, packing(p.Members, p.Over))
		}
		for _, r := range l.RowPacks {
			j.Layout.RowPacks = append(j.Layout.RowPacks, packing(r.Members, r.Over))
		}
	}
	return j
}

// ReadJSON reads the JSON form of a problem. What it returns is valid. An error
// says in which line or in which member the fault lies.
func ReadJSON(r io.Reader) (*Problem, error) {
	data, err := readAll(r)
	if err != nil {
		return nil, err
	}
	var j jsonProblem
	if err := decodeStrict(data, &j); err != nil {
		return nil, err
	}
	p, err := j.problem()
	if err != nil {
		return nil, fmt.Errorf("circuit: %w", err)
	}
	if err := p.validate(); err != nil {
		return nil, err
	}
	return p, nil
}

// decodeStrict decodes one JSON value that must be all of data and have no
// members that v does not know.
func decodeStrict(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	at := d.InputOffset()
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &typ):
		at = typ.Offset
	case errors.Is(err, io.EOF):
		err = errors.New("there is no JSON value")
	case err == nil:
		if rest := bytes.TrimLeft(data[at:], " \t\r\n"); len(rest) > 0 {
			at = int64(len(data) - len(rest))
			err = errors.New("more follows the JSON value")
		}
	}
	if err == nil {
		return nil
	}
	at = min(max(at, 0), int64(len(data)))
	return &SyntaxError{1 + bytes.Count(data[:at], []byte{'\n'}), err}
}

// problem resolves the names.
func (j *jsonProblem) problem() (*Problem, error) {
	if j.Circuit == nil {
		return nil, errors.New("circuit: the member is missing")
	}
	n := names{edges: make(map[string]EdgeID), nodes: make(map[string]NodeID), sections: make(map[string]int)}
	c, err := j.Circuit.circuit(n)
	if err != nil {
		return nil, fmt.Errorf("circuit.%w", err)
	}
	p := &Problem{Circuit: c, MaxRows: j.MaxRows}
	if j.Plan != nil {
		if p.Plan, err = j.Plan.plan(n); err != nil {
			return nil, fmt.Errorf("plan.%w", err)
		}
	}
	if j.Layout != nil {
		if p.Layout, err = j.Layout.layout(n); err != nil {
			return nil, fmt.Errorf("layout.%w", err)
		}
	}
	return p, nil
}

// edgeList finds edges by name; the error begins with the member at fault.
func (n names) edgeList(member string, list []string) ([]EdgeID, error) {
	var edges []EdgeID
	for i, name := range list {
		e, err := n.edge(name)
		if err != nil {
			return nil, fmt.Errorf("%s[%d]: %w", member, i, err)
		}
		edges = append(edges, e)
	}
	return edges, nil
}

// sectionOf finds a section by name; a circuit without any has the empty one.
func (n names) sectionOf(name string) (int, error) {
	if len(n.sections) == 0 && name == "" {
		return 0, nil
	}
	return n.section(name)
}

func (j *jsonCircuit) circuit(n names) (*Circuit, error) {
	c := &Circuit{Name: j.Name, Dims: j.Dims, Sections: j.Sections}
	for i, s := range j.Sections {
		if _, ok := n.sections[s]; ok {
			return nil, fmt.Errorf("sections[%d]: a second section %q", i, s)
		}
		n.sections[s] = i
	}
	for i, e := range j.Edges {
		if _, ok := n.edges[e.Name]; ok {
			return nil, fmt.Errorf("edges[%d].name: a second edge %q", i, e.Name)
		}
		n.edges[e.Name] = c.AddEdge(Edge(e))
	}
	for i, node := range j.Nodes {
		at := fmt.Sprintf("nodes[%d].", i)
		if _, ok := n.nodes[node.Name]; ok {
			return nil, fmt.Errorf("%sname: a second node %q", at, node.Name)
		}
		section, err := n.sectionOf(node.Section)
		if err != nil {
			return nil, fmt.Errorf("%ssection: %w", at, err)
		}
		in, err := n.edgeList(at+"inputs", node.Inputs)
		if err != nil {
			return nil, err
		}
		out, err := n.edgeList(at+"outputs", node.Outputs)
		if err != nil {
			return nil, err
		}
		n.nodes[node.Name] = c.AddNode(Node{node.Name, node.Op, section, in, out})
	}
	var err error
	c.Outputs, err = n.edgeList("outputs", j.Outputs)
	return c, err
}

func (j *jsonPlan) plan(n names) (*FusionPlan, error) {
	section, err := n.sectionOf(j.Section)
	if err != nil {
		return nil, fmt.Errorf("section: %w", err)
	}
	p := &FusionPlan{Section: section}
	for i, g := range j.Groups {
		group := Group{Name: g.Name}
		for k, name := range g.Nodes {
			node, err := n.node(name)
			if err != nil {
				return nil, fmt.Errorf("groups[%d].nodes[%d]: %w", i, k, err)
			}
			group.Nodes = append(group.Nodes, node)
		}
		p.Groups = append(p.Groups, group)
	}
	for i, s := range j.Stored {
		e, err := n.edge(s.Edge)
		if err != nil {
			return nil, fmt.Errorf("stored[%d].edge: %w", i, err)
		}
		p.Stored = append(p.Stored, Stored{e, s.Format})
	}
	return p, nil
}

func (j *jsonLayout) layout(n names) (l *Layout, err error) {
	l = &Layout{}
	if l.External, err = n.edgeList("external", j.External); err != nil {
		return nil, err
	}
	for i, a := range j.Aliases {
		pair, err := n.edgeList(fmt.Sprintf("aliases[%d]", i), a[:])
		if err != nil {
			return nil, err
		}
		l.Aliases = append(l.Aliases, Alias{pair[0], pair[1]})
	}
	packing := func(list string, i int, p jsonPack) (members []EdgeID, over *EdgeID, err error) {
		at := fmt.Sprintf("%s[%d].", list, i)
		if members, err = n.edgeList(at+"members", p.Members); err != nil || p.Over == nil {
			return members, nil, err
		}
		e, err := n.edge(*p.Over)
		if err != nil {
			return nil, nil, fmt.Errorf("%sover: %w", at, err)
		}
		return members, &e, nil
	}
	for i, p := range j.Packs {
		members, over, err := packing("packs", i, p)
		if err != nil {
			return nil, err
		}
		l.Packs = append(l.Packs, Pack{members, over})
	}
	for i, p := range j.RowPacks {
		members, over, err := packing("row_packs", i, p)
		if err != nil {
			return nil, err
		}
		l.RowPacks = append(l.RowPacks, RowPack{members, over})
	}
	return l, nil
}
