package onnx

import (
	"math"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/wire"
)

func TestFeatures(t *testing.T) {
	const ml = "ai.onnx.ml."
	nan := math.NaN()
	x := counting(1, 2, 3) // 1 2 3; 4 5 6
	f64 := func(data []float64, dims ...int) in { return in{tensorOf(dtype.Float64, data, dims...)} }
	runNodeTests(t, []nodeTest{
		{"", ml + "Scaler", 1, attrs(attrFloats("offset", 1, 2, 3), attrFloats("scale", 2, 3, 4)), in{x}, in{f32([]float64{0, 0, 0, 6, 9, 12}, 2, 3)}, ""},
		{"one for all", ml + "Scaler", 1, attrs(attrFloats("offset", 1), attrFloats("scale", 2)), in{x}, in{f32([]float64{0, 2, 4, 6, 8, 10}, 2, 3)}, ""},
		{"nothing", ml + "Scaler", 3, nil, in{x}, in{x}, ""},
		{"integers", ml + "Scaler", 1, attrs(attrFloats("scale", .5)), in{i64([]float64{1, 2})}, in{f32([]float64{.5, 1})}, ""},
		// 1 + 1e-9 is 1 in float32.
		{"float64", ml + "Scaler", 1, attrs(attrFloats("offset", 1), attrFloats("scale", 1e9)), f64([]float64{1 + 1e-9}, 1), in{f32([]float64{1.00000008})}, ""},
		{"too many", ml + "Scaler", 1, attrs(attrFloats("scale", 1, 2)), in{x}, nil, `attribute "scale" has 2 numbers for 3 features`},
		{"rank 0", ml + "Scaler", 1, attrs(attrFloats("scale", 1)), in{scalarOf(dtype.Float32, 1)}, nil, "one axis at least"},

		{"largest", ml + "Normalizer", 1, nil, in{f32([]float64{-2, 1, 0, 0, -4, -2}, 3, 2)}, in{f32([]float64{-2, 1, 0, 0, 2, 1}, 3, 2)}, ""},
		{"sum", ml + "Normalizer", 1, attrs(attrText("norm", "L1")), in{f32([]float64{-2, 2, 0, 0}, 2, 2)}, in{f32([]float64{-.5, .5, 0, 0}, 2, 2)}, ""},
		{"squares", ml + "Normalizer", 1, attrs(attrText("norm", "L2")), in{i64([]float64{-3, 4})}, in{f32([]float64{-.6, .8})}, ""},
		{"no rows", ml + "Normalizer", 1, attrs(attrText("norm", "L2")), in{f32(nil, 0, 2)}, in{f32(nil, 0, 2)}, ""},
		{"no such norm", ml + "Normalizer", 1, attrs(attrText("norm", "L3")), in{x}, nil, "L3"},

		{"", ml + "Binarizer", 1, attrs(attrFloat("threshold", 3)), in{x}, in{f32([]float64{0, 0, 0, 1, 1, 1}, 2, 3)}, ""},
		{"integers", ml + "Binarizer", 1, attrs(attrFloat("threshold", -.5)), in{i64([]float64{-1, 0, 1})}, in{i64([]float64{0, 1, 1})}, ""},
		{"NaN", ml + "Binarizer", 1, nil, in{f32([]float64{nan, 0, 1})}, in{f32([]float64{0, 0, 1})}, ""},

		{"", ml + "Imputer", 1, attrs(attrFloats("imputed_value_floats", 7, 8, 9), attrFloat("replaced_value_float", 5)), in{x}, in{f32([]float64{1, 2, 3, 4, 8, 6}, 2, 3)}, ""},
		{"NaN", ml + "Imputer", 1, attrs(attrFloats("imputed_value_floats", 7), attrFloat("replaced_value_float", float32(nan)), attrInt("replaced_value_int64", 1)),
			in{f32([]float64{nan, 1})}, in{f32([]float64{7, 1})}, ""},
		{"integers", ml + "Imputer", 1, attrs(attrInts("imputed_value_int64s", 7), attrInt("replaced_value_int64", -1)),
			in{tensorOf(dtype.Int32, []float64{-1, 1}, 2)}, in{tensorOf(dtype.Int32, []float64{7, 1}, 2)}, ""},
		{"float64", ml + "Imputer", 1, attrs(attrFloats("imputed_value_floats", 7)), f64([]float64{0, 1e-300}, 2), f64([]float64{7, 1e-300}, 2), ""},
		{"of another type", ml + "Imputer", 1, attrs(attrInts("imputed_value_int64s", 7)), in{x}, nil, `ask for attribute "imputed_value_floats"`},
		{"too wide", ml + "Imputer", 1, attrs(attrInts("imputed_value_int64s", 1<<40)), in{tensorOf(dtype.Int32, []float64{1}, 1)}, nil, "does not fit the element type int32"},
		{"too many", ml + "Imputer", 1, attrs(attrFloats("imputed_value_floats", 7, 8)), in{x}, nil, "2 numbers for 3 features"},

		{"", ml + "ArrayFeatureExtractor", 1, nil, in{x, i64([]float64{2, 0}, 1, 2)}, in{f32([]float64{3, 1, 6, 4}, 2, 2)}, ""},
		{"one axis", ml + "ArrayFeatureExtractor", 1, nil, in{i64([]float64{5, 6, 7}), i64([]float64{2, 0, 2})}, in{i64([]float64{7, 5, 7}, 1, 3)}, ""},
		{"out of range", ml + "ArrayFeatureExtractor", 1, nil, in{x, i64([]float64{3})}, nil, "out of range"},

		{"", ml + "FeatureVectorizer", 1, attrs(attrInts("inputdimensions", 2, 3)), in{x, i64([]float64{7, 8}, 2, 1)}, in{f32([]float64{1, 2, 7, 0, 0, 4, 5, 8, 0, 0}, 2, 5)}, ""},
		{"as they are", ml + "FeatureVectorizer", 1, nil, in{f32([]float64{1, 2}), f32([]float64{3}, 1, 1)}, in{f32([]float64{1, 2, 3}, 1, 3)}, ""},
		{"too few numbers", ml + "FeatureVectorizer", 1, attrs(attrInts("inputdimensions", 2)), in{x, x}, nil, "has 1 numbers for 2 inputs"},
		{"a negative one", ml + "FeatureVectorizer", 1, attrs(attrInts("inputdimensions", -2)), in{x}, nil, "is -2 for input 0"},

		{"", ml + "OneHotEncoder", 1, attrs(attrInts("cats_int64s", 5, -1, 3)), in{i64([]float64{3, 5, 4, -1}, 2, 2)}, in{f32([]float64{0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0}, 2, 2, 3)}, ""},
		{"the last of equals", ml + "OneHotEncoder", 1, attrs(attrInts("cats_int64s", 5, 5)), in{f32([]float64{5.9})}, in{f32([]float64{0, 1}, 1, 2)}, ""},
		{"required", ml + "OneHotEncoder", 1, attrs(attrInts("cats_int64s", 5), attrInt("zeros", 0)), in{i64([]float64{5})}, in{f32([]float64{1}, 1, 1)}, ""},
		{"not there", ml + "OneHotEncoder", 1, attrs(attrInts("cats_int64s", 5), attrInt("zeros", 0)), in{i64([]float64{4})}, nil, "4 is not among the 1 keys"},

		{"", ml + "LabelEncoder", 2, attrs(attrInts("keys_int64s", 5, -3, 9), attrFloats("values_floats", 1, 2, 3)), in{i64([]float64{9, 5, 4, -3}, 2, 2)}, in{f32([]float64{3, 1, 0, 2}, 2, 2)}, ""},
		{"default", ml + "LabelEncoder", 2, attrs(attrFloats("keys_floats", 1, float32(nan)), attrInts("values_int64s", 7, 8), attrInt("default_int64", 6), attrText("default_string", "")),
			in{f32([]float64{1, nan, 2, math.Inf(1)})}, in{i64([]float64{7, 8, 6, 6})}, ""},
		{"no default", ml + "LabelEncoder", 4, attrs(attrInts("keys_int64s", 1), attrInts("values_int64s", 7)), in{i64([]float64{2})}, in{i64([]float64{-1})}, ""},
		{"the last of equals", ml + "LabelEncoder", 4, attrs(attrInts("keys_int64s", 1, 2, 1), attrInts("values_int64s", 7, 8, 9)), in{i64([]float64{2, 1})}, in{i64([]float64{8, 9})}, ""},
		{"tensors", ml + "LabelEncoder", 4, attrs(attrTensor("keys_tensor", wireTensor(wire.Uint8, []float64{200, 3})), attrTensor("values_tensor", wireTensor(wire.Int16, []float64{-1, 7})),
			attrTensor("default_tensor", wireTensor(wire.Int16, []float64{42}))), in{tensorOf(dtype.Uint8, []float64{3, 4, 200}, 3)}, in{tensorOf(dtype.Int16, []float64{7, 42, -1}, 3)}, ""},
		{"tensors too early", ml + "LabelEncoder", 2, attrs(attrTensor("keys_tensor", wireTensor(wire.Int64, []float64{1})), attrInts("values_int64s", 7)), in{i64([]float64{2})}, nil, "keys_tensor does not exist before version 4"},
		{"default of another type", ml + "LabelEncoder", 4, attrs(attrInts("keys_int64s", 1), attrInts("values_int64s", 7), attrTensor("default_tensor", wireTensor(wire.Int16, []float64{42}))),
			in{i64([]float64{2})}, nil, "want one of type int64"},
		{"elements of another type", ml + "LabelEncoder", 2, attrs(attrInts("keys_int64s", 1), attrInts("values_int64s", 7)), in{x}, nil, "keys are of type int64, elements of type float32"},
		{"unequal", ml + "LabelEncoder", 2, attrs(attrInts("keys_int64s", 1, 2), attrInts("values_int64s", 7)), in{i64([]float64{2})}, nil, "2 keys and 1 values"},
		{"two keys", ml + "LabelEncoder", 2, attrs(attrInts("keys_int64s", 1), attrFloats("keys_floats", 1), attrInts("values_int64s", 7)), in{i64([]float64{2})}, nil, "2 attributes hold the keys"},
	})
}

