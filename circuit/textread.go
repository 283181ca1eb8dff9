package circuit

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/berth-go/berth/dtype"
)

// ReadText reads the text form of a problem. What it returns is valid; a fault
// that lies in one line is a [*SyntaxError].
func ReadText(r io.Reader) (*Problem, error) {
	data, err := readAll(r)
	if err != nil {
		return nil, err
	}
	t := textReader{
		p:        &Problem{Circuit: &Circuit{}},
		names:    names{edges: make(map[string]EdgeID), nodes: make(map[string]NodeID), sections: make(map[string]int)},
		dimNames: make(map[string]bool),
	}
	line := 0
	for text := range strings.Lines(string(data)) {
		line++
		words, err := splitWords(strings.TrimRight(text, "\r\n"))
		if err == nil && len(words) > 0 {
			err = t.statement(words)
		}
		if err != nil {
			return nil, &SyntaxError{line, err}
		}
	}
	if err := t.p.validate(); err != nil {
		return nil, err
	}
	return t.p, nil
}

// names find what a text form names.
type names struct {
	edges    map[string]EdgeID
	nodes    map[string]NodeID
	sections map[string]int
}

func (n names) edge(name string) (EdgeID, error) {
	if e, ok := n.edges[name]; ok {
		return e, nil
	}
	return 0, fmt.Errorf("unknown edge %q", name)
}

func (n names) node(name string) (NodeID, error) {
	if e, ok := n.nodes[name]; ok {
		return e, nil
	}
	return 0, fmt.Errorf("unknown node %q", name)
}

func (n names) section(name string) (int, error) {
	if s, ok := n.sections[name]; ok {
		return s, nil
	}
	return 0, fmt.Errorf("unknown section %q", name)
}

// A textWord is a word of a line. A quoted one is never a keyword.
type textWord struct {
	text   string
	quoted bool
}

func (w textWord) is(keyword string) bool { return !w.quoted && w.text == keyword }

// splitWords cuts a line into words, up to a comment.
func splitWords(line string) ([]textWord, error) {
	var words []textWord
	for {
		line = strings.TrimLeft(line, " \t")
		if line == "" || line[0] == '#' {
			return words, nil
		}
		if line[0] != '"' {
			end := strings.IndexAny(line, " \t\"#")
			if end < 0 {
				end = len(line)
			}
			if end < len(line) && line[end] == '"' {
				return nil, fmt.Errorf("a quote within the word %.40q", line)
			}
			words = append(words, textWord{line[:end], false})
			line = line[end:]
			continue
		}
		quoted, err := strconv.QuotedPrefix(line)
		if err != nil {
			return nil, fmt.Errorf("the quote at %.40q is not closed, or not one of Go", line)
		}
		text, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, fmt.Errorf("the quote %.40q: %w", quoted, err)
		}
		words = append(words, textWord{text, true})
		line = line[len(quoted):]
	}
}

type textReader struct {
	names
	dimNames map[string]bool
	p        *Problem
	seen     struct{ circuit, rows, layout bool }
}

// statement reads one line that is not empty.
func (t *textReader) statement(words []textWord) error {
	verb, args := words[0], words[1:]
	statements := []struct {
		verb     string
		min, max int // words after the verb; no limit if max is negative
		read     func([]textWord) error
	}{
		{"circuit", 1, 1, t.circuit},
		{"rows", 1, 1, t.rows},
		{"dim", 2, 2, t.dim},
		{"section", 1, 1, t.section},
		{"edge", 5, 5, t.edge},
		{"node", 4, -1, t.node},
		{"output", 1, -1, t.output},
		{"plan", 0, 1, t.plan},
		{"group", 2, -1, t.group},
		{"store", 1, 2, t.store},
		{"layout", 0, 0, t.layout},
		{"external", 1, -1, t.external},
		{"alias", 2, 2, t.alias},
		{"pack", 0, -1, t.pack},
		{"rowpack", 0, -1, t.rowpack},
	}
	for _, s := range statements {
		if verb.is(s.verb) {
			if len(args) < s.min || s.max >= 0 && len(args) > s.max {
				return fmt.Errorf("%s with %d words after it; see the form of the text", s.verb, len(args))
			}
			return s.read(args)
		}
	}
	return fmt.Errorf("no statement begins with %.40q", verb.text)
}

