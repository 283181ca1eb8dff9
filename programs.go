package berth

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
)

// Shapes are the extents of the inputs that a program is made for, by name.
type Shapes map[string][]int

// ShapesOf returns the shapes of tensors.
func ShapesOf(inputs map[string]*Tensor) Shapes {
	shapes := make(Shapes, len(inputs))
	for name, t := range inputs {
		shapes[name] = t.Shape()
	}
	return shapes
}

// key spells shapes in one way: names in order, quoted, each with its extents.
func (s Shapes) key() string {
	var b []byte
	for _, name := range slices.Sorted(maps.Keys(s)) {
		b = strconv.AppendQuote(b, name)
		for _, d := range s[name] {
			b = append(b, ' ')
			b = strconv.AppendInt(b, int64(d), 10)
		}
		b = append(b, ';')
	}
	return string(b)
}

func (s Shapes) clone() Shapes {
	out := make(Shapes, len(s))
	for name, dims := range s {
		out[name] = slices.Clone(dims)
	}
	return out
}

// Programs keeps programs for several shapes of their inputs, for what a
// [Dimension] cannot vary, such as ranks and extents that the steps depend on: each
// shape has a program of its own. It holds at most a stated number of them. When
// another one comes, the one that was asked for longest ago goes; whoever still has
// it may go on to use it. Programs that are being built do not count yet.
//
// Programs is safe for concurrent use.
type Programs struct {
	max   int
	build func(ctx context.Context, shapes Shapes) (*Program, error)

	mu     sync.Mutex
	builds map[string]*programBuild // kept or under way, by key
	recent []string                 // the keys of those that are kept, the one asked for last at the end
}

// A programBuild is a program that is kept, or its build that is under way. What
// done being closed tells holds after it.
type programBuild struct {
	done    chan struct{}
	program *Program
	err     error
	gaveUp  bool // the context of the builder ended
}

// NewPrograms returns an empty cache of at most max programs; less than 1
// counts as 1. It calls build, from the goroutine and with the context of the
// [Programs.Get] that first needs a program, for shapes that build may keep.
func NewPrograms(max int, build func(ctx context.Context, shapes Shapes) (*Program, error)) *Programs {
	if max < 1 {
		max = 1
	}
	return &Programs{max: max, build: build, builds: make(map[string]*programBuild)}
}

// Get returns the program for shapes. It is built once, also when several
// callers ask for it at the same time: the others wait, each until its own
// context ends. A failure goes to all that wait and is not kept, so that the
// next Get tries again; if it is the builder's context that ended, one of
// those that wait builds in its place.
func (c *Programs) Get(ctx context.Context, shapes Shapes) (*Program, error) {
	if c == nil || c.build == nil {
		return nil, errors.New("berth: the cache of programs is nil, the zero Programs, or has nothing to build them with")
	}
	if ctx == nil {
		return nil, errContext
	}
	key := shapes.key()
	for {
		b, mine := c.lookUp(key)
		if mine {
			c.run(ctx, key, shapes.clone(), b)
			return b.program, b.err
		}
		select {
		case <-b.done:
		default:
			select {
			case <-b.done:
			case <-ctx.Done():
				return nil, fmt.Errorf("berth: waiting for the program for %s: %w", key, context.Cause(ctx))
			}
		}
		if !b.gaveUp {
			return b.program, b.err
		}
	}
}

// Len returns the number of programs that are kept.
func (c *Programs) Len() int {
	if c == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.recent)
}

// lookUp returns the program of a key, or the build that makes it, which is the
// caller's to run if it is new.
func (c *Programs) lookUp(key string) (b *programBuild, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b, known := c.builds[key]
	if !known {
		b = &programBuild{done: make(chan struct{})}
		c.builds[key] = b
	} else if i := slices.Index(c.recent, key); i >= 0 {
		c.recent = append(slices.Delete(c.recent, i, i+1), key)
	}
	return b, !known
}

// run builds a program, keeps it and drops those that are too many. Should build panic, those that wait get
// an error.
func (c *Programs) run(ctx context.Context, key string, shapes Shapes, b *programBuild) {
	b.err = errors.New("berth: the build of the program for " + key + " panicked")
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if b.err != nil {
			delete(c.builds, key)
		} else if c.recent = append(c.recent, key); len(c.recent) > c.max {
			delete(c.builds, c.recent[0])
			c.recent = slices.Delete(c.recent, 0, 1)
		}
		close(b.done)
	}()
	b.program, b.err = c.build(ctx, shapes)
	switch {
	case b.err != nil:
		b.program, b.gaveUp = nil, ctx.Err() != nil
	case b.program == nil:
		b.err = errors.New("berth: the build of the program for " + key + " returned none")
	}
}
