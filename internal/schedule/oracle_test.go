package schedule

// bruteForce returns the least peak over all orders of p, one after the other.
func bruteForce(p *Problem) int64 {
	before := make([][]int, p.Steps)
	for i := range p.Values {
		if v := &p.Values[i]; v.Writer >= 0 {
			for _, s := range v.Readers {
				before[s] = append(before[s], v.Writer)
			}
		}
	}
	for s, list := range p.After {
		before[s] = append(before[s], list...)
	}
	least := int64(-1)
	run := make([]bool, p.Steps)
	order := make([]int, 0, p.Steps)
	var rec func()
	rec = func() {
		if len(order) == p.Steps {
			if peak := Peak(p, order); least < 0 || peak < least {
				least = peak
			}
			return
		}
	next:
		for s := range p.Steps {
			if run[s] {
				continue
			}
			for _, b := range before[s] {
				if !run[b] {
					continue next
				}
			}
			run[s] = true
			order = append(order, s)
			rec()
			order = order[:len(order)-1]
			run[s] = false
		}
	}
	rec()
	return least
}

// subsets returns the least peak by dynamic programming over all sets of steps
// that may have run. It is for up to some twenty steps.
func subsets(p *Problem) int64 {
	n := p.Steps
	before := make([]uint32, n)
	touch := make([]uint32, len(p.Values))
	for i := range p.Values {
		v := &p.Values[i]
		if v.Writer < 0 {
			continue
		}
		touch[i] = 1 << v.Writer
		for _, s := range v.Readers {
			before[s] |= 1 << v.Writer
			touch[i] |= 1 << s
		}
		for _, s := range v.Also {
			touch[i] |= 1 << s
		}
	}
	for s, list := range p.After {
		for _, b := range list {
			before[s] |= 1 << b
		}
	}
	cost := func(set uint32, s int) int64 {
		sum := int64(0)
		taken := make(map[int]bool)
		bit := uint32(1) << s
		for i := range p.Values {
			v := &p.Values[i]
			begun := touch[i]&(set|bit) != 0
			if begun && (touch[i]&^set != 0 || v.Kept) {
				sum += v.Bytes
			}
			if touch[i]&bit == 0 || touch[i]&set != 0 {
				continue
			}
			for _, o := range v.Over {
				w := &p.Values[o]
				if !taken[o] && w.Bytes == v.Bytes && !w.Kept && touch[o]&bit != 0 && touch[o]&^(set|bit) == 0 {
					taken[o] = true
					sum -= v.Bytes
					break
				}
			}
		}
		return sum
	}
	const none = int64(1) << 62
	best := make([]int64, 1<<n)
	for i := range best {
		best[i] = none
	}
	best[0] = 0
	for set := range uint32(len(best)) {
		if best[set] == none {
			continue
		}
		for s := range n {
			if set>>s&1 == 0 && before[s]&^set == 0 {
				t := set | 1<<s
				best[t] = min(best[t], max(best[set], cost(set, s)))
			}
		}
	}
	return best[len(best)-1]
}