func (t *textReader) once(seen *bool, what string) error {
	if *seen {
		return fmt.Errorf("a second %s", what)
	}
	*seen = true
	return nil
}

func (t *textReader) circuit(w []textWord) error {
	t.p.Circuit.Name = w[0].text
	return t.once(&t.seen.circuit, "circuit statement")
}

func (t *textReader) rows(w []textWord) (err error) {
	if t.p.MaxRows, err = strconv.ParseInt(w[0].text, 10, 64); err != nil {
		return fmt.Errorf("the most rows: %w", err)
	}
	return t.once(&t.seen.rows, "rows statement")
}

func (t *textReader) dim(w []textWord) error {
	size, err := strconv.ParseInt(w[1].text, 10, 64)
	if err != nil {
		return fmt.Errorf("dimension %q: %w", w[0].text, err)
	}
	if t.dimNames[w[0].text] {
		return fmt.Errorf("a second dimension %q", w[0].text)
	}
	t.dimNames[w[0].text] = true
	t.p.Circuit.Dims = append(t.p.Circuit.Dims, Dim{w[0].text, size})
	return nil
}

func (t *textReader) section(w []textWord) error {
	if _, err := t.names.section(w[0].text); err == nil {
		return fmt.Errorf("a second section %q", w[0].text)
	}
	c := t.p.Circuit
	if len(c.Nodes) > 0 {
		return fmt.Errorf("section %q is declared after a node", w[0].text)
	}
	t.sections[w[0].text] = len(c.Sections)
	c.Sections = append(c.Sections, w[0].text)
	return nil
}

// edge reads: NAME ROWS x DIM FORMAT.
func (t *textReader) edge(w []textWord) (err error) {
	e := Edge{Name: w[0].text}
	if _, ok := t.edges[e.Name]; ok {
		return fmt.Errorf("a second edge %q", e.Name)
	}
	if !w[2].is("x") {
		return fmt.Errorf("edge %q: %q stands where x is needed", e.Name, w[2].text)
	}
	if !w[1].is("-") {
		if e.Rows, err = ParseExpr(w[1].text); err != nil {
			return fmt.Errorf("edge %q: rows: %w", e.Name, err)
		}
	}
	if !w[3].is("-") {
		if e.Dim, err = ParseExpr(w[3].text); err != nil {
			return fmt.Errorf("edge %q: dim: %w", e.Name, err)
		}
	}
	if !w[4].is("-") {
		if e.Format, err = dtype.ParseFormat(w[4].text); err != nil {
			return fmt.Errorf("edge %q: %w", e.Name, err)
		}
	}
	t.edges[e.Name] = t.p.Circuit.AddEdge(e)
	return nil
}

// node reads: NAME OP [in SECTION] : EDGE... -> EDGE...
func (t *textReader) node(w []textWord) (err error) {
	n := Node{Name: w[0].text, Op: w[1].text}
	if _, ok := t.nodes[n.Name]; ok {
		return fmt.Errorf("a second node %q", n.Name)
	}
	rest := w[2:]
	if rest[0].is("in") {
		if n.Section, err = t.names.section(rest[1].text); err != nil {
			return fmt.Errorf("node %q: %w", n.Name, err)
		}
		rest = rest[2:]
	} else if len(t.sections) > 0 {
		return fmt.Errorf("node %q is in no section", n.Name)
	}
	if len(rest) == 0 || !rest[0].is(":") {
		return fmt.Errorf("node %q: a colon is missing", n.Name)
	}
	list, arrow := &n.Inputs, false
	for _, word := range rest[1:] {
		if word.is("->") && !arrow {
			list, arrow = &n.Outputs, true
			continue
		}
		e, err := t.names.edge(word.text)
		if err != nil {
			return fmt.Errorf("node %q: %w", n.Name, err)
		}
		*list = append(*list, e)
	}
	if !arrow {
		return fmt.Errorf("node %q: an arrow is missing", n.Name)
	}
	t.nodes[n.Name] = t.p.Circuit.AddNode(n)
	return nil
}

