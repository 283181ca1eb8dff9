package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/berth-go/berth/internal/conformance"
	"github.com/berth-go/berth/onnx"
)

const head = `# Operators

The operators of ONNX that Berth has, and how the backend tests of ONNX 1.22 end that use each. This page is
written by ` + "`go generate ./onnx`" + `; how a program asks is ` + "`onnx.Operators`" + `.

- **versions**: the opset versions from which on an operator is read in a way of its own. It holds for all
  later ones up to the next.
- **tests**: how many of the tests that use the operator pass, of how many.
- **types**: the element types in those that use no other operator.

`

// page returns the page about the results of all tests.
func page(results []result) string {
	var b strings.Builder
	b.WriteString(head)
	b.WriteString("| suite | passed | failed | not supported |\n|---|---|---|---|\n")
	for _, suite := range suites {
		of := slices.DeleteFunc(slices.Clone(results), func(r result) bool { return r.suite != suite })
		pass, fail := counted(of, passed), counted(of, failed)
		fmt.Fprintf(&b, "| %s | %d | %d | %d |\n", suite, pass, fail, len(of)-pass-fail)
	}
	b.WriteString("\n| operator | versions | tests | types |\n|---|---|---|---|\n")
	known := make(map[string]bool)
	for _, o := range onnx.Operators() {
		known[o.Name] = true
		of := uses(results, o.Name)
		fmt.Fprintf(&b, "%s %s | %s |\n", row(o), ratio(of), strings.Join(typesOf(of), " "))
	}
	writeMissing(&b, results, known)
	writeReasons(&b, results)
	writeDifferences(&b)
	return b.String()
}

// row returns the part of an operator's row that is known without any test.
func row(o onnx.Operator) string {
	versions := make([]string, len(o.Versions))
	for i, v := range o.Versions {
		versions[i] = fmt.Sprint(v)
	}
	return fmt.Sprintf("| `%s` | %s |", o.Name, strings.Join(versions, ", "))
}

func ratio(results []result) string {
	if len(results) == 0 {
		return "none"
	}
	return fmt.Sprintf("%d of %d", counted(results, passed), len(results))
}

// writeMissing lists the operators of tests that are not known.
func writeMissing(b *strings.Builder, results []result, known map[string]bool) {
	missing := make(map[string]int)
	for _, r := range results {
		for _, op := range r.ops {
			if !known[op] {
				missing[op]++
			}
		}
	}
	if len(missing) == 0 {
		return
	}
	b.WriteString("\n## Operators that tests use and Berth does not have\n\n| operator | tests |\n|---|---|\n")
	for _, op := range slices.Sorted(maps.Keys(missing)) {
		fmt.Fprintf(b, "| `%s` | %d |\n", op, missing[op])
	}
}

// writeDifferences lists how Berth and ONNX Runtime differ on purpose.
func writeDifferences(b *strings.Builder) {
	b.WriteString("\n## Where ONNX Runtime 1.23 gives other results\n\n" +
		"The module `compare` runs thousands of random models of one node in both, at all opset versions from 7 to 23.\n" +
		"What differs is for these reasons; the pattern behind each operator fits the description of the model and of what differs.\n\n" +
		"| operator | where | why |\n|---|---|---|\n")
	escape := strings.NewReplacer("|", `\|`).Replace
	for _, d := range conformance.Differences {
		fmt.Fprintf(b, "| `%s` | `%s` | %s |\n", escape(d.Operators), escape(d.Case), d.Why)
	}
}

// writeReasons lists why tests do not pass, the commonest reason first.
func writeReasons(b *strings.Builder, results []result) {
	by := groups(results)
	if len(by) == 0 {
		return
	}
	b.WriteString("\n## Tests that do not pass\n\n| reason | tests |\n|---|---|\n")
	for _, why := range slices.SortedFunc(maps.Keys(by), func(x, y string) int {
		return cmp.Or(cmp.Compare(len(by[y]), len(by[x])), cmp.Compare(x, y))
	}) {
		fmt.Fprintf(b, "| %s | %d: %s |\n", strings.ReplaceAll(why, "|", `\|`), len(by[why]), strings.Join(by[why], " "))
	}
}
