package onnx

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/wire"
)

// TestRandomHost runs random models of branches, loops, scans, sequences, strings and
// plain operators, and compares them with an interpreter that goes from node to node:
// it has each plain one computed by a model of that node alone, and does by itself what
// holds graphs. Inputs change from run to run, so that stages are found again, built and
// left.
func TestRandomHost(t *testing.T) {
	seeds := 150
	if testing.Short() {
		seeds = 20
	}
	failed := 0
	for seed := range seeds {
		d := &drawer{r: rand.New(rand.NewPCG(uint64(seed), 7))}
		in := values{"x": d.floats(), "y": d.floats(), "m": count(d.r.Int64N(4)), "c": flag(d.r.IntN(2) == 0), "t": words("a", "b")}
		g := d.model(in)
		m, err := Parse(wire.AppendModel(nil, &wire.Model{IRVersion: 8, OpsetImports: []wire.OperatorSet{{Version: 21}}, Graph: g}))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		s := newTestSession(t, m, &SessionOptions{Workers: 1 + seed%2, Poison: true})
		s.frame.tree.most = 1 + seed%9
		out := make(values)
		for run := range 4 {
			if run > 0 && d.r.IntN(2) == 0 {
				out = make(values)
			}
			want, wantErr := interpret(g, maps.Clone(in))
			err := s.Run(t.Context(), in, out)
			if (err != nil) != (wantErr != nil) {
				t.Errorf("seed %d, run %d: error %v, want %v", seed, run, err, wantErr)
				break
			}
			if err != nil {
				failed++
				out = make(values)
			}
			for i, o := range g.Outputs {
				if err == nil && show(out[o.Name]) != show(want[i]) {
					t.Errorf("seed %d, run %d: output %q is\n\t%s, want\n\t%s\n%s", seed, run, o.Name, show(out[o.Name]), show(want[i]), describeGraph(g, ""))
					break
				}
			}
			switch d.r.IntN(3) {
			case 0:
				in["x"] = d.floats()
			case 1:
				in["m"], in["c"] = count(d.r.Int64N(4)), flag(d.r.IntN(2) == 0)
			case 2:
				in["t"] = words(string(rune('a'+d.r.IntN(26))), "b", "c")
			}
		}
	}
	if failed > seeds {
		t.Errorf("%d of %d runs fail: the models say little", failed, 4*seeds)
	}
}

// describeGraph prints the nodes of a graph, a line each.
func describeGraph(g *wire.Graph, indent string) string {
	var b strings.Builder
	for i := range g.Nodes {
		n := &g.Nodes[i]
		fmt.Fprintf(&b, "%s%v = %s%v\n", indent, n.Outputs, n.OpType, n.Inputs)
		for _, sub := range subgraphs(n) {
			b.WriteString(describeGraph(sub, indent+"    "))
		}
	}
	fmt.Fprintf(&b, "%sreturn", indent)
	for _, o := range g.Outputs {
		fmt.Fprintf(&b, " %s", o.Name)
	}
	return b.String() + "\n"
}

// A drawer draws models. It knows of each value only what kind it is of.
type drawer struct {
	r     *rand.Rand
	named int
	depth int
}

// Visible are the values that nodes may read where one is drawn, by kind.
type visible struct {
	floats, ints, flags, words, lists names // ints and flags are single numbers
}

func (d *drawer) floats() *Array {
	v := make([]float32, 1+d.r.IntN(4))
	for i := range v {
		v[i] = float32(d.r.IntN(7) - 3)
	}
	return vec(v...)
}

func (d *drawer) name() string {
	d.named++
	return fmt.Sprint("v", d.named)
}

func (d *drawer) pick(list names) string { return list[d.r.IntN(len(list))] }

func (d *drawer) model(in values) *wire.Graph {
	seen := &visible{floats: names{"x", "y"}, ints: names{"m"}, flags: names{"c"}, words: names{"t"}}
	nodes := d.nodes(seen, 4+d.r.IntN(8))
	outs := append(append(names{d.pick(seen.floats), d.pick(seen.floats), d.pick(seen.ints)}, seen.lists...), seen.words...)
	slices.Sort(outs)
	outs = slices.Compact(outs)
	d.r.Shuffle(len(outs), func(i, k int) { outs[i], outs[k] = outs[k], outs[i] })
	return subgraph(nodes, slices.Sorted(maps.Keys(in)), outs)
}

