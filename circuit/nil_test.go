package circuit

import (
	"bytes"
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every exported function and method takes nil, in each place where it can be
// given, for an error or for nothing, and never panics. The table must have all of
// them.
func TestNil(t *testing.T) {
	ctx := t.Context()
	p := mustRead(t, layoutBase)
	b, err := p.PlanBuffers(ctx, quick)
	if err != nil {
		t.Fatal(err)
	}
	var none struct {
		ctx     context.Context
		circuit *Circuit
		plan    *FusionPlan
		layout  *Layout
		problem *Problem
		buffers *BufferPlan
	}
	fail := func(errs ...error) {
		t.Helper()
		for i, err := range errs {
			var pe *PlanError
			if !errors.As(err, &pe) || pe.Kind != ErrMissing {
				t.Errorf("call %d: error %v, want %q", i, err, ErrMissing)
			}
		}
	}
	pass := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Error(err)
		}
	}
	second := func(_ any, err error) error { return err }
	table := map[string]func(){
		"PlanBuffers": func() {
			fail(second(PlanBuffers(none.ctx, p.Circuit, p.Plan, 4)), second(PlanBuffers(ctx, nil, p.Plan, 4)),
				second(PlanBuffers(ctx, p.Circuit, nil, 4)))
		},
		"PlanBuffersWith": func() {
			fail(second(PlanBuffersWith(none.ctx, p.Circuit, p.Plan, p.Layout, 4, quick)), second(PlanBuffersWith(ctx, nil, p.Plan, p.Layout, 4, quick)),
				second(PlanBuffersWith(ctx, p.Circuit, nil, p.Layout, 4, quick)))
			pass(second(PlanBuffersWith(ctx, p.Circuit, p.Plan, nil, 4, nil)))
		},
		"Check": func() {
			fail(Check(nil, p.Plan, p.Layout, b), Check(p.Circuit, nil, p.Layout, b), Check(p.Circuit, p.Plan, p.Layout, nil))
			pass(Check(p.Circuit, p.Plan, nil, b))
		},
		"LiveRanges":          func() { fail(second(LiveRanges(nil, p.Plan)), second(LiveRanges(p.Circuit, nil))) },
		"Unfused":             func() { fail(Unfused(nil, 0).Validate(nil)) },
		"Circuit.Validate":    func() { fail(none.circuit.Validate()) },
		"FusionPlan.Validate": func() { fail(none.plan.Validate(p.Circuit), p.Plan.Validate(nil)) },
		"Problem.PlanBuffers": func() {
			fail(second(none.problem.PlanBuffers(ctx, nil)), second((&Problem{}).PlanBuffers(ctx, nil)), second(p.PlanBuffers(none.ctx, nil)),
				second((&Problem{Circuit: p.Circuit}).PlanBuffers(ctx, nil)))
			pass(second((&Problem{Circuit: p.Circuit, Plan: p.Plan, MaxRows: 4}).PlanBuffers(ctx, nil)))
		},
		"Problem.WriteText": func() {
			fail(none.problem.WriteText(&bytes.Buffer{}), (&Problem{}).WriteText(&bytes.Buffer{}), (&Problem{Plan: p.Plan}).WriteText(&bytes.Buffer{}), p.WriteText(nil))
			pass((&Problem{Circuit: p.Circuit}).WriteText(&bytes.Buffer{}))
		},
		"Problem.WriteJSON": func() {
			fail(none.problem.WriteJSON(&bytes.Buffer{}), (&Problem{}).WriteJSON(&bytes.Buffer{}), (&Problem{Plan: p.Plan}).WriteJSON(&bytes.Buffer{}), p.WriteJSON(nil))
			pass((&Problem{Circuit: p.Circuit}).WriteJSON(&bytes.Buffer{}))
		},
		"ReadText":             func() { fail(second(ReadText(nil))) },
		"ReadJSON":             func() { fail(second(ReadJSON(nil))) },
		"ReadBufferPlanJSON":   func() { fail(second(ReadBufferPlanJSON(nil))) },
		"BufferPlan.WriteText": func() { fail(none.buffers.WriteText(&bytes.Buffer{}), b.WriteText(nil)) },
		"BufferPlan.WriteJSON": func() { fail(none.buffers.WriteJSON(&bytes.Buffer{}), b.WriteJSON(nil)) },
		"BufferPlan.String": func() {
			if got := none.buffers.String(); !strings.Contains(got, string(ErrMissing)) {
				t.Errorf("prints as %q", got)
			}
		},
		"Expr.Eval": func() {
			if _, err := N().Eval(nil); !errors.Is(err, ErrDimension) {
				t.Error(err)
			}
		},
	}
	// These take no pointer, interface or function that could be nil; those of a
	// circuit and of an expression that are written to, and errors, are made by
	// their owners.
	for _, name := range []string{
		"Const", "Var", "N", "Sum", "Product", "CeilDiv", "ParseExpr",
		"Expr.IsZero", "Expr.Equal", "Expr.DependsOnRows", "Expr.String", "Expr.MarshalJSON", "Expr.UnmarshalJSON",
		"Region.Part", "Circuit.AddEdge", "Circuit.AddNode",
		"Kind.Error", "PlanError.Error", "PlanError.Unwrap", "Violation.Error", "SyntaxError.Error", "SyntaxError.Unwrap",
	} {
		table[name] = func() {}
	}
	exported := exportedFunctions(t)
	if want := slices.Sorted(maps.Keys(table)); !slices.Equal(exported, want) {
		t.Errorf("exported are\n%v\nand tested\n%v", exported, want)
	}
	for name, call := range table {
		t.Run(name, func(*testing.T) { call() })
	}
}

