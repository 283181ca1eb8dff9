package berth

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/exec"
	"github.com/berth-go/berth/internal/op/ops"
	"github.com/berth-go/berth/internal/rewrite"
	"github.com/berth-go/berth/plan"
)

// A Promise is a computation that has not run: one value of a graph. Its
// methods return promises of bigger computations; each checks its operands at
// once and computes nothing. The first error sticks: it is carried along by
// every promise made from a broken one, and comes out of Err, Plan and
// Materialize with the file and line that caused it.
//
// Promises are immutable and safe for concurrent use. A promise that feeds
// two others is computed once for both when they are materialised together.
type Promise struct {
	value graph.Value
	err   error
	made  *recipe // nil for what no method made
	out   int     // which output of the recipe it is
}

// Err returns the first error on the way to this promise, or nil.
func (p *Promise) Err() error {
	err := p.usable()
	if err == nil || p != nil && p.err != nil {
		return err
	}
	return fmt.Errorf("berth: the promise %w", err)
}

// DType returns the element type; Invalid if the promise is broken.
func (p *Promise) DType() DType {
	if p.usable() != nil {
		return dtype.Invalid
	}
	return p.value.Type().DType
}

// Shape returns a copy of the extents; nil if the promise is broken.
func (p *Promise) Shape() []int {
	if p.usable() != nil {
		return nil
	}
	return p.value.Type().Shape.Clone()
}

// String describes the promise by its op and type, for messages.
func (p *Promise) String() string {
	if err := p.Err(); err != nil {
		return "broken promise: " + err.Error()
	}
	return fmt.Sprintf("promise of %v from %v", p.value.Type(), p.value.Node())
}

// Cache returns a promise that keeps its result: it is computed once, also
// when several materialisations need it at the same time, and stored
// contiguous for as long as the promise is in use.
func (p *Promise) Cache() *Promise { return apply(graph.Cache{}, p) }

// Contiguous returns a promise of the same elements stored in row-major order
// without gaps.
func (p *Promise) Contiguous() *Promise { return apply(graph.Contiguous{}, p) }

// Plan returns what Materialize will do. Caches that hold their result by
// then are leaves.
func (p *Promise) Plan() (*plan.Plan, error) { return PlanOf(p) }

// PlanOf returns what [Materialize] will do with the same promises.
func PlanOf(promises ...*Promise) (*plan.Plan, error) {
	roots, err := valuesOf(promises)
	if err != nil {
		return nil, err
	}
	// Nothing is computed, so that there is nothing to end early.
	if roots, err = rewrite.Run(context.Background(), roots, rewrite.Options{}); err != nil {
		return nil, fmt.Errorf("berth: %w", err)
	}
	p, err := plan.New(roots...)
	if err != nil {
		return nil, fmt.Errorf("berth: %w", err)
	}
	return p, nil
}

