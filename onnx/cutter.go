package onnx

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/bridge"
	"github.com/berth-go/berth/internal/extent"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/wire"
	"github.com/berth-go/berth/shape"
)

// A cutter takes what an importer cannot convert now, and makes a stage of what it can.
type cutter struct {
	stage   *stage
	limits  *SessionOptions
	waits   []item
	demands []graph.Value
	leaves  map[*graph.Node]int // the slots that inputs of the graph are in
	env     []Value
}

// build makes the stage that follows s for the values in the slots.
func (s *stage) build(ctx context.Context, limits *SessionOptions, env []Value) (*stage, error) {
	n := &stage{tree: s.tree, number: s.number}
	cut := &cutter{stage: n, limits: limits, leaves: make(map[*graph.Node]int), env: env}
	imp := newImporter(ctx, s.tree.model)
	imp.cut = cut
	imp.spaces = s.spaces.clone()
	values := make(map[int]symbol)
	for _, slot := range s.typed {
		v, err := cut.open(slot, env[slot])
		if err != nil {
			return nil, err
		}
		if s == &s.tree.root && v.kind == noValue {
			v = s.tree.entries[slot].fallback
		}
		values[slot] = v
	}
	for _, slot := range s.known {
		a := env[slot].(*Array)
		leaf, err := graph.NewConstant(graph.Type{DType: a.typ, Shape: slices.Clone(a.dims)},
			graph.Leaf{Layout: shape.Dense(slices.Clone(a.dims)), Data: append(kernel.Alloc(len(a.data))[:0], a.data...)})
		if err != nil {
			return nil, err
		}
		values[slot] = symbol{kind: tensor, tensor: leaf.Output(0), text: a.ids}
	}
	for _, sc := range imp.spaces {
		for name, v := range sc.values {
			var failed error
			sc.values[name] = v.each(func(v symbol) symbol {
				if v.kind != slotted {
					return v
				}
				known, ok := values[v.slot]
				if !ok && v.typ.DType.Valid() {
					var err error
					if known, err = cut.leaf(v.slot, v.typ, v.text); err != nil {
						failed = err
						return v
					}
					values[v.slot], ok = known, true
				}
				if !ok {
					return v
				}
				return known
			})
			if failed != nil {
				return nil, failed
			}
		}
	}
	imp.queue = slices.Clone(s.waits)
	slices.Reverse(imp.queue)
	if err := imp.run(); err != nil {
		return nil, err
	}
	return n, cut.finish(imp)
}

// open returns the symbol of a value in a slot.
func (cut *cutter) open(slot int, v Value) (symbol, error) {
	switch v := v.(type) {
	case *Array:
		return cut.leaf(slot, graph.Type{DType: v.typ, Shape: slices.Clone(v.dims)}, v.ids)
	case Sequence:
		o := opening{slot: slot, items: make([]int, len(v))}
		for i := range v {
			o.items[i] = cut.stage.number + i
		}
		cut.stage.number += len(v)
		cut.stage.opens = append(cut.stage.opens, o)
		s := symbol{kind: sequence, items: make([]symbol, len(v))}
		for i, item := range v {
			var err error
			if s.items[i], err = cut.open(o.items[i], item); err != nil {
				return symbol{}, err
			}
		}
		return s, nil
	case *Map:
		return symbol{kind: slotted, slot: slot, opaque: true}, nil
	}
	return symbol{}, nil
}

// leaf returns an input of the graph for what is in a slot.
func (cut *cutter) leaf(slot int, t graph.Type, text bool) (symbol, error) {
	n, err := graph.NewInput(strconv.Itoa(slot), t)
	if err != nil {
		return symbol{}, err
	}
	cut.leaves[n] = slot
	return symbol{kind: tensor, tensor: n.Output(0), text: text}, nil
}

// wait leaves an item to the next stage.
func (cut *cutter) wait(imp *importer, it item) {
	cut.waits = append(cut.waits, it)
	values := imp.spaces[it.space].values
	for _, j := range it.joins {
		values[j.name] = symbol{kind: late}
	}
	if it.node != nil {
		for _, name := range it.node.node.Outputs {
			if name != "" {
				values[name] = symbol{kind: late}
			}
		}
	}
}

// demand has the next stage know the elements of those values in list that v is computed
// from.
func (cut *cutter) demand(imp *importer, v graph.Value, list []graph.Value) {
	seen := make(map[graph.Value]bool)
	var visit func(v graph.Value)
	visit = func(v graph.Value) {
		if v.IsZero() || seen[v] || !imp.dependsOnInput(v) {
			return
		}
		seen[v] = true
		if slices.Contains(list, v) {
			if !slices.Contains(cut.demands, v) {
				cut.demands = append(cut.demands, v)
			}
			return
		}
		for i := range v.Node().NumInputs() {
			visit(v.Node().Input(i))
		}
	}
	visit(v)
}

