package compile

import "fmt"

// A Poly is an integer as a function of the number of rows: f(1), and the
// first and second differences, by Newton's forward formula.
type Poly struct {
	First, Slope, Bend int
}

// At returns the number for r rows.
func (p Poly) At(r int) int {
	r--
	return p.First + p.Slope*r + p.Bend*(r*(r-1)/2)
}

// fit returns the polynomial with the given values at the sampled rows.
func fit(samples, values []int) (Poly, error) {
	p := Poly{First: values[0]}
	if len(samples) > 1 {
		p.Slope = (values[1] - values[0]) / (samples[1] - samples[0])
	}
	if len(samples) > 2 && samples[2] == 3 {
		p.Bend = values[2] - 2*values[1] + values[0]
	}
	for i, r := range samples {
		if p.At(r) != values[i] {
			return p, fmt.Errorf("values %v at %v rows follow no polynomial of degree 2", values, samples)
		}
	}
	return p, nil
}

// constant returns the polynomial that is n at any number of rows.
func constant(n int) Poly { return Poly{First: n} }

// isConstant reports whether the rows do not matter.
func (p Poly) isConstant() bool { return p.Slope == 0 && p.Bend == 0 }

// isMultiple reports whether the number is a multiple of the rows.
func (p Poly) isMultiple() bool { return p.Bend == 0 && p.First == p.Slope }

// Rows returns the number of rows, from 1 to most, at which the number is n. It
// returns 0 when the rows do not matter and n is right, and false when n is
// the number for no rows.
func (p Poly) Rows(n, most int) (int, bool) {
	if p.isConstant() || most == 1 {
		return 0, n == p.At(1)
	}
	// Sizes grow with the rows.
	lo, hi := 1, most
	for lo < hi {
		if mid := lo + (hi-lo)/2; p.At(mid) < n {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, p.At(lo) == n
}
