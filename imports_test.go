package berth_test

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// layers lists the packages in the order in which to read them. A package may
// import, of this module, what stands above it, but for what is named behind
// "not".
const layers = `
dtype
shape
internal/kernel
graph
internal/op
plan
pack            not dtype shape internal/kernel graph internal/op plan
circuit         not shape internal/kernel graph internal/op plan
internal/schedule not dtype shape internal/kernel graph internal/op plan pack circuit
internal/compile
internal/exec   not circuit pack internal/schedule
internal/bridge not dtype shape internal/kernel internal/op plan pack circuit internal/schedule internal/exec
.
onnx/internal/wire not .
onnx            not plan circuit pack internal/schedule internal/compile
internal/conformance
internal/digits not .
cmd/berth       not plan circuit internal/kernel internal/op internal/compile internal/exec graph
`

// support lists packages that only tests and tools import, from anywhere.
var support = []string{"internal/graphtest", "internal/kernel/kerneltest", "internal/kernel/gemmgen", "internal/digits/train"}

// TestImports holds every package to the direction of imports.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	const module = "github.com/berth-go/berth"
	short := func(path string) (string, bool) {
		if path == module {
			return ".", true
		}
		return strings.CutPrefix(path, module+"/")
	}
	allowed := make(map[string][]string)
	var above []string
	for line := range strings.Lines(layers) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		may := slices.Clone(above)
		if len(words) > 1 {
			may = slices.DeleteFunc(may, func(p string) bool { return slices.Contains(words[2:], p) })
		}
		allowed[words[0]] = may
		above = append(above, words[0])
	}
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		name, _ := short(p.ImportPath)
		if slices.Contains(support, name) {
			continue
		}
		may, known := allowed[name]
		if !known {
			t.Errorf("%s has no place among the layers", name)
			continue
		}
		for _, path := range p.Imports {
			if imported, ours := short(path); ours && !slices.Contains(may, imported) {
				t.Errorf("%s imports %s", name, imported)
			}
		}
	}
}
