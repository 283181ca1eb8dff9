package extent

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// An AmbiguousError says that several functions have the values that are
// known, and a point at which two of them differ: to learn there tells more.
type AmbiguousError struct {
	Dims  []Dim
	Point Point
}

func (e *AmbiguousError) Error() string {
	return "several functions fit; they differ at " + Text(e.Dims, e.Point)
}

// Fit returns the function with the given values at the first points of the
// space, as many as there are values. Where, unless it is nil, says at which of
// them the value counts.
//
// The functions tried, in this order: constants; c + c·f of a function f met
// before; c + c·d of all dimensions d; products of functions met before;
// c + c·floor((c·d+c)/c), as the extents behind a strided convolution or a resize are;
// polynomials of degree 2; lines with a bend or two, as extents that are cut off at a
// bound are; and sums of multiples of functions met before, as those of
// concatenations are.
// Every function has fewer coefficients than there are points, so that the
// others check it. The error is an [AmbiguousError], or names the values that
// no such function has.
func (s *Space) Fit(values []int, where []bool) (Func, error) {
	var rows []int
	key := make([]byte, 0, 8*len(values))
	for i, v := range values {
		if where == nil || where[i] {
			rows = append(rows, i)
			key = strconv.AppendInt(key, int64(v), 36)
		}
		key = append(key, ' ')
	}
	if f, ok := s.fits[string(key)]; ok {
		return f, nil
	}
	t := fitter{s, values, rows}
	f, err := t.fit()
	if err != nil {
		return 0, err
	}
	s.fits[string(key)] = f
	if s.forms[f].Kind != Constant && !slices.Contains(s.known, f) {
		s.known = append(s.known, f)
	}
	return f, nil
}

// A fitter looks for the function with some values at some rows of the points.
type fitter struct {
	*Space
	values []int
	rows   []int
}

const deepest = 4 // factors of a product

func (t fitter) fit() (Func, error) {
	if f, ok := t.simple(); ok {
		return f, nil
	}
	if f, ok := t.product(deepest); ok {
		return f, nil
	}
	if f, ok, err := t.rounded(); ok || err != nil {
		return f, err
	}
	if f, ok := t.polynomial(2); ok {
		return f, nil
	}
	f, ok, more := t.bent()
	if !ok {
		f, ok = t.combination(append([]Func{t.Const(1)}, t.known...))
	}
	switch {
	case ok:
		return f, nil
	case more != nil:
		return 0, more
	}
	return 0, t.fault()
}

// simple tries constants and linear functions.
func (t fitter) simple() (Func, bool) {
	if len(t.rows) == 0 {
		return t.Const(0), true
	}
	first := t.values[t.rows[0]]
	if t.all(func(i int) bool { return t.values[i] == first }) {
		return t.Const(first), true
	}
	for _, f := range t.known {
		if c0, c1, ok := t.linear(t.at[f]); ok {
			return t.Sum(t.Product(t.Const(c1), f), t.Const(c0)), true
		}
	}
	return t.polynomial(1)
}

func (t fitter) all(holds func(i int) bool) bool {
	return !slices.ContainsFunc(t.rows, func(i int) bool { return !holds(i) })
}

// linear returns c0 and c1 with values = c0 + c1*x, for integers x by point.
func (t fitter) linear(x []int) (c0, c1 int, ok bool) {
	i := t.rows[0]
	for _, j := range t.rows[1:] {
		if x[j] == x[i] {
			continue
		}
		if c1 = (t.values[j] - t.values[i]) / (x[j] - x[i]); c1 == 0 {
			return 0, 0, false
		}
		c0 = t.values[i] - c1*x[i]
		return c0, c1, t.all(func(k int) bool { return t.values[k] == c0+c1*x[k] })
	}
	return 0, 0, false
}

// product tries known functions that divide the values, and what is left.
func (t fitter) product(depth int) (Func, bool) {
	if depth == 0 {
		return 0, false
	}
	rest := fitter{t.Space, make([]int, len(t.values)), t.rows}
	for _, f := range t.known {
		x := t.at[f]
		if !t.all(func(i int) bool { return x[i] != 0 && t.values[i]%x[i] == 0 }) {
			continue
		}
		for _, i := range t.rows {
			rest.values[i] = t.values[i] / x[i]
		}
		g, ok := rest.simple()
		if !ok {
			g, ok = rest.product(depth - 1)
		}
		if ok {
			return t.Product(f, g), true
		}
	}
	return 0, false
}

// polynomial tries a polynomial in all dimensions.
func (t fitter) polynomial(degree int) (Func, bool) {
	basis := []Func{t.Const(1)}
	for i, d := range t.dims {
		if d.Fixed() {
			continue
		}
		basis = append(basis, t.Dim(i))
	}
	if n := len(basis); degree == 2 {
		for i := 1; i < n; i++ {
			for j := i; j < n; j++ {
				basis = append(basis, t.Product(basis[i], basis[j]))
			}
		}
	}
	return t.combination(basis)
}

// combination tries the sum of multiples of functions, the first of which is 1.
func (t fitter) combination(basis []Func) (Func, bool) {
	c, ok := t.solve(basis)
	if !ok {
		return 0, false
	}
	var f Func
	terms := 0
	for i := len(basis) - 1; i > 0; i-- {
		if c[i] != 0 {
			f = t.Sum(t.Product(t.Const(c[i]), basis[i]), f)
			terms++
		}
	}
	return t.Sum(f, t.Const(c[0])), terms+1 < len(t.rows)
}

// solve returns integers c with values = Σ c[k]·basis[k], by elimination in
// floating point and a check in integers. Of functions that depend on each other
// at the points the later ones get 0.
func (t fitter) solve(basis []Func) ([]int, bool) {
	n := len(basis)
	m := make([][]float64, len(t.rows))
	for r, i := range t.rows {
		m[r] = make([]float64, n+1)
		for k, f := range basis {
			m[r][k] = float64(t.at[f][i])
		}
		m[r][n] = float64(t.values[i])
	}
	pivot := make([]int, n) // the row of each column, or -1
	next := 0
	for k := range n {
		pivot[k] = -1
		best := next
		for r := next; r < len(m); r++ {
			if math.Abs(m[r][k]) > math.Abs(m[best][k]) {
				best = r
			}
		}
		if next == len(m) || math.Abs(m[best][k]) < 1e-6 {
			continue
		}
		m[next], m[best] = m[best], m[next]
		for r := range m {
			if r == next {
				continue
			}
			scale := m[r][k] / m[next][k]
			for j := k; j <= n; j++ {
				m[r][j] -= scale * m[next][j]
			}
		}
		pivot[k] = next
		next++
	}
	c := make([]int, n)
	for k, r := range pivot {
		if r >= 0 {
			c[k] = int(math.Round(m[r][n] / m[r][k]))
		}
	}
	return c, t.all(func(i int) bool {
		total := 0
		for k, f := range basis {
			total += c[k] * t.at[f][i]
		}
		return total == t.values[i]
	})
}

// fault is the error about values that no function tried has.
func (t fitter) fault() error {
	const shown = 4
	var known []string
	for _, i := range t.rows[:min(shown, len(t.rows))] {
		known = append(known, fmt.Sprintf("%d at %s", t.values[i], Text(t.dims, t.points[i])))
	}
	if len(t.rows) > shown {
		known = append(known, "...")
	}
	return fmt.Errorf("is no known function of the dimensions: %s", strings.Join(known, ", "))
}
