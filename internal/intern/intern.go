// Package intern has those who ask for one thing share it, for as long as one of
// them holds it.
package intern

import (
	"runtime"
	"sync"
	"weak"
)

// A Map has at most one value for each key: that which somebody outside of the map
// holds. It holds none itself, so that a value is collected as if there were no map.
// It may be used by several goroutines at once.
type Map[K comparable, V any] struct{ entries *entries[K, V] }

// entries are apart from the map, so that the cleanup of a value does not hold
// what the map is a part of, and through it the value.
type entries[K comparable, V any] struct {
	mu sync.Mutex
	of map[K]weak.Pointer[V]
}

// New returns an empty map.
func New[K comparable, V any]() Map[K, V] {
	return Map[K, V]{&entries[K, V]{of: make(map[K]weak.Pointer[V])}}
}

// Get returns the value of a key. Where nobody holds one, that is what create returns;
// meanwhile others wait. Create must not use the map. The value must not be reachable
// from the key.
func (m Map[K, V]) Get(key K, create func() (*V, error)) (*V, error) {
	e := m.entries
	e.mu.Lock()
	defer e.mu.Unlock()
	if v := e.of[key].Value(); v != nil {
		return v, nil
	}
	v, err := create()
	if err != nil {
		return nil, err
	}
	e.of[key] = weak.Make(v)
	runtime.AddCleanup(v, e.drop, key)
	return v, nil
}

// drop forgets a key whose value was collected, unless it has another one by now.
func (e *entries[K, V]) drop(key K) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.of[key].Value() == nil {
		delete(e.of, key)
	}
}

// Len returns the number of keys whose values were not collected yet.
func (m Map[K, V]) Len() int {
	m.entries.mu.Lock()
	defer m.entries.mu.Unlock()
	return len(m.entries.of)
}
