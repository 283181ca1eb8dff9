package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/berth-go/berth/internal/kernel/isa"
)

// TestGenerated reports an assembly file that is not what the generator writes.
func TestGenerated(t *testing.T) {
	got, err := os.ReadFile("../tile_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, generate()) {
		t.Error("tile_amd64.s is out of date: run go generate ./internal/kernel/isa")
	}
}

// TestChain: kernels sum chains of the length that the package states.
func TestChain(t *testing.T) {
	if chain != isa.Chain {
		t.Errorf("chains of %d terms, want %d", chain, isa.Chain)
	}
}
