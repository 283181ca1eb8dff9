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
// "not", or only what is named behind "only". Behind "not" a name stands for the
// packages in its subfolders as well.
const layers = `
dtype
shape
internal/extent not dtype shape
internal/kernel not internal/extent
internal/kernel/isa/numbers only
internal/kernel/isa not internal/extent
internal/kernel/lines not internal/extent
internal/machine only internal/kernel internal/kernel/isa
internal/kernel/gemm not internal/extent
internal/intern only
internal/filemap only internal/kernel
graph           only dtype shape internal/kernel
internal/op     only dtype shape internal/kernel graph
internal/op/elementwise only dtype shape internal/kernel internal/kernel/isa graph internal/op
internal/op/view        only dtype shape internal/kernel graph internal/op
internal/op/move        only dtype shape internal/kernel graph internal/op
internal/op/reduce      only dtype shape internal/kernel graph internal/op internal/kernel/lines
internal/op/norm        only dtype shape internal/kernel internal/kernel/isa graph internal/op internal/kernel/lines internal/op/reduce internal/op/elementwise
internal/op/linear      only dtype shape internal/kernel graph internal/op internal/kernel/gemm internal/op/elementwise
internal/op/slide       only dtype shape internal/kernel internal/kernel/isa graph internal/op
internal/op/conv        only dtype shape internal/kernel internal/kernel/isa graph internal/op internal/kernel/gemm internal/op/slide internal/op/elementwise
internal/op/pool        only dtype shape internal/kernel internal/kernel/isa graph internal/op internal/kernel/lines internal/op/slide internal/op/elementwise
internal/op/quant       only dtype shape internal/kernel internal/kernel/isa graph internal/op internal/kernel/gemm internal/op/linear internal/op/slide internal/op/conv
internal/op/recurrent   only dtype shape internal/kernel graph internal/op internal/kernel/gemm internal/op/elementwise
internal/op/resample    only dtype shape internal/kernel graph internal/op internal/kernel/lines
internal/op/tabular     only dtype shape internal/kernel graph internal/op internal/op/reduce
internal/op/find        only dtype internal/kernel
internal/op/random      only dtype shape internal/kernel graph internal/op
internal/op/signal      only dtype shape internal/kernel graph internal/op
internal/op/ops not internal/kernel internal/op/slide internal/extent
internal/rewrite not internal/extent
plan            only dtype shape graph
pack            only
circuit         only dtype pack
internal/schedule only
internal/compile
internal/exec   not circuit pack internal/schedule
internal/bridge not dtype shape internal/kernel internal/op plan pack circuit internal/schedule
.
internal/wire   not .
onnx            not plan circuit pack internal/schedule internal/compile internal/rewrite
internal/conformance
internal/digits not .
cmd/berth       not plan circuit internal/kernel internal/op internal/compile internal/exec internal/rewrite graph
`

// support lists packages that only tests and tools import, from anywhere.
var support = []string{
	"internal/race", "internal/memtest", "internal/graphtest", "internal/kernel/kerneltest", "internal/kernel/isa/asmgen", "internal/op/optest",
	"internal/digits/train", "internal/conformance/opdoc",
}

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
		switch {
		case len(words) == 1:
		case words[1] == "only":
			may = slices.DeleteFunc(may, func(p string) bool { return !slices.Contains(words[2:], p) })
		default:
			may = slices.DeleteFunc(may, func(p string) bool {
				return slices.ContainsFunc(words[2:], func(not string) bool { return p == not || strings.HasPrefix(p, not+"/") })
			})
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
