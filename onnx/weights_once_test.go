package onnx

import (
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/digits"
)

// TestConstantsAreShared compiles a model for other numbers of rows at once, and runs it:
// all read the same constants. Once there is no program they are gone.
func TestConstantsAreShared(t *testing.T) {
	m, err := Load(digits.Files(), digits.ModelFile)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	programs := make([]*berth.Program, 4)
	var wait sync.WaitGroup
	for i := range programs {
		wait.Go(func() {
			p, err := m.Compile(t.Context(), &Options{Rows: 1 + i})
			if err != nil {
				t.Error(err)
				return
			}
			inst, err := p.NewInstance(&berth.InstanceOptions{Workers: 1})
			if err != nil {
				t.Error(err)
				return
			}
			inst.Close()
			programs[i] = p
		})
	}
	wait.Wait()
	if t.Failed() {
		return
	}
	in := programs[0].Inputs()[0]
	image, err := berth.Zeros(berth.Float32, in.Dims...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Run(t.Context(), map[string]*berth.Tensor{in.Name: image}); err != nil {
		t.Fatal(err)
	}
	lists := map[string][]*graph.Node{}
	for i, p := range programs {
		lists[string(rune('1'+i))+" rows"] = inside.Compiled(p).Weights
	}
	for _, next := range m.runs.tree.root.next {
		lists["run"] = next.segment.Program().Weights
	}
	ofFile := 0
	for _, w := range lists["1 rows"] {
		if m.body.initial[w.Label()] == nil {
			continue
		}
		ofFile++
		for name, list := range lists {
			if !slices.Contains(list, w) {
				t.Errorf("%s: has another constant %q", name, w.Label())
			}
		}
	}
	if ofFile == 0 || len(lists) != 5 {
		t.Errorf("%d constants of the file are read, by %d programs", ofFile, len(lists))
	}
	clear(programs)
	clear(lists)
	m.runs.tree, m.runs.idle = nil, nil
	for end := time.Now().Add(10 * time.Second); m.leaves.Len() > 0; runtime.GC() {
		if time.Now().After(end) {
			t.Fatalf("%d constants are held without a program", m.leaves.Len())
		}
	}
}
