package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/berth-go/berth/internal/kernel/isa"
)

// TestGenerated reports assembly files that are not what the generator writes.
func TestGenerated(t *testing.T) {
	for name := range files {
		got, err := os.ReadFile("../" + name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, generate(name)) {
			t.Errorf("%s is out of date: run go generate ./internal/kernel/isa", name)
		}
	}
}

// TestConstants: kernels sum chains of the length that the package states, and taps
// of as many rows.
func TestConstants(t *testing.T) {
	if chain != isa.Chain {
		t.Errorf("chains of %d terms, want %d", chain, isa.Chain)
	}
	if blockRows != isa.TapRows {
		t.Errorf("blocks of %d rows, want %d", blockRows, isa.TapRows)
	}
}
