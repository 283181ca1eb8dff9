package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/conformance"
	"github.com/berth-go/berth/onnx"
)

// suites are the folders of tests, in the order of the page.
var suites = []string{"node", "simple", "pytorch-converted", "pytorch-operator"}

// A result says how a test ended.
type result struct {
	suite, name string
	ops         []string // that its model has
	types       []string // of its inputs and outputs, without those that there are not
	reason      string   // why it does not pass; "" when it does
	skipped     bool     // it has something that is not supported
}

// runAll runs the tests of all suites below dir.
func runAll(ctx context.Context, dir string) ([]result, error) {
	var results []result
	for _, suite := range suites {
		tests, err := conformance.Find(filepath.Join(dir, suite))
		if err != nil {
			return nil, err
		}
		for _, test := range tests {
			info, err := onnx.Inspect(filepath.Join(test, "model.onnx"))
			if err != nil {
				return nil, err
			}
			r := result{suite: suite, name: filepath.Base(test), ops: slices.Sorted(maps.Keys(info.Ops))}
			for _, v := range slices.Concat(info.Inputs, info.Outputs) {
				if v.DType.Valid() {
					r.types = append(r.types, v.DType.String())
				}
			}
			if _, err := conformance.Run(ctx, test, conformance.Upstream, berth.RunOptions{}); err != nil {
				r.reason, r.skipped = reason(err, test), conformance.Skipped(err)
			}
			results = append(results, r)
		}
	}
	return results, nil
}

// places are the parts of an error that differ from test to test.
var places = regexp.MustCompile(`^(test_data_set_\d+: )?(onnx: )?(node \d+ ".*?" \([\w.]+\): )*`)

// counts are the parts of [conformance.Reason] that differ from test to test.
var counts = regexp.MustCompile(` at opset \d+ \(\d+ nodes\)`)

// ofType is the error about an input or output of a type that there is not.
var ofType = regexp.MustCompile(`^.* (\w+)( \[[^]]*\])?: type is not supported$`)

// reason returns why the test in a folder does not pass, in the words that it
// shares with others: without names and numbers of its own.
func reason(err error, test string) string {
	text := strings.ReplaceAll(conformance.Reason(err), filepath.Join(test, "model.onnx")+": ", "")
	if conformance.Differs(err) {
		return cmp.Or(conformance.Unmet(test), "outputs differ from those stored")
	}
	text = places.ReplaceAllString(text, "")
	text = counts.ReplaceAllString(text, "")
	text = ofType.ReplaceAllString(text, "type $1 is not supported")
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// counted returns how many tests of a list end as want says.
func counted(results []result, want func(r result) bool) int {
	n := 0
	for _, r := range results {
		if want(r) {
			n++
		}
	}
	return n
}

func passed(r result) bool { return r.reason == "" }
func failed(r result) bool { return r.reason != "" && !r.skipped }

// uses returns the tests whose model has an operator.
func uses(results []result, op string) []result {
	var list []result
	for _, r := range results {
		if slices.Contains(r.ops, op) {
			list = append(list, r)
		}
	}
	return list
}

// typesOf returns the element types of the tests of an operator alone that pass.
func typesOf(results []result) []string {
	var types []string
	for _, r := range results {
		if len(r.ops) == 1 && passed(r) {
			types = append(types, r.types...)
		}
	}
	slices.Sort(types)
	return slices.Compact(types)
}

// groups returns the names of the tests that do not pass, by reason.
func groups(results []result) map[string][]string {
	by := make(map[string][]string)
	for _, r := range results {
		if !passed(r) {
			by[r.reason] = append(by[r.reason], fmt.Sprintf("`%s`", strings.TrimPrefix(r.name, "test_")))
		}
	}
	return by
}
