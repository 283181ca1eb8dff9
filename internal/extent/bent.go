package extent

import (
	"maps"
	"math"
	"slices"
)

// A piece is a line from x on with the slope. It cuts off what is greater of the
// lines before it, or what is less, as the kind Least or Greatest says.
type piece struct {
	x, value, slope int
	kind            Kind
}

// bent tries lines joined end to end over a function met before, as of an extent
// that is cut off at both ends:
//
//	     ____
//	____/        min(max(n-4, 0), 4)
//
// Lines are taken to meet in the gap between two that are known. Where they do not,
// more asks for what is there.
func (t fitter) bent() (f Func, ok bool, more error) {
	for _, x := range t.known {
		pieces, gaps := t.pieces(x)
		if len(pieces) > 0 && t.all(func(i int) bool { return valueAt(pieces, t.at[x][i]) == t.values[i] }) {
			return t.joined(pieces, x), true, nil
		}
		if form := t.forms[x]; form.Kind == Variable && len(gaps) > 0 && more == nil {
			p := slices.Clone(t.points[t.rows[0]])
			p[form.C] = gaps[0]
			more = &AmbiguousError{t.dims, p}
		}
	}
	return 0, false, more
}

// valueAt returns the value of joined lines at x.
func valueAt(pieces []piece, x int) int {
	v := math.MinInt
	for _, p := range pieces {
		line := p.value + p.slope*(x-p.x)
		if p.kind == Least {
			v = min(v, line)
		} else {
			v = max(v, line)
		}
	}
	return v
}

// joined returns the function that joined lines over a function x are.
func (t fitter) joined(pieces []piece, x Func) (f Func) {
	for i, p := range pieces {
		line := t.Sum(t.Product(t.Const(p.slope), x), t.Const(p.value-p.slope*p.x))
		if i == 0 {
			f = line
			continue
		}
		if _, constant := t.Constant(f); constant {
			f, line = line, f
		}
		f = t.add(Form{Kind: p.kind, A: f, B: line})
	}
	return f
}

// pieces returns the lines that the values are on over a function x, and the middle
// of each gap between two points that are on none of them. A line has two points
// that are neighbours, or three. Two bends, which may lie between whole numbers,
// make five lines and two gaps; there are none of either if there would be more, or
// if the values are not those of a function of x.
func (t fitter) pieces(x Func) (pieces []piece, gaps []int) {
	const lines, bends = 5, 2
	value := make(map[int]int)
	for _, i := range t.rows {
		at := t.at[x][i]
		if v, known := value[at]; known && v != t.values[i] {
			return nil, nil
		}
		value[at] = t.values[i]
	}
	xs := slices.Sorted(maps.Keys(value))
	slope := func(k int) float64 {
		if k < 0 || k+1 >= len(xs) {
			return math.NaN()
		}
		return float64(value[xs[k+1]]-value[xs[k]]) / float64(xs[k+1]-xs[k])
	}
	for k, at := range xs[:len(xs)-1] {
		switch here := slope(k); {
		case xs[k+1]-at > 1 && here != slope(k-1) && here != slope(k+1):
			gaps = append(gaps, (at+xs[k+1])/2)
		case here != math.Trunc(here):
			return nil, nil
		case len(pieces) == 0 || here != slope(k-1):
			p := piece{at, value[at], int(here), Greatest}
			if n := len(pieces); n > 0 && p.slope < pieces[n-1].slope {
				p.kind = Least
			}
			pieces = append(pieces, p)
		}
	}
	if len(pieces) > lines || len(gaps) > bends {
		return nil, nil
	}
	return pieces, gaps
}
