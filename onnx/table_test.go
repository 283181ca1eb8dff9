package onnx

import (
	"errors"
	"slices"
	"testing"
)

// TestTable checks what lookup relies on, and that no operator is there twice.
func TestTable(t *testing.T) {
	type key struct{ domain, name string }
	last := make(map[key]row)
	home := make(map[key]int)
	for f, family := range opsTable {
		for _, r := range family {
			k := key{r.domain, r.name}
			if r.since <= last[k].since {
				t.Errorf("%s: version %d stands behind version %d", r.name, r.since, last[k].since)
			}
			if first, seen := home[k]; seen && first != f {
				t.Errorf("%s is in two families", r.name)
			}
			if r.convert == nil || r.min < 0 || r.max < r.min {
				t.Errorf("%s-%d: takes %d to %d inputs, converter there: %v", r.name, r.since, r.min, r.max, r.convert != nil)
			}
			last[k], home[k] = r, f
		}
	}
}

// TestOperators asks for the operators that there are: each once, with the versions
// of its rows.
func TestOperators(t *testing.T) {
	list := Operators()
	rows := 0
	for _, family := range slices.Concat(opsTable, valueOps) {
		rows += len(family)
	}
	seen := make(map[string]bool)
	for _, o := range list {
		rows -= len(o.Versions)
		if seen[o.Name] || !slices.IsSorted(o.Versions) || len(o.Versions) == 0 {
			t.Errorf("%+v is there twice, or its versions are out of order", o)
		}
		seen[o.Name] = true
	}
	if rows != 0 || !seen["Relu"] || !seen["ai.onnx.ml.Scaler"] || list[0].Name != "Abs" {
		t.Errorf("%d rows are left out of %+v", rows, list)
	}
}

// TestOperatorsSince lists operators with the opset that introduced them.
// Each must be there from that opset on, and not before: a file that uses it
// earlier means something else.
func TestOperatorsSince(t *testing.T) {
	since := map[int64][]string{
		1: {
			"Abs", "Add", "And", "ArgMax", "ArgMin", "AveragePool", "BatchNormalization", "Cast", "Ceil", "Clip", "Concat", "Constant",
			"Conv", "ConvTranspose", "DepthToSpace", "Div", "Dropout", "Elu", "Equal", "Exp", "Flatten", "Floor", "Gather", "Gemm",
			"GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool", "Greater", "HardSigmoid", "Hardmax", "Identity", "InstanceNormalization",
			"LRN", "LayerNormalization", "LeakyRelu", "Less", "Log", "LogSoftmax", "LpNormalization", "LpPool", "MatMul", "Max", "MaxPool", "Mean", "Min", "Mul",
			"Neg", "Not", "Or", "PRelu", "Pad", "Pow", "Reciprocal", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax",
			"ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare", "Relu", "Reshape", "Selu", "Shape", "Sigmoid", "Size",
			"Slice", "Softmax", "Softplus", "Softsign", "SpaceToDepth", "Split", "Sqrt", "Squeeze", "Sub", "Sum", "Tanh", "Tile", "TopK",
			"Transpose", "Unsqueeze", "Xor",
		},
		7: {"Acos", "Asin", "Atan", "Cos", "Sin", "Tan"},
		8: {"Expand"},
		9: {
			"Acosh", "Asinh", "Atanh", "ConstantOfShape", "Cosh", "Erf", "EyeLike", "IsNaN", "MaxUnpool",
			"OneHot", "Scatter", "Shrink", "Sign", "Sinh", "Where",
		},
		10: {"IsInf", "Mod", "ReverseSequence"},
		11: {"BitShift", "CumSum", "GatherElements", "GatherND", "Range", "Round", "ScatterElements", "ScatterND"},
		12: {"Celu", "Einsum", "GreaterOrEqual", "LessOrEqual"},
		14: {"HardSwish", "Trilu"},
		15: {"CastLike"},
		18: {"BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor", "CenterCropPad", "GroupNormalization", "Mish"},
		20: {"Gelu"},
		23: {"RMSNormalization"},
		24: {"Swish"},
	}
	for first, names := range since {
		for _, name := range names {
			for opset := int64(1); opset <= 27; opset++ {
				r, err := lookup("", name, opset)
				switch {
				case opset < first && !errors.Is(err, ErrUnsupported):
					t.Errorf("%s is there at opset %d, before %d", name, opset, first)
				case opset >= first && (err != nil || r.since > opset):
					t.Errorf("%s at opset %d: version %d, %v", name, opset, r.since, err)
				}
			}
		}
	}
}
