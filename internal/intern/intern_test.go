package intern_test

import (
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/berth-go/berth/internal/intern"
)

func box(n int) func() (*[8]int, error) {
	return func() (*[8]int, error) { return &[8]int{n}, nil }
}

// TestGet has many ask for one key at once, and wants one value to be made.
func TestGet(t *testing.T) {
	m := intern.New[string, [8]int]()
	var wait sync.WaitGroup
	got := make([]*[8]int, 16)
	made := 0
	for i := range got {
		wait.Go(func() {
			got[i], _ = m.Get("a", func() (*[8]int, error) { made++; return &[8]int{i}, nil })
		})
	}
	wait.Wait()
	for i, v := range got {
		if v != got[0] {
			t.Errorf("caller %d has a value of its own", i)
		}
	}
	if other, _ := m.Get("b", box(1)); made != 1 || other == got[0] || m.Len() != 2 {
		t.Errorf("%d values of one key were made, %d keys; another key has the same value: %v", made, m.Len(), other == got[0])
	}
	runtime.KeepAlive(got)
}

// TestCollected wants a value that nobody holds to go, with its key, and a later one
// to be another.
func TestCollected(t *testing.T) {
	m := intern.New[int, [8]int]()
	held, _ := m.Get(0, box(0))
	for i := range 10 {
		if _, err := m.Get(1+i, box(i)); err != nil {
			t.Fatal(err)
		}
	}
	for end := time.Now().Add(10 * time.Second); m.Len() > 1; {
		if time.Now().After(end) {
			t.Fatalf("%d keys are left, want that of the value that is held", m.Len())
		}
		runtime.GC()
	}
	if v, _ := m.Get(0, box(1)); v != held {
		t.Error("the value that is held was forgotten")
	}
	if v, _ := m.Get(5, box(7)); v[0] != 7 {
		t.Errorf("a collected value is back: %v", v)
	}
}

// TestError has what cannot be made leave nothing behind.
func TestError(t *testing.T) {
	m := intern.New[int, [8]int]()
	failed := errors.New("failed")
	if v, err := m.Get(1, func() (*[8]int, error) { return nil, failed }); v != nil || !errors.Is(err, failed) {
		t.Errorf("%v, %v", v, err)
	}
	if v, err := m.Get(1, box(3)); m.Len() != 1 || err != nil || v[0] != 3 {
		t.Errorf("%v, %v, %d keys", v, err, m.Len())
	}
}
