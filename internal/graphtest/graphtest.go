// Package graphtest makes random graphs, and evaluates graphs in the most
// obvious way, for tests of what plans and runs them.
//
// [Random] draws from every op that there is: draw.go and draw_math.go hold a
// function for each, and a test fails for an op that has none. The operands of
// an op are, more often than chance would have it, the same value twice, views
// of one value, empty or of one row, as operand.go picks them. [Eval]
// evaluates a graph node by node, each alone in fresh dense memory.
//
// Tests run over the seeds of [Seeds]. To run more of them, say how many in the
// environment, and to run one alone, say which. Both together are a range:
//
//	BERTH_GRAPHS=100000 go test ./internal/exec ./internal/compile -run Random -timeout 0
//	BERTH_SEED=1234 go test ./internal/exec -run Random
package graphtest

import (
	"iter"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/berth-go/berth/graph"
)

// Options shape random graphs.
type Options struct {
	// Inputs makes most leaves inputs instead of constants.
	Inputs bool
	// Rows is, if not 0, the extent of the first axis of most leaves that have
	// one.
	Rows int
	// Keep, if not nil, says whether a value is one that the graph may have.
	Keep func(v graph.Value) bool
}

// A Graph is a random graph: some of its values, and data for its inputs.
type Graph struct {
	Roots  []graph.Value
	Inputs map[string]graph.Leaf
	Rows   int // as in the options
}

// Seeds returns the seeds that a test runs over: from 0, as many as count, or a
// tenth of that in short tests. BERTH_GRAPHS replaces the number. BERTH_SEED
// replaces the first seed, and alone has it be the only one.
func Seeds(t testing.TB, count uint64) iter.Seq[uint64] {
	number := func(name string) (uint64, bool) {
		text, ok := os.LookupEnv(name)
		if !ok {
			return 0, false
		}
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return n, true
	}
	first := uint64(0)
	if testing.Short() {
		count /= 10
	}
	if seed, ok := number("BERTH_SEED"); ok {
		first, count = seed, 1
	}
	if n, ok := number("BERTH_GRAPHS"); ok {
		count = n
	}
	return func(yield func(uint64) bool) {
		for i := range count {
			if !yield(first + i) {
				return
			}
		}
	}
}

// Random returns the random graph of the given seed.
func Random(t testing.TB, seed uint64, opt Options) Graph {
	b := &builder{t: t, rng: rand.New(rand.NewPCG(seed, 1)), opt: opt, naive: newNaive(make(map[string]graph.Leaf))}
	for range 2 + b.rng.IntN(3) {
		b.keep(b.leaf(b.leafType()))
	}
	for range 4 + b.rng.IntN(24) {
		b.grow()
	}
	g := Graph{Roots: []graph.Value{b.values[len(b.values)-1]}, Inputs: b.naive.inputs, Rows: opt.Rows}
	for range b.rng.IntN(4) {
		g.Roots = append(g.Roots, b.pick())
	}
	return g
}

// builder grows a random graph.
type builder struct {
	t      testing.TB
	rng    *rand.Rand
	opt    Options
	values []graph.Value
	naive  *naive
}

// most is the number of elements above which nothing is made of a value.
const most = 2048

// keep makes values ready to be picked, but for those that cannot be computed of
// the data that there is, as when an integer is divided by zero.
func (b *builder) keep(values ...graph.Value) {
	for _, v := range values {
		if v.Type().Shape.Elems() > most || b.opt.Keep != nil && !b.opt.Keep(v) {
			continue
		}
		if _, err := b.naive.eval(v); err == nil {
			b.values = append(b.values, v)
		}
	}
}

// names lists the ops in draws, those that are to come often several times.
var names = func() (list []string) {
	for name, d := range draws {
		list = append(list, slices.Repeat([]string{name}, d.weight)...)
	}
	slices.Sort(list)
	return list
}()

// grow adds the nodes of one draw; an op that does not fit the operands picked
// is skipped.
func (b *builder) grow() {
	d := draws[names[b.rng.IntN(len(names))]]
	if out, err := d.draw(b, b.pick()); err == nil {
		b.keep(out...)
	}
}

// oneIn reports true once in n times.
func (b *builder) oneIn(n int) bool { return b.rng.IntN(n) == 0 }
