package circuit

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/berth-go/berth/dtype"
)

// An EdgeID is the index of an edge in Circuit.Edges.
type EdgeID int

// A NodeID is the index of a node in Circuit.Nodes.
type NodeID int

// A Circuit is what runs at each step: nodes, and the edges that carry values
// between them. It is plain data; [Circuit.Validate] says whether it has a
// meaning.
type Circuit struct {
	Name string

	// Dims are the named dimensions that sizes may refer to.
	Dims []Dim

	Edges []Edge
	Nodes []Node

	// Outputs are the declared outputs: edges that somebody reads after the
	// step.
	Outputs []EdgeID

	// Sections are the names of the parts that the circuit is cut into, each
	// planned and run on its own. No names means one section, number 0.
	Sections []string
}

// A Dim is a named dimension, whose value at a run is from Min to Max, both
// included; it is fixed where they are equal. Min is not negative. The name is an
// identifier other than [RowsName].
//
// Everything is sized at Max, as it is at the most rows: a sequence of up to 128
// tokens is Dim{"seq", 1, 128}, eight heads are Dim{"heads", 8, 8}.
type Dim struct {
	Name     string
	Min, Max int64
}

// An Edge is a value of Rows x Dim elements. Its name is not empty, and no other
// edge has it.
//
// Only an edge that is stored needs a size: Rows, Dim and Format may be left out
// of one that is always fused.
type Edge struct {
	Name   string       `json:"name"`
	Rows   Expr         `json:"rows"`
	Dim    Expr         `json:"dim"`    // elements in a row
	Format dtype.Format `json:"format"` // how it is stored, unless a fusion plan says otherwise
}

// A Node reads edges and writes edges. Its name is not empty, and no other node
// has it. An edge that no node writes is an input of the circuit.
type Node struct {
	Name    string
	Op      string // for the reader; means nothing to the planner
	Section int    // index in Circuit.Sections
	Inputs  []EdgeID
	Outputs []EdgeID
}

// AddEdge appends an edge and returns its number.
func (c *Circuit) AddEdge(e Edge) EdgeID {
	c.Edges = append(c.Edges, e)
	return EdgeID(len(c.Edges) - 1)
}

// AddNode appends a node and returns its number.
func (c *Circuit) AddNode(n Node) NodeID {
	c.Nodes = append(c.Nodes, n)
	return NodeID(len(c.Nodes) - 1)
}

// Validate says what keeps c from having a meaning, or returns nil. The error is
// a [*PlanError].
func (c *Circuit) Validate() error {
	_, err := c.producers()
	return err
}

// producers validates the circuit and returns the node that writes each edge,
// noNode for none.
func (c *Circuit) producers() ([]NodeID, error) {
	if c == nil {
		return nil, &PlanError{Kind: ErrMissing, Detail: "there is no circuit"}
	}
	if err := c.checkNames(); err != nil {
		return nil, err
	}
	writer := slices.Repeat([]NodeID{noNode}, len(c.Edges))
	for i := range c.Nodes {
		n := &c.Nodes[i]
		if n.Section < 0 || n.Section >= c.sectionCount() {
			return nil, &PlanError{Kind: ErrRange, Node: n.Name,
				Detail: fmt.Sprintf("section %d of %d", n.Section, c.sectionCount())}
		}
		for _, e := range n.Inputs {
			if !c.has(e) {
				return nil, &PlanError{Kind: ErrRange, Node: n.Name, Detail: c.rangeText("reads", e)}
			}
		}
		for _, e := range n.Outputs {
			if !c.has(e) {
				return nil, &PlanError{Kind: ErrRange, Node: n.Name, Detail: c.rangeText("writes", e)}
			}
			if w := writer[e]; w != noNode {
				return nil, &PlanError{Kind: ErrWrittenTwice, Edge: c.Edges[e].Name, Node: n.Name,
					Detail: fmt.Sprintf("it is already an output of node %q", c.Nodes[w].Name)}
			}
			writer[e] = NodeID(i)
		}
	}
	seen := make([]bool, len(c.Edges))
	for _, e := range c.Outputs {
		if !c.has(e) {
			return nil, &PlanError{Kind: ErrRange, Detail: c.rangeText("the circuit declares as output", e)}
		}
		if seen[e] {
			return nil, &PlanError{Kind: ErrName, Edge: c.Edges[e].Name, Detail: "it is declared as output twice"}
		}
		seen[e] = true
	}
	return writer, c.checkAcyclic(writer)
}

const noNode NodeID = -1

func (c *Circuit) has(e EdgeID) bool { return e >= 0 && int(e) < len(c.Edges) }

