package circuit

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth/dtype"
)

// checkLayout has every kind of constraint.
const checkLayout = `
external y
alias h y
pack s c
rowpack e g over c
alias a d
`

// The checker names each invariant that a spoiled plan breaks, and the edges.
func TestCheckFindsFaults(t *testing.T) {
	slot := func(b *BufferPlan, name string) *Slot {
		for i := range b.Slots {
			if b.Slots[i].Name == name {
				return &b.Slots[i]
			}
		}
		for i := range b.Bound {
			if b.Bound[i].Name == name {
				return &b.Bound[i].Slot
			}
		}
		panic("no slot " + name)
	}
	for _, test := range []struct {
		name  string
		spoil func(b *BufferPlan)
		want  Invariant
		says  string
	}{
		{"slot missing", func(b *BufferPlan) { b.Slots = b.Slots[1:] }, InvariantPlaced, `"x": it has 0 slots`},
		{"slot twice", func(b *BufferPlan) { b.Slots = append(b.Slots, b.Slots[0]) }, InvariantPlaced, `"x": it has 2 slots`},
		{"out of order", func(b *BufferPlan) { slices.Reverse(b.Slots) }, InvariantPlaced, "it comes after"},
		{"slot of a fused edge", func(b *BufferPlan) { b.Slots = append(b.Slots, Slot{Edge: 3}) }, InvariantPlaced, "edge number 3"},
		{"slot of no edge", func(b *BufferPlan) { b.Slots = append(b.Slots, Slot{Edge: 99}) }, InvariantPlaced, "edge number 99"},
		{"wrong name", func(b *BufferPlan) { slot(b, "a").Name = "z" }, InvariantPlaced, `"a": its slot is named "z"`},
		{"before the arena", func(b *BufferPlan) { slot(b, "u").Offset = -256 }, InvariantPlaced, `"u"`},
		{"too few bytes", func(b *BufferPlan) { slot(b, "a").Bytes-- }, InvariantSize, `"a"`},
		{"stride of a plain edge", func(b *BufferPlan) { slot(b, "b").RowStride++ }, InvariantSize, `"b"`},
		{"dies too early", func(b *BufferPlan) { slot(b, "a").End-- }, InvariantLive, `"a"`},
		{"born too early", func(b *BufferPlan) { slot(b, "u").Start-- }, InvariantLive, `"u"`},
		{"alias lives alone", func(b *BufferPlan) { slot(b, "d").Start = 1 }, InvariantLive, `"d"`},
		{"alias moved", func(b *BufferPlan) { slot(b, "d").Offset += 4096 }, InvariantAlias, `"a" and edge "d"`},
		{"pack apart", func(b *BufferPlan) { slot(b, "c").Offset += 4; slot(b, "e").Offset += 4; slot(b, "g").Offset += 4 }, InvariantPack, `"c" and edge "s"`},
		{"member of a row pack moved", func(b *BufferPlan) { slot(b, "g").Offset++ }, InvariantRowPack, `"g" and edge "e"`},
		{"stride of a row pack", func(b *BufferPlan) { slot(b, "g").RowStride = 64 }, InvariantRowPack, `"g"`},
		{"row pack beside its edge", func(b *BufferPlan) { slot(b, "e").Offset += 512; slot(b, "g").Offset += 512 }, InvariantOver, `"c" and edge "e"`},
		{"not aligned", func(b *BufferPlan) { slot(b, "x").Offset += 8 }, InvariantAligned, `"x"`},
		{"pack not aligned", func(b *BufferPlan) {
			for _, name := range []string{"s", "c", "e", "g"} {
				slot(b, name).Offset += 64
			}
		}, InvariantAligned, `"s"`},
		{"external placed", func(b *BufferPlan) { b.Slots = append(b.Slots, b.Bound[1].Slot); b.Bound = b.Bound[:1] }, InvariantExternal, `"y"`},
		{"placed edge bound", func(b *BufferPlan) {
			b.Bound = append([]Binding{{b.Slots[0], 11}}, b.Bound...)
			b.Slots = b.Slots[1:]
		}, InvariantExternal, `"x"`},
		{"bound off its place", func(b *BufferPlan) { slot(b, "h").Offset = 16 }, InvariantExternal, `"h"`},
		{"live together", func(b *BufferPlan) { slot(b, "x").Offset = slot(b, "u").Offset }, InvariantDisjoint, `"u"`},
		{"under a row pack", func(b *BufferPlan) { slot(b, "x").Offset = slot(b, "s").Offset }, InvariantDisjoint, `"g"`},
		{"arena too small", func(b *BufferPlan) { b.Arena-- }, InvariantTotals, "arena"},
		{"arena too large", func(b *BufferPlan) { b.Arena += Align }, InvariantTotals, "arena"},
		{"lower bound too large", func(b *BufferPlan) { b.LowerBound = b.Arena + 1 }, InvariantTotals, "lower bound"},
		{"wrong sum", func(b *BufferPlan) { b.Materialized++ }, InvariantTotals, "materialised"},
		{"wrong groups", func(b *BufferPlan) { b.Groups++ }, InvariantTotals, "groups"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := mustRead(t, layoutBase+checkLayout)
			b, err := p.PlanBuffers(context.Background(), quick)
			if err != nil {
				t.Fatal(err)
			}
			if err := Check(p.Circuit, p.Plan, p.Layout, b); err != nil {
				t.Fatalf("the plan itself: %v", err)
			}
			test.spoil(b)
			err = Check(p.Circuit, p.Plan, p.Layout, b)
			if err == nil {
				t.Fatal("the fault is not found")
			}
			if !hasViolation(err, test.want, test.says) {
				t.Errorf("no %q with %s in:\n%v", test.want, test.says, err)
			}
		})
	}
}

