package conformance

import (
	"regexp"
	"strings"
	"testing"
)

func TestDifferences(t *testing.T) {
	for _, d := range Differences {
		for _, pattern := range []string{d.Operators, d.Case} {
			if _, err := regexp.Compile(pattern); err != nil {
				t.Error(err)
			}
		}
		if d.Why == "" {
			t.Errorf("%s: there is no reason", d.Operators)
		}
	}
	for _, c := range []struct{ operator, text, want string }{
		{"Elu", "Elu, opset 9: FLOAT[1]{-1}: absolute: y0 element 0 is 1, ONNX Runtime has 2", "precision"},
		{"Elu", "Elu, opset 9: FLOAT[1]{-1}: values: y0 element 0 is 1, ONNX Runtime has 2", ""},
		{"Eluu", "absolute: ", ""},
		{"ReduceSum", "ReduceSum, opset 9: FLOAT[2 0 3]: shape: y0 [1], ONNX Runtime [0]", "of no elements"},
		{"ReduceSum", "ReduceSum, opset 9: FLOAT[2 10 3]: shape: y0 [1], ONNX Runtime [0]", ""},
		{"com.microsoft.Gelu", ": absolute: ", "tails"},
	} {
		if got := Explain(c.operator, c.text); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s, %s: %q, want %q", c.operator, c.text, got, c.want)
		}
	}
}
