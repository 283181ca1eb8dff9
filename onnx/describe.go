package onnx

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/berth-go/berth"
)

// A SessionMemory says what a session takes, in bytes. A session keeps what it has made
// for all shapes seen so far: the figures grow until each shape has come once.
type SessionMemory struct {
	Arena     int64 `json:"arena_bytes"`              // in which all segments work, one at a time
	Values    int64 `json:"values_bytes"`             // between segments, in memory of the session
	Scratch   int64 `json:"scratch_bytes_per_worker"` // of each worker of the session
	Weights   int64 `json:"weights_bytes"`            // shared by all sessions of the model
	Prepacked int64 `json:"prepacked_weights_bytes"`  // weights once more, in the form of their kernels; shared by all sessions
}

// String prints the figures, one a line.
func (m SessionMemory) String() string {
	return fmt.Sprintf("arena        %12d bytes for each session\nvalues       %12d between segments\nscratch      %12d for each worker\nweights      %12d shared\nprepacked    %12d of them once more, shared\n",
		m.Arena, m.Values, m.Scratch, m.Weights, m.Prepacked)
}

// Memory returns what the session takes after the runs so far. What lies in arrays of the
// caller is not counted. All figures are 0 before the first run, and while one goes on.
func (s *Session) Memory() SessionMemory {
	if s == nil || s.frame == nil || !s.state.CompareAndSwap(idle, running) {
		return SessionMemory{}
	}
	defer s.state.Store(idle)
	return s.memory()
}

func (s *Session) memory() SessionMemory {
	m := SessionMemory{Arena: int64(len(s.arena))}
	weights, forms, seen := make(map[*byte]bool), make(map[any]bool), make(map[*byte]bool)
	first := func(seen map[*byte]bool, data []byte) bool {
		if cap(data) == 0 || seen[&data[:1][0]] {
			return false
		}
		seen[&data[:1][0]] = true
		return true
	}
	count := func(a *Array) {
		if a != nil && !a.frozen && first(seen, a.data) {
			m.Values += int64(cap(a.data))
		}
	}
	for _, v := range s.frame.env[:min(len(s.inputs), len(s.frame.env))] {
		eachArray(v, func(a *Array) { first(seen, a.data) }) // the caller's
	}
	for _, a := range s.given {
		if a != nil {
			m.Values += int64(cap(a.data))
		}
	}
	s.frame.visit(func(stage *stage, st *stageState) {
		if stage.program != nil {
			mem := stage.program.Memory()
			m.Scratch = max(m.Scratch, mem.Scratch)
			stage.segment.EachPrepacked(func(form any, size int) {
				if !forms[form] {
					forms[form] = true
					m.Prepacked += int64(size)
				}
			})
			for _, w := range inside.Compiled(stage.program).Weights {
				if data := w.Stored().Data; first(weights, data) {
					m.Weights += int64(len(data))
				}
			}
		}
		for _, a := range st.out {
			count(a)
		}
		for i := range st.steps {
			for _, v := range st.steps[i].out {
				eachArray(v, count)
			}
			if l, ok := st.steps[i].state.(*looping); ok {
				l.eachArray(count)
			}
		}
	})
	return m
}

// visit calls visit with the stages that the session has something of, also those of loops.
func (f *frame) visit(visit func(*stage, *stageState)) {
	for stage, st := range f.states {
		visit(stage, st)
		for i := range st.steps {
			if l, ok := st.steps[i].state.(*looping); ok {
				l.frame.visit(visit)
			}
		}
	}
}

// eachArray calls visit with the arrays that a value is made of.
func eachArray(v Value, visit func(*Array)) {
	switch v := v.(type) {
	case *Array:
		visit(v)
	case Sequence:
		for _, item := range v {
			eachArray(item, visit)
		}
	case *Map:
		visit(v.Keys)
		visit(v.Values)
	}
}

// eachArray calls visit with the arrays that are the loop's own.
func (l *looping) eachArray(visit func(*Array)) {
	visit(l.count)
	visit(l.going)
	for _, pair := range l.spare {
		visit(pair[0])
		visit(pair[1])
	}
	for _, list := range [][]*Array{l.targets, l.stacks, l.slices} {
		for _, a := range list {
			visit(a)
		}
	}
}

// A SessionDescription is the last run of a session as plain data.
type SessionDescription struct {
	// Segments are in the order of the run. Those of the body of a loop stand behind
	// the segment that the loop follows, once, as the last iteration ran them.
	Segments []Segment
	Memory   SessionMemory
}

// A Segment is a part of a run that is compiled in full, and what runs on the host after
// it. All segments of a session work in one arena.
type Segment struct {
	// Program is the plan of the segment. One that computes nothing has no steps.
	Program berth.Description
	// Body is the node, a loop, that runs the segment as a part of its body, as in
	// `Loop "decode"`; empty for the graph of the model.
	Body string
	// Values are what the segment writes for others to read. Their sizes are known
	// before the segment runs.
	Values []HeapValue
	// Host are the nodes that run after the segment.
	Host []HostStep
}

// A HostStep is a node that runs between segments, since no plan holds what it does.
type HostStep struct {
	Op   string `json:"op"`
	Name string `json:"name"`
	// Values are its outputs. What sizes they have, the step decides when it runs.
	Values []HeapValue `json:"values"`
}

// A HeapValue is a value that lies outside the arena: in memory of the session, which is
// used again by later runs, or in an array of the caller.
type HeapValue struct {
	Name  string `json:"name"`
	Type  string `json:"type"` // as TypeOf names it
	Bytes int64  `json:"bytes"`
	// Output says that it is an output of the model, in an array of the caller.
	Output bool `json:"output"`
}

