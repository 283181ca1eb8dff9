package circuit

import (
	"context"
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/berth-go/berth/pack"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// Each golden file holds a problem as a person would write it, and what the
// package makes of it: both forms of the problem, and both of its buffer plan.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files, error %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			old := readGolden(t, file)
			p := mustRead(t, old.files["problem.txt"])
			plan, err := p.PlanBuffers(context.Background(), &Options{Strategy: pack.FirstFit})
			if err != nil {
				t.Fatal(err)
			}
			if err := Check(p.Circuit, p.Plan, p.Layout, plan); err != nil {
				t.Error(err)
			}
			got := golden{old.comment, map[string]string{
				"problem.txt":  old.files["problem.txt"],
				"plan.txt":     written(t, plan.WriteText),
				"printed.txt":  written(t, p.WriteText),
				"problem.json": written(t, p.WriteJSON),
				"plan.json":    written(t, plan.WriteJSON),
			}}
			if *update {
				if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(old.String(), got.String()); diff != "" {
				t.Errorf("run go test -update if this is right (-want +got):\n%s", diff)
			}
		})
	}
}

// golden is a txtar archive: a comment, and files that each follow a line with
// their name.
type golden struct {
	comment string
	files   map[string]string
}

var goldenNames = []string{"problem.txt", "plan.txt", "printed.txt", "problem.json", "plan.json"}

func readGolden(t testing.TB, file string) golden {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	g := golden{files: make(map[string]string)}
	rest := string(data)
	for i := len(goldenNames) - 1; i >= 0; i-- {
		if at := strings.Index(rest, "-- "+goldenNames[i]+" --\n"); at >= 0 {
			_, g.files[goldenNames[i]], _ = strings.Cut(rest[at:], "\n")
			rest = rest[:at]
		}
	}
	g.comment = rest
	return g
}

func (g golden) String() string {
	text := g.comment
	for _, name := range goldenNames {
		text += "-- " + name + " --\n" + g.files[name]
	}
	return text
}

func written(t testing.TB, write func(io.Writer) error) string {
	t.Helper()
	var b strings.Builder
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Both forms of random problems and of their plans come back as they were.
func TestFormsRoundTrip(t *testing.T) {
	planned := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 4))
		s := randomSample(r, 3+r.IntN(15), r.IntN(5))
		p := &Problem{Circuit: s.c, Plan: s.p, Layout: s.l, MaxRows: s.rows}
		p.Circuit.Edges[0].Name = "odd \"name\" -> over # \n"
		p.Circuit.Edges[1].Name = "same"
		p.Circuit.Edges[len(p.Circuit.Edges)-1].Name = "over"
		p.Circuit.Nodes[0].Name = "over"
		p.Circuit.Nodes[0].Op = ":"
		if r.IntN(3) == 0 {
			p.Layout = nil
		}
		if r.IntN(5) == 0 {
			p.Plan = nil
		}
		roundTrip(t, p.WriteText, ReadText, p)
		roundTrip(t, p.WriteJSON, ReadJSON, p)
		if plan, err := p.PlanBuffers(context.Background(), &Options{Strategy: pack.FirstFit}); err == nil {
			planned++
			roundTrip(t, plan.WriteJSON, ReadBufferPlanJSON, plan)
			if plan.String() != written(t, plan.WriteText) {
				t.Errorf("seed %d: String differs from WriteText", seed)
			}
		}
	}
	if planned < 50 {
		t.Errorf("only %d samples can be planned", planned)
	}
}

