package circuit

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// overwriteBase is a chain of groups in which some edges are read late.
const overwriteBase = `
rows 1
edge in   n x 64 uint8      # from outside, read in group 0
edge in2  n x 64 uint8      # from outside, read in group 1
edge in3  n x 64 uint8      # from outside, not read
edge a    n x 64 uint8      # written in group 0, read in groups 1 to 3
edge keep n x 64 uint8      # written in group 0, read outside
edge b    n x 64 uint8      # 1, 2
edge cat  n x 128 uint8     # 2, 3 to 4
edge act  n x 128 uint8     # 3, 4
edge e    n x 64 uint8      # 3, not read
edge out  n x 128 uint8     # 4, read outside
node n0 op : in -> a keep
node n1 op : a in2 -> b
node n2 op : a b -> cat
node n3 op : a cat -> act e
node n4 op : cat act -> out
output keep out
plan
group g0 : n0
group g1 : n1
group g2 : n2
group g3 : n3
group g4 : n4
store in
store in2
store in3
store a
store keep
store b
store cat
store act
store e
store out
layout
`

// An edge that is written over another one before that was last read is an error
// of the planner and of the checker, with the names of both, unless the layout says
// that both hold one value. Here % stands for "same" or nothing.
func TestOverwrites(t *testing.T) {
	for _, test := range []struct {
		layout string
		says   string // the edges and groups in the error; "" for none
	}{
		{"alias b in %", ""},
		{"alias cat act %", `edge "cat", edge "act": they share bytes, the latter is written in group 3 "g3", and then the former is read in group 4 "g4"`},
		{"alias act out %", ""},
		{"alias in in3 %", ""},
		{"alias in in2 %", `edge "in", edge "in2": they share bytes, the latter is written outside the plan, and then the former is read in group 0 "g0"`},
		{"alias a b %", `edge "a", edge "b": they share bytes, the latter is written in group 1 "g1", and then the former is read in group 2 "g2"`},
		{"alias b a %", `edge "a", edge "b"`},
		{"alias keep a %", `edge "a", edge "keep": they share bytes, the latter is written in group 0`},
		{"alias keep b %", `edge "keep", edge "b": they share bytes, the latter is written in group 1 "g1", and then the former is read outside the plan`},
		{"alias a keep same\nalias keep e %", `edge "keep", edge "e"`},
		{"alias keep b %\nalias keep e same", `edge "keep", edge "b"`},
		{"pack a b over cat %", `edge "a", edge "cat": they share bytes, the latter is written in group 2 "g2", and then the former is read in group 3 "g3"`},
		{"rowpack a b over cat %", `edge "a", edge "cat"`},
		{"pack in2 b over cat %", ""},
		{"rowpack a b\npack a over cat %", `edge "a", edge "cat"`},
		{"rowpack a b over cat %\npack a over act same", ""},
		{"rowpack a b over cat same\npack a over act %", `edge "cat", edge "act"`},
		{"rowpack a b over cat same\nalias e a %", `edge "cat", edge "e": they share bytes, the latter is written in group 3 "g3", and then the former is read in group 4 "g4"`},
		{"pack in b over cat same\nalias in a %", `edge "a", edge "cat"`},
	} {
		one := mustRead(t, overwriteBase+strings.ReplaceAll(test.layout, "%", "same"))
		plan, err := one.PlanBuffers(context.Background(), nil)
		if err != nil {
			t.Errorf("%s, of one value: %v", test.layout, err)
			continue
		}
		if err := Check(one.Circuit, one.Plan, one.Layout, plan); err != nil {
			t.Errorf("%s, of one value: %v", test.layout, err)
		}
		two := mustRead(t, overwriteBase+strings.ReplaceAll(test.layout, "%", ""))
		if _, err = two.PlanBuffers(context.Background(), nil); errors.Is(err, ErrOverwritten) != (test.says != "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %s", test.layout, err, test.says)
		}
		err = Check(two.Circuit, two.Plan, two.Layout, plan)
		edges, _, _ := strings.Cut(strings.Replace(test.says, ", edge", " and edge", 1), ":")
		if (err != nil) != (test.says != "") || err != nil && !(strings.Contains(err.Error(), string(InvariantKept)) && strings.Contains(err.Error(), edges)) {
			t.Errorf("%s: the checker: %v, want %s", test.layout, err, edges)
		}
	}
}
