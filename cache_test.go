package berth_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/berth-go/berth"
)

// heavy returns a promise of some work over x, which holds whole numbers so
// that no order of adding shows.
func heavy(x *berth.Promise) *berth.Promise {
	return x.MatMul(x.Transpose()).Mod(berth.Scalar[float32](7).Promise())
}

func small(rng *rand.Rand, dims ...int) *berth.Promise {
	return random(rng, -2, 2, dims...).promise(berth.Float32)
}

// TestCacheKeeps has the second materialisation do nothing.
func TestCacheKeeps(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	x := heavy(small(rng, 8, 8))
	c := x.Cache()
	want := bits(t, x)
	if len(steps(t, c)) == 0 {
		t.Error("a cache is full before anything ran")
	}
	first := bits(t, c)
	if ops := steps(t, c, c.AddScalar(1)); len(ops) != 1 {
		t.Errorf("a full cache leaves the steps %v", ops)
	}
	second := bits(t, c)
	if !berth.Equal(first, want) || !sharesStorage(first, second) {
		t.Error("the cache was computed again, or wrong")
	}
	// A part is enough to fill it.
	d := x.Cache()
	part := bits(t, d.Sum())
	if ops := steps(t, d); len(ops) != 0 || !berth.Equal(part, bits(t, x.Sum())) {
		t.Errorf("the steps are %v", ops)
	}
	// It belongs to the promise, not to the data.
	if ops := steps(t, x.Cache()); len(ops) == 0 {
		t.Error("another cache of the same promise is full")
	}
	// Nor does what is made from it change it.
	e := c.AddScalar(1).Neg()
	for range 2 {
		bits(t, e)
	}
	if !berth.Equal(bits(t, c), want) {
		t.Error("a consumer wrote over the cache")
	}
}

// TestCacheIsContiguous stores views row by row.
func TestCacheIsContiguous(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 2))
	x := heavy(small(rng, 6, 4))
	for what, p := range map[string]*berth.Promise{
		"transposed": x.Transpose(), "reversed": x.Slice(0, -1, -100, -1), "strided": x.Slice(1, 0, 4, 2), "repeated": x.Index(0, 0).BroadcastTo(3, 6),
		"leaf": ramp(3, 4).Promise().Transpose(), "part": x.Slice(0, 2, 4, 1), "scalar": x.Sum(), "nothing": x.Slice(0, 2, 2, 1),
		"cache": x.Cache().Transpose().Cache(),
	} {
		c := p.Cache()
		out := bits(t, c)
		if !out.IsDense() || !berth.Equal(out, bits(t, p)) {
			t.Errorf("%s: %v", what, out)
		}
		if out.Len() > 0 && len(inside.Leaf(out).Data) != out.Len()*out.DType().Size() {
			t.Errorf("%s: keeps %d bytes for %d elements", what, len(inside.Leaf(out).Data), out.Len())
		}
		// A view of the cache does not fill another.
		if v := bits(t, c.Flatten()); out.Len() > 0 && !sharesStorage(v, out) {
			t.Errorf("%s: a view of a cache was copied", what)
		}
	}
}

// TestConcurrentMaterialize materialises promises that share nodes and caches
// from several goroutines, in different orders. Whoever needs a cache gets
// the same bytes, so it was filled once.
func TestConcurrentMaterialize(t *testing.T) {
	const goroutines, rounds = 8, 20
	for round := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(round, 3))
		x := small(rng, 12, 12)
		shared := heavy(x)
		caches := []*berth.Promise{shared.Cache(), heavy(x.AddScalar(1)).Cache(), x.Transpose().Cache()}
		caches = append(caches, heavy(caches[0].Sub(caches[1])).Cache()) // a cache over caches
		promises := append([]*berth.Promise{
			caches[0].Add(caches[1]), caches[3].Sub(caches[2]).Sum(0), caches[1].Mul(caches[2]).Index(0, 1), shared.Neg(), shared,
		}, caches...)
		var want []*berth.Tensor
		for _, p := range uncached(x) {
			want = append(want, bits(t, p))
		}
		got := make([][]*berth.Tensor, goroutines)
		var wg sync.WaitGroup
		for g := range goroutines {
			order := rng.Perm(len(promises))
			got[g] = make([]*berth.Tensor, len(promises))
			wg.Go(func() {
				if g%2 == 0 { // one by one
					for _, i := range order {
						var err error
						if got[g][i], err = promises[i].Materialize(context.Background()); err != nil {
							t.Error(err)
						}
					}
					return
				}
				these := make([]*berth.Promise, len(order))
				for k, i := range order {
					these[k] = promises[i]
				}
				out, err := berth.MaterializeWith(context.Background(), berth.RunOptions{Workers: 1 + g%3, Poison: true}, these...)
				if err != nil {
					t.Error(err)
					return
				}
				for k, i := range order {
					got[g][i] = out[k]
				}
			})
		}
		wg.Wait()
		if t.Failed() {
			return
		}
		for g := range got {
			for i := range promises {
				if !berth.Equal(got[g][i], want[i]) {
					t.Fatalf("round %d, goroutine %d, promise %d: got %v, want %v", round, g, i, got[g][i], want[i])
				}
				if cache := i >= len(promises)-len(caches); cache && !sharesStorage(got[g][i], got[0][i]) {
					t.Fatalf("round %d: cache %d was computed twice", round, i-len(promises)+len(caches))
				}
			}
		}
	}
}

