package compile_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/berth-go/berth/circuit"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/compile"
	"github.com/berth-go/berth/internal/extent"
	"github.com/berth-go/berth/internal/graphtest"
	"github.com/berth-go/berth/internal/op/ops"
)

var update = flag.Bool("update", false, "rewrite the programs in testdata")

// TestGolden compares the programs of the graphs in testdata with the texts
// beside them. Each archive holds a graph at its largest extents, and what becomes
// of it: where its values lie and why, the circuit that says so, and the steps
// with their operands. What it shows is said at its top, where a line may give
// options:
//
//	rows 6               the extent 6 of the first axis of inputs is that of a dimension, 1 to 6
//	extends out0 past    the output continues the input
//	alone                nothing shares bytes
func TestGolden(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { golden(t, file) })
	}
}

func golden(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(archive.Files) == 0 || archive.Files[0].Name != "graph" {
		t.Fatal("the archive must begin with a graph")
	}
	roots, err := graph.Parse(string(archive.Files[0].Data), ops.Parse)
	if err != nil {
		t.Fatal(err)
	}
	f := fixed(graphtest.Graph{Roots: roots})
	opt := compile.Options{Extends: make(map[string]string)}
	for line := range strings.Lines(string(archive.Comment)) {
		switch words := strings.Fields(line); {
		case len(words) == 2 && words[0] == "rows":
			most, err := strconv.Atoi(words[1])
			if err != nil {
				t.Fatal(err)
			}
			f = byRows(graphtest.Graph{Roots: roots, Rows: most}, most)
		case len(words) == 3 && words[0] == "extends":
			opt.Extends[words[1]] = words[2]
		case len(words) == 1 && words[0] == "alone":
			opt.NoSharing = true
		}
	}
	p, err := f.compile(opt)
	if err != nil {
		t.Fatal(err)
	}
	if err := circuit.Check(p.Circuit, p.Fusion, p.Layout, p.Buffers); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := p.Problem().WriteText(&text); err != nil {
		t.Fatal(err)
	}
	got := []txtar.File{archive.Files[0], {Name: "places", Data: []byte(places(p))}, {Name: "circuit", Data: text.Bytes()}, {Name: "steps", Data: []byte(steps(p))}}
	if *update {
		archive.Files = got
		if err := os.WriteFile(file, txtar.Format(archive), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want := string(txtar.Format(&txtar.Archive{Files: archive.Files}))
	if diff := cmp.Diff(want, string(txtar.Format(&txtar.Archive{Files: got}))); diff != "" {
		t.Errorf("the program differs (-want +got); -update rewrites it:\n%s", diff)
	}
}

// places prints a line for each value that a step writes: where it lies at the
// largest extents, and with whom.
func places(p *compile.Program) string {
	var b strings.Builder
	for i, v := range p.Values {
		fmt.Fprintf(&b, "%d: %v %v, steps %d to %d, %s bytes [%d, %d)", i, v.Value.Node(), v.Value.Type(), v.First, v.Last,
			space(p, v.Space, v.Index), v.Offset, v.Offset+v.Bytes)
		if v.Shares >= 0 {
			fmt.Fprintf(&b, ", shares %d", v.Shares)
		}
		if v.Why != "" {
			fmt.Fprintf(&b, ", %s", v.Why)
		}
		if v.InPlace {
			b.WriteString(", in place")
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "arena %d bytes, lower bound %d\n", p.Buffers.Arena, p.Buffers.LowerBound)
	return b.String()
}

// steps prints the kernels with their operands, as functions of the dimensions.
func steps(p *compile.Program) string {
	var b strings.Builder
	operands := func(list []compile.Operand) string {
		words := make([]string, len(list))
		for i := range list {
			words[i] = operand(p, &list[i])
		}
		return strings.Join(words, ", ")
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		fmt.Fprintf(&b, "step %d: %v(%s) -> %s\n", s.Index, s, operands(s.In), operands(s.Out))
	}
	return b.String()
}

func operand(p *compile.Program, o *compile.Operand) string {
	if o.Space == compile.Absent {
		return "_"
	}
	list := func(of []extent.Func) string {
		words := make([]string, len(of))
		for a, f := range of {
			words[a] = p.Space.String(f)
		}
		return "[" + strings.Join(words, " ") + "]"
	}
	text := fmt.Sprintf("%s+%d %v%s", space(p, o.Space, o.Index), o.Base, o.Type.DType, list(o.Shape))
	text += " strides " + list(o.Strides)
	if o.Offset != 0 {
		text += " offset " + p.Space.String(o.Offset)
	}
	return text
}

func space(p *compile.Program, s compile.Space, index int) string {
	switch s {
	case compile.Arena:
		return "arena"
	case compile.Weight:
		return fmt.Sprint("weight ", index)
	case compile.InPort:
		return "input " + p.Inputs[index].Name
	}
	return "output " + p.Outputs[index].Name
}
