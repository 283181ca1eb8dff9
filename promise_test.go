package berth_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/graph"
)

// here returns file and line of its caller, as promises name them.
func here(t *testing.T) string {
	t.Helper()
	_, file, line, ok := runtime.Caller(1)
	if !ok {
		t.Fatal("no caller")
	}
	return fmt.Sprintf("%s:%d", filepath.Base(file), line)
}

// TestFirstErrorSticks carries an error through every kind of method and wants
// the place that caused it, not those that came upon it.
func TestFirstErrorSticks(t *testing.T) {
	a, b := ramp(2, 3).Promise(), ramp(4).Promise()
	broken, place := a.Add(b), here(t)
	err := broken.Err()
	wantError(t, "add", err, place, "add", "int32[2 3] and int32[4]", "3", "4")
	if n := strings.Count(err.Error(), "_test.go:"); n != 1 {
		t.Errorf("the error names %d places: %v", n, err)
	}
	values, indices := broken.TopK(1, 0, true)
	for what, p := range map[string]*berth.Promise{
		"unary": broken.Exp(), "scalar": broken.AddScalar(1), "first": broken.Mul(a), "second": a.Mul(broken), "both": broken.Mul(a.Sub(b)),
		"view": broken.Reshape(6), "index": broken.Index(0, 0), "concat": berth.Concat(0, a, broken), "stack": berth.Stack(0, a, broken),
		"split": broken.Split(0, 1, 1)[1], "values": values, "indices": indices, "reduction": broken.Sum(), "cache": broken.Cache(),
		"contiguous": broken.Contiguous(), "long": broken.Exp().Neg().MatMul(a).Softmax(0).Cast(berth.Bool), "conv": a.Conv(a, broken, nil),
	} {
		if p.Err() != err {
			t.Errorf("%s: the error is %v", what, p.Err())
		}
		if _, e := p.Materialize(t.Context()); e != err {
			t.Errorf("%s: Materialize returned %v", what, e)
		}
		if _, e := p.Plan(); e != err {
			t.Errorf("%s: Plan returned %v", what, e)
		}
		if _, e := inside.Value(p); e != err {
			t.Errorf("%s: Value returned %v", what, e)
		}
		if _, e := berth.Compile(t.Context(), berth.Outputs{"y": p}, nil); !errors.Is(e, err) || !strings.Contains(e.Error(), `"y"`) {
			t.Errorf("%s: Compile returned %v", what, e)
		}
		if p.DType() != 0 || p.Shape() != nil && len(p.Shape()) != 0 {
			t.Errorf("%s: a broken promise of %v%v", what, p.DType(), p.Shape())
		}
		wantError(t, what, errors.New(p.String()), "broken promise", place)
	}
	if a.Err() != nil || a.Neg().Err() != nil {
		t.Error("the operand of a broken promise is broken too")
	}

	// Among several broken operands the leftmost speaks.
	one, onePlace := a.Reshape(7), here(t)
	two := a.Sum(5)
	wantError(t, "leftmost", one.Add(two).Err(), onePlace, "[7]")
}

// TestErrorPlace wants the position of the user's call also where methods call
// each other.
func TestErrorPlace(t *testing.T) {
	a := ramp(2, 3).Promise()
	for range 2 {
		p, place := a.Flatten().Transpose(), here(t)
		wantError(t, "transpose", p.Err(), place)
		p, place = berth.Stack(0, a, a.Index(0, 0)), here(t)
		wantError(t, "stack", p.Err(), place)
		p, place = berth.Input("x", berth.Float32, "three"), here(t)
		wantError(t, "input", p.Err(), place)
		f := a.Reshape // a method value
		p, place = f(5), here(t)
		wantError(t, "method value", p.Err(), place)
		func() {
			p, place = a.Add(nil), here(t)
		}()
		wantError(t, "nil", p.Err(), place, "nil")
	}
}