// TestCacheIsComputedOnce has goroutines ask at the same moment for a cache that
// takes long to fill, so that they come upon each other.
func TestCacheIsComputedOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 6))
	for range 4 {
		p := small(rng, 96, 96)
		for range 20 {
			p = heavy(p)
		}
		c := p.Cache()
		out := make([]*berth.Tensor, 8)
		start := make(chan struct{})
		var wg sync.WaitGroup
		for g := range out {
			wg.Go(func() {
				<-start
				var err error
				if out[g], err = inside.Promise(must(inside.Value(c))).Materialize(context.Background()); err != nil {
					t.Error(err)
				}
			})
		}
		close(start)
		wg.Wait()
		for g := range out {
			if out[g] == nil || !sharesStorage(out[g], out[0]) {
				t.Fatalf("goroutine %d has a result of its own", g)
			}
		}
	}
}

// uncached builds the promises of TestConcurrentMaterialize without caches.
func uncached(x *berth.Promise) []*berth.Promise {
	a, b, c := heavy(x), heavy(x.AddScalar(1)), x.Transpose()
	d := heavy(a.Sub(b))
	return []*berth.Promise{a.Add(b), d.Sub(c).Sum(0), b.Mul(c).Index(0, 1), a.Neg(), a, a, b, c, d}
}

// TestSamePromiseConcurrently materialises one promise without a cache from
// many goroutines: each run has buffers of its own.
func TestSamePromiseConcurrently(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 4))
	p := heavy(heavy(small(rng, 16, 16)).AddScalar(1))
	want := bits(t, p)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			out, err := p.Materialize(context.Background())
			if err != nil || !berth.Equal(out, want) {
				t.Errorf("got %v, %v", out, err)
			}
		})
	}
	wg.Wait()
}

// TestFailedRunLetsGoOfCaches runs into errors while caches are locked, and
// then fills them.
func TestFailedRunLetsGoOfCaches(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 5))
	c := heavy(small(rng, 4, 4)).Cache()
	d := c.AddScalar(1).Cache()
	outside := list([]float64{9}, 1).promise(berth.Int64)

	// The run fails after one cache is full and before the other is.
	broken := c.Gather(0, outside).Cache()
	for range 2 {
		_, err := broken.Add(d.Slice(0, 0, 1, 1)).Materialize(t.Context())
		wantError(t, "gather", err, "gather", "9")
	}
	stop := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	if _, err := d.Cache().Materialize(ctx); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
	for n := range 4 { // the context ends between steps
		e := heavy(heavy(d)).Cache()
		if _, err := e.Materialize(&countdown{Context: t.Context(), left: n % 3, err: stop}); !errors.Is(err, stop) {
			t.Errorf("after %d questions: %v", n, err)
		}
		if out := bits(t, e); !berth.Equal(out, bits(t, heavy(heavy(d)))) {
			t.Errorf("got %v", out)
		}
	}
	if !berth.Equal(bits(t, d), bits(t, c.AddScalar(1))) {
		t.Error("the cache is wrong after failures")
	}

	// Waiting for a cache that another run fills can be given up.
	var wg sync.WaitGroup
	for range 4 {
		f := heavy(heavy(heavy(small(rng, 64, 64)))).Cache()
		for g := range 4 {
			wg.Go(func() {
				ctx, cancel := context.WithCancel(context.Background())
				if g%2 == 1 {
					cancel()
				}
				defer cancel()
				if _, err := f.Materialize(ctx); err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
}
