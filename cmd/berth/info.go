package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/berth-go/berth/onnx"
)

type infoCmd struct {
	Model string `arg:"" help:"An ONNX file."`
}

// Run prints what a model file says of itself.
func (c *infoCmd) Run(e *env) error {
	m, err := onnx.LoadFile(c.Model)
	if err != nil {
		return err
	}
	info := m.Info()
	row := func(name string, value any) { fmt.Fprintf(e.stdout, "%-10s %v\n", name, value) }
	row("model", c.Model)
	row("ir version", info.IRVersion)
	var opsets []string
	for _, domain := range slices.Sorted(maps.Keys(info.Opsets)) {
		opsets = append(opsets, fmt.Sprintf("%s %d", cmp.Or(domain, "ai.onnx"), info.Opsets[domain]))
	}
	row("opsets", strings.Join(opsets, ", "))
	row("producer", cmp.Or(info.Producer, "not given"))
	row("nodes", info.Nodes)
	row("weights", fmt.Sprintf("%d, %d bytes", info.Weights, info.WeightBytes))
	for _, in := range info.Inputs {
		row("input", in)
	}
	for _, out := range info.Outputs {
		row("output", out)
	}
	ops := slices.SortedFunc(maps.Keys(info.Ops), func(a, b string) int {
		return cmp.Or(cmp.Compare(info.Ops[b], info.Ops[a]), cmp.Compare(a, b))
	})
	for i, op := range ops {
		ops[i] = fmt.Sprintf("%s %d", op, info.Ops[op])
	}
	row("operators", strings.Join(ops, ", "))
	return nil
}
