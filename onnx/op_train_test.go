package onnx

import (
	"math"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/wire"
)

func TestOptimisers(t *testing.T) {
	const adagrad, adam, momentum = trainingDomain + ".Adagrad", trainingDomain + ".Adam", trainingDomain + ".Momentum"
	rate, start, later := scalarOf(dtype.Float32, .5), scalarOf(dtype.Int64, 0), scalarOf(dtype.Int64, 2)
	x, g := f32([]float64{1, -2}), f32([]float64{3, 1})
	x2, g2 := scalarOf(dtype.Float64, 4), scalarOf(dtype.Float64, -2)
	f := func(v ...float64) *berth.Tensor { return f32(v) }
	one := func(v float64) *berth.Tensor { return scalarOf(dtype.Float64, v) }
	all := func(mode string, beta, norm float32) []wire.Attribute {
		return attrs(attrFloat("alpha", .5), attrFloat("beta", beta), attrFloat("norm_coefficient", norm), attrText("mode", mode))
	}
	runNodeTests(t, []nodeTest{
		{"", adagrad, 1, nil, in{rate, start, x, g, f(16, 3)}, in{f(1-.5*3/5, -2-.5*1/2), f(25, 4)}, ""},
		{"decay and constants", adagrad, 1, attrs(attrFloat("decay_factor", 1.5), attrFloat("epsilon", 1), attrFloat("norm_coefficient", .5)),
			in{rate, later, x, g, f(3.75, 1)}, in{f(1-.125*3.5/5, -2), f(16, 1)}, ""},
		{"two tensors of different types", adagrad, 1, nil, in{rate, start, x, x2, g, g2, f(16, 3), one(0)},
			in{f(1-.5*3/5, -2-.5*1/2), one(4.5), f(25, 4), one(4)}, ""},

		{"the first step", adam, 1, attrs(attrFloat("alpha", .5), attrFloat("beta", .75)), in{rate, start, x, g, f(1, 0), f(9, 1)},
			in{f(1-.5*2/3, -2-.5*.5/1), f(2, .5), f(9, 1)}, ""},
		{"a later step", adam, 1, attrs(attrFloat("alpha", .5), attrFloat("beta", .75), attrFloat("epsilon", 1), attrFloat("norm_coefficient_post", .5)), in{rate, later, x, g, f(1, 0), f(9, 1)},
			in{f((1-.5*math.Sqrt(1-.5625)/.75*2/4)/2, (-2-.5*math.Sqrt(1-.5625)/.75*.5/2)/2), f(2, .5), f(9, 1)}, ""},
		{"regularised", adam, 1, attrs(attrFloat("alpha", .5), attrFloat("beta", .5), attrFloat("norm_coefficient", 1)), in{rate, start, x, g, f(0, 0), f(0, 31)},
			in{f(1-.5*2/math.Sqrt(8), -2+.5*.5/4), f(2, -.5), f(8, 16)}, ""},
		{"defaults", adam, 1, nil, in{rate, start, x2, g2, one(1), one(0)}, in{one(4 - .5*.7/math.Sqrt(.004)), one(.7), one(.004)}, ""},

		{"the first step", momentum, 1, all("standard", .25, 0), in{rate, start, x, g, f(2, 4)}, in{f(1-.5*4, -2-.5*3), f(4, 3)}, ""},
		{"a later step", momentum, 1, all("standard", .25, 1), in{rate, later, x, g, f(2, 4)}, in{f(1-.5*2, -2-.5*1.75), f(2, 1.75)}, ""},
		{"nesterov", momentum, 1, all("nesterov", .25, 0), in{rate, later, x, g, f(2, 4)}, in{f(1-.5*(3+.875), -2-.5*(1+1.125)), f(1.75, 2.25)}, ""},
		{"no mode", momentum, 1, attrs(attrFloat("alpha", 1), attrFloat("beta", 1), attrFloat("norm_coefficient", 0)), in{rate, start, x, g, x}, nil, `"mode" is missing`},

		{"a tensor too many", adagrad, 1, nil, in{rate, start, x, g, x, x}, nil, "has 4 tensors, want 3 for each that is optimised"},
		{"a gradient of another shape", adam, 1, nil, in{rate, start, x, f(1), x, x}, nil, "tensor 0 is float32[2], but its gradient or a state float32[1]"},
		{"several rates", adam, 1, nil, in{x, start, x, g, x, x}, nil, "input 0 has the shape [2], want one element"},
	})
}
