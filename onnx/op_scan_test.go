package onnx

import (
	"testing"

	"github.com/berth-go/berth/internal/wire"
)

func TestScan(t *testing.T) {
	rows := arr([]float32{1, 2, 3, 4, 5, 6}, 3, 2)
	zero := vec(0, 0)
	// sums has what is carried grow by each element, and returns it as it was.
	sums := subgraph([]wire.Node{nodeOf("Add", names{"v", "e"}, names{"w"})}, names{"v", "e"}, names{"w", "v"})
	in := values{"s": zero, "x": rows}
	delayed := subgraph(nil, names{"v", "e"}, names{"e", "v"})
	runHostTests(t, []hostTest{
		{"forward", []wire.Node{scanNode(1, names{"s", "x"}, names{"y", "z"}, sums)}, in,
			map[string]string{"y": "float32[2] 9 12", "z": "float32[3 2] 0 0 1 2 4 6"}, ""},
		{"backward", []wire.Node{scanNode(1, names{"s", "x"}, names{"y", "z"}, sums, attrInts("scan_input_directions", 1))}, in,
			map[string]string{"y": "float32[2] 9 12", "z": "float32[3 2] 0 0 5 6 8 10"}, ""},
		{"outputs backward", []wire.Node{scanNode(1, names{"s", "x"}, names{"y", "z"}, sums, attrInts("scan_output_directions", 1))}, in,
			map[string]string{"y": "float32[2] 9 12", "z": "float32[3 2] 4 6 1 2 0 0"}, ""},
		{"along the last axis", []wire.Node{scanNode(1, names{"s", "x"}, names{"y", "z"}, sums, attrInts("scan_input_axes", -1), attrInts("scan_output_axes", 1))},
			values{"s": vec(0, 0, 0), "x": rows}, map[string]string{"y": "float32[3] 3 7 11", "z": "float32[3 2] 0 1 0 3 0 5"}, ""},
		{"what is carried is the last element", []wire.Node{scanNode(1, names{"s", "x"}, names{"y", "z"}, delayed)}, in,
			map[string]string{"y": "float32[2] 5 6", "z": "float32[3 2] 0 0 1 2 3 4"}, ""},
		{"what is carried is the last column", []wire.Node{scanNode(1, names{"s", "x"}, names{"y", "z"}, delayed, attrInts("scan_input_axes", 1))},
			values{"s": vec(0, 0, 0), "x": rows}, map[string]string{"y": "float32[3] 2 4 6", "z": "float32[2 3] 0 0 0 1 3 5"}, ""},
		{"two states and two inputs", []wire.Node{scanNode(2, names{"s", "n", "x", "x"}, names{"p", "q", "r"}, subgraph([]wire.Node{
			nodeOf("Add", names{"a", "d"}, names{"u"}), nodeOf("Sub", names{"b", "e"}, names{"w"}), nodeOf("Mul", names{"d", "e"}, names{"m"})},
			names{"a", "b", "d", "e"}, names{"w", "u", "m"}), attrInts("scan_input_directions", 0, 1))}, values{"s": zero, "n": zero, "x": rows},
			map[string]string{"p": "float32[2] -3 -4", "q": "float32[2] 3 4", "r": "float32[3 2] 5 12 9 16 5 12"}, ""},
		{"no state", []wire.Node{scanNode(1, names{"x"}, names{"y"}, subgraph([]wire.Node{nodeOf("ReduceSum", names{"e"}, names{"w"}, attrInt("keepdims", 0))}, names{"e"}, names{"w"}))},
			values{"x": rows}, map[string]string{"y": "float32[3] 3 7 11"}, ""},
		{"nothing to scan", []wire.Node{scanNode(1, names{"s", "x"}, names{"y", "z"}, sums)}, values{"s": zero, "x": arr([]float32{}, 0, 2)},
			map[string]string{"y": "float32[2] 0 0", "z": "float32[0]"}, ""},
		{"strings", []wire.Node{scanNode(1, names{"s", "x"}, names{"y", "z"}, subgraph([]wire.Node{nodeOf("StringConcat", names{"v", "e"}, names{"w"})}, names{"v", "e"}, names{"w", "v"}))},
			values{"s": must(NewStrings([]string{""})), "x": words("a", "b", "c")}, map[string]string{"y": `string[] "abc"`, "z": `string[3] "" "a" "ab"`}, ""},
		{"strings outputs backward", []wire.Node{scanNode(1, names{"x"}, names{"y"}, subgraph(nil, names{"e"}, names{"e"}), attrInts("scan_output_directions", 1))},
			values{"x": words("a", "b", "c")}, map[string]string{"y": `string[3] "c" "b" "a"`}, ""},
		{"what it takes from around it", []wire.Node{nodeOf("Neg", names{"s"}, names{"k"}), scanNode(1, names{"x"}, names{"y"}, subgraph([]wire.Node{nodeOf("Add", names{"e", "k"}, names{"w"})}, names{"e"}, names{"w"}))},
			values{"s": vec(1, 1), "x": rows}, map[string]string{"y": "float32[3 2] 0 1 2 3 4 5"}, ""},
		{"inputs of other lengths", []wire.Node{scanNode(2, names{"x", "s"}, names{"y"}, subgraph(nil, names{"d", "e"}, names{"e"}))}, in, nil, "scan input 1 has 2 elements, the first 3"},
		{"a number", []wire.Node{scanNode(1, names{"x"}, names{"y"}, subgraph(nil, names{"e"}, names{"e"}))}, values{"x": num(1)}, nil, "scan input 0 is float32[], not a tensor with an axis"},
		{"no such axis", []wire.Node{scanNode(1, names{"x"}, names{"y"}, subgraph(nil, names{"e"}, names{"e"}), attrInts("scan_input_axes", 2))}, values{"x": rows}, nil, "has no axes 2 and 0"},
		{"no such direction", []wire.Node{scanNode(1, names{"x"}, names{"y"}, subgraph(nil, names{"e"}, names{"e"}), attrInts("scan_input_directions", 2))}, values{"x": rows}, nil, "has the element 2, not 0 or 1"},
		{"more scanned than there is", []wire.Node{scanNode(3, names{"x"}, names{"y"}, subgraph(nil, names{"e"}, names{"e"}))}, values{"x": rows}, nil, "the body has 1 inputs, 3 of them scanned"},
		{"too often", []wire.Node{scanNode(1, names{"x"}, names{"y"}, subgraph(nil, names{"e"}, names{"e"}))}, values{"x": arr(make([]float32, 1001))}, nil, "loops run too often"},
	})
}

