package random

import "math"

// A twister is the generator MT19937 of M. Matsumoto and T. Nishimura (Mersenne
// Twister, 1998), with the numbers that NumPy's RandomState makes of it: given
// the same seed, both draw the same.
type twister struct {
	state []uint32 // stateLen of them
	next  int      // the place in state of the next number to be drawn
	kept  float64  // a normal number drawn beside the last one
	keeps bool
}

const (
	stateLen = 624
	middle   = 397 // how far apart the numbers are that are mixed
)

// newTwister returns a generator that keeps its state in the given memory.
func newTwister(seed uint32, state []uint32) twister {
	for i := range state {
		state[i] = seed
		seed = 1812433253*(seed^seed>>30) + uint32(i) + 1
	}
	return twister{state: state, next: stateLen}
}

// bits returns 32 bits.
func (t *twister) bits() uint32 {
	if t.next == stateLen {
		t.turn()
	}
	v := t.state[t.next]
	t.next++
	v ^= v >> 11
	v ^= v << 7 & 0x9d2c5680
	v ^= v << 15 & 0xefc60000
	return v ^ v>>18
}

// turn makes the next numbers of the state.
func (t *twister) turn() {
	for i := range t.state {
		pair := t.state[i]&0x80000000 | t.state[(i+1)%stateLen]&0x7fffffff
		v := t.state[(i+middle)%stateLen] ^ pair>>1
		if pair&1 != 0 {
			v ^= 0x9908b0df
		}
		t.state[i] = v
	}
	t.next = 0
}

// uniform returns a multiple of 2^-53 in [0, 1).
func (t *twister) uniform() float64 {
	high, low := t.bits()>>5, t.bits()>>6
	return (float64(float64(high)*(1<<26)) + float64(low)) / (1 << 53)
}

// normal returns a number of the standard normal distribution, by the polar
// method of G. Marsaglia, which draws two at once.
func (t *twister) normal() float64 {
	if t.keeps {
		t.keeps = false
		return t.kept
	}
	for {
		x, y := 2*t.uniform()-1, 2*t.uniform()-1
		r := float64(x*x) + float64(y*y)
		if r < 1 && r != 0 {
			f := math.Sqrt(-2 * math.Log(r) / r)
			t.kept, t.keeps = f*x, true
			return f * y
		}
	}
}
