package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/conformance"
	"github.com/berth-go/berth/onnx"
)

type benchCmd struct {
	Model string `arg:"" help:"An ONNX file."`
	Data  string `help:"A folder with input_N.pb to run on; random inputs otherwise." placeholder:"TEST_DATA_SET_DIR"`
	modelFlags
	Time time.Duration `help:"How long to measure." default:"2s" placeholder:"D"`
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

	memory berth.Memory
}

// String prints the figures, with all that the memory has.
func (r benchResult) String() string {
	return fmt.Sprintf("%s with %d rows, %d threads, %d runs\n", r.Model, r.Rows, r.Threads, r.Runs) +
		fmt.Sprintf("latency      min %.3f ms, median %.3f ms, p99 %.3f ms\n", r.Latency.Min, r.Latency.Median, r.Latency.P99) +
		fmt.Sprintf("compile      %.1f ms\nallocations  %g a run\n%v", r.CompileMS, r.Allocs, r.memory)
}

// Run measures a model: compilation, latency, memory, allocations.
func (c *benchCmd) Run(e *env) error {
	m, err := c.load(e, c.Model)
	if err != nil {
		return err
	}
	opt, inputs, err := c.prepare(e, m)
	if err != nil {
		return err
	}
	start := time.Now()
	p, err := m.Compile(e.ctx, opt)
	if err != nil {
		return err
	}
	r := benchResult{Model: c.Model, Threads: c.Threads, CompileMS: milliseconds(time.Since(start)), Rows: p.Describe().Rows, memory: p.Memory()}
	if r.Threads <= 0 {
		r.Threads = runtime.GOMAXPROCS(0)
	}
	r.Arena, r.LowerBound, r.Weights = r.memory.Arena, r.memory.LowerBound, r.memory.Weights
	if err := c.measure(e, p, inputs, &r); err != nil {
		return err
	}
	return c.show(e, r)
}

// prepare reads the inputs, or leaves them to be made for the shapes of the flags
// and returns none.
func (c *benchCmd) prepare(e *env, m *onnx.Model) (opt *onnx.Options, inputs map[string]*berth.Tensor, err error) {
	if c.Data == "" {
		opt, err = c.options(e, m)
		return opt, nil, err
	}
	if inputs, _, err = conformance.ReadSet(m, c.Data); err != nil {
		return nil, nil, err
	}
	if len(inputs) == 0 && len(m.Inputs()) > 0 {
		return nil, nil, fmt.Errorf("%s has no input_0.pb", c.Data)
	}
	opt = conformance.Fixed(inputs)
	opt.Program.Without = c.Without
	return opt, inputs, nil
}

// measure runs an instance until the time is up, at least ten times.
func (c *benchCmd) measure(e *env, p *berth.Program, inputs map[string]*berth.Tensor, r *benchResult) error {
	inst, err := p.NewInstance(&berth.InstanceOptions{Workers: c.Threads})
	if err != nil {
		return err
	}
	defer inst.Close()
	given, outputs := berth.Values{}, berth.Values{}
	rng := rand.New(rand.NewPCG(1, 1))
	for _, in := range p.Inputs() {
		if inputs != nil {
			given[in.Name] = inputs[in.Name]
		} else if given[in.Name], err = randomTensor(e.ctx, rng, in); err != nil {
			return err
		}
	}
	for _, out := range p.Outputs() {
		if outputs[out.Name], err = p.NewBuffer(out.Name); err != nil {
			return err
		}
	}
	run := func() error { return inst.Run(e.ctx, given, outputs) }
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

// randomTensor returns random data for an input: numbers from [0, 1), and of
// integers and bools zeros and ones, which are right as indices.
func randomTensor(ctx context.Context, rng *rand.Rand, port berth.Port) (*berth.Tensor, error) {
	t, err := berth.Uniform[float32](rng, port.Dims...)
	if err != nil {
		return nil, err
	}
	p := t.Promise()
	if !port.DType.IsFloat() {
		p = p.Round()
	}
	return p.Cast(port.DType).Materialize(ctx)
}
