package onnx

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/berth-go/berth"
)

// TestNewPool has more goroutines than sessions run a model whose segments depend on data.
func TestNewPool(t *testing.T) {
	m := doublingModel(t)
	pool := m.NewPool(3, &SessionOptions{Workers: 1, Poison: true})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			y := &Array{}
			for k := range 30 {
				// One element of x + w is 0 in every third run, and both in none.
				data, want := []float32{float32(k), 1}, []float32{-8 * float32(k+10), -168}
				if k%3 == 0 {
					data[0], want = -10, want[1:]
				}
				x, err := NewArray(data, 2)
				if err == nil {
					err = pool.Do(t.Context(), func(s *Session) error {
						return s.Run(t.Context(), map[string]Value{"x": x}, map[string]Value{"y": y})
					})
				}
				if err != nil {
					t.Error(err)
					return
				}
				if got, err := Elements[float32](y); err != nil || !slices.Equal(got, want) {
					t.Errorf("of %v: %v, %v, want %v", data, got, err, want)
				}
			}
		})
	}
	wg.Wait()
	pool.Close()
	if err := pool.Do(t.Context(), func(*Session) error { return nil }); !errors.Is(err, berth.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	var nothing *Model
	if err := nothing.NewPool(1, nil).Do(t.Context(), func(*Session) error { return nil }); err == nil {
		t.Error("a pool of sessions of no model has one")
	}
}
