package main

import (
	"github.com/berth-go/berth"
	"github.com/berth-go/berth/pack"
)

type planCmd struct {
	Model string `arg:"" help:"An ONNX file."`
	modelFlags
	Strategy string `help:"How offsets are searched for: ${enum}." enum:"auto,exact,greedy,first-fit" default:"auto"`
	jsonFlag
}

type planResult struct {
	Model string `json:"model"`
	berth.Description
}

// Run prints the steps of a model and where every value lies.
func (c *planCmd) Run(e *env) error {
	m, err := c.load(e, c.Model)
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
	return c.show(e, planResult{c.Model, p.Describe()})
}
