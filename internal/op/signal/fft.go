package signal

import (
	"math"
	"math/bits"
)

// A transform computes
//
//	y[k] = sum over j of x[j] * exp(-2πi*j*k/n), k in [0, n)
//
// in about n*log(n) steps. Where the prime factors of n are small, a stage for
// each of them splits the sum (Stockham's form, which needs no reordering);
// otherwise Bluestein's algorithm makes it a convolution with a chirp, of a
// length that is a power of 2. See C. Van Loan, Computational Frameworks for
// the Fast Fourier Transform, 1992, sections 1.7 and 4.2.
type transform struct {
	n      int
	stages stages
	chirp  []complex128 // exp(-πi*j²/n); nil where there are stages for n itself
	filter []complex128 // the transform of the chirp's inverse, as long as the stages
}

// mostRadix is the largest prime factor that gets a stage: one of factor r takes
// about n*r steps.
const mostRadix = 31

func newTransform(n int) *transform {
	t := &transform{n: n}
	if factors := factorize(n); len(factors) == 0 || factors[len(factors)-1] <= mostRadix {
		t.stages = newStages(n, factors)
		return t
	}
	m := workLength(n)
	t.stages = newStages(m, factorize(m))
	t.chirp = make([]complex128, n)
	inverse := make([]complex128, m)
	for j := range t.chirp {
		square := j * j % (2 * n) // as exp has the period 2πi
		t.chirp[j] = unit(square, 2*n)
		inverse[j] = conj(t.chirp[j])
		inverse[(m-j)%m] = inverse[j]
	}
	t.filter = t.stages.run(inverse, make([]complex128, m))
	return t
}

// workLength returns how many elements run needs for each of its two slices.
func workLength(n int) int { return 1 << bits.Len(uint(2*n-2)) }

// run transforms the first n elements of x, and returns the result as the first
// n elements of x or of work. Both are at least workLength(n) long, and hold
// anything else afterwards.
func (t *transform) run(x, work []complex128) []complex128 {
	if t.chirp == nil {
		return t.stages.run(x[:t.n], work[:t.n])
	}
	m := len(t.filter)
	x, work = x[:m], work[:m]
	for j, c := range t.chirp {
		x[j] = mul(x[j], c)
	}
	clear(x[t.n:])
	y := t.stages.run(x, work)
	for k, f := range t.filter {
		y[k] = conj(mul(y[k], f))
	}
	other := work
	if &y[0] == &work[0] {
		other = x
	}
	// The inverse transform is that of the conjugates, conjugated.
	y = t.stages.run(y, other)
	scale := 1 / float64(m)
	for k, c := range t.chirp {
		y[k] = mul(complex(real(y[k])*scale, -imag(y[k])*scale), c)
	}
	return y[:t.n]
}

// stages transform a length with a stage for each of its prime factors.
type stages struct {
	factors []int
	roots   []complex128 // exp(-2πi*k/n), k in [0, n)
}

func newStages(n int, factors []int) stages {
	s := stages{factors: factors, roots: make([]complex128, n)}
	for k := range s.roots {
		s.roots[k] = unit(k, n)
	}
	return s
}

// run transforms x, and returns the result in x or in work. Stage after stage,
// with radix r, from x to y: there are s interleaved transforms of length r*m,
// each of which becomes r interleaved ones of length m.
func (t stages) run(x, work []complex128) []complex128 {
	n, s := len(x), 1
	y := work
	for _, r := range t.factors {
		m := n / s / r
		for p := range m {
			for q := range s {
				from, to := x[s*p+q:], y[s*r*p+q:]
				if r == 2 {
					a, b := from[0], from[s*m]
					to[0], to[s] = a+b, mul(a-b, t.roots[p*s])
					continue
				}
				for k := range r {
					sum := from[0]
					for j, at := 1, k; j < r; j, at = j+1, (at+k)%r {
						sum += mul(from[j*s*m], t.roots[at*(n/r)])
					}
					to[k*s] = mul(sum, t.roots[p*k*s])
				}
			}
		}
		x, y = y, x
		s *= r
	}
	return x
}

// factorize returns the prime factors of n in ascending order.
func factorize(n int) []int {
	var list []int
	for f := 2; f*f <= n; f++ {
		for n%f == 0 {
			list = append(list, f)
			n /= f
		}
	}
	if n > 1 {
		list = append(list, n)
	}
	return list
}

// unit returns exp(-2πi*k/n), exact where it is 1, -1, i or -i.
func unit(k, n int) complex128 {
	switch 4 * k {
	case 0:
		return 1
	case n:
		return -1i
	case 2 * n:
		return -1
	case 3 * n:
		return 1i
	}
	sin, cos := math.Sincos(2 * math.Pi * float64(k) / float64(n))
	return complex(cos, -sin)
}

// mul returns a*b. The conversions keep compilers from fusing operations on some
// machines only.
func mul(a, b complex128) complex128 {
	return complex(
		float64(real(a)*real(b))-float64(imag(a)*imag(b)),
		float64(real(a)*imag(b))+float64(imag(a)*real(b)))
}

func conj(a complex128) complex128 { return complex(real(a), -imag(a)) }
