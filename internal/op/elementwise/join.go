package elementwise

import (
	"math"
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
)

// join has one loop do the work of several calls, each on the result of the one before that
// nothing else reads, where the active instruction set has such a loop. No bit changes.
func (l *lowered) join() {
	uses, maker := make([]int, len(l.values)), make([]int, len(l.values))
	for i, c := range l.calls {
		maker[c.dst] = i
		for _, v := range c.args[:c.n] {
			uses[v]++
		}
	}
	gone := make([]bool, len(l.calls))
	for i := range l.calls {
		for j := 0; j < l.calls[i].n; j++ {
			c := &l.calls[i]
			v := c.args[j]
			if l.values[v].kind != valueTemp || uses[v] != 1 {
				continue
			}
			if both, ok := l.joined(&l.calls[maker[v]], c, j); ok {
				gone[maker[v]] = true
				*c = both
				j = -1 // what it reads may join too
			}
		}
	}
	i := -1
	l.calls = slices.DeleteFunc(l.calls, func(call) bool { i++; return gone[i] })
	for i, c := range l.calls {
		for _, v := range c.args[:c.n] {
			l.values[v].last = i
		}
	}
}

// joined returns the call that does the work of first, and then of second, of which it is
// operand j.
func (l *lowered) joined(first, second *call, j int) (both call, ok bool) {
	if first.function == "" || second.function == "" {
		return both, false
	}
	a, b := first, second
	if l.rounds(first) && l.monotone(second, first.half) && j == 0 {
		a, b = second, first // rounding keeps the order of numbers, so that it may come later
	}
	both = *a
	both.dst, both.half = second.dst, b.half
	both.function += "+" + b.function
	switch {
	case a == second:
		both.args[0] = first.args[0]
	default:
		rest := slices.Clone(second.args[:second.n])
		if j == 1 && second.function == "add" { // in either order
			rest[0], rest[1] = rest[1], rest[0]
		} else if j != 0 {
			return both, false
		}
		both.n += copy(both.args[both.n:], rest[1:])
		if both.n != first.n+second.n-1 {
			return both, false
		}
	}
	both.loops = joinedLoops(both.function)
	return both, both.loops[0] != nil
}

// joinedLoops returns the loops of a joined function of float32.
func joinedLoops(function string) (all loops) {
	for scalars := range all {
		if f := isa.Active().Maps[isa.MapKey{Function: function, Bits: 32, Scalars: scalars}]; f != nil {
			all[scalars] = mapped(f)
		}
	}
	return all
}

// rounds reports whether c is the rounding to a half type and nothing else.
func (l *lowered) rounds(c *call) bool {
	return c.half != dtype.Invalid && c.function == roundName(c.half)
}

// monotone reports whether c gives larger results for larger first operands, and values of
// the type half for such: so that those may be rounded before or after.
func (l *lowered) monotone(c *call, half dtype.Type) bool {
	switch c.function {
	case "relu":
		return true
	case "clip":
		round := kernel.Rounding(half)
		for _, bound := range c.args[1:3] {
			v := l.values[bound]
			if v.kind != valueConst {
				return false
			}
			x := kernel.Cast[float32](l.consts[v.index:])[:1]
			y := []float32{0}
			if round(kernel.Bytes(y), kernel.Bytes(x)); math.Float32bits(x[0]) != math.Float32bits(y[0]) {
				return false
			}
		}
		return true
	}
	return false
}

func roundName(half dtype.Type) string { return "round_" + half.String() }
