package circuit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
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
	if err := p.sum(0); err != nil {
		return Expr{}, err
	}
	if p.peek() != 0 || p.at < len(p.text) {
		return Expr{}, p.fault("does not belong here")
	}
	e := Expr{p.terms}
	if err := e.check(map[string]bool{RowsName: true}); err != nil {
		return Expr{}, err
	}
	return e, nil
}

type exprParser struct {
	text  string
	at    int
	terms []term
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

func (p *exprParser) fault(what string) error {
	text := p.text
	if len(text) > 80 {
		text = text[:80] + "..."
	}
	if p.at >= len(p.text) {
		return fmt.Errorf("%w: %q ends too early", ErrExpr, text)
	}
	return fmt.Errorf("%w: %q: byte %d, %q, %s", ErrExpr, text, p.at+1, p.text[p.at], what)
}

func (p *exprParser) push(t term) error {
	p.terms = append(p.terms, t)
	if len(p.terms) > maxTerms {
		return fmt.Errorf("%w: more than %d terms", ErrExpr, maxTerms)
	}
	return nil
}

func (p *exprParser) sum(depth int) error {
	if err := p.product(depth); err != nil {
		return err
	}
	for {
		o := opAdd
		switch p.peek() {
		case '+':
		case '-':
			o = opSub
		default:
			return nil
		}
		p.at++
		if err := p.product(depth); err != nil {
			return err
		}
		if err := p.push(term{op: o}); err != nil {
			return err
		}
	}
}

func (p *exprParser) product(depth int) error {
	if err := p.operand(depth); err != nil {
		return err
	}
	for p.peek() == '*' {
		p.at++
		if err := p.operand(depth); err != nil {
			return err
		}
		if err := p.push(term{op: opMul}); err != nil {
			return err
		}
	}
	return nil
}

func (p *exprParser) operand(depth int) error {
	c := p.peek()
	if depth >= maxNesting {
		return fmt.Errorf("%w: more than %d parentheses open at byte %d", ErrExpr, maxNesting, p.at+1)
	}
	from := p.at
	switch {
	case c == '(':
		p.at++
		if err := p.sum(depth + 1); err != nil {
			return err
		}
		return p.expect(')')
	case isDigit(c):
		for p.at < len(p.text) && isDigit(p.text[p.at]) {
			p.at++
		}
		v, err := strconv.ParseInt(p.text[from:p.at], 10, 64)
		if err != nil {
			return fmt.Errorf("%w: the number at byte %d of an expression", ErrOverflow, from+1)
		}
		return p.push(term{op: opConst, value: v})
	case !isLetter(c):
		return p.fault("is not a number, a name or a parenthesis")
	}
	for p.at < len(p.text) && (isLetter(p.text[p.at]) || isDigit(p.text[p.at])) {
		p.at++
	}
	name := p.text[from:p.at]
	if p.peek() != '(' {
		return p.push(term{op: opName, name: name})
	}
	for o := opCeil; o <= opMax; o++ {
		if o.function() == name {
			return p.call(o, depth+1)
		}
	}
	p.at = from
	return p.fault("begins no function; there are ceil, floor, min and max")
}

// call reads the operands of a function, whose name is already read.
func (p *exprParser) call(o op, depth int) error {
	p.at++
	if err := p.sum(depth); err != nil {
		return err
	}
	comma := byte(',')
	if o == opCeil || o == opFloor {
		comma = '/'
	}
	if err := p.expect(comma); err != nil {
		return err
	}
	if err := p.sum(depth); err != nil {
		return err
	}
	if err := p.push(term{op: o}); err != nil {
		return err
	}
	return p.expect(')')
}

func (p *exprParser) expect(c byte) error {
	if p.peek() != c {
		return p.fault(fmt.Sprintf("stands where %q is needed", c))
	}
	p.at++
	return nil
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
