package circuit

import (
	"bufio"
	"fmt"
	"io"
	"strconv"

	"github.com/berth-go/berth/dtype"
)

// WriteText writes the text form of p, which must be valid. [ReadText] reads it
// back as it was.
func (p *Problem) WriteText(w io.Writer) error {
	if err := p.validate(); err != nil {
		return err
	}
	for _, e := range p.Layout.everyEdge() {
		if !p.Circuit.has(e) {
			return &PlanError{Kind: ErrRange, Detail: p.Circuit.rangeText("the layout names", e)}
		}
	}
	t := textWriter{w: bufio.NewWriter(w), c: p.Circuit}
	t.circuit(p)
	if p.Plan != nil {
		t.plan(p.Plan)
	}
	if p.Layout != nil {
		t.layout(p.Layout)
	}
	return t.w.Flush()
}

type textWriter struct {
	w *bufio.Writer
	c *Circuit
}

func (t textWriter) circuit(p *Problem) {
	c := p.Circuit
	if c.Name != "" {
		fmt.Fprintf(t.w, "circuit %s\n", word(c.Name))
	}
	if p.MaxRows != 0 {
		fmt.Fprintf(t.w, "rows %d\n", p.MaxRows)
	}
	for _, d := range c.Dims {
		fmt.Fprintf(t.w, "dim %s %d\n", d.Name, d.Size)
	}
	for _, s := range c.Sections {
		fmt.Fprintf(t.w, "section %s\n", word(s))
	}
	for _, e := range c.Edges {
		fmt.Fprintf(t.w, "edge %s %s x %s %s\n", word(e.Name), orDash(e.Rows.String()), orDash(e.Dim.String()), formatWord(e.Format))
	}
	for _, n := range c.Nodes {
		fmt.Fprintf(t.w, "node %s %s", word(n.Name), word(n.Op))
		if len(c.Sections) > 0 {
			fmt.Fprintf(t.w, " in %s", word(c.Sections[n.Section]))
		}
		t.w.WriteString(" :")
		t.edges(n.Inputs)
		t.w.WriteString(" ->")
		t.edges(n.Outputs)
		t.w.WriteByte('\n')
	}
	if len(c.Outputs) > 0 {
		t.list("output", c.Outputs, nil)
	}
}

func (t textWriter) plan(p *FusionPlan) {
	t.w.WriteString("plan")
	if len(t.c.Sections) > 0 {
		fmt.Fprintf(t.w, " %s", word(t.c.Sections[p.Section]))
	}
	t.w.WriteByte('\n')
	for _, g := range p.Groups {
		fmt.Fprintf(t.w, "group %s :", word(g.Name))
		for _, n := range g.Nodes {
			t.w.WriteByte(' ')
			t.w.WriteString(word(t.c.Nodes[n].Name))
		}
		t.w.WriteByte('\n')
	}
	for _, s := range p.Stored {
		fmt.Fprintf(t.w, "store %s", word(t.c.Edges[s.Edge].Name))
		if s.Format != (dtype.Format{}) {
			fmt.Fprintf(t.w, " %s", formatWord(s.Format))
		}
		t.w.WriteByte('\n')
	}
}

func (t textWriter) layout(l *Layout) {
	t.w.WriteString("layout\n")
	if len(l.External) > 0 {
		t.list("external", l.External, nil)
	}
	for _, a := range l.Aliases {
		t.list("alias", []EdgeID{a.Edge, a.Of}, nil)
	}
	for _, p := range l.Packs {
		t.list("pack", p.Members, p.Over)
	}
	for _, r := range l.RowPacks {
		t.list("rowpack", r.Members, r.Over)
	}
}

// list writes a statement about edges.
func (t textWriter) list(verb string, edges []EdgeID, over *EdgeID) {
	t.w.WriteString(verb)
	t.edges(edges)
	if over != nil {
		t.w.WriteString(" over")
		t.edges([]EdgeID{*over})
	}
	t.w.WriteByte('\n')
}

func (t textWriter) edges(edges []EdgeID) {
	for _, e := range edges {
		t.w.WriteByte(' ')
		t.w.WriteString(word(t.c.Edges[e].Name))
	}
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func formatWord(f dtype.Format) string { return orDash(f.String()) }

// keywords are the words that would end a list of names.
var keywords = []string{"over", "in"}

// word writes a name so that the reader takes it for one word.
func word(name string) string {
	for i := range len(name) {
		if !isWordByte(name[i], i == 0) {
			return strconv.Quote(name)
		}
	}
	for _, k := range keywords {
		if name == k {
			return strconv.Quote(name)
		}
	}
	if name == "" {
		return `""`
	}
	return name
}

func isWordByte(c byte, first bool) bool {
	if isLetter(c) || isDigit(c) || c == '/' || c == '.' {
		return true
	}
	return !first && (c == ':' || c == '-')
}
