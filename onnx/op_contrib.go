package onnx

import (
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/linear"
	"github.com/berth-go/berth/internal/op/view"
)

// microsoft is the domain of the operators that ONNX Runtime adds, which
// exporters and optimisers write.
const microsoft = "com.microsoft"

// contribOps are operators of ONNX Runtime: what stands around attention, and
// operators with an activation behind them. It has one of them in the standard
// domain.
var contribOps = []row{
	{"", "SimplifiedLayerNormalization", 1, 2, 2, simplifiedLayerNorm},
	{microsoft, "BiasAdd", 1, 3, 3, biasAdd},
	{microsoft, "BiasGelu", 1, 2, 2, biased(unary(elementwise.Gelu))},
	{microsoft, "BiasSplitGelu", 1, 2, 2, biased(splitGelu)},
	{microsoft, "EmbedLayerNormalization", 1, 1, 9, embedLayerNorm},
	{microsoft, "FastGelu", 1, 1, 2, biased(unary(elementwise.GeluTanh))},
	{microsoft, "FusedConv", 1, 2, 4, fusedConv},
	{microsoft, "FusedGemm", 1, 2, 3, fusedGemm},
	{microsoft, "FusedMatMul", 1, 2, 2, fusedMatMul},
	{microsoft, "Gelu", 1, 1, 1, unary(elementwise.Gelu)},
	{microsoft, "QuickGelu", 1, 1, 1, unary(elementwise.Swish, param{"alpha", 1.702})},
	{microsoft, "SkipLayerNormalization", 1, 3, 5, skipLayerNorm},
	{microsoft, "SkipSimplifiedLayerNormalization", 1, 3, 4, skipSimplifiedLayerNorm},
}

// biased adds input 1 to input 0, of whose shape it is or whose last axis it
// has, before convert sees that. There may be none.
func biased(convert converter) converter {
	return func(c *call) []graph.Value {
		if c.has(1) {
			c.in = list(c.addLike(c.in[0], c.in[1]))
		}
		return convert(c)
	}
}

// addLike returns x with y added, which broadcasts to x.
func (c *call) addLike(x, y graph.Value) graph.Value {
	sum := c.elementwise(elementwise.Add, nil, x, y)
	if want := x.Type().Shape; !sum.Type().Shape.Equal(want) {
		c.failf("what is added, of shape %v, does not broadcast to the input, of shape %v", y.Type().Shape, want)
	}
	return sum
}

func biasAdd(c *call) []graph.Value {
	return list(c.addLike(c.addLike(c.in[0], c.in[1]), c.in[2]))
}

// splitGelu is the first half of the last axis, times the Gelu of the second.
func splitGelu(c *call) []graph.Value {
	s := c.shape(0)
	if len(s) == 0 || s[len(s)-1]%2 != 0 {
		c.failf("the input has the shape %v, whose last axis has no halves", s)
	}
	last := len(s) - 1
	half := s[last] / 2
	left := c.one(view.SliceView{Axis: last, N: half, Step: 1}, c.in[0])
	right := c.one(view.SliceView{Axis: last, Start: half, N: half, Step: 1}, c.in[0])
	return list(c.elementwise(elementwise.Mul, nil, left, c.elementwise(elementwise.Gelu, nil, right)))
}

// fusedConv is a convolution with another tensor added, and an activation
// behind that, whose parameters are a list.
func fusedConv(c *call) []graph.Value {
	y := c.one(convolution(c), c.in[:min(len(c.in), 3)]...)
	if c.has(3) {
		y = c.addLike(y, c.in[3])
	}
	params := c.floats("activation_params")
	return list(c.activation(y, func(i int) (float64, bool) {
		if i < len(params) {
			return params[i], true
		}
		return 0, false
	}))
}

// fusedGemm is Gemm with an activation behind it.
func fusedGemm(c *call) []graph.Value {
	y := c.one(linear.Gemm{
		Alpha:  c.float("alpha", 1),
		Beta:   c.float("beta", 1),
		TransA: c.flag("transA", false),
		TransB: c.flag("transB", false),
	}, c.in...)
	names := []string{"activation_alpha", "activation_beta", "activation_gamma"}
	given := make([]bool, len(names))
	for i, name := range names {
		given[i] = c.hasAttr(name)
	}
	return list(c.activation(y, func(i int) (float64, bool) { return c.float(names[i], 0), given[i] }))
}

// fusedMatMul is a scaled product of matrices that may be transposed. An
// operand whose batches are transposed has its rows on the first axis:
// [rows, batches..., columns].
func fusedMatMul(c *call) []graph.Value {
	operand := func(i int, trans, transBatch string) graph.Value {
		rank := c.rank(i)
		swap, batch := c.flag(trans, false), c.flag(transBatch, false)
		if rank < 2 {
			return c.in[i] // as a vector has nothing to transpose
		}
		perm := upTo(rank)
		if batch {
			copy(perm, perm[1:rank-1])
			perm[rank-2] = 0
		}
		if swap {
			perm[rank-2], perm[rank-1] = perm[rank-1], perm[rank-2]
		}
		return c.one(view.Permute{Perm: perm}, c.in[i])
	}
	y := c.one(linear.MatMul{}, operand(0, "transA", "transBatchA"), operand(1, "transB", "transBatchB"))
	if alpha := c.float("alpha", 1); alpha != 1 {
		y = c.withScalar(elementwise.Mul, y, alpha)
	}
	return list(y)
}

// activations are the functions that may stand behind an operator. Their
// parameters are those of the functions themselves, in order.
var activations = map[string]struct {
	code   elementwise.Code
	params []float64
}{
	"Elu":             {elementwise.Elu, []float64{1}},
	"HardSigmoid":     {elementwise.HardSigmoid, []float64{0.2, 0.5}},
	"HardSwish":       {elementwise.HardSwish, nil},
	"LeakyRelu":       {elementwise.LeakyRelu, []float64{0.01}},
	"Relu":            {elementwise.Relu, nil},
	"Sigmoid":         {elementwise.Sigmoid, nil},
	"Softplus":        {elementwise.Softplus, nil},
	"Softsign":        {elementwise.Softsign, nil},
	"Tanh":            {elementwise.Tanh, nil},
	"ThresholdedRelu": {elementwise.ThresholdedRelu, []float64{1}},
}

// activation returns the function that the attribute "activation" names, of y;
// param returns a parameter, if it is given.
func (c *call) activation(y graph.Value, param func(i int) (float64, bool)) graph.Value {
	name := c.text("activation", "")
	if name == "" {
		return y
	}
	if name == "Clip" {
		for i, code := range [...]elementwise.Code{elementwise.Maximum, elementwise.Minimum} {
			if bound, ok := param(i); ok {
				y = c.withScalar(code, y, bound)
			}
		}
		return y
	}
	a, ok := activations[name]
	if !ok {
		c.failf("attribute \"activation\" is %q, not \"Clip\" or one of %q", name, sortedKeys(activations))
	}
	values := append([]float64(nil), a.params...)
	for i := range values {
		if v, ok := param(i); ok {
			values[i] = v
		}
	}
	return c.elementwise(a.code, values, y)
}

// needs fails when one of the inputs is absent: those that stand behind others
// which may be.
func (c *call) needs(inputs ...int) {
	for _, i := range inputs {
		if !c.has(i) {
			c.failf("input %d is missing", i)
		}
	}
}

// float32Or returns x as at least float32, in which halves are summed.
func (c *call) float32Or(x graph.Value) graph.Value {
	if x.IsZero() {
		return x
	}
	return c.castTo(x, wider(x.Type().DType))
}
