package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"time"

	"github.com/berth-go/berth"
)

// A start is what it takes from nothing to the first result.
type start struct {
	create float64 // milliseconds to a session
	first  float64 // milliseconds to the first result, those of create among them
	base   float64 // MB that the process took before
	peak   float64 // MB of resident memory at most
}

// least keeps the lower figure of each.
func (s *start) least(t start) {
	s.create, s.first = min(s.create, t.create), min(s.first, t.first)
	s.base, s.peak = min(s.base, t.base), min(s.peak, t.peak)
}

// compareLoads prints a table of both runtimes: the least of some rounds. The time of Berth is that of the whole
// process, from its start to its end; the one of ONNX Runtime is that of making a session and of the first run in it.
func (r *runner) compareLoads(ctx context.Context, pattern *regexp.Regexp, threads []int, rounds int, out, log io.Writer) error {
	fmt.Fprintln(out, "| model | threads | ONNX Runtime: session, ms | and first run | Berth: process | ratio | ONNX Runtime: peak, MB | beside Node.js | Berth: peak | weights + arena |")
	fmt.Fprintln(out, "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
	for _, c := range cases {
		if !pattern.MatchString(c.name) {
			continue
		}
		if !c.present(r.shared) {
			fmt.Fprintf(log, "bench: skipped: %s is not in %s\n", c.name, r.shared)
			continue
		}
		for _, n := range threads {
			ort, berth, planned, err := r.measureLoads(ctx, &c, n, rounds)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			fmt.Fprintf(out, "| %s | %d | %.1f | %.1f | %.1f | %.2f | %.1f | %.1f | %.1f | %.1f |\n",
				c.name, n, ort.create, ort.first, berth.first, berth.first/ort.first, ort.peak, ort.peak-ort.base, berth.peak, planned)
		}
	}
	return nil
}

// measureLoads starts both runtimes in turn. Planned is the weights and the arena of the program, in MB.
func (r *runner) measureLoads(ctx context.Context, c *benchCase, threads, rounds int) (ort, berth start, planned float64, err error) {
	dir, err := os.MkdirTemp("", "berth-load")
	if err != nil {
		return ort, berth, 0, err
	}
	defer os.RemoveAll(dir)
	args, err := r.runArgs(ctx, c, threads, dir)
	if err != nil {
		return ort, berth, 0, err
	}
	for i := range rounds {
		cmd, err := r.ort(ctx, c, threads, 0)
		if err != nil {
			return ort, berth, 0, err
		}
		var o struct {
			Create float64 `json:"create_ms"`
			First  float64 `json:"first_ms"`
			Base   float64 `json:"base_kib"`
			Peak   float64 `json:"peak_kib"`
		}
		if err := output(cmd, &o); err != nil {
			return ort, berth, 0, err
		}
		of := start{o.Create, o.Create + o.First, o.Base * 1024 / 1e6, o.Peak * 1024 / 1e6}

		cmd = exec.CommandContext(ctx, r.berth, args...)
		var b struct {
			Memory struct {
				Arena     int64 `json:"arena_bytes"`
				Weights   int64 `json:"weights_bytes"`
				Prepacked int64 `json:"prepacked_weights_bytes"`
			} `json:"memory"`
		}
		begin := time.Now()
		if err := output(cmd, &b); err != nil {
			return ort, berth, 0, err
		}
		is := start{first: time.Since(begin).Seconds() * 1e3}
		if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			is.peak = float64(usage.Maxrss) * 1024 / 1e6
		}
		planned = float64(b.Memory.Arena+b.Memory.Weights) / 1e6
		if i == 0 {
			ort, berth = of, is
		}
		ort.least(of)
		berth.least(is)
	}
	return ort, berth, planned, nil
}

// runArgs returns the arguments of berth for a run of a model, whose inputs and outputs are in dir.
func (r *runner) runArgs(ctx context.Context, c *benchCase, threads int, dir string) ([]string, error) {
	var info struct {
		Inputs []struct {
			Name string `json:"name"`
			Dims []any  `json:"dims"`
		} `json:"inputs"`
	}
	if err := output(exec.CommandContext(ctx, r.berth, "info", c.path(r.shared), "--json"), &info); err != nil {
		return nil, err
	}
	args := []string{"run", c.path(r.shared), "--json", "--threads", strconv.Itoa(threads), "--out", filepath.Join(dir, "out"), "--format", "pb"}
	for i, in := range info.Inputs {
		file := filepath.Join(c.folder(r.shared, "test_data_set_"), fmt.Sprintf("input_%d.pb", i))
		if c.set < 0 {
			dims := make([]int, len(in.Dims))
			for axis, d := range in.Dims {
				if extent, ok := d.(float64); ok {
					dims[axis] = int(extent)
				} else {
					dims[axis] = 1
				}
			}
			file = filepath.Join(dir, fmt.Sprintf("input_%d.npy", i))
			if err := writeRandom(file, dims); err != nil {
				return nil, err
			}
		}
		args = append(args, "--input", in.Name+"="+file)
	}
	return args, nil
}

func writeRandom(file string, dims []int) error {
	t, err := berth.Uniform[float32](rand.New(rand.NewPCG(1, 1)), dims...)
	if err != nil {
		return err
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	return t.WriteNPY(f)
}
