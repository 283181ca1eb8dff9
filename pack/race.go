package pack

import (
	"context"
	"sync"
	"sync/atomic"
)

// A contender is one component on its way to a smaller arena.
type contender struct {
	p       *problem
	offsets []int64 // the best placement so far
	arena   int64
	lower   int64 // no placement is smaller
	done    bool  // there is nothing more to try

	scores   *scorer
	skyline  *skyline
	net      *network
	huge     bool // too large for a network
	slots    [racers]*searcher
	rounds   int       // rounds raced so far
	runs     int       // skylines tried so far
	polished int       // 1 + the round before which skylines were tried last
	index    *index    // for repairs
	stuck    bool      // the highest item resists repairs in regions of every size
	nudge    [][]int64 // by ranking and item: what polish adds to scores
}

// racers is how many searches run at a time, as far as results are concerned:
// workers share them out, and fewer workers run them one after the other.
const racers = 4

// For components too large to search there are repairs and skylines, up to
// hugeRuns. In others skylines are worth their time as well where there are
// bigItems items or more, or while the gap between the lower bound and the arena
// is more than a wideGap-th.
const (
	hugeRuns = 500
	bigItems = 1000
	wideGap  = 20
)

// offer takes a placement if it is better than the best so far.
func (c *contender) offer(offsets []int64) bool {
	arena := c.p.arena(offsets)
	if c.offsets != nil && arena >= c.arena {
		return false
	}
	c.offsets = append(c.offsets[:0], offsets...)
	c.arena = arena
	return true
}

// An attempt is one search to be run.
type attempt struct {
	capacity int64
	nodes    int64
	status   status
	complete bool
}

// step spends a little more on the component: a round of searches, or what else
// there is for components too large for them. It returns the nodes that count.
func (c *contender) step(ctx context.Context, goal, capacity, budget int64, o *Options) (nodes int64) {
	if c.net == nil && !c.huge {
		c.net = newNetwork(c.p)
		c.huge = c.net == nil
	}
	big := len(c.p.items) >= bigItems
	switch {
	case c.huge && !c.stuck:
		nodes, _ = c.repair(ctx, max(goal, capacity), budget/4, o) // leave some for the rest
	case c.huge && c.runs >= hugeRuns:
		c.done = true
	case c.huge || c.polished <= c.rounds && (big || c.rounds%2 == 1 && c.arena-c.lower > c.lower/wideGap):
		c.polished = c.rounds + 1
		better := false
		for n := 0; n < 4*int(rankings) && !better && ctx.Err() == nil && nodes < budget; n++ {
			better = c.polish()
			nodes += int64(len(c.p.items)/16 + 1) // which cost about as much as a skyline
		}
		if better && c.huge {
			c.stuck = false
		}
	default:
		nodes, _ = c.race(ctx, goal, capacity, budget, o)
	}
	return nodes
}

// race runs one round: a search in each slot, with at most budget nodes in all.
//
// The searches aim at different arenas between the lower bound and the best, or
// the capacity: more room does not make every problem easier for every search,
// and a miss at a low aim costs little beside a hit at a higher one. The lowest
// hit wins; searches that aim higher are stopped, and do not count whether they
// ended before or not. So a round has one outcome, however its searches are
// scheduled.
func (c *contender) race(ctx context.Context, goal, capacity, budget int64, o *Options) (nodes int64, better bool) {
	var tries [racers]attempt
	spread := c.aim(&tries, goal, capacity, o.Strategy == Exact)

	var won atomic.Int32 // least slot that solved
	won.Store(racers)
	round := c.rounds
	c.rounds++
	search := func(k int) {
		if c.slots[k] == nil {
			c.slots[k] = newSearcher(c.net)
		}
		s, a := c.slots[k], &tries[k]
		n := round*racers + k // searches with one aim share out the ways to search
		if spread {
			n = round + 2*k
		}
		limit := c.prepare(s, n, o.Strategy == Exact)
		stop := func() bool { return won.Load() < int32(k) || ctx.Err() != nil }
		if stop() {
			a.status = aborted
			return
		}
		a.status = s.run(a.capacity, min(limit, budget/racers), stop)
		a.nodes, a.complete = s.nodes, s.complete
		if a.status == solved {
			for w := won.Load(); int32(k) < w && !won.CompareAndSwap(w, int32(k)); w = won.Load() {
			}
		}
	}
	parallel(racers, o.Workers, search)

	for k := range tries {
		a := &tries[k]
		nodes += a.nodes
		switch {
		case a.status == failed && a.complete:
			c.lower = max(c.lower, a.capacity+c.p.grain)
		case a.status == solved:
			better = c.offer(c.slots[k].floor)
			for _, s := range c.slots {
				if s != nil {
					clear(s.memo) // what stopped searches left there depends on when they were
				}
			}
			return nodes, better
		}
	}
	return nodes, false
}

