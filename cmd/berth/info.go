package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/berth-go/berth/onnx"
)

type infoCmd struct {
	Model string `arg:"" help:"An ONNX file, also one that cannot be run."`
	jsonFlag
}

type infoResult struct {
	Model         string            `json:"model"`
	IRVersion     int64             `json:"ir_version"`
	Opsets        map[string]int64  `json:"opsets"` // "ai.onnx" by its name
	Producer      string            `json:"producer"`
	Domain        string            `json:"domain"`
	ModelVersion  int64             `json:"model_version"`
	Documentation string            `json:"documentation"`
	Metadata      map[string]string `json:"metadata"`
	Graph         string            `json:"graph"`
	Inputs        []infoValue       `json:"inputs"`
	Outputs       []infoValue       `json:"outputs"`
	Extents       []string          `json:"extents"`
	Nodes         int               `json:"nodes"`
	Operators     map[string]int    `json:"operators"`
	Functions     map[string]int    `json:"functions"`
	Weights       int               `json:"weights"`
	Parameters    int64             `json:"parameters"`
	WeightBytes   int64             `json:"weight_bytes"`
	Missing       []infoMissing     `json:"missing"`
	Faults        []string          `json:"faults"`
}

type infoValue struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Dims []any  `json:"dims"` // a number, a name or null each; null when the file gives no rank
	text string
}

type infoMissing struct {
	Operator string `json:"operator"`
	Opset    int64  `json:"opset"`
	Nodes    int    `json:"nodes"`
	Example  string `json:"example"`
}

// Run prints what a model file says of itself, and what keeps it from being run.
func (c *infoCmd) Run(e *env) error {
	info, err := onnx.Inspect(c.Model)
	if err != nil {
		return err
	}
	r := infoResult{
		Model: c.Model, IRVersion: info.IRVersion, Opsets: make(map[string]int64),
		Producer: info.Producer, Domain: info.Domain, ModelVersion: info.ModelVersion, Documentation: info.Documentation,
		Metadata: info.Metadata, Graph: info.GraphName,
		Inputs: infoValues(info.Inputs), Outputs: infoValues(info.Outputs), Extents: append([]string{}, info.Extents...),
		Nodes: info.Nodes, Operators: info.Ops, Functions: info.Functions,
		Weights: info.Weights, Parameters: info.Parameters, WeightBytes: info.WeightBytes,
		Missing: []infoMissing{}, Faults: []string{},
	}
	for domain, version := range info.Opsets {
		r.Opsets[cmp.Or(domain, "ai.onnx")] = version
	}
	for _, m := range info.Missing {
		r.Missing = append(r.Missing, infoMissing{m.Name, m.Opset, m.Nodes, m.Example})
	}
	for _, err := range info.Faults {
		r.Faults = append(r.Faults, err.Error())
	}
	if err := c.show(e, r); err != nil {
		return err
	}
	if len(r.Missing)+len(r.Faults) > 0 {
		return errFailed
	}
	return nil
}

func infoValues(values []onnx.ValueInfo) []infoValue {
	list := make([]infoValue, len(values))
	for i, v := range values {
		list[i] = infoValue{Name: v.Name, Type: v.TypeName, text: v.String()}
		if v.Dims == nil {
			continue
		}
		list[i].Dims = make([]any, len(v.Dims))
		for axis, d := range v.Dims {
			switch {
			case d.Size >= 0:
				list[i].Dims[axis] = d.Size
			case d.Name != "":
				list[i].Dims[axis] = d.Name
			}
		}
	}
	return list
}

// String prints a row for each thing that the file says.
func (r infoResult) String() string {
	var b strings.Builder
	row := func(name string, value any) { fmt.Fprintf(&b, "%-10s %s\n", name, printable(fmt.Sprint(value))) }
	given := func(name, value string) {
		if value != "" {
			row(name, cut(value))
		}
	}
	row("model", r.Model)
	row("ir version", r.IRVersion)
	row("opsets", counts(r.Opsets, slices.Sorted(maps.Keys(r.Opsets))))
	row("producer", cmp.Or(cut(r.Producer), "not given"))
	given("domain", r.Domain)
	if r.ModelVersion != 0 {
		row("version", r.ModelVersion)
	}
	given("document", r.Documentation)
	for _, key := range slices.Sorted(maps.Keys(r.Metadata)) {
		row("metadata", cut(key+" = "+r.Metadata[key]))
	}
	given("graph", r.Graph)
	row("nodes", r.Nodes)
	row("weights", fmt.Sprintf("%d, %d bytes", r.Weights, r.WeightBytes))
	row("parameters", r.Parameters)
	for _, in := range r.Inputs {
		row("input", in.text)
	}
	for _, out := range r.Outputs {
		row("output", out.text)
	}
	if len(r.Extents) > 0 {
		row("extents", strings.Join(r.Extents, ", "))
	}
	row("operators", counts(r.Operators, byCount(r.Operators)))
	if len(r.Functions) > 0 {
		row("functions", counts(r.Functions, byCount(r.Functions)))
	}
	for _, m := range r.Missing {
		row("missing", fmt.Sprintf("%s at opset %d in %d nodes, such as %s", m.Operator, m.Opset, m.Nodes, m.Example))
	}
	for _, fault := range r.Faults {
		row("fault", fault)
	}
	return b.String()
}

// byCount returns the names, the commonest first.
func byCount(count map[string]int) []string {
	return slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
}

// counts lists names with their numbers.
func counts[N int | int64](number map[string]N, names []string) string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = fmt.Sprintf("%s %d", name, number[name])
	}
	return strings.Join(list, ", ")
}

// printable returns a text without anything that ends a line or steers a
// terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
}

// cut returns the beginning of a text.
func cut(text string) string {
	const most = 200 // runes
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return text
}