// exportedFunctions lists the functions and methods of the package that others can
// call.
func exportedFunctions(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, is := d.(*ast.FuncDecl)
			if !is || !f.Name.IsExported() {
				continue
			}
			name := f.Name.Name
			if f.Recv != nil {
				of := f.Recv.List[0].Type
				if star, is := of.(*ast.StarExpr); is {
					of = star.X
				}
				if !ast.IsExported(of.(*ast.Ident).Name) {
					continue
				}
				name = of.(*ast.Ident).Name + "." + name
			}
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Numbers out of range are an error wherever a circuit, a plan, a layout or a
// buffer plan can hold them.
func TestNumbersOutOfRange(t *testing.T) {
	for _, bad := range []int{-1, 1 << 40} {
		e, n := EdgeID(bad), NodeID(bad)
		for name, spoil := range map[string]func(p *Problem, b *BufferPlan){
			"input":            func(p *Problem, _ *BufferPlan) { p.Circuit.Nodes[1].Inputs[0] = e },
			"output":           func(p *Problem, _ *BufferPlan) { p.Circuit.Nodes[1].Outputs[0] = e },
			"declared output":  func(p *Problem, _ *BufferPlan) { p.Circuit.Outputs[0] = e },
			"section":          func(p *Problem, _ *BufferPlan) { p.Circuit.Nodes[1].Section = bad },
			"section planned":  func(p *Problem, _ *BufferPlan) { p.Plan.Section = bad },
			"node of a group":  func(p *Problem, _ *BufferPlan) { p.Plan.Groups[0].Nodes[0] = n },
			"stored edge":      func(p *Problem, _ *BufferPlan) { p.Plan.Stored[0].Edge = e },
			"external":         func(p *Problem, _ *BufferPlan) { p.Layout.External = []EdgeID{e} },
			"alias":            func(p *Problem, _ *BufferPlan) { p.Layout.Aliases = []Alias{{Edge: e}} },
			"alias of":         func(p *Problem, _ *BufferPlan) { p.Layout.Aliases = []Alias{{Of: e}} },
			"pack":             func(p *Problem, _ *BufferPlan) { p.Layout.Packs = []Pack{{Members: []EdgeID{0, e}}} },
			"pack over":        func(p *Problem, _ *BufferPlan) { p.Layout.Packs = []Pack{{Members: []EdgeID{0}, Over: &e}} },
			"empty pack":       func(p *Problem, _ *BufferPlan) { p.Layout.Packs = []Pack{{}} },
			"empty pack over":  func(p *Problem, _ *BufferPlan) { p.Layout.Packs = []Pack{{Over: new(EdgeID(0))}} },
			"row pack":         func(p *Problem, _ *BufferPlan) { p.Layout.RowPacks = []RowPack{{Members: []EdgeID{e}}} },
			"row pack over":    func(p *Problem, _ *BufferPlan) { p.Layout.RowPacks = []RowPack{{Members: []EdgeID{0}, Over: &e}} },
			"empty row pack":   func(p *Problem, _ *BufferPlan) { p.Layout.RowPacks = []RowPack{{}} },
			"slot":             func(_ *Problem, b *BufferPlan) { b.Slots[0].Edge = e },
			"bound edge":       func(_ *Problem, b *BufferPlan) { b.Bound[0].Edge = e },
			"external of that": func(_ *Problem, b *BufferPlan) { b.Bound[0].External = e },
			"live range":       func(_ *Problem, b *BufferPlan) { b.Slots[0].Start, b.Slots[0].End = bad, bad },
			"offset":           func(_ *Problem, b *BufferPlan) { b.Slots[0].Offset = int64(bad) },
			"bytes":            func(_ *Problem, b *BufferPlan) { b.Slots[0].Bytes = int64(bad) },
			"stride":           func(_ *Problem, b *BufferPlan) { b.Slots[0].RowStride = int64(bad) },
			"no stride":        func(_ *Problem, b *BufferPlan) { b.Slots[0].RowStride = 0 },
			"groups":           func(_ *Problem, b *BufferPlan) { b.Groups = bad },
		} {
			p := mustRead(t, layoutBase+"external y")
			b, err := p.PlanBuffers(t.Context(), quick)
			if err != nil {
				t.Fatal(err)
			}
			before := b.String()
			spoil(p, b)
			if err := Check(p.Circuit, p.Plan, p.Layout, b); err == nil {
				t.Errorf("%s %d: Check takes it", name, bad)
			}
			if b.String() != before {
				continue // the fault is in the plan
			}
			var pe *PlanError
			if _, err := PlanBuffersWith(t.Context(), p.Circuit, p.Plan, p.Layout, 4, quick); !errors.As(err, &pe) {
				t.Errorf("%s %d: the planner: %v", name, bad, err)
			}
			if strings.HasPrefix(name, "empty") {
				continue // names nothing
			}
			for _, write := range []func(io.Writer) error{p.WriteText, p.WriteJSON} {
				if err := write(&bytes.Buffer{}); !errors.As(err, &pe) {
					t.Errorf("%s %d: written, error %v", name, bad, err)
				}
			}
		}
	}
}
