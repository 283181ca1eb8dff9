package schedule

import (
	"cmp"
	"math"
	"slices"
)

// depthFirst returns the order in which a walk from the ends of g, in their
// order of rank, leaves the steps: each after its predecessors, of which those
// whose excess is greatest are visited first, and of equal ones that of least
// rank. For trees it is the order of Sethi and Ullman, and of Liu.
func depthFirst(g *graph) []int32 {
	type frame struct {
		step int32
		next []int32 // predecessors yet to visit
	}
	preds := worstFirst(g)
	order := make([]int32, 0, g.steps)
	entered := make([]bool, g.steps)
	var stack []frame
	enter := func(x int32) {
		entered[x] = true
		stack = append(stack, frame{x, preds.of(x)})
	}
	for i := range int32(g.steps) {
		end := g.rank(i)
		if len(g.succ.of(end)) > 0 {
			continue
		}
		enter(end)
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if len(top.next) == 0 {
				order = append(order, top.step)
				stack = stack[:len(stack)-1]
				continue
			}
			x := top.next[0]
			top.next = top.next[1:]
			if !entered[x] {
				enter(x)
			}
		}
	}
	return order
}

// results returns the bytes that each step leaves for others to read: those
// of the values that it is the first to touch, by rank.
func results(g *graph) []int64 {
	out := make([]int64, g.steps)
	for v := range int32(len(g.bytes)) {
		touch := g.touch.of(v)
		if g.before[v] || len(touch) == 1 && !g.kept[v] {
			continue
		}
		first := touch[0]
		if g.reversed {
			first = touch[len(touch)-1]
		}
		out[first] += g.bytes[v]
	}
	return out
}

// worstFirst returns the predecessors of each step, those of the greatest excess
// first. The excess is by how much the bytes needed to compute a step and all
// before it exceed those that it leaves, as if what several steps read were
// computed for each of them.
func worstFirst(g *graph) lists {
	const most = math.MaxInt64 / 8
	out := results(g)
	excess := make([]int64, g.steps)
	preds := lists{g.pred.at, slices.Clone(g.pred.all)}
	for i := range int32(g.steps) {
		x := g.rank(i)
		slices.SortFunc(preds.of(x), func(a, b int32) int {
			return cmp.Or(cmp.Compare(excess[b], excess[a]), cmp.Compare(g.rank(a), g.rank(b)))
		})
		var held, peak int64
		for _, p := range preds.of(x) {
			peak = max(peak, min(most, held+out[p]+excess[p]))
			held = min(most, held+out[p])
		}
		peak = max(peak, min(most, held+out[x]))
		excess[x] = max(0, peak-out[x])
	}
	return preds
}
