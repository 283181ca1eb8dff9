package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The types below are what a reader of berth plan --json knows of it. They
// share nothing with what writes it.

type planFile struct {
	Model        string
	Rows         int
	Arena        int64 `json:"arena_bytes"`
	LowerBound   int64 `json:"lower_bound_bytes"`
	Materialized int64 `json:"materialized_bytes"`
	Strategy     string
	Steps        []planStep
	Slots        []planSlot
	Segments     []planSegment
}

type planSegment struct {
	FirstStep    int `json:"first_step"`
	Steps        int
	Body         string
	Arena        int64 `json:"arena_bytes"`
	LowerBound   int64 `json:"lower_bound_bytes"`
	Materialized int64 `json:"materialized_bytes"`
	Values       []planValue
	Host         []struct {
		Op, Name string
		Values   []planValue
	}
}

type planValue struct {
	Name, Type string
	Bytes      int64
	Output     bool
}

type planStep struct {
	Index           int
	Op, Name, Kind  string
	Inputs, Outputs []string
	DeallocAfter    []int `json:"dealloc_after"`
}

type planSlot struct {
	ID            int
	Name, DType   string
	Shape         []int
	Offset, Bytes int64
	Start, End    int
	RowStride     int64 `json:"row_stride"`
	Shares        *int
}

// prove returns what is wrong with a plan, by its JSON alone.
func prove(data []byte) error {
	var p planFile
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&p); err != nil {
		return err
	}
	if p.Model == "" || p.Rows < 1 || p.Strategy == "" || len(p.Steps) == 0 {
		return fmt.Errorf("model %q, %d rows, strategy %q, %d steps", p.Model, p.Rows, p.Strategy, len(p.Steps))
	}
	if p.LowerBound > p.Arena {
		return fmt.Errorf("an arena of %d bytes is below the lower bound of %d", p.Arena, p.LowerBound)
	}
	for i, s := range p.Slots {
		switch {
		case s.ID != i:
			return fmt.Errorf("slot %d has the id %d", i, s.ID)
		case s.Start < 0 || s.End < s.Start || s.End >= len(p.Steps):
			return fmt.Errorf("slot %d is live from step %d to %d of %d", i, s.Start, s.End, len(p.Steps))
		case s.Offset < 0 || s.Bytes < 0 || s.Offset+s.Bytes > p.Arena:
			return fmt.Errorf("slot %d lies in [%d, %d) of an arena of %d bytes", i, s.Offset, s.Offset+s.Bytes, p.Arena)
		case s.Shares != nil && (*s.Shares < 0 || *s.Shares >= len(p.Slots) || *s.Shares == i):
			return fmt.Errorf("slot %d shares slot %d", i, *s.Shares)
		}
	}
	if err := proveApart(&p); err != nil {
		return err
	}
	if err := proveSegments(&p); err != nil {
		return err
	}
	return proveUses(&p)
}

// proveSegments wants segments to hold all steps in order, with no slot that is live in
// two, and the largest to be as large as the arena.
func proveSegments(p *planFile) error {
	next, arena := 0, int64(0)
	for i, s := range p.Segments {
		end := s.FirstStep + s.Steps
		if s.FirstStep != next || s.Steps < 0 || s.LowerBound > s.Arena || s.Materialized < s.Arena {
			return fmt.Errorf("segment %d is %+v, after %d steps", i, s, next)
		}
		for _, slot := range p.Slots {
			switch {
			case slot.Start < s.FirstStep && slot.End >= s.FirstStep:
				return fmt.Errorf("slot %d is live in segment %d and before", slot.ID, i)
			case slot.Start >= s.FirstStep && slot.Start < end && slot.Offset+slot.Bytes > s.Arena:
				return fmt.Errorf("slot %d does not lie in the %d bytes of segment %d", slot.ID, s.Arena, i)
			}
		}
		next, arena = end, max(arena, s.Arena)
	}
	if len(p.Segments) > 0 && (next != len(p.Steps) || arena != p.Arena) {
		return fmt.Errorf("%d steps of %d are in segments, in %d bytes of %d", next, len(p.Steps), arena, p.Arena)
	}
	return nil
}

