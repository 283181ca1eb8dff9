package pack

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// The columns of the CSV form. Published allocation benchmarks have the first
// four, and solutions the fifth; the rest carry what else a [Buffer] may say.
const (
	columnID     = "id"
	columnLower  = "lower" // first time live
	columnUpper  = "upper" // first time no longer live
	columnSize   = "size"
	columnOffset = "offset"    // where a solution puts the buffer
	columnAlign  = "alignment" // empty or 0 for none
	columnFixed  = "fixed"     // the fixed offset, empty for none
	columnParts  = "parts"     // start:end@lower:upper, separated by spaces
)

// A CSVError says which line of a file is wrong, and why.
type CSVError struct {
	Line int // counted from 1
	Err  error
}

func (e *CSVError) Error() string { return fmt.Sprintf("pack: line %d: %v", e.Line, e.Err) }
func (e *CSVError) Unwrap() error { return e.Err }

// ReadCSV reads buffers from CSV with a header line that names the columns, in
// any order: id, lower, upper (exclusive) and size, and if present alignment
// (or align), fixed, parts, and offset. Columns of other names are skipped.
//
// The offsets of a solution come back beside the buffers; they are nil when the
// file has no offset column. They are numbers, not yet a placement: see [Check].
// An error about the content is a [*CSVError].
func ReadCSV(r io.Reader) (buffers []Buffer, offsets []int64, err error) {
	br := bufio.NewReader(r)
	if bom, err := br.Peek(3); err == nil && string(bom) == "\ufeff" {
		br.Discard(3)
	}
	cr := csv.NewReader(br)
	cr.ReuseRecord = true
	cr.FieldsPerRecord = -1 // counted below, to name the line in our own words
	record, err := cr.Read()
	if err == io.EOF {
		return nil, nil, &CSVError{1, errors.New("no header")}
	} else if err != nil {
		return nil, nil, wrapCSV(err)
	}
	cols, err := readHeader(record)
	if err != nil {
		return nil, nil, &CSVError{1, err}
	}
	lines := map[string]int{}
	for {
		record, err := cr.Read()
		if err == io.EOF {
			return buffers, offsets, nil
		} else if err != nil {
			return nil, nil, wrapCSV(err)
		}
		line, _ := cr.FieldPos(0)
		if len(record) != cols.count {
			return nil, nil, &CSVError{line, fmt.Errorf("%d fields, the header has %d", len(record), cols.count)}
		}
		b, offset, err := cols.buffer(record)
		if err != nil {
			return nil, nil, &CSVError{line, err}
		}
		if first, ok := lines[b.ID]; ok {
			return nil, nil, &CSVError{line, fmt.Errorf("id %q is already on line %d", b.ID, first)}
		}
		lines[b.ID] = line
		if err := validate(len(buffers), &b); err != nil {
			return nil, nil, &CSVError{line, err}
		}
		buffers = append(buffers, b)
		if cols.at[columnOffset] >= 0 {
			offsets = append(offsets, offset)
		}
	}
}

// wrapCSV turns an error of encoding/csv into one of this package.
func wrapCSV(err error) error {
	if pe, ok := errors.AsType[*csv.ParseError](err); ok {
		return &CSVError{pe.Line, pe.Err}
	}
	return fmt.Errorf("pack: read csv: %w", err)
}

// columns says where each known column is in a record; -1 where it is not.
type columns struct {
	count int
	at    map[string]int
}

func readHeader(record []string) (columns, error) {
	c := columns{len(record), map[string]int{
		columnID: -1, columnLower: -1, columnUpper: -1, columnSize: -1,
		columnOffset: -1, columnAlign: -1, columnFixed: -1, columnParts: -1,
	}}
	for i, name := range record {
		name = strings.ToLower(strings.TrimSpace(name))
		if name == "align" {
			name = columnAlign
		}
		at, known := c.at[name]
		if !known {
			continue
		}
		if at >= 0 {
			return c, fmt.Errorf("column %q appears twice", name)
		}
		c.at[name] = i
	}
	for _, name := range []string{columnID, columnLower, columnUpper, columnSize} {
		if c.at[name] < 0 {
			return c, fmt.Errorf("the header has no column %q", name)
		}
	}
	return c, nil
}