func TestLinearModels(t *testing.T) {
	const ml = "ai.onnx.ml."
	x := f32([]float64{1, 2, 3, -4}, 2, 2)
	two := attrs(attrFloats("coefficients", 1, 10, 2, 20), attrFloats("intercepts", .5, -.5)) // 21.5 41.5; -36.5 -74.5
	lone := attrs(attrFloats("coefficients", 1, 1), attrFloats("intercepts", 1))              // 4; 0
	labels := func(n int, list []wire.Attribute, more ...wire.Attribute) []wire.Attribute {
		return with(list, append(more, attrInts("classlabels_ints", []int64{7, 8, 9}[:n]...), attrInt("multi_class", 1))...)
	}
	l := 1 / (1 + math.Exp(-4))
	runNodeTests(t, []nodeTest{
		{"", ml + "LinearRegressor", 1, with(two, attrInt("targets", 2)), in{x}, in{f32([]float64{21.5, 41.5, -36.5, -74.5}, 2, 2)}, ""},
		{"no intercepts", ml + "LinearRegressor", 1, attrs(attrFloats("coefficients", 1, 10)), in{i64([]float64{1, 2})}, in{f32([]float64{21}, 1, 1)}, ""},
		{"logistic", ml + "LinearRegressor", 1, with(lone, attrText("post_transform", "LOGISTIC")), in{x}, in{f32([]float64{l, .5}, 2, 1)}, ""},
		{"no rows", ml + "LinearRegressor", 1, lone, in{f32(nil, 0, 2)}, in{f32(nil, 0, 1)}, ""},
		{"other features", ml + "LinearRegressor", 1, with(two, attrInt("targets", 3), attrFloats("intercepts")), in{x}, nil, "has 4 numbers for 3 scores of 2 each"},
		{"no targets", ml + "LinearRegressor", 1, with(two, attrInt("targets", 0)), in{x}, nil, `"targets" is 0`},
		{"other intercepts", ml + "LinearRegressor", 1, with(lone, attrFloats("intercepts", 1, 2)), in{x}, nil, `"intercepts" has 2 numbers for 1 scores`},

		{"", ml + "LinearClassifier", 1, labels(2, two), in{x}, in{i64([]float64{8, 7}), f32([]float64{21.5, 41.5, -36.5, -74.5}, 2, 2)}, ""},
		{"softmax", ml + "LinearClassifier", 1, labels(2, two, attrText("post_transform", "SOFTMAX")), in{x}, in{i64([]float64{8, 7}), f32([]float64{0, 1, 1, 0}, 2, 2)}, ""},
		{"one score", ml + "LinearClassifier", 1, labels(2, lone), in{x}, in{i64([]float64{8, 7}), f32([]float64{-3, 4, 1, 0}, 2, 2)}, ""},
		{"one logistic score", ml + "LinearClassifier", 1, labels(2, lone, attrText("post_transform", "LOGISTIC")), in{x}, in{i64([]float64{8, 7}), f32([]float64{1 - l, l, .5, .5}, 2, 2)}, ""},
		{"one class", ml + "LinearClassifier", 1, labels(1, lone), in{x}, in{i64([]float64{1, 0}), f32([]float64{4, 0}, 2, 1)}, ""},
		{"scores of strings", ml + "LinearClassifier", 1, with(two, attrTexts("classlabels_strings", "a", "b")), in{x}, in{nil, f32([]float64{21.5, 41.5, -36.5, -74.5}, 2, 2)}, ""},
		{"too many classes", ml + "LinearClassifier", 1, labels(3, two), in{x}, nil, "2 numbers for 3 scores"},
	})
}
