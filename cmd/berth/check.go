package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/conformance"
)

type checkCmd struct {
	Dirs []string `arg:"" name:"dir" help:"Folders with model.onnx and test_data_set_N/{input,output}_M.pb."`
	Rtol float64  `help:"Relative tolerance." default:"1e-3"`
	Atol float64  `help:"Absolute tolerance." default:"1e-7"`
	threadsFlag
	JSON bool `name:"json" help:"Print an object for each test."`
}

// Run runs each folder and prints how it ended, then the counts.
func (c *checkCmd) Run(e *env) error {
	tol := conformance.Tolerance{Rel: c.Rtol, Abs: c.Atol}
	var passed, failed, skipped int
	for _, dir := range c.Dirs {
		if e.ctx.Err() != nil {
			return e.ctx.Err()
		}
		err := conformance.Run(e.ctx, dir, tol, berth.RunOptions{Workers: c.Threads})
		status, reason := "pass", ""
		switch {
		case err == nil:
			passed++
		case conformance.Skipped(err):
			status, reason = "skip", err.Error()
			skipped++
		default:
			status, reason = "fail", err.Error()
			failed++
		}
		if err := c.print(e, filepath.Base(dir), status, reason); err != nil {
			return err
		}
	}
	counts := e.stdout
	if c.JSON {
		counts = e.stderr
	}
	fmt.Fprintf(counts, "%d passed, %d failed, %d skipped\n", passed, failed, skipped)
	if failed > 0 {
		return errFailed
	}
	return nil
}

func (c *checkCmd) print(e *env, test, status, reason string) error {
	if c.JSON {
		return json.NewEncoder(e.stdout).Encode(struct {
			Test   string `json:"test"`
			Status string `json:"status"`
			Reason string `json:"reason"`
		}{test, status, reason})
	}
	if reason != "" {
		reason = ": " + reason
	}
	_, err := fmt.Fprintf(e.stdout, "%s %s%s\n", status, test, reason)
	return err
}
