package circuit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// layoutBase is a plan whose sizes, at 4 rows, fit each other in many ways. Its
// edges are live in the groups noted beside them.
const layoutBase = `
rows 4
dim k 2
edge x n x 128 uint8         # 512 bytes, 0..4: an input
edge a n x 64 uint8          # 256 bytes, 0..1
edge b n x 64 uint8          # 256 bytes, 0..1
edge f n x 16 uint8          # fused in group 1
edge c n x 128 uint8         # 512 bytes, 1..2
edge d n*k x 32 uint8        # 256 bytes, 1..2, in 8 rows
edge e n x 64 uint8          # 256 bytes, 2..3
edge g n x 64 uint8          # 256 bytes, 2..3
edge h n x 128 uint8         # 512 bytes, 3..4
edge s 2 x 50 uint8          # 100 bytes, 3..4
edge u 2 x 50 uint8          # 100 bytes, 4..4
edge y n x 128 uint8         # 512 bytes, 0..4: an output
edge p 2 x 128 uint8         # 256 bytes, 0..1
edge q 2 x 128 uint8         # 256 bytes, 0..1
edge v n x 32 uint8          # 128 bytes, 0..1
edge w n x 32 uint8          # 128 bytes, 0..1
edge z n*k x 32 uint8        # 256 bytes, 1..2, in 8 rows
edge o 3 x 0 uint8           # no bytes, 0..1
node n0 op : x -> a b p q v w o
node n1 op : a b p q v w o -> f
node n2 op : f -> c d z
node n3 op : c d z -> e g
node n4 op : e g -> h s
node n5 op : h s -> u y
output y
plan
group g0 : n0
group g1 : n1 n2
group g2 : n3
group g3 : n4
group g4 : n5
store x
store a
store b
store c
store d
store e
store g
store h
store s
store u
store y
store p
store q
store v
store w
store z
store o
layout
`

