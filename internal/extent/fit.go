package extent

import (
	"fmt"
	"math"
	"slices"
	"strconv"
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
// c + c·floor((d+c)/c), as the extents behind a strided convolution are;
// polynomials of degree 2; and the lesser or greater of such a one and a constant.
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
	if f, ok := t.bounded(); ok {
		return f, nil
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

// coarsest is the largest divisor that rounded tries beside those that the values
// themselves suggest.
const coarsest = 64

// rounded tries linear functions of a dimension, or of a sum of dimensions,
// divided by a number and rounded down.
func (t fitter) rounded() (Func, bool, error) {
	const coefficients = 4
	if len(t.rows) <= coefficients {
		return 0, false, nil
	}
	for _, atom := range t.known {
		if !t.linearInDims(atom) {
			continue
		}
		var found []Func
		x := make([]int, len(t.values))
		try := func(k int) {
			for q := range k {
				for _, i := range t.rows {
					x[i] = floorDiv(t.at[atom][i]+q, k)
				}
				if c0, c1, ok := t.linear(x); ok {
					f := t.Quotient(t.Sum(atom, t.Const(q)), k)
					found = append(found, t.Sum(t.Product(t.Const(c1), f), t.Const(c0)))
				}
			}
		}
		for k := 2; k <= coarsest; k++ {
			try(k)
		}
		if lo, hi := t.divisors(atom); hi-lo <= coarsest {
			for k := max(lo, coarsest+1); k <= hi; k++ {
				try(k)
			}
		}
		if len(found) > 0 {
			return found[0], true, t.distinguish(found)
		}
	}
	return 0, false, nil
}

// divisors returns bounds of the numbers k for which the values may be those of
// floor((f+q)/k): over the values as a whole, f grows k times as fast.
func (t fitter) divisors(f Func) (lo, hi int) {
	first, last := t.rows[0], t.rows[0]
	for _, i := range t.rows {
		if t.at[f][i] < t.at[f][first] {
			first = i
		}
		if t.at[f][i] > t.at[f][last] {
			last = i
		}
	}
	dx, dv := t.at[f][last]-t.at[f][first], t.values[last]-t.values[first]
	if dv < 2 {
		return 1, 0
	}
	return dx / (dv + 1), dx/(dv-1) + 1
}

// linearInDims reports whether f is a sum of multiples of dimensions.
func (s *Space) linearInDims(f Func) bool {
	switch g := s.forms[f]; g.Kind {
	case Constant, Variable:
		return true
	case Sum:
		return s.linearInDims(g.A) && s.linearInDims(g.B)
	case Product:
		return s.forms[g.A].Kind == Constant && s.linearInDims(g.B)
	}
	return false
}

// distinguish returns an error unless all functions found are the same within
// the bounds. It holds the point that tells most of them apart.
func (t fitter) distinguish(found []Func) error {
	const most = 1 << 14 // points looked at
	uses := t.Uses(found[0])
	var best *AmbiguousError
	least := len(found) // that agree with the first
	for i, d := range t.dims {
		if uses>>i&1 == 0 {
			continue
		}
		p := slices.Clone(t.points[t.rows[0]])
		for p[i] = max(d.Min, 2); p[i] <= min(d.Max, d.Min+most); p[i]++ {
			want, agree := t.At(found[0], p), 0
			for _, f := range found {
				if t.At(f, p) == want {
					agree++
				}
			}
			if off := max(agree, len(found)-agree); agree < len(found) && off < least {
				least, best = off, &AmbiguousError{t.dims, slices.Clone(p)}
			}
			if least <= (len(found)+1)/2 && best != nil {
				return best
			}
		}
	}
	if best == nil {
		return nil
	}
	return best
}

// polynomial tries a polynomial in all dimensions.
func (t fitter) polynomial(degree int) (Func, bool) {
	basis := []Func{t.Const(1)}
	for i, d := range t.dims {
		if d.Fixed() {
			continue
		}
		v := t.Dim(i)
		basis = append(basis, v)
	}
	if n := len(basis); degree == 2 {
		for i := 1; i < n; i++ {
			for j := i; j < n; j++ {
				basis = append(basis, t.Product(basis[i], basis[j]))
			}
		}
	}
	if len(basis) > len(t.rows) || len(basis) < 2 {
		return 0, false
	}
	c, ok := t.solve(basis)
	if !ok {
		return 0, false
	}
	var f Func
	for i := len(basis) - 1; i > 0; i-- {
		f = t.Sum(t.Product(t.Const(c[i]), basis[i]), f)
	}
	return t.Sum(f, t.Const(c[0])), true
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

// bounded tries the lesser, the greater, or both, of a linear function and constants
// that several values are equal to.
func (t fitter) bounded() (Func, bool) {
	lo, hi := math.MaxInt, math.MinInt
	for _, i := range t.rows {
		lo, hi = min(lo, t.values[i]), max(hi, t.values[i])
	}
	for _, bound := range []struct {
		kind  Kind
		value int
	}{{Least, hi}, {Greatest, lo}} {
		free := fitter{t.Space, t.values, nil}
		for _, i := range t.rows {
			if t.values[i] != bound.value {
				free.rows = append(free.rows, i)
			}
		}
		if len(free.rows) == 0 || len(free.rows)+2 > len(t.rows) || len(t.rows) <= 4 {
			continue // a constant has no other side, and few values prove nothing
		}
		f, ok := free.simple()
		if _, constant := t.Constant(f); !ok || constant {
			f, ok = free.first(bound.value)
		}
		if !ok {
			f, ok = free.bounded() // from the other side
		}
		if !ok {
			continue
		}
		f = t.add(Form{Kind: bound.kind, A: f, B: t.Const(bound.value)})
		if t.all(func(i int) bool { return t.at[f][i] == t.values[i] }) {
			return f, true
		}
	}
	return 0, false
}

// first returns the line through the one value at the least extent of a dimension
// and what follows at the next one. Between the two there is nothing.
func (t fitter) first(next int) (Func, bool) {
	value := t.values[t.rows[0]]
	for i, d := range t.dims {
		if d.Fixed() || !t.all(func(k int) bool { return t.points[k][i] == d.Min && t.values[k] == value }) {
			continue
		}
		// value + (next-value) * (dim-Min)
		steps := t.Sum(t.Dim(i), t.Const(-d.Min))
		return t.Sum(t.Product(t.Const(next-value), steps), t.Const(value)), true
	}
	return 0, false
}

// fault is the error about values that no function tried has.
func (t fitter) fault() error {
	const shown = 4
	text := ""
	for n, i := range t.rows {
		if n == shown {
			text += ", ..."
			break
		}
		if n > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%d at %s", t.values[i], Text(t.dims, t.points[i]))
	}
	return fmt.Errorf("is no known function of the dimensions: %s", text)
}
