package circuit

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-go/berth/dtype"
)

// A field is part of a line of a text form: a keyword, a value or both. Lines are
// read and written by the list of their fields.
type field struct {
	word string // "" for a value alone
	to   any    // points to the value; nil, or a bool that says whether it is there, for a keyword alone
	opt  bool   // left out if the value is zero
}

// Keywords that may follow names.
const (
	inWord   = "in"
	overWord = "over"
	sameWord = "same"
)

// readFields reads the words of a line. A list of names ends at the keyword of a
// field that follows.
func readFields(words []textWord, fields []field) error {
	next := func(k string) bool { return len(words) > 0 && k != "" && !words[0].quoted && words[0].text == k }
	for i, x := range fields {
		switch {
		case next(x.word):
			words = words[1:]
		case x.opt && (x.word != "" || len(words) == 0):
			continue
		case len(words) == 0 && x.word != "":
			return fmt.Errorf("%q is missing", x.word)
		case x.word != "":
			return fmt.Errorf("%.40q stands where %q is needed", words[0].text, x.word)
		}
		switch to := x.to.(type) {
		case nil:
		case *bool:
			*to = true
		case *[]string:
			for len(words) > 0 && !slices.ContainsFunc(fields[i+1:], func(after field) bool { return next(after.word) }) {
				*to = append(*to, words[0].text)
				words = words[1:]
			}
		default:
			if len(words) == 0 {
				return errors.New("the line ends too early")
			}
			if err := parseWord(words[0].text, to); err != nil {
				return err
			}
			words = words[1:]
		}
	}
	if len(words) > 0 {
		return fmt.Errorf("%.40q does not belong here", words[0].text)
	}
	return nil
}

// parseWord reads a value that is one word.
func parseWord(text string, to any) (err error) {
	switch to := to.(type) {
	case *string:
		*to = text
	case *int64:
		*to, err = strconv.ParseInt(text, 10, 64)
	case *Expr:
		if text != "-" {
			*to, err = ParseExpr(text)
		}
	case *dtype.Format:
		if text != "-" {
			*to, err = dtype.ParseFormat(text)
		}
	case *bounds:
		*to, err = parseBounds(text)
	default:
		panic(fmt.Sprintf("circuit: a value of type %T", to))
	}
	return err
}

// appendFields appends the words of a line.
func appendFields(words []string, fields []field) []string {
	for _, x := range fields {
		if x.opt && reflect.ValueOf(x.to).Elem().IsZero() {
			continue
		}
		if x.word != "" {
			words = append(words, x.word)
		}
		switch to := x.to.(type) {
		case nil, *bool:
		case *string:
			words = append(words, quoteWord(*to))
		case *[]string:
			words = append(words, each(*to, quoteWord)...)
		case *int64:
			words = append(words, strconv.FormatInt(*to, 10))
		case fmt.Stringer: // *Expr, *dtype.Format or *bounds
			words = append(words, cmp.Or(to.String(), "-"))
		}
	}
	return words
}

// readLines hands the words of each line of a text to statement, but for empty
// lines. An error of it becomes a [SyntaxError].
func readLines(r io.Reader, statement func(line int, words []textWord) error) error {
	data, err := readAll(r)
	if err != nil {
		return err
	}
	line := 0
	for text := range strings.Lines(string(data)) {
		line++
		words, err := splitWords(strings.TrimRight(text, "\r\n"))
		if err == nil && len(words) > 0 {
			err = statement(line, words)
		}
		if err != nil {
			return &SyntaxError{line, err}
		}
	}
	return nil
}

// writeText writes all of a text form.
func writeText(w io.Writer, text string) error {
	if w == nil {
		return &PlanError{Kind: ErrMissing, Detail: "there is no writer"}
	}
	_, err := io.WriteString(w, text)
	return err
}

// A textWord is a word of a line. A quoted one is never a keyword.
type textWord struct {
	text   string
	quoted bool
}

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

// quoteWord writes a name so that the reader takes it for one word, and for no
// keyword.
func quoteWord(name string) string {
	plain := name != "" && name != inWord && name != overWord && name != sameWord
	for i := range len(name) {
		c := name[i]
		plain = plain && (isLetter(c) || isDigit(c) || c == '/' || c == '.' || i > 0 && (c == ':' || c == '-'))
	}
	if plain {
		return name
	}
	return strconv.Quote(name)
}

// String returns one number, or two with .. between them.
func (b *bounds) String() string {
	if b.min == b.max {
		return strconv.FormatInt(b.min, 10)
	}
	return fmt.Sprintf("%d..%d", b.min, b.max)
}

func parseBounds(text string) (b bounds, err error) {
	least, most, two := strings.Cut(text, "..")
	if !two {
		most = least
	}
	if b.min, err = strconv.ParseInt(least, 10, 64); err == nil {
		b.max, err = strconv.ParseInt(most, 10, 64)
	}
	return b, err
}
