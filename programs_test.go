package berth_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/berth-go/berth"
)

// doubling compiles y = 2x for the shape of x.
func doubling(ctx context.Context, shapes berth.Shapes) (*berth.Program, error) {
	extents := make([]any, len(shapes["x"]))
	for i, d := range shapes["x"] {
		extents[i] = d
	}
	return berth.Compile(ctx, berth.Outputs{"y": berth.Input("x", berth.Float32, extents...).MulScalar(2)}, nil)
}

func of(dims ...int) berth.Shapes { return berth.Shapes{"x": dims} }

func ExamplePrograms() {
	ctx := context.Background()
	programs := berth.NewPrograms(8, func(ctx context.Context, shapes berth.Shapes) (*berth.Program, error) {
		length := shapes["text"][0]
		text := berth.Input("text", berth.Float32, length, 2)
		return berth.Compile(ctx, berth.Outputs{"score": text.MatMul(text.Transpose()).Softmax(-1).Sum(0)}, nil)
	})
	for _, length := range []int{3, 5, 3} {
		text, err := berth.Full[float32](1, length, 2)
		if err != nil {
			log.Fatal(err)
		}
		inputs := map[string]*berth.Tensor{"text": text}
		program, err := programs.Get(ctx, berth.ShapesOf(inputs))
		if err != nil {
			log.Fatal(err)
		}
		out, err := program.RunOnce(ctx, inputs, 1)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(out["score"].Shape(), programs.Len())
	}
	// Output:
	// [3] 1
	// [5] 2
	// [3] 2
}

// TestProgramsKeepTheRecent fills a cache beyond its bound.
func TestProgramsKeepTheRecent(t *testing.T) {
	built := make(map[string]int)
	c := berth.NewPrograms(2, func(ctx context.Context, shapes berth.Shapes) (*berth.Program, error) {
		built[fmt.Sprint(shapes["x"])]++
		return doubling(ctx, shapes)
	})
	get := func(n int) *berth.Program {
		t.Helper()
		p, err := c.Get(t.Context(), of(n))
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Inputs()[0].Dims; fmt.Sprint(got) != fmt.Sprint([]int{n}) {
			t.Fatalf("asked for %d, got the program for %v", n, got)
		}
		return p
	}
	one := get(1)
	get(2)
	if get(1) != one {
		t.Error("a program was built again")
	}
	get(3) // 2 goes: 1 was asked for after it
	if get(1) != one || built["[1]"] != 1 || c.Len() != 2 {
		t.Errorf("built %v, keeps %d", built, c.Len())
	}
	get(2) // 3 goes
	get(3)
	if built["[2]"] != 2 || built["[3]"] != 2 || built["[1]"] != 1 || c.Len() != 2 {
		t.Errorf("built %v, keeps %d", built, c.Len())
	}
	// What has gone can still be used.
	if out, err := one.RunOnce(t.Context(), map[string]*berth.Tensor{"x": list([]float64{4}, 1).tensor(berth.Float32)}, 1); err != nil || read(out["y"]).data[0] != 8 {
		t.Errorf("got %v, %v", out, err)
	}
	least := berth.NewPrograms(-1, doubling)
	for n := range 3 {
		if _, err := least.Get(t.Context(), of(n)); err != nil || least.Len() != 1 {
			t.Errorf("%d programs, %v", least.Len(), err)
		}
	}
}

