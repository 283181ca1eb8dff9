package onnx

import (
	"hash/fnv"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/random"
	"github.com/berth-go/berth/internal/op/reduce"
	"github.com/berth-go/berth/internal/wire"
	"github.com/berth-go/berth/shape"
)

// randomOps draw numbers. A node draws the same in every run: what its seed
// says or, without one, a seed made of the name of its output.
var randomOps = []row{
	{"", "Bernoulli", 15, 1, 1, bernoulli},
	{"", "Multinomial", 7, 1, 1, multinomial},
	{"", "RandomNormal", 1, 0, 0, drawn((*call).normal)},
	{"", "RandomNormalLike", 1, 1, 1, drawn((*call).normal)},
	{"", "RandomUniform", 1, 0, 0, drawn((*call).uniform)},
	{"", "RandomUniformLike", 1, 1, 1, drawn((*call).uniform)},
}

// seed returns the seed of the node. NumPy, and with it the generator, takes the
// integers of 32 bits; others are folded into these.
func (c *call) seed() int {
	switch a := c.node.node; {
	case !c.hasAttr("seed"):
		h := fnv.New32a()
		for _, name := range a.Outputs {
			h.Write([]byte(name))
		}
		return int(h.Sum32())
	case c.node.row.name == "Dropout":
		return foldSeed(c.attr("seed", wire.AttrInt).Int)
	}
	return foldSeed(int64(c.float("seed", 0)))
}

func foldSeed(seed int64) int { return int(uint32(seed) ^ uint32(seed>>32)) }

// drawn converts an operator that draws elements of floating-point type, of the
// shape that an attribute gives or else of that of its input.
func drawn(draw func(c *call, t dtype.Type, dims []int) graph.Value) converter {
	return func(c *call) []graph.Value {
		def, dims := dtype.Float32, shape.Shape(nil)
		if c.has(0) {
			def, dims = c.in[0].Type().DType, c.shape(0)
		} else {
			c.require("shape")
			dims = c.ints("shape")
			check(dims.Check())
		}
		t := c.dtype("dtype", def)
		if !t.IsFloat() {
			c.failf("numbers of type %v are to be drawn, not of a floating-point type", t)
		}
		return list(c.castTo(draw(c, wider(t), dims), t))
	}
}

func (c *call) normal(t dtype.Type, dims []int) graph.Value {
	return c.one(random.Normal{Shape: dims, DType: t, Seed: c.seed(), Mean: c.float("mean", 0), Scale: c.float("scale", 1)})
}

func (c *call) uniform(t dtype.Type, dims []int) graph.Value {
	return c.one(random.Uniform{Shape: dims, DType: t, Seed: c.seed(), Low: c.float("low", 0), High: c.float("high", 1)})
}

// unit returns numbers in [0, 1).
func (c *call) unit(dims []int) graph.Value {
	return c.one(random.Uniform{Shape: dims, DType: dtype.Float64, Seed: c.seed(), High: 1})
}

// bernoulli is 1 with the probability that its input gives, and else 0.
func bernoulli(c *call) []graph.Value {
	p := c.castTo(c.in[0], dtype.Float64)
	hit := c.elementwise(elementwise.Less, nil, c.unit(c.shape(0)), p)
	return list(c.castTo(hit, c.dtype("dtype", c.in[0].Type().DType)))
}

// multinomial draws classes. A number drawn between 0 and 1 stands for the class
// at which the sum of the probabilities of this one and those before exceeds it.
func multinomial(c *call) []graph.Value {
	if c.rank(0) != 2 || c.shape(0)[1] == 0 {
		c.failf("the input has the shape %v, want [samples, classes] and a class at least", c.shape(0))
	}
	batch, classes, size := c.shape(0)[0], c.shape(0)[1], c.int("sample_size", 1)
	check(shape.Shape{batch, size, classes}.Check())
	t := c.dtype("dtype", dtype.Int32)
	if t != dtype.Int32 && t != dtype.Int64 {
		c.failf("classes are to be of type %v, want int32 or int64", t)
	}
	sums := c.one(reduce.Cumulative{Kind: reduce.Sum, Axis: 1}, c.one(softmax(1), c.castTo(c.in[0], dtype.Float64)))
	all := c.one(reduce.Reduce{Kind: reduce.Max, Axes: []int{1}, KeepDims: true}, sums)
	drawn := c.elementwise(elementwise.Mul, nil, c.unit([]int{batch, size}), all)
	below := c.elementwise(elementwise.LessEqual, nil, c.reshape(sums, batch, 1, classes), c.reshape(drawn, batch, size, 1))
	class := c.one(reduce.Reduce{Kind: reduce.Sum, Axes: []int{2}}, c.castTo(below, t))
	return list(c.withScalar(elementwise.Minimum, class, float64(classes-1)))
}
