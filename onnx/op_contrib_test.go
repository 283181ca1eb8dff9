package onnx

import (
	"math"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/wire"
)

// through returns f of every element, rounded to the type of x.
func through(x *berth.Tensor, f func(float64) float64) *berth.Tensor {
	data := numbers(x)
	for i, v := range data {
		data[i] = f(v)
	}
	return tensorOf(x.DType(), data, x.Shape()...)
}

func exactGelu(x float64) float64 { return x / 2 * (1 + math.Erf(x/math.Sqrt2)) }
func tanhGelu(x float64) float64 {
	return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
}

func TestContribActivations(t *testing.T) {
	x, b := f32([]float64{-2, -.5, 0, 1, 3, math.Inf(1)}, 2, 3), f32([]float64{1, .5, 0})
	sum := f32([]float64{-1, 0, 0, 2, 3.5, math.Inf(1)}, 2, 3)
	line := counting(-2, 1, 1, 4) // -2 -1 0 1
	one := f32([]float64{1}, 1, 1, 1)
	act := func(name string, params ...float32) []wire.Attribute {
		list := attrs(attrText("activation", name))
		if params != nil {
			list = append(list, attrFloats("activation_params", params...))
		}
		return list
	}
	runNodeTests(t, []nodeTest{
		{"", "com.microsoft.Gelu", 1, nil, in{x}, in{through(x, exactGelu)}, ""},
		{"", "com.microsoft.QuickGelu", 1, nil, in{b}, in{through(b, func(v float64) float64 { return v / (1 + math.Exp(-1.702*v)) })}, ""},
		{"its own factor", "com.microsoft.QuickGelu", 1, attrs(attrFloat("alpha", 2)), in{b}, in{through(b, func(v float64) float64 { return v / (1 + math.Exp(-2*v)) })}, ""},
		{"", "com.microsoft.FastGelu", 1, nil, in{x}, in{through(x, tanhGelu)}, ""},
		{"a bias", "com.microsoft.FastGelu", 1, nil, in{x, b}, in{through(sum, tanhGelu)}, ""},
		{"", "com.microsoft.BiasGelu", 1, nil, in{x, b}, in{through(sum, exactGelu)}, ""},
		{"a bias that is wider", "com.microsoft.BiasGelu", 1, nil, in{b, x}, nil, "of shape [2 3], does not broadcast to the input, of shape [3]"},
		{"", "com.microsoft.BiasAdd", 1, nil, in{x, b, sum}, in{f32([]float64{-2, 0, 0, 4, 7, math.Inf(1)}, 2, 3)}, ""},
		{"", "com.microsoft.BiasSplitGelu", 1, nil, in{counting(0, 1, 4), f32([]float64{1, 1, -1, -1})}, in{f32([]float64{exactGelu(1), 2 * exactGelu(2)}, 1, 2)}, ""},
		{"no halves", "com.microsoft.BiasSplitGelu", 1, nil, in{x, b}, nil, "no halves"},

		{"no activation", "com.microsoft.FusedConv", 1, nil, in{line, one}, in{line}, ""},
		{"bias, addend and Relu", "com.microsoft.FusedConv", 1, act("Relu"), in{line, one, f32([]float64{1}), line}, in{f32([]float64{0, 0, 1, 3}, 1, 1, 4)}, ""},
		{"a slope", "com.microsoft.FusedConv", 1, act("LeakyRelu", .5), in{line, one}, in{f32([]float64{-1, -.5, 0, 1}, 1, 1, 4)}, ""},
		{"two parameters", "com.microsoft.FusedConv", 1, act("HardSigmoid", .25, .75), in{line, one}, in{f32([]float64{.25, .5, .75, 1}, 1, 1, 4)}, ""},
		{"bounds", "com.microsoft.FusedConv", 1, act("Clip", -1, .5), in{line, one}, in{f32([]float64{-1, -1, 0, .5}, 1, 1, 4)}, ""},
		{"an unknown activation", "com.microsoft.FusedConv", 1, act("Gelu"), in{line, one}, nil, `attribute "activation" is "Gelu"`},

		{"scaled, with a slope", "com.microsoft.FusedGemm", 1, attrs(attrText("activation", "LeakyRelu"), attrFloat("activation_alpha", .5), attrFloat("alpha", 2), attrInt("transB", 1)),
			in{f32([]float64{1, -1}, 1, 2), counting(1, 2, 2), f32([]float64{0, 4}, 2)}, in{f32([]float64{-1, 2}, 1, 2)}, ""},

		{"scaled", "com.microsoft.FusedMatMul", 1, attrs(attrFloat("alpha", .5)), in{counting(1, 2, 2), counting(1, 2, 1)}, in{f32([]float64{2.5, 5.5}, 2, 1)}, ""},
		{"both transposed", "com.microsoft.FusedMatMul", 1, attrs(attrInt("transA", 1), attrInt("transB", 1)), in{counting(1, 2, 1), counting(1, 3, 2)}, in{f32([]float64{5, 11, 17}, 1, 3)}, ""},
		{"batches transposed", "com.microsoft.FusedMatMul", 1, attrs(attrInt("transBatchA", 1)), in{counting(0, 2, 3, 1), f32([]float64{1}, 1, 1)}, in{f32([]float64{0, 3, 1, 4, 2, 5}, 3, 2, 1)}, ""},
		{"batches and matrices transposed", "com.microsoft.FusedMatMul", 1, attrs(attrInt("transBatchB", 1), attrInt("transB", 1)), in{f32([]float64{1}, 1, 1), counting(0, 2, 3, 1)}, in{f32([]float64{0, 3, 1, 4, 2, 5}, 3, 1, 2)}, ""},
		{"a vector", "com.microsoft.FusedMatMul", 1, attrs(attrInt("transA", 1)), in{f32([]float64{1, 2}), counting(1, 2, 1)}, in{f32([]float64{5})}, ""},
	})
}

