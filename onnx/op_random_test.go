package onnx

import (
	"math"
	"slices"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/wire"
)

// TestRandomNumbers has the first numbers that NumPy's RandomState(0) draws.
func TestRandomNumbers(t *testing.T) {
	const u0, u1, u2, u3 = 0.5488135039273248, 0.7151893663724195, 0.6027633760716439, 0.5448831829968969
	const z0, z1 = 1.764052345967664, 0.4001572083672233
	seed, two := attrFloat("seed", 0), attrInts("shape", 2)
	as := func(t wire.DataType) wire.Attribute { return attrInt("dtype", int64(t)) }
	f16 := func(v ...float64) *berth.Tensor { return tensorOf(dtype.Float16, v, len(v)) }
	f64 := func(v ...float64) *berth.Tensor { return tensorOf(dtype.Float64, v, len(v)) }
	p := f32([]float64{u0 - .01, u1 + .01, 0, 1})
	certain := f32([]float64{math.Inf(-1), 0, math.Inf(-1), 0, 5, math.Inf(-1)}, 2, 3)
	runNodeTests(t, []nodeTest{
		{"", "RandomUniform", 1, attrs(seed, two), nil, in{f32([]float64{u0, u1})}, ""},
		{"bounds and type", "RandomUniform", 22, attrs(seed, two, attrFloat("low", 2), attrFloat("high", 4), as(wire.Double)), nil, in{f64(2+2*u0, 2+2*u1)}, ""},
		{"no shape", "RandomUniform", 22, attrs(seed), nil, nil, `"shape" is missing`},
		{"a negative extent", "RandomUniform", 22, attrs(attrInts("shape", -2)), nil, nil, "negative"},
		{"integers", "RandomUniform", 22, attrs(two, as(wire.Int32)), nil, nil, "numbers of type int32 are to be drawn"},
		{"like", "RandomUniformLike", 22, attrs(seed), in{f16(7, 7)}, in{f16(u0, u1)}, ""},
		{"like, but of a type", "RandomUniformLike", 22, attrs(seed, as(wire.Float)), in{tensorOf(dtype.Int32, []float64{7, 7}, 1, 2)}, in{f32([]float64{u0, u1}, 1, 2)}, ""},
		{"like integers", "RandomNormalLike", 22, nil, in{tensorOf(dtype.Int32, []float64{7}, 1)}, nil, "numbers of type int32"},
		{"", "RandomNormal", 1, attrs(seed, two), nil, in{f32([]float64{z0, z1})}, ""},
		{"mean and scale", "RandomNormalLike", 1, attrs(seed, attrFloat("mean", 10), attrFloat("scale", 2)), in{f64(0, 0)}, in{f64(10+2*z0, 10+2*z1)}, ""},
		{"a seed of no 32 bits", "RandomUniform", 22, attrs(attrFloat("seed", -1<<40), attrInts("shape", 0)), nil, in{f32(nil, 0)}, ""},

		{"", "Bernoulli", 15, attrs(seed), in{p}, in{f32([]float64{0, 1, 0, 1})}, ""},
		{"of a type", "Bernoulli", 22, attrs(seed, as(wire.Bool)), in{p}, in{truth([]float64{0, 1, 0, 1})}, ""},

		// The probabilities are 1/4 and 3/4.
		{"", "Multinomial", 7, attrs(seed, attrInt("sample_size", 4)), in{f32([]float64{0, math.Log(3)}, 1, 2)}, in{tensorOf(dtype.Int32, []float64{1, 1, 1, 1}, 1, 4)}, ""},
		{"classes with bounds at .55 and .7", "Multinomial", 22, attrs(seed, attrInt("sample_size", 2), as(wire.Int64)),
			in{f32([]float64{math.Log(.55), math.Log(.15), math.Log(.3), math.Log(.55), math.Log(.15), math.Log(.3)}, 2, 3)}, in{i64([]float64{0, 2, 1, 0}, 2, 2)}, ""},
		{"impossible classes", "Multinomial", 22, attrs(attrInt("sample_size", 3)), in{certain}, in{tensorOf(dtype.Int32, []float64{1, 1, 1, 1, 1, 1}, 2, 3)}, ""},
		{"no class", "Multinomial", 22, nil, in{f32(nil, 2, 0)}, nil, "a class at least"},
		{"more than can be", "Multinomial", 22, attrs(attrInt("sample_size", 1<<60)), in{certain}, nil, "more than"},
	})
	yes := tensorOf(dtype.Bool, []float64{1})
	x := f32([]float64{1, 2, 3, 4})
	ratio := func(v float64) *berth.Tensor { return scalarOf(dtype.Float32, v) }
	zero := attrInt("seed", 0)
	runNodeTests(t, []nodeTest{
		{"in training", "Dropout", 12, attrs(zero), in{x, ratio(.6), yes}, in{f32([]float64{0, 5, 7.5, 0}), truth([]float64{0, 1, 1, 0})}, ""},
		{"half of them by default", "Dropout", 22, attrs(zero), in{x, nil, yes}, in{f32([]float64{2, 4, 6, 8})}, ""},
		{"the mask alone", "Dropout", 13, attrs(zero), in{f16(1, 2), ratio(.7), yes}, in{nil, truth([]float64{0, 1})}, ""},
		{"all of them", "Dropout", 13, nil, in{x, ratio(1), yes}, nil, "the ratio is 1, not in [0, 1)"},
		{"none", "Dropout", 13, nil, in{x, ratio(0), yes}, in{x, truth([]float64{1, 1, 1, 1})}, ""},
	})
}

// TestSeedsOfNodes draws at two nodes without a seed, whose numbers must differ
// from each other, and be the same in each run.
func TestSeedsOfNodes(t *testing.T) {
	node := func(out string) wire.Node {
		return wire.Node{OpType: "RandomUniform", Outputs: []string{out}, Attributes: attrs(attrInts("shape", 3))}
	}
	g := wire.Graph{Name: "test", Nodes: []wire.Node{node("a"), node("b")}, Outputs: []wire.ValueInfo{{Name: "a"}, {Name: "b"}}}
	m, err := Parse(wire.AppendModel(nil, &wire.Model{IRVersion: 8, OpsetImports: []wire.OperatorSet{{Version: 22}}, Graph: &g}))
	if err != nil {
		t.Fatal(err)
	}
	var runs [2]map[string]*berth.Tensor
	for i := range runs {
		if runs[i], err = m.Run(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	a, b, again := numbers(runs[0]["a"]), numbers(runs[0]["b"]), numbers(runs[1]["a"])
	if slices.Equal(a, b) || !slices.Equal(a, again) {
		t.Errorf("the nodes drew %v and %v, and the first in another run %v", a, b, again)
	}
}
