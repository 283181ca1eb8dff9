package onnx

import (
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/internal/op/pool"
	"github.com/berth-go/berth/internal/op/quant"
	"github.com/berth-go/berth/internal/op/reduce"
	"github.com/berth-go/berth/internal/op/view"
)

// contribQuantOps are the operators of ONNX Runtime over 8-bit integers. Products and
// convolutions sum these; all others compute in float32 in between, in one pass
// over the data where the operator is elementwise.
var contribQuantOps = []row{
	{microsoft, "DynamicQuantizeMatMul", 1, 3, 5, dynamicQuantizeMatMul},
	{microsoft, "MatMulIntegerToFloat", 1, 4, 7, matMulIntegerToFloat},
	{microsoft, "MulInteger", 1, 1, 4, mulInteger},
	{microsoft, "QAttention", 1, 5, 9, qAttention},
	{microsoft, "QGemm", 1, 6, 9, qGemm},
	{microsoft, "QLinearAdd", 1, 2, 8, qLinearBinary(elementwise.Add)},
	{microsoft, "QLinearAveragePool", 1, 2, 5, onImage(throughReal(averageWindow))},
	{microsoft, "QLinearConcat", 1, 5, many, qLinearConcat},
	{microsoft, "QLinearConv", 1, 8, 9, onImage(func(c *call, x graph.Value) graph.Value { return c.qLinearConv(x) })},
	{microsoft, "QLinearGlobalAveragePool", 1, 2, 5, onImage(throughReal(averagePlane))},
	{microsoft, "QLinearLeakyRelu", 1, 2, 5, onElements(throughReal(leakyRelu))},
	{microsoft, "QLinearMul", 1, 2, 8, qLinearBinary(elementwise.Mul)},
	{microsoft, "QLinearReduceMean", 1, 2, 5, onElements(throughReal(reduceMean))},
	{microsoft, "QLinearSigmoid", 1, 2, 5, onElements(throughReal(sigmoid))},
	{microsoft, "QLinearSoftmax", 1, 2, 5, onElements(throughReal(qSoftmax))},
	{microsoft, "QLinearWhere", 1, 9, 9, qLinearWhere},
}

// tensorwise returns the value that [call.quantised] does, with one scale and one zero
// point for all of its elements.
func (c *call) tensorwise(i int) quantised {
	return quantised{c.input(i), c.number(i+1, c.quantScale(i+1)), c.number(i+2, c.input(i+2))}
}

// quantiseLike returns x as elements of the type of like. The scale and zero point are
// input i and the one after it.
func (c *call) quantiseLike(x, like graph.Value, i int) graph.Value {
	y := quantised{scale: c.number(i, c.quantScale(i)), zero: c.number(i+1, c.input(i+1))}
	t := like.Type().DType
	if t != dtype.Int8 && t != dtype.Uint8 || !y.zero.IsZero() && y.zero.Type().DType != t {
		c.failf("input 0 is of type %v, and the zero point of the result of another one, or neither of int8 or uint8", t)
	}
	return c.quantise(x, y, t)
}

// A realFunc is a function of numbers of float32.
type realFunc func(c *call, x graph.Value) graph.Value

// throughReal applies f to what the elements x stand for, with the scale and zero
// point that are inputs 1 and 2. The result has inputs 3 and 4.
func throughReal(f realFunc) realFunc {
	return func(c *call, x graph.Value) graph.Value {
		in := c.tensorwise(0)
		in.elems = x
		return c.quantiseLike(f(c, c.dequantise(in)), x, 3)
	}
}

// onElements converts an operator that is f of input 0.
func onElements(f realFunc) converter {
	return func(c *call) []graph.Value { return list(f(c, c.in[0])) }
}

// onImage converts an operator that is f of input 0, an image, whose channels may
// be its last axis.
func onImage(f realFunc) converter {
	return func(c *call) []graph.Value {
		rank := c.rank(0)
		if !c.flag("channels_last", false) || rank < 2 {
			return list(f(c, c.in[0]))
		}
		first := append([]int{0, rank - 1}, upTo(rank - 1)[1:]...)
		last := append(append([]int{0}, upTo(rank)[2:]...), 1)
		return list(c.one(view.Permute{Perm: last}, f(c, c.one(view.Permute{Perm: first}, c.in[0]))))
	}
}

func averageWindow(c *call, x graph.Value) graph.Value {
	p := c.pool(pool.Average)
	p.CountIncludePad = c.flag("count_include_pad", false)
	return c.one(p, x)
}

func averagePlane(c *call, x graph.Value) graph.Value {
	return c.one(pool.GlobalPool{Kind: pool.Average}, x)
}

func leakyRelu(c *call, x graph.Value) graph.Value {
	return c.elementwise(elementwise.LeakyRelu, []float64{c.float("alpha", 0.01)}, x)
}

func sigmoid(c *call, x graph.Value) graph.Value {
	return c.elementwise(elementwise.Sigmoid, nil, x)
}

func reduceMean(c *call, x graph.Value) graph.Value {
	return c.one(reduce.Reduce{Kind: reduce.Mean, Axes: c.ints("axes"), KeepDims: c.flag("keepdims", true)}, x)
}

// qSoftmax is the Softmax of the opset that an attribute names.
func qSoftmax(c *call, x graph.Value) graph.Value {
	c.require("opset")
	c.in = append([]graph.Value{x}, c.in[1:]...)
	if c.int("opset", 0) < 13 {
		return flattened(softmax)(c)[0]
	}
	return alongAxis(softmax)(c)[0]
}

