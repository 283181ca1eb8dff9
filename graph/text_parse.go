package graph

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/shape"
)

// Parse builds the graph that text describes in the form of [Format], and
// returns its outputs. The function op parses an op with its attributes. An
// error names the line.
//
// Names may be any words of letters, digits and underscores; each stands for
// one node, and a node reads nodes of earlier lines only. Types behind a colon
// may be left out; where they are given they must be right. Empty lines, and
// lines that begin with #, mean nothing.
//
// Besides a list and base64, the data of a constant may be generated, for as
// many elements as its layout spans:
//
//	iota       0, 1, 2, ... (integers wrap)
//	fill(1.5)  the same element throughout
//	hash(7)    numbers that are the same for the same seed: in [-1, 1) for
//	           floating-point types, any bits for others
func Parse(text string, op func(string) (Op, error)) ([]Value, error) {
	p := textParser{op: op, nodes: make(map[string]*Node)}
	line := 0
	for s := range strings.Lines(text) {
		line++
		s = strings.TrimSpace(s)
		if s == "" || s[0] == '#' {
			continue
		}
		if err := p.line(s); err != nil {
			return nil, fmt.Errorf("graph: line %d: %w", line, err)
		}
	}
	return p.outs, nil
}

type textParser struct {
	op    func(string) (Op, error)
	nodes map[string]*Node
	outs  []Value
}

func (p *textParser) line(s string) error {
	if rest, ok := strings.CutPrefix(s, "out "); ok {
		v, err := p.value(strings.TrimSpace(rest))
		if err == nil && v.IsZero() {
			err = fmt.Errorf("an output cannot be absent")
		}
		p.outs = append(p.outs, v)
		return err
	}
	name, rest, ok := strings.Cut(s, "=")
	if name = strings.TrimSpace(name); !ok || !isName(name) {
		return fmt.Errorf("expected a node, as in n1 = input \"x\" float32[2], or an output, as in out n1")
	}
	if p.nodes[name] != nil {
		return fmt.Errorf("%s is defined twice", name)
	}
	n, rest, err := p.node(strings.TrimSpace(rest))
	if err != nil {
		return err
	}
	if rest != "" {
		label, err := strconv.Unquote(rest)
		if err != nil {
			return fmt.Errorf("expected a label in quotes or the end of the line at %q", rest)
		}
		n.WithLabel(label)
	}
	p.nodes[name] = n
	return nil
}

// isName reports a name that a node may have; "_" alone is an absent value.
func isName(s string) bool {
	for i, r := range s {
		switch {
		case r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
		case r >= '0' && r <= '9' && i > 0:
		default:
			return false
		}
	}
	return s != "" && s != "_"
}

// value returns the value that s names.
func (p *textParser) value(s string) (Value, error) {
	if s == "_" {
		return Value{}, nil
	}
	i, err := 0, error(nil)
	name, index, ok := strings.Cut(s, ".")
	if ok {
		i, err = strconv.Atoi(index)
	}
	if err != nil || !isName(name) {
		return Value{}, fmt.Errorf("%q is not the name of a value, such as n1 or n1.1", s)
	}
	n := p.nodes[name]
	if n == nil {
		return Value{}, fmt.Errorf("%s is not defined on an earlier line", name)
	}
	if i < 0 || i >= n.NumOutputs() {
		return Value{}, fmt.Errorf("%s has no output %d: it has %d", name, i, n.NumOutputs())
	}
	return n.Output(i), nil
}

// node parses what stands behind the equals sign, and returns what is left of
// the line.
func (p *textParser) node(s string) (*Node, string, error) {
	word, rest := cutOp(s)
	rest = strings.TrimSpace(rest)
	switch word {
	case "input":
		return parseInput(rest)
	case "constant":
		return parseConstant(rest)
	}
	o, err := p.op(word)
	if err != nil {
		return nil, "", err
	}
	var ins []Value
	for rest != "" && rest[0] != ':' && rest[0] != '"' {
		end := strings.IndexAny(rest, " :\"")
		if end < 0 {
			end = len(rest)
		}
		v, err := p.value(rest[:end])
		if err != nil {
			return nil, "", err
		}
		ins = append(ins, v)
		rest = strings.TrimSpace(rest[end:])
	}
	n, err := New(o, ins...)
	if err != nil {
		return nil, "", err
	}
	if types, ok := strings.CutPrefix(rest, ":"); ok {
		if rest, err = checkTypes(n, types); err != nil {
			return nil, "", err
		}
	}
	return n, rest, nil
}

