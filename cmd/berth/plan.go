package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/onnx"
	"github.com/berth-go/berth/pack"
)

type planCmd struct {
	Model string `arg:"" help:"An ONNX file."`
	modelFlags
	Strategy string `help:"How offsets are searched for: ${enum}." enum:"auto,exact,greedy,first-fit" default:"auto"`
	JSON     bool   `name:"json" help:"Print one object for machines."`
}

// Run prints the steps of a model and where every value lies.
func (c *planCmd) Run(e *env) error {
	m, err := onnx.LoadFile(c.Model)
	if err != nil {
		return err
	}
	opt, err := c.options(e, m)
	if err != nil {
		return err
	}
	opt.Program.Strategy = pack.Strategy(c.Strategy)
	p, err := m.Compile(e.ctx, opt)
	if err != nil {
		return err
	}
	d := p.Describe()
	if c.JSON {
		return printJSON(e.stdout, struct {
			Model string `json:"model"`
			berth.Description
		}{c.Model, d})
	}
	printPlan(e.stdout, d)
	_, err = fmt.Fprintf(e.stdout, "%v", p.Memory())
	return err
}

// printPlan writes a line for each step and each slot.
func printPlan(w io.Writer, d berth.Description) {
	for _, s := range d.Steps {
		fmt.Fprintf(w, "step %d: %s", s.Index, s.Op)
		if s.Name != "" {
			fmt.Fprintf(w, " %q", s.Name)
		}
		fmt.Fprintf(w, "(%s) -> %s, %s\n", strings.Join(s.Inputs, ", "), strings.Join(s.Outputs, ", "), s.Kind)
	}
	for _, s := range d.Slots {
		fmt.Fprintf(w, "slot %d: %s %s%v, bytes [%d, %d), steps %d to %d", s.ID, s.Name, s.DType, s.Shape, s.Offset, s.Offset+s.Bytes, s.Start, s.End)
		if s.RowStride != s.Bytes {
			fmt.Fprintf(w, ", row stride %d", s.RowStride)
		}
		if s.Shares != nil {
			fmt.Fprintf(w, ", shares slot %d", *s.Shares)
		}
		fmt.Fprintln(w)
	}
}
