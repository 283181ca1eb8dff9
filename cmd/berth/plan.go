package main

import (
	"github.com/berth-go/berth"
	"github.com/berth-go/berth/onnx"
	"github.com/berth-go/berth/pack"
)

type planCmd struct {
	Model string `arg:"" help:"An ONNX file."`
	dataFlag
	modelFlags
	Strategy string `help:"How offsets are searched for: ${enum}." enum:"auto,exact,greedy,first-fit" default:"auto"`
	jsonFlag
}

// A planResult is a plan. That of a model that runs in several segments has these as
// well, behind the steps and slots of all of them.
type planResult struct {
	Model string `json:"model"`
	berth.Description
	Segments []segmentResult `json:"segments,omitempty"`

	session *onnx.SessionDescription
}

// String prints the program, or each of the segments.
func (r planResult) String() string {
	if r.session != nil {
		return r.session.String()
	}
	return r.Description.String()
}

// Run prints the steps of a model and where every value lies.
func (c *planCmd) Run(e *env) error {
	m, err := c.load(e, c.Model)
	if err != nil {
		return err
	}
	w, err := c.workload(e, &c.modelFlags, m)
	if err != nil {
		return err
	}
	if w.opt != nil {
		w.opt.Program.Strategy = pack.Strategy(c.Strategy)
	}
	r := planResult{Model: c.Model}
	p, err := w.compile(e, m)
	switch {
	case err != nil:
		return err
	case p != nil:
		r.Description = p.Describe()
		return c.show(e, r)
	case c.Strategy != string(pack.Auto):
		return usagef("--strategy %s is for a model that is one program, and this one runs in several segments", c.Strategy)
	}
	s, err := m.NewSession(&onnx.SessionOptions{Workers: c.Threads, Without: c.Without})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.Run(e.ctx, w.inputs, make(map[string]onnx.Value)); err != nil {
		return err
	}
	d := s.Describe()
	r.session = &d
	r.Description, r.Segments = join(d.Segments)
	return c.show(e, r)
}
