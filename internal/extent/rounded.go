package extent

import (
	"math"
	"slices"
)

// A ratio is num/den. Of a den of 0 it is beyond all others, on the side that the
// sign of num says.
type ratio struct{ num, den int }

func (r ratio) less(s ratio) bool { return r.num*s.den < s.num*r.den }

func (r ratio) float() float64 { return float64(r.num) / float64(r.den) }

// A step is a value of a line at x that is rounded down: the line passes at v or
// above, and below v+1.
type step struct{ x, v int }

// slopes are those between lo and hi, neither included.
type slopes struct{ lo, hi ratio }

// through returns the slopes, out of s, that lines have which pass p and each of the
// steps. If every two steps have a line through both, of one slope, all of them have.
func (s slopes) through(p step, steps []step) slopes {
	for _, q := range steps {
		run, rise := q.x-p.x, q.v-p.v
		if run < 0 {
			run, rise = -run, -rise
		}
		if run == 0 {
			if rise != 0 {
				return slopes{}
			}
			continue
		}
		if lo := (ratio{rise - 1, run}); s.lo.less(lo) {
			s.lo = lo
		}
		if hi := (ratio{rise + 1, run}); hi.less(s.hi) {
			s.hi = hi
		}
	}
	return s
}

func (s slopes) empty() bool { return !s.lo.less(s.hi) }

// simplest returns the slope of the least denominator, found as a continued fraction.
// There must be a slope, and lo be finite.
func (s slopes) simplest() ratio {
	whole := floorDiv(s.lo.num, s.lo.den)
	if next := (ratio{whole + 1, 1}); next.less(s.hi) {
		return next
	}
	inverse := slopes{ratio{s.hi.den, s.hi.num - whole*s.hi.den}, ratio{s.lo.den, s.lo.num - whole*s.lo.den}}
	r := inverse.simplest()
	return ratio{whole*r.num + r.den, r.num}
}

// rounded tries multiples of a line over a dimension, or over a sum of dimensions,
// that is rounded down:
//
//	floor((n-7)/4) + 1    the extent behind a convolution of stride 4
//	floor(7*n/10)         that behind a resize to 0.7 of the size
//
// Where several lines pass the values that are known, it asks for the one that tells
// most.
func (t fitter) rounded() (Func, bool, error) {
	const coefficients = 4
	if len(t.rows) <= coefficients {
		return 0, false, nil
	}
	for _, atom := range t.known {
		if !t.linearInDims(atom) {
			continue
		}
		steps, scale := t.steps(atom)
		all := slopes{ratio{-1, 0}, ratio{1, 0}}
		for i, p := range steps {
			all = all.through(p, steps[:i])
		}
		if all.empty() {
			continue
		}
		slope := all.simplest()
		l := line{slope: slope, shift: math.MinInt}
		for _, p := range steps {
			l.shift = max(l.shift, p.v*slope.den-p.x*slope.num)
		}
		whole := floorDiv(l.shift, slope.den) // the rest of shift is below den
		numerator := t.Sum(t.Product(t.Const(slope.num), atom), t.Const(l.shift-whole*slope.den))
		f := t.Sum(t.Product(t.Const(scale), t.Quotient(numerator, slope.den)), t.Const(t.values[t.rows[0]]+scale*whole))
		return f, true, t.only(l, atom, steps, all)
	}
	return 0, false, nil
}

// steps returns the values over a function x, less the first of them and divided by the
// greatest scale that divides all.
func (t fitter) steps(x Func) (steps []step, scale int) {
	first := t.values[t.rows[0]]
	for _, i := range t.rows {
		steps = append(steps, step{t.at[x][i], t.values[i] - first})
		if scale = gcd(scale, steps[len(steps)-1].v); scale < 0 {
			scale = -scale
		}
	}
	for i := range steps {
		steps[i].v /= scale
	}
	return steps, scale
}

// A line is (slope.num*x + shift) / slope.den.
type line struct {
	slope ratio
	shift int
}

func (l line) at(x int) int { return floorDiv(l.slope.num*x+l.shift, l.slope.den) }

// rivals returns the largest denominator of the slopes that are to be told from that
// of l. A stride makes slopes of 1/k, which are far more likely than what differs
// little from them and is less simple. Of all others none is more likely than the next.
func (l line) rivals() int {
	const coarsest = 64
	if k := l.slope.den; (l.slope.num-1)%k == 0 || (l.slope.num+1)%k == 0 {
		return max(coarsest, k)
	}
	return math.MaxInt
}

// only returns an error unless l, over a function x, is the same within the bounds as
// every other line through the steps. It holds the point that leaves the fewest slopes.
func (t fitter) only(l line, x Func, steps []step, all slopes) error {
	var best error
	least := math.Inf(1)
	rivals := l.rivals()
	t.walk(x, func(p Point) {
		at := t.At(x, p)
		lines, left := 0, 0.0
		for v := l.at(at) - 1; v <= l.at(at)+1; v++ {
			s := all.through(step{at, v}, steps)
			if s.empty() || v != l.at(at) && s.simplest().den > rivals {
				continue
			}
			lines++
			left = max(left, s.hi.float()-s.lo.float())
		}
		if lines > 1 && left < least {
			least, best = left, &AmbiguousError{t.dims, slices.Clone(p)}
		}
	})
	return best
}

// walk calls visit with points at which f has all values that it has within the
// bounds, or as many as there is time for: from the least extents of the dimensions
// that f is a sum of, but for 0 and 1, it raises one after the other to the largest.
func (t fitter) walk(f Func, visit func(p Point)) {
	const most = 1 << 14 // points for each dimension
	p := slices.Clone(t.points[t.rows[0]])
	uses := t.Uses(f)
	for i, d := range t.dims {
		if uses>>i&1 == 1 {
			p[i] = min(max(d.Min, 2), d.Max)
		}
	}
	visit(p)
	for i, d := range t.dims {
		if uses>>i&1 == 0 {
			continue
		}
		for stride := (d.Max-d.Min)/most + 1; p[i] < d.Max; {
			p[i] = min(p[i]+stride, d.Max)
			visit(p)
		}
	}
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
