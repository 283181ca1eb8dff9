package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/machine"
)

// A profile has the times of the steps of a program in many runs.
type profile struct {
	steps berth.Steps
	runs  int
	spent []time.Duration // of each step, in all runs together
	least []time.Duration // of each step, in the run where it took least
	run   []time.Duration // of each step, in this run
	peaks machine.Peaks
}

func newProfile(d berth.Description, threads int) *profile {
	n := len(d.Steps)
	return &profile{steps: d.Steps, spent: make([]time.Duration, n), least: make([]time.Duration, n), run: make([]time.Duration, n),
		peaks: machine.Measure(threads)}
}

// watch counts the time of a step.
func (p *profile) watch(step int, took time.Duration) { p.run[step] += took }

// next ends a run.
func (p *profile) next() {
	for i, t := range p.run {
		p.spent[i] += t
		if p.runs == 0 || t < p.least[i] {
			p.least[i] = t
		}
		p.run[i] = 0
	}
	p.runs++
}

// A profileRow is what steps took of a run in the mean, and what they did in the shortest
// time: multiplications with additions and bytes, a second.
type profileRow struct {
	name            string
	count           int
	spent, least    time.Duration
	products, bytes int64
}

func (r *profileRow) add(p *profile, i int) {
	r.count++
	r.spent += p.spent[i] / time.Duration(max(p.runs, 1))
	r.least += p.least[i]
	r.products += p.steps[i].Products
	r.bytes += p.steps[i].Touched
}

// print writes the ops by the time that they take, and then the steps that take most.
func (p *profile) print(w io.Writer, most int) error {
	ops := make(map[string]*profileRow)
	var byOp, bySteps []*profileRow
	total := time.Duration(0)
	for i, s := range p.steps {
		if s.Kernels == 0 {
			continue
		}
		if ops[s.Op] == nil {
			ops[s.Op] = &profileRow{name: s.Op}
			byOp = append(byOp, ops[s.Op])
		}
		ops[s.Op].add(p, i)
		step := &profileRow{name: strings.TrimSpace(fmt.Sprintf("%d %s %s", i, s.Op, s.Name))}
		step.add(p, i)
		bySteps = append(bySteps, step)
		total += p.spent[i] / time.Duration(max(p.runs, 1))
	}
	fmt.Fprintf(w, "\n%d runs, %.3f ms in steps; this machine multiplies and adds %.0f GFLOP/s and copies %.1f GB/s\n\n",
		p.runs, milliseconds(total), 2*p.peaks.Products/1e9, p.peaks.Bytes/1e9)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, part := range []struct {
		title string
		rows  []*profileRow
	}{{"op", byOp}, {"step", bySteps[:]}} {
		slices.SortStableFunc(part.rows, func(a, b *profileRow) int { return cmp.Compare(b.spent, a.spent) })
		fmt.Fprintf(table, "ms\tpart\tsteps\tGFLOP/s\tof peak\tGB/s\tof peak\t  %s\n", part.title)
		for _, r := range part.rows[:min(len(part.rows), most)] {
			seconds := r.least.Seconds()
			flops, bytes := 2*float64(r.products)/seconds, float64(r.bytes)/seconds
			fmt.Fprintf(table, "%.3f\t%.1f%%\t%d\t", milliseconds(r.spent), 100*r.spent.Seconds()/total.Seconds(), r.count)
			if r.products > 0 {
				fmt.Fprintf(table, "%.1f\t%.0f%%\t", flops/1e9, 50*flops/p.peaks.Products)
			} else {
				fmt.Fprint(table, "\t\t")
			}
			fmt.Fprintf(table, "%.1f\t%.0f%%\t  %s\n", bytes/1e9, 100*bytes/p.peaks.Bytes, r.name)
		}
		fmt.Fprintln(table, "\t\t\t\t\t\t\t")
	}
	return table.Flush()
}

// A traceEvent is a complete event of the trace format that Chrome and Perfetto read, with
// times in microseconds.
type traceEvent struct {
	Name     string         `json:"name"`
	Category string         `json:"cat"`
	Phase    string         `json:"ph"`
	Start    float64        `json:"ts"`
	Duration float64        `json:"dur"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"`
	Args     map[string]any `json:"args"`
}

// writeTrace writes a run in which each step takes its least time.
func (p *profile) writeTrace(name string) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, f.Close()) }()
	events, at := []traceEvent{}, 0.
	for i, s := range p.steps {
		if s.Kernels == 0 {
			continue
		}
		took := float64(p.least[i]) / float64(time.Microsecond)
		events = append(events, traceEvent{s.Op, "step", "X", at, took, 1, 1, map[string]any{
			"step": i, "name": s.Name, "inputs": s.Inputs, "outputs": s.Outputs, "products": s.Products, "bytes": s.Touched,
		}})
		at += took
	}
	w := bufio.NewWriter(f)
	if err := json.NewEncoder(w).Encode(map[string]any{"traceEvents": events, "displayTimeUnit": "ms"}); err != nil {
		return err
	}
	return w.Flush()
}
