package wire

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// An Error says what is wrong with an encoded model or value, and where.
type Error struct {
	// Path names the place, such as
	//
	//	graph.node[12] "conv1" (Conv).attribute[3] "kernel_shape"
	Path string
	// Offset is the position in the input, in bytes, of the field or message
	// that is wrong.
	Offset int
	// Err is what is wrong with it. It matches [ErrLimit] when a limit is
	// exceeded and [io.ErrUnexpectedEOF] when data is cut off.
	Err error
}

// Error returns the place, the reason and the offset in one line.
func (e *Error) Error() string {
	return fmt.Sprintf("%s: %v (at byte %d)", e.Path, e.Err, e.Offset)
}

// Unwrap returns e.Err.
func (e *Error) Unwrap() error { return e.Err }

// A place is one step of the path from the root of the input to a message.
type place struct {
	field string
	index int    // in a repeated field, otherwise -1
	body  []byte // the encoded message
	// name and op are the numbers of its fields that identify it to a person;
	// 0 where there is none.
	name, op protowire.Number
}

// The longest path is shown with its middle left out.
const (
	pathHead = 6
	pathTail = 6
)

// renderPath writes places as a path. That of a model is only shown when it
// is all there is.
func renderPath(places []place) string {
	if len(places) > 1 && places[0].field == "model" {
		places = places[1:]
	}
	var b strings.Builder
	for i, p := range places {
		if skipped := len(places) - pathHead - pathTail; skipped > 0 && i >= pathHead && i < pathHead+skipped {
			if i == pathHead {
				fmt.Fprintf(&b, ".(%d more)", skipped)
			}
			continue
		}
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(p.field)
		if p.index >= 0 {
			fmt.Fprintf(&b, "[%d]", p.index)
		}
		if s := p.text(p.name); s != "" {
			b.WriteString(" " + quote(s))
		}
		if s := p.text(p.op); s != "" {
			b.WriteString(" (" + strings.Trim(quote(s), `"`) + ")")
		}
	}
	return b.String()
}

// text returns the last string with number num in the message of p, or ""
// when there is none. It reads the encoded message, because a name may come
// after the field that is wrong.
func (p *place) text(num protowire.Number) string {
	if num == 0 {
		return ""
	}
	s := ""
	r := reader{rest: p.body}
	var f record
	for {
		more, err := r.next(&f, 1)
		if err != nil || !more {
			return s
		}
		if f.num == num && f.typ == protowire.BytesType {
			s = string(f.data[:min(len(f.data), 2*maxQuoted)])
		}
	}
}

// maxQuoted is how many bytes of a name from a file an error shows.
const maxQuoted = 80

// quote quotes a name that comes from a file, cut to a reasonable length.
func quote(s string) string {
	if len(s) <= maxQuoted {
		return strconv.Quote(s)
	}
	cut := maxQuoted
	for cut > maxQuoted-utf8.UTFMax && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return strconv.Quote(s[:cut] + "…")
}
