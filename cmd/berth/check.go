package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/conformance"
)

type checkCmd struct {
	Dirs []string `arg:"" name:"dir" help:"Folders with model.onnx and test_data_set_N/{input,output}_M.pb, or folders of these."`
	Rtol *float64 `help:"Relative tolerance; 1e-3 without it." placeholder:"R"`
	Atol *float64 `help:"Absolute tolerance; without it 1e-5 of the largest magnitude in an output, and at least 1e-7." placeholder:"A"`
	threadsFlag
	JSON bool `name:"json" help:"Print an object for each test."`
}

type checkResult struct {
	Test   string `json:"test"`
	Status string `json:"status"`
	Reason string `json:"reason"`
	// MaxAbs and MaxRel are the largest differences; null where nothing was
	// compared, or one is infinite.
	MaxAbs *float64 `json:"max_abs"`
	MaxRel *float64 `json:"max_rel"`
}

// Run runs each folder and prints how it ended, then the counts.
func (c *checkCmd) Run(e *env) error {
	tol := conformance.Network
	if c.Rtol != nil {
		tol.Rel = *c.Rtol
	}
	if c.Atol != nil {
		tol.Abs, tol.Scale = *c.Atol, 0
	}
	count := make(map[string]int)
	for _, dir := range c.Dirs {
		tests, err := conformance.Find(dir)
		if err != nil {
			tests = []string{dir} // which says what is wrong with it
		}
		for _, test := range tests {
			if e.ctx.Err() != nil {
				return e.ctx.Err()
			}
			d, err := conformance.Run(e.ctx, test, tol, berth.RunOptions{Workers: c.Threads})
			r := checkResult{Test: testName(dir, test), Status: "pass"}
			switch {
			case err == nil:
				r.MaxAbs, r.MaxRel = finiteOrNil(d.Abs), finiteOrNil(d.Rel)
			case conformance.Skipped(err):
				r.Status, r.Reason = "skip", conformance.Reason(err)
			default:
				r.Status, r.Reason = "fail", conformance.Reason(err)
				if d != (berth.Difference{}) {
					r.MaxAbs, r.MaxRel = finiteOrNil(d.Abs), finiteOrNil(d.Rel)
				}
			}
			count[r.Status]++
			if err := c.print(e, r, d); err != nil {
				return err
			}
		}
	}
	counts := e.stdout
	if c.JSON {
		counts = e.stderr
	}
	fmt.Fprintf(counts, "%d passed, %d failed, %d skipped\n", count["pass"], count["fail"], count["skip"])
	switch {
	case count["fail"] > 0:
		return errFailed
	case count["pass"] == 0:
		return errors.New("nothing was checked: each test has something that is not supported")
	}
	return nil
}

// testName returns the name of a test folder found in dir: the path below dir, or
// the name of dir itself.
func testName(dir, test string) string {
	name, err := filepath.Rel(dir, test)
	if err != nil || name == "." {
		return filepath.Base(test)
	}
	return filepath.ToSlash(name)
}

func finiteOrNil(v float64) *float64 {
	if math.IsInf(v, 0) {
		return nil
	}
	return &v
}

func (c *checkCmd) print(e *env, r checkResult, d berth.Difference) error {
	if c.JSON {
		return json.NewEncoder(e.stdout).Encode(r)
	}
	text := r.Status + " " + r.Test
	switch {
	case r.Reason != "":
		text += ": " + strings.ReplaceAll(r.Reason, "\n", "; ")
	case d.Abs > 0:
		text += fmt.Sprintf(": the largest difference is %.3g, or %.3g of the wanted element, with magnitudes up to %.3g", d.Abs, d.Rel, d.Largest)
	}
	_, err := fmt.Fprintln(e.stdout, text)
	return err
}
