package circuit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// maxNesting bounds the parentheses open at once in an expression.
const maxNesting = 64

// ParseExpr reads an expression:
//
//	sum     = product { ("+" | "-") product }
//	product = operand { "*" operand }
//	operand = number | name | "(" sum ")"
//	        | ("ceil" | "floor") "(" sum "/" sum ")"
//	        | ("min" | "max") "(" sum "," sum ")"
//
// A number is decimal, a name is a letter or underscore followed by letters,
// digits and underscores. Spaces are skipped. Of all names, only the row count is
// known to vary here; see [Circuit.Validate] for the others. The error wraps [ErrExpr] or
// [ErrOverflow] and says at which byte the fault lies.
func ParseExpr(text string) (Expr, error) {
	p := exprParser{text: text}
	p.operation(0, levelSum)
	if p.peek() != 0 || p.at < len(p.text) {
		p.fault("does not belong here")
	}
	e := Expr{p.terms}
	if p.err == nil {
		p.err = e.check(map[string]bool{RowsName: true})
	}
	if p.err != nil {
		return Expr{}, p.err
	}
	return e, nil
}

// An exprParser stops at the first fault: it is then at the end of the text.
type exprParser struct {
	text  string
	at    int
	terms []term
	err   error
}

// peek skips spaces and returns the next byte, 0 at the end.
func (p *exprParser) peek() byte {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
	if p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

func (p *exprParser) fail(kind Kind, format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("%w: "+format, append([]any{kind}, args...)...)
	}
	p.at = len(p.text)
}

// fault says what is wrong with the next byte.
func (p *exprParser) fault(what string) {
	text := p.text
	if len(text) > 80 {
		text = text[:80] + "..."
	}
	if p.at == len(p.text) {
		p.fail(ErrExpr, "%q ends too early", text)
		return
	}
	p.fail(ErrExpr, "%q: byte %d, %q, %s", text, p.at+1, p.text[p.at], what)
}

func (p *exprParser) push(t term) {
	if p.terms = append(p.terms, t); len(p.terms) > maxTerms {
		p.fail(ErrExpr, "more than %d terms", maxTerms)
	}
}

// operation reads a sum or a product, whose operands are of the next level.
func (p *exprParser) operation(depth, level int) {
	if level == levelOperand {
		p.operand(depth)
		return
	}
	p.operation(depth, level+1)
	for {
		i := strings.IndexByte("+-*", p.peek())
		o := opAdd + op(i)
		if i < 0 || operations[o].level != level {
			return
		}
		p.at++
		p.operation(depth, level+1)
		p.push(term{op: o})
	}
}

func (p *exprParser) operand(depth int) {
	c := p.peek()
	from := p.at
	word := func(more func(byte) bool) string {
		for p.at < len(p.text) && more(p.text[p.at]) {
			p.at++
		}
		return p.text[from:p.at]
	}
	switch {
	case depth == maxNesting:
		p.fail(ErrExpr, "more than %d parentheses open at byte %d", maxNesting, from+1)
	case c == '(':
		p.at++
		p.operation(depth+1, levelSum)
		p.expect(')')
	case isDigit(c):
		v, err := strconv.ParseInt(word(isDigit), 10, 64)
		if err != nil {
			p.fail(ErrOverflow, "the number at byte %d of an expression", from+1)
		}
		p.push(term{op: opConst, value: v})
	case isLetter(c):
		name := word(func(c byte) bool { return isLetter(c) || isDigit(c) })
		if p.peek() != '(' {
			p.push(term{op: opName, name: name})
			return
		}
		for o := opCeil; o <= opMax; o++ {
			if operations[o].sign == name {
				p.call(o, depth+1)
				return
			}
		}
		p.at = from
		p.fault("begins no function; there are ceil, floor, min and max")
	default:
		p.fault("is not a number, a name or a parenthesis")
	}
}

// call reads the operands of a function, whose name is already read.
func (p *exprParser) call(o op, depth int) {
	p.at++
	p.operation(depth, levelSum)
	p.expect(operations[o].comma)
	p.operation(depth, levelSum)
	p.push(term{op: o})
	p.expect(')')
}

func (p *exprParser) expect(c byte) {
	if p.peek() != c {
		p.fault(fmt.Sprintf("stands where %q is needed", c))
		return
	}
	p.at++
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' }

// isIdentifier reports whether name can stand in an expression.
func isIdentifier(name string) bool {
	for i := range len(name) {
		if !isLetter(name[i]) && (i == 0 || !isDigit(name[i])) {
			return false
		}
	}
	return name != ""
}

// MarshalJSON writes a lone number as a number, any other expression as a
// string, and one that is not given as "".
func (e Expr) MarshalJSON() ([]byte, error) {
	if len(e.terms) == 1 && e.terms[0].op == opConst {
		return strconv.AppendInt(nil, e.terms[0].value, 10), nil
	}
	return json.Marshal(e.String())
}

// UnmarshalJSON reads a number, or a string as [ParseExpr] does; "" is an
// expression that is not given.
func (e *Expr) UnmarshalJSON(data []byte) error {
	text := string(bytes.TrimSpace(data))
	switch {
	case text == "null":
		return nil
	case text != "" && text[0] == '"':
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
		if text == "" {
			*e = Expr{}
			return nil
		}
	case text == "" || !isDigit(text[0]):
		return fmt.Errorf("%w: a size is a number or a string", ErrExpr)
	}
	got, err := ParseExpr(text)
	if err != nil {
		return err
	}
	*e = got
	return nil
}
