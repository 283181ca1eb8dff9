package onnx_test

import (
	"sync"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/digits"
	"github.com/berth-go/berth/onnx"
)

// TestConcurrent uses one model and one program of it from several goroutines
// at once, each with an image of its own and several workers: all get the bits
// that a single one gets. The network is small, so that the race detector
// watches all of it.
func TestConcurrent(t *testing.T) {
	m, err := onnx.Load(digits.Files(), digits.ModelFile)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	p, err := m.Compile(t.Context(), &onnx.Options{Rows: 4})
	if err != nil {
		t.Fatal(err)
	}
	all, err := readImages()
	if err != nil {
		t.Fatal(err)
	}
	const users, runs = 6, 3
	inputs, want := make([]map[string]*berth.Tensor, users), make([]map[string]*berth.Tensor, users)
	for i := range users {
		image, err := all.Slice(0, i, i+1, 1)
		if err != nil {
			t.Fatal(err)
		}
		inputs[i] = map[string]*berth.Tensor{"image": image}
		if want[i], err = m.RunWith(t.Context(), berth.RunOptions{Workers: 1}, inputs[i]); err != nil {
			t.Fatal(err)
		}
	}
	const name = "probabilities"
	var group sync.WaitGroup
	for i := range users {
		group.Go(func() {
			b, err := onnx.Bind(p, inputs[i], &berth.InstanceOptions{Workers: 1 + i%3, Poison: true})
			if err != nil {
				t.Error(err)
				return
			}
			defer b.Close()
			for range runs {
				got, err := m.RunWith(t.Context(), berth.RunOptions{Workers: 1 + i%3}, inputs[i])
				if err != nil {
					t.Error(err)
					return
				}
				if err := identical(got[name], want[i][name]); err != nil {
					t.Errorf("image %d, step by step: %v", i, err)
				}
				if err := b.Run(t.Context()); err != nil {
					t.Error(err)
					return
				}
				if got, err = b.Results(); err != nil {
					t.Error(err)
					return
				}
				if err := identical(got[name], want[i][name]); err != nil {
					t.Errorf("image %d, as a program: %v", i, err)
				}
			}
		})
	}
	group.Wait()
}
