package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"time"

	"github.com/berth-go/berth"
)

// A kernel is a computation that Berth and a library in C both do.
type kernel struct {
	table string // as -kernels names it
	name  string
	work  float64 // operations, or bytes read and written
	unit  string  // of the work a nanosecond: "GFLOP/s" or "GB/s"
	make  func(threads int) (*peer, error)
}

// A peer is the same computation twice, over the same data.
type peer struct {
	outputs berth.Outputs // "y" alone
	inputs  berth.Values
	last    *channelsLast    // the same with channels last, which is measured where it is faster
	library func()           // computes it in C
	result  func() []float32 // what library has computed, or nil if that is something else
	free    func()
}

// channelsLast is a computation of images with channels last.
type channelsLast struct {
	outputs berth.Outputs
	inputs  berth.Values
	maps    int // in the result
}

// first returns a result with channels first.
func (c *channelsLast) first(y []float32) []float32 {
	out, positions := make([]float32, len(y)), len(y)/c.maps
	for i := range y {
		out[i%c.maps*positions+i/c.maps] = y[i]
	}
	return out
}

// compareKernels measures the kernels of a table whose names match, and prints a row for each.
func compareKernels(ctx context.Context, out io.Writer, table string, match *regexp.Regexp, threads []int, rounds int, seconds time.Duration) error {
	list, caption, err := libraries()
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(list, func(k kernel) bool { return k.table == table }) {
		return fmt.Errorf("-kernels %q: there are product, vector, convolution and elementwise", table)
	}
	fmt.Fprintf(out, "%s\n\n| kernel | threads | C, ms | Berth, ms | Berth | ratio of medians | of fastest |\n|---|--:|--:|--:|--:|--:|--:|\n", caption)
	ratios := make(map[int][]float64)
	for _, k := range list {
		if k.table != table || !match.MatchString(k.name) {
			continue
		}
		for _, n := range threads {
			c, b, err := k.measure(ctx, n, rounds, seconds)
			if err != nil {
				return fmt.Errorf("%s: %w", k.name, err)
			}
			fmt.Fprintf(out, "| %s | %d | %.4f | %.4f | %.1f %s | %.2f | %.2f |\n", k.name, n, median(c), median(b),
				k.work/median(b)/1e6, k.unit, median(b)/median(c), fastest(b)/fastest(c))
			ratios[n] = append(ratios[n], median(b)/median(c))
		}
	}
	for _, n := range threads {
		if list := ratios[n]; len(list) > 1 {
			fmt.Fprintf(out, "| geometric mean of %d | %d | | | | %.2f | |\n", len(list), n, geometricMean(list))
		}
	}
	return nil
}

// measure alternates between the library and Berth for a number of rounds, after it has seen
// that both come to the same.
func (k *kernel) measure(ctx context.Context, threads, rounds int, seconds time.Duration) (c, b []latency, err error) {
	p, err := k.make(threads)
	if err != nil {
		return nil, nil, err
	}
	defer p.free()
	p.library()
	run, stop, err := p.start(ctx, p.outputs, p.inputs, threads, func(y []float32) []float32 { return y })
	if err != nil {
		return nil, nil, err
	}
	defer func() { stop() }()
	if p.last != nil {
		other, stopOther, err := p.start(ctx, p.last.outputs, p.last.inputs, threads, p.last.first)
		if err != nil {
			return nil, nil, err
		}
		const trial = 20 * time.Millisecond
		if timed(other, trial).Min < timed(run, trial).Min {
			run, stop, stopOther = other, stopOther, stop
		}
		stopOther()
	}
	for range rounds {
		c = append(c, timed(p.library, seconds))
		b = append(b, timed(run, seconds))
	}
	return c, b, nil
}

// start returns what runs a program of p once, and what ends it. The first run is compared to
// the library's, whose order of elements planar puts the result into.
func (p *peer) start(ctx context.Context, outputs berth.Outputs, inputs berth.Values, threads int, planar func([]float32) []float32) (run, stop func(), err error) {
	prog, err := berth.Compile(ctx, outputs, nil)
	if err != nil {
		return nil, nil, err
	}
	inst, err := prog.NewInstance(&berth.InstanceOptions{Workers: threads})
	if err != nil {
		return nil, nil, err
	}
	y, err := prog.NewBuffer("y")
	if err != nil {
		inst.Close()
		return nil, nil, err
	}
	results := berth.Values{"y": y}
	if err := inst.Run(ctx, inputs, results); err != nil {
		inst.Close()
		return nil, nil, err
	}
	if got, ok := y.([]float32); ok && p.result != nil {
		if err := near(planar(got), p.result()); err != nil {
			inst.Close()
			return nil, nil, err
		}
	}
	run = func() {
		if err := inst.Run(ctx, inputs, results); err != nil {
			panic(err) // as it ran before
		}
	}
	return run, func() { inst.Close() }, nil
}

// rest is how long the threads of a library may go on looking for work that has ended.
const rest = 50 * time.Millisecond

// timed returns the median and the least time of a call, over a while. Calls too short for the
// clock are timed several at once.
func timed(f func(), seconds time.Duration) latency {
	time.Sleep(rest)
	f()
	start := time.Now()
	f()
	at := max(1, int(20*time.Microsecond/max(time.Since(start), 1)))
	var each []float64
	for begin := time.Now(); time.Since(begin) < seconds || len(each) < 3; {
		start := time.Now()
		for range at {
			f()
		}
		each = append(each, time.Since(start).Seconds()*1e3/float64(at))
	}
	slices.Sort(each)
	return latency{Min: each[0], Median: each[len(each)/2]}
}

// near reports an element of got that is not that of want, as far as roundings go: within 1e-3
// of the largest element.
func near(got, want []float32) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d elements, and %d in C", len(got), len(want))
	}
	largest := 0.
	for _, w := range want {
		largest = max(largest, math.Abs(float64(w)))
	}
	for i, w := range want {
		if !(math.Abs(float64(got[i]-w)) <= 1e-3*largest) {
			return fmt.Errorf("element %d is %v, and %v in C", i, got[i], w)
		}
	}
	return nil
}