// field returns the text of a column, and whether there is any.
func (c *columns) field(record []string, name string) (string, bool) {
	i := c.at[name]
	if i < 0 {
		return "", false
	}
	s := strings.TrimSpace(record[i])
	return s, s != ""
}

// buffer reads one record.
func (c *columns) buffer(record []string) (b Buffer, offset int64, err error) {
	id, ok := c.field(record, columnID)
	if !ok {
		return b, 0, errors.New("the id is empty")
	}
	b.ID = strings.Clone(id)
	var fixed int64
	for _, f := range []struct {
		name string
		into *int64
		must bool
	}{
		{columnLower, &b.Start, true}, {columnUpper, &b.End, true}, {columnSize, &b.Size, true},
		{columnOffset, &offset, true}, {columnAlign, &b.Align, false}, {columnFixed, &fixed, false},
	} {
		s, ok := c.field(record, f.name)
		if !ok {
			if f.must && c.at[f.name] >= 0 {
				return b, 0, fmt.Errorf("%s is empty", f.name)
			}
			continue
		}
		if *f.into, err = strconv.ParseInt(s, 10, 64); err != nil {
			return b, 0, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	if _, b.Fixed = c.field(record, columnFixed); b.Fixed {
		b.Offset = fixed
	}
	if s, ok := c.field(record, columnParts); ok {
		for text := range strings.FieldsSeq(s) {
			part, err := parsePart(text)
			if err != nil {
				return b, 0, fmt.Errorf("%s: %q: %w", columnParts, text, err)
			}
			b.Parts = append(b.Parts, part)
		}
	}
	return b, offset, nil
}

func (p Part) String() string {
	return fmt.Sprintf("%d:%d@%d:%d", p.Start, p.End, p.Lower, p.Upper)
}

// parsePart reads what [Part.String] writes.
func parsePart(text string) (p Part, err error) {
	when, where, ok := strings.Cut(text, "@")
	start, end, ok1 := strings.Cut(when, ":")
	lower, upper, ok2 := strings.Cut(where, ":")
	if !ok || !ok1 || !ok2 {
		return p, errors.New("not of the form start:end@lower:upper")
	}
	for _, f := range []struct {
		text string
		into *int64
	}{{start, &p.Start}, {end, &p.End}, {lower, &p.Lower}, {upper, &p.Upper}} {
		if *f.into, err = strconv.ParseInt(f.text, 10, 64); err != nil {
			return p, err
		}
	}
	return p, nil
}

// WriteCSV writes buffers in the form that [ReadCSV] reads, with their offsets
// unless offsets is nil. Columns beyond id, lower, upper, size and offset are
// written only when some buffer needs them. A buffer without an ID is named by
// its index.
func WriteCSV(w io.Writer, buffers []Buffer, offsets []int64) error {
	if offsets != nil && len(offsets) != len(buffers) {
		return fmt.Errorf("pack: write csv: %d offsets for %d buffers", len(offsets), len(buffers))
	}
	written := []bool{true, true, true, true, // the columns of every file
		slices.ContainsFunc(buffers, func(b Buffer) bool { return b.Align > 1 }),
		slices.ContainsFunc(buffers, func(b Buffer) bool { return b.Fixed }),
		slices.ContainsFunc(buffers, func(b Buffer) bool { return len(b.Parts) > 0 }),
		offsets != nil,
	}
	cw := csv.NewWriter(w)
	record := make([]string, 0, len(written))
	write := func(columns ...string) {
		record = record[:0]
		for i, text := range columns {
			if written[i] {
				record = append(record, text)
			}
		}
		cw.Write(record) // an error stays until the end
	}
	write(columnID, columnLower, columnUpper, columnSize, columnAlign, columnFixed, columnParts, columnOffset)
	decimal := func(x int64) string { return strconv.FormatInt(x, 10) }
	for i, b := range buffers {
		var fixed, offset string
		if b.Fixed {
			fixed = decimal(b.Offset)
		}
		if offsets != nil {
			offset = decimal(offsets[i])
		}
		parts := strings.Trim(fmt.Sprint(b.Parts), "[]")
		write(cmp.Or(b.ID, strconv.Itoa(i)), decimal(b.Start), decimal(b.End), decimal(b.Size),
			decimal(max(b.Align, 1)), fixed, parts, offset)
	}
	cw.Flush()
	if err := cw.Error(); err != nil {
		return fmt.Errorf("pack: write csv: %w", err)
	}
	return nil
}
