package exec

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/compile"
	"github.com/berth-go/berth/internal/extent"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op/conv"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/linear"
	"github.com/berth-go/berth/internal/op/ops"
	"github.com/berth-go/berth/internal/op/recurrent"
	"github.com/berth-go/berth/internal/op/view"
	"github.com/berth-go/berth/shape"
)

// must stops a test at an error of building a graph.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// weight returns a constant of random numbers.
func weight(rng *rand.Rand, dims ...int) graph.Value {
	t := graph.Type{DType: dtype.Float32, Shape: dims}
	return must(graph.NewConstant(t, graph.Leaf{Layout: shape.Dense(dims), Data: random(rng, t.Shape.Elems())})).Output(0)
}

// constants holds constants by shape, so that a graph can be built again with
// the same ones.
type constants struct {
	rng *rand.Rand
	by  map[string]graph.Value
}

func (c constants) of(dims ...int) graph.Value {
	key := fmt.Sprint(dims)
	if c.by[key].IsZero() {
		c.by[key] = weight(c.rng, dims...)
	}
	return c.by[key]
}

// random returns the bytes of n random numbers.
func random(rng *rand.Rand, n int) []byte {
	data := kernel.Alloc(4 * n)
	for i := range n {
		kernel.Cast[float32](data)[i] = rng.Float32() - 0.5
	}
	return data
}

// input returns an input of a number of rows of the given extents.
func input(rows int, dims ...int) graph.Value {
	s := append(shape.Shape{rows}, dims...)
	return must(graph.NewInput("x", graph.Type{DType: dtype.Float32, Shape: s})).Output(0)
}

// programOf compiles a value of up to most rows.
func programOf(t testing.TB, most int, value func(rows int) graph.Value) *compile.Program {
	t.Helper()
	build := func(p extent.Point) (outputs, inputs []graph.Value, err error) {
		return []graph.Value{value(p[0])}, nil, nil
	}
	dims := []extent.Dim{{Name: "rows", Min: 1, Max: most}}
	return must(compile.Compile(t.Context(), []string{"y"}, dims, build, Evaluate, compile.Options{}))
}

// elems returns the elements of a port for a number of rows.
func elems(p *compile.Program, port compile.Port, rows int) int {
	return p.Space.At(port.Elems, extent.Point{rows})
}

// A prepackCase is a value of one input, and how many prepacked forms it calls for
// with the active instruction set.
type prepackCase struct {
	name  string
	most  int
	value func(c constants, most int) graph.Value
	forms func() int
}

func exactly(n int) func() int { return func() int { return n } }

// narrow is one form for 4000 rows of two columns, 32,000 bytes, unless padding them to
// the columns of a tile takes more than twice that and 64 KiB, as those of 12 and 16 do.
func narrow() int {
	forms, known := map[int]int{4: 1, 12: 0, 16: 0, 32: 0}[isa.TileOf[float32]().Cols]
	if !known {
		panic("the test knows no tile of so many columns")
	}
	return forms
}

// program compiles the case. Views of constants, too, follow the rows.
func (c prepackCase) program(t *testing.T, rng *rand.Rand) *compile.Program {
	t.Helper()
	held := constants{rng, make(map[string]graph.Value)}
	return programOf(t, c.most, func(rows int) graph.Value { return c.value(held, rows) })
}

