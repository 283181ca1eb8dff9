package pack

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An instance is a published allocation problem from beside the module.
type instance struct {
	name    string
	buffers []Buffer
}

// sharedInstances reads the instances that match a pattern, or skips.
func sharedInstances(t testing.TB, pattern string) []instance {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("..", "..", "shared", "planner", filepath.FromSlash(pattern)))
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		t.Skipf("no instances %s beside the module", pattern)
	}
	var all []instance
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		buffers, _, err := ReadCSV(f)
		f.Close()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		base, _, _ := strings.Cut(filepath.Base(name), ".")
		all = append(all, instance{base, buffers})
	}
	return all
}
