package onnx

import (
	"maps"
	"slices"

	"github.com/berth-go/berth/graph"
)

// A symbol stands for a value while graphs are built. The zero symbol is an optional
// value that is absent or empty.
type symbol struct {
	kind   symbolKind
	tensor graph.Value // of a tensor
	typ    graph.Type  // of a tensor that lies in a slot, if it is known
	text   bool        // the tensor holds the numbers of strings
	items  []symbol    // of a sequence
	slot   int         // of a value in a slot
	opaque bool        // what is in the slot is a map
}

type symbolKind uint8

const (
	noValue  symbolKind = iota // an optional that is absent or empty
	tensor                     // a value of the graph being built
	sequence                   // of items
	slotted                    // lies in a slot, and has no place in a graph so far
	late                       // made by a node that waits
)

func tensorSymbol(v graph.Value) symbol { return symbol{kind: tensor, tensor: v} }

// isConstant reports whether the symbol is the same in every run.
func (s symbol) isConstant() bool {
	return s.kind == noValue || s.kind == tensor && s.tensor.Node().Stored() != nil ||
		s.kind == sequence && !slices.ContainsFunc(s.items, func(i symbol) bool { return !i.isConstant() })
}

// each returns the symbol with what change makes of its parts that are no sequences.
func (s symbol) each(change func(symbol) symbol) symbol {
	if s.kind != sequence {
		return change(s)
	}
	s.items = slices.Clone(s.items)
	for i := range s.items {
		s.items[i] = s.items[i].each(change)
	}
	return s
}

// A space holds the values of one graph of the model, by name. Names that it does not
// have are those of the space around it.
type space struct {
	outer  int // -1: none
	values map[string]symbol
}

// spaces are numbered; 0 is that of the model, or of a body that runs by itself.
type spaces []space

// clone returns spaces that may be changed.
func (s spaces) clone() spaces {
	out := slices.Clone(s)
	for i := range out {
		out[i].values = maps.Clone(out[i].values)
	}
	return out
}

// enter adds a space within outer and returns its number.
func (s *spaces) enter(outer int) int {
	*s = append(*s, space{outer, make(map[string]symbol)})
	return len(*s) - 1
}

// find returns the value of a name in a space, or what is absent.
func (s spaces) find(in int, name string) symbol {
	for ; in >= 0 && name != ""; in = s[in].outer {
		if v, ok := s[in].values[name]; ok {
			return v
		}
	}
	return symbol{}
}