func mustRead(t testing.TB, text string) *Problem {
	t.Helper()
	p, err := ReadText(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Every way in which a layout can be impossible has a name.
func TestImpossibleLayouts(t *testing.T) {
	for _, test := range []struct {
		name   string
		layout string
		kind   Kind
		says   []string // in the text of the error
	}{
		{"alias of a fused edge", "alias f a", ErrNotMaterialized, []string{"alias 0", `"f"`}},
		{"external fused edge", "external f", ErrNotMaterialized, []string{"external 0", `"f"`}},
		{"fused edge in a pack", "pack a f", ErrNotMaterialized, []string{"pack 0", `"f"`}},
		{"pack over a fused edge", "pack a over f", ErrNotMaterialized, []string{"pack 0", `"f"`}},
		{"fused edge in a row pack", "rowpack a f", ErrNotMaterialized, []string{"row pack 0", `"f"`}},

		{"twice in one pack", "pack a b a", ErrPackedTwice, []string{"pack 0", `"a"`}},
		{"in two packs", "pack a b\npack c a", ErrPackedTwice, []string{"pack 1", `"a"`, "member of pack 0"}},
		{"twice in one row pack", "rowpack a b a", ErrPackedTwice, []string{"row pack 0", `"a"`}},
		{"in two row packs", "rowpack a b\nrowpack c a", ErrPackedTwice, []string{"row pack 1", `"a"`}},
		{"in a row pack and a pack, not first", "rowpack a b\npack c b", ErrPackedTwice, []string{"pack 0", `"b"`, "row pack 0"}},
		{"a row pack as a block of two packs", "rowpack a b\npack c a\npack h a", ErrPackedTwice, []string{"pack 1", `"a"`}},
		{"empty pack", "pack", ErrEmptyPack, []string{"pack 0"}},
		{"empty row pack", "rowpack over c", ErrEmptyPack, []string{"row pack 0"}},

		{"external and packed", "external a\npack a b", ErrExternalPacked, []string{"pack 0", `"a"`}},
		{"external and row-packed", "external b\nrowpack a b", ErrExternalPacked, []string{"row pack 0", `"b"`}},
		{"packed alias of an external", "external x\nalias c x\npack c d", ErrExternalPacked, []string{"pack 0", `"c"`, `"x"`}},
		{"alias of two externals", "external x y\nalias y h\nalias h x", ErrTwoExternals, []string{`"x"`, `"y"`}},
		{"pack that joins two externals", "external x y\npack e g over x\npack a d over y\nalias a e", ErrTwoExternals, []string{`"x"`, `"y"`}},
		{"beside an external", "external c\npack a b over c\npack x d\nalias d b", ErrOutsideExternal, []string{`"x"`, `"c"`}},

		{"beyond an external", "external c\npack a b over c\npack d x\nalias d a", ErrOutsideExternal, []string{`"x"`, "512 bytes from byte 256 of a buffer of 512"}},

		{"alias of different sizes", "alias a c", ErrAliasSize, []string{"alias 0", "256 bytes", "512 bytes"}},
		{"alias of different rows of a row pack", "rowpack a b\nalias d a", ErrAliasRows, []string{"row pack 0", "8 rows of 32", "4 rows of 64"}},
		{"over an alias of different rows", "rowpack a b\nalias d a\nrowpack v w over d", ErrAliasRows, []string{"row pack 0", "4 rows of 64 bytes and 8 rows of 32"}},
		{"alias within a pack", "pack a c b\nalias a b", ErrAliasInPack, []string{"pack 0", `"a"`, `"b"`}},
		{"alias within a row pack", "alias a e\nalias e b\nrowpack a c b", ErrAliasInPack, []string{"row pack 0", `"a"`, `"b"`}},

		{"row counts", "rowpack a b d", ErrRowCounts, []string{"row pack 0", "4 rows and 8 rows"}},
		{"row pack over part of another's rows", "rowpack c x\nrowpack d over a\nrowpack a b over c", ErrInterleaved, []string{`"d"`, `"a"`, "8 rows of 32 bytes, 32 apart", "4 rows of 64 bytes, 256 apart"}},
		{"row pack over rows too wide", "rowpack c x\nrowpack a over c", ErrOverSize, []string{"256 bytes over 512"}},
		{"row pack over the wrong size", "rowpack a b over e", ErrOverSize, []string{"row pack 0", `"e"`, "512 bytes over 256"}},
		{"pack over the wrong size", "pack a b over e", ErrOverSize, []string{"pack 0", `"e"`, "512 bytes over 256"}},

		{"alias of rows apart in a pack", "rowpack a b\nalias e a\npack e c", ErrContradiction, []string{"pack 0", `"e"`, "in one piece here, and 128 bytes apart in row pack 0"}},
		{"nested row pack as a block", "rowpack c x\nrowpack a b over c\npack a h", ErrContradiction, []string{"pack 0", `"a"`, "256 bytes apart"}},
		{"aliases at two pitches", "rowpack a b\nrowpack e c\nalias a e", ErrContradiction, []string{"192", "128"}},
		{"rows apart and in one piece", "rowpack a b\nrowpack e\nalias a e", ErrContradiction, []string{"128", "in one piece"}},
		{"over two edges at two pitches", "rowpack c x\nrowpack h e\nrowpack a b over c\nalias c h", ErrContradiction, []string{"256", "192"}},
		{"aliases in two orders", "pack a b\npack e g\nalias a g\nalias b e", ErrContradiction, []string{"pack 1"}},
		{"two first edges apart", "pack s a\npack b e\nalias a e", ErrMisaligned, []string{"aligned to 256"}},

		{"rows of other widths over rows apart", "rowpack c x\npack a b over c", ErrInterleaved, []string{"pack 0", `"a"`, `"c"`, "4 rows of 64 bytes, 64 apart from byte 0 of the latter on, which is 4 rows of 128 bytes, 256 apart"}},
		{"more rows over rows apart", "rowpack a b\nrowpack d over a", ErrInterleaved, []string{"row pack 1", `"d"`, `"a"`}},
		{"half columns in every second row", "rowpack d z\nrowpack a over d", ErrInterleaved, []string{"row pack 1", "4 rows of 64 bytes, 64 apart from byte 0 of the latter on, which is 8 rows of 32 bytes, 64 apart"}},
		{"over itself", "pack c over c", ErrContradiction, []string{"pack 0", `"c"`, "by way of others"}},
		{"over each other", "pack c over x\npack x over c\npack a b over c", ErrContradiction, []string{"by way of others"}},
		{"over each other by an alias", "alias h c\nrowpack c over x\npack x over h", ErrContradiction, []string{"by way of others"}},
		{"two packs that share an edge by an alias, live at once", "pack a b over x\nalias g b\npack g d over h", ErrLiveOverlap, []string{`"x"`, `"h"`}},

		{"two packs side by side, live at once", "pack a x\npack b c\nalias x c", ErrLiveOverlap, []string{`"a"`, `"b"`}},
		{"two packs over one edge, live at once", "pack e g over c\nrowpack d over e\npack a b over c", ErrLiveOverlap, []string{`"a"`, `"d"`}},
		{"two row packs over one edge, live at once", "rowpack a b over x\nrowpack c over x", ErrLiveOverlap, []string{`"c"`, "groups 0 to 1 and 1 to 2"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := mustRead(t, layoutBase+test.layout)
			plan, err := p.PlanBuffers(context.Background(), nil)
			var pe *PlanError
			if !errors.As(err, &pe) || pe.Kind != test.kind || !errors.Is(err, test.kind) {
				t.Fatalf("got %v, want %q\n%v", err, test.kind, plan)
			}
			for _, says := range test.says {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("the error does not say %s: %v", says, err)
				}
			}
		})
	}
}

// Every combination of constraints that can be honoured is. The places stated are
// relative to the first.
func TestPossibleLayouts(t *testing.T) {
	for _, test := range []struct {
		name   string
		layout string
		places string // "edge+offset/stride" where the stride is not that of the edge alone
	}{
		{"alias", "alias c h", "c h+0"},
		{"alias chain", "alias a b same\nalias e b\nalias e g same\nalias a g", "a b+0 e+0 g+0"},
		{"alias of different rows", "alias a d", "a d+0"},
		{"alias with itself", "alias a a", "a"},
		{"pack", "pack a s b", "a s+256 b+356"},
		{"pack of one", "pack a", "a"},
		{"row pack", "rowpack a b c", "a/256 b+64/256 c+128/256"},
		{"row pack of one", "rowpack a", "a/64"},
		{"row pack over an edge", "rowpack a b over c", "c a+0/128 b+64/128"},
		{"row pack over an edge in other rows", "rowpack a over d", "d a+0"},
		{"pack over an edge", "pack a b over c", "c a+0 b+256"},
		{"alias of a pack member", "pack a b\nalias b e", "a b+256 e+256"},
		{"alias of a row-pack member", "rowpack a b\nalias b e", "a/128 b+64/128 e+64/128"},
		{"row pack over a pack member", "pack s c\nrowpack e g over c", "s c+100 e+100/128 g+164/128"},
		{"pack over a pack member", "pack s c\npack e g over c", "s c+100 e+100 g+356"},
		{"row pack within a pack", "rowpack a b\npack s a h", "s a+100/128 b+164/128 h+612"},
		{"whole rows of a part of rows", "rowpack c x\npack p q over c", "c/256 x+128/256 p+0/256 q+512/256"},
		{"whole rows of an alias of a part", "rowpack c x\nalias c h\npack p q over h", "c/256 x+128/256 h+0/256 p+0/256 q+512/256"},
		{"fewer rows over a part of rows", "rowpack d z\nrowpack v w over d", "d/64 z+32/64 v+0/128 w+64/128"},
		{"edge in two packs by an alias, one after the other", "pack a b over c\nalias g b\npack g d over h", "c a+0 b+256 g+256 d+512 h+256"},
		{"no bytes in a pack", "pack a o b", "a b+256"},
		{"no bytes first, and twice by an alias", "alias o o\npack o a b", "a b+256"},
		{"no bytes in a row pack of other rows", "rowpack o a b", "a/128 b+64/128"},
		{"no bytes first in a block", "rowpack o a b\npack s o h", "s a+100/128 b+164/128 h+612"},
		{"no bytes over no bytes", "pack o over o\nexternal o", "a"},
		{"row pack first in a pack", "rowpack a b\npack a h", "a/128 b+64/128 h+512"},
		{"row pack as a block over an edge", "rowpack a b\npack a over c", "c a+0/128 b+64/128"},
		{"row pack over an edge as a block over another", "rowpack a b over c\npack a over x", "x c+0 a+0/128 b+64/128"},
		{"row pack over an edge within a pack", "rowpack a b over c\npack s a h", "s c+100 a+100/128 b+164/128 h+612"},
		{"row pack within rows", "rowpack c x\nrowpack a b over c", "c/256 x+128/256 a+0/256 b+64/256"},
		{"row pack within rows of an alias", "rowpack c x\nalias c h\nrowpack a b over h", "c/256 x+128/256 h+0/256 a+0/256 b+64/256"},
		{"row packs three deep", "rowpack x y\nrowpack c over x\nrowpack a b over c", "x/256 y+128/256 c+0/256 a+0/256 b+64/256"},
		{"aliases of members of two row packs", "rowpack a c\nrowpack e h\nalias c h", "a/192 c+64/192 e+0/192 h+64/192"},
		{"packs joined by an alias", "pack a b\npack e g\nalias a e", "a b+256 e+0 g+256"},
		{"two splits of one edge, one after the other", "pack a b over c\nrowpack e g over c", "c a+0 b+256 e+0/128 g+64/128"},
		{"two row packs over one edge, columns apart", "rowpack a e over x\nrowpack g b over x", "x a+0/128 e+64/128 g+0/128 b+64/128"},
		{"first edge that is an inner alias", "pack s a\npack e h\nalias e a", "s a+100 e+100 h+356"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := mustRead(t, layoutBase+test.layout)
			plan, err := p.PlanBuffers(context.Background(), quick)
			if err != nil {
				t.Fatal(err)
			}
			if err := Check(p.Circuit, p.Plan, p.Layout, plan); err != nil {
				t.Fatal(err)
			}
			slots := make(map[string]Slot)
			for _, s := range plan.Slots {
				slots[s.Name] = s
			}
			base := int64(-1)
			for _, want := range strings.Fields(test.places) {
				place, _, hasStride := strings.Cut(want, "/")
				name, offset, _ := strings.Cut(place, "+")
				s := slots[name]
				if base < 0 {
					base = s.Offset
				}
				got := name
				if offset != "" {
					got += fmt.Sprintf("+%d", s.Offset-base)
				}
				if hasStride {
					got += fmt.Sprintf("/%d", s.RowStride)
				}
				if got != want {
					t.Errorf("got %s, want %s", got, want)
				}
			}
		})
	}
}

