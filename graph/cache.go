package graph

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"
)

// cacheState is the part of a Cache node that changes: empty, then filled
// once and for good. Copies of the node made by [Node.With] share it.
type cacheState struct {
	id     uint64 // of the first node; the order in which caches are locked
	filled atomic.Pointer[Leaf]
	// turn holds one token while nobody is filling the cache. A channel
	// rather than a mutex, so that waiting can be given up.
	turn chan struct{}
}

func newCacheState(id uint64) *cacheState {
	c := &cacheState{id: id, turn: make(chan struct{}, 1)}
	c.turn <- struct{}{}
	return c
}

// LockCaches gives the caller the only right to fill the given cache nodes,
// waiting for others that hold it until ctx is done. On success the caller
// must call unlock; on error nothing is held. A node may have been filled in
// the meantime.
//
// Every caller takes its locks in one process-wide order, so callers whose
// graphs share caches cannot wait for each other in a circle.
func LockCaches(ctx context.Context, nodes []*Node) (unlock func(), err error) {
	var held []*cacheState
	unlock = func() {
		for _, c := range held {
			c.turn <- struct{}{}
		}
	}
	states := make([]*cacheState, len(nodes))
	for i, n := range nodes {
		states[i] = n.cache
	}
	slices.SortFunc(states, func(a, b *cacheState) int { return cmp.Compare(a.id, b.id) })
	for _, c := range slices.Compact(states) {
		select {
		case <-c.turn:
			held = append(held, c)
		case <-ctx.Done():
			unlock()
			return nil, context.Cause(ctx)
		}
	}
	return unlock, nil
}
