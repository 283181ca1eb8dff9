package circuit

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// WriteText writes the text form of b, which [ReadBufferPlanText] reads back as
// it was:
//
//	max_rows 64
//	groups 7
//	arena_bytes 786432
//	lower_bound_bytes 786432
//	materialized_bytes 1572864
//	strategy auto
//	optimal true
//	slot 3 hidden offset 0 bytes 131072 groups 1..4 row_stride 2048
//	bound 0 x offset 0 bytes 131072 groups 0..6 row_stride 2048 in 0
//
// A slot is an edge's number and name, where it lies, and when it is live; "in" is
// the number of the external edge in whose buffer a bound edge lies.
func (b *BufferPlan) WriteText(w io.Writer) error {
	if err := b.validate(); err != nil {
		return err
	}
	return writeLines(w, func(write func(verb string, fields []field)) {
		for _, f := range b.figures() {
			write(f.name, []field{{to: f.value}})
		}
		for i := range b.Slots {
			write("slot", b.Slots[i].fields())
		}
		for i := range b.Bound {
			write("bound", b.Bound[i].fields())
		}
	})
}

// String returns the text form, or what is wrong with the plan.
func (b *BufferPlan) String() string {
	var s strings.Builder
	if err := b.WriteText(&s); err != nil {
		return err.Error()
	}
	return s.String()
}

// WriteJSON writes the JSON form of b, indented; see the tags of its fields.
// [ReadBufferPlanJSON] reads it back as it was.
func (b *BufferPlan) WriteJSON(w io.Writer) error {
	if err := b.validate(); err != nil {
		return err
	}
	full := *b
	if full.Slots == nil {
		full.Slots = []Slot{}
	}
	if full.Bound == nil {
		full.Bound = []Binding{}
	}
	return writeJSON(w, &full)
}

// A figure is a line of the text form that says one thing of a plan.
type figure struct {
	name  string
	value any
}

func (b *BufferPlan) figures() []figure {
	return []figure{
		{"max_rows", &b.MaxRows},
		{"arena_bytes", &b.Arena},
		{"lower_bound_bytes", &b.LowerBound},
		{"materialized_bytes", &b.Materialized},
		{"groups", &b.Groups},
		{"strategy", (*string)(&b.Strategy)},
		{"optimal", &b.Optimal},
	}
}

// fields are those of the line of a slot, after the verb.
func (s *Slot) fields() []field {
	return []field{
		{to: (*int)(&s.Edge)}, {to: &s.Name}, {word: "offset", to: &s.Offset}, {word: "bytes", to: &s.Bytes},
		{word: "groups", to: &span{&s.Start, &s.End}}, {word: "row_stride", to: &s.RowStride},
	}
}

func (b *Binding) fields() []field {
	return append(b.Slot.fields(), field{word: inWord, to: (*int)(&b.External)})
}

// A span is two groups, written as in 1..4.
type span struct{ start, end *int }

func (s *span) String() string { return fmt.Sprintf("%d..%d", *s.start, *s.end) }

func (s *span) parse(text string) (err error) {
	start, end, ok := strings.Cut(text, "..")
	if !ok {
		return fmt.Errorf("%.40q stands where two groups are needed, with .. between them", text)
	}
	if *s.start, err = strconv.Atoi(start); err == nil {
		*s.end, err = strconv.Atoi(end)
	}
	return err
}

// validate checks what can be seen without the circuit.
func (b *BufferPlan) validate() error {
	if b == nil {
		return &PlanError{Kind: ErrMissing, Detail: "there is no buffer plan"}
	}
	for _, f := range b.figures() {
		if words := appendFields(nil, []field{{to: f.value}}); words[0][0] == '-' { // a number; a name would be quoted
			return fmt.Errorf("circuit: %s is %s", f.name, words[0])
		}
	}
	if !utf8.ValidString(string(b.Strategy)) {
		return fmt.Errorf("circuit: the strategy %q is not UTF-8", b.Strategy)
	}
	check := func(s Slot, before EdgeID) error {
		switch {
		case s.Edge < 0 || s.Name == "" || !utf8.ValidString(s.Name):
			return fmt.Errorf("circuit: the slot of edge number %d has the name %q", s.Edge, s.Name)
		case s.Edge <= before:
			return fmt.Errorf("circuit: slot %q: edge number %d after %d", s.Name, s.Edge, before)
		case s.Offset < 0 || s.Bytes < 0 || s.RowStride < 0:
			return fmt.Errorf("circuit: slot %q: offset %d, %d bytes, row stride %d", s.Name, s.Offset, s.Bytes, s.RowStride)
		case s.Start < 0 || s.End < s.Start:
			return fmt.Errorf("circuit: slot %q: live in groups %d to %d", s.Name, s.Start, s.End)
		}
		return nil
	}
	before := noEdge
	for _, s := range b.Slots {
		if err := check(s, before); err != nil {
			return err
		}
		if s.Offset > b.Arena-s.Bytes {
			return fmt.Errorf("circuit: slot %q: %d bytes at %d end beyond the arena of %d", s.Name, s.Bytes, s.Offset, b.Arena)
		}
		before = s.Edge
	}
	before = noEdge
	for _, s := range b.Bound {
		if err := check(s.Slot, before); err != nil {
			return err
		}
		if s.External < 0 {
			return fmt.Errorf("circuit: slot %q: in edge number %d", s.Name, s.External)
		}
		before = s.Edge
	}
	return nil
}

// ReadBufferPlanJSON reads the JSON form of a buffer plan. It checks what can be
// seen without the circuit: that numbers are not negative, slots are in order and
// end within the arena. See [Check] for the rest.
func ReadBufferPlanJSON(r io.Reader) (*BufferPlan, error) {
	b := &BufferPlan{}
	if err := readJSON(r, b); err != nil {
		return nil, err
	}
	if len(b.Slots) == 0 {
		b.Slots = nil
	}
	if len(b.Bound) == 0 {
		b.Bound = nil
	}
	if err := b.validate(); err != nil {
		return nil, err
	}
	return b, nil
}

// ReadBufferPlanText reads the text form of a buffer plan, and checks what
// [ReadBufferPlanJSON] does. Lines may come in any order.
func ReadBufferPlanText(r io.Reader) (*BufferPlan, error) {
	b := &BufferPlan{}
	figures := make(map[string]any)
	for _, f := range b.figures() {
		figures[f.name] = f.value
	}
	seen := make(map[string]bool)
	err := readLines(r, func(_ int, words []textWord) error {
		verb := words[0].text
		var fields []field
		switch {
		case verb == "slot":
			b.Slots = append(b.Slots, Slot{})
			fields = b.Slots[len(b.Slots)-1].fields()
		case verb == "bound":
			b.Bound = append(b.Bound, Binding{})
			fields = b.Bound[len(b.Bound)-1].fields()
		case figures[verb] == nil:
			return fmt.Errorf("no statement begins with %.40q", verb)
		case seen[verb]:
			return fmt.Errorf("a second %s", verb)
		default:
			seen[verb] = true
			fields = []field{{to: figures[verb]}}
		}
		if err := readFields(words[1:], fields); err != nil {
			return fmt.Errorf("%s: %w", verb, err)
		}
		return nil
	})
	if err == nil {
		err = b.validate()
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}
