// Package extent holds the integers of a program that depend on its
// dimensions: extents of shapes, strides, offsets, attributes of ops.
//
// A [Dim] is a named extent with bounds, such as a batch of 1 to 8. A graph is
// built at a few points, each a choice of every dimension, and the numbers that
// stand in one place of all builds are handed to [Space.Fit], which finds the
// function that they are values of:
//
//	batch  seq   an extent     a stride
//	    3    7           21          14
//	    5   11           55          22
//	    ...          batch*seq     2*seq
//
// The functions of a space are evaluated together, once for a run; a [Func] is
// then an index into the results.
package extent

import (
	"fmt"
	"slices"
	"strings"
)

// A Dim is a named dimension of a program. A run may choose any extent from Min
// to Max, both included.
type Dim struct {
	Name     string
	Min, Max int
}

// Fixed reports whether the dimension has one extent only.
func (d Dim) Fixed() bool { return d.Min == d.Max }

// A Point is a choice of extents, one for each dimension of a space in order.
type Point []int

// A Func is an integer function of the dimensions, by its number in a [Space].
// The zero Func is the constant 0 in every space.
type Func int32

// A Kind says how a function follows from others.
type Kind uint8

// The kinds.
const (
	Constant Kind = iota // C
	Variable             // dimension number C
	Sum                  // A + B
	Product              // A * B
	Quotient             // A / C, rounded down; C is positive, and B the constant 0
	Least                // min(A, B)
	Greatest             // max(A, B)
)

// A Form is a function in terms of earlier ones.
type Form struct {
	Kind Kind
	A, B Func
	C    int
}

// A Space is a set of functions of some dimensions. It grows as functions are
// fitted, and is not safe for concurrent use until it stops growing.
type Space struct {
	dims   []Dim
	points []Point // at which functions are learned
	forms  []Form
	number map[Form]Func
	at     [][]int // the values of each function at the points

	known []Func          // what others are likely to be made of, dimensions first
	fits  map[string]Func // by values at the points
}

// NewSpace returns the functions of dims, to be learned at the given points.
func NewSpace(dims []Dim, points []Point) *Space {
	s := &Space{dims: dims, points: points, number: make(map[Form]Func), fits: make(map[string]Func)}
	s.Const(0)
	for i, d := range dims {
		if !d.Fixed() {
			s.known = append(s.known, s.Dim(i))
		}
	}
	return s
}

// Dims returns the dimensions, which must not be changed.
func (s *Space) Dims() []Dim { return s.dims }

// Form returns what f is made of.
func (s *Space) Form(f Func) Form { return s.forms[f] }

// Len returns the number of functions.
func (s *Space) Len() int { return len(s.forms) }

// Const returns the function that is c everywhere.
func (s *Space) Const(c int) Func { return s.add(Form{Kind: Constant, C: c}) }

// Dim returns the function that is dimension number i.
func (s *Space) Dim(i int) Func {
	if d := s.dims[i]; d.Fixed() {
		return s.Const(d.Min)
	}
	return s.add(Form{Kind: Variable, C: i})
}

// Sum returns f + g.
func (s *Space) Sum(f, g Func) Func {
	a, b := s.forms[f], s.forms[g]
	switch {
	case a.Kind == Constant && b.Kind == Constant:
		return s.Const(a.C + b.C)
	case f == 0:
		return g
	case g == 0:
		return f
	}
	return s.add(Form{Kind: Sum, A: f, B: g})
}

// Product returns f * g.
func (s *Space) Product(f, g Func) Func {
	a, b := s.forms[f], s.forms[g]
	switch {
	case a.Kind == Constant && b.Kind == Constant:
		return s.Const(a.C * b.C)
	case f == 0 || g == 0:
		return 0
	case a == (Form{Kind: Constant, C: 1}):
		return g
	case b == (Form{Kind: Constant, C: 1}):
		return f
	}
	return s.add(Form{Kind: Product, A: f, B: g})
}

// Quotient returns f / c rounded down; c is positive.
func (s *Space) Quotient(f Func, c int) Func {
	if c == 1 {
		return f
	}
	return s.add(Form{Kind: Quotient, A: f, C: c})
}

