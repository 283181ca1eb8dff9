package main

import (
	"math"

	"github.com/berth-go/berth/internal/wire"
)

var elementwiseGenerators = merged(
	unaries(7, singlesAndHalves, "Acos", "Asin", "Atan", "Cos", "Sin", "Tan", "Exp", "Log", "Sqrt", "Tanh", "Sigmoid",
		"Reciprocal", "Ceil", "Floor", "Softplus", "Softsign"),
	unaries(9, singlesAndHalves, "Acosh", "Asinh", "Atanh", "Cosh", "Sinh", "HardSwish", "Mish", "Erf", "Sign", "IsNaN", "Round"),
	unaries(7, numericTypes, "Abs", "Neg", "Relu"),
	map[string]generator{
		"Celu":            {12, parameters(1, "alpha")},
		"Elu":             {7, parameters(1, "alpha")},
		"Gelu":            {20, func(d *draw) { d.maybe(func() { d.str("approximate", one(d, "none", "tanh")) }); parameters(1)(d) }},
		"HardSigmoid":     {7, parameters(1, "alpha", "beta")},
		"HardSwish":       {14, parameters(1)},
		"LeakyRelu":       {7, parameters(1, "alpha")},
		"Mish":            {18, parameters(1)},
		"Round":           {11, parameters(1)},
		"Selu":            {7, parameters(1, "alpha", "gamma")},
		"Shrink":          {9, shrink},
		"ThresholdedRelu": {10, parameters(1, "alpha")},
		"ScaledTanh":      {7, parameters(1, "alpha", "beta")},

		"Add": {7, paired(numeric)}, "Sub": {7, paired(numeric)}, "Mul": {7, paired(numeric)}, "Div": {7, divide},
		"Mod": {10, mod}, "Pow": {7, pow}, "PRelu": {7, prelu},
		"Max": {8, variadic}, "Min": {8, variadic}, "Sum": {8, variadicFloat}, "Mean": {8, variadicFloat},
		"Equal": {7, compareOf(append([]wire.DataType{wire.Bool, wire.String}, numeric...))}, "Greater": {7, compareOf(numeric)}, "Less": {7, compareOf(numeric)},
		"GreaterOrEqual": {12, compareOf(numeric)}, "LessOrEqual": {12, compareOf(numeric)},
		"And": {7, paired([]wire.DataType{wire.Bool})}, "Or": {7, paired([]wire.DataType{wire.Bool})}, "Xor": {7, paired([]wire.DataType{wire.Bool})},
		"Not":        {7, func(d *draw) { d.input(wire.Bool, d.shape(0, 4)); d.output(wire.Bool) }},
		"BitwiseAnd": {18, paired(integers)}, "BitwiseOr": {18, paired(integers)}, "BitwiseXor": {18, paired(integers)},
		"BitwiseNot": {18, unary(integers)}, "BitShift": {11, bitShift},
		"IsInf": {10, isInf}, "IsNaN": {9, isNaN},
		"Cast": {7, cast}, "CastLike": {15, castLike}, "Clip": {7, clip}, "Dropout": {7, dropout}, "Where": {9, where}, "Identity": {7, unary(anything)},
	})

func singlesAndHalves(*draw) []wire.DataType { return floats }
func numericTypes(*draw) []wire.DataType     { return numeric }

func unaries(since int64, types func(d *draw) []wire.DataType, names ...string) map[string]generator {
	all := make(map[string]generator)
	for _, name := range names {
		all[name] = generator{since, func(d *draw) { unary(types(d))(d) }}
	}
	return all
}

func unary(types []wire.DataType) func(d *draw) {
	return func(d *draw) {
		t := one(d, types...)
		d.input(t, d.shape(0, 4))
		d.output(t)
	}
}