// What shares bytes with an external edge is bound with it, at the right place.
func TestExternals(t *testing.T) {
	for layout, want := range map[string]string{
		"external y":                               "y in y+0",
		"external y x":                             "x in x+0, y in y+0",
		"external y\nalias h y":                    "h in y+0, y in y+0",
		"external y\nalias h y\nalias c h":         "c in y+0, h in y+0, y in y+0",
		"external y\nrowpack e g over y":           "e in y+0, g in y+64, y in y+0",
		"external y\npack e g over y":              "e in y+0, g in y+256, y in y+0",
		"external y\npack e g over y\nalias g a":   "a in y+256, e in y+0, g in y+256, y in y+0",
		"external x x\npack a b over x\nalias a d": "a in x+0, b in x+256, d in x+0, x in x+0",
	} {
		p := mustRead(t, layoutBase+layout)
		plan, err := p.PlanBuffers(context.Background(), nil)
		if err != nil {
			t.Errorf("%q: %v", layout, err)
			continue
		}
		if err := Check(p.Circuit, p.Plan, p.Layout, plan); err != nil {
			t.Errorf("%q: %v", layout, err)
		}
		var got []string
		for _, b := range plan.Bound {
			got = append(got, fmt.Sprintf("%s in %s+%d", b.Name, p.Circuit.Edges[b.External].Name, b.Offset))
		}
		slices.Sort(got)
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("%q: bound %s, want %s", layout, s, want)
		}
		if n := len(plan.Slots) + len(plan.Bound); n != len(p.Plan.Stored) {
			t.Errorf("%q: %d edges are placed or bound, %d are stored", layout, n, len(p.Plan.Stored))
		}
	}
}