// A plan of one layout breaks the invariants of another.
func TestCheckOfAnotherLayout(t *testing.T) {
	for _, test := range []struct {
		planned, checked string
		want             Invariant
		says             string
	}{
		{"", "alias a b", InvariantAlias, `"a" and edge "b"`},
		{"external a", "external a\nalias a b", InvariantAlias, "different buffers"},
		{"", "pack b a", InvariantPack, `"a" and edge "b": row 0 of the former`},
		{"", "rowpack a b", InvariantRowPack, `"b" and edge "a": row 0 of the former`},
		{"rowpack a b", "rowpack a b c", InvariantRowPack, "row 1 of the former"},
		{"", "rowpack a d", InvariantRowPack, "8 rows and 4 rows"},
		{"pack p q over c", "rowpack a b over c", InvariantOver, `"c" and edge "a"`},
		{"", "pack a over c", InvariantOver, `"c": it has 512 bytes, and what lies over it 256`},
		{"external c", "external c\nrowpack a b over c", InvariantOver, "different buffers"},
		{"rowpack a b", "rowpack a b\nrowpack v w over d\npack d over a", InvariantOver, `"a" and edge "d"`},
		{"pack p q over c", "rowpack c x\npack p q over c", InvariantRowPack, `"c" and edge "c": row 1 of the former`},
		{"rowpack a b", "", InvariantSize, `"a": its row stride is 128, not 64`},
		{"rowpack a b", "rowpack a b\nalias d a", InvariantAlias, "8 rows of 32 bytes and 4 rows of 64 bytes, which are apart"},
		{"external x y", "external x", InvariantExternal, `"y"`},
		{"external x", "external x y", InvariantExternal, `"y"`},
		{"external c\nrowpack a b over c", "external c", InvariantExternal, `"a"`},
		{"pack a b over x\npack d p over c same", "", InvariantDisjoint, `"a"`},
		{"alias a b same", "alias a b", InvariantKept, `"a" and edge "b": group 0 writes the latter, and group 1 reads the former`},
	} {
		p, q := mustRead(t, layoutBase+test.planned), mustRead(t, layoutBase+test.checked)
		plan, err := p.PlanBuffers(context.Background(), quick)
		if err != nil {
			t.Errorf("%s: %v", test.planned, err)
			continue
		}
		err = Check(q.Circuit, q.Plan, q.Layout, plan)
		if !hasViolation(err, test.want, test.says) {
			t.Errorf("a plan of %q, checked as %q: no %q with %s in:\n%v", test.planned, test.checked, test.want, test.says, err)
		}
	}
}

func hasViolation(err error, want Invariant, says string) bool {
	all, _ := err.(interface{ Unwrap() []error })
	return all != nil && slices.ContainsFunc(all.Unwrap(), func(e error) bool {
		var v *Violation
		return errors.As(e, &v) && v.Invariant == want && strings.Contains(v.Error(), says)
	})
}

func TestCheckOfBadInput(t *testing.T) {
	p := mustRead(t, layoutBase)
	b, err := p.PlanBuffers(context.Background(), quick)
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(p.Circuit, p.Plan, &Layout{External: []EdgeID{3}}, b); err == nil {
		t.Error("a layout of a fused edge is accepted")
	}
	for _, spoil := range []func(*Edge){
		func(e *Edge) { e.Rows = Expr{} },
		func(e *Edge) { e.Dim = Var("unknown") },
		func(e *Edge) { e.Format = dtype.Format{} },
		func(e *Edge) { e.Rows, e.Dim = Const(1<<40), Const(1<<40) },
	} {
		q := mustRead(t, layoutBase)
		spoil(&q.Circuit.Edges[0])
		if _, ok := errors.AsType[*PlanError](Check(q.Circuit, q.Plan, nil, b)); !ok {
			t.Error("an edge without a size is accepted")
		}
	}
	b.MaxRows = 0
	if err := Check(p.Circuit, p.Plan, nil, b); err == nil {
		t.Error("a plan for no rows is accepted")
	}
	p.Plan.Groups = nil
	if err := Check(p.Circuit, p.Plan, nil, b); !errors.Is(err, ErrNodeMissing) {
		t.Errorf("a plan without groups: %v", err)
	}
}
