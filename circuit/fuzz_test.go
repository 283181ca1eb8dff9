package circuit

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// goldenFiles returns the files of one name in all golden files.
func goldenFiles(t testing.TB, name string) [][]byte {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var all [][]byte
	for _, file := range files {
		all = append(all, []byte(readGolden(t, file).files[name]))
	}
	return all
}

// fuzzProblem checks that whatever is read comes back from what is written, and
// that planning it gives an error or a plan that the checker accepts.
func fuzzProblem(t *testing.T, data []byte, read func(io.Reader) (*Problem, error), write func(*Problem, io.Writer) error) {
	p, err := read(bytes.NewReader(data))
	if err != nil {
		return
	}
	roundTrip(t, func(w io.Writer) error { return write(p, w) }, read, p)
	plan, err := p.PlanBuffers(context.Background(), quick)
	if err != nil {
		return
	}
	if err := Check(p.Circuit, p.Plan, p.Layout, plan); err != nil {
		t.Fatal(err)
	}
	roundTrip(t, plan.WriteText, ReadBufferPlanText, plan)
}

func FuzzReadText(f *testing.F) {
	for _, name := range []string{"problem.txt", "printed.txt"} {
		for _, data := range goldenFiles(f, name) {
			f.Add(data)
		}
	}
	f.Add([]byte(layoutBase + checkLayout))
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzProblem(t, data, ReadText, (*Problem).WriteText)
	})
}

func FuzzReadJSON(f *testing.F) {
	for _, data := range goldenFiles(f, "problem.json") {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzProblem(t, data, ReadJSON, (*Problem).WriteJSON)
	})
}

func FuzzReadBufferPlan(f *testing.F) {
	for _, name := range []string{"plan.txt", "plan.json"} {
		for _, data := range goldenFiles(f, name) {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		text, err := ReadBufferPlanText(bytes.NewReader(data))
		if err == nil {
			roundTrip(t, text.WriteText, ReadBufferPlanText, text)
			roundTrip(t, text.WriteJSON, ReadBufferPlanJSON, text)
		}
		b, err := ReadBufferPlanJSON(bytes.NewReader(data))
		if err == nil {
			roundTrip(t, b.WriteText, ReadBufferPlanText, b)
			if text != nil {
				t.Fatalf("both text and JSON: %s", cmp.Diff(text, b))
			}
		}
	})
}
