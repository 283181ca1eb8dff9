package berth

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// A Pool lends what runs once at a time, such as an [Instance] or a session of package
// onnx, to as many goroutines as come. Items are made when they are first needed, at most
// a stated number of them. When all are lent, [Pool.Do] waits.
//
// T may be a type of the caller that holds what a run needs, such as an instance and the
// buffers of its outputs.
//
// A Pool is safe for concurrent use.
type Pool[T interface{ Close() }] struct {
	create  func() (T, error)
	lent    chan struct{} // holds an element for each item that is lent
	closing chan struct{} // is closed by Close
	once    sync.Once     // for Close

	mu   sync.Mutex
	idle []T // the item given back last is at the end
}

// ErrClosed is wrapped by the error of [Pool.Do] on a pool that is closed.
var ErrClosed = errors.New("the pool is closed")

// NewPool returns a pool of at most max items; less than 1 counts as 1. It calls create
// from the goroutine of the [Pool.Do] that finds no item idle. Create may be called by
// several goroutines at a time.
func NewPool[T interface{ Close() }](max int, create func() (T, error)) *Pool[T] {
	if max < 1 {
		max = 1
	}
	return &Pool[T]{create: create, lent: make(chan struct{}, max), closing: make(chan struct{})}
}

// NewPool returns a pool of at most max instances of the program; less than 1 counts as
// 1. The instances share the weights, and each has an arena of its own:
//
//	pool := prog.NewPool(8, &berth.InstanceOptions{Workers: 1})
//	most := 8*prog.Memory().Arena
//
// Instances with one worker each serve the most runs a second when there are at least as
// many callers as processors; more workers make a single run faster.
func (p *Program) NewPool(max int, opt *InstanceOptions) *Pool[*Instance] {
	return NewPool(max, func() (*Instance, error) { return p.NewInstance(opt) })
}

// Do calls use with an item that nobody else has meanwhile, and returns the error of use.
// Use must not keep the item. The item is lent again after it, also when use returns an
// error or panics.
//
// Do waits while all items are lent, until ctx ends, when it returns the cause of that,
// or until the pool is closed, when it returns [ErrClosed]. Those that wait are served in
// the order in which they came. An error of create is returned and changes nothing: the
// next Do tries again. Do allocates nothing when an item is idle.
func (p *Pool[T]) Do(ctx context.Context, use func(item T) error) error {
	switch {
	case p == nil || p.create == nil:
		return errors.New("berth: the pool is nil, the zero Pool, or has nothing to make items with")
	case ctx == nil:
		return errContext
	case use == nil:
		return errors.New("berth: the function to be called with an item of the pool is nil")
	}
	if err := p.admit(ctx); err != nil {
		return fmt.Errorf("berth: waiting for one of %d items of a pool: %w", cap(p.lent), err)
	}
	defer func() { <-p.lent }()
	item, err := p.take()
	if err != nil {
		return err
	}
	defer p.giveBack(item)
	return use(item)
}

// admit waits until one more item may be lent.
func (p *Pool[T]) admit(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case p.lent <- struct{}{}:
	default:
		select {
		case p.lent <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-p.closing:
			return ErrClosed
		}
	}
	select {
	case <-p.closing:
		<-p.lent
		return ErrClosed
	default:
		return nil
	}
}

// take returns the item that was in use last, since its memory is likeliest to be cached,
// or a new one.
func (p *Pool[T]) take() (T, error) {
	p.mu.Lock()
	if n := len(p.idle); n > 0 {
		item := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return item, nil
	}
	p.mu.Unlock()
	return p.create()
}

func (p *Pool[T]) giveBack(item T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, item)
}

// Close closes the pool and all of its items. Whoever waits in [Pool.Do] gets
// [ErrClosed], as do those who come later. Close waits for the items that are lent, so
// that what they use, such as the file of a model, may be closed after it. It must not be
// called by what Do calls.
func (p *Pool[T]) Close() {
	if p == nil || p.create == nil {
		return
	}
	p.once.Do(func() {
		close(p.closing)
		for range cap(p.lent) {
			p.lent <- struct{}{}
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, item := range p.idle {
			item.Close()
		}
		p.idle = nil
	})
}