// TestNilAndZeroPromises have errors, not panics.
func TestNilAndZeroPromises(t *testing.T) {
	ctx := t.Context()
	zero := new(berth.Promise)
	for what, err := range map[string]error{
		"nil": second(berth.Materialize(ctx, nil)), "nil among others": second(berth.Materialize(ctx, ramp(2).Promise(), nil)),
		"plan of nil": second(berth.PlanOf(nil)),
		"zero":        second(zero.Materialize(ctx)), "plan of zero": second(zero.Plan()), "operation on zero": zero.Exp().Err(),
		"zero operand": ramp(2).Promise().Add(zero).Err(), "zero value": inside.Promise(graph.Value{}).Err(),
		"compiled nil":  second(berth.Compile(ctx, berth.Outputs{"y": nil}, nil)),
		"compiled zero": second(berth.Compile(ctx, berth.Outputs{"y": zero}, nil)),
	} {
		wantError(t, what, err, "berth: ")
	}
	if s := zero.String(); s == "" || zero.Shape() != nil && len(zero.Shape()) > 0 {
		t.Errorf("the zero promise is %q of shape %v", s, zero.Shape())
	}
	if out, err := berth.Materialize(ctx); err != nil || len(out) != 0 {
		t.Errorf("nothing materialises to %v, %v", out, err)
	}
}

// TestUnboundInput materialises promises that read an input of a program, after
// a step that fails. What is wrong is the input, and no step runs to find that.
func TestUnboundInput(t *testing.T) {
	one, zero := list([]float64{1}, 1).promise(berth.Int32), list([]float64{0}, 1).promise(berth.Int32)
	fails := one.Div(zero)
	if _, err := fails.Materialize(t.Context()); !errors.Is(err, berth.ErrDivideByZero) {
		t.Fatalf("got %v", err)
	}
	in := berth.Input("x", berth.Int32, 1)
	for what, promises := range map[string][]*berth.Promise{
		"operand":            {fails.Add(in)},
		"first operand":      {in.Add(fails)},
		"view":               {fails.MatMul(in.Unsqueeze(1).Transpose())},
		"result":             {fails, in},
		"view as a result":   {fails, in.Unsqueeze(0)},
		"cached":             {fails.Cache().Add(in.AddScalar(1).Cache())},
		"of another result":  {fails, one.AddScalar(1), in.AddScalar(1)},
		"behind other steps": {fails.Cast(berth.Float32).Softmax(0).Sum().Add(in.Cast(berth.Float32).Sum())},
	} {
		_, err := berth.Materialize(t.Context(), promises...)
		wantError(t, what, err, "berth: ", `input "x" is not bound`)
	}
}

// steps returns how many steps of a plan compute something.
func steps(t *testing.T, promises ...*berth.Promise) (ops []string) {
	t.Helper()
	p, err := berth.PlanOf(promises...)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range p.Steps {
		if !s.Outputs[0].Kind.IsReference() {
			ops = append(ops, s.Node.Op().Name())
		}
	}
	return ops
}

// TestScalarChainsFold counts the nodes and steps of chains of operations with
// scalars.
func TestScalarChainsFold(t *testing.T) {
	x := list([]float64{1, 2, 3}, 3).promise(berth.Float32)
	p := x.AddScalar(1).MulScalar(2)
	expect(t, "(x+1)*2", p, berth.Float32, list([]float64{4, 6, 8}, 3))
	for what, p := range map[string]*berth.Promise{
		"(x+1)*2": p, "2-x": x.ScalarSub(2), "long": x.AddScalar(1).MulScalar(2).SubScalar(3).DivScalar(4).PowScalar(2).MinimumScalar(9).Neg(),
		"with clip": x.MulScalar(3).Clip(1, 2).Relu(), "cast": x.AddScalar(0.5).Cast(berth.Int32).AddScalar(1),
		"compared": x.MulScalar(2).GreaterScalar(3).Not(),
	} {
		if ops := steps(t, p); len(ops) != 1 || ops[0] != "map" {
			t.Errorf("%s takes the steps %v", what, ops)
		}
	}
	var long = x
	for range 100 {
		long = long.AddScalar(1)
	}
	if ops := steps(t, long); len(ops) > 100/16+1 {
		t.Errorf("100 additions take %d steps", len(ops))
	}
	expect(t, "100 additions", long, berth.Float32, list([]float64{101, 102, 103}, 3))
	// A chain with several readers is computed by each; a costly function once, however
	// often it is written.
	if ops := steps(t, p.Exp(), p.Sqrt()); len(ops) != 2 {
		t.Errorf("two readers of (x+1)*2 take the steps %v", ops)
	}
	if ops := steps(t, p.Exp().AddScalar(1), p.Exp().AddScalar(2)); len(ops) != 3 {
		t.Errorf("two exponentials take the steps %v", ops)
	}
	e := p.Exp()
	if ops := steps(t, e.AddScalar(1), e.AddScalar(2)); len(ops) != 3 {
		t.Errorf("two readers of an exponential take the steps %v", ops)
	}
}

