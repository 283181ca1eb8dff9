package onnx_test

import (
	"fmt"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/conformance"
	"github.com/berth-go/berth/internal/race"
	"github.com/berth-go/berth/onnx"
)

// A generator runs a language model a few tokens at a time, with a cache that
// grows in place.
type generator struct {
	inst    *berth.Instance
	extents berth.Extents
	in, out berth.Values
	ids     []int64
	logits  []float32
	words   int // of the vocabulary
	past    int
}

func newGenerator(t testing.TB, m *onnx.Model, seq, past, workers int) *generator {
	t.Helper()
	opt := &onnx.Options{
		Vary: []berth.Dimension{berth.Dim("seq", 1, seq), berth.Dim("past_seq", 0, past)},
		Dims: map[string]int{"batch": 1},
	}
	opt.Program.Extends = make(map[string]string)
	for i := range 4 {
		for _, what := range []string{"key", "value"} {
			opt.Program.Extends[fmt.Sprintf("present.%d.%s", i, what)] = fmt.Sprintf("past.%d.%s", i, what)
		}
	}
	p, err := m.Compile(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	inst, err := p.NewInstance(&berth.InstanceOptions{Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(inst.Close)
	g := &generator{inst: inst, extents: berth.Extents{"seq": 0, "past_seq": 0}, in: berth.Values{}, out: berth.Values{}}
	for _, port := range p.Outputs() {
		buffer, err := p.NewBuffer(port.Name)
		if err != nil {
			t.Fatal(err)
		}
		if g.out[port.Name] = buffer; port.Extends == "" {
			g.logits, g.words = buffer.([]float32), port.Dims[2]
		}
	}
	return g
}

// run takes tokens in and returns the next most likely one.
func (g *generator) run(t testing.TB, tokens []int64) int64 {
	g.ids = append(g.ids[:0], tokens...)
	g.in["input_ids"] = g.ids
	g.step(t)
	last := g.logits[(len(tokens)-1)*g.words : len(tokens)*g.words]
	best := 0
	for i, x := range last {
		if x > last[best] {
			best = i
		}
	}
	return int64(best)
}

// step runs the tokens in ids, which it leaves where they are.
func (g *generator) step(t testing.TB) {
	g.extents["seq"], g.extents["past_seq"] = len(g.ids), g.past
	if err := g.inst.RunAt(t.Context(), g.extents, g.in, g.out); err != nil {
		t.Fatal(err)
	}
	g.past += len(g.ids)
}

// TestGenerate writes a text with a cache that grows in place, and compares each
// token with those of the whole text, run at once from the start.
func TestGenerate(t *testing.T) {
	m, err := conformance.Load(shared(t, "models", "gpt_char"))
	if err != nil {
		t.Fatal(err)
	}
	g := newGenerator(t, m, 64, 191, 2)
	text := []int64{20, 1, 54, 47, 58, 43, 56, 1, 41, 53, 52, 58}
	n := len(text)
	text = append(text, g.run(t, text))
	for len(text) < 60 {
		text = append(text, g.run(t, text[len(text)-1:]))
	}
	whole := newGenerator(t, m, 64, 191, 1)
	whole.run(t, text)
	for i := n - 1; i < len(text)-1; i++ {
		row, best := whole.logits[i*whole.words:(i+1)*whole.words], 0
		for k, x := range row {
			if x > row[best] {
				best = k
			}
		}
		if int64(best) != text[i+1] {
			t.Fatalf("token %d is %d, from the start it is %d", i+1, text[i+1], best)
		}
	}
	if race.Enabled {
		return
	}
	if n := testing.AllocsPerRun(20, func() { g.step(t) }); n != 0 {
		t.Errorf("%v allocations in a step", n)
	}
}

// BenchmarkGenerate times a step of one token with a cache that grows in place,
// beside the same step of a program for just these extents.
func BenchmarkGenerate(b *testing.B) {
	m, err := conformance.Load(shared(b, "models", "gpt_char"))
	if err != nil {
		b.Fatal(err)
	}
	const past = 100
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("growing/%d", workers), func(b *testing.B) {
			g := newGenerator(b, m, 64, 191, workers)
			g.ids = []int64{1}
			g.in["input_ids"] = g.ids
			for i := 0; b.Loop(); i++ {
				g.past = past + i%50
				g.step(b)
			}
		})
		b.Run(fmt.Sprintf("fixed/%d", workers), func(b *testing.B) {
			p, err := m.Compile(b.Context(), &onnx.Options{Dims: map[string]int{"batch": 1, "seq": 1, "past_seq": past + 25}})
			if err != nil {
				b.Fatal(err)
			}
			in, out := berth.Values{"input_ids": []int64{1}}, berth.Values{}
			for _, port := range p.Inputs() {
				if port.DType == berth.Float32 {
					in[port.Name] = make([]float32, 4*32*(past+25))
				}
			}
			for _, port := range p.Outputs() {
				if out[port.Name], err = p.NewBuffer(port.Name); err != nil {
					b.Fatal(err)
				}
			}
			inst, err := p.NewInstance(&berth.InstanceOptions{Workers: workers})
			if err != nil {
				b.Fatal(err)
			}
			defer inst.Close()
			for b.Loop() {
				if err := inst.Run(b.Context(), in, out); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
