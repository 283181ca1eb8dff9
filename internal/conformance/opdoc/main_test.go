package main

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth/onnx"
)

// TestPage holds the committed page to the table of operators: a row for each, with
// its versions, in order, and no other.
func TestPage(t *testing.T) {
	data, err := os.ReadFile("../../../docs/operators.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	if !strings.HasPrefix(text, head) {
		t.Error("docs/operators.md begins otherwise: run go generate ./onnx")
	}
	_, table, _ := strings.Cut(text, "| operator | versions | tests | types |\n|---|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := strings.Split(strings.TrimSpace(table), "\n")
	operators := onnx.Operators()
	for i, o := range operators {
		if i >= len(rows) || !strings.HasPrefix(rows[i], row(o)) {
			t.Fatalf("docs/operators.md has no row %q in its place: run go generate ./onnx", row(o))
		}
	}
	if len(rows) > len(operators) {
		t.Errorf("docs/operators.md has rows of operators that are not there, such as %q: run go generate ./onnx", rows[len(operators)])
	}
}

func TestReason(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"onnx: dir/model.onnx: IR version 14 is newer", "IR version 14 is newer"},
		{`onnx: dir/model.onnx: node 3 "a b" (ai.onnx.ml.F): node 0 "-> y" (G): axis 3 of 2`, "axis 3 of 2"},
		{`test_data_set_0: onnx: dir/model.onnx: node 0 "x" (F): one` + "\ntwo", "one"},
		{"not supported: Scan at opset 9 (1 nodes), ai.onnx.ml.F at opset 1 (12 nodes)", "not supported: Scan, ai.onnx.ml.F"},
		{"x FLOAT8E5M2 [3 5]: type is not supported", "type FLOAT8E5M2 is not supported"},
		{"opt_in optional: type is not supported", "type optional is not supported"},
	} {
		if got := reason(errors.New(c.text), "dir"); got != c.want {
			t.Errorf("%q becomes %q, want %q", c.text, got, c.want)
		}
	}
}

// TestFigures makes the page of a few results.
func TestFigures(t *testing.T) {
	text := page([]result{
		{suite: "node", name: "test_relu", ops: []string{"Relu"}, types: []string{"float32", "float16"}},
		{suite: "node", name: "test_relu_wide", ops: []string{"Relu"}, types: []string{"float64"}, reason: "type a|b"},
		{suite: "node", name: "test_both", ops: []string{"Nobody", "Relu"}, types: []string{"int8"}, reason: "no", skipped: true},
		{suite: "node", name: "test_other", ops: []string{"Nobody"}, reason: "no", skipped: true},
		{suite: "simple", name: "test_add", ops: []string{"Abs", "Relu"}, types: []string{"int8"}},
	})
	lines := strings.Split(text, "\n")
	rows := make(map[string]string)
	for _, o := range onnx.Operators() {
		rows[o.Name] = row(o)
	}
	for _, want := range []string{
		"| node | 1 | 1 | 2 |", "| simple | 1 | 0 | 0 |", "| pytorch-operator | 0 | 0 | 0 |",
		rows["Relu"] + " 2 of 4 | float16 float32 |", rows["Acos"] + " none |  |", rows["Abs"] + " 1 of 1 |  |",
		"| `Nobody` | 2 |", `| type a\|b | 1: ` + "`relu_wide` |", "| no | 2: `both` `other` |",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if n := strings.Count(text, "\n| `Relu` |"); n != 1 {
		t.Errorf("Relu has %d rows", n)
	}
}
