package main

import (
	"bytes"
	"os"
	"testing"
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
