package pack

import (
	"cmp"
	"math/bits"
	"slices"
)

// A ranking is a rule for which of two items to prefer when both could be
// placed. Each suits some problems and fails others, so they take turns.
type ranking int

const (
	byArea        ranking = iota // lifetime x size
	byLength                     // lifetime, then size
	byCrowdLength                // most live bytes during the lifetime, then lifetime, then size
	byCrowdArea                  // most live bytes during the lifetime, then lifetime x size
	bySize                       // size, then lifetime
	rankings
)

// fixedOne is 1 in the fixed-point numbers of scores.
const fixedOne = 1 << 16

// A scorer computes rankings. Scores are logarithms in fixed point, so that
// noise and nudges are factors; they are integers because floating point may be
// contracted differently on different machines, and plans must not differ.
type scorer struct {
	length, size, crowd []int64 // by item, fixed point
}

func newScorer(p *problem) *scorer {
	n := len(p.items)
	s := &scorer{make([]int64, n), make([]int64, n), make([]int64, n)}
	crowd := newHeights(p.sections)
	for t, bytes := range p.liveBytes(1) {
		crowd.raise(int32(t), int32(t+1), bytes)
	}
	most := max(1, crowd.top(0, int32(p.sections)))
	shift := max(0, bits.Len64(uint64(most))-30)
	for i := range p.items {
		it := &p.items[i]
		s.length[i] = log2(uint64(it.t1 - it.t0))
		s.size[i] = log2(uint64(it.size))
		s.crowd[i] = (crowd.top(it.t0, it.t1) >> shift) * (128 * fixedOne) / max(1, most>>shift)
	}
	return s
}

// score returns how much ranking r likes each item; more is better. Noise, in
// fixed point, is the width of what is added at random, drawn from seed.
func (s *scorer) score(r ranking, noise int64, seed uint64) []int64 {
	scores := make([]int64, len(s.size))
	for i := range scores {
		l, z := s.length[i], s.size[i]
		var x int64
		switch r {
		case byArea:
			x = l + z
		case byLength:
			x = l + z/64
		case byCrowdLength:
			x = s.crowd[i] + l + z/64
		case byCrowdArea:
			x = s.crowd[i] + l + z
		case bySize:
			x = z + l/64
		}
		if noise > 0 {
			x += int64(mix(uint64(i)*0x9e3779b97f4a7c15+mix(seed)) % uint64(noise))
		}
		scores[i] = x
	}
	return scores
}

// ranked returns the items by falling score, ties by canonical order.
func ranked(scores []int64) []int32 {
	order := identity(len(scores))
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b))
	})
	return order
}

// identity returns 0, 1, 2, ..., n-1.
func identity(n int) []int32 {
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	return order
}

// places turns an order around: the place of each item in it.
func places(order []int32) []int32 {
	rank := make([]int32, len(order))
	for k, i := range order {
		rank[i] = int32(k)
	}
	return rank
}

// log2 returns the binary logarithm of x in fixed point, 0 for 0. The fraction
// comes bit by bit from squaring what is left after the power of two.
func log2(x uint64) int64 {
	if x == 0 {
		return 0
	}
	n := bits.Len64(x) - 1
	log := int64(n) * fixedOne
	m := x << (63 - n) // in [1, 2) with 63 fraction bits
	for bit := int64(fixedOne / 2); bit > 0; bit /= 2 {
		hi, lo := bits.Mul64(m, m) // in [1, 4) with 62 fraction bits in hi
		if hi>>63 == 1 {
			log += bit
			m = hi
		} else {
			m = hi<<1 | lo>>63
		}
	}
	return log
}
