package onnx

import (
	"math"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/wire"
)

func TestBatchNormVersions(t *testing.T) {
	// Two samples of two channels of two places.
	x := f32([]float64{1, 3, 0, 2, 5, 7, 4, 6}, 2, 2, 2)
	scale, bias := f32([]float64{2, 1}), f32([]float64{0, 10})
	mean, variance := f32([]float64{1, 2}), f32([]float64{4, 1})
	given := in{x, scale, bias, mean, variance}
	eps := attrFloat("epsilon", 0)
	inferred := f32([]float64{0, 2, 8, 10, 4, 6, 12, 14}, 2, 2, 2)
	// Channel 0 holds 1 3 5 7, channel 1 0 2 4 6: both of variance 5.
	r := 1 / math.Sqrt(5)
	trained := f32([]float64{-6 * r, -2 * r, 10 - 3*r, 10 - r, 2 * r, 6 * r, 10 + r, 10 + 3*r}, 2, 2, 2)
	momentum := attrFloat("momentum", .75)
	newMean, newVariance := f32([]float64{.75 + 1, 1.5 + .75}), f32([]float64{3 + 1.25, .75 + 1.25})
	half := func(x *berth.Tensor) *berth.Tensor { return tensorOf(dtype.Float16, numbers(x), x.Shape()...) }
	place := f32([]float64{1, 3, 2, 4}, 2, 2)
	ones, zeros := f32([]float64{1, 1, 1, 1}, 2, 2), f32([]float64{0, 0, 0, 0}, 2, 2)
	runNodeTests(t, []nodeTest{
		{"test mode", "BatchNormalization", 1, attrs(eps, attrInt("is_test", 1)), given, in{inferred}, ""},
		{"one output", "BatchNormalization", 7, attrs(eps), given, in{inferred}, ""},
		{"one output", "BatchNormalization", 9, attrs(eps), given, in{inferred}, ""},
		{"all outputs", "BatchNormalization", 9, attrs(eps, momentum), given, in{trained, newMean, newVariance, f32([]float64{4, 3}), f32([]float64{5, 5})}, ""},
		{"statistics in test mode", "BatchNormalization", 6, attrs(eps, attrInt("is_test", 1)), given, in{nil, newMean}, "has statistics as outputs"},
		{"inference", "BatchNormalization", 14, attrs(eps), given, in{inferred}, ""},
		{"statistics without training", "BatchNormalization", 14, attrs(eps), given, in{inferred, newMean}, "has 2 outputs, the operator 1"},
		{"training", "BatchNormalization", 15, attrs(eps, momentum, attrInt("training_mode", 1)), given, in{trained, newMean, newVariance}, ""},
		{"half input", "BatchNormalization", 15, attrs(eps), in{half(x), scale, bias, mean, variance}, in{half(inferred)}, ""},
		{"training of mixed types", "BatchNormalization", 15, attrs(eps, momentum, attrInt("training_mode", 1)), in{half(x), half(scale), half(bias), mean, variance}, in{half(trained), newMean, newVariance}, ""},
		{"default epsilon", "BatchNormalization", 15, nil, in{f32([]float64{1}, 1, 1), f32([]float64{1}), f32([]float64{0}), f32([]float64{0}), f32([]float64{0})}, in{f32([]float64{1 / math.Sqrt(1e-5)}, 1, 1)}, ""},
		{"statistics of each place", "BatchNormalization", 7, attrs(eps, attrInt("spatial", 0)), in{x, ones, zeros, place, ones}, in{f32([]float64{0, 0, -2, -2, 4, 4, 2, 2}, 2, 2, 2)}, ""},
		{"training at each place", "BatchNormalization", 7, attrs(eps, attrInt("spatial", 0), attrFloat("momentum", .5)), in{x, ones, zeros, place, ones},
			in{f32([]float64{-1, -1, -1, -1, 1, 1, 1, 1}, 2, 2, 2), f32([]float64{2, 4, 2, 4}, 2, 2), f32([]float64{2.5, 2.5, 2.5, 2.5}, 2, 2)}, ""},
		{"spatial has gone", "BatchNormalization", 9, attrs(attrInt("spatial", 0)), given, nil, "attribute spatial does not exist after version 8"},
		{"spatial as it must be", "BatchNormalization", 9, attrs(eps, attrInt("spatial", 1)), given, in{inferred}, ""},
		{"training too early", "BatchNormalization", 9, attrs(attrInt("training_mode", 1)), given, nil, "attribute training_mode does not exist before version 14"},
		{"places do not fit", "BatchNormalization", 6, attrs(attrInt("spatial", 0)), given, nil, "input 1 has the shape [2], but the input has 4 places"},
		{"channels do not fit", "BatchNormalization", 15, nil, in{x, scale, bias, mean, f32([]float64{1})}, nil, "variance is float32[1], but x float32[2 2 2] has 2 channels"},
	})
}