func roundTrip[T any](t testing.TB, write func(io.Writer) error, read func(io.Reader) (*T, error), want *T) {
	t.Helper()
	text := written(t, write)
	got, err := read(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	// Empty and missing lists are the same.
	if diff := cmp.Diff(want, got, cmp.FilterValues(bothEmpty, cmp.Ignore())); diff != "" {
		t.Fatalf("comes back otherwise (-want +got):\n%s\n%s", diff, text)
	}
}

func bothEmpty(x, y any) bool {
	a, b := reflect.ValueOf(x), reflect.ValueOf(y)
	return a.Kind() == reflect.Slice && b.Kind() == reflect.Slice && a.Len() == 0 && b.Len() == 0
}

func TestTextErrors(t *testing.T) {
	const start = "edge a n x 4 float32\nedge b n x 4 float32\nnode m op : a -> b\n"
	for _, test := range []struct {
		text string
		line int // 0: the fault lies in no single line
		says string
	}{
		{"widget a", 1, `no statement begins with "widget"`},
		{"\n\n\"edge\" a n x 4 float32", 3, `"edge"`},
		{"edge a n x 4", 1, "the line ends too early"},
		{"edge a n y 4 float32", 1, `edge "a": "y" stands where "x" is needed`},
		{"edge a n* x 4 float32", 1, `edge "a": circuit: malformed expression: "n*"`},
		{"edge a n x 8/2 float32", 1, `"8/2"`},
		{"edge a n x 99999999999999999999 float32", 1, "overflows"},
		{"edge a n x 4 float33", 1, "unknown element type"},
		{"edge a n x 4 int4:x:float16", 1, "group"},
		{"edge a \"b", 1, "not closed"},
		{"edge a\"b\" n x 4 float32", 1, "a quote within the word"},
		{start + "edge a n x 4 float32", 4, `a second edge "a"`},
		{start + "node m op : a -> b", 4, `a second node "m"`},
		{start + "node o op : zz -> b", 4, `unknown edge "zz"`},
		{start + "node o op a -> b", 4, `node "o": "a" stands where ":" is needed`},
		{start + "node o op : a c ->", 4, `unknown edge "c"`},
		{start + "node o op : a b", 4, `node "o": "->" is missing`},
		{start + "node o op : a -> -> b", 4, `unknown edge "->"`},
		{start + "node o op in s : a -> b", 4, `unknown section "s"`},
		{start + "node o op in s", 4, `":" is missing`},
		{start + "node o op in s : a ->", 4, `unknown section "s"`},
		{start + "section s", 3, "no section is given"},
		{"section s\nsection s", 2, `a second section "s"`},
		{"section s\nedge a n x 4 float32\nnode o op : a ->", 3, "no section is given"},
		{"section s\nnode o op in s in", 2, `"in" stands where ":" is needed`},
		{"section s\nplan", 2, "no section is given"},
		{"plan\nplan", 2, "a second plan"},
		{"plan s", 1, `unknown section "s"`},
		{"rows 4\nrows 4", 2, "a second rows"},
		{"rows many", 1, "many"},
		{"rows 9223372036854775808", 1, "out of range"},
		{"circuit a\ncircuit b", 2, "a second circuit"},
		{"dim k x", 1, `dim "k": strconv.ParseInt: parsing "x"`},
		{"dim k 1..x", 1, `"x"`},
		{"dim k 1.2", 1, `"1.2"`},
		{"dim k 1\ndim k 1", 2, `a second dimension "k"`},
		{"output a", 1, `unknown edge "a"`},
		{"group g : n", 1, "no plan statement"},
		{"store a", 1, "no plan statement"},
		{"plan\ngroup g n", 2, `group "g": "n" stands where ":" is needed`},
		{"plan\ngroup g : n", 2, `unknown node "n"`},
		{start + "plan\nstore c", 5, `unknown edge "c"`},
		{start + "plan\nstore a float", 5, "unknown element type"},
		{"layout\nlayout", 2, "a second layout"},
		{start + "alias a", 4, `alias "a": the line ends too early`},
		{start + "alias a c", 4, `unknown edge "c"`},
		{start + "pack a over c", 4, `unknown edge "c"`},
		{start + "rowpack a over", 4, `rowpack "a": the line ends too early`},
		{start + "rowpack a over b a", 4, `"a" does not belong here`},
		{start + "alias a b more", 4, `"more" does not belong here`},
		{start + "external a c", 4, `unknown edge "c"`},

		{"dim k 1..2\nedge a ceil(n/k) x 4 float32", 0, "may shrink as k grows"},
		{"rows -1", 0, "negative"},
		{"dim n 1", 0, `"n"`},
		{"dim k -1", 0, "k is -1"},
		{"dim k 2..1", 0, "k is 2 at least and 1 at most"},
		{start + "node o op : b -> b", 0, "written by two nodes"},
		{start + "plan", 0, "in no group"},
		{start + "plan\ngroup g : m", 0, "fused edge"},
		{"edge \"\\xff\" n x 4 float32", 0, "UTF-8"},
		{"edge \"\" n x 4 float32", 0, "no name"},
	} {
		_, err := ReadText(strings.NewReader(test.text))
		checkReadError(t, test.text, err, test.line, test.says)
	}
}

func checkReadError(t *testing.T, text string, err error, line int, says string) {
	t.Helper()
	var syntax *SyntaxError
	switch {
	case err == nil:
		t.Errorf("%q is read", text)
	case !strings.Contains(err.Error(), says):
		t.Errorf("%q: %v does not say %s", text, err, says)
	case errors.As(err, &syntax) != (line > 0) || line > 0 && syntax.Line != line:
		t.Errorf("%q: %v; want line %d", text, err, line)
	}
}

func TestJSONErrors(t *testing.T) {
	edges := func(rest string) string {
		return `{"circuit":{"edges":[{"name":"a","rows":"n","dim":4,"format":"float32"},
{"name":"b","rows":"n","dim":4,"format":"float32"}],
"nodes":[{"name":"m","inputs":["a"],"outputs":["b"]}]}` + rest + "}"
	}
	for _, test := range []struct {
		text string
		line int
		says string
	}{
		{"", 1, "no JSON value"},
		{"{", 1, "unexpected EOF"},
		{"{}", 0, "circuit: the member is missing"},
		{"[]", 1, "array"},
		{"{\n\"circus\": {}}", 2, "circus"},
		{edges("") + "\n{}", 4, "more follows"},
		{edges(`,"max_rows":1e30`), 3, "max_rows"},
		{edges(`,"max_rows":99999999999999999999`), 3, "max_rows"},
		{edges(`,"max_rows":-4`), 0, "-4"},
		{strings.Repeat("[", 1<<20), 1, ""},
		{`{"circuit":{"edges":[{"name":"a","rows":"` + strings.Repeat("(", 1<<16) + `"}]}}`, 1, "malformed expression"},
		{`{"circuit":{"edges":[{"name":"a","format":"int5:3:float16"}]}}`, 1, "int5"},
		{`{"circuit":{"edges":[{"name":"a"},{"name":"a"}]}}`, 0, `circuit.edges[1].name: a second edge "a"`},
		{`{"circuit":{"nodes":[{"name":"a"},{"name":"a"}]}}`, 0, `circuit.nodes[1].name: a second node "a"`},
		{`{"circuit":{"nodes":[{"name":"a","inputs":["x"]}]}}`, 0, `circuit.nodes[0].inputs[0]: unknown edge "x"`},
		{`{"circuit":{"nodes":[{"name":"a","outputs":["x"]}]}}`, 0, `circuit.nodes[0].outputs[0]: unknown edge "x"`},
		{`{"circuit":{"nodes":[{"name":"a","section":"s"}]}}`, 0, `circuit.nodes[0].section: unknown section "s"`},
		{`{"circuit":{"sections":["s","s"]}}`, 0, `circuit.sections[1]: a second section "s"`},
		{`{"circuit":{"outputs":["x"]}}`, 0, `circuit.outputs[0]: unknown edge "x"`},
		{edges(`,"plan":{"section":"s"}`), 0, `plan.section: unknown section "s"`},
		{edges(`,"plan":{"groups":[{"nodes":["x"]}]}`), 0, `plan.groups[0].nodes[0]: unknown node "x"`},
		{edges(`,"plan":{"stored":[{"edge":"x"}]}`), 0, `plan.stored[0].edge: unknown edge "x"`},
		{edges(`,"layout":{"external":["x"]}`), 0, `layout.external[0]: unknown edge "x"`},
		{edges(`,"layout":{"aliases":[["a","x"]]}`), 0, `layout.aliases[0][1]: unknown edge "x"`},
		{edges(`,"layout":{"aliases":[7]}`), 3, "not 7"},
		{edges(`,"layout":{"aliases":[["a"]]}`), 3, "an alias is an array of two names"},
		{edges(`,"layout":{"aliases":[["a","b","c"]]}`), 3, "an alias is an array of two names"},
		{`{"circuit":{"dims":[{"name":"k","size":1},{"name":"k","size":1}]}}`, 0, `circuit.dims[1]: a second dimension "k"`},
		{`{"circuit":{"dims":[{"name":"k","size":"1..x"}]}}`, 1, `"x"`},
		{edges(`,"layout":{"packs":[{"members":["x"]}]}`), 0, `layout.packs[0].members[0]: unknown edge "x"`},
		{edges(`,"layout":{"row_packs":[{"members":["a"],"over":"x"}]}`), 0, `layout.row_packs[0].over: unknown edge "x"`},
		{edges(`,"plan":{}`), 0, "node is in no group"},
	} {
		_, err := ReadJSON(strings.NewReader(test.text))
		checkReadError(t, test.text[:min(len(test.text), 100)], err, test.line, test.says)
	}
}

func TestBufferPlanErrors(t *testing.T) {
	const good = `{"edge":1,"name":"a","offset":0,"bytes":4,"start":0,"end":1,"row_stride":4}`
	slot := func(from, to string) string {
		return `{"arena_bytes":4,"slots":[` + strings.Replace(good, from, to, 1) + `]}`
	}
	for _, test := range []struct {
		text string
		line int
		says string
	}{
		{`{"arena_bytes":4,"slots":[` + good + "," + good + `]}`, 0, "edge number 1 after 1"},
		{`{"slots":[` + good + `]}`, 0, "beyond the arena of 0"},
		{`{"max_rows":-4}`, 0, "max_rows is -4"},
		{`{"arena_bytes":-4}`, 0, "arena_bytes is -4"},
		{`{"lower_bound_bytes":-4}`, 0, "lower_bound_bytes is -4"},
		{`{"materialized_bytes":-4}`, 0, "materialized_bytes is -4"},
		{`{"groups":-1}`, 0, "groups is -1"},
		{`{"arena_bytes":9999999999999999999}`, 1, "arena_bytes"},
		{`{"optimal":"maybe"}`, 1, "optimal"},
		{`{"colour":"blue"}`, 1, "colour"},
		{slot(`"start":0`, `"start":2`), 0, "live in groups 2 to 1"},
		{slot(`"start":0`, `"start":-1`), 0, "live in groups -1 to 1"},
		{slot(`"offset":0`, `"offset":-1`), 0, "offset -1"},
		{slot(`"bytes":4`, `"bytes":-1`), 0, "-1 bytes"},
		{slot(`"row_stride":4`, `"row_stride":-1`), 0, "row stride -1"},
		{slot(`"edge":1`, `"edge":-1`), 0, "edge number -1"},
		{slot(`"name":"a"`, `"name":""`), 0, `the name ""`},
		{`{"bound":[` + strings.Replace(good, "}", `,"external":-1}`, 1) + `]}`, 0, "in edge number -1"},
		{`{"bound":[` + strings.Replace(good, `"end":1`, `"end":-1`, 1) + `]}`, 0, "live in groups 0 to -1"},
		{"", 1, "no JSON value"},
		{"[]", 1, "array"},
		{"{} {}", 1, "more follows"},
	} {
		_, err := ReadBufferPlanJSON(strings.NewReader(test.text))
		checkReadError(t, test.text, err, test.line, test.says)
	}
}
