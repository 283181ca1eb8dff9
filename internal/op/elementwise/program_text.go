package elementwise

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
)

// String returns the text form.
func (p Program) String() string {
	b, _ := p.MarshalText() // cannot fail
	return string(b)
}

// Title returns a name and the codes of the program behind it in their order, for
// messages and plans, as in "conv+add+relu", or "mul+add" without a name. Of a long
// program it gives the first few and the number of all: "mul+add+relu+exp+...(9)".
func (p Program) Title(name string) string {
	const shown = 4
	var words []string
	if name != "" {
		words = append(words, name)
	}
	for i, ins := range p {
		if i == shown {
			words = append(words, fmt.Sprintf("...(%d)", len(p)))
			break
		}
		words = append(words, ins.Code.String())
	}
	return strings.Join(words, "+")
}

// MarshalText implements [encoding.TextMarshaler].
func (p Program) MarshalText() ([]byte, error) {
	var b []byte
	for i, ins := range p {
		if i > 0 {
			b = append(b, ';')
		}
		b = fmt.Appendf(b, "t%d=%v", i, ins.Code)
		b = appendAttrs(b, ins)
		b = append(b, '(')
		for j, a := range ins.Args[:arity(ins.Code)] {
			if j > 0 {
				b = append(b, ',')
			}
			switch a.Kind {
			case ArgInput:
				b = fmt.Appendf(b, "x%d", a.Index)
			case ArgResult:
				b = fmt.Appendf(b, "t%d", a.Index)
			case ArgScalar:
				b = append(b, a.Scalar.String()...)
			default:
				b = append(b, '_')
			}
		}
		b = append(b, ')')
	}
	return b, nil
}

func arity(c Code) int {
	if !c.Valid() {
		return 0
	}
	return c.Arity()
}

func appendAttrs(b []byte, ins Instr) []byte {
	switch {
	case !ins.Code.Valid():
		return b
	case ins.Code == Cast:
		return fmt.Appendf(b, "[%v]", ins.To)
	case len(ins.Code.Attrs()) == 0:
		return b
	}
	sep := byte('[')
	for i := range ins.Code.Attrs() {
		b = append(b, sep)
		b = strconv.AppendFloat(b, ins.Attrs[i], 'g', -1, 64)
		sep = ','
	}
	return append(b, ']')
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (p *Program) UnmarshalText(text []byte) error {
	*p = nil
	if len(text) == 0 {
		return nil
	}
	var out Program
	for i, line := range strings.SplitN(string(text), ";", MaxInstrs+1) {
		ins, err := parseInstr(i, line)
		if err != nil {
			return fmt.Errorf("instruction %d, %q: %w", i, excerpt(line), err)
		}
		out = append(out, ins)
	}
	*p = out
	return nil
}

func excerpt(s string) string {
	if len(s) > 60 {
		return s[:60] + "..."
	}
	return s
}

func parseInstr(i int, line string) (Instr, error) {
	var ins Instr
	if i >= MaxInstrs {
		return ins, fmt.Errorf("a program has at most %d instructions", MaxInstrs)
	}
	rest, ok := strings.CutPrefix(line, "t"+strconv.Itoa(i)+"=")
	if !ok {
		return ins, fmt.Errorf("does not start with t%d=", i)
	}
	head, list, ok := strings.Cut(rest, "(")
	list, closed := strings.CutSuffix(list, ")")
	if !ok || !closed {
		return ins, fmt.Errorf("has no operands in parentheses")
	}
	name, attrs, bracket := strings.Cut(head, "[")
	attrs, closed = strings.CutSuffix(attrs, "]")
	if bracket && !closed {
		return ins, fmt.Errorf("has no ] after its attributes")
	}
	var err error
	if ins.Code, err = parseCode(name); err != nil {
		return ins, err
	}
	if err := parseAttrs(&ins, attrs, bracket); err != nil {
		return ins, err
	}
	words := strings.Split(list, ",")
	if len(words) != ins.Code.Arity() {
		return ins, fmt.Errorf("takes %d operands, got %d", ins.Code.Arity(), len(words))
	}
	for j, w := range words {
		if ins.Args[j], err = parseArg(w); err != nil {
			return ins, err
		}
	}
	return ins, nil
}

func parseAttrs(ins *Instr, attrs string, given bool) (err error) {
	want := len(ins.Code.Attrs())
	switch {
	case ins.Code == Cast:
		ins.To, err = dtype.Parse(attrs)
		return err
	case !given && want == 0:
		return nil
	}
	words := strings.Split(attrs, ",")
	if !given || len(words) != want {
		return fmt.Errorf("takes %d attributes, got %q", want, attrs)
	}
	for i, w := range words {
		if ins.Attrs[i], err = strconv.ParseFloat(w, 64); err != nil {
			return err
		}
	}
	return nil
}

func parseArg(w string) (Arg, error) {
	if w != "" && (w[0] == 'x' || w[0] == 't') {
		i, err := strconv.ParseUint(w[1:], 10, 16)
		if err != nil {
			return Arg{}, fmt.Errorf("operand %q: %w", w, err)
		}
		if w[0] == 'x' {
			return InputArg(int(i)), nil
		}
		return ResultArg(int(i)), nil
	}
	s, err := kernel.ParseScalar(w)
	if err != nil {
		return Arg{}, err
	}
	return ScalarArg(s), nil
}
