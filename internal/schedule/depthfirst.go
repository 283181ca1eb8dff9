package schedule

import (
	"cmp"
	"math"
	"slices"
)

// depthFirst returns the order in which a walk from the ends of g, in their
// order of rank, leaves the steps: each after its predecessors, which are
// visited in ascending order of key, and of rank where keys are equal.
func depthFirst(g *graph, keys []int64) []int32 {
	type frame struct {
		step int32
		next []int32 // predecessors yet to visit
	}
	order := make([]int32, 0, g.steps)
	entered := make([]bool, g.steps)
	var stack []frame
	var sorted []int32 // the lists of the frames, back to back
	enter := func(x int32) {
		entered[x] = true
		from := len(sorted)
		sorted = append(sorted, g.pred.of(x)...)
		next := sorted[from:]
		slices.SortFunc(next, func(a, b int32) int {
			return cmp.Or(cmp.Compare(keys[a], keys[b]), cmp.Compare(g.rank(a), g.rank(b)))
		})
		stack = append(stack, frame{x, next})
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
				sorted = sorted[:len(sorted)-len(g.pred.of(top.step))]
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

// walkKeys are the keys that depth-first walks visit predecessors by.
type walkKeys struct {
	name string
	keys func(g *graph) []int64
}

func walks() []walkKeys {
	return []walkKeys{
		{"subtree peak", subtreePeaks},
		{"large first", func(g *graph) []int64 { return negated(results(g)) }},
		{"small first", results},
		{"deep first", func(g *graph) []int64 { return negated(depths(g)) }},
		{"late first", func(g *graph) []int64 {
			keys := make([]int64, g.steps)
			for x := range keys {
				keys[x] = -int64(g.rank(int32(x)))
			}
			return keys
		}},
	}
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

// subtreePeaks returns, negated, by how much the bytes needed to compute a step
// and all before it exceed those that it leaves, as if what several steps read
// were computed for each of them: the order of Sethi and Ullman, and of Liu,
// for trees.
func subtreePeaks(g *graph) []int64 {
	const most = math.MaxInt64 / 8
	out := results(g)
	excess := make([]int64, g.steps) // of the peak over out
	var preds []int32
	for i := range int32(g.steps) {
		x := g.rank(i)
		preds = append(preds[:0], g.pred.of(x)...)
		slices.SortFunc(preds, func(a, b int32) int {
			return cmp.Or(cmp.Compare(excess[b], excess[a]), cmp.Compare(g.rank(a), g.rank(b)))
		})
		var held, peak int64
		for _, p := range preds {
			peak = max(peak, min(most, held+out[p]+excess[p]))
			held = min(most, held+out[p])
		}
		peak = max(peak, min(most, held+out[x]))
		excess[x] = max(0, peak-out[x])
	}
	return negated(excess)
}

// depths returns the length of the longest path to each step.
func depths(g *graph) []int64 {
	d := make([]int64, g.steps)
	for i := range int32(g.steps) {
		x := g.rank(i)
		for _, p := range g.pred.of(x) {
			d[x] = max(d[x], d[p]+1)
		}
	}
	return d
}

func negated(keys []int64) []int64 {
	for i := range keys {
		keys[i] = -keys[i]
	}
	return keys
}