func TestContribNorms(t *testing.T) {
	eps := attrFloat("epsilon", 0)
	half := func(data []float64, dims ...int) *berth.Tensor { return shaped(dtype.Float16, data, dims) }
	x, skip := f32([]float64{1, 2, 3, 4}, 1, 2, 2), f32([]float64{0, 1, 0, 2}, 1, 2, 2) // sums 1 3, 3 6
	scale, bias := f32([]float64{1, 3}), f32([]float64{0, 10})
	r := 1 / math.Sqrt(1e-12+1)
	rms := func(a, b float64) float64 { return 1 / math.Sqrt((a*a+b*b)/2) }
	words, places, kinds := f32([]float64{0, 0, 1, 5}, 2, 2), f32([]float64{0, 1, 2, 0, 9, 9}, 3, 2), f32([]float64{0, 0, 0, 1}, 2, 2)
	i32 := func(data []float64, dims ...int) *berth.Tensor { return shaped(dtype.Int32, data, dims) }
	ids, segments := i32([]float64{1, 0}, 1, 2), i32([]float64{1, 0}, 1, 2)
	runNodeTests(t, []nodeTest{
		{"", "SimplifiedLayerNormalization", 1, attrs(eps), in{f32([]float64{1, 7}), scale}, in{f32([]float64{.2, 4.2}), f32([]float64{.2})}, ""},
		{"all axes, halves", "SimplifiedLayerNormalization", 1, attrs(eps, attrInt("axis", 0), attrInt("stash_type", 1)), in{half([]float64{1, 7}), half([]float64{1, 3})}, in{half([]float64{.2, 4.2}), f32([]float64{.2})}, ""},
		{"before it was specified", "LayerNormalization", 11, attrs(eps), in{f32([]float64{1, 3}), scale}, in{f32([]float64{-1, 3})}, ""},

		{"all outputs", "com.microsoft.SkipLayerNormalization", 1, nil, in{x, skip, scale, bias}, in{f32([]float64{-r, 10 + 3*r, -1, 13}, 1, 2, 2), f32([]float64{2, 4.5}, 1, 2, 1), f32([]float64{1, 1 / 1.5}, 1, 2, 1), f32([]float64{1, 3, 3, 6}, 1, 2, 2)}, ""},
		{"a bias, and one skip for all", "com.microsoft.SkipLayerNormalization", 1, attrs(eps), in{x, f32([]float64{0, 1}, 1, 2), scale, nil, f32([]float64{0, 2})}, in{f32([]float64{-1, 3, -1, 3}, 1, 2, 2), nil, nil, f32([]float64{1, 5, 3, 7}, 1, 2, 2)}, ""},
		{"sums of halves", "com.microsoft.SkipLayerNormalization", 1, attrs(eps), in{half([]float64{2048, 0}, 1, 2), half([]float64{1, 0}, 1, 2), half([]float64{1, 1}), nil, half([]float64{1, 0})}, in{half([]float64{1, -1}, 1, 2), nil, nil, half([]float64{2050, 0}, 1, 2)}, ""},
		{"a skip that is wider", "com.microsoft.SkipLayerNormalization", 1, nil, in{f32([]float64{1, 3}), x, scale}, nil, "does not broadcast to the input"},

		{"", "com.microsoft.SkipSimplifiedLayerNormalization", 1, attrs(eps), in{x, skip, scale}, in{f32([]float64{rms(1, 3), 9 * rms(1, 3), 3 * rms(3, 6), 18 * rms(3, 6)}, 1, 2, 2), nil, f32([]float64{rms(1, 3), rms(3, 6)}, 1, 2, 1), f32([]float64{1, 3, 3, 6}, 1, 2, 2)}, ""},
		{"a bias", "com.microsoft.SkipSimplifiedLayerNormalization", 1, attrs(eps), in{x, skip, scale, f32([]float64{0, -3})}, in{f32([]float64{math.Sqrt2, 0, 3 * rms(3, 3), 9 * rms(3, 3)}, 1, 2, 2)}, ""},
		{"a mean", "com.microsoft.SkipSimplifiedLayerNormalization", 1, nil, in{x, skip, scale}, in{nil, x}, "has a mean as an output"},

		// Words 1 5, 0 0; places 0 1, 2 0; kinds 0 1, 0 0: sums 1 7, 2 0.
		{"all", "com.microsoft.EmbedLayerNormalization", 1, attrs(eps), in{ids, segments, words, places, kinds, scale, bias, i32([]float64{1, 0}, 1, 2)}, in{f32([]float64{-1, 13, 1, 7}, 1, 2, 2), i32([]float64{1}), f32([]float64{1, 7, 2, 0}, 1, 2, 2)}, ""},
		{"positions, no segments, no mask", "com.microsoft.EmbedLayerNormalization", 1, attrs(eps, attrInt("mask_index_type", 0)), in{ids, nil, words, places, nil, scale, bias, nil, i32([]float64{1, 0}, 1, 2)}, in{f32([]float64{-1, 13, -1, 13}, 1, 2, 2), i32([]float64{0}), f32([]float64{3, 5, 0, 1}, 1, 2, 2)}, ""},
		{"too few positions", "com.microsoft.EmbedLayerNormalization", 1, nil, in{i32([]float64{1, 0, 1, 0}, 1, 4), nil, words, places, nil, scale, bias}, nil, "no 4 positions"},
		{"segments without embedding", "com.microsoft.EmbedLayerNormalization", 1, nil, in{ids, segments, words, places, nil, scale, bias}, nil, "segment_ids without segment_embedding"},
	})
}

