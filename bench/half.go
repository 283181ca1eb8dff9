package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/berth-go/berth/dtype"
	convert "github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/wire"
)

// halfTypes are the element types that models are converted to, by their names.
var halfTypes = map[string]struct {
	wire wire.DataType
	to   dtype.Type
}{
	"float16":  {wire.Float16, dtype.Float16},
	"bfloat16": {wire.BFloat16, dtype.BFloat16},
}

// compareHalves compares models whose numbers are halves with the same in float32, both in
// Berth.
func (r *runner) compareHalves(ctx context.Context, half string, pattern *regexp.Regexp, threads []int, rounds int, out, log io.Writer) error {
	fmt.Fprintf(out, "| model | threads | float32, ms | %s, ms | ratio of medians | of fastest |\n|---|--:|--:|--:|--:|--:|\n", half)
	dir, err := os.MkdirTemp("", "berth-half")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ratios := make(map[int][]float64)
	for _, c := range cases {
		if !pattern.MatchString(c.name) || !c.present(r.shared) {
			continue
		}
		path := filepath.Join(dir, "model.onnx")
		numbers, err := writeHalf(path, c.path(r.shared), half)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		if numbers == 0 {
			fmt.Fprintf(log, "bench: skipped: %s has no weights in float32\n", c.name)
			continue
		}
		for _, n := range threads {
			var float, halves []latency
			for range rounds {
				for at, list := range map[string]*[]latency{c.path(r.shared): &float, path: &halves} {
					l, err := r.runBerthOn(ctx, at, &c, n)
					if err != nil {
						return fmt.Errorf("%s: %w", c.name, err)
					}
					*list = append(*list, l)
				}
			}
			ratio := median(halves) / median(float)
			ratios[n] = append(ratios[n], ratio)
			fmt.Fprintf(out, "| %s | %d | %.2f | %.2f | %.2f | %.2f |\n", c.name, n, median(float), median(halves), ratio, fastest(halves)/fastest(float))
		}
	}
	printMeans(out, ratios, threads, "| geometric mean of %d | %d | | | %.2f | |\n")
	return nil
}

// writeHalf writes a model with its numbers as halves, and returns how many weights it has
// in float32. The inputs and outputs stay in float32: nodes that cast stand behind and before
// them.
func writeHalf(path, model, half string) (numbers int, err error) {
	data, err := os.ReadFile(model)
	if err != nil {
		return 0, err
	}
	m, err := wire.DecodeModel(data, nil)
	if err != nil {
		return 0, err
	}
	h := halver{half: half, outside: make(map[string]string)}
	if err := h.model(m); err != nil {
		return 0, err
	}
	return h.numbers, os.WriteFile(path, wire.AppendModel(nil, m), 0o644)
}

// A halver turns the float32 of a model into halves.
type halver struct {
	half    string
	outside map[string]string // inputs and outputs in float32, by their names; the halves have these names
	numbers int
}

func (h *halver) model(m *wire.Model) error {
	g := m.Graph
	constant := make(map[string]bool)
	for _, t := range g.Initializers {
		constant[t.Name] = true
	}
	var casts []wire.Node
	float := func(v *wire.ValueInfo) bool {
		return v.Type != nil && v.Type.Tensor != nil && v.Type.Tensor.Elem == wire.Float && !constant[v.Name]
	}
	for i := range g.Inputs {
		if v := &g.Inputs[i]; float(v) {
			h.outside[v.Name] = v.Name + "/half"
			casts = append(casts, h.cast(v.Name, v.Name+"/half", halfTypes[h.half].wire))
		}
	}
	var back []wire.Node
	for i := range g.Outputs {
		if v := &g.Outputs[i]; float(v) {
			if _, ok := h.outside[v.Name]; !ok {
				h.outside[v.Name] = v.Name + "/half"
				back = append(back, h.cast(v.Name+"/half", v.Name, wire.Float))
			}
		}
	}
	if err := h.graph(g); err != nil {
		return err
	}
	g.Nodes = slices.Concat(casts, g.Nodes, back)
	return nil
}

func (h *halver) cast(from, to string, t wire.DataType) wire.Node {
	return wire.Node{OpType: "Cast", Inputs: []string{from}, Outputs: []string{to},
		Attributes: []wire.Attribute{{Name: "to", Kind: wire.AttrInt, Int: int64(t)}}}
}

// graph turns the numbers of a graph, and of those inside its nodes. What operators want in
// float32 stays.
func (h *halver) graph(g *wire.Graph) error {
	stays := make(map[string]bool)
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if n.OpType == "Resize" || n.OpType == "Upsample" {
			for _, name := range n.Inputs[1:] {
				stays[name] = true
			}
		}
	}
	g.ValueInfo = nil
	for i := range g.Initializers {
		if t := &g.Initializers[i]; !stays[t.Name] {
			if err := h.tensor(t); err != nil {
				return err
			}
		}
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		for _, names := range [][]string{n.Inputs, n.Outputs} {
			for j, name := range names {
				if inside, ok := h.outside[name]; ok {
					names[j] = inside
				}
			}
		}
		for j := range n.Attributes {
			a := &n.Attributes[j]
			switch {
			case a.Graph != nil:
				if err := h.graph(a.Graph); err != nil {
					return err
				}
			case a.Tensor != nil && !stays[n.Outputs[0]]:
				if err := h.tensor(a.Tensor); err != nil {
					return err
				}
			case n.OpType == "Cast" && a.Name == "to" && a.Int == int64(wire.Float):
				a.Int = int64(halfTypes[h.half].wire)
			}
		}
	}
	return nil
}

// tensor turns a tensor of float32.
func (h *halver) tensor(t *wire.Tensor) error {
	if t.DataType != wire.Float {
		return nil
	}
	data, err := t.Bytes()
	if err != nil {
		return err
	}
	float := convert.Alloc(len(data)) // aligned
	copy(float, data)
	half := convert.Alloc(len(data) / 2)
	convert.Narrowing(halfTypes[h.half].to)(half, float)
	h.numbers += len(half) / 2
	*t = wire.Tensor{Name: t.Name, DataType: halfTypes[h.half].wire, Dims: t.Dims, Raw: half}
	if half == nil {
		t.Raw = []byte{}
	}
	return nil
}
