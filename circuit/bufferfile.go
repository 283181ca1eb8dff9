package circuit

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/berth-go/berth/pack"
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
	t := bufio.NewWriter(w)
	for _, f := range b.figures() {
		fmt.Fprintf(t, "%s %d\n", f.name, *f.value)
	}
	fmt.Fprintf(t, "groups %d\nstrategy %s\noptimal %t\n", b.Groups, word(string(b.Strategy)), b.Optimal)
	slot := func(verb string, s Slot) {
		fmt.Fprintf(t, "%s %d %s offset %d bytes %d groups %d..%d row_stride %d",
			verb, s.Edge, word(s.Name), s.Offset, s.Bytes, s.Start, s.End, s.RowStride)
	}
	for _, s := range b.Slots {
		slot("slot", s)
		fmt.Fprintln(t)
	}
	for _, s := range b.Bound {
		slot("bound", s.Slot)
		fmt.Fprintf(t, " in %d\n", s.External)
	}
	return t.Flush()
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

type figure struct {
	name  string
	value *int64
}

func (b *BufferPlan) figures() []figure {
	return []figure{
		{"max_rows", &b.MaxRows}, {"arena_bytes", &b.Arena},
		{"lower_bound_bytes", &b.LowerBound}, {"materialized_bytes", &b.Materialized},
	}
}

// validate checks what can be seen without the circuit.
func (b *BufferPlan) validate() error {
	for _, f := range b.figures() {
		if *f.value < 0 {
			return fmt.Errorf("circuit: %s is %d", f.name, *f.value)
		}
	}
	if b.Groups < 0 {
		return fmt.Errorf("circuit: groups is %d", b.Groups)
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
	data, err := readAll(r)
	if err != nil {
		return nil, err
	}
	var b BufferPlan
	if err := decodeStrict(data, &b); err != nil {
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
	return &b, nil
}

// ReadBufferPlanText reads the text form of a buffer plan, and checks what
// [ReadBufferPlanJSON] does. Lines may come in any order.
func ReadBufferPlanText(r io.Reader) (*BufferPlan, error) {
	data, err := readAll(r)
	if err != nil {
		return nil, err
	}
	b := &BufferPlan{}
	line := 0
	seen := make(map[string]bool)
	for text := range strings.Lines(string(data)) {
		line++
		words, err := splitWords(strings.TrimRight(text, "\r\n"))
		if err == nil && len(words) > 0 {
			err = b.statement(words, seen)
		}
		if err != nil {
			return nil, &SyntaxError{line, err}
		}
	}
	if err := b.validate(); err != nil {
		return nil, err
	}
	return b, nil
}

func (b *BufferPlan) statement(words []textWord, seen map[string]bool) (err error) {
	verb, args := words[0].text, words[1:]
	switch verb {
	case "slot":
		var s Slot
		if len(args) != 10 {
			return fmt.Errorf("a slot of %d words; see the form of the text", len(args))
		}
		if s, err = parseSlot(args); err == nil {
			b.Slots = append(b.Slots, s)
		}
		return err
	case "bound":
		if len(args) != 12 || !args[10].is("in") {
			return fmt.Errorf("a bound edge of %d words; see the form of the text", len(args))
		}
		s, err := parseSlot(args[:10])
		if err != nil {
			return err
		}
		in, err := strconv.Atoi(args[11].text)
		b.Bound = append(b.Bound, Binding{s, EdgeID(in)})
		return err
	}
	if len(args) != 1 {
		return fmt.Errorf("%.40q with %d words after it; see the form of the text", verb, len(args))
	}
	if seen[verb] {
		return fmt.Errorf("a second %s", verb)
	}
	seen[verb] = true
	for _, f := range b.figures() {
		if f.name == verb {
			*f.value, err = strconv.ParseInt(args[0].text, 10, 64)
			return err
		}
	}
	switch verb {
	case "groups":
		b.Groups, err = strconv.Atoi(args[0].text)
	case "strategy":
		b.Strategy = pack.Strategy(args[0].text)
	case "optimal":
		b.Optimal, err = strconv.ParseBool(args[0].text)
	default:
		err = fmt.Errorf("no statement begins with %.40q", verb)
	}
	return err
}

// parseSlot reads: EDGE NAME offset N bytes N groups N..N row_stride N
func parseSlot(w []textWord) (Slot, error) {
	start, end, ok := strings.Cut(w[7].text, "..")
	if !ok || !w[2].is("offset") || !w[4].is("bytes") || !w[6].is("groups") || !w[8].is("row_stride") {
		return Slot{}, errors.New("not the form of a slot")
	}
	var first error
	number := func(text string) int64 {
		v, err := strconv.ParseInt(text, 10, 64)
		if err == nil && int64(int(v)) != v {
			err = fmt.Errorf("%d is too large for this machine", v)
		}
		if first == nil {
			first = err
		}
		return v
	}
	s := Slot{
		Edge:      EdgeID(number(w[0].text)),
		Name:      w[1].text,
		Offset:    number(w[3].text),
		Bytes:     number(w[5].text),
		Start:     int(number(start)),
		End:       int(number(end)),
		RowStride: number(w[9].text),
	}
	return s, first
}