// parameters draws a function of floating-point numbers with attributes that all have
// defaults.
func parameters(inputs int, names ...string) func(d *draw) {
	return func(d *draw) {
		for _, name := range names {
			d.maybe(func() { d.float(name, one(d, 0.1, 0.5, 1, 2)) })
		}
		t := one(d, floats...)
		for range inputs {
			d.input(t, d.shape(0, 4))
		}
		d.output(t)
	}
}

func shrink(d *draw) {
	d.maybe(func() { d.float("lambd", one(d, 0.5, 1, 0)) })
	d.maybe(func() { d.float("bias", one(d, 0.5, 1, -2)) })
	unary(numeric)(d)
}

// pair adds two inputs that broadcast to each other.
func (d *draw) pair(t, u wire.DataType) {
	dims := d.shape(0, 4)
	a, b := dims, d.subshape(dims)
	if d.coin() {
		a, b = b, a
	}
	d.input(t, a)
	d.input(u, b)
}

func paired(types []wire.DataType) func(d *draw) {
	return func(d *draw) {
		t := one(d, types...)
		d.pair(t, t)
		d.output(t)
	}
}

func compareOf(types []wire.DataType) func(d *draw) {
	return func(d *draw) {
		t := one(d, types...)
		d.pair(t, t)
		d.output(wire.Bool)
	}
}

// nonzero replaces integers that are 0, which ONNX Runtime must not divide by, in the
// last input, and -1, by which the least integer cannot be divided.
func (d *draw) nonzero() {
	v := &d.inputs[len(d.inputs)-1]
	if isFloat(v.DataType) {
		return
	}
	size := v.DataType.Bits() / 8
	for i := range elements(v) {
		if x := element(v.Raw, v.DataType, i); x == 0 || x == -1 {
			copy(v.Raw[i*size:], appendInt(nil, v.DataType, 3))
		}
	}
}

func divide(d *draw) {
	paired(numeric)(d)
	d.nonzero()
}

func mod(d *draw) {
	t := one(d, numeric...)
	if isFloat(t) {
		d.int("fmod", 1)
	} else {
		d.maybe(func() { d.int("fmod", d.Int64N(2)) })
	}
	d.pair(t, t)
	d.nonzero()
	d.output(t)
}

func pow(d *draw) {
	types := []wire.DataType{wire.Float, wire.Double, wire.Int32, wire.Int64, wire.Float16}
	t := one(d, types...)
	u := t
	if d.opset >= 12 {
		u = one(d, types...)
	} else {
		t = one(d, floats...)
		u = t
	}
	d.wild = d.wild && isFloat(t) && isFloat(u)
	dims := d.shape(0, 4)
	d.input(t, dims)
	d.add(numbersOf(u, d.subshape(dims), func() float64 {
		if isFloat(u) {
			return one(d, 0, 0.5, 1, 2, 3, -1, -0.5, 1.7)
		}
		return float64(d.IntN(4))
	}), false)
	d.output(t)
}

func prelu(d *draw) {
	t := one(d, floats...)
	dims := d.shape(0, 4)
	d.input(t, dims)
	d.input(t, d.subshape(dims))
	d.output(t)
}

func variadic(d *draw) { variadicOf(d, one(d, numeric...)) }

func variadicFloat(d *draw) { variadicOf(d, one(d, floats...)) }

func variadicOf(d *draw, t wire.DataType) {
	dims := d.shape(0, 3)
	for range 1 + d.IntN(4) {
		d.input(t, d.subshape(dims))
	}
	d.output(t)
	d.tol = sums
	if d.wild {
		d.tol = elementwise
	}
}

func bitShift(d *draw) {
	t := one(d, wire.Uint8, wire.Uint16, wire.Uint32, wire.Uint64)
	d.str("direction", one(d, "LEFT", "RIGHT"))
	dims := d.shape(0, 3)
	d.input(t, dims)
	d.add(numbersOf(t, d.subshape(dims), func() float64 { return float64(d.IntN(t.Bits())) }), false)
	d.output(t)
}