// TestProgramsTellShapesApart has names and extents that look alike when
// written behind each other.
func TestProgramsTellShapesApart(t *testing.T) {
	n := 0
	c := berth.NewPrograms(100, func(ctx context.Context, shapes berth.Shapes) (*berth.Program, error) {
		n++
		return doubling(ctx, of(1))
	})
	for i, s := range []berth.Shapes{
		nil, {"x": nil}, {"x": {1, 2}}, {"x": {12}}, {"x": {1}, "y": {2}}, {"x": {}, "y": {1, 2}}, {`x" 1;"y`: {2}}, {"x 1": {2}}, {"y": {1, 2}}, {"x": {-1, 2}},
	} {
		for range 2 {
			if _, err := c.Get(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		if n != i+1 {
			t.Fatalf("%v is taken for another one", s)
		}
	}
	// The order of a map does not matter, and a changed slice does.
	s := berth.Shapes{"a": {1}, "b": {2}, "c": {3}, "d": {4}}
	n = 0
	for range 20 {
		if _, err := c.Get(t.Context(), s); err != nil || n != 1 {
			t.Fatalf("built %d times, %v", n, err)
		}
	}
	s["a"][0] = 2
	if _, err := c.Get(t.Context(), s); err != nil || n != 2 {
		t.Errorf("built %d times, %v", n, err)
	}
}

// TestProgramsBuildOnce asks from many goroutines at once.
func TestProgramsBuildOnce(t *testing.T) {
	var builds atomic.Int32
	c := berth.NewPrograms(4, func(ctx context.Context, shapes berth.Shapes) (*berth.Program, error) {
		builds.Add(1)
		time.Sleep(2 * time.Millisecond) // for the others to come
		return doubling(ctx, shapes)
	})
	var wg sync.WaitGroup
	got := make([]*berth.Program, 32)
	for g := range got {
		wg.Go(func() {
			var err error
			if got[g], err = c.Get(context.Background(), of(g%4)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := builds.Load(); n != 4 {
		t.Errorf("built %d programs for 4 shapes", n)
	}
	for g := range got {
		if got[g] != got[g%4] {
			t.Errorf("goroutine %d has another program", g)
		}
	}
}

// TestProgramsFailures goes through builds that fail, give up and panic.
func TestProgramsFailures(t *testing.T) {
	broken, stop := errors.New("broken"), errors.New("enough")
	var next func(ctx context.Context, s berth.Shapes) (*berth.Program, error)
	c := berth.NewPrograms(4, func(ctx context.Context, s berth.Shapes) (*berth.Program, error) { return next(ctx, s) })
	next = func(context.Context, berth.Shapes) (*berth.Program, error) { return nil, broken }
	for range 2 {
		if _, err := c.Get(t.Context(), of(1)); !errors.Is(err, broken) || c.Len() != 0 {
			t.Errorf("got %v, keeps %d", err, c.Len())
		}
	}
	next = func(context.Context, berth.Shapes) (*berth.Program, error) { return nil, nil }
	wantError(t, "nothing", second(c.Get(t.Context(), of(1))), `"x" 1`, "returned none")

	next = func(context.Context, berth.Shapes) (*berth.Program, error) { panic("oh") }
	func() {
		defer func() {
			if r := recover(); r != "oh" {
				t.Errorf("recovered %v", r)
			}
		}()
		c.Get(t.Context(), of(1))
	}()
	next = doubling
	if _, err := c.Get(t.Context(), of(1)); err != nil || c.Len() != 1 {
		t.Errorf("after failures: %v, keeps %d", err, c.Len())
	}

	// The builder gives up; who waits for it builds, and who cannot wait any
	// longer goes.
	started := make(chan struct{})
	var builds atomic.Int32
	next = func(ctx context.Context, s berth.Shapes) (*berth.Program, error) {
		if builds.Add(1) == 1 {
			close(started)
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
		return doubling(ctx, s)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	results := make(chan error, 2)
	go func() {
		_, err := c.Get(ctx, of(2))
		results <- err
	}()
	<-started
	impatient, leave := context.WithCancelCause(t.Context())
	leave(stop)
	if _, err := c.Get(impatient, of(2)); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
	go func() {
		_, err := c.Get(context.Background(), of(2))
		results <- err
	}()
	time.Sleep(time.Millisecond) // the second one may wait by now, and need not
	cancel(stop)
	failed := 0
	for range 2 {
		if err := <-results; errors.Is(err, stop) {
			failed++
		} else if err != nil {
			t.Error(err)
		}
	}
	if failed != 1 || builds.Load() != 2 {
		t.Errorf("%d callers failed, %d builds", failed, builds.Load())
	}
}