func (c *Circuit) rangeText(verb string, e EdgeID) string {
	return fmt.Sprintf("%s edge number %d of %d", verb, e, len(c.Edges))
}

func (c *Circuit) sectionCount() int { return max(1, len(c.Sections)) }

// checkNames checks what each part says about itself.
func (c *Circuit) checkNames() error {
	if !utf8.ValidString(c.Name) {
		return &PlanError{Kind: ErrName, Detail: fmt.Sprintf("the circuit's name %q is not UTF-8", c.Name)}
	}
	names := make(map[string]bool, max(len(c.Edges), len(c.Nodes)))
	unique := func(what string, index int, name string) error {
		why := ""
		switch {
		case name == "":
			why = "has no name"
		case !utf8.ValidString(name):
			why = "has a name that is not UTF-8"
		case names[name]:
			why = "has the name of another"
		}
		if why != "" {
			return &PlanError{Kind: ErrName, Detail: fmt.Sprintf("%s number %d, %q, %s", what, index, name, why)}
		}
		names[name] = true
		return nil
	}
	varies := map[string]bool{RowsName: true}
	for i, d := range c.Dims {
		if err := unique("dimension", i, d.Name); err != nil {
			return err
		}
		if !isIdentifier(d.Name) || d.Name == RowsName {
			return &PlanError{Kind: ErrName, Detail: fmt.Sprintf("dimension number %d, %q, is no identifier other than %s", i, d.Name, RowsName)}
		}
		if d.Min < 0 {
			return &PlanError{Kind: ErrNegative, Detail: fmt.Sprintf("dimension %s is %d", d.Name, d.Min)}
		}
		if d.Min > d.Max {
			return &PlanError{Kind: ErrBounds, Detail: fmt.Sprintf("dimension %s is %d at least and %d at most", d.Name, d.Min, d.Max)}
		}
		varies[d.Name] = d.Min < d.Max
	}
	clear(names)
	for i, s := range c.Sections {
		if err := unique("section", i, s); err != nil {
			return err
		}
	}
	clear(names)
	for i := range c.Edges {
		e := &c.Edges[i]
		if err := unique("edge", i, e.Name); err != nil {
			return err
		}
		for _, size := range []Expr{e.Rows, e.Dim} {
			if err := size.check(varies); err != nil {
				return &PlanError{Kind: ErrExpr, Edge: e.Name, Err: err}
			}
		}
		if err := checkFormat(e.Format); err != nil {
			return &PlanError{Kind: ErrNoSize, Edge: e.Name, Err: err}
		}
	}
	clear(names)
	for i := range c.Nodes {
		if err := unique("node", i, c.Nodes[i].Name); err != nil {
			return err
		}
		if op := c.Nodes[i].Op; !utf8.ValidString(op) {
			return &PlanError{Kind: ErrName, Node: c.Nodes[i].Name, Detail: fmt.Sprintf("its op %q is not UTF-8", op)}
		}
	}
	return nil
}

// checkAcyclic takes away nodes whose inputs are all written, until none is left
// (Kahn, Topological sorting of large networks, 1962).
func (c *Circuit) checkAcyclic(writer []NodeID) error {
	waits := make([]int, len(c.Nodes))        // inputs of a node not yet written
	readers := make([][]NodeID, len(c.Edges)) // of an edge, with repeats
	var ready []NodeID
	for i := range c.Nodes {
		for _, e := range c.Nodes[i].Inputs {
			readers[e] = append(readers[e], NodeID(i))
			if writer[e] != noNode {
				waits[i]++
			}
		}
		if waits[i] == 0 {
			ready = append(ready, NodeID(i))
		}
	}
	done := 0
	for ; done < len(ready); done++ {
		for _, e := range c.Nodes[ready[done]].Outputs {
			for _, r := range readers[e] {
				if waits[r]--; waits[r] == 0 {
					ready = append(ready, r)
				}
			}
		}
	}
	if done == len(c.Nodes) {
		return nil
	}
	// Every node left waits for another one left: going back finds a cycle.
	at := NodeID(slices.IndexFunc(waits, func(n int) bool { return n > 0 }))
	var edge EdgeID
	for seen := make(map[NodeID]bool); !seen[at]; {
		seen[at] = true
		for _, e := range c.Nodes[at].Inputs {
			if w := writer[e]; w != noNode && waits[w] > 0 {
				edge, at = e, w
				break
			}
		}
	}
	return &PlanError{Kind: ErrCycle, Edge: c.Edges[edge].Name, Node: c.Nodes[at].Name,
		Detail: "the node waits for its own output"}
}

// checkFormat checks a format that may be left out.
func checkFormat(f dtype.Format) error {
	if f == (dtype.Format{}) {
		return nil
	}
	return f.Validate()
}