var prepackCases = []prepackCase{
	{"matmul", 70, func(c constants, most int) graph.Value {
		return must(ops.One(linear.MatMul{}, input(most, 300), c.of(300, 45)))
	}, exactly(1)},
	{"batch of matmuls", 5, func(c constants, most int) graph.Value {
		return must(ops.One(linear.MatMul{}, input(most, 7, 20), c.of(20, 33)))
	}, exactly(1)},
	{"transposed gemm with an addend", 13, func(c constants, most int) graph.Value {
		return must(ops.One(linear.Gemm{Alpha: 2, Beta: 3, TransB: true}, input(most, 270), c.of(40, 270), c.of(40)))
	}, exactly(1)},
	{"two gemms of one weight", 9, func(c constants, most int) graph.Value {
		x, w := input(most, 24), c.of(24, 24)
		return must(ops.One(linear.MatMul{}, must(ops.One(linear.MatMul{}, x, w)), w))
	}, exactly(1)},
	{"one weight and other factors", 9, func(c constants, most int) graph.Value {
		v, w := input(most, 24), c.of(24, 24)
		for alpha := range 3 {
			v = must(ops.One(linear.Gemm{Alpha: float64(1 + alpha)}, v, w))
		}
		return v
	}, exactly(1)},
	{"a weight and its transpose", 9, func(c constants, most int) graph.Value {
		x, w := input(most, 24), c.of(24, 24)
		return must(ops.One(linear.MatMul{}, must(ops.One(linear.MatMul{}, x, w)), must(ops.One(view.Permute{Perm: []int{1, 0}}, w))))
	}, exactly(2)},
	{"convolution", 3, func(c constants, most int) graph.Value {
		return must(ops.One(conv.Conv{Pads: []int{1, 1, 1, 1}}, input(most, 5, 9, 8), c.of(13, 5, 3, 3), c.of(13)))
	}, exactly(1)},
	{"groups of channels", 3, func(c constants, most int) graph.Value {
		return must(ops.One(conv.Conv{Group: 2}, input(most, 8, 6, 6), c.of(10, 4, 1, 1)))
	}, exactly(1)},
	{"one weight for one group and for two", 3, func(c constants, most int) graph.Value {
		w := c.of(10, 4, 1, 1)
		y := must(ops.One(conv.Conv{Group: 2}, input(most, 8, 6, 6), w))
		return must(ops.One(conv.Conv{Group: 1}, must(ops.One(view.SliceView{Axis: 1, Start: 0, N: 4, Step: 1}, y)), w))
	}, exactly(2)},
	{"one channel a group", 3, func(c constants, most int) graph.Value {
		return must(ops.One(conv.Conv{Group: 8}, input(most, 8, 6, 6), c.of(8, 1, 3, 3)))
	}, exactly(0)},
	{"two columns of many rows", 3, func(c constants, most int) graph.Value {
		return must(ops.One(linear.MatMul{}, input(most, 4000), c.of(4000, 2)))
	}, narrow},
	{"the weight on the left", 3, func(c constants, most int) graph.Value {
		return must(ops.One(linear.MatMul{}, c.of(20, 6), input(most, 6, 30)))
	}, exactly(0)},
	{"as many rows of a weight as there are", 16, func(c constants, most int) graph.Value {
		x, w := input(most, 32), c.of(32, 40)
		square := must(ops.One(linear.MatMul{}, x, must(ops.One(view.Permute{Perm: []int{1, 0}}, x))))
		return must(ops.One(linear.MatMul{}, square, must(ops.One(view.SliceView{Axis: 0, Start: 0, N: most, Step: 1}, w))))
	}, exactly(0)},
	{"recurrence weights", 5, func(c constants, most int) graph.Value {
		return must(ops.Apply(recurrent.GRU{Direction: recurrent.Bidirectional}, input(most, 3, 2*3*20), c.of(2, 3*20, 20)))[0]
	}, exactly(1)},
	{"recurrence weights in one product and in two", 5, func(c constants, most int) graph.Value {
		x, r := input(most, 3, 3*20), c.of(1, 3*20, 20)
		two := must(ops.Apply(recurrent.GRU{}, x, r))[0]
		return must(elementwise.Apply(elementwise.Add, nil, two, must(ops.Apply(recurrent.GRU{LinearBeforeReset: true}, x, r))[0]))
	}, exactly(2)},
	{"a broadcast weight", 2, func(c constants, most int) graph.Value {
		return must(ops.One(linear.MatMul{}, input(most, 50), must(ops.One(view.BroadcastTo{Shape: []int{50, 60}}, c.of(60)))))
	}, exactly(0)},
}

// TestPrepackKeepsBits runs programs with and without prepacking, at every number
// of rows and by several workers.
func TestPrepackKeepsBits(t *testing.T) {
	for _, c := range prepackCases {
		t.Run(c.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(5, 1))
			p := c.program(t, rng)
			x := random(rng, elems(p, p.Inputs[0], c.most))
			for set := range kerneltest.Sets() {
				keepsBits(t, set, p, x, c)
			}
		})
	}
}

func keepsBits(t *testing.T, set string, p *compile.Program, x []byte, c prepackCase) {
	t.Helper()
	plain, prepacked := must(Prepare(p, false)), must(Prepare(p, true))
	if plain.PrepackedBytes() != 0 || len(plain.forms) != 0 {
		t.Errorf("%s: %d bytes are prepacked that should not be", set, plain.PrepackedBytes())
	}
	if n := c.forms(); len(prepacked.forms) != n {
		t.Errorf("%s: %d prepacked forms, want %d", set, len(prepacked.forms), n)
	}
	want := must(plain.NewInstance(1, true))
	defer want.Close()
	step := 1
	if testing.Short() {
		step = 7
	}
	for workers := 3; workers >= 1; workers-- { // several make the forms
		inst := must(prepacked.NewInstance(workers, true))
		defer inst.Close()
		for r := c.most; r >= 1; r -= step {
			if got, want := runRows(t, inst, x, r), runRows(t, want, x, r); !bytes.Equal(got, want) {
				t.Fatalf("%s, %d rows, %d workers: prepacking changes the result", set, r, workers)
			}
		}
	}
}

