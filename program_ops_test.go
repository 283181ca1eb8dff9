package berth_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/internal/op/ops"
	draws "github.com/berth-go/berth/internal/op/random"
	"github.com/berth-go/berth/internal/race"
	"github.com/berth-go/berth/shape"
)

// most is the most rows of the programs in these tests.
const most = 12

// n stands for the rows in the dims of an operand.
const n = -1

// operand is an input of a program: numbers from low to high, whole ones if
// the type has no others.
type operand struct {
	name      string
	typ       berth.DType
	low, high float64
	dims      []int
}

// programCase is a program for each number of rows, built from its inputs.
type programCase struct {
	name   string
	inputs []operand
	build  func(in ...*berth.Promise) []*berth.Promise
}

func (o operand) input() *berth.Promise {
	extents := make([]any, len(o.dims))
	for i, d := range o.dims {
		extents[i] = d
		if d == n {
			extents[i] = berth.Dim("n", 1, most)
		}
	}
	return berth.Input(o.name, o.typ, extents...)
}

func (o operand) draw(rng *rand.Rand, rows int) *berth.Tensor {
	dims := slices.Clone(o.dims)
	for i, d := range dims {
		if d == n {
			dims[i] = rows
		}
	}
	if o.typ.IsFloat() {
		return uniform(rng, o.low, o.high, dims...).tensor(o.typ)
	}
	return random(rng, int(o.low), int(o.high), dims...).tensor(o.typ)
}

func (c programCase) program(t *testing.T, opt *berth.CompileOptions) *berth.Program {
	t.Helper()
	var in []*berth.Promise
	for _, o := range c.inputs {
		in = append(in, o.input())
	}
	outputs := make(berth.Outputs)
	for i, p := range c.build(in...) {
		outputs[fmt.Sprint("y", i)] = p
	}
	p, err := berth.Compile(context.Background(), outputs, opt)
	if err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	return p
}

// results draws inputs of a number of rows and materialises what the program
// is to compute of them.
func (c programCase) results(t *testing.T, rows int) (inputs berth.Values, want map[string]*berth.Tensor) {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(rows), 1))
	inputs = make(berth.Values)
	var in []*berth.Promise
	for _, o := range c.inputs {
		x := o.draw(rng, rows)
		inputs[o.name] = x
		in = append(in, x.Promise())
	}
	out, err := berth.MaterializeWith(context.Background(), berth.RunOptions{Workers: 1}, c.build(in...)...)
	if err != nil {
		t.Fatalf("%s, %d rows: %v", c.name, rows, err)
	}
	want = make(map[string]*berth.Tensor)
	for i, x := range out {
		want[fmt.Sprint("y", i)] = x
	}
	return inputs, want
}

// buffers returns buffers for the outputs of a program.
func buffers(p *berth.Program) berth.Values {
	values := make(berth.Values)
	for _, out := range p.Outputs() {
		values[out.Name] = must(p.NewBuffer(out.Name))
	}
	return values
}

// written returns a copy of the elements that a run has written to a buffer.
func written(t berth.DType, buffer any, dims shape.Shape) *berth.Tensor {
	data := must(binary.Append(nil, binary.LittleEndian, reflect.ValueOf(buffer).Slice(0, dims.Elems()).Interface()))
	aligned := kernel.Alloc(len(data))
	copy(aligned, data)
	return must(inside.Tensor(graph.Type{DType: t, Shape: dims}, graph.Leaf{Layout: shape.Dense(dims), Data: aligned}))
}

// check runs a program at several numbers of rows, with arenas poisoned and
// 1, 2 and 4 workers, compares each result with what is materialised for just
// these rows, to the last bit, and counts allocations.
func (c programCase) check(t *testing.T, p *berth.Program) {
	t.Helper()
	ctx := context.Background()
	for _, workers := range []int{1, 2, 4} {
		inst, err := p.NewInstance(&berth.InstanceOptions{Workers: workers, Poison: true})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		for _, rows := range []int{most, 1, 7, most} {
			inputs, want := c.results(t, rows)
			outputs := buffers(p)
			run := func() {
				if err := inst.Run(ctx, inputs, outputs); err != nil {
					t.Fatalf("%s, %d rows: %v", c.name, rows, err)
				}
			}
			run()
			for name, w := range want {
				dims, err := p.OutputDims(name, berth.Extents{"n": rows})
				if err != nil || !slices.Equal(dims, w.Shape()) {
					t.Errorf("%s, %d rows: %s has dims %v (%v), want %v", c.name, rows, name, dims, err, w.Shape())
					continue
				}
				if got := written(w.DType(), outputs[name], dims); !berth.Equal(got, w) {
					t.Errorf("%s, %d rows, %d workers: %s differs from what is materialised: %v", c.name, rows, workers, name, berth.Close(got, w, 0, 0))
				}
			}
			if race.Enabled {
				continue
			}
			// More runs than workers: a goroutine that blocks for the first
			// time makes the runtime allocate once, whatever the run does.
			if count := testing.AllocsPerRun(10, run); count != 0 {
				t.Errorf("%s, %d rows, %d workers: %v allocations in a run", c.name, rows, workers, count)
			}
		}
		inst.Close()
	}
}

// TestProgramOps runs a program of every op.
func TestProgramOps(t *testing.T) {
	seen := make(map[string]bool)
	for _, c := range programCases {
		t.Run(c.name, func(t *testing.T) {
			p := c.program(t, nil)
			if dims := p.Dims(); len(dims) != 1 || dims[0] != berth.Dim("n", 1, most) {
				t.Fatalf("the program has the dimensions %v", dims)
			}
			for _, s := range inside.Compiled(p).Plan.Steps {
				seen[s.Node.Op().Name()] = true
			}
			c.check(t, p)
		})
	}
	if t.Failed() || testing.Short() {
		return
	}
	elsewhere := map[string]string{
		graph.Identity{}.Name(): "is never a step",
		graph.Cache{}.Name():    "is taken out of programs",
		move.Fill{}.Name():      "has no input and becomes a constant",
		move.Iota{}.Name():      "has no input and becomes a constant",
		move.List{}.Name():      "has no input and becomes a constant",
		move.Eye{}.Name():       "has no input and becomes a constant",
		draws.Uniform{}.Name():  "has no input and becomes a constant",
		draws.Normal{}.Name():   "has no input and becomes a constant",
	}
	for _, o := range ops.All() {
		if name := o.Name(); !seen[name] && elsewhere[name] == "" {
			t.Errorf("no program has the op %s", name)
		}
	}
}

// apply makes promises of an op that has no method.
func apply(o graph.Op, in ...*berth.Promise) []*berth.Promise {
	types := make([]graph.Type, len(in))
	for i, p := range in {
		types[i] = must(inside.Value(p)).Type()
	}
	return berth.Apply(len(must(o.Infer(types))), o, in...)
}

// fixed returns a constant that is the same at each call.
func fixed(typ berth.DType, low, high float64, dims ...int) *berth.Promise {
	return operand{"", typ, low, high, dims}.draw(rand.New(rand.NewPCG(uint64(len(dims)), 77)), 0).Promise()
}

func f32(dims ...int) *berth.Promise { return fixed(berth.Float32, 0.5, 1.5, dims...) }

func one(p *berth.Promise) []*berth.Promise { return []*berth.Promise{p} }

// x is a float32 input.
func x(dims ...int) operand { return operand{"x", berth.Float32, -1, 1, dims} }

// i is an int64 input of indices.
func i(high float64, dims ...int) operand { return operand{"i", berth.Int64, -high - 1, high, dims} }
