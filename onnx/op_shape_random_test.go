package onnx

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/race"
	"github.com/berth-go/berth/internal/wire"
)

// A nodeMaker makes up nodes of the families that shape, move and slide over
// tensors. Most are wrong in one thing or another.
type nodeMaker struct {
	rng  *rand.Rand
	dims []int      // of the last tensor of data
	kind dtype.Type // its element type
}

// number returns a small number mostly, and one at the ends of its range now
// and then.
func (m *nodeMaker) number() int64 {
	switch m.rng.IntN(40) {
	case 0:
		return math.MaxInt64 - m.rng.Int64N(3)
	case 1:
		return math.MinInt64 + m.rng.Int64N(3)
	case 2:
		return 1 << m.rng.IntN(63)
	case 3, 4, 5, 6:
		return m.rng.Int64N(8) - 4
	}
	return m.rng.Int64N(4)
}

func (m *nodeMaker) numbers(n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = m.number()
	}
	return out
}

// length returns one of the lengths that lists have over the given rank.
func (m *nodeMaker) length(rank int) int {
	return []int{rank, rank, 2 * rank, max(rank-2, 0), 2 * max(rank-2, 0), 1, m.rng.IntN(5)}[m.rng.IntN(7)]
}

func (m *nodeMaker) attributes(rank int, pools bool) []wire.Attribute {
	var out []wire.Attribute
	maybe := func(a wire.Attribute, oneIn int) {
		if m.rng.IntN(oneIn) == 0 {
			out = append(out, a)
		}
	}
	for _, name := range []string{"kernel_shape", "strides", "pads", "dilations"} {
		n := max(rank-2, 0)
		if name == "pads" {
			n *= 2
		}
		a := attrInts(name, m.numbers(n)...)
		if m.rng.IntN(8) == 0 {
			a.Ints = m.numbers(m.length(rank))
		}
		if name == "kernel_shape" && !pools {
			continue // that of the weights
		}
		maybe(a, map[bool]int{true: 1, false: 3}[name == "kernel_shape"])
	}
	for _, name := range []string{"axes", "perm", "shape", "starts", "ends", "split", "paddings", "output_padding", "output_shape"} {
		maybe(attrInts(name, m.numbers(m.length(rank))...), 12)
	}
	for _, name := range []string{
		"axis", "group", "transA", "transB", "broadcast", "ceil_mode", "count_include_pad", "storage_order", "p", "allowzero", "start", "end",
		"num_outputs", "blocksize", "batch_dims", "upper", "batch_axis", "time_axis", "dtype", "k",
	} {
		maybe(attrInt(name, m.number()), 12)
	}
	maybe(attrText("auto_pad", []string{"SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"}[m.rng.IntN(4)]), 5)
	maybe(attrText("mode", []string{"constant", "reflect", "edge", "wrap", "CRD", "circular"}[m.rng.IntN(6)]), 8)
	maybe(attrText("reduction", []string{"add", "mul", "max", "min"}[m.rng.IntN(4)]), 8)
	maybe(attrText("equation", []string{"ij,jk", "...i->...", "ii->i", "a,b,c->"}[m.rng.IntN(4)]), 2)
	return out
}

// tensor returns what may be data of the given rank, or a list of indices.
func (m *nodeMaker) tensor(i, rank int) *berth.Tensor {
	types := dtype.All()
	switch kind := m.rng.IntN(8); {
	case i > 0 && kind < 4:
		data := m.numbers(m.length(rank))
		x, err := berth.FromSlice(data, len(data))
		if err != nil {
			panic(err)
		}
		return x
	case kind == 7:
		return scalarOf(types[m.rng.IntN(len(types))], float64(m.rng.IntN(3)))
	}
	extent := func() int { return []int{1, 2, 3, 4, 4, 0}[m.rng.IntN(6)] }
	if i == 0 || m.rng.IntN(6) == 0 {
		m.dims, m.kind = make([]int, rank), dtype.Float32
		for a := range m.dims {
			m.dims[a] = extent()
		}
		if m.rng.IntN(4) == 0 {
			m.kind = types[m.rng.IntN(len(types))]
		}
	}
	// Weights have a shape like that of what they are applied to.
	dims, n := slices.Clone(m.dims), 1
	for a := range dims {
		if i > 0 && a != 1 && m.rng.IntN(3) == 0 {
			dims[a] = extent()
		}
		n *= dims[a]
	}
	data := make([]float64, n)
	for k := range data {
		data[k] = float64(m.rng.IntN(4))
	}
	return tensorOf(m.kind, data, dims...)
}

// TestRandomShapes is [TestRandomNodes] for the other families: whatever is
// asked for is computed or refused, without a panic.
func TestRandomShapes(t *testing.T) {
	rounds := 300
	if testing.Short() || race.Enabled {
		rounds = 20
	}
	m := nodeMaker{rng: rand.New(rand.NewPCG(3, 4))}
	computed := make(map[string]int)
	for _, family := range [][]row{linearOps, poolOps, shapeOps, moveOps, constantOps} {
		for _, r := range family {
			for range rounds {
				if m.try(t, r) {
					computed[r.name]++
				}
			}
		}
	}
	t.Logf("nodes that computed something: %v", computed)
}

// try makes up a node of an operator and runs it, and reports whether it did.
func (m *nodeMaker) try(t *testing.T, r row) bool {
	t.Helper()
	opset := anyOpset(m.rng, r)
	rank := []int{0, 1, 2, 3, 3, 4, 4, 5}[m.rng.IntN(8)]
	g := wire.Graph{Nodes: []wire.Node{{OpType: r.name, Attributes: m.attributes(rank, strings.Contains(r.name, "ool"))}}}
	if r.name == "Constant" {
		g.Nodes[0].Attributes = g.Nodes[0].Attributes[:min(len(g.Nodes[0].Attributes), 1)]
	}
	n := &g.Nodes[0]
	inputs := make(map[string]*berth.Tensor)
	for i := range min(r.min+m.rng.IntN(3), r.max) {
		name := fmt.Sprint("x", i)
		if i >= r.min && m.rng.IntN(3) == 0 {
			name = ""
		} else {
			inputs[name] = m.tensor(i, rank)
			g.Inputs = append(g.Inputs, valueInfoOf(name, inputs[name]))
		}
		n.Inputs = append(n.Inputs, name)
	}
	for i := range 1 + m.rng.IntN(3) {
		n.Outputs = append(n.Outputs, fmt.Sprint("y", i))
		g.Outputs = append(g.Outputs, wire.ValueInfo{Name: n.Outputs[i]})
	}
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s at opset %d of %v panics: %v\n%s", r.name, opset, inputs, p, debug.Stack())
		}
	}()
	outs, err := promisesOf(t, r, opset, &g, inputs)
	if err != nil {
		return false
	}
	for _, p := range outs {
		// Rightly asked for, and not worth the memory. Kernels may take
		// memory for one axis even where another has no elements.
		const most = 1 << 16
		n := 1.0
		for _, d := range p.Shape() {
			n *= float64(max(d, 1))
		}
		if n > most {
			return false
		}
	}
	_, err = berth.Materialize(t.Context(), outs...)
	return err == nil
}