// finish makes the stage of what has been converted.
func (cut *cutter) finish(imp *importer) error {
	s := cut.stage
	placed := make(map[graph.Value]int) // the slots of what the segment computes
	place := func(v symbol) symbol {
		if v.kind != tensor || v.isConstant() {
			return v
		}
		slot, ok := cut.leaves[v.tensor.Node()]
		if !ok {
			if slot, ok = placed[v.tensor]; !ok {
				slot = s.newSlot()
				placed[v.tensor] = slot
				s.out = append(s.out, output{slot, v.tensor.Type(), v.text, -1})
			}
		}
		return symbol{kind: slotted, slot: slot, typ: v.tensor.Type(), text: v.text}
	}
	for _, step := range s.steps {
		for i := range step.in {
			step.in[i] = step.in[i].each(place)
		}
	}
	for _, v := range cut.demands {
		s.known = append(s.known, place(tensorSymbol(v)).slot)
	}
	live := make(map[part]bool)
	for _, it := range cut.waits {
		it.uses(func(p part) { live[imp.spaces.owner(p)] = true })
	}
	for i, sc := range imp.spaces {
		for _, name := range sortedKeys(sc.values) {
			switch v := sc.values[name]; {
			case !live[part{i, name}] || v.kind == late:
				if i > 0 || v.kind == late || !cut.isResult(name) {
					delete(sc.values, name)
				}
			default:
				v.each(func(v symbol) symbol {
					if v.kind == slotted && !v.opaque && !slices.Contains(s.typed, v.slot) {
						s.typed = append(s.typed, v.slot)
					}
					return v
				})
			}
		}
	}
	for _, sc := range imp.spaces {
		for _, name := range sortedKeys(sc.values) {
			sc.values[name] = sc.values[name].each(place)
		}
	}
	if len(cut.waits) > 0 && len(s.typed)+len(s.known) == 0 {
		return fmt.Errorf("%d nodes wait for nothing that the run makes", len(cut.waits))
	}
	outputs := s.tree.body.graph.Outputs
	for k := range outputs {
		v := imp.spaces.find(0, outputs[k].Name)
		for i := range s.out {
			if v.kind == slotted && s.out[i].slot == v.slot && s.out[i].result < 0 {
				s.out[i].result = k
			}
		}
	}
	if s.spaces, s.waits = imp.spaces, cut.waits; len(s.waits) == 0 {
		s.results, s.constants = make([]symbol, len(outputs)), make([]Value, len(outputs))
		for k, o := range outputs {
			if s.results[k] = imp.spaces.find(0, o.Name); s.results[k].isConstant() {
				s.constants[k] = s.results[k].value(nil)
			}
		}
		s.spaces = nil
	}
	return cut.compile(imp.ctx, placed)
}

func (s *stage) newSlot() int {
	s.number++
	return s.number - 1
}

// isResult reports whether the body returns the value of a name.
func (cut *cutter) isResult(name string) bool {
	return slices.ContainsFunc(cut.stage.tree.body.graph.Outputs, func(o wire.ValueInfo) bool { return o.Name == name })
}

// uses calls use with the names, and the space that they are looked up in, that the item
// reads, also those that the subgraphs of its node capture.
func (it item) uses(use func(part)) {
	for _, j := range it.joins {
		for _, p := range j.parts {
			use(p)
		}
	}
	if it.node == nil {
		return
	}
	for _, name := range it.node.node.Inputs {
		use(part{it.space, name})
	}
	for _, g := range subgraphs(it.node.node) {
		captured(g, func(name string) { use(part{it.space, name}) })
	}
}

// owner returns the space that a name seen in p has its value in.
func (s spaces) owner(p part) part {
	for in := p.space; in >= 0; in = s[in].outer {
		if _, ok := s[in].values[p.name]; ok {
			return part{in, p.name}
		}
	}
	return p
}

// compile compiles the segment that computes the values placed.
func (cut *cutter) compile(ctx context.Context, placed map[graph.Value]int) error {
	s := cut.stage
	if len(s.out) == 0 {
		return nil
	}
	outs, names := make([]graph.Value, len(s.out)), make([]string, len(s.out))
	for i, o := range s.out {
		names[i] = strconv.Itoa(o.slot)
	}
	for v, slot := range placed {
		outs[slices.IndexFunc(s.out, func(o output) bool { return o.slot == slot })] = v
	}
	var ins []graph.Value
	for _, n := range graph.Nodes(outs...) {
		if _, ok := cut.leaves[n]; ok {
			ins = append(ins, n.Output(0))
		}
	}
	if err := checkPorts(ins, outs); err != nil {
		return err
	}
	for _, o := range s.out {
		if err := cut.limits.room(o.typ.DType, o.typ.Shape); err != nil {
			return err
		}
	}
	build := func(extent.Point) ([]graph.Value, []graph.Value, error) { return outs, ins, nil }
	prog, err := inside.Compile(ctx, bridge.Graph{Outputs: names, Build: build}, &berth.CompileOptions{
		MaxArena: cut.limits.MaxBytes, Without: cut.limits.Without,
	})
	if err != nil {
		return err
	}
	for _, p := range prog.Inputs() {
		s.in = append(s.in, slotOf(p.Name))
	}
	s.program, s.segment = prog, inside.Prepared(prog)
	return nil
}

// slotOf returns the slot that an input or output of a segment is named after.
func slotOf(name string) int {
	slot, err := strconv.Atoi(name)
	if err != nil {
		panic(err)
	}
	return slot
}
