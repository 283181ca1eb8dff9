package onnx

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/wire"
)

// attributeNames are those that converters of the families below ask for, with
// the kinds that some of them expect.
var attributeNames = map[wire.AttrKind][]string{
	wire.AttrInt: {
		"axis", "keepdims", "broadcast", "k", "largest", "sorted", "exclusive", "reverse", "to", "fmod",
		"size", "p", "num_groups", "spatial", "is_test", "training_mode", "stash_type", "select_last_index",
		"noop_with_empty_axes", "detect_negative", "across_channels", "normalize_variance",
	},
	wire.AttrFloat:  {"alpha", "beta", "gamma", "bias", "epsilon", "momentum", "min", "max", "lambd", "scale", "ratio"},
	wire.AttrInts:   {"axes"},
	wire.AttrFloats: {"bias"},
	wire.AttrString: {"direction", "approximate", "to"},
}

func randomAttributes(rng *rand.Rand) []wire.Attribute {
	ints := func() int64 {
		switch rng.IntN(20) {
		case 0:
			return math.MaxInt64 - rng.Int64N(3)
		case 1:
			return math.MinInt64 + rng.Int64N(3)
		case 2:
			return 1 << rng.IntN(63)
		}
		return rng.Int64N(12) - 4
	}
	floats := func() float32 {
		special := []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat32}
		if i := rng.IntN(3 * len(special)); i < len(special) {
			return float32(special[i])
		}
		return float32(rng.NormFloat64())
	}
	var out []wire.Attribute
	seen := make(map[string]bool)
	for _, kind := range []wire.AttrKind{wire.AttrInt, wire.AttrFloat, wire.AttrInts, wire.AttrFloats, wire.AttrString} {
		for _, name := range attributeNames[kind] {
			if seen[name] || rng.IntN(8) > 0 {
				continue
			}
			seen[name] = true
			a := wire.Attribute{Name: name, Kind: kind}
			switch kind {
			case wire.AttrInt:
				a.Int = ints()
			case wire.AttrFloat:
				a.Float = floats()
			case wire.AttrInts:
				for range rng.IntN(4) {
					a.Ints = append(a.Ints, ints())
				}
			case wire.AttrFloats:
				for range rng.IntN(4) {
					a.Floats = append(a.Floats, floats())
				}
			case wire.AttrString:
				a.Bytes = []byte([]string{"", "LEFT", "tanh", "FLOAT16"}[rng.IntN(4)])
			}
			out = append(out, a)
		}
	}
	return out
}

func randomTensor(rng *rand.Rand, t dtype.Type) *berth.Tensor {
	dims := make([]int, rng.IntN(5))
	n := 1
	for i := range dims {
		dims[i] = rng.IntN(4)
		n *= dims[i]
	}
	data := make([]float64, n)
	for i := range data {
		data[i] = float64(rng.IntN(9) - 4)
	}
	if t == dtype.Bool {
		for i := range data {
			data[i] = float64(rng.IntN(2))
		}
	}
	return tensorOf(t, data, dims...)
}

// TestRandomNodes gives each operator inputs and attributes that mostly make
// no sense: it may fail, but not panic, neither when the graph is built nor
// when it runs.
func TestRandomNodes(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 6
	}
	types := dtype.All()
	rng := rand.New(rand.NewPCG(1, 2))
	computed := 0
	for _, family := range [][]row{elementwiseOps, reduceOps, normOps} {
		for _, r := range family {
			for range rounds {
				node := wire.Node{OpType: r.name, Attributes: randomAttributes(rng)}
				g := wire.Graph{Name: "random", Nodes: []wire.Node{node}}
				inputs := make(map[string]*berth.Tensor)
				kind := types[rng.IntN(len(types))]
				if rng.IntN(2) == 0 {
					kind = dtype.Float32
				}
				var x *berth.Tensor
				for i := range min(r.min+rng.IntN(2), r.max) {
					if x == nil || rng.IntN(2) == 0 {
						x = randomTensor(rng, kind)
					}
					if rng.IntN(8) == 0 {
						x = randomTensor(rng, types[rng.IntN(len(types))])
					}
					name := fmt.Sprint("x", i)
					inputs[name] = x
					g.Inputs = append(g.Inputs, valueInfoOf(name, x))
					g.Nodes[0].Inputs = append(g.Nodes[0].Inputs, name)
				}
				for i := range 1 + rng.IntN(3) {
					name := fmt.Sprint("y", i)
					g.Outputs = append(g.Outputs, wire.ValueInfo{Name: name})
					g.Nodes[0].Outputs = append(g.Nodes[0].Outputs, name)
				}
				if runRandom(t, r, anyOpset(rng, r), &g, inputs) {
					computed++
				}
			}
		}
	}
	t.Logf("%d nodes computed something", computed)
}

func runRandom(t *testing.T, r row, opset int64, g *wire.Graph, inputs map[string]*berth.Tensor) bool {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s at opset %d of %v with %+v panics: %v", r.name, opset, g.Inputs, g.Nodes[0].Attributes, p)
		}
	}()
	outs, err := promisesOf(t, r, opset, g, inputs)
	if err != nil {
		return false
	}
	got, err := berth.Materialize(context.Background(), outs...)
	return err == nil && len(got) == len(outs)
}

// anyOpset returns an opset at which r is the row of its operator.
func anyOpset(rng *rand.Rand, r row) int64 {
	for {
		opset := r.since + rng.Int64N(newestOpsets[""]-r.since+1)
		if at, err := lookup("", r.name, opset); err == nil && at.since == r.since {
			return opset
		}
	}
}

// promisesOf returns the outputs of the model of one node of operator r that g
// is, without those of the node's attributes that the operator does not have.
func promisesOf(t *testing.T, r row, opset int64, g *wire.Graph, inputs map[string]*berth.Tensor) ([]*berth.Promise, error) {
	t.Helper()
	for {
		m, err := Parse(wire.AppendModel(nil, &wire.Model{
			IRVersion: 8, OpsetImports: []wire.OperatorSet{{Version: opset}}, Graph: g,
		}))
		if err != nil {
			t.Errorf("%s at opset %d: %v", r.name, opset, err)
			return nil, err
		}
		outs, err := m.Promises(context.Background(), inputs)
		var unknown *errAttributes
		if !errors.As(err, &unknown) {
			return outs, err
		}
		n := &g.Nodes[0]
		n.Attributes = slices.DeleteFunc(n.Attributes, func(a wire.Attribute) bool { return slices.Contains(unknown.names, a.Name) })
	}
}