// A cache that grows in place: the old entries are an input that lies where the
// new ones are appended to it, in a buffer of the executor.
func TestGrowingCache(t *testing.T) {
	const cache = `
rows 2
dim past 0..6
edge x       n x 4 float32
edge past    past x 4 float32
edge new     n x 4 float32
edge present past+n x 4 float32
edge y       n x 4 float32
node project gemm   : x -> new
node append  concat : past new -> present
node attend  gemm   : x present past -> y
output present y
plan
group project : project
group append  : append
group attend  : attend
store x
store past
store new
store present
store y
layout
external present y
`
	p := mustRead(t, cache+"pack past new over present same")
	plan, err := p.PlanBuffers(t.Context(), quick)
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(p.Circuit, p.Plan, p.Layout, plan); err != nil {
		t.Error(err)
	}
	var got []string
	for _, b := range plan.Bound {
		got = append(got, fmt.Sprintf("%s in %s+%d of %d", b.Name, p.Circuit.Edges[b.External].Name, b.Offset, b.Bytes))
	}
	want := []string{"past in present+0 of 96", "new in present+96 of 32", "present in present+0 of 128", "y in y+0 of 32"}
	if !slices.Equal(got, want) {
		t.Errorf("bound are %q, want %q", got, want)
	}
	for layout, kind := range map[string]Kind{
		"pack past new over present":                        ErrOverwritten, // past is read after it
		"pack past new over present same\nexternal past":    ErrExternalPacked,
		"alias past present same":                           ErrAliasSize,
		"pack past new over present same\nalias new y same": ErrExternalPacked,
	} {
		p := mustRead(t, cache+layout)
		if _, err := p.PlanBuffers(t.Context(), quick); !errors.Is(err, kind) {
			t.Errorf("%q: %v, want %q", layout, err, string(kind))
		}
	}
}