// cutOp splits s behind the op it begins with: a name and, in braces, its
// attributes, in which quoted strings may hold braces of their own.
func cutOp(s string) (op, rest string) {
	end := strings.IndexAny(s, " {")
	if end < 0 {
		return s, ""
	}
	if s[end] == ' ' {
		return s[:end], s[end:]
	}
	for end < len(s) {
		switch s[end] {
		case '"':
			quoted, err := strconv.QuotedPrefix(s[end:])
			if err != nil {
				return s, "" // which the parser of ops refuses
			}
			end += len(quoted)
			continue
		case '}':
			return s[:end+1], s[end+1:]
		}
		end++
	}
	return s, ""
}

// checkTypes compares the types that s begins with to the outputs of n, and
// returns the rest of s.
func checkTypes(n *Node, s string) (rest string, err error) {
	var stated []Type
	for {
		var t Type
		if t, s, err = cutType(strings.TrimSpace(s)); err != nil {
			return "", err
		}
		stated = append(stated, t)
		next, more := strings.CutPrefix(s, ",")
		if s = next; !more {
			break
		}
	}
	if !slices.EqualFunc(stated, n.outs, Type.Equal) {
		return "", fmt.Errorf("%v has outputs %v, the line states %v", n, n.outs, stated)
	}
	return strings.TrimSpace(s), nil
}

// cutType parses the type that s begins with, such as float32[2 3].
func cutType(s string) (t Type, rest string, err error) {
	name, rest, ok := strings.Cut(s, "[")
	dims, rest, closed := strings.Cut(rest, "]")
	if !ok || !closed {
		return Type{}, "", fmt.Errorf("expected a type, such as float32[2 3], at %q", s)
	}
	if t.DType, err = dtype.Parse(name); err != nil {
		return Type{}, "", err
	}
	if t.Shape, err = parseInts(dims); err != nil {
		return Type{}, "", err
	}
	return t, strings.TrimSpace(rest), t.Check()
}

func parseInts(s string) (list []int, err error) {
	list = []int{}
	for word := range strings.FieldsSeq(s) {
		n, err := strconv.Atoi(word)
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, nil
}

func parseInput(s string) (n *Node, rest string, err error) {
	quoted, err := strconv.QuotedPrefix(s)
	if err != nil {
		return nil, "", fmt.Errorf("expected the key of an input in quotes at %q", s)
	}
	key, err := strconv.Unquote(quoted)
	if err != nil {
		return nil, "", err
	}
	t, rest, err := cutType(strings.TrimSpace(s[len(quoted):]))
	if err != nil {
		return nil, "", err
	}
	n, err = NewInput(key, t)
	return n, rest, err
}

func parseConstant(s string) (n *Node, rest string, err error) {
	t, rest, err := cutType(s)
	if err != nil {
		return nil, "", err
	}
	l := shape.Dense(t.Shape)
	if list, ok := strings.CutPrefix(rest, "strides="); ok {
		words, open := strings.CutPrefix(list, "[")
		words, after, closed := strings.Cut(words, "]")
		if !open || !closed {
			return nil, "", fmt.Errorf("expected a list, as in strides=[0 1], at %q", rest)
		}
		if l.Strides, err = parseInts(words); err != nil {
			return nil, "", fmt.Errorf("strides: %w", err)
		}
		rest = strings.TrimSpace(after)
	}
	if number, ok := strings.CutPrefix(rest, "offset="); ok {
		number, after, _ := strings.Cut(number, " ")
		if l.Offset, err = strconv.Atoi(number); err != nil {
			return nil, "", err
		}
		rest = strings.TrimSpace(after)
	}
	rest, ok := strings.CutPrefix(rest, "data=")
	if !ok {
		return nil, "", fmt.Errorf("expected the data of a constant, as in data=[1 2 3], at %q", rest)
	}
	data, rest, err := parseData(t, l, rest)
	if err != nil {
		return nil, "", err
	}
	n, err = NewConstant(t, Leaf{Layout: l, Data: data})
	return n, rest, err
}
