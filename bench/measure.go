package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed ort.js
var ortScript string

// A runner measures both runtimes, each in a process of its own.
type runner struct {
	shared  string        // folder of the models
	berth   string        // the berth command
	node    string        // the node command
	module  string        // folder that holds node_modules with ONNX Runtime
	seconds time.Duration // of one measurement
}

// A latency is what one measurement found, in milliseconds.
type latency struct {
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
}

// A result is the latencies of a case in both runtimes, measured in turn.
type result struct {
	benchCase
	threads    int
	berth, ort []latency
}

// measure alternates between the runtimes for a number of rounds.
func (r *runner) measure(ctx context.Context, c benchCase, threads, rounds int) (result, error) {
	res := result{benchCase: c, threads: threads}
	for range rounds {
		ort, err := r.runORT(ctx, &c, threads)
		if err != nil {
			return res, fmt.Errorf("%s in ONNX Runtime: %w", c.name, err)
		}
		berth, err := r.runBerth(ctx, &c, threads)
		if err != nil {
			return res, fmt.Errorf("%s in Berth: %w", c.name, err)
		}
		res.ort, res.berth = append(res.ort, ort), append(res.berth, berth)
	}
	return res, nil
}

func (r *runner) runBerth(ctx context.Context, c *benchCase, threads int) (latency, error) {
	return r.runBerthOn(ctx, c.path(r.shared), c, threads)
}

// runBerthOn runs the model of a file on the data of a case.
func (r *runner) runBerthOn(ctx context.Context, model string, c *benchCase, threads int) (latency, error) {
	args := []string{"bench", model, "--json", "--threads", strconv.Itoa(threads), "--time", r.seconds.String()}
	if data := c.folder(r.shared, "test_data_set_"); data != "" {
		args = append(args, "--data", data)
	}
	return run(exec.CommandContext(ctx, r.berth, args...))
}

func (r *runner) runORT(ctx context.Context, c *benchCase, threads int) (latency, error) {
	cmd, err := r.ort(ctx, c, threads, r.seconds.Seconds())
	if err != nil {
		return latency{}, err
	}
	return run(cmd)
}

// ort returns the command that measures ONNX Runtime by ort.js.
func (r *runner) ort(ctx context.Context, c *benchCase, threads int, seconds float64) (*exec.Cmd, error) {
	spec, err := json.Marshal(map[string]any{
		"module": r.module, "model": c.path(r.shared), "threads": threads,
		"seconds": seconds, "data": c.folder(r.shared, "data_"),
	})
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, r.node, "-", string(spec))
	cmd.Stdin = strings.NewReader(ortScript)
	return cmd, nil
}

// run returns the latency that a command prints.
func run(cmd *exec.Cmd) (latency, error) {
	var printed struct {
		Latency latency `json:"latency_ms"`
	}
	err := output(cmd, &printed)
	return printed.Latency, err
}

// output decodes the object that a command prints.
func output(cmd *exec.Cmd, to any) error {
	var out, msg bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &msg
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(msg.Bytes()))
	}
	return json.Unmarshal(out.Bytes(), to)
}

// median returns the median of the medians.
func median(list []latency) float64 {
	m := make([]float64, len(list))
	for i, l := range list {
		m[i] = l.Median
	}
	slices.Sort(m)
	if n := len(m); n%2 == 0 {
		return (m[n/2-1] + m[n/2]) / 2
	}
	return m[len(m)/2]
}

// geometricMean returns the n-th root of the product of n numbers above 0.
func geometricMean(list []float64) float64 {
	sum := 0.
	for _, x := range list {
		sum += math.Log(x)
	}
	return math.Exp(sum / float64(len(list)))
}

// fastest returns the least time of a run.
func fastest(list []latency) float64 {
	least := list[0].Min
	for _, l := range list {
		least = min(least, l.Min)
	}
	return least
}
