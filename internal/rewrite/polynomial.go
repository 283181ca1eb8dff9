package rewrite

import (
	"math"

	"github.com/berth-go/berth/internal/op/elementwise"
)

// An expansion writes the results of a program as polynomials of one of its values, x,
// and of one function s of that.
type expansion struct {
	program   elementwise.Program
	x         elementwise.Arg
	tolerance float64 // of coefficients, relative
}

// A polynomial is the sum of c[j][i] * xⁱ * sʲ over all i and j.
type polynomial [2][4]float64

// activation returns the instruction that computes of x what instruction last does,
// where instruction s is the function f.
func (e *expansion) activation(f function, s, last int) (by elementwise.Instr, ok bool) {
	in, ok := e.expand(f.of, -1)
	if !ok || in[1] != [4]float64{} {
		return by, false
	}
	a, b := in[0][1], in[0][0]
	linear := in[0][2] == 0 && in[0][3] == 0
	proportional := linear && b == 0 && a != 0
	if f.code == elementwise.Exp {
		if !proportional {
			return by, false
		}
		return e.quotient(a, s, last)
	}
	out, ok := e.expand(elementwise.ResultArg(last), s)
	if !ok {
		return by, false
	}
	half := e.near(out, polynomial{{0, 0.5}, {0, 0.5}})
	times := func(c float64) bool { return e.near(out, polynomial{1: {0, c}}) }
	root := math.Sqrt(2 / math.Pi)
	switch f.code {
	case elementwise.Erf:
		return elementwise.Instr{Code: elementwise.Gelu}, half && e.near(in, polynomial{{0, 1 / math.Sqrt2}})
	case elementwise.Tanh:
		if f.within {
			return elementwise.Instr{Code: elementwise.Mish}, times(1) && e.near(in, polynomial{{0, 1}})
		}
		return elementwise.Instr{Code: elementwise.GeluTanh}, half && e.near(in, polynomial{{0, root, 0, root * 0.044715}})
	case elementwise.Sigmoid:
		return elementwise.Instr{Code: elementwise.Swish, Attrs: [2]float64{e.rounded(a)}}, times(1) && proportional
	case elementwise.HardSigmoid:
		sixth := e.equal(f.attrs[0], 1./6) && f.attrs[1] == 0.5
		return elementwise.Instr{Code: elementwise.HardSwish}, sixth && times(1) && e.near(in, polynomial{{0, 1}})
	case elementwise.Clip:
		high := f.attrs[1]
		if f.attrs[0] != 0 || !(high > 0) || !linear || a == 0 || b == 0 {
			return by, false
		}
		if times(1/high) && e.equal(a/high, 1./6) && e.equal(b/high, 0.5) {
			return elementwise.Instr{Code: elementwise.HardSwish}, true
		}
		sigmoid := elementwise.Instr{Code: elementwise.HardSigmoid, Attrs: [2]float64{e.rounded(a / high), e.rounded(b / high)}}
		return sigmoid, e.near(out, polynomial{1: {1 / high}})
	}
	return by, false
}

// quotient is activation for the function s = exp(a*x).
func (e *expansion) quotient(a float64, s, last int) (by elementwise.Instr, ok bool) {
	ins := e.program[last]
	above, below := elementwise.Arg{}, ins.Args[0]
	if ins.Code == elementwise.Div {
		above, below = ins.Args[0], ins.Args[1]
	}
	sum, ok := e.expand(below, s)
	if !ok {
		return by, false
	}
	onePlus := e.near(sum, polynomial{{1}, {1}})
	switch ins.Code {
	case elementwise.Log:
		return elementwise.Instr{Code: elementwise.Softplus}, onePlus && e.equal(a, 1)
	case elementwise.Log1p:
		return elementwise.Instr{Code: elementwise.Softplus}, e.near(sum, polynomial{1: {1}}) && e.equal(a, 1)
	case elementwise.Reciprocal:
		return elementwise.Instr{Code: elementwise.Sigmoid}, onePlus && e.equal(a, -1)
	case elementwise.Div:
		over, ok := e.expand(above, s)
		switch {
		case !ok || !onePlus:
		case e.near(over, polynomial{{1}}):
			return elementwise.Instr{Code: elementwise.Sigmoid}, e.equal(a, -1)
		case e.near(over, polynomial{{0, 1}}):
			return elementwise.Instr{Code: elementwise.Swish, Attrs: [2]float64{e.rounded(-a)}}, true
		}
	}
	return by, false
}