// qLinearBinary is code of what inputs 0 and 3 stand for.
func qLinearBinary(code elementwise.Code) converter {
	return func(c *call) []graph.Value {
		c.needs(3)
		a, b := c.tensorwise(0), c.tensorwise(3)
		if code == elementwise.Add {
			return list(c.one(quant.Add{}, a.elems, a.scale, a.zero, b.elems, b.scale, b.zero,
				c.number(6, c.quantScale(6)), c.number(7, c.input(7))))
		}
		y := c.elementwise(code, nil, c.dequantise(a), c.dequantise(b))
		return list(c.quantiseLike(y, c.in[0], 6))
	}
}

// qLinearWhere chooses between what inputs 1 and 4 stand for.
func qLinearWhere(c *call) []graph.Value {
	y := c.elementwise(elementwise.Where, nil, c.in[0], c.dequantise(c.tensorwise(1)), c.dequantise(c.tensorwise(4)))
	return list(c.quantiseLike(y, c.in[1], 7))
}

// qLinearConcat joins values, each with a scale and zero point of its own.
func qLinearConcat(c *call) []graph.Value {
	c.require("axis")
	var parts []graph.Value
	for i := 2; i < len(c.in); i += 3 {
		c.needs(i)
		parts = append(parts, c.quantiseLike(c.dequantise(c.tensorwise(i)), c.in[1], 0))
	}
	return list(c.one(move.Concat{Axis: c.int("axis", 0)}, parts...))
}

// mulInteger returns products in int32.
func mulInteger(c *call) []graph.Value {
	c.needs(2)
	from := func(i int) graph.Value {
		v := c.castTo(c.in[i], dtype.Int32)
		if c.has(i + 1) {
			v = c.elementwise(elementwise.Sub, nil, v, c.castTo(c.number(i+1, c.in[i+1]), dtype.Int32))
		}
		return v
	}
	return list(c.elementwise(elementwise.Mul, nil, from(0), from(2)))
}

// realMatMul returns the product of what a and b stand for, in float32. What is
// added to the sums, or to the product, may be absent.
func (c *call) realMatMul(a, b quantised, toSums, toProduct graph.Value) graph.Value {
	sums := c.quantMatMul(a, b, toSums, quantised{})
	rows := a.scale
	if len(a.elems.Type().Shape) > 1 {
		rows = c.perRow(rows)
	}
	y := c.elementwise(elementwise.Mul, nil, c.castTo(sums, dtype.Float32), c.elementwise(elementwise.Mul, nil, rows, b.scale))
	if !y.Type().Shape.Equal(sums.Type().Shape) {
		c.failf("scales of shapes %v and %v do not broadcast to the product, of shape %v", a.scale.Type().Shape, b.scale.Type().Shape, sums.Type().Shape)
	}
	if !toProduct.IsZero() {
		y = c.addLike(y, toProduct)
	}
	return y
}

// dynamicQuantizeMatMul quantises input 0 before it multiplies.
func dynamicQuantizeMatMul(c *call) []graph.Value {
	a := c.dynamicallyQuantised(c.in[0])
	return list(c.realMatMul(a, quantised{c.in[1], c.quantScale(2), c.input(3)}, graph.Value{}, c.input(4)))
}

func matMulIntegerToFloat(c *call) []graph.Value {
	a, b := quantised{c.in[0], c.quantScale(2), c.input(4)}, quantised{c.in[1], c.quantScale(3), c.input(5)}
	return list(c.realMatMul(a, b, graph.Value{}, c.input(6)))
}

// qGemm is alpha*A*B + C, where C has the scale of the product. The result is real if
// there is no scale for it.
func qGemm(c *call) []graph.Value {
	a, b := c.tensorwise(0), c.quantised(3)
	for _, m := range []struct {
		v     *graph.Value
		trans string
	}{{&a.elems, "transA"}, {&b.elems, "transB"}} {
		if s := m.v.Type().Shape; len(s) != 2 {
			c.failf("inputs 0 and 3 have the shapes %v and %v, want matrices", c.shape(0), c.shape(3))
		}
		if c.flag(m.trans, false) {
			*m.v = c.one(view.Permute{Perm: []int{1, 0}}, *m.v)
		}
	}
	if alpha := c.float("alpha", 1); alpha != 1 {
		a.scale = c.withScalar(elementwise.Mul, a.scale, alpha)
	}
	if c.has(7) {
		c.needs(8)
		y := quantised{scale: c.number(7, c.quantScale(7)), zero: c.number(8, c.in[8])}
		return list(c.quantMatMul(a, b, c.input(6), y))
	}
	return list(c.realMatMul(a, b, c.input(6), graph.Value{}))
}

// qAttention is [contribAttention] with the product of quantised tokens and weights.
func qAttention(c *call) []graph.Value {
	c.needs(2)
	x := quantised{c.in[0], c.number(3, c.quantScale(3)), c.number(6, c.input(6))}
	w := quantised{c.in[1], c.quantScale(4), c.input(7)}
	c.checkPacked()
	all := c.castTo(c.realMatMul(x, w, graph.Value{}, c.castTo(c.in[2], dtype.Float32)), c.in[2].Type().DType)
	third := c.shape(1)[1] / 3
	return c.packedAttention(all, []int{third, third, third}, 5, 8, many)
}