// add returns the number of a form.
func (s *Space) add(f Form) Func {
	if n, ok := s.number[f]; ok {
		return n
	}
	n := Func(len(s.forms))
	s.forms = append(s.forms, f)
	s.number[f] = n
	values := make([]int, len(s.points))
	for i, p := range s.points {
		values[i] = s.At(n, p)
	}
	s.at = append(s.at, values)
	return n
}

func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// at computes a form at a point, where the functions it is made of have the values
// a and b.
func (g *Form) at(p Point, a, b int) int {
	switch g.Kind {
	case Constant:
		return g.C
	case Variable:
		return p[g.C]
	case Sum:
		return a + b
	case Product:
		return a * b
	case Quotient:
		return floorDiv(a, g.C)
	case Least:
		return min(a, b)
	}
	return max(a, b)
}

// Eval computes all functions at a point into values, which is [Space.Len]
// long. It allocates nothing.
func (s *Space) Eval(p Point, values []int) {
	for i := range s.forms {
		f := &s.forms[i]
		values[i] = f.at(p, values[f.A], values[f.B])
	}
}

// At computes one function at a point. It allocates nothing.
func (s *Space) At(f Func, p Point) int {
	g := &s.forms[f]
	if g.Kind == Constant || g.Kind == Variable {
		return g.at(p, 0, 0)
	}
	return g.at(p, s.At(g.A, p), s.At(g.B, p))
}

// Constant returns the value of f if it is the same everywhere.
func (s *Space) Constant(f Func) (c int, ok bool) {
	return s.forms[f].C, s.forms[f].Kind == Constant
}

// Uses returns the set of dimensions that f depends on, a bit for each.
func (s *Space) Uses(f Func) uint64 {
	g := s.forms[f]
	switch g.Kind {
	case Constant:
		return 0
	case Variable:
		return 1 << g.C
	}
	return s.Uses(g.A) | s.Uses(g.B)
}

// Range returns bounds of f over the bounds of the dimensions: no value lies
// outside [lo, hi], both included. They are exact where each dimension occurs
// once.
func (s *Space) Range(f Func) (lo, hi int) {
	g := s.forms[f]
	switch g.Kind {
	case Constant:
		return g.C, g.C
	case Variable:
		return s.dims[g.C].Min, s.dims[g.C].Max
	}
	la, ha := s.Range(g.A)
	lb, hb := s.Range(g.B)
	if g.Kind == Product {
		all := []int{la * lb, la * hb, ha * lb, ha * hb}
		return slices.Min(all), slices.Max(all)
	}
	return g.at(nil, la, lb), g.at(nil, ha, hb) // the others grow with both
}

// String prints f as in "2*seq+past" or "floor((width+1)/2)".
func (s *Space) String(f Func) string { return s.text(f, 0) }

// text prints f for a place that binds as strongly as level: 0 anything, 1 a
// factor.
func (s *Space) text(f Func, level int) string {
	g := s.forms[f]
	switch g.Kind {
	case Constant:
		return fmt.Sprint(g.C)
	case Variable:
		return s.dims[g.C].Name
	case Quotient:
		return fmt.Sprintf("floor(%s/%d)", s.text(g.A, 1), g.C)
	case Product:
		return s.text(g.A, 1) + "*" + s.text(g.B, 1)
	case Least:
		return fmt.Sprintf("min(%s, %s)", s.text(g.A, 0), s.text(g.B, 0))
	case Greatest:
		return fmt.Sprintf("max(%s, %s)", s.text(g.A, 0), s.text(g.B, 0))
	}
	text := s.text(g.A, 0) + "+" + s.text(g.B, 0)
	text = strings.ReplaceAll(text, "+-", "-")
	if level > 0 {
		return "(" + text + ")"
	}
	return text
}

// With prints a point as in " with batch=4", for messages, and nothing where there
// are no dimensions.
func (s *Space) With(p Point) string {
	if len(s.dims) == 0 {
		return ""
	}
	return " with " + Text(s.dims, p)
}

// Text prints a point as in "batch=4 seq=128".
func Text(dims []Dim, p Point) string {
	words := make([]string, len(dims))
	for i, d := range dims {
		words[i] = fmt.Sprintf("%s=%d", d.Name, p[i])
	}
	return strings.Join(words, " ")
}