func TestContribAttentionErrors(t *testing.T) {
	x, w := counting(0, 1, 2, 4), counting(0, 4, 12)
	heads := attrs(attrInt("num_heads", 2))
	both := attrs(attrInt("num_heads", 2), attrInt("kv_num_heads", 2))
	lengths, total := shaped(dtype.Int32, []float64{1}, []int{1}), scalarOf(dtype.Int32, 2)
	table := counting(0, 4, 1)
	runNodeTests(t, []nodeTest{
		{"no heads", "com.microsoft.Attention", 1, nil, in{x, w}, nil, `"num_heads" is missing`},
		{"sizes that are not those of the weights", "com.microsoft.Attention", 1, append(heads, attrInts("qkv_hidden_sizes", 4, 4, 5)), in{x, w}, nil, "queries, keys and values have [4 4 5] columns of the weights [4 12]"},
		{"weights that do not divide", "com.microsoft.Attention", 1, heads, in{x, counting(0, 4, 13)}, nil, "columns of the weights [4 13]"},
		{"rotary", "com.microsoft.Attention", 1, append(heads, attrInt("do_rotary", 1)), in{x, w}, nil, `operator is not supported with the attribute "do_rotary"`},
		{"a mask of another batch", "com.microsoft.Attention", 1, heads, in{x, w, nil, shaped(dtype.Int32, make([]float64, 5), []int{5})}, nil, "a mask of shape [5] for 1 elements of the batch is not supported"},
		{"a past of four axes", "com.microsoft.Attention", 1, heads, in{x, w, nil, nil, counting(0, 1, 2, 1, 2)}, nil, "past has the shape [1 2 1 2]"},
		{"values without keys", "com.microsoft.MultiHeadAttention", 1, heads, in{x, nil, x}, nil, "values without keys"},
		{"past keys alone", "com.microsoft.MultiHeadAttention", 1, heads, in{x, x, x, nil, nil, nil, counting(0, 1, 2, 1, 2)}, nil, "past keys without values"},
		{"a packed input of three axes", "com.microsoft.MultiHeadAttention", 1, heads, in{x}, nil, "packed inputs have the shape [1 2 4]"},
		{"a bias beside packed inputs", "com.microsoft.MultiHeadAttention", 1, heads, in{counting(0, 1, 2, 2, 3, 1), nil, nil, counting(0, 6)}, nil, "a bias does not go with packed inputs"},
		{"a short bias", "com.microsoft.MultiHeadAttention", 1, heads, in{x, x, x, counting(0, 10)}, nil, "the bias has the shape [10]"},
		{"no lengths", "com.microsoft.GroupQueryAttention", 1, both, in{x, x, x}, nil, "input 5 is missing"},
		{"too long", "com.microsoft.GroupQueryAttention", 1, both, in{x, x, x, nil, nil, lengths, scalarOf(dtype.Int32, 1<<30)}, nil, "total_sequence_length is 1073741824, more than 0 past and 2 new"},
		{"lengths of others", "com.microsoft.GroupQueryAttention", 1, both, in{x, x, x, nil, nil, shaped(dtype.Int32, []float64{1, 1}, []int{2}), total}, nil, "seqlens_k has the shape [2], not [1]"},
		{"rotary without angles", "com.microsoft.GroupQueryAttention", 1, append(both, attrInt("do_rotary", 1)), in{x, x, x, nil, nil, lengths, total}, nil, "cos_cache or sin_cache is missing"},
		{"a smooth softmax", "com.microsoft.GroupQueryAttention", 1, append(both, attrInt("smooth_softmax", 1)), in{x, x, x, nil, nil, lengths, total}, nil, "smooth_softmax"},
		{"packed, with no groups", "com.microsoft.GroupQueryAttention", 1, attrs(attrInt("num_heads", 2), attrInt("kv_num_heads", 0)), in{x, nil, nil, nil, nil, lengths, total}, nil, "num_heads and kv_num_heads are 2 and 0"},

		{"the position of the first", "com.microsoft.RotaryEmbedding", 1, nil, in{f32([]float64{1, 0, 1, 0}, 1, 2, 2), i64([]float64{1}), f32([]float64{9, 1, 0, 9}, 4, 1), f32([]float64{9, 0, 1, 9}, 4, 1)}, in{f32([]float64{1, 0, 0, 1}, 1, 2, 2)}, ""},
		{"positions of all", "com.microsoft.RotaryEmbedding", 1, attrs(attrInt("num_heads", 1)), in{f32([]float64{1, 0, 1, 0}, 1, 2, 2), i64([]float64{2, 1}, 1, 2), f32([]float64{9, 1, 0, 9}, 4, 1), f32([]float64{9, 0, 1, 9}, 4, 1)}, in{f32([]float64{0, 1, 1, 0}, 1, 2, 2)}, ""},
		{"four axes, interleaved", "com.microsoft.RotaryEmbedding", 1, attrs(attrInt("interleaved", 1), attrInt("rotary_embedding_dim", 2)), in{f32([]float64{1, 0, 5, 6}, 1, 1, 1, 4), i64([]float64{2}), f32([]float64{9, 1, 0, 9}, 4, 1), f32([]float64{9, 0, 1, 9}, 4, 1)}, in{f32([]float64{0, 1, 5, 6}, 1, 1, 1, 4)}, ""},
		{"packed batches", "com.microsoft.RotaryEmbedding", 1, attrs(attrInt("is_packed_batching", 1)), in{x, i64([]float64{0}), table, table}, nil, "is_packed_batching"},
		{"a scale", "com.microsoft.RotaryEmbedding", 1, attrs(attrFloat("scale", 2)), in{x, i64([]float64{0}), table, table}, nil, "with a scale, which is 2"},
	})
}
