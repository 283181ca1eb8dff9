package onnx

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/race"
	"github.com/berth-go/berth/internal/wire"
)

func newTestSession(t testing.TB, m *Model, opt *SessionOptions) *Session {
	t.Helper()
	s, err := m.NewSession(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// twoStages negates x, finds what is not zero, and doubles x: n is made before the host
// step, and d reads it after.
func twoStages(t testing.TB) *Model {
	return hostModel(t, []wire.Node{
		nodeOf("Neg", names{"x"}, names{"n"}), nodeOf("NonZero", names{"x"}, names{"i"}), constOf("axes", []int64{0}),
		nodeOf("Squeeze", names{"i", "axes"}, names{"at"}), nodeOf("Gather", names{"n", "at"}, names{"g"}),
	}, names{"x"}, names{"n", "i", "g", "x"})
}

func TestSessionOutputs(t *testing.T) {
	s := newTestSession(t, twoStages(t), nil)
	x := vec(1, 0, 3)
	n, g := vec(0, 0, 0), arr(make([]float32, 8))
	atN, atG := &n.data[0], &g.data[0]
	out := values{"n": n, "g": g}
	for range 2 {
		if err := s.Run(t.Context(), values{"x": x}, out); err != nil {
			t.Fatal(err)
		}
		hostTest{want: map[string]string{"n": "float32[3] -1 -0 -3", "g": "float32[2] -1 -3"}}.check(t, "to fill", out)
		if len(out) != 2 || out["n"] != Value(n) || out["g"] != Value(g) || &n.data[0] != atN || &g.data[0] != atG {
			t.Errorf("outputs %v are not in the memory given", out)
		}
	}
	small := arr([]float32{}, 0)
	out = values{"x": nil, "i": (*Array)(nil), "n": small, "g": words("a")}
	if err := s.Run(t.Context(), values{"x": x}, out); err != nil {
		t.Fatal(err)
	}
	hostTest{want: map[string]string{"n": "float32[3] -1 -0 -3", "g": "float32[2] -1 -3", "i": "int64[1 2] 0 2", "x": "float32[3] 1 0 3"}}.check(t, "to replace", out)
	if out["n"] != Value(small) {
		t.Error("an array that is too small is replaced, not made larger")
	}
	if kept := out["x"].(*Array); &kept.data[0] == &x.data[0] {
		t.Error("an output that is an input shares its memory")
	}
}

func TestSessionErrors(t *testing.T) {
	m := twoStages(t)
	x := vec(1, 0, 3)
	part := arr(make([]float32, 4))
	firstHalf, secondHalf := &Array{typ: part.typ, dims: []int{2}, data: part.data[:8]}, &Array{typ: part.typ, dims: []int{2}, data: part.data[4:]}
	canceled, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	for _, c := range []struct {
		what    string
		ctx     context.Context
		in, out values
		err     string
	}{
		{"an unknown output", t.Context(), values{"x": x}, values{"q": nil}, `the model has no output "q", but g, i, n, x`},
		{"an unknown input", t.Context(), values{"x": x, "q": x}, values{}, `the model has no input "q", but x`},
		{"a missing input", t.Context(), nil, values{}, "input x unknown is missing"},
		{"a nil array", t.Context(), values{"x": (*Array)(nil)}, values{}, "input x unknown is missing"},
		{"an array of nothing", t.Context(), values{"x": &Array{}}, values{}, "an array is nil or has no elements yet"},
		{"a nil array in a sequence", t.Context(), values{"x": Sequence{(*Array)(nil)}}, values{}, "item 0: an array is nil"},
		{"a map without keys", t.Context(), values{"x": &Map{}}, values{}, "an array is nil"},
		{"a map of other numbers of keys and values", t.Context(), values{"x": &Map{whole64(1, 2), vec(1)}}, values{}, "a map has 2 keys and 1 values"},
		{"a nil map", t.Context(), values{"x": (*Map)(nil)}, values{}, "a map is nil"},
		{"a value of another Go type", t.Context(), values{"x": alien{}}, values{}, "values of Go type onnx.alien are not supported"},
		{"no map of outputs", t.Context(), values{"x": x}, nil, "the map of outputs is nil"},
		{"no context", nil, values{"x": x}, values{}, "the context is nil"},
		{"canceled", canceled, values{"x": x}, values{}, "enough"},
		{"an output in an input", t.Context(), values{"x": x}, values{"n": x}, `output "n" and input "x" overlap in memory`},
		{"an output in an item of an input", t.Context(), values{"x": Sequence{x}}, values{"n": x}, `output "n" and input "x" overlap in memory`},
		{"an output twice", t.Context(), values{"x": x}, values{"n": part, "g": part}, "overlap in memory"},
		{"outputs that overlap", t.Context(), values{"x": x}, values{"n": firstHalf, "g": secondHalf}, "overlap in memory"},
		{"another kind of value", t.Context(), values{"x": Sequence{x}}, values{}, `"x" is a sequence, the operator takes tensors`},
	} {
		t.Run(c.what, func(t *testing.T) {
			s := newTestSession(t, m, nil)
			hostTest{err: c.err}.failed(t, s.Run(c.ctx, c.in, c.out))
			if err := s.Run(t.Context(), values{"x": x}, values{}); err != nil {
				t.Errorf("after the error: %v", err)
			}
		})
	}
	s := newTestSession(t, m, nil)
	s.Close()
	s.Close()
	hostTest{err: "the session is closed"}.failed(t, s.Run(t.Context(), values{"x": x}, values{}))
	var none *Session
	none.Close()
	hostTest{err: "nil or the zero Session"}.failed(t, none.Run(t.Context(), nil, values{}))
	hostTest{err: "nil or the zero Session"}.failed(t, new(Session).Run(t.Context(), nil, values{}))
}

type alien struct{}

func (alien) Type() string { return "alien" }

// forever is a loop that goes on as long as a session lets it.
func forever(t testing.TB) *Model {
	return hostModel(t, []wire.Node{loopNode(names{"", "", "x"}, names{"y"}, subgraph([]wire.Node{nodeOf("Neg", names{"v"}, names{"w"})},
		names{"i", "go", "v"}, names{"go", "w"}))}, names{"x"}, names{"y"})
}

func TestSessionStops(t *testing.T) {
	m := forever(t)
	in := values{"x": vec(1)}
	s := newTestSession(t, m, &SessionOptions{MaxIterations: 1 << 60})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	started := make(chan error)
	go func() { started <- s.Run(ctx, in, values{}) }()
	for busy := false; !busy; {
		busy = s.state.Load() == running
	}
	if err := s.Run(t.Context(), in, values{}); err == nil {
		t.Error("a session runs twice at a time")
	}
	if err := <-started; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want that the deadline is over", err)
	}
	few := newTestSession(t, m, &SessionOptions{MaxIterations: 10})
	if err := few.Run(t.Context(), in, values{}); !errors.Is(err, ErrIterations) {
		t.Errorf("got %v, want ErrIterations", err)
	}
	some := hostModel(t, []wire.Node{loopNode(names{"m", "", "x"}, names{"y"}, subgraph(nil, names{"i", "go", "v"}, names{"go", "i"}))}, names{"m", "x"}, names{"y"})
	few = newTestSession(t, some, &SessionOptions{MaxIterations: 10})
	for range 3 { // what one run took is not taken off the next
		if err := few.Run(t.Context(), values{"m": count(10), "x": count(0)}, values{}); err != nil {
			t.Error(err)
		}
	}
}

func TestSessionBounds(t *testing.T) {
	expand := func(op string) []wire.Node {
		return []wire.Node{nodeOf("NonZero", names{"x"}, names{"i"}), nodeOf("Size", names{"i"}, names{"n"}), scalar64("k", 1<<20), nodeOf("Mul", names{"n", "k"}, names{"m"}),
			constOf("zero", []int64{0}), nodeOf("Unsqueeze", names{"m", "zero"}, names{"d"}), nodeOf("Expand", names{"x", "d"}, names{"e"}), nodeOf(op, names{"e"}, names{"y"})}
	}
	state := names{"i", "go", "v"}
	doubled := func(nodes ...wire.Node) []wire.Node {
		return []wire.Node{scalar64("m", 60), loopNode(names{"m", "", "x"}, names{"y"}, subgraph(nodes, state, names{"go", "w"}))}
	}
	for _, c := range []struct {
		what  string
		nodes []wire.Node
		x     Value
	}{
		{"an output of a segment", expand("Neg"), vec(1)},
		{"an output of the host", expand("NonZero"), vec(1)},
		{"a tensor that doubles", doubled(nodeOf("Concat", names{"v", "v"}, names{"w"}, attrInt("axis", 0))), vec(1)},
		{"a string that doubles", doubled(nodeOf("StringConcat", names{"v", "v"}, names{"w"})), words("berth")},
		{"strings that add up", []wire.Node{scalar64("m", 1<<30), loopNode(names{"m", "", "x"}, names{"y"}, subgraph([]wire.Node{
			nodeOf("Cast", names{"i"}, names{"t"}, attrInt("to", 8))}, state, names{"go", "t"}))}, words("")},
		{"a stack", []wire.Node{scalar64("m", 1<<30), loopNode(names{"m", "", "x"}, names{"z", "y"}, subgraph(nil, state, names{"go", "v", "v"}))}, arr(make([]float32, 1<<12))},
	} {
		t.Run(c.what, func(t *testing.T) {
			s := newTestSession(t, hostModel(t, c.nodes, names{"x"}, names{"y"}), &SessionOptions{MaxBytes: 1 << 20})
			var err error
			taken := allocated(func() { err = s.Run(t.Context(), values{"x": c.x}, values{}) })
			if !errors.Is(err, berth.ErrMemory) && !errors.Is(err, berth.ErrBudget) {
				t.Errorf("got %v, want ErrMemory or ErrBudget", err)
			}
			if taken > 128<<20 {
				t.Errorf("took %d MB", taken>>20)
			}
		})
	}
}

// TestFailedRun cancels runs after each stage, and uses what they were to fill: it holds
// strings or numbers, not what graphs have of them.
func TestFailedRun(t *testing.T) {
	m := hostModel(t, []wire.Node{
		nodeOf("Concat", names{"x", "x"}, names{"y"}, attrInt("axis", 0)), nodeOf("StringConcat", names{"y", "y"}, names{"z"}),
		nodeOf("Cast", names{"z"}, names{"f"}, attrInt("to", 1)),
	}, names{"x"}, names{"y", "z", "f"})
	s := newTestSession(t, m, nil)
	y := words("old", "older")
	out := values{"y": y}
	err := s.Run(t.Context(), values{"x": words("no number")}, out)
	if err == nil {
		t.Fatal("no error")
	}
	again := make(values)
	if err := s.Run(t.Context(), values{"x": y}, again); err == nil {
		t.Fatal("no error")
	}
	if _, err := y.Strings(); err != nil {
		t.Error(err)
	}
	if got, want := show(y), `string[2] "old" "older"`; got != want {
		t.Errorf("after the run that failed: %s, want %s", got, want)
	}
}

// TestSequencesOfOtherItems runs a session at sequences of one length whose items differ.
func TestSequencesOfOtherItems(t *testing.T) {
	m := hostModel(t, []wire.Node{nodeOf("ConcatFromSequence", names{"s"}, names{"y"}, attrInt("axis", 0))}, names{"s"}, names{"y"})
	s := newTestSession(t, m, nil)
	for _, c := range []struct {
		s    Sequence
		want string
	}{
		{Sequence{vec(1), vec(2)}, "float32[2] 1 2"},
		{Sequence{vec(1), vec(2, 3)}, "float32[3] 1 2 3"},
		{Sequence{whole64(1), whole64(2)}, "int64[2] 1 2"},
		{Sequence{words("a"), words("b")}, `string[2] "a" "b"`},
		{Sequence{vec(5), vec(6)}, "float32[2] 5 6"},
	} {
		out := make(values)
		if err := s.Run(t.Context(), values{"s": c.s}, out); err != nil {
			t.Fatal(err)
		}
		hostTest{want: map[string]string{"y": c.want}}.check(t, "outputs", out)
	}
}

// TestStringsOfARun runs a session with thousands of strings: those of earlier runs are
// gone.
func TestStringsOfARun(t *testing.T) {
	m := hostModel(t, []wire.Node{nodeOf("StringConcat", names{"x", "x"}, names{"y"})}, names{"x"}, names{"y"})
	s := newTestSession(t, m, nil)
	text := "a"
	for i := range 1000 {
		text = text[:len(text)-1] + string(rune('a'+i%26)) + string(rune('a'+i%7))
		if i%50 == 0 {
			text = "x"
		}
		out := make(values)
		if err := s.Run(t.Context(), values{"x": words(text)}, out); err != nil {
			t.Fatal(err)
		}
		if got, _ := out["y"].(*Array).Strings(); got[0] != text+text {
			t.Fatalf("run %d: %q", i, got)
		}
		if n := len(s.texts.list); n > 2 {
			t.Fatalf("run %d: the session has %d strings", i, n)
		}
	}
}

// TestNoAllocation holds sessions to their promise: nothing is allocated at shapes seen
// before, by loops neither.
func TestNoAllocation(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	state := names{"i", "go", "v"}
	for _, c := range []struct {
		what  string
		nodes []wire.Node
	}{
		{"a segment", []wire.Node{nodeOf("Neg", names{"x"}, names{"y"})}},
		{"a branch", []wire.Node{nodeOf("ReduceMax", names{"x"}, names{"m"}, attrInt("keepdims", 0)), nodeOf("Less", names{"m", "k"}, names{"c"}),
			ifNode("c", names{"y"}, subgraph([]wire.Node{nodeOf("Neg", names{"x"}, names{"n"})}, nil, names{"n"}), subgraph(nil, nil, names{"x"}))}},
		{"a loop", []wire.Node{nodeOf("ReduceMax", names{"x"}, names{"m"}, attrInt("keepdims", 0)), nodeOf("Cast", names{"m"}, names{"trips"}, attrInt("to", 7)),
			loopNode(names{"trips", "", "x"}, names{"y", "z"}, subgraph([]wire.Node{nodeOf("Add", names{"v", "x"}, names{"w"})}, state, names{"go", "w", "v"}))}},
		{"a loop in a loop", []wire.Node{scalar64("n", 3), loopNode(names{"n", "", "x"}, names{"y"}, subgraph([]wire.Node{
			loopNode(names{"n", "", "v"}, names{"t"}, subgraph([]wire.Node{nodeOf("Add", names{"u", "v"}, names{"w"})}, names{"k", "c", "u"}, names{"c", "w"}))}, state, names{"go", "t"}))}},
		{"a scan", []wire.Node{scanNode(1, names{"k", "x"}, names{"s", "y"}, subgraph([]wire.Node{nodeOf("Add", names{"v", "e"}, names{"w"})}, names{"v", "e"}, names{"w", "w"}))}},
	} {
		t.Run(c.what, func(t *testing.T) {
			m := hostModel(t, c.nodes, names{"x"}, names{"y"}, *protoOf("k", num(0)))
			s := newTestSession(t, m, &SessionOptions{Workers: 1})
			in, out := values{"x": vec(1, 2, 3)}, values{"y": arr(make([]float32, 64))}
			run := func() {
				if err := s.Run(t.Context(), in, out); err != nil {
					t.Fatal(err)
				}
			}
			run()
			if n := testing.AllocsPerRun(5, run); n != 0 {
				t.Errorf("%v allocations in a run", n)
			}
		})
	}
}

// TestEviction runs more shapes than a tree has stages for: their number stays bounded,
// sessions drop what is gone, and results are right all the same.
func TestEviction(t *testing.T) {
	m := twoStages(t)
	s := newTestSession(t, m, nil)
	tree := s.frame.tree
	const most = 7
	tree.most = most
	check := func(n int) {
		t.Helper()
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(i % 3)
		}
		out := make(values)
		if err := s.Run(t.Context(), values{"x": arr(x)}, out); err != nil {
			t.Fatal(err)
		}
		if got := out["g"].(*Array).dims[0]; got != n-(n+2)/3 {
			t.Fatalf("%d of %d elements are not zero", got, n)
		}
		if tree.count > tree.most || tree.count != stagesAfter(&tree.root) {
			t.Fatalf("%d stages, counted as %d, at most %d", stagesAfter(&tree.root), tree.count, tree.most)
		}
		if n := len(s.frame.states); n > most+2 { // those of the last run may be gone
			t.Fatalf("the session has the state of %d stages", n)
		}
	}
	for n := 1; n <= 60; n++ {
		check(n)
		check(1) // used all the time, and so always there
	}
	first := slices.Collect(maps.Values(tree.root.next))
	check(1)
	if again := slices.Collect(maps.Values(tree.root.next)); len(first) != len(again) {
		t.Errorf("what is used again and again was built again")
	}
	built := tree.evicted.Load()
	check(1)
	check(60)
	if tree.evicted.Load() != built {
		t.Error("a run at shapes seen just before drops stages")
	}
	tree.most = 1 // not enough for one run
	check(9)
	check(9)
}

