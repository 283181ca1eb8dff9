package berth_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/race"
)

// Serve runs of one program from many goroutines, four at a time.
func ExamplePool() {
	ctx := context.Background()
	n := berth.Dim("n", 1, 64)
	prog, err := berth.Compile(ctx, berth.Outputs{"y": berth.Input("x", berth.Float32, n).MulScalar(2).Exp()}, nil)
	if err != nil {
		log.Fatal(err)
	}
	pool := prog.NewPool(4, &berth.InstanceOptions{Workers: 1})
	defer pool.Close()
	serve := func(x []float32) ([]float32, error) {
		y := make([]float32, len(x))
		err := pool.Do(ctx, func(inst *berth.Instance) error {
			return inst.Run(ctx, berth.Values{"x": x}, berth.Values{"y": y})
		})
		return y, err
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, err := serve([]float32{1, 2, 3}); err != nil {
				log.Print(err)
			}
		})
	}
	wg.Wait()
	y, err := serve([]float32{0})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(y)
	// Output: [1]
}

// A lendable is an item that finds out who uses it wrongly.
type lendable struct {
	busy, closed atomic.Bool
	number       int32
}

func (l *lendable) Close() {
	if l.busy.Load() || l.closed.Swap(true) {
		panic("closed in use, or twice")
	}
}

// lendables returns a pool, what counts the items made, and a function that uses one.
func lendables(max int) (pool *berth.Pool[*lendable], made *atomic.Int32, use func(*lendable) error) {
	made = new(atomic.Int32)
	pool = berth.NewPool(max, func() (*lendable, error) { return &lendable{number: made.Add(1)}, nil })
	return pool, made, func(l *lendable) error {
		if l.closed.Load() || l.busy.Swap(true) {
			panic("closed, or lent twice")
		}
		l.busy.Store(false)
		return nil
	}
}

// TestPoolBound has many goroutines share a few items.
func TestPoolBound(t *testing.T) {
	pool, made, use := lendables(3)
	var items sync.Map
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			for range 20 {
				if err := pool.Do(t.Context(), func(l *lendable) error { items.Store(l, true); return use(l) }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := made.Load(); n < 1 || n > 3 {
		t.Errorf("%d items were made", n)
	}
	pool.Close()
	pool.Close()
	if err := pool.Do(t.Context(), use); !errors.Is(err, berth.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	items.Range(func(l, _ any) bool {
		if !l.(*lendable).closed.Load() {
			t.Error("an item is not closed")
		}
		return true
	})
}

// TestPoolClosing closes pools in use.
func TestPoolClosing(t *testing.T) {
	for range 2000 {
		pool, _, use := lendables(2)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for {
					if err := pool.Do(t.Context(), use); err != nil {
						if !errors.Is(err, berth.ErrClosed) {
							t.Error(err)
						}
						return
					}
				}
			})
		}
		pool.Close()
		wg.Wait()
	}
}

// TestPoolReuse wants the item that was used last, and one for a pool of none.
func TestPoolReuse(t *testing.T) {
	pool, made, use := lendables(0)
	for range 3 {
		if err := pool.Do(t.Context(), use); err != nil {
			t.Fatal(err)
		}
	}
	if made.Load() != 1 {
		t.Errorf("%d items were made", made.Load())
	}
	if race.Enabled {
		return
	}
	ctx := t.Context()
	if n := testing.AllocsPerRun(100, func() { pool.Do(ctx, use) }); n != 0 {
		t.Errorf("%v allocations", n)
	}

	pool, _, _ = lendables(2)
	var last int32
	if err := pool.Do(ctx, func(*lendable) error {
		return pool.Do(ctx, func(inner *lendable) error {
			last = inner.number
			return nil
		})
	}); err != nil {
		t.Fatal(err)
	}
	// The outer one was given back last.
	if err := pool.Do(ctx, func(l *lendable) error {
		if l.number == last {
			return errors.New("lends the one given back before")
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// TestPoolWaits goes through the ways in which waiting ends.
func TestPoolWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, _, use := lendables(1)
		release := make(chan struct{})
		results := make(map[string]chan error)
		start := func(name string, ctx context.Context, use func(*lendable) error) {
			results[name] = make(chan error, 1)
			go func() { results[name] <- pool.Do(ctx, use) }()
			synctest.Wait()
		}
		broken, stop := errors.New("broken"), errors.New("enough")
		start("holder", t.Context(), func(*lendable) error { <-release; return broken })
		impatient, leave := context.WithCancelCause(t.Context())
		start("impatient", impatient, use)
		start("patient", t.Context(), use)
		leave(stop)
		if err := <-results["impatient"]; !errors.Is(err, stop) {
			t.Errorf("got %v", err)
		}
		if err := pool.Do(impatient, use); !errors.Is(err, stop) {
			t.Errorf("got %v", err)
		}
		close(release)
		if err := <-results["holder"]; err != broken {
			t.Errorf("got %v", err)
		}
		if err := <-results["patient"]; err != nil {
			t.Errorf("got %v", err)
		}

		// Close turns away who waits, and waits for who has an item.
		release = make(chan struct{})
		start("holder", t.Context(), func(l *lendable) error { <-release; return use(l) })
		start("waiting", t.Context(), use)
		done := make(chan struct{})
		go func() { pool.Close(); close(done) }()
		if err := <-results["waiting"]; !errors.Is(err, berth.ErrClosed) {
			t.Errorf("got %v", err)
		}
		synctest.Wait()
		select {
		case <-done:
			t.Error("closed while an item was lent")
		default:
		}
		close(release)
		<-done
		if err := <-results["holder"]; err != nil {
			t.Errorf("got %v", err)
		}
	})
}

// TestPoolFailures has items that cannot be made, and a use that panics.
func TestPoolFailures(t *testing.T) {
	broken := errors.New("broken")
	fail, made := true, 0
	pool := berth.NewPool(1, func() (*lendable, error) {
		if fail {
			return nil, broken
		}
		made++
		return &lendable{}, nil
	})
	_, _, use := lendables(1)
	for range 2 {
		if err := pool.Do(t.Context(), use); err != broken {
			t.Errorf("got %v", err)
		}
	}
	fail = false
	func() {
		defer func() {
			if r := recover(); r != "oh" {
				t.Errorf("recovered %v", r)
			}
		}()
		pool.Do(t.Context(), func(*lendable) error { panic("oh") })
	}()
	if err := pool.Do(t.Context(), use); err != nil || made != 1 {
		t.Errorf("after a panic: %v, %d items", err, made)
	}
	wantError(t, "nothing to do", pool.Do(t.Context(), nil), "nil")
	var none context.Context
	wantError(t, "no context", pool.Do(none, use), "context is nil")
	for _, p := range []*berth.Pool[*lendable]{nil, new(berth.Pool[*lendable]), berth.NewPool[*lendable](1, nil)} {
		wantError(t, "no pool", p.Do(t.Context(), use), "pool is nil")
		p.Close()
	}
	var nothing *berth.Program
	if err := nothing.NewPool(1, nil).Do(t.Context(), func(*berth.Instance) error { return nil }); err == nil {
		t.Error("a pool of instances of no program has one")
	}
}