// proveApart wants no byte in two slots that are live at once, unless shares
// connects them.
func proveApart(p *planFile) error {
	group := make([]int, len(p.Slots))
	find := func(i int) int {
		for group[i] != i {
			i = group[i]
		}
		return i
	}
	for i := range group {
		group[i] = i
	}
	for i, s := range p.Slots {
		if s.Shares != nil {
			group[find(i)] = find(*s.Shares)
		}
	}
	for i, a := range p.Slots {
		for j, b := range p.Slots[:i] {
			if a.Start <= b.End && b.Start <= a.End && a.Offset < b.Offset+b.Bytes && b.Offset < a.Offset+a.Bytes && find(i) != find(j) {
				return fmt.Errorf("slots %d and %d, %s and %s, are live together from step %d on and share bytes from %d on",
					j, i, b.Name, a.Name, max(a.Start, b.Start), max(a.Offset, b.Offset))
			}
		}
	}
	return nil
}

// proveUses wants each slot to be live from the step that writes it to the
// last one that reads it or a slot that shares its bytes, and dropped there.
func proveUses(p *planFile) error {
	byName := make(map[string]planSlot)
	for _, s := range p.Slots {
		if other, twice := byName[s.Name]; twice {
			return fmt.Errorf("slots %d and %d are both named %q", other.ID, s.ID, s.Name)
		}
		byName[s.Name] = s
	}
	dropped := make([]int, len(p.Slots))
	for i, step := range p.Steps {
		if step.Index != i || step.Op == "" || step.Kind == "" {
			return fmt.Errorf("step %d is %+v", i, step)
		}
		for _, name := range step.Inputs {
			if s, ok := byName[name]; ok && (i <= s.Start || i > s.End) {
				return fmt.Errorf("step %d reads %s, which is live from step %d to %d", i, name, s.Start, s.End)
			} else if !ok && name != "" && !slices.ContainsFunc([]string{"input ", "output ", "weight"}, func(p string) bool { return strings.HasPrefix(name, p) }) && !isView(p, name) {
				return fmt.Errorf("step %d reads %q, which nothing writes", i, name)
			}
		}
		for _, name := range step.Outputs {
			if s, ok := byName[name]; ok && s.Start != i {
				return fmt.Errorf("step %d writes %s, which is live from step %d on", i, name, s.Start)
			}
		}
		for _, id := range step.DeallocAfter {
			if id < 0 || id >= len(p.Slots) || p.Slots[id].End != i {
				return fmt.Errorf("step %d drops slot %d", i, id)
			}
			dropped[id]++
		}
	}
	for id, n := range dropped {
		if n != 1 {
			return fmt.Errorf("slot %d is dropped %d times", id, n)
		}
	}
	return nil
}

// isView reports whether a step before makes the name without a slot: a view
// of an input, an output or a weight.
func isView(p *planFile, name string) bool {
	return slices.ContainsFunc(p.Steps, func(s planStep) bool { return slices.Contains(s.Outputs, name) })
}

// planJSON runs berth plan --json.
func planJSON(t *testing.T, args ...string) []byte {
	t.Helper()
	var out, msg bytes.Buffer
	if status := run(append([]string{"plan", "--json"}, args...), &env{ctx: context.Background(), stdout: &out, stderr: &msg}); status != exitDone {
		t.Fatalf("berth plan %v: status %d\n%s", args, status, msg.Bytes())
	}
	return out.Bytes()
}