// TestWithoutRules leaves rewrite rules out of runs and of programs.
func TestWithoutRules(t *testing.T) {
	ctx := t.Context()
	x := list([]float64{1, 2, 3}, 3).promise(berth.Float32)
	p := x.AddScalar(1).Exp()
	all := []string{"recompute", "fuse"}
	out, err := berth.MaterializeWith(ctx, berth.RunOptions{Without: all}, p)
	if err != nil || !berth.Equal(out[0], must(p.Materialize(ctx))) {
		t.Errorf("a run without fusion gives %v, %v", out, err)
	}
	in := berth.Input("x", berth.Float32, 3).AddScalar(1).Exp()
	for without, want := range map[string]int{"": 1, "nest": 1, "recompute,fuse": 2} {
		opt := &berth.CompileOptions{Without: strings.FieldsFunc(without, func(r rune) bool { return r == ',' })}
		prog, err := berth.Compile(ctx, berth.Outputs{"y": in}, opt)
		if err != nil || len(prog.Plan()) != want {
			t.Errorf("without %q: %v, %v, want %d steps", without, prog, err, want)
		}
	}
	_, once := berth.MaterializeWith(ctx, berth.RunOptions{Without: []string{"fusion"}}, p)
	_, compiled := berth.Compile(ctx, berth.Outputs{"y": in}, &berth.CompileOptions{Without: []string{"fusion"}})
	for _, err := range []error{once, compiled} {
		if !errors.Is(err, berth.ErrRule) || !strings.Contains(err.Error(), `"fusion"`) || !strings.Contains(err.Error(), "fuse") {
			t.Errorf("error %v, want one that names the rule and lists those there are", err)
		}
	}
}

// TestTreesRunAsOnePass counts the steps of trees of elementwise operations.
func TestTreesRunAsOnePass(t *testing.T) {
	x, y, z := ramp(2, 3).Promise(), ramp(2, 3).Promise(), ramp(3).Promise()
	for what, tree := range map[string]*berth.Promise{
		"mixed":     x.Add(y).Mul(x.Sub(z)).Maximum(y.AddScalar(1)).Cast(berth.Float32).Exp(),
		"choice":    x.Less(y).And(x.Neg().Greater(z)).Where(x.MulScalar(2), y.BitXor(z)),
		"self":      x.Add(x).Mul(x.Add(x)),
		"broadcast": z.Add(x).Mul(z),
		"scalars":   x.Add(berth.Scalar[int32](3).Promise()).Mul(berth.Scalar[int32](2).Promise().Reshape(1, 1)),
	} {
		if ops := steps(t, tree); len(ops) != 1 {
			t.Errorf("%s: a tree takes the steps %v", what, ops)
		}
	}
	// What is repeated is computed before, once.
	if ops := steps(t, z.AddScalar(1).Square().Add(x)); len(ops) != 2 {
		t.Errorf("a row added to a matrix takes the steps %v", ops)
	}
	// What a reduction reads is stored once.
	if ops := steps(t, x.Mul(y).AddScalar(2).Sum(0).Neg()); len(ops) != 3 {
		t.Errorf("map, reduce, map take the steps %v", ops)
	}
}

