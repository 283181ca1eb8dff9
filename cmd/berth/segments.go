package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/conformance"
	"github.com/berth-go/berth/onnx"
)

// needsSegments reports whether err says that no single program holds a model, so that it
// runs in several segments, with steps on the host between them.
func needsSegments(err error) bool {
	return errors.Is(err, onnx.ErrNeedsData) || errors.Is(err, onnx.ErrHost)
}

// dataFlag is the flag of commands that run a model on stored inputs.
type dataFlag struct {
	Data string `help:"A folder with input_N.pb to run on; random inputs otherwise." placeholder:"TEST_DATA_SET_DIR"`
}

// A workload is what a model is planned or measured for.
type workload struct {
	opt     *onnx.Options            // of a program; nil where no program takes such inputs
	tensors map[string]*berth.Tensor // for the program; nil: random ones
	inputs  map[string]onnx.Value    // for a session; nil: random ones, as large as sizes says
	sizes   *onnx.Options
}

// workload returns what the flags say.
func (c dataFlag) workload(e *env, f *modelFlags, m *onnx.Model) (w workload, err error) {
	if c.Data == "" {
		if w.sizes, err = f.options(e, m); err != nil {
			return w, err
		}
		if !slices.ContainsFunc(m.Inputs(), func(in onnx.ValueInfo) bool { return !in.DType.Valid() }) {
			w.opt = w.sizes
		}
		return w, nil
	}
	if w.inputs, err = conformance.ReadInputs(m, c.Data); err != nil {
		return w, err
	}
	if len(w.inputs) == 0 && len(m.Inputs()) > 0 {
		return w, fmt.Errorf("%s has no input_0.pb", c.Data)
	}
	tensors, _, ok, err := tensorsOf(m, w.inputs)
	if err != nil || !ok {
		return w, err
	}
	w.tensors, w.opt = tensors, conformance.Fixed(tensors)
	w.opt.Program.Without = f.Without
	return w, nil
}

// compile returns a program of the model, or nil where it runs in several segments.
// That it is planned for random inputs then, it says on stderr: other data may lead to
// other segments.
func (w *workload) compile(e *env, m *onnx.Model) (*berth.Program, error) {
	if w.opt != nil {
		p, err := m.Compile(e.ctx, w.opt)
		if !needsSegments(err) {
			return p, err
		}
		if w.inputs == nil {
			fmt.Fprintf(e.stderr, "berth: %v: run in several segments, on random inputs; other data, which --data gives, may lead to other segments\n", err)
		}
	}
	if w.inputs != nil {
		return nil, nil
	}
	w.inputs = make(map[string]onnx.Value)
	rng := rand.New(rand.NewPCG(1, 1))
	for _, in := range m.Inputs() {
		port := berth.Port{Name: in.Name, DType: in.DType, Dims: make([]int, len(in.Dims))}
		if !in.DType.Valid() || in.Dims == nil {
			return nil, fmt.Errorf("input %v: random data is for tensors of numbers whose rank is declared; --data gives other values", in)
		}
		for axis, d := range in.Dims {
			port.Dims[axis] = extentOf(d, w.sizes, m)
		}
		t, err := randomTensor(e.ctx, rng, port)
		if err != nil {
			return nil, err
		}
		w.inputs[in.Name] = onnx.ArrayOf(t)
	}
	return nil, nil
}

// extentOf returns the largest size that the options give an extent.
func extentOf(d onnx.Dim, opt *onnx.Options, m *onnx.Model) int {
	if d.Size >= 0 {
		return d.Size
	}
	if n, fixed := opt.Dims[d.Name]; fixed {
		return n
	}
	for _, v := range opt.Vary {
		if v.Name == d.Name {
			return v.Max
		}
	}
	if d.Name != "" && d.Name == m.RowDim() {
		return opt.Rows
	}
	return opt.Open
}

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

// A segmentResult is a segment in the result of berth plan, which holds the steps and
// slots of all segments one after the other.
type segmentResult struct {
	FirstStep    int              `json:"first_step"`
	Steps        int              `json:"steps"` // how many
	Body         string           `json:"body"`  // the loop that runs the segment, or empty
	Arena        int64            `json:"arena_bytes"`
	LowerBound   int64            `json:"lower_bound_bytes"`
	Materialized int64            `json:"materialized_bytes"`
	Values       []onnx.HeapValue `json:"values"`
	Host         []onnx.HostStep  `json:"host"`
}

// join returns the segments of a run as one plan: all work in one arena, one at a time, so
// that the slots of one are dropped before the next begins. Names of slots begin with the
// number of the segment.
func join(list []onnx.Segment) (all berth.Description, segments []segmentResult) {
	all = berth.Description{Rows: 1, Steps: berth.Steps{}, Slots: []berth.Slot{}}
	for i, s := range list {
		p := s.Program
		step, slot := len(all.Steps), len(all.Slots)
		segments = append(segments, segmentResult{
			FirstStep: step, Steps: len(p.Steps), Body: s.Body, Values: s.Values, Host: s.Host,
			Arena: p.Arena, LowerBound: p.LowerBound, Materialized: p.Materialized,
		})
		all.Arena, all.LowerBound = max(all.Arena, p.Arena), max(all.LowerBound, p.LowerBound)
		all.Materialized += p.Materialized
		if p.Strategy != "" {
			all.Strategy = p.Strategy
		}
		written := make(map[string]bool) // in the segment
		for _, st := range p.Steps {
			for _, name := range st.Outputs {
				written[name] = !strings.HasPrefix(name, "output ")
			}
		}
		rename := func(names []string) []string {
			out := make([]string, len(names))
			for k, name := range names {
				if out[k] = name; written[name] {
					out[k] = fmt.Sprintf("%d/%s", i, name)
				}
			}
			return out
		}
		for _, st := range p.Steps {
			st.Index += step
			st.Inputs, st.Outputs = rename(st.Inputs), rename(st.Outputs)
			dropped := make([]int, len(st.DeallocAfter))
			for k, id := range st.DeallocAfter {
				dropped[k] = id + slot
			}
			st.DeallocAfter = dropped
			all.Steps = append(all.Steps, st)
		}
		for _, sl := range p.Slots {
			sl.ID, sl.Start, sl.End = sl.ID+slot, sl.Start+step, sl.End+step
			sl.Name = rename([]string{sl.Name})[0]
			if sl.Shares != nil {
				id := *sl.Shares + slot
				sl.Shares = &id
			}
			all.Slots = append(all.Slots, sl)
		}
	}
	return all, segments
}