// Materialize computes the promise. Between two steps it looks at ctx and
// returns its cause when it is done.
func (p *Promise) Materialize(ctx context.Context) (*Tensor, error) {
	out, err := Materialize(ctx, p)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// Materialize computes several promises in one run, in which what they share
// is computed once.
//
// The process remembers the plans of the last 64 different computations, with up to 64 MiB of buffers
// for what lies between inputs and results, and of working memory as much. A computation of the same
// structure as one of these is not planned again: the same operations on operands of the
// same types, shapes and strides, of which those of one element are equal. So a loop that
// makes its promises anew at each turn plans them once. Nothing else of a
// computation is kept: no operand and no result.
func Materialize(ctx context.Context, promises ...*Promise) ([]*Tensor, error) {
	return MaterializeWith(ctx, RunOptions{}, promises...)
}

// RunOptions change how promises are materialised. The zero value is the
// default.
type RunOptions struct {
	// Workers is the number of goroutines that share each step; 0 means one
	// for each processor. Results do not depend on it.
	Workers int
	// Poison fills buffers that are fresh or freed with bytes that no right
	// program reads, so that a wrong read shows.
	Poison bool
	// MaxBytes is the most memory that buffers may take at a time; 0 means
	// [DefaultMaxBytes]. A run that needs more is an error that wraps
	// [ErrMemory], before anything is allocated.
	MaxBytes int64
	// Without names rewrite rules to leave out, so as to see what one of them
	// does. A name that is none is an error that wraps [ErrRule] and lists them.
	Without []string
}

// DefaultMaxBytes bounds the buffers of a run, and the arena of a program, for
// which no bound is stated: 16 GiB. An allocation that the system refuses
// would end the process, whatever file asked for it.
const DefaultMaxBytes = exec.DefaultMaxBytes

// ErrMemory is wrapped by the error about a run that needs more than MaxBytes.
var ErrMemory = exec.ErrMemory

// recent has the plans of what was materialised last.
var recent exec.Recent

// MaterializeWith is [Materialize] with options.
func MaterializeWith(ctx context.Context, opt RunOptions, promises ...*Promise) ([]*Tensor, error) {
	if ctx == nil {
		return nil, errContext
	}
	roots, err := valuesOf(promises)
	if err != nil {
		return nil, err
	}
	results, err := recent.Compute(ctx, roots, exec.Options{Workers: opt.Workers, Poison: opt.Poison, MaxBytes: opt.MaxBytes, Without: opt.Without})
	if err != nil {
		return nil, fmt.Errorf("berth: %w", err)
	}
	tensors := make([]*Tensor, len(results))
	for i, r := range results {
		tensors[i] = &Tensor{r.DType, r.Layout, r.Data}
	}
	return tensors, nil
}

// errContext is the error about a context that is nil.
var errContext = errors.New("berth: the context is nil")

// usable returns why p stands for no value: the error that broke it, or that
// it is nil or zero.
func (p *Promise) usable() error {
	switch {
	case p == nil:
		return errors.New("is nil")
	case p.err != nil:
		return p.err
	case p.value.IsZero():
		return errors.New("is the zero Promise, of nothing")
	}
	return nil
}

// valuesOf returns the values of promises, or what is wrong with one of them.
func valuesOf(promises []*Promise) ([]graph.Value, error) {
	roots := make([]graph.Value, len(promises))
	for i, p := range promises {
		if err := p.usable(); err != nil {
			if p != nil && p.err != nil {
				return nil, err
			}
			return nil, fmt.Errorf("berth: promise %d %w", i, err)
		}
		roots[i] = p.value
	}
	return roots, nil
}

// apply makes a promise of the only output of an op.
func apply(o graph.Op, in ...*Promise) *Promise { return applyAll(1, o, in...)[0] }

// applyAll makes promises of the n outputs of an op.
func applyAll(n int, o graph.Op, in ...*Promise) []*Promise {
	return buildAll(n, func(in []graph.Value) ([]graph.Value, error) { return ops.Apply(o, in...) }, in...)
}

// build makes a promise from others. A broken one among them is passed on.
func build(make func(in []graph.Value) (graph.Value, error), in ...*Promise) *Promise {
	return buildAll(1, func(in []graph.Value) ([]graph.Value, error) {
		v, err := make(in)
		return []graph.Value{v}, err
	}, in...)[0]
}

// buildAll is build for nodes with several outputs, of which there are n.
func buildAll(n int, make func(in []graph.Value) ([]graph.Value, error), in ...*Promise) []*Promise {
	var outs []graph.Value
	var values []graph.Value
	err := error(nil)
	for _, p := range in {
		if err = p.usable(); err != nil {
			if p == nil || p.err == nil {
				err = fmt.Errorf("berth: %s: an operand %w", caller(), err)
			}
			break
		}
		values = append(values, p.value)
	}
	if err == nil {
		if outs, err = make(values); err != nil {
			err = fmt.Errorf("berth: %s: %w (of %s)", caller(), err, operands(values))
		}
	}
	promises := []*Promise{}
	made := &recipe{in: slices.Clone(in), make: make}
	for i := range n {
		if err != nil {
			promises = append(promises, &Promise{err: err})
		} else {
			promises = append(promises, &Promise{value: outs[i], made: made, out: i})
		}
	}
	return promises
}

// broken returns a promise with an error of its own at the caller's position.
func broken(format string, args ...any) *Promise {
	return &Promise{err: fmt.Errorf("berth: %s: %w", caller(), fmt.Errorf(format, args...))}
}

// caller returns the file and line outside this package that the current call
// came from.
func caller() string {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		frame, more := frames.Next()
		if !strings.HasPrefix(frame.Function, "github.com/berth-go/berth.") {
			return fmt.Sprintf("%s:%d", frame.File, frame.Line)
		}
		if !more {
			return "unknown position"
		}
	}
}

// operands lists the types of values, for messages.
func operands(values []graph.Value) string {
	const most = 6
	words := make([]string, 0, most)
	for i, v := range values {
		if i == most-1 && len(values) > most {
			return fmt.Sprintf("%s and %d more", strings.Join(words, ", "), len(values)-i)
		}
		words = append(words, v.Type().String())
	}
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}