// TestSharedIsComputedOnce counts the steps of graphs in which one promise
// feeds several.
func TestSharedIsComputedOnce(t *testing.T) {
	x := ramp(3, 3).Promise()
	shared := x.MatMul(x)
	count := func(ops []string, name string) (n int) {
		for _, op := range ops {
			n += len(strings.Split(op, name)) - 1
		}
		return n
	}
	for what, promises := range map[string][]*berth.Promise{
		"two operands":    {shared.Sum().Add(shared.Max())},
		"itself twice":    {shared.Add(shared)},
		"two results":     {shared.Neg(), shared.Sum()},
		"result and part": {shared, shared.AddScalar(1)},
		"the same twice":  {shared, shared},
		"views":           {shared.Transpose().Add(shared).Index(0, 1)},
		"through a cache": {shared.Cache().Sum(), shared.Neg()},
	} {
		if ops := steps(t, promises...); count(ops, "matmul") != 1 {
			t.Errorf("%s: the steps are %v", what, ops)
		}
	}
	// Costly maps are not doubled either: exp runs once.
	e := list([]float64{1, 2}, 2).promise(berth.Float32).Exp()
	if ops := steps(t, e.Sum(), e.Max(), e.AddScalar(1)); count(ops, "map") != 2 {
		t.Errorf("the steps are %v", ops)
	}
	out := must(berth.Materialize(t.Context(), shared, shared.AddScalar(1), shared))
	if !berth.Equal(out[0], out[2]) || read(out[1]).data[0] != read(out[0]).data[0]+1 {
		t.Errorf("got %v", out)
	}
}

// TestMaterializeTwice gives equal results and leaves the first alone.
func TestMaterializeTwice(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	x := must(berth.Normal[float32](rng, 20, 20)).Promise()
	p := x.MatMul(x).AddScalar(1).Cast(berth.Float32).Softmax(-1).CumSum(0)
	first := bits(t, p)
	before := first.Contiguous().String()
	if second := bits(t, p); !berth.Equal(first, second) || sharesStorage(first, second) {
		t.Error("the second run gave another result, or the same storage")
	}
	if first.String() != before {
		t.Error("the second run changed the result of the first")
	}
}

// TestMaterializeLeaves returns constants and views of them without a copy.
func TestMaterializeLeaves(t *testing.T) {
	x := ramp(4, 5)
	p := x.Promise()
	for what, q := range map[string]*berth.Promise{
		"leaf": p, "transposed": p.Transpose(), "sliced": p.Slice(1, 1, 3, 1).Index(0, 2), "contiguous": p.Contiguous(), "reshaped": p.Reshape(2, 10),
	} {
		if out := bits(t, q); !sharesStorage(out, x) {
			t.Errorf("%s: the elements were copied", what)
		}
		if ops := steps(t, q); len(ops) != 0 {
			t.Errorf("%s: takes the steps %v", what, ops)
		}
	}
	if out := bits(t, p.Transpose().Contiguous()); sharesStorage(out, x) || !out.IsDense() {
		t.Error("a packed tensor is not dense")
	}
	// A view of a computed value.
	expect(t, "slice of a sum", p.Add(p).Slice(0, 1, 2, 1), berth.Int32, arrayOf([]int{1, 5}, func(i []int) float64 { return float64(10 + 2*i[1]) }))
}

// TestInputsCannotBeMaterialized names the input.
func TestInputsCannotBeMaterialized(t *testing.T) {
	in := berth.Input("pixels", berth.Float32, 2)
	_, err := in.AddScalar(1).Materialize(t.Context())
	wantError(t, "computed", err, `"pixels"`)
	_, err = in.Materialize(t.Context())
	wantError(t, "itself", err, `"pixels"`)
}

// TestContextEnds stops before the first step, and between two.
func TestContextEnds(t *testing.T) {
	stop := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	p := ramp(3).Promise().AddScalar(1).Sum()
	cancel(stop)
	if _, err := p.Materialize(ctx); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
	if _, err := p.Cache().Materialize(ctx); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
	// Between two steps: a context that is done when it has been asked often
	// enough.
	y := ramp(3, 3).Promise()
	for range 5 {
		y = y.MatMul(y)
	}
	for n := range 5 {
		if _, err := y.Materialize(&countdown{Context: t.Context(), left: n, err: stop}); !errors.Is(err, stop) {
			t.Errorf("after %d questions: %v", n, err)
		}
	}
}

// countdown is a context that ends after some calls of Err.
type countdown struct {
	context.Context
	mu   sync.Mutex
	left int
	err  error
}

func (c *countdown) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left--; c.left < 0 {
		return c.err
	}
	return nil
}
