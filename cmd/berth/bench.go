package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/onnx"
)

type benchCmd struct {
	Model string `arg:"" help:"An ONNX file."`
	dataFlag
	modelFlags
	Time    time.Duration `help:"How long to measure." default:"2s" placeholder:"D"`
	Profile bool          `help:"Also print the time by op and by step, beside what this machine can do. Not for a model that runs in several segments."`
	Trace   string        `help:"Also write the steps of a run as a trace for chrome://tracing and Perfetto." type:"path" placeholder:"FILE"`
	jsonFlag
}

type latency struct {
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	P99    float64 `json:"p99"`
}

type benchResult struct {
	Model      string  `json:"model"`
	Rows       int     `json:"rows"`
	Threads    int     `json:"threads"`
	Runs       int     `json:"runs"`
	Latency    latency `json:"latency_ms"`
	CompileMS  float64 `json:"compile_ms"`
	Arena      int64   `json:"arena_bytes"`
	LowerBound int64   `json:"lower_bound_bytes"`
	Weights    int64   `json:"weights_bytes"`
	Allocs     float64 `json:"allocs_per_run"`
	Segments   int     `json:"segments,omitempty"` // of a model that is no single program

	memory  fmt.Stringer
	profile *profile // where one is asked for
}

// String prints the figures, with all that the memory has.
func (r benchResult) String() string {
	what := fmt.Sprintf("%d rows", r.Rows)
	if r.Segments > 0 {
		what = fmt.Sprintf("%d segments", r.Segments)
	}
	return fmt.Sprintf("%s with %s, %d threads, %d runs\n", r.Model, what, r.Threads, r.Runs) +
		fmt.Sprintf("latency      min %.3f ms, median %.3f ms, p99 %.3f ms\n", r.Latency.Min, r.Latency.Median, r.Latency.P99) +
		fmt.Sprintf("compile      %.1f ms\nallocations  %g a run\n%v", r.CompileMS, r.Allocs, r.memory)
}

// Run measures a model: compilation, latency, memory, allocations. One that runs in
// several segments is compiled in its first run, which counts as the compilation.
func (c *benchCmd) Run(e *env) error {
	m, err := c.load(e, c.Model)
	if err != nil {
		return err
	}
	w, err := c.workload(e, &c.modelFlags, m)
	if err != nil {
		return err
	}
	start := time.Now()
	p, err := w.compile(e, m)
	if err != nil {
		return err
	}
	r := benchResult{Model: c.Model, Threads: c.Threads, Rows: 1}
	if r.Threads <= 0 {
		r.Threads = runtime.GOMAXPROCS(0)
	}
	if p != nil {
		r.CompileMS = milliseconds(time.Since(start))
		err = c.program(e, p, &w, &r)
	} else if c.Profile || c.Trace != "" {
		return usagef("the model runs in several segments, and --profile and --trace are about single programs")
	} else {
		err = c.session(e, m, &w, &r)
	}
	if err != nil {
		return err
	}
	if err := c.show(e, r); err != nil {
		return err
	}
	if c.Trace != "" {
		if err := r.profile.writeTrace(c.Trace); err != nil {
			return err
		}
	}
	if c.Profile {
		return r.profile.print(e.stdout, mostProfiled)
	}
	return nil
}

// mostProfiled is how many ops and steps a profile lists.
const mostProfiled = 25

// program measures an instance of a program.
func (c *benchCmd) program(e *env, p *berth.Program, w *workload, r *benchResult) error {
	opt, run := &berth.InstanceOptions{Workers: c.Threads}, func() {}
	if c.Profile || c.Trace != "" {
		r.profile = newProfile(p.Describe(), r.Threads)
		opt.Watch, run = r.profile.watch, r.profile.next
	}
	inst, err := p.NewInstance(opt)
	if err != nil {
		return err
	}
	defer inst.Close()
	given, outputs := berth.Values{}, berth.Values{}
	rng := rand.New(rand.NewPCG(1, 1))
	for _, in := range p.Inputs() {
		if w.tensors != nil {
			given[in.Name] = w.tensors[in.Name]
		} else if given[in.Name], err = randomTensor(e.ctx, rng, in); err != nil {
			return err
		}
	}
	for _, out := range p.Outputs() {
		if outputs[out.Name], err = p.NewBuffer(out.Name); err != nil {
			return err
		}
	}
	if err := c.measure(func() error { defer run(); return inst.Run(e.ctx, given, outputs) }, r); err != nil {
		return err
	}
	mem := p.Memory()
	r.Rows, r.memory = p.Describe().Rows, mem
	r.Arena, r.LowerBound, r.Weights = mem.Arena, mem.LowerBound, mem.Weights
	return nil
}

// session measures a session.
func (c *benchCmd) session(e *env, m *onnx.Model, w *workload, r *benchResult) error {
	s, err := m.NewSession(&onnx.SessionOptions{Workers: c.Threads, Without: c.Without})
	if err != nil {
		return err
	}
	defer s.Close()
	outputs := make(map[string]onnx.Value)
	start := time.Now()
	if err := s.Run(e.ctx, w.inputs, outputs); err != nil {
		return err
	}
	r.CompileMS = milliseconds(time.Since(start))
	if err := c.measure(func() error { return s.Run(e.ctx, w.inputs, outputs) }, r); err != nil {
		return err
	}
	d := s.Describe()
	all, segments := join(d.Segments)
	r.Segments, r.memory = len(segments), d.Memory
	r.Arena, r.LowerBound, r.Weights = d.Memory.Arena, all.LowerBound, d.Memory.Weights
	return nil
}

// measure calls run until the time is up, at least ten times.
func (c *benchCmd) measure(run func() error, r *benchResult) (err error) {
	if r.Allocs, err = allocations(run); err != nil {
		return err
	}
	const least = 10
	times := make([]time.Duration, 0, 1<<20)
	for start := time.Now(); len(times) < cap(times) && (len(times) < least || time.Since(start) < c.Time); {
		t := time.Now()
		if err := run(); err != nil {
			return err
		}
		times = append(times, time.Since(t))
	}
	slices.Sort(times)
	r.Runs = len(times)
	r.Latency = latency{
		Min:    milliseconds(times[0]),
		Median: milliseconds(times[len(times)/2]),
		P99:    milliseconds(times[min(len(times)-1, len(times)*99/100)]),
	}
	return nil
}

// allocations returns how many objects a run allocates, after one to warm up: the
// fewest of several batches, since the Go runtime allocates for itself at times.
func allocations(run func() error) (float64, error) {
	const batches, runs = 5, 2
	if err := run(); err != nil {
		return 0, err
	}
	fewest := uint64(math.MaxUint64)
	var before, after runtime.MemStats
	for range batches {
		runtime.ReadMemStats(&before)
		for range runs {
			if err := run(); err != nil {
				return 0, err
			}
		}
		runtime.ReadMemStats(&after)
		fewest = min(fewest, after.Mallocs-before.Mallocs)
	}
	return float64(fewest / runs), nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