// aim sets the capacities of a round, rising, and reports whether they differ.
func (c *contender) aim(tries *[racers]attempt, goal, capacity int64, prove bool) (spread bool) {
	// All arenas that can be reached are multiples of the grain.
	grain := c.p.grain
	low := max(c.lower, goal/grain*grain)
	at := func(gap int64, k, of int) int64 { // without overflow
		return low + (gap/int64(of)*int64(k)+gap%int64(of)*int64(k)/int64(of))*grain
	}
	if capacity > 0 {
		low = min(low, capacity/grain*grain)
		for k := range tries {
			tries[k].capacity = at((capacity-low)/grain, k, racers-1)
		}
	} else {
		for k := range tries {
			tries[k].capacity = at((c.arena-low)/grain, k, racers)
			if c.rounds%3 == 2 { // now and then, ask for less: 1/2, 3/4, 7/8, 15/16
				tries[k].capacity = at((c.arena-low)/grain, 2<<k-1, 2<<k)
			}
		}
		if prove {
			tries[racers-1].capacity = c.arena - grain
		}
	}
	return tries[0].capacity < tries[racers-1].capacity
}

// prepare sets the n-th search up and returns its node limit. Searches differ in
// ranking, in noise, and in how they choose the section to work on. Few searches
// are long and most are short, since good luck early on counts for more than
// patience: limits follow Luby, Sinclair and Zuckerman, "Optimal speedup of Las
// Vegas algorithms", 1993. To prove something, all have to grow.
func (c *contender) prepare(s *searcher, n int, prove bool) int64 {
	ways := 2 * int(rankings)
	round := n / ways
	var noise int64
	if round > 0 {
		noise = 3 * fixedOne / 2
	}
	s.rank = places(ranked(c.scores.score(ranking(n%ways/2), noise, uint64(n))))
	s.tight = n%2 == 1
	items := int64(len(c.p.items))
	switch {
	case prove:
		return (items + 1000) << min(n/racers, 40)
	case round == 0:
		return items + 200
	default:
		return luby(round) * (items + 1000)
	}
}

// luby returns element n of 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ..., counted from 1.
func luby(n int) int64 {
	for k := 1; ; {
		switch {
		case n == 1<<k-1:
			return 1 << (k - 1)
		case n < 1<<k-1:
			n -= 1<<(k-1) - 1
			k = 1
		default:
			k++
		}
	}
}

// parallel calls f for 0 to n-1, in rising order, on so many goroutines.
func parallel(n, workers int, f func(int)) {
	if workers <= 1 {
		for k := range n {
			f(k)
		}
		return
	}
	var next atomic.Int32
	var wg sync.WaitGroup
	for range min(workers, n) {
		wg.Go(func() {
			for k := int(next.Add(1)) - 1; k < n; k = int(next.Add(1)) - 1 {
				f(k)
			}
		})
	}
	wg.Wait()
}
