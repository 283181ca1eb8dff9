package elementwise

import (
	"unsafe"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
)

// A loop computes the elements of dst, each from the elements of a, b and c of
// the same index, and reports whether the data allowed it. The slices hold
// elements of whatever types the loop was made for. An operand that the loop
// takes as a scalar is its first element alone. p holds the attributes.
//
// dst may be the same memory as an operand of the same width.
type loop func(dst, a, b, c []byte, p *[2]float64) bool

// loops are those of one code for one type: entry m takes those operands as
// scalars whose bits are set in m. Entry 0 is there unless the code has no loop
// for the type, others where they pay.
type loops [8]loop

// best returns the loop that serves the scalar operands m with the fewest of
// them spread out, and the operands that it takes as scalars.
func (l *loops) best(m int) (best loop, scalars int) {
	count := func(m int) int { return m&1 + m>>1&1 + m>>2&1 }
	for v, f := range l {
		if f != nil && v&^m == 0 && (best == nil || count(v) > count(scalars)) {
			best, scalars = f, v
		}
	}
	return best, scalars
}

// The adapters from loops over typed slices.

func loop1[D, A any](f func(dst []D, a []A)) loop {
	return func(dst, a, _, _ []byte, _ *[2]float64) bool {
		f(kernel.Cast[D](dst), kernel.Cast[A](a))
		return true
	}
}

func loop2[D, A, B any](f func(dst []D, a []A, b []B)) loop {
	return func(dst, a, b, _ []byte, _ *[2]float64) bool {
		f(kernel.Cast[D](dst), kernel.Cast[A](a), kernel.Cast[B](b))
		return true
	}
}

// loop2s adapts a loop whose second operand is a scalar.
func loop2s[D, A, B any](f func(dst []D, a []A, b B)) loop {
	return func(dst, a, b, _ []byte, _ *[2]float64) bool {
		f(kernel.Cast[D](dst), kernel.Cast[A](a), kernel.Cast[B](b)[0])
		return true
	}
}

// scalar2 adapts a loop whose first operand is a scalar.
func scalar2[D, A, B any](f func(dst []D, a A, b []B)) loop {
	return func(dst, a, b, _ []byte, _ *[2]float64) bool {
		f(kernel.Cast[D](dst), kernel.Cast[A](a)[0], kernel.Cast[B](b))
		return true
	}
}

func loop3[D, A, B, C any](f func(dst []D, a []A, b []B, c []C)) loop {
	return func(dst, a, b, c []byte, _ *[2]float64) bool {
		f(kernel.Cast[D](dst), kernel.Cast[A](a), kernel.Cast[B](b), kernel.Cast[C](c))
		return true
	}
}

// The loops of codes that have one, for any operands.

func unary[D, A any](f func(dst []D, a []A)) loops { return loops{loop1(f)} }

// unaryWith hands the attributes to f.
func unaryWith[D, A any](f func(dst []D, a []A, p, q float64)) loops {
	return loops{func(dst, a, _, _ []byte, p *[2]float64) bool {
		f(kernel.Cast[D](dst), kernel.Cast[A](a), p[0], p[1])
		return true
	}}
}

func binary[D, A, B any](f func(dst []D, a []A, b []B)) loops { return loops{loop2(f)} }

// binaryTry is for a loop that may meet operands without a result.
func binaryTry[D, A, B any](f func(dst []D, a []A, b []B) bool) loops {
	return loops{func(dst, a, b, _ []byte, _ *[2]float64) bool {
		return f(kernel.Cast[D](dst), kernel.Cast[A](a), kernel.Cast[B](b))
	}}
}

func ternary[D, A, B, C any](f func(dst []D, a []A, b []B, c []C)) loops { return loops{loop3(f)} }

// commutative has a loop for two vectors, and one for a vector and a scalar
// on either side.
func commutative(vv, vs loop) loops { return loops{0: vv, 0b10: vs, 0b01: swapped(vs)} }

// reversed are the loops that take their first two operands the other way
// round.
func reversed(l loops) (out loops) {
	for m, f := range l {
		if f != nil {
			out[m&^0b11|m&1<<1|m>>1&1] = swapped(f)
		}
	}
	return out
}

func swapped(f loop) loop {
	return func(dst, a, b, c []byte, p *[2]float64) bool { return f(dst, b, a, c, p) }
}

// mapped adapts a loop of an instruction set.
func mapped(f isa.Map) loop {
	return func(dst, a, b, c []byte, p *[2]float64) bool {
		f(dst, a, b, c, p)
		return true
	}
}

// theOtherWay are the comparisons that hold of b and a where those of the names hold of a and b.
var theOtherWay = map[string]string{"eq": "eq", "ne": "ne", "lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}

// compared returns the loops of a function, which may be a comparison of elements of type t, in the
// form of the active instruction set as far as registers are full.
func compared(l loops, function string, t dtype.Type) loops {
	compares := isa.Active().Compares
	if fast, plain := compares[isa.CompareKey{Function: function, Type: t}], l[0]; fast != nil && plain != nil {
		l[0] = func(dst, a, b, c []byte, p *[2]float64) bool {
			n := fast(dst, a, b)
			return n == len(dst) || plain(dst[n:], a[n*t.Size():], b[n*t.Size():], c, p)
		}
	}
	if fast, plain := compares[isa.CompareKey{Function: function, Type: t, Scalar: true}], l[0b10]; fast != nil && plain != nil {
		l[0b10] = func(dst, a, b, c []byte, p *[2]float64) bool {
			n := fast(dst, a, b)
			return n == len(dst) || plain(dst[n:], a[n*t.Size():], b, c, p)
		}
	}
	if fast, plain := compares[isa.CompareKey{Function: theOtherWay[function], Type: t, Scalar: true}], l[0b01]; fast != nil && plain != nil {
		l[0b01] = func(dst, a, b, c []byte, p *[2]float64) bool {
			n := fast(dst, b, a)
			return n == len(dst) || plain(dst[n:], a, b[n*t.Size():], c, p)
		}
	}
	return l
}

// castLoops returns the loops of a conversion between types, in the form of the active
// instruction set as far as registers are full.
func castLoops(from, to dtype.Type, plain kernel.Conversion) loops {
	return converting(isa.Converting(from, to, plain))
}

// roundLoops returns the loops that round elements of t.Wide() to values of t.
func roundLoops(t dtype.Type) loops {
	if f := isa.Active().Maps[isa.MapKey{Function: roundName(t), Bits: 32}]; f != nil {
		return loops{mapped(f)}
	}
	return converting(kernel.Rounding(t))
}

// converting returns the loops of a conversion.
func converting(f kernel.Conversion) loops {
	return loops{func(dst, a, _, _ []byte, _ *[2]float64) bool {
		f(dst, a)
		return true
	}}
}

// spreadLoop returns the loop that fills dst with the scalar a of a width. It
// allocates nothing, as operands are spread only once they are bound.
func spreadLoop(width int) loop {
	switch width {
	case 1:
		return spread[uint8]
	case 2:
		return spread[uint16]
	case 4:
		return spread[uint32]
	}
	return spread[uint64]
}

func spread[T any](dst, a, _, _ []byte, _ *[2]float64) bool {
	kernel.Fill(kernel.Cast[T](dst), kernel.Cast[T](a)[0])
	return true
}

// copyLoop copies elements of any width.
func copyLoop(dst, a, _, _ []byte, _ *[2]float64) bool {
	if unsafe.SliceData(dst) != unsafe.SliceData(a) {
		copy(dst, a)
	}
	return true
}