// TestPlansAreSafe proves the plans of models, from their JSON alone.
func TestPlansAreSafe(t *testing.T) {
	dir := t.TempDir()
	if err := writeFiles(dir); err != nil {
		t.Fatal(err)
	}
	for _, rows := range []string{"1", "7"} {
		for _, strategy := range []string{"auto", "exact", "greedy", "first-fit"} {
			if err := prove(planJSON(t, filepath.Join(dir, "digits.onnx"), "--rows", rows, "--strategy", strategy)); err != nil {
				t.Errorf("digits with %s rows by %s: %v", rows, strategy, err)
			}
		}
	}
	for _, data := range []string{"", filepath.Join(dir, "sets", "find")} {
		plan := planJSON(t, filepath.Join(dir, "find.onnx"), "--data", data)
		if err := prove(plan); err != nil {
			t.Errorf("find with the data %q: %v", data, err)
		}
		var p planFile
		if err := json.Unmarshal(plan, &p); err != nil {
			t.Fatal(err)
		}
		if len(p.Segments) != 2 || p.Segments[0].Arena == 0 || p.Segments[1].Arena == 0 || len(p.Segments[0].Host) != 1 || len(p.Segments[1].Values) != 1 {
			t.Errorf("the segments are %+v", p.Segments)
		}
	}
	shared := filepath.Join("..", "..", "..", "shared")
	for _, args := range [][]string{
		{"onnx-backend/light/light_squeezenet.onnx"},
		{"onnx-backend/light/light_densenet121.onnx"},
		{"onnx-backend/light/light_shufflenet.onnx"},
		{"onnx-backend/light/light_inception_v1.onnx"},
		{"onnx-backend/light/light_inception_v2.onnx"},
		{"onnx-backend/light/light_resnet50.onnx"},
		{"onnx-backend/light/light_bvlc_alexnet.onnx"},
		{"onnx-backend/light/light_vgg19.onnx"},
		{"onnx-backend/light/light_zfnet512.onnx"},
		{"models/mobilenet_v2/model.onnx"},
		{"models/mobilenet_v2/model.onnx", "--rows", "4"},
		{"models/super_resolution/model.onnx"},
		{"models/silero_vad/model.onnx", "--data", filepath.Join(shared, "models", "silero_vad", "test_data_set_0")},
		{"models/minilm_l6_synth/model.onnx", "--dim", "sequence_length=64", "--rows", "3"},
		{"models/minilm_l6_synth/model.onnx", "--dim", "sequence_length=128", "--dim", "batch_size=2"},
		{"models/gpt_char/model.onnx", "--dim", "seq=8", "--dim", "past_seq=0"},
		{"models/gpt_char/model.onnx", "--dim", "seq=1", "--dim", "past_seq=31", "--rows", "2"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			file := filepath.Join(shared, filepath.FromSlash(args[0]))
			if _, err := os.Stat(file); err != nil {
				t.Skipf("no ../shared: %v", err)
			}
			if err := prove(planJSON(t, append([]string{file}, args[1:]...)...)); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestProofFindsFaults breaks a right plan in every way that a proof is to
// notice.
func TestProofFindsFaults(t *testing.T) {
	dir := t.TempDir()
	if err := writeFiles(dir); err != nil {
		t.Fatal(err)
	}
	right := planJSON(t, filepath.Join(dir, "digits.onnx"))
	if err := prove(right); err != nil {
		t.Fatal(err)
	}
	slot := func(plan map[string]any, i int) map[string]any { return plan["slots"].([]any)[i].(map[string]any) }
	step := func(plan map[string]any, i int) map[string]any { return plan["steps"].([]any)[i].(map[string]any) }
	for what, fault := range map[string]func(plan map[string]any){
		"an offset":          func(p map[string]any) { slot(p, 2)["offset"] = slot(p, 1)["offset"] },
		"a smaller arena":    func(p map[string]any) { p["arena_bytes"] = p["lower_bound_bytes"].(float64) - 1 },
		"shares left out":    func(p map[string]any) { slot(p, 4)["shares"] = nil },
		"live longer":        func(p map[string]any) { slot(p, 0)["end"] = 5.0 },
		"live shorter":       func(p map[string]any) { slot(p, 2)["end"] = 2.0 },
		"dropped twice":      func(p map[string]any) { step(p, 1)["dealloc_after"] = []int{0, 0} },
		"never dropped":      func(p map[string]any) { step(p, 1)["dealloc_after"] = []int{} },
		"reads what is gone": func(p map[string]any) { step(p, 7)["inputs"] = []string{"t0"} },
		"reads nothing":      func(p map[string]any) { step(p, 7)["inputs"] = []string{"t99"} },
		"another key":        func(p map[string]any) { p["arena"] = 1 },
	} {
		var plan map[string]any
		if err := json.Unmarshal(right, &plan); err != nil {
			t.Fatal(err)
		}
		fault(plan)
		wrong, err := json.Marshal(plan)
		if err != nil {
			t.Fatal(err)
		}
		if err := prove(wrong); err == nil {
			t.Errorf("%s: the proof did not notice", what)
		}
	}
}