func (d *drawer) nodes(seen *visible, n int) []wire.Node {
	var all []wire.Node
	for range n {
		all = append(all, d.node(seen)...)
	}
	return all
}

// inner draws the nodes of a graph within the one that has seen, and returns what is
// there behind them.
func (d *drawer) inner(seen *visible) ([]wire.Node, *visible) {
	d.depth++
	defer func() { d.depth-- }()
	in := &visible{slices.Clone(seen.floats), slices.Clone(seen.ints), slices.Clone(seen.flags), slices.Clone(seen.words), slices.Clone(seen.lists)}
	return d.nodes(in, 1+d.r.IntN(3)), in
}

func (d *drawer) node(seen *visible) []wire.Node {
	out := d.name()
	choice := d.r.IntN(18)
	if d.depth > 2 {
		choice = d.r.IntN(13)
	}
	switch choice {
	case 0, 1:
		a := d.pick(seen.floats)
		seen.floats = append(seen.floats, out)
		return []wire.Node{nodeOf([]string{"Neg", "Abs", "Identity", "Relu"}[d.r.IntN(4)], names{a}, names{out})}
	case 2: // of one shape, whatever it is
		a := d.pick(seen.floats)
		seen.floats = append(seen.floats, out)
		return []wire.Node{nodeOf([]string{"Add", "Mul", "Sub"}[d.r.IntN(3)], names{a, a}, names{out})}
	case 3:
		a, b := d.pick(seen.floats), d.pick(seen.floats)
		seen.floats = append(seen.floats, out)
		return []wire.Node{nodeOf("Concat", names{a, b}, names{out}, attrInt("axis", 0))}
	case 4: // what is positive, by its place
		a, i, at := d.pick(seen.floats), d.name(), d.name()
		k, axes, half := d.name(), d.name(), d.name()
		seen.floats = append(seen.floats, out)
		return []wire.Node{nodeOf("Relu", names{a}, names{k}), nodeOf("NonZero", names{k}, names{i}), constOf(axes, []int64{0}),
			nodeOf("Squeeze", names{i, axes}, names{at}), nodeOf("Gather", names{a, at}, names{half}), nodeOf("Neg", names{half}, names{out})}
	case 5: // a number from data, not too large
		a, s, k := d.pick(seen.floats), d.name(), d.name()
		seen.ints = append(seen.ints, out)
		return []wire.Node{nodeOf("Size", names{a}, names{s}), scalar64(k, 1+int64(d.r.IntN(3))), nodeOf("Min", names{s, k}, names{out})}
	case 6:
		seen.ints = append(seen.ints, out)
		return []wire.Node{scalar64(out, int64(d.r.IntN(3)))}
	case 7:
		a, b := d.pick(seen.ints), d.pick(seen.ints)
		seen.flags = append(seen.flags, out)
		return []wire.Node{nodeOf([]string{"Less", "Equal"}[d.r.IntN(2)], names{a, b}, names{out})}
	case 8:
		a, b := d.pick(seen.words), d.pick(seen.words)
		seen.words = append(seen.words, out)
		if d.r.IntN(2) == 0 {
			return []wire.Node{nodeOf("Concat", names{a, b}, names{out}, attrInt("axis", 0))}
		}
		return []wire.Node{nodeOf("StringConcat", names{a, a}, names{out})}
	case 9: // from numbers to strings
		a := d.pick(seen.floats)
		seen.words = append(seen.words, out)
		return []wire.Node{nodeOf("Cast", names{a}, names{out}, attrInt("to", int64(wire.String)))}
	case 10: // a list
		a, b := d.pick(seen.floats), d.pick(seen.floats)
		seen.lists = append(seen.lists, out)
		return []wire.Node{nodeOf("SequenceConstruct", names{a, b}, names{out})}
	case 11:
		if len(seen.lists) == 0 {
			return nil
		}
		list := d.pick(seen.lists)
		switch d.r.IntN(4) {
		case 0:
			k := d.name()
			seen.floats = append(seen.floats, out)
			return []wire.Node{scalar64(k, int64(-1)), nodeOf("SequenceAt", names{list, k}, names{out})}
		case 1:
			a := d.pick(seen.floats)
			seen.lists = append(seen.lists, out)
			return []wire.Node{nodeOf("SequenceInsert", names{list, a, d.pick(seen.ints)}, names{out})}
		case 2:
			seen.ints = append(seen.ints, out)
			return []wire.Node{nodeOf("SequenceLength", names{list}, names{out})}
		}
		seen.floats = append(seen.floats, out)
		return []wire.Node{nodeOf("ConcatFromSequence", names{list}, names{out}, attrInt("axis", 0))}
	case 12:
		a, b, eq := d.pick(seen.words), d.name(), d.name()
		max1 := d.name()
		seen.flags = append(seen.flags, out)
		return []wire.Node{nodeOf("Equal", names{a, a}, names{eq}), nodeOf("Cast", names{eq}, names{b}, attrInt("to", 7)),
			nodeOf("ReduceMin", names{b}, names{max1}, attrInt("keepdims", 0)), nodeOf("Cast", names{max1}, names{out}, attrInt("to", 9))}
	case 13, 14:
		then, a := d.inner(seen)
		other, b := d.inner(seen)
		f, w := d.name(), d.name()
		seen.floats, seen.words = append(seen.floats, f), append(seen.words, w)
		return []wire.Node{ifNode(d.pick(seen.flags), names{f, w}, subgraph(then, nil, names{d.pick(a.floats), d.pick(a.words)}), subgraph(other, nil, names{d.pick(b.floats), d.pick(b.words)}))}
	case 15, 16:
		i, going, f, w, l := d.name(), d.name(), d.name(), d.name(), d.name()
		ins := &visible{append(slices.Clone(seen.floats), f, f), append(slices.Clone(seen.ints), i), seen.flags, append(slices.Clone(seen.words), w), append(slices.Clone(seen.lists), l)}
		nodes, in := d.inner(ins)
		of, ow, ol, k, size := d.name(), d.name(), d.name(), d.name(), d.name()
		cond, scanned := going, d.name()
		if d.r.IntN(3) == 0 {
			cond = d.pick(in.flags)
		}
		nodes = append(nodes, nodeOf("Size", names{d.pick(in.floats)}, names{size}))
		from := d.pick(seen.floats)
		list, words := d.name(), d.pick(seen.words)
		loop := loopNode(names{d.pick(seen.ints), d.pick(append(slices.Clone(seen.flags), "")), from, words, list}, names{of, ow, ol, scanned, k},
			subgraph(nodes, names{i, going, f, w, l}, names{cond, d.pick(in.floats), d.pick(in.words), d.pick(in.lists), size, i}))
		head := nodeOf("SequenceConstruct", names{from}, names{list})
		seen.floats, seen.words, seen.lists = append(seen.floats, of), append(seen.words, ow), append(seen.lists, ol)
		return []wire.Node{head, loop}
	}
	f, e := d.name(), d.name()
	of, stacked := d.name(), d.name()
	ins := &visible{append(slices.Clone(seen.floats), f), seen.ints, seen.flags, seen.words, seen.lists}
	nodes, in := d.inner(ins)
	scan := scanNode(1, names{d.pick(seen.floats), d.pick(seen.floats)}, names{of, stacked}, subgraph(nodes, names{f, e}, names{d.pick(in.floats), e}),
		attrInts("scan_input_directions", int64(d.r.IntN(2))), attrInts("scan_output_directions", int64(d.r.IntN(2))))
	seen.floats = append(seen.floats, of, stacked)
	return []wire.Node{scan}
}