// runRows runs an instance for a number of rows, and wants nothing allocated.
func runRows(t *testing.T, inst *Instance, x []byte, rows int) []byte {
	t.Helper()
	p := inst.Program()
	out := kernel.Alloc(4 * elems(p, p.Outputs[0], rows))
	inst.BindInput(0, x[:4*elems(p, p.Inputs[0], rows)])
	inst.BindOutput(0, out)
	// More runs than workers: a goroutine that blocks for the first time makes
	// the runtime allocate once, whatever the run does.
	if n := testing.AllocsPerRun(10, func() {
		if err := inst.Run(t.Context(), extent.Point{rows}); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations in a run of %d rows", n, rows)
	}
	return out
}

// TestPrepackedIsRead takes a prepacked constant away from its kernel: the run still
// gives the right result, and with the prepacked form changed a wrong one.
func TestPrepackedIsRead(t *testing.T) {
	for _, c := range prepackCases {
		if c.forms() == 0 {
			continue
		}
		rng := rand.New(rand.NewPCG(5, 2))
		p := c.program(t, rng)
		x := random(rng, elems(p, p.Inputs[0], c.most))
		prep := must(Prepare(p, true))
		inst := must(prep.NewInstance(1, false))
		want := runRows(t, inst, x, c.most)
		for step, uses := range prep.uses {
			for _, u := range uses {
				inst.steps[step].in[u.input].Data = nil
			}
		}
		if !bytes.Equal(runRows(t, inst, x, c.most), want) {
			t.Errorf("%s: the constant is read where it is stored", c.name)
		}
		for _, f := range prep.forms {
			for i := range f.data {
				f.data[i] ^= 0x80
			}
		}
		if bytes.Equal(runRows(t, inst, x, c.most), want) {
			t.Errorf("%s: the prepacked form is not read", c.name)
		}
		inst.Close()
	}
}

// TestPrepackIsBounded multiplies by parts of one constant, none of which shares a
// prepacked form with another.
func TestPrepackIsBounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 4))
	w := weight(rng, 256, 256)
	p := programOf(t, 2, func(rows int) graph.Value {
		v := input(rows, 236)
		for i := range 20 {
			part := must(ops.One(view.SliceView{Axis: 0, Start: i, N: 236, Step: 1}, w))
			part = must(ops.One(view.SliceView{Axis: 1, Start: i, N: 236, Step: 1}, part))
			v = must(ops.One(linear.MatMul{}, v, part))
		}
		return v
	})
	prep := must(Prepare(p, true))
	if n, most := prep.PrepackedBytes(), prepackGrowth*4*256*256+prepackSlack; len(prep.forms) < 2 || n > most {
		t.Errorf("%d forms of %d bytes are prepacked, want some and at most %d bytes", len(prep.forms), n, most)
	}
}

func BenchmarkPrepare(b *testing.B) {
	for _, most := range []int{1, 64} {
		b.Run(fmt.Sprint(most), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(5, 5))
			w := make([]graph.Value, 100)
			for i := range w {
				w[i] = weight(rng, 64, 64)
			}
			p := programOf(b, most, func(rows int) graph.Value {
				v := input(rows, 64)
				for i := range w {
					v = must(ops.One(linear.MatMul{}, v, w[i]))
				}
				return v
			})
			for b.Loop() {
				must(Prepare(p, true))
			}
		})
	}
}

// TestPrepackedScratch has a program set aside no working memory for weights that
// it prepacks.
func TestPrepackedScratch(t *testing.T) {
	held := constants{rand.New(rand.NewPCG(9, 9)), make(map[string]graph.Value)}
	p := programOf(t, 2, func(rows int) graph.Value {
		return must(ops.Apply(recurrent.RNN{}, input(rows, 3, 100), held.of(1, 100, 100)))[0]
	})
	with, without := must(Prepare(p, true)), must(Prepare(p, false))
	if saved := without.ScratchBytes() - with.ScratchBytes(); saved < with.PrepackedBytes() {
		t.Errorf("%d bytes are prepacked, and %d bytes of working memory saved", with.PrepackedBytes(), saved)
	}
}
