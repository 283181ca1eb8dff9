package circuit

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
)

// Small seeds with every statement: the fuzzer spends its time on the length of
// what it starts from.
const (
	seedText = `rows 4
dim k 2
section s
edge a n x 64 uint8
edge b n x 64 uint8
edge c ceil(n/2)*2 x 64*k int4:32:float16 # 144 bytes
edge "d e" - x - -
node m op in s : a -> b "d e"
node o op in s : b "d e" -> c
output c
plan s
group g : m o
store a
store b
store c uint8
layout
external a
alias b a
rowpack c`
	seedPacks = `rows 2
edge a n x 8 bool
edge b n x 8 bool
edge c n x 16 bool
node m op : -> a b
node o op : a b -> c
plan
group "" : m
group "" : o
store a
store b
store c
pack a b over c`
	seedJSON = `{"circuit":{"edges":[{"name":"a","rows":"n","dim":8,"format":"bool"},{"name":"b","rows":"n","dim":8,"format":""}],
"nodes":[{"name":"m","inputs":["a"],"outputs":["b"]}],"outputs":["b"]},
"plan":{"groups":[{"nodes":["m"]}],"stored":[{"edge":"a"},{"edge":"b","format":"int8"}]},
"layout":{"aliases":[["a","b"]],"row_packs":[{"members":["a"],"over":"b"}]},"max_rows":3}`
	seedPlanJSON = `{"max_rows":1,"groups":1,"arena_bytes":4,"strategy":"auto","slots":[{"edge":0,"name":"a","offset":0,"bytes":4,"start":0,"end":0,"row_stride":4}],
"bound":[{"edge":1,"name":"b","offset":0,"bytes":4,"start":0,"end":0,"row_stride":4,"external":1}]}`
)

func TestSeedsAreRead(t *testing.T) {
	for _, text := range []string{seedText, seedPacks} {
		mustRead(t, text)
	}
	if _, err := ReadJSON(strings.NewReader(seedJSON)); err != nil {
		t.Error(err)
	}
	if _, err := ReadBufferPlanJSON(strings.NewReader(seedPlanJSON)); err != nil {
		t.Error(err)
	}
}

// sameText checks that a text is what is written of what is read from it.
func sameText[T any](t *testing.T, text string, read func(io.Reader) (*T, error), write func(*T, io.Writer) error) {
	t.Helper()
	v, err := read(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if again := written(t, func(w io.Writer) error { return write(v, w) }); again != text {
		t.Fatalf("comes back otherwise:\n%s\n%s", text, again)
	}
}

// fuzzProblem checks that a problem comes back from both of its forms, and that
// planning it gives an error or a plan that the checker accepts.
func fuzzProblem(t *testing.T, p *Problem) {
	sameText(t, written(t, p.WriteText), ReadText, (*Problem).WriteText)
	sameText(t, written(t, p.WriteJSON), ReadJSON, (*Problem).WriteJSON)
	if len(p.Circuit.Edges) > 200 || p.MaxRows > 1<<20 {
		return // the checker takes its time
	}
	plan, err := p.PlanBuffers(context.Background(), quick)
	if err != nil {
		return
	}
	if err := Check(p.Circuit, p.Plan, p.Layout, plan); err != nil {
		t.Fatal(err)
	}
	fuzzPlan(t, plan)
}

func fuzzPlan(t *testing.T, b *BufferPlan) {
	sameText(t, written(t, b.WriteJSON), ReadBufferPlanJSON, (*BufferPlan).WriteJSON)
}

func FuzzReadText(f *testing.F) {
	f.Add([]byte(seedText))
	f.Add([]byte(seedPacks))
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, err := ReadText(bytes.NewReader(data)); err == nil {
			fuzzProblem(t, p)
		}
	})
}

func FuzzReadJSON(f *testing.F) {
	f.Add([]byte(seedJSON))
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, err := ReadJSON(bytes.NewReader(data)); err == nil {
			fuzzProblem(t, p)
		}
	})
}

func FuzzReadBufferPlan(f *testing.F) {
	f.Add([]byte(seedPlanJSON))
	f.Fuzz(func(t *testing.T, data []byte) {
		if b, err := ReadBufferPlanJSON(bytes.NewReader(data)); err == nil {
			fuzzPlan(t, b)
		}
	})
}
