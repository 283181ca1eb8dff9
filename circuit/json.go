package circuit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// WriteJSON writes the JSON form of p, which must be valid, indented. [ReadJSON]
// reads it back as it was.
func (p *Problem) WriteJSON(w io.Writer) error {
	d, err := newDocument(p)
	if err != nil {
		return err
	}
	return writeJSON(w, d)
}

// ReadJSON reads the JSON form of a problem. What it returns is valid. An error
// says in which line or in which member the fault lies.
func ReadJSON(r io.Reader) (*Problem, error) {
	var d document
	if err := readJSON(r, &d); err != nil {
		return nil, err
	}
	return d.problem()
}

func writeJSON(w io.Writer, v any) error {
	if w == nil {
		return &PlanError{Kind: ErrMissing, Detail: "there is no writer"}
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// readJSON reads one JSON value that must be all there is and have no members that
// v does not know.
func readJSON(r io.Reader, v any) error {
	data, err := readAll(r)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err = d.Decode(v)
	at := d.InputOffset()
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = syntax.Offset
	} else if typ, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		at = typ.Offset
	} else if errors.Is(err, io.EOF) {
		err = errors.New("there is no JSON value")
	} else if err == nil {
		rest := bytes.TrimLeft(data[at:], " \t\r\n")
		if len(rest) == 0 {
			return nil
		}
		at = int64(len(data) - len(rest))
		err = errors.New("more follows the JSON value")
	}
	at = min(max(at, 0), int64(len(data)))
	return &SyntaxError{1 + bytes.Count(data[:at], []byte{'\n'}), err}
}

// MarshalJSON writes a number or a string.
func (b bounds) MarshalJSON() ([]byte, error) {
	if b.min == b.max {
		return []byte(b.String()), nil
	}
	return json.Marshal(b.String())
}

// UnmarshalJSON reads a number or a string.
func (b *bounds) UnmarshalJSON(data []byte) (err error) {
	*b, err = parseBounds(string(bytes.Trim(data, `"`)))
	return err
}

// MarshalJSON writes an array of words.
func (a docAlias) MarshalJSON() ([]byte, error) {
	words := []string{a.edge, a.of}
	if a.same {
		words = append(words, sameWord)
	}
	var b bytes.Buffer
	err := writeJSON(&b, words) // json.Marshal would escape what a name may hold
	return b.Bytes(), err
}

// UnmarshalJSON reads an array of words.
func (a *docAlias) UnmarshalJSON(data []byte) error {
	var words []string
	err := json.Unmarshal(data, &words)
	if n := len(words); err != nil || n < 2 || n > 3 || n == 3 && words[2] != sameWord {
		return fmt.Errorf("an alias is an array of two names, and %q if the edges hold one value, not %.80s", sameWord, data)
	}
	*a = docAlias{words[0], words[1], len(words) == 3}
	return nil
}
