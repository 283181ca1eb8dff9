package onnx

import (
	"context"
	varint "encoding/binary"
	"sync"
	"sync/atomic"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/exec"
)

// A tree holds what is built of one graph of the model: the graph itself, or the body of
// a loop. A run goes from the root to a leaf, from stage to stage. A stage is a segment,
// which is compiled in full, and the host steps after it. What comes next depends on the
// shapes of what the host has made, and on elements that shapes depend on; so a stage has
// a next one for each of these that has come up, the root for each set of input shapes:
//
//	root ─ x FLOAT[1 256] ─ segment, condition ─ true  ─ segment, results
//	     │                                     └ false ─ segment, results
//	     └ x FLOAT[1 512] ─ segment, condition ─ true  ─ segment, results
//
// A run at shapes seen before builds nothing. The tree holds so many stages at most:
// of what the root leads to, the one used longest ago goes, with all that follows it.
type tree struct {
	model   *Model
	body    *body
	entries []entry
	root    stage

	clock   atomic.Int64
	most    int          // stages that are kept
	mu      sync.Mutex   // of what follows and of all next stages; held for moments alone
	count   int          // stages that are there
	evicted atomic.Int64 // how often stages have gone
}

// maxStages is how many stages a tree keeps.
const maxStages = 256

// An entry is a value that a run of a tree is given, in the slot of its number.
type entry struct {
	name     string
	fallback symbol // what stands for a value that is not given
}

// A stage is a segment with what follows it on the host.
type stage struct {
	tree   *tree
	number int // of slots, counted up to here
	opens  []opening

	program *berth.Program // nil: computes nothing
	segment *exec.Prepared // of the program
	in      []int          // slots
	out     []output
	steps   []*hostStep

	results   []symbol // of the body; nil: there is a next stage
	constants []Value  // among the results; nil: it is none
	typed     []int    // slots whose types decide what comes next
	known     []int    // slots whose elements do
	spaces    spaces
	waits     []item

	building sync.Mutex // while a next stage is made
	lock     sync.RWMutex
	next     map[string]*stage // written with both lock and the tree's mu held
	used     atomic.Int64      // when, on the clock of the tree
	dead     atomic.Bool       // the tree has it no more
}

// An opening takes a sequence apart: items go to slots of their own.
type opening struct {
	slot  int
	items []int
}

// An output is a tensor that a segment writes to a slot.
type output struct {
	slot   int
	typ    graph.Type
	text   bool
	result int // of the body, or -1
}

func newTree(m *Model, b *body, entries []entry, constants map[string]symbol) (*tree, error) {
	t := &tree{model: m, body: b, entries: entries, most: maxStages}
	r := &t.root
	r.tree, r.number = t, len(entries)
	r.spaces.enter(-1)
	for name, v := range constants {
		r.spaces[0].values[name] = v
	}
	for i, e := range entries {
		r.spaces[0].values[e.name] = symbol{kind: slotted, slot: i}
		r.typed = append(r.typed, i)
	}
	if err := b.constants(m, r.spaces[0].values); err != nil {
		return nil, err
	}
	for i := range b.nodes {
		r.waits = append(r.waits, item{node: &b.nodes[i]})
	}
	return t, nil
}

// appendKey appends what of the values in the slots decides what follows the stage.
func (s *stage) appendKey(key []byte, env []Value) []byte {
	for _, slot := range s.typed {
		key = appendType(key, env[slot])
	}
	for _, slot := range s.known {
		key = append(key, env[slot].(*Array).data...)
	}
	return key
}

// appendType appends what graphs depend on of a value: all but the elements. No type is
// the beginning of another one.
func appendType(key []byte, v Value) []byte {
	switch v := v.(type) {
	case *Array:
		kind := byte('a')
		if v.ids {
			kind = 't'
		}
		key = varint.AppendUvarint(append(key, kind, byte(v.typ)), uint64(len(v.dims)))
		for _, d := range v.dims {
			key = varint.AppendUvarint(key, uint64(d))
		}
	case Sequence:
		key = varint.AppendUvarint(append(key, 's'), uint64(len(v)))
		for _, item := range v {
			key = appendType(key, item)
		}
	case *Map:
		key = append(key, 'm')
	default:
		key = append(key, 'n')
	}
	return key
}

// after returns the stage that follows s for the values in the slots. Key is that of s.
func (s *stage) after(ctx context.Context, limits *SessionOptions, key []byte, env []Value) (*stage, error) {
	s.lock.RLock()
	n := s.next[string(key)]
	s.lock.RUnlock()
	if n == nil {
		var err error
		if n, err = s.extend(ctx, limits, string(key), env); err != nil {
			return nil, err
		}
	}
	if s == &s.tree.root {
		n.used.Store(s.tree.clock.Add(1))
	}
	return n, nil
}

// extend builds the stage that follows s, unless that is there by now.
func (s *stage) extend(ctx context.Context, limits *SessionOptions, key string, env []Value) (*stage, error) {
	s.building.Lock()
	defer s.building.Unlock()
	s.lock.RLock()
	n := s.next[key]
	s.lock.RUnlock()
	if n != nil {
		return n, nil
	}
	n, err := s.build(ctx, limits, env)
	if err != nil {
		return nil, err
	}
	n.used.Store(s.tree.clock.Add(1))
	s.tree.add(s, key, n)
	return n, nil
}

// add has n follow s, and drops stages when there are too many. A stage that follows one
// which has gone meanwhile serves the run that made it, and no other.
func (t *tree) add(s *stage, key string, n *stage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.dead.Load() {
		n.dead.Store(true)
		t.evicted.Add(1)
		return
	}
	s.lock.Lock()
	if s.next == nil {
		s.next = make(map[string]*stage)
	}
	s.next[key] = n
	s.lock.Unlock()
	for t.count++; t.count > t.most; {
		t.evict()
	}
}

// evict drops what the root leads to that was used longest ago.
func (t *tree) evict() {
	var oldest string
	for key, n := range t.root.next {
		if o := t.root.next[oldest]; o == nil || n.used.Load() < o.used.Load() {
			oldest = key
		}
	}
	t.count -= t.root.next[oldest].die()
	t.root.lock.Lock()
	delete(t.root.next, oldest)
	t.root.lock.Unlock()
	t.evicted.Add(1)
}

// die marks a stage and all that follow it as gone, and returns how many these are.
func (s *stage) die() int {
	s.dead.Store(true)
	n := 1
	for _, next := range s.next {
		n += next.die()
	}
	return n
}
