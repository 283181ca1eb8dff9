package circuit

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// WriteText writes the text form of p, which must be valid. [ReadText] reads it
// back as it was.
func (p *Problem) WriteText(w io.Writer) error {
	d, err := newDocument(p)
	if err != nil {
		return err
	}
	has := map[string]bool{
		"circuit": d.Circuit.Name != "", "rows": d.MaxRows != 0, "plan": d.Plan != nil, "layout": d.Layout != nil,
	}
	var text strings.Builder
	for _, s := range d.statements(has) {
		for i := range s.lines() {
			text.WriteString(strings.Join(appendFields([]string{s.verb}, s.fields(i)), " "))
			text.WriteByte('\n')
		}
	}
	return writeText(w, text.String())
}

// ReadText reads the text form of a problem. What it returns is valid; a fault
// that lies in one line is a [*SyntaxError].
func ReadText(r io.Reader) (*Problem, error) {
	d := &document{}
	has := make(map[string]bool)
	statements := make(map[string]statement)
	for _, s := range d.statements(has) {
		statements[s.verb] = s
	}
	lines := make(map[string][]int) // by list: the line of each element
	err := readLines(r, func(line int, words []textWord) error {
		s, ok := statements[words[0].text]
		if !ok || words[0].quoted {
			return fmt.Errorf("no statement begins with %.40q", words[0].text)
		}
		if has[s.verb] {
			return fmt.Errorf("a second %s statement", s.verb)
		}
		s.add()
		err := readFields(words[1:], s.fields(s.lines()-1))
		if err != nil && len(words) > 1 {
			err = fmt.Errorf("%s %.40q: %w", s.verb, words[1].text, err)
		}
		for len(lines[s.list]) < s.elements() {
			lines[s.list] = append(lines[s.list], line)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	p, err := d.stated(has)
	var at *place
	if errors.As(err, &at) {
		err = &SyntaxError{lines[at.list][max(0, at.index)], at.err}
	}
	return p, err
}

// stated makes the problem that statements were read into. It has no plan where
// none was stated, and no layout where nothing of one was.
func (d *document) stated(has map[string]bool) (*Problem, error) {
	if p := d.Plan; !has["plan"] {
		missing := errors.New("there is no plan statement")
		switch {
		case len(p.Groups) > 0:
			return nil, &place{"plan.groups", 0, "", missing}
		case len(p.Stored) > 0:
			return nil, &place{"plan.stored", 0, "", missing}
		}
		d.Plan = nil
	}
	if l := d.Layout; !has["layout"] && len(l.External)+len(l.Aliases)+len(l.Packs)+len(l.RowPacks) == 0 {
		d.Layout = nil
	}
	return d.problem()
}

// A statement is a kind of line: a verb, and what it says of an element of a list
// of the document.
type statement struct {
	verb, list string
	elements   func() int          // of the list
	lines      func() int          // that say them
	fields     func(i int) []field // of line i
	add        func()              // makes another line
}

// statements returns all statements, to read d by or to write it, in the order in
// which they are written. What there is at most one of is there if has says so of
// its verb.
func (d *document) statements(has map[string]bool) []statement {
	if d.Circuit == nil {
		d.Circuit = &docCircuit{}
	}
	if d.Plan == nil {
		d.Plan = &docPlan{}
	}
	if d.Layout == nil {
		d.Layout = &docLayout{}
	}
	c, p, l := d.Circuit, d.Plan, d.Layout
	pack := func(p *docPack) []field {
		return []field{{to: &p.Members}, {word: overWord, to: &p.Over, opt: true}, {word: sameWord, to: &p.Same, opt: true}}
	}
	return []statement{
		single(has, "circuit", "circuit.name", field{to: &c.Name}),
		single(has, "rows", "max_rows", field{to: &d.MaxRows}),
		many("dim", "circuit.dims", &c.Dims, func(d *docDim) []field { return []field{{to: &d.Name}, {to: &d.Size}} }),
		many("section", "circuit.sections", &c.Sections, func(name *string) []field { return []field{{to: name}} }),
		many("edge", "circuit.edges", &c.Edges, func(e *Edge) []field {
			return []field{{to: &e.Name}, {to: &e.Rows}, {word: "x"}, {to: &e.Dim}, {to: &e.Format}}
		}),
		many("node", "circuit.nodes", &c.Nodes, func(n *docNode) []field {
			return []field{{to: &n.Name}, {to: &n.Op}, {word: inWord, to: &n.Section, opt: true},
				{word: ":", to: &n.Inputs}, {word: "->", to: &n.Outputs}}
		}),
		listed("output", "circuit.outputs", &c.Outputs),
		single(has, "plan", "plan.section", field{to: &p.Section, opt: true}),
		many("group", "plan.groups", &p.Groups, func(g *docGroup) []field { return []field{{to: &g.Name}, {word: ":", to: &g.Nodes}} }),
		many("store", "plan.stored", &p.Stored, func(s *docStored) []field { return []field{{to: &s.Edge}, {to: &s.Format, opt: true}} }),
		single(has, "layout", "layout"),
		listed("external", "layout.external", &l.External),
		many("alias", "layout.aliases", &l.Aliases, func(a *docAlias) []field {
			return []field{{to: &a.edge}, {to: &a.of}, {word: sameWord, to: &a.same, opt: true}}
		}),
		many("pack", "layout.packs", &l.Packs, pack),
		many("rowpack", "layout.row_packs", &l.RowPacks, pack),
	}
}

// single is a statement of which there is at most one.
func single(has map[string]bool, verb, list string, fields ...field) statement {
	count := func() int {
		if has[verb] {
			return 1
		}
		return 0
	}
	return statement{verb, list, count, count, func(int) []field { return fields }, func() { has[verb] = true }}
}

// many is a statement that says one element.
func many[T any](verb, list string, all *[]T, fields func(*T) []field) statement {
	count := func() int { return len(*all) }
	return statement{verb, list, count, count,
		func(i int) []field { return fields(&(*all)[i]) }, func() { *all = append(*all, *new(T)) }}
}

// listed is a statement that says any number of elements.
func listed(verb, list string, all *[]string) statement {
	return statement{verb, list, func() int { return len(*all) }, func() int { return min(1, len(*all)) },
		func(int) []field { return []field{{to: all}} }, func() {}}
}