func TestOtherNorms(t *testing.T) {
	x := f32([]float64{1, 3, 2, 6}, 1, 2, 2)
	eps := attrFloat("epsilon", 0)
	scale, bias := f32([]float64{1, 3}), f32([]float64{0, 10})
	half := func(data []float64, dims ...int) *berth.Tensor { return shaped(dtype.Float16, data, dims) }
	quad := f32([]float64{1, 3, 5, 7}, 1, 4, 1)
	unit := f32([]float64{1, 1, 1, 1})
	zero := f32([]float64{0, 0, 0, 0})
	runNodeTests(t, []nodeTest{
		{"", "InstanceNormalization", 1, attrs(eps), in{x, scale, bias}, in{f32([]float64{-1, 1, 7, 13}, 1, 2, 2)}, ""},
		{"", "InstanceNormalization", 22, nil, in{x, scale, bias}, in{f32([]float64{-1 / math.Sqrt(1+1e-5), 1 / math.Sqrt(1+1e-5), 10 - 6/math.Sqrt(4+1e-5), 10 + 6/math.Sqrt(4+1e-5)}, 1, 2, 2)}, ""},
		{"bias is required", "InstanceNormalization", 6, nil, in{x, scale}, nil, "input 2 is missing"},

		{"a scale for each group", "GroupNormalization", 18, attrs(eps, attrInt("num_groups", 2)), in{quad, scale, bias}, in{f32([]float64{-1, 1, 7, 13}, 1, 4, 1)}, ""},
		{"a scale for each channel too early", "GroupNormalization", 18, attrs(attrInt("num_groups", 2)), in{quad, unit, zero}, nil, "input 1 has the shape [4], not [2]"},
		{"a scale for each channel", "GroupNormalization", 21, attrs(eps, attrInt("num_groups", 2)), in{quad, f32([]float64{1, 2, 3, 4}), f32([]float64{0, 0, 1, 1})}, in{f32([]float64{-1, 2, -2, 5}, 1, 4, 1)}, ""},
		{"a scale for each group too late", "GroupNormalization", 21, attrs(attrInt("num_groups", 2)), in{quad, scale, bias}, nil, "input 1 has the shape [2], not [4]"},
		{"no number of groups", "GroupNormalization", 21, nil, in{quad, unit, zero}, nil, `"num_groups" is missing`},
		{"not a divisor", "GroupNormalization", 21, attrs(attrInt("num_groups", 3)), in{quad, unit, zero}, nil, "4 channels"},

		{"the last axis", "LayerNormalization", 17, attrs(eps), in{x, scale, bias}, in{f32([]float64{-1, 13, -1, 13}, 1, 2, 2)}, ""},
		{"no bias", "LayerNormalization", 17, attrs(eps), in{x, scale}, in{f32([]float64{-1, 3, -1, 3}, 1, 2, 2)}, ""},
		{"statistics", "LayerNormalization", 17, attrs(eps), in{x, scale}, in{nil, f32([]float64{2, 4}, 1, 2, 1), f32([]float64{1, .5}, 1, 2, 1)}, ""},
		{"the second statistic alone", "LayerNormalization", 17, attrs(eps, attrInt("axis", 1)), in{x, f32([]float64{1, 1, 1, 1}, 2, 2)}, in{nil, nil, f32([]float64{1 / math.Sqrt(3.5)}, 1, 1, 1)}, ""},
		{"statistics of halves", "LayerNormalization", 17, attrs(eps), in{half([]float64{1, 3}), half([]float64{1, 1})}, in{half([]float64{-1, 1}), f32([]float64{2}), f32([]float64{1})}, ""},
		{"statistics of doubles", "LayerNormalization", 17, attrs(eps), in{tensorOf(dtype.Float64, []float64{1, 3}, 2), tensorOf(dtype.Float64, []float64{1, 1}, 2)}, in{nil, f32([]float64{2}), nil}, ""},
		{"statistics in a type asked for", "LayerNormalization", 17, attrs(eps, attrInt("stash_type", int64(wire.BFloat16))), in{x, scale}, in{nil, tensorOf(dtype.BFloat16, []float64{2, 4}, 1, 2, 1), nil}, ""},
		{"scale does not fit", "LayerNormalization", 17, nil, in{x, f32([]float64{1, 2, 3})}, nil, "scale float32[3] does not broadcast to x float32[1 2 2]"},

		{"", "RMSNormalization", 23, attrs(eps), in{f32([]float64{1, 7}), scale}, in{f32([]float64{.2, 4.2})}, ""},
		{"type of the scale", "RMSNormalization", 23, attrs(eps), in{half([]float64{1, 7}), scale}, in{f32([]float64{.2, 4.2})}, ""},
		{"narrower scale", "RMSNormalization", 23, attrs(eps), in{f32([]float64{1, 7}), half([]float64{1, 2})}, in{half([]float64{.2, 2.8})}, ""},
		{"all axes", "RMSNormalization", 23, attrs(eps, attrInt("axis", -2)), in{f32([]float64{1, 1, 1, 1}, 2, 2), scale}, in{f32([]float64{1, 3, 1, 3}, 2, 2)}, ""},
		{"scale does not fit", "RMSNormalization", 23, nil, in{half([]float64{1, 7}), f32([]float64{1, 1}, 2, 1)}, nil, "does not broadcast to the input"},

		{"the last axis, of order 2", "LpNormalization", 1, nil, in{f32([]float64{3, 4, 0, 0}, 2, 2)}, in{f32([]float64{.6, .8, 0, 0}, 2, 2)}, ""},
		{"order 1", "LpNormalization", 22, attrs(attrInt("axis", 0), attrInt("p", 1)), in{f32([]float64{3, -1})}, in{f32([]float64{.75, -.25})}, ""},
		{"order 3", "LpNormalization", 1, attrs(attrInt("p", 3)), in{x}, nil, "only 1 and 2 are defined"},

		{"odd size", "LRN", 1, attrs(attrInt("size", 3), attrFloat("alpha", 3), attrFloat("beta", 1), attrFloat("bias", 0)), in{quad}, in{f32([]float64{1. / 10, 3. / 35, 5. / 83, 7. / 74}, 1, 4, 1)}, ""},
		{"even size", "LRN", 13, attrs(attrInt("size", 2), attrFloat("alpha", 2), attrFloat("beta", 1)), in{quad}, in{f32([]float64{1. / 11, 3. / 35, 5. / 75, 7. / 50}, 1, 4, 1)}, ""},
		{"no size", "LRN", 1, nil, in{quad}, nil, `"size" is missing`},

		{"each channel", "MeanVarianceNormalization", 1, nil, in{x}, in{f32([]float64{-1, 1, -1, 1}, 1, 2, 2)}, ""},
		{"across channels", "MeanVarianceNormalization", 1, attrs(attrInt("across_channels", 1), attrInt("normalize_variance", 0)), in{x}, in{f32([]float64{-2, 0, -1, 3}, 1, 2, 2)}, ""},
		{"no places", "MeanVarianceNormalization", 1, nil, in{scale}, nil, "which has no spatial axes"},
		{"not the channels", "MeanVarianceNormalization", 9, nil, in{f32([]float64{1, 3, 2, 6}, 2, 2, 1, 1)}, in{f32([]float64{-1, -1, 1, 1}, 2, 2, 1, 1)}, ""},
		{"axes", "MeanVarianceNormalization", 13, attrs(attrInts("axes", -1)), in{f32([]float64{1, 3, 2, 6}, 2, 2)}, in{f32([]float64{-1, 1, -1, 1}, 2, 2)}, ""},
		{"axes that are not there", "MeanVarianceNormalization", 13, nil, in{x}, nil, "mean_variance_norm: of float32[1 2 2]"},
	})
}
