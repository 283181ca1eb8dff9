package schedule

import "math"

// splice returns the order of least peak that can be put together of pieces of
// the given ones: wherever two of them have run the same set of steps, either
// may be followed from there. Of equal choices the earlier order is taken.
func splice(g *graph, base int64, orders [][]int32) []int32 {
	type meeting struct {
		peak int64 // the least with which this set can be run
		from int32 // the order to come from, at the position before
	}
	n := g.steps
	// at[k][i] is the set that order k has run before position i, and
	// back[k][i] the order that it is best reached by.
	back := make([][]int32, len(orders))
	sums := make([]sum, len(orders))
	states := make([]*state, len(orders))
	peaks := make([]int64, len(orders))
	for k := range orders {
		back[k] = make([]int32, n+1)
		states[k] = newState(g, base)
		peaks[k] = states[k].live
	}
	met := make(map[sum]meeting, len(orders))
	for i := range n + 1 {
		clear(met)
		for k := range orders {
			sums[k] = states[k].sum
			m, ok := met[sums[k]]
			if !ok || peaks[k] < m.peak {
				met[sums[k]] = meeting{peaks[k], int32(k)}
			}
		}
		for k := range orders {
			m := met[sums[k]]
			peaks[k], back[k][i] = m.peak, m.from
			if i < n {
				x := orders[k][i]
				during, _ := states[k].cost(x)
				peaks[k] = max(peaks[k], during)
				states[k].do(x)
			}
		}
	}
	best, least := 0, int64(math.MaxInt64)
	for k := range orders {
		if peaks[k] < least {
			best, least = k, peaks[k]
		}
	}
	order := make([]int32, n)
	k := back[best][n]
	for i := n - 1; i >= 0; i-- {
		order[i] = orders[k][i]
		k = back[k][i]
	}
	return order
}