// interpret runs a graph within values that it may see, node by node.
func interpret(g *wire.Graph, seen values) ([]Value, error) {
	for i := range g.Nodes {
		n := &g.Nodes[i]
		ins := make([]Value, len(n.Inputs))
		for k, name := range n.Inputs {
			ins[k] = seen[name]
		}
		outs, err := interpretNode(n, ins, seen)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", n.Name, err)
		}
		for k, name := range n.Outputs {
			seen[name] = outs[k]
		}
	}
	outs := make([]Value, len(g.Outputs))
	for i, o := range g.Outputs {
		outs[i] = seen[o.Name]
	}
	return outs, nil
}

func interpretNode(n *wire.Node, ins []Value, seen values) ([]Value, error) {
	body := func(name string, args ...Value) ([]Value, error) {
		for i := range n.Attributes {
			if a := &n.Attributes[i]; a.Name == name {
				inner := maps.Clone(seen)
				for k, in := range a.Graph.Inputs {
					inner[in.Name] = args[k]
				}
				return interpret(a.Graph, inner)
			}
		}
		return nil, errors.New("no body")
	}
	backward := func(name string) bool {
		return slices.ContainsFunc(n.Attributes, func(a wire.Attribute) bool { return a.Name == name && a.Ints[0] == 1 })
	}
	switch n.OpType {
	case "If":
		if kernel.Cast[bool](ins[0].(*Array).data)[0] {
			return body("then_branch")
		}
		return body("else_branch")
	case "Loop":
		trips, going := kernel.Cast[int64](ins[0].(*Array).data)[0], true
		if ins[1] != nil {
			going = kernel.Cast[bool](ins[1].(*Array).data)[0]
		}
		carried := ins[2:]
		var stacks [2][]Value
		for i := int64(0); i < trips && going; i++ {
			outs, err := body("body", append([]Value{count(i), flag(going)}, carried...)...)
			if err != nil {
				return nil, err
			}
			going, carried = kernel.Cast[bool](outs[0].(*Array).data)[0], outs[1:4]
			stacks[0], stacks[1] = append(stacks[0], outs[4]), append(stacks[1], outs[5])
		}
		first, err := stackOf(stacks[0])
		if err != nil {
			return nil, err
		}
		second, err := stackOf(stacks[1])
		return append(slices.Clone(carried), first, second), err
	case "Scan":
		x := ins[1].(*Array)
		if len(x.dims) == 0 {
			return nil, errors.New("no axis")
		}
		state := ins[0]
		var stack []Value
		for i := range x.dims[0] {
			if backward("scan_input_directions") {
				i = x.dims[0] - 1 - i
			}
			size := len(x.data) / x.dims[0]
			outs, err := body("body", state, &Array{typ: x.typ, dims: x.dims[1:].Clone(), data: slices.Clone(x.data[i*size : (i+1)*size])})
			if err != nil {
				return nil, err
			}
			state, stack = outs[0], append(stack, outs[1])
		}
		if backward("scan_output_directions") {
			slices.Reverse(stack)
		}
		all, err := stackOf(stack)
		return []Value{state, all}, err
	}
	// A model of this node alone.
	g := subgraph([]wire.Node{*n}, nil, n.Outputs)
	in := make(values)
	for i, name := range n.Inputs {
		if in[name] == nil {
			g.Inputs = append(g.Inputs, wire.ValueInfo{Name: name})
		}
		in[name] = ins[i]
	}
	m, err := Parse(wire.AppendModel(nil, &wire.Model{IRVersion: 8, OpsetImports: []wire.OperatorSet{{Version: 21}}, Graph: g}))
	if err != nil {
		return nil, err
	}
	out, err := m.RunValues(context.Background(), &SessionOptions{Workers: 1}, in)
	if err != nil {
		return nil, err
	}
	outs := make([]Value, len(n.Outputs))
	for i, name := range n.Outputs {
		outs[i] = out[name]
	}
	return outs, nil
}

// stackOf returns tensors of one shape along a new first axis.
func stackOf(list []Value) (Value, error) {
	if len(list) == 0 {
		return &Array{typ: dtype.Float32, dims: []int{0}}, nil // what is declared says no more
	}
	first := list[0].(*Array)
	s := &Array{typ: first.typ, dims: append([]int{len(list)}, first.dims...)}
	for _, v := range list {
		a := v.(*Array)
		if a.typ != first.typ || !a.dims.Equal(first.dims) {
			return nil, errors.New("unlike shapes")
		}
		s.data = append(s.data, a.data...)
	}
	return s, nil
}