// Describe returns what the last run did: which segments it went through, where the values
// of each lie in the arena, what ran on the host, and what lay on the heap. It is empty
// before the first run, and while one goes on.
func (s *Session) Describe() SessionDescription {
	if s == nil || s.frame == nil || !s.state.CompareAndSwap(idle, running) {
		return SessionDescription{}
	}
	defer s.state.Store(idle)
	return SessionDescription{Segments: s.frame.describe(""), Memory: s.memory()}
}

// describe returns the segments of the last run of the frame.
func (f *frame) describe(body string) []Segment {
	if len(f.path) == 0 {
		return nil
	}
	var list []Segment
	names := f.names()
	outputs := make(map[int]bool)
	if body == "" {
		for _, v := range f.path[len(f.path)-1].results {
			outputs[v.slot] = outputs[v.slot] || v.kind == slotted
		}
	}
	value := func(slot int) HeapValue {
		v := f.env[slot]
		h := HeapValue{Name: names[slot], Type: TypeOf(v), Output: outputs[slot]}
		eachArray(v, func(a *Array) {
			h.Bytes += int64(len(a.data))
			for _, text := range a.text {
				h.Bytes += int64(len(text))
			}
		})
		return h
	}
	for _, s := range f.path {
		seg := Segment{Program: s.program.Describe(), Body: body, Values: []HeapValue{}, Host: []HostStep{}}
		rename(&seg.Program, names)
		for _, o := range s.out {
			seg.Values = append(seg.Values, value(o.slot))
		}
		var bodies []Segment
		for i, step := range s.steps {
			n := step.node.node
			h := HostStep{Op: n.OpType, Name: n.Name, Values: []HeapValue{}}
			for _, slot := range step.out {
				if slot >= 0 {
					h.Values = append(h.Values, value(slot))
				}
			}
			seg.Host = append(seg.Host, h)
			if st := f.states[s]; st != nil {
				if l, ok := st.steps[i].state.(*looping); ok {
					bodies = append(bodies, l.frame.describe(h.title())...)
				}
			}
		}
		list = append(append(list, seg), bodies...)
	}
	return list
}

// names returns the names that the model gives to what lies in the slots of the path.
func (f *frame) names() []string {
	names := make([]string, len(f.env))
	set := func(v symbol, name string) {
		if v.kind == slotted && names[v.slot] == "" {
			names[v.slot] = name
		}
	}
	for i, e := range f.tree.entries {
		set(symbol{kind: slotted, slot: i}, e.name)
	}
	for _, s := range f.path {
		for _, o := range s.opens {
			for i, slot := range o.items {
				set(symbol{kind: slotted, slot: slot}, fmt.Sprintf("%s[%d]", names[o.slot], i))
			}
		}
		for i, v := range s.results {
			set(v, f.tree.body.graph.Outputs[i].Name)
		}
		for _, step := range s.steps {
			for i, name := range step.node.node.Outputs {
				set(symbol{kind: slotted, slot: max(step.out[i], 0)}, name)
			}
			for i, name := range step.node.node.Inputs {
				set(step.in[i], name)
			}
		}
		for _, sc := range s.spaces {
			for _, name := range sortedKeys(sc.values) {
				set(sc.values[name], name)
			}
		}
	}
	for slot := range names {
		names[slot] = cmp.Or(names[slot], fmt.Sprintf("value %d", slot))
	}
	return names
}

// rename gives the inputs and outputs of a segment, whose names are slots, the names of
// the model.
func rename(d *berth.Description, names []string) {
	ports := make(map[string]string)
	for what, list := range map[string][]berth.Port{"input ": d.Inputs, "output ": d.Outputs} {
		for i := range list {
			name := names[slotOf(list[i].Name)]
			ports[what+list[i].Name] = what + name
			list[i].Name = name
		}
	}
	for i := range d.Steps {
		for _, list := range [][]string{d.Steps[i].Inputs, d.Steps[i].Outputs} {
			for k, name := range list {
				list[k] = cmp.Or(ports[name], name)
			}
		}
	}
}

// String prints a line for each segment, step, slot, value and host step, and the memory.
func (d SessionDescription) String() string {
	var b strings.Builder
	for i, s := range d.Segments {
		fmt.Fprintf(&b, "segment %d", i)
		if s.Body != "" {
			fmt.Fprintf(&b, " in the body of %s", s.Body)
		}
		fmt.Fprintf(&b, ": arena %d bytes, lower bound %d\n%v", s.Program.Arena, s.Program.LowerBound, s)
	}
	b.WriteString(d.Memory.String())
	return b.String()
}

// String prints a line for each step, slot, value and host step.
func (s Segment) String() string {
	var b strings.Builder
	b.WriteString(s.Program.Steps.String())
	for _, slot := range s.Program.Slots {
		fmt.Fprintln(&b, slot)
	}
	for _, v := range s.Values {
		fmt.Fprintf(&b, "heap   %v\n", v)
	}
	for _, h := range s.Host {
		fmt.Fprintln(&b, h)
	}
	return b.String()
}

// String prints the step as in `host   NonZero "find" -> rows int64[1 3], 24 bytes`.
func (h HostStep) String() string {
	values := make([]string, len(h.Values))
	for i, v := range h.Values {
		values[i] = v.String()
	}
	return fmt.Sprintf("host   %s -> %s", h.title(), strings.Join(values, "; "))
}

func (h HostStep) title() string {
	if h.Name == "" {
		return h.Op
	}
	return fmt.Sprintf("%s %q", h.Op, h.Name)
}

// String prints the value as in "rows int64[1 3], 24 bytes".
func (v HeapValue) String() string {
	text := fmt.Sprintf("%s %s, %d bytes", v.Name, v.Type, v.Bytes)
	if v.Output {
		text += ", an output"
	}
	return text
}
