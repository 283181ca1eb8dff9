package pack

import "math"

// LowerBound returns a number of bytes that every placement needs: the most
// bytes live at one time (of a buffer with parts, those its parts occupy),
// or what one buffer needs alone, if that is more. Bytes lost between buffers
// because all offsets share an alignment are counted. Sums that overflow
// saturate. It takes time n log n; buffers that [Place] would refuse count
// for nothing.
func LowerBound(buffers []Buffer) int64 {
	p, err := newProblem(buffers)
	if err == nil {
		return p.lower
	}
	valid := make([]Buffer, 0, len(buffers))
	for i := range buffers {
		if validate(i, &buffers[i]) == nil {
			b := buffers[i]
			b.Fixed = false // contradictions between fixed offsets are not ours to find
			valid = append(valid, b)
		}
	}
	if p, err = newProblem(valid); err != nil {
		return math.MaxInt64
	}
	return p.lower
}

// lowerBound is LowerBound of a valid problem.
//
// When every offset is a multiple of g, whole rectangles live together stack at
// multiples of g, so each but the topmost takes its size rounded up to g.
func (p *problem) lowerBound() int64 {
	var bound, g int64
	gaps := false
	for i := range p.items {
		it := &p.items[i]
		bound = max(bound, it.size, it.fixed+it.size)
		if len(it.rects) > 0 {
			g = gcd(g, it.align)
			gaps = gaps || !it.whole()
			if it.fixed != free {
				g = gcd(g, it.fixed)
			}
		}
	}
	if gaps {
		g = 1 // a part may begin inside what would be padding
	}
	for _, live := range p.liveBytes(max(g, 1)) {
		bound = max(bound, live)
	}
	return bound
}

// liveBytes returns, for each section, bytes that no placement can do without
// when all offsets are multiples of g.
func (p *problem) liveBytes(g int64) []int64 {
	live := make([]int64, p.sections+1)
	for i := range p.items {
		it := &p.items[i]
		whole := it.whole()
		for _, r := range it.rects {
			n := r.hi - r.lo
			if whole {
				n = alignUp(n, g)
			}
			live[r.t0] += n
			live[r.t1] -= n
		}
	}
	var sum int64
	for t := range live {
		sum += live[t]
		live[t] = sum
	}
	if g > 1 {
		p.dropTopPadding(live, g)
	}
	return live[:p.sections]
}

// dropTopPadding takes off each section the most padding that a buffer live in
// it could have on top, where it costs nothing.
func (p *problem) dropTopPadding(live []int64, g int64) {
	most := newHeights(p.sections)
	for i := range p.items {
		if it := &p.items[i]; it.whole() {
			most.raise(it.t0, it.t1, alignUp(it.size, g)-it.size)
		}
	}
	for t := range p.sections {
		live[t] -= most.top(int32(t), int32(t+1))
	}
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
