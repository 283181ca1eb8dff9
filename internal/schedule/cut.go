package schedule

import "math"

// leastSet returns, of the steps of path, which s has just run, those of the
// set with the fewest bytes alive, and of these sets the largest, in the order
// of path. The sets considered hold what s had run before path and, with a
// step, its predecessors.
//
// It is a minimum cut. A step is on the near side if it is in the set. A value
// has two nodes with its bytes between them: the first is near if anything that
// touches the value is in the set or came before, the second is far if anything
// that touches it is not.
func leastSet(s *state, path []int32) []int32 {
	const source, sink = 0, 1
	g := s.g
	g.needIndex()
	n := newNetwork(2 + len(path))
	for i, x := range path {
		g.stepIndex[x] = int32(2 + i)
	}
	var values, touched []int32 // and how many steps of path touch them
	for i, x := range path {
		for _, p := range g.pred.of(x) {
			if to := g.stepIndex[p]; to >= 0 {
				n.arc(int32(2+i), to, math.MaxInt64)
			}
		}
		for _, v := range g.vals.of(x) {
			if g.valueIndex[v] < 0 {
				g.valueIndex[v] = int32(len(values))
				values, touched = append(values, v), append(touched, 0)
			}
			touched[g.valueIndex[v]]++
		}
	}
	for i, v := range values {
		all := g.touch.at[v+1] - g.touch.at[v]
		before := g.before[v] || all-s.left[v]-touched[i] > 0
		after := g.kept[v] || s.left[v] > 0
		if before && after {
			continue // alive in any case
		}
		near, far := n.node(), n.node()
		n.arc(near, far, g.bytes[v])
		if before {
			n.arc(source, near, math.MaxInt64)
		}
		if after {
			n.arc(far, sink, math.MaxInt64)
		}
		for _, x := range g.touch.of(v) {
			if step := g.stepIndex[x]; step >= 0 {
				if !before {
					n.arc(step, near, math.MaxInt64)
				}
				if !after {
					n.arc(far, step, math.MaxInt64)
				}
			}
		}
	}
	for _, x := range path {
		g.stepIndex[x] = -1
	}
	for _, v := range values {
		g.valueIndex[v] = -1
	}

	n.maximise(source, sink)
	far := n.reaching(sink)
	part := make([]int32, 0, len(path))
	for i, x := range path {
		if !far[2+i] {
			part = append(part, x)
		}
	}
	return part
}

// network is a flow network. Arc i and arc i^1 are each other's reverse.
type network struct {
	first    []int32 // arc out of a node, or -1
	next, to []int32 // by arc
	room     []int64 // by arc: what more can flow; MaxInt64 has no end
	level    []int32
	at       []int32 // the arc to try next, by node
}

func newNetwork(nodes int) *network {
	n := &network{}
	for range nodes {
		n.node()
	}
	return n
}

func (n *network) node() int32 {
	n.first = append(n.first, -1)
	return int32(len(n.first) - 1)
}

func (n *network) arc(from, to int32, room int64) {
	for _, a := range [2]struct {
		from, to int32
		room     int64
	}{{from, to, room}, {to, from, 0}} {
		n.next = append(n.next, n.first[a.from])
		n.first[a.from] = int32(len(n.to))
		n.to = append(n.to, a.to)
		n.room = append(n.room, a.room)
	}
}

// maximise sends as much as can flow from source to sink, by the algorithm of
// Dinic.
func (n *network) maximise(source, sink int32) {
	n.level, n.at = make([]int32, len(n.first)), make([]int32, len(n.first))
	for n.layer(source, sink) {
		copy(n.at, n.first)
		for n.augment(source, sink) {
		}
	}
}

// layer sets the distance of every node from source and reports whether sink
// can be reached.
func (n *network) layer(source, sink int32) bool {
	for i := range n.level {
		n.level[i] = -1
	}
	n.level[source] = 0
	queue := []int32{source}
	for len(queue) > 0 && n.level[sink] < 0 {
		x := queue[0]
		queue = queue[1:]
		for a := n.first[x]; a >= 0; a = n.next[a] {
			if y := n.to[a]; n.room[a] > 0 && n.level[y] < 0 {
				n.level[y] = n.level[x] + 1
				queue = append(queue, y)
			}
		}
	}
	return n.level[sink] >= 0
}

// augment sends a flow along one shortest path and reports whether there was
// one.
func (n *network) augment(source, sink int32) bool {
	var path []int32 // arcs
	x := source
	for x != sink {
		a := n.at[x]
		switch {
		case a < 0 && x == source:
			return false
		case a < 0: // a dead end
			back := path[len(path)-1]
			path = path[:len(path)-1]
			x = n.to[back^1]
			n.at[x] = n.next[n.at[x]]
		case n.room[a] > 0 && n.level[n.to[a]] == n.level[x]+1:
			path = append(path, a)
			x = n.to[a]
		default:
			n.at[x] = n.next[a]
		}
	}
	flow := int64(math.MaxInt64)
	for _, a := range path {
		flow = min(flow, n.room[a])
	}
	for _, a := range path {
		if n.room[a] != math.MaxInt64 {
			n.room[a] -= flow
		}
		if n.room[a^1] != math.MaxInt64 {
			n.room[a^1] += flow
		}
	}
	return true
}

// reaching returns which nodes a flow to sink could still come from.
func (n *network) reaching(sink int32) []bool {
	seen := make([]bool, len(n.first))
	seen[sink] = true
	stack := []int32{sink}
	for len(stack) > 0 {
		x := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for a := n.first[x]; a >= 0; a = n.next[a] {
			if y := n.to[a]; n.room[a^1] > 0 && !seen[y] {
				seen[y] = true
				stack = append(stack, y)
			}
		}
	}
	return seen
}
