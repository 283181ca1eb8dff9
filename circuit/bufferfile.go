package circuit

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// WriteText writes b for a person to read; the JSON form is for programs:
//
//	max_rows 64
//	arena_bytes 786432
//	lower_bound_bytes 786432
//	materialized_bytes 1572864
//	groups 7
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
	return writeText(w, b.text())
}

// String returns what WriteText writes, or what is wrong with the plan.
func (b *BufferPlan) String() string {
	if err := b.validate(); err != nil {
		return err.Error()
	}
	return b.text()
}

func (b *BufferPlan) text() string {
	var t strings.Builder
	for _, f := range b.sizes() {
		fmt.Fprintf(&t, "%s %d\n", f.name, f.value)
	}
	fmt.Fprintf(&t, "groups %d\nstrategy %s\noptimal %t\n", b.Groups, quoteWord(string(b.Strategy)), b.Optimal)
	for i := range b.Slots {
		fmt.Fprintf(&t, "slot %s\n", b.Slots[i].text())
	}
	for i := range b.Bound {
		fmt.Fprintf(&t, "bound %s in %d\n", b.Bound[i].text(), b.Bound[i].External)
	}
	return t.String()
}

func (s *Slot) text() string {
	return fmt.Sprintf("%d %s offset %d bytes %d groups %d..%d row_stride %d",
		s.Edge, quoteWord(s.Name), s.Offset, s.Bytes, s.Start, s.End, s.RowStride)
}

// WriteJSON writes the JSON form of b, indented; see the tags of its fields.
// [ReadBufferPlanJSON] reads it back as it was.
func (b *BufferPlan) WriteJSON(w io.Writer) error {
	if err := b.validate(); err != nil {
		return err
	}
	full := *b
	full.Slots, full.Bound = append([]Slot{}, b.Slots...), append([]Binding{}, b.Bound...) // never nil
	return writeJSON(w, &full)
}

// A figure is a number of a plan, by its name in both forms.
type figure struct {
	name  string
	value int64
}

// sizes returns the rows of a plan and its sizes.
func (b *BufferPlan) sizes() []figure {
	return []figure{{"max_rows", b.MaxRows}, {"arena_bytes", b.Arena}, {"lower_bound_bytes", b.LowerBound}, {"materialized_bytes", b.Materialized}}
}

// validate checks what can be seen without the circuit.
func (b *BufferPlan) validate() error {
	if b == nil {
		return &PlanError{Kind: ErrMissing, Detail: "there is no buffer plan"}
	}
	for _, f := range append(b.sizes(), figure{"groups", int64(b.Groups)}) {
		if f.value < 0 {
			return fmt.Errorf("circuit: %s is %d", f.name, f.value)
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
	b.Slots, b.Bound = append([]Slot(nil), b.Slots...), append([]Binding(nil), b.Bound...) // nil if empty
	if err := b.validate(); err != nil {
		return nil, err
	}
	return b, nil
}
