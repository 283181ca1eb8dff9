package graph

import (
	"context"
	"sync/atomic"
)

// cacheState is the part of a Cache node that changes: empty, then filled
// once and for good.
type cacheState struct {
	filled atomic.Pointer[Leaf]
	// turn holds one token while nobody is filling the cache. A channel
	// rather than a mutex, so that waiting can be given up.
	turn chan struct{}
}

func newCacheState() *cacheState {
	c := &cacheState{turn: make(chan struct{}, 1)}
	c.turn <- struct{}{}
	return c
}

func (c *cacheState) load() *Leaf { return c.filled.Load() }

func (c *cacheState) lock(ctx context.Context) error {
	select {
	case <-c.turn:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (c *cacheState) unlock() { c.turn <- struct{}{} }

func (c *cacheState) fill(leaf Leaf) { c.filled.CompareAndSwap(nil, &leaf) }