// TestScanOfBatches is about the first version of Scan, which scans each row of a batch
// by itself.
func TestScanOfBatches(t *testing.T) {
	sums := subgraph([]wire.Node{nodeOf("Add", names{"v", "e"}, names{"w"})}, names{"v", "e"}, names{"w", "v"})
	x := arr([]float32{1, 2, 3, 10, 20, 30}, 2, 3, 1)
	for _, c := range []struct {
		what  string
		attrs []wire.Attribute
		in    values
		y, z  string
		err   string
	}{
		{"all", nil, values{"s": arr([]float32{0, 5}, 2, 1), "x": x}, "float32[2 1] 6 65", "float32[2 3 1] 0 1 3 5 15 35", ""},
		{"lengths", nil, values{"l": whole64(3, 1), "s": arr([]float32{0, 5}, 2, 1), "x": x}, "float32[2 1] 6 15", "float32[2 3 1] 0 1 3 5 0 0", ""},
		{"backward", []wire.Attribute{attrInts("directions", 1)}, values{"s": arr([]float32{0, 5}, 2, 1), "x": x}, "float32[2 1] 6 65", "float32[2 3 1] 0 3 5 5 35 55", ""},
		{"too long", nil, values{"l": whole64(4, 1), "s": arr([]float32{0, 5}, 2, 1), "x": x}, "", "", "row 0 has a length of 4, of 3 elements"},
		{"too few lengths", nil, values{"l": whole64(3), "s": arr([]float32{0, 5}, 2, 1), "x": x}, "", "", "sequence_lens has 1 elements, for 2 rows"},
		{"lengths that are strings", nil, values{"l": words("a", "b"), "s": arr([]float32{0, 5}, 2, 1), "x": x}, "", "", "sequence_lens: onnx: the elements of string[2] are not int64"},
		{"rows of other numbers", nil, values{"s": arr([]float32{0}, 1, 1), "x": x}, "", "", "not a tensor of 1 rows"},
	} {
		t.Run(c.what, func(t *testing.T) {
			lens := ""
			ins := names{"s", "x"}
			if c.in["l"] != nil {
				lens, ins = "l", append(ins, "l")
			}
			m, err := Parse(wire.AppendModel(nil, &wire.Model{IRVersion: 8, OpsetImports: []wire.OperatorSet{{Version: 8}},
				Graph: subgraph([]wire.Node{scanNode(1, names{lens, "s", "x"}, names{"y", "z"}, sums, c.attrs...)}, ins, names{"y", "z"})}))
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				out, err := m.RunValues(t.Context(), nil, c.in)
				test := hostTest{want: map[string]string{"y": c.y, "z": c.z}, err: c.err}
				if err != nil || c.err != "" {
					test.failed(t, err)
					return
				}
				test.check(t, "outputs", out)
			}
		})
	}
}
