package plan_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/ops"
	"github.com/berth-go/berth/plan"
)

var update = flag.Bool("update", false, "rewrite the plans in testdata")

// TestGolden compares the plans of the graphs in testdata with the texts
// beside them. Each archive holds a graph and its plan; what it shows is said
// at its top.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(archive.Files) != 2 || archive.Files[0].Name != "graph" || archive.Files[1].Name != "plan" {
				t.Fatal("the archive must hold a graph and its plan")
			}
			roots, err := graph.Parse(string(archive.Files[0].Data), ops.Parse)
			if err != nil {
				t.Fatal(err)
			}
			p, err := plan.New(roots...)
			if err != nil {
				t.Fatal(err)
			}
			if err := plan.Check(p, roots...); err != nil {
				t.Error(err)
			}
			got := p.String()
			if *update {
				archive.Files[1].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(archive.Files[1].Data), got); diff != "" {
				t.Errorf("the plan differs (-want +got); -update rewrites it:\n%s", diff)
			}
		})
	}
}