// rounded returns the whole number that v is within the tolerance, or else v.
func (e *expansion) rounded(v float64) float64 {
	if whole := math.Round(v); e.equal(v, whole) {
		return whole
	}
	return v
}

// equal reports whether v is the coefficient want.
func (e *expansion) equal(v, want float64) bool {
	return math.Abs(v-want) <= e.tolerance*math.Abs(want)
}

func (e *expansion) near(p, want polynomial) bool {
	for j := range p {
		for i := range p[j] {
			if !e.equal(p[j][i], want[j][i]) {
				return false
			}
		}
	}
	return true
}

// expand returns a as a polynomial, with the result of instruction s for its s; a
// negative one is none.
func (e *expansion) expand(a elementwise.Arg, s int) (polynomial, bool) {
	known := make([]*polynomial, len(e.program))
	of := func(a elementwise.Arg) *polynomial {
		switch {
		case a.Kind == elementwise.ArgScalar:
			return &polynomial{{a.Scalar.Float64()}}
		case a == e.x:
			return &polynomial{{0, 1}}
		case a.Kind != elementwise.ArgResult:
			return nil
		case a.Index == s:
			return &polynomial{1: {1}}
		}
		return known[a.Index]
	}
	if a.Kind == elementwise.ArgResult {
		for i := range a.Index + 1 {
			known[i] = computed(e.program[i], of)
		}
	}
	if p := of(a); p != nil {
		return *p, true
	}
	return polynomial{}, false
}

// computed returns the polynomial that an instruction computes of those of its operands,
// or nil.
func computed(ins elementwise.Instr, of func(a elementwise.Arg) *polynomial) *polynomial {
	p := of(ins.Args[0])
	if p == nil {
		return nil
	}
	q := p
	if ins.Code.Arity() > 1 {
		if q = of(ins.Args[1]); q == nil {
			return nil
		}
	}
	switch ins.Code {
	case elementwise.Ident:
		return p
	case elementwise.Neg:
		return p.times(&polynomial{{-1}})
	case elementwise.Square, elementwise.Mul:
		return p.times(q)
	case elementwise.Add:
		return p.plus(q, 1)
	case elementwise.Sub:
		return p.plus(q, -1)
	case elementwise.Div:
		if c := q[0][0]; c != 0 && *q == (polynomial{{c}}) {
			return p.times(&polynomial{{1 / c}})
		}
	case elementwise.Pow:
		switch *q {
		case polynomial{{2}}:
			return p.times(p)
		case polynomial{{3}}:
			if square := p.times(p); square != nil {
				return square.times(p)
			}
		}
	}
	return nil
}

// plus returns p + c*q.
func (p *polynomial) plus(q *polynomial, c float64) *polynomial {
	sum := *p
	for j := range q {
		for i, v := range q[j] {
			sum[j][i] += c * v
		}
	}
	return &sum
}

// times returns p*q, or nil where that has higher powers than a polynomial holds.
func (p *polynomial) times(q *polynomial) *polynomial {
	var out polynomial
	for j, a := range p {
		for i, v := range a {
			for l, b := range q {
				for k, w := range b {
					switch {
					case v == 0 || w == 0:
					case i+k >= len(out[0]) || j+l >= len(out):
						return nil
					default:
						out[j+l][i+k] += v * w
					}
				}
			}
		}
	}
	return &out
}