func stagesAfter(s *stage) int {
	n := 0
	for _, next := range s.next {
		n += 1 + stagesAfter(next)
	}
	return n
}

// TestConcurrentSessions has goroutines with sessions of their own run one model at many
// shapes, while stages are built and dropped.
func TestConcurrentSessions(t *testing.T) {
	m := hostModel(t, []wire.Node{
		nodeOf("NonZero", names{"x"}, names{"i"}), nodeOf("Size", names{"i"}, names{"n"}), loopNode(names{"n", "", "x"}, names{"y"}, subgraph([]wire.Node{
			nodeOf("Add", names{"v", "x"}, names{"w"})}, names{"k", "go", "v"}, names{"go", "w"})),
		nodeOf("Cast", names{"n"}, names{"t"}, attrInt("to", 8)), nodeOf("StringConcat", names{"t", "t"}, names{"z"}),
	}, names{"x"}, names{"y", "z"})
	const users, runs = 4, 40
	first := newTestSession(t, m, nil)
	first.frame.tree.most = 9
	var group sync.WaitGroup
	for user := range users {
		group.Go(func() {
			s, err := m.NewSession(&SessionOptions{Workers: 1 + user%2, Poison: true})
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			for run := range runs {
				n := 1 + (user*3+run)%8
				x := make([]float32, n)
				for i := range x {
					x[i] = float32(i)
				}
				out := make(values)
				if err := s.Run(t.Context(), values{"x": arr(x)}, out); err != nil {
					t.Error(err)
					return
				}
				for i := range x {
					x[i] = float32(i * n)
				}
				digit := string(rune('0' + n - 1))
				want := map[string]string{"y": show(arr(x)), "z": show(must(NewStrings([]string{digit + digit})))}
				hostTest{want: want}.check(t, "outputs", out)
			}
		})
	}
	group.Wait()
}