func isInf(d *draw) {
	d.maybe(func() { d.int("detect_positive", d.Int64N(2)) })
	d.maybe(func() { d.int("detect_negative", d.Int64N(2)) })
	d.wild = true
	d.input(one(d, floats...), d.shape(0, 4))
	d.output(wire.Bool)
}

func isNaN(d *draw) {
	d.wild = true
	d.input(one(d, floats...), d.shape(0, 4))
	d.output(wire.Bool)
}

// low are the types that a Cast goes through, where Node.js has no tensors of them.
var low = []wire.DataType{wire.BFloat16, wire.Float8E4M3FN, wire.Float8E4M3FNUZ, wire.Float8E5M2, wire.Float8E5M2FNUZ}

func cast(d *draw) {
	from, to := one(d, anything...), one(d, anything...)
	if from == wire.String && to == wire.Bool || from == wire.Bool && to == wire.String {
		to = wire.Float
	}
	if d.IntN(3) == 0 {
		from, to = one(d, floats...), one(d, low...)
		if to != wire.BFloat16 {
			d.opset = max(d.opset, 19)
			d.maybe(func() { d.int("saturate", d.Int64N(2)) })
		}
	}
	dims := d.shape(0, 3)
	switch {
	case from == wire.String:
		v := wire.Tensor{DataType: from, Dims: dims}
		for range elements(&v) {
			s := one(d, "0", "1", "-1", "12", "7")
			if isFloat(to) {
				s = one(d, "1.5", "-0.25", "1e3", "inf", "-inf", "nan", "NaN", "INF", "+2", "0")
			}
			v.StringData = append(v.StringData, []byte(s))
		}
		d.add(v, false)
	case !isFloat(to) && isFloat(from) && to.Bits() != 16 || to == wire.String:
		d.tame(from, dims) // what becomes of numbers that are out of range is left open
	default:
		d.input(from, dims)
	}
	d.int("to", int64(to))
	d.output(to)
	d.tol = exact
	if messageTypes[to] == "" {
		d.after = []wire.Node{{OpType: "Cast", Inputs: []string{"y0"}, Outputs: []string{"z0"},
			Attributes: []wire.Attribute{{Name: "to", Kind: wire.AttrInt, Int: int64(wire.Float)}}}}
		d.outputs = []wire.DataType{wire.Float}
	}
}

func castLike(d *draw) {
	from, to := one(d, numeric...), one(d, numeric...)
	d.wild = d.wild && !isFloat(from)
	d.input(from, d.shape(0, 3))
	d.input(to, d.shape(0, 2))
	d.output(to)
	d.tol = exact
}

func clip(d *draw) {
	if d.opset < 11 {
		d.maybe(func() { d.float("min", one(d, -1., 0, 1)) })
		d.maybe(func() { d.float("max", one(d, 2., 1, math.Inf(1))) })
		unary(floats)(d)
		return
	}
	t := one(d, numeric...)
	d.input(t, d.shape(0, 4))
	switch d.IntN(4) {
	case 0:
		d.scalar(t, 1)
	case 1:
		d.scalar(t, 1)
		d.scalar(t, one(d, 4., 2, 0))
	case 2:
		d.absent()
		d.scalar(t, 4)
	}
	d.output(t)
}

func dropout(d *draw) {
	t := one(d, floats...)
	if d.opset < 12 {
		d.maybe(func() { d.float("ratio", 0.3) })
	}
	d.input(t, d.shape(0, 4))
	if d.opset >= 12 {
		d.maybe(func() { d.scalar(wire.Float, 0.3) })
	}
	d.output(t)
	d.maybe(func() {
		mask := wire.Bool
		if d.opset < 10 {
			mask = t
		}
		d.output(mask)
	})
}

func where(d *draw) {
	t := one(d, anything...)
	dims := d.shape(0, 4)
	d.input(wire.Bool, d.subshape(dims))
	d.input(t, dims)
	d.input(t, d.subshape(dims))
	d.output(t)
}