func (t *textReader) output(w []textWord) error {
	return t.list(w, &t.p.Circuit.Outputs)
}

// list reads names of edges.
func (t *textReader) list(w []textWord, to *[]EdgeID) error {
	for _, word := range w {
		e, err := t.names.edge(word.text)
		if err != nil {
			return err
		}
		*to = append(*to, e)
	}
	return nil
}

func (t *textReader) plan(w []textWord) (err error) {
	if t.p.Plan != nil {
		return errors.New("a second plan statement")
	}
	t.p.Plan = &FusionPlan{}
	if len(w) == 1 {
		t.p.Plan.Section, err = t.names.section(w[0].text)
	} else if len(t.sections) > 0 {
		err = errors.New("a plan of no section")
	}
	return err
}

// group reads: NAME : NODE...
func (t *textReader) group(w []textWord) error {
	if t.p.Plan == nil {
		return errors.New("a group before the plan statement")
	}
	if !w[1].is(":") {
		return fmt.Errorf("group %q: a colon is missing", w[0].text)
	}
	g := Group{Name: w[0].text}
	for _, word := range w[2:] {
		n, err := t.names.node(word.text)
		if err != nil {
			return fmt.Errorf("group %q: %w", g.Name, err)
		}
		g.Nodes = append(g.Nodes, n)
	}
	t.p.Plan.Groups = append(t.p.Plan.Groups, g)
	return nil
}

func (t *textReader) store(w []textWord) error {
	if t.p.Plan == nil {
		return errors.New("an edge is stored before the plan statement")
	}
	e, err := t.names.edge(w[0].text)
	if err != nil {
		return err
	}
	s := Stored{Edge: e}
	if len(w) == 2 {
		if s.Format, err = dtype.ParseFormat(w[1].text); err != nil {
			return fmt.Errorf("edge %q: %w", w[0].text, err)
		}
	}
	t.p.Plan.Stored = append(t.p.Plan.Stored, s)
	return nil
}

func (t *textReader) layout([]textWord) error {
	t.constraints()
	return t.once(&t.seen.layout, "layout statement")
}

func (t *textReader) constraints() *Layout {
	if t.p.Layout == nil {
		t.p.Layout = &Layout{}
	}
	return t.p.Layout
}

func (t *textReader) external(w []textWord) error {
	return t.list(w, &t.constraints().External)
}

func (t *textReader) alias(w []textWord) error {
	var pair []EdgeID
	if err := t.list(w, &pair); err != nil {
		return err
	}
	l := t.constraints()
	l.Aliases = append(l.Aliases, Alias{pair[0], pair[1]})
	return nil
}

// members reads: EDGE... [over EDGE]
func (t *textReader) members(w []textWord) (members []EdgeID, over *EdgeID, err error) {
	if n := len(w); n >= 2 && w[n-2].is("over") {
		e, err := t.names.edge(w[n-1].text)
		if err != nil {
			return nil, nil, err
		}
		over, w = &e, w[:n-2]
	}
	return members, over, t.list(w, &members)
}

func (t *textReader) pack(w []textWord) error {
	var p Pack
	var err error
	p.Members, p.Over, err = t.members(w)
	l := t.constraints()
	l.Packs = append(l.Packs, p)
	return err
}

func (t *textReader) rowpack(w []textWord) error {
	var p RowPack
	var err error
	p.Members, p.Over, err = t.members(w)
	l := t.constraints()
	l.RowPacks = append(l.RowPacks, p)
	return err
}
