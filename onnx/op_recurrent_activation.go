package onnx

import (
	"strings"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/recurrent"
)

// activationNames are the functions that layers with a state may name, in small
// letters, as names are compared without regard to case.
var activationNames = map[string]func(n *activationNumbers) elementwise.Program{
	"affine": func(n *activationNumbers) elementwise.Program { return n.affine(n.alpha(1), n.beta(0)) },
	"elu":    func(n *activationNumbers) elementwise.Program { return n.code(elementwise.Elu, n.alpha(1)) },
	"hardsigmoid": func(n *activationNumbers) elementwise.Program {
		return n.code(elementwise.HardSigmoid, n.alpha(0.2), n.beta(0.5))
	},
	"leakyrelu":       func(n *activationNumbers) elementwise.Program { return n.code(elementwise.LeakyRelu, n.alpha(0.01)) },
	"relu":            func(n *activationNumbers) elementwise.Program { return n.code(elementwise.Relu) },
	"scaledtanh":      (*activationNumbers).scaledTanh,
	"sigmoid":         func(n *activationNumbers) elementwise.Program { return n.code(elementwise.Sigmoid) },
	"softplus":        func(n *activationNumbers) elementwise.Program { return n.code(elementwise.Softplus) },
	"softsign":        func(n *activationNumbers) elementwise.Program { return n.code(elementwise.Softsign) },
	"tanh":            func(n *activationNumbers) elementwise.Program { return n.code(elementwise.Tanh) },
	"thresholdedrelu": func(n *activationNumbers) elementwise.Program { return n.thresholded(n.alpha(1)) },
}

// activations reads the activation functions of layers with so many each, for
// elements of type t; nil where the node leaves them to the operator. A node may
// name those of a second layer that is not there, as the default of RNN does.
func (c *call) activations(each, layers int, t dtype.Type) recurrent.Functions {
	numbers := &activationNumbers{call: c, dtype: t, alphas: c.floats("activation_alpha"), betas: c.floats("activation_beta")}
	names := c.texts("activations")
	if names == nil {
		return nil
	}
	if n := len(names); n != each*layers && n != 2*each {
		c.failf("attribute activations has %d names, not %d for each of %d directions", n, each, layers)
	}
	functions := make(recurrent.Functions, each*layers)
	for i := range functions {
		program, ok := activationNames[strings.ToLower(names[i])]
		if !ok {
			c.failf("attribute activations: %q is not one of %q", names[i], sortedKeys(activationNames))
		}
		functions[i] = program(numbers)
	}
	return functions
}

// activationNumbers are the numbers of activation functions. Each function that
// has an alpha, or a beta, takes the next one that the node states, and its
// default, that of the operator of the same name, when there is none left.
type activationNumbers struct {
	*call
	dtype         dtype.Type
	alphas, betas []float64
}

func (n *activationNumbers) alpha(def float64) float64 { return nextOr(&n.alphas, def) }
func (n *activationNumbers) beta(def float64) float64  { return nextOr(&n.betas, def) }

// nextOr takes the first number off a list, or returns def where that is empty.
func nextOr(list *[]float64, def float64) float64 {
	if len(*list) == 0 {
		return def
	}
	v := (*list)[0]
	*list = (*list)[1:]
	return v
}

// code is a function that is one code.
func (n *activationNumbers) code(code elementwise.Code, attrs ...float64) elementwise.Program {
	ins := elementwise.Instr{Code: code, Args: [3]elementwise.Arg{elementwise.InputArg(0)}}
	copy(ins.Attrs[:], attrs)
	return elementwise.Program{ins}
}

func (n *activationNumbers) scalar(v float64) elementwise.Arg {
	return elementwise.ScalarArg(kernel.Float64Scalar(v).Cast(n.dtype))
}

// affine is alpha*x + beta.
func (n *activationNumbers) affine(alpha, beta float64) elementwise.Program {
	return elementwise.Program{
		{Code: elementwise.Mul, Args: [3]elementwise.Arg{elementwise.InputArg(0), n.scalar(alpha)}},
		{Code: elementwise.Add, Args: [3]elementwise.Arg{elementwise.ResultArg(0), n.scalar(beta)}},
	}
}

// scaledTanh is alpha*tanh(beta*x), where neither has a default.
func (n *activationNumbers) scaledTanh() elementwise.Program {
	if len(n.alphas) == 0 || len(n.betas) == 0 {
		n.failf("ScaledTanh among the activations has no alpha or no beta, of which there is no default")
	}
	return elementwise.Program{
		{Code: elementwise.Mul, Args: [3]elementwise.Arg{elementwise.InputArg(0), n.scalar(n.beta(0))}},
		{Code: elementwise.Tanh, Args: [3]elementwise.Arg{elementwise.ResultArg(0)}},
		{Code: elementwise.Mul, Args: [3]elementwise.Arg{elementwise.ResultArg(1), n.scalar(n.alpha(0))}},
	}
}

// thresholded is x for x >= alpha, else 0. The operator of this name leaves out
// alpha itself.
func (n *activationNumbers) thresholded(alpha float64) elementwise.Program {
	return elementwise.Program{
		{Code: elementwise.GreaterEqual, Args: [3]elementwise.Arg{elementwise.InputArg(0), n.scalar(alpha)}},
		{Code: elementwise.Where, Args: [3]elementwise.Arg{elementwise.ResultArg(0), elementwise.InputArg(0), n.scalar(0)}},
	}
}
