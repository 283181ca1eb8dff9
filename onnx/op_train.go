package onnx

import (
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/elementwise"
)

// trainOps are the steps of optimisers. Their inputs are the learning rate R,
// the number T of steps before, all tensors to be optimised, all gradients of
// these, and then all that is kept of earlier steps, state by state; their
// outputs are the tensors and the states after the step.
var trainOps = []row{
	{trainingDomain, "Adagrad", 1, 3, many, optimiser(1, adagrad)},
	{trainingDomain, "Adam", 1, 3, many, optimiser(2, adam)},
	{trainingDomain, "Momentum", 1, 3, many, optimiser(1, momentum)},
}

const trainingDomain = "ai.onnx.preview.training"

// A step is one step of an optimiser. It returns tensor x and its states after
// the step, for the gradient g, which includes that of the regularisation.
type step func(c *call, x, g graph.Value, states []graph.Value) []graph.Value

// optimiser converts an optimiser that keeps so many states of each tensor.
func optimiser(states int, step step) converter {
	return func(c *call) []graph.Value {
		for i := range c.in {
			if !c.has(i) {
				c.failf("input %d is absent", i)
			}
		}
		c.scalarInput(0)
		c.scalarInput(1)
		tensors := c.in[2:]
		n, rest := len(tensors)/(states+2), len(tensors)%(states+2)
		if rest != 0 {
			c.failf("has %d tensors, want %d for each that is optimised", len(tensors), states+2)
		}
		norm := c.float("norm_coefficient", 0)
		outs := make([]graph.Value, n*(states+1))
		for i := range n {
			x, g := tensors[i], tensors[n+i]
			var kept []graph.Value
			for s := range states {
				kept = append(kept, tensors[(2+s)*n+i])
			}
			for _, v := range append([]graph.Value{g}, kept...) {
				if !v.Type().Equal(x.Type()) {
					c.failf("tensor %d is %v, but its gradient or a state %v", i, x.Type(), v.Type())
				}
			}
			g = c.elementwise(elementwise.Add, nil, c.withScalar(elementwise.Mul, x, norm), g)
			for s, v := range step(c, x, g, kept) {
				outs[s*n+i] = v
			}
		}
		return outs
	}
}

// scalarInput gives input i the rank 0, which must have one element.
func (c *call) scalarInput(i int) {
	if c.shape(i).Elems() != 1 {
		c.failf("input %d has the shape %v, want one element", i, c.shape(i))
	}
	c.in[i] = c.reshape(c.in[i])
}

// adagrad is
//
//	h += g*g
//	x -= R / (1 + T*decay) * g / (sqrt(h) + epsilon)
func adagrad(c *call, x, g graph.Value, states []graph.Value) []graph.Value {
	decay := c.withScalar(elementwise.Add, c.withScalar(elementwise.Mul, c.castTo(c.in[1], dtype.Float64), c.float("decay_factor", 0)), 1)
	rate := c.elementwise(elementwise.Div, nil, c.castTo(c.in[0], dtype.Float64), decay)
	h := c.elementwise(elementwise.Add, nil, states[0], c.elementwise(elementwise.Square, nil, g))
	return list(c.against(x, rate, c.elementwise(elementwise.Div, nil, g, c.rootOf(h))), h)
}

// adam is
//
//	v = alpha*v + (1-alpha)*g
//	h = beta*h + (1-beta)*g*g
//	rate = R * sqrt(1 - beta^T) / (1 - alpha^T), or R where T is 0
//	x -= rate * v / (sqrt(h) + epsilon)
//	x *= 1 - norm_coefficient_post
func adam(c *call, x, g graph.Value, states []graph.Value) []graph.Value {
	alpha, beta := c.float("alpha", 0.9), c.float("beta", 0.999)
	v := c.mix(alpha, states[0], 1-alpha, g)
	h := c.mix(beta, states[1], 1-beta, c.elementwise(elementwise.Square, nil, g))
	rate := c.castTo(c.in[0], dtype.Float64)
	unbiased := c.elementwise(elementwise.Mul, nil, rate, c.elementwise(elementwise.Sqrt, nil, c.remainder(beta)))
	unbiased = c.elementwise(elementwise.Div, nil, unbiased, c.remainder(alpha))
	rate = c.elementwise(elementwise.Where, nil, c.withScalar(elementwise.Greater, c.in[1], 0), unbiased, rate)
	x = c.against(x, rate, c.elementwise(elementwise.Div, nil, v, c.rootOf(h)))
	return list(c.withScalar(elementwise.Mul, x, 1-c.float("norm_coefficient_post", 0)), v, h)
}

// momentum is
//
//	v = alpha*v + beta*g, with 1 in place of beta where T is 0
//	standard: x -= R * v
//	nesterov: x -= R * (g + alpha*v)
func momentum(c *call, x, g graph.Value, states []graph.Value) []graph.Value {
	for _, name := range [...]string{"alpha", "beta", "mode", "norm_coefficient"} {
		c.require(name)
	}
	alpha, beta := c.float("alpha", 0), c.float("beta", 0)
	nesterov := choice(c, "mode", "", map[string]bool{"standard": false, "nesterov": true})
	scale := must(elementwise.ApplyOperands(elementwise.Where, nil,
		elementwise.Operand{Value: c.withScalar(elementwise.Greater, c.in[1], 0)},
		elementwise.Operand{Scalar: kernel.Float64Scalar(beta)}, elementwise.Operand{Scalar: kernel.Float64Scalar(1)}))
	scaled := c.elementwise(elementwise.Mul, nil, g, c.castTo(scale, g.Type().DType))
	v := c.elementwise(elementwise.Add, nil, c.withScalar(elementwise.Mul, states[0], alpha), scaled)
	direction := v
	if nesterov {
		direction = c.mix(1, g, alpha, v)
	}
	return list(c.against(x, c.castTo(c.in[0], dtype.Float64), direction), v)
}

// against returns x - rate*direction.
func (c *call) against(x, rate, direction graph.Value) graph.Value {
	way := c.elementwise(elementwise.Mul, nil, c.castTo(rate, x.Type().DType), direction)
	return c.elementwise(elementwise.Sub, nil, x, way)
}

// mix returns f*a + g*b.
func (c *call) mix(f float64, a graph.Value, g float64, b graph.Value) graph.Value {
	return c.elementwise(elementwise.Add, nil, c.withScalar(elementwise.Mul, a, f), c.withScalar(elementwise.Mul, b, g))
}

// rootOf returns sqrt(h) + epsilon.
func (c *call) rootOf(h graph.Value) graph.Value {
	return c.withScalar(elementwise.Add, c.elementwise(elementwise.Sqrt, nil, h), c.float("epsilon", 0))
}

// remainder returns 1 - f^T as a float64.
func (c *call) remainder(f float64) graph.Value {
	power := must(elementwise.ApplyOperands(elementwise.Pow, nil,
		elementwise.Operand{Scalar: kernel.Float64Scalar(f)}, elementwise.Operand{Value: c.castTo(c.in[1], dtype.Float64)}))
	return c.withScalar(elementwise.Add, c.elementwise(elementwise.Neg, nil, power), 1)
}
