package compile

import (
	"github.com/berth-go/berth/graph"
)

// A Placed value is one that a step writes, and where it lies at the largest extents.
type Placed struct {
	Value graph.Value
	// First and Last are the plan's steps that write it and that read it last,
	// directly or through a view. Last is that of the last step for an output.
	First, Last int
	Space       Space // Arena, or a port or weight that the value is a view of
	Index       int   // of the port or weight
	Offset      int64 // bytes from the start of the space to its first element
	Bytes       int64 // from there to the end of its last element
	RowStride   int64 // bytes from one row to the next; of a row as a whole if it has no others
	// Shares is the index, among the values of the program, of a value whose
	// bytes it shares on purpose, or -1. Why is "view" or "pack" if it is one.
	Shares int
	Why    string
	// InPlace says that it is written over another value.
	InPlace bool
}

// describe lists the values of the plan with their places.
func (l *lowerer) describe() {
	index := make(map[*val]int)
	last := len(l.prog.Plan.Steps) - 1
	s := l.p.largest
	for _, v := range l.p.list {
		if v.step < 0 {
			continue
		}
		p := Placed{Value: v.Value, First: v.step, Last: max(v.step, min(v.lastRead, last)), Shares: -1}
		size := int64(v.Type().DType.Size())
		lo, hi := v.layouts[s].Bounds()
		o, err := l.operand(v.Value)
		if err != nil {
			continue // steps has reported it where it matters
		}
		p.Space, p.Index = o.Space, o.Index
		p.Offset = o.Base + int64(lo)*size
		p.Bytes = int64(hi-lo) * size
		p.RowStride = p.Bytes
		root := v.root()
		if slot, ok := l.slots[root.edge]; ok && v == root {
			p.RowStride = slot.RowStride
		}
		switch v.storage {
		case reference:
			p.Why = "view"
			if i, ok := index[v.base]; ok {
				p.Shares = i
			}
		case inConcat:
			p.Why = "pack"
		}
		index[v] = len(l.prog.Values)
		l.prog.Values = append(l.prog.Values, p)
	}
	// Values that are written over each other form a row. Each shares with the
	// one before it; the first one has that link left for the concatenation
	// that the last one is a part of.
	first := make(map[*val]*val)
	for _, v := range l.p.list {
		if v.into == nil || v.extended() {
			continue
		}
		if first[v] == nil {
			first[v] = v
		}
		if v.storage == inConcat {
			l.prog.Values[index[first[v]]].Shares = index[v.into]
			continue
		}
		first[v.into] = first[v]
		into := &l.prog.Values[index[v.into]]
		into.Shares, into.InPlace = index[v], true
	}
}
