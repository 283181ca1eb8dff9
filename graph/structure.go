package graph

import (
	"encoding/binary"
	"math"
	"reflect"
	"slices"
)

// A Structure is all of a graph that rewrites and plans look at: which values were asked
// for, the nodes with their ops, attributes, types and labels, what they read of each
// other, and of each leaf the layout, but not the elements. A leaf of one element is the
// exception, whose value is part of the structure, since rewrites compute with it.
type Structure struct {
	// Key holds all of this. Two graphs have the same key if and only if they have the
	// same structure.
	Key []byte
	// Leaves are the leaves in an order that graphs of one structure have in common.
	Leaves []*Node
}

// StructureOf returns the structure of the graph that roots, none of them the zero Value,
// are values of. It reports false where the structure does not say what a run does:
// where a cache is not filled, an input has no storage, or an op has attributes that
// are not made of numbers, strings, slices, arrays and structs.
func StructureOf(roots []Value) (Structure, bool) {
	w := structureWriter{numbers: make(map[*Node]int), known: true}
	w.Key = make([]byte, 0, 512)
	for _, v := range roots {
		w.from(v.node)
	}
	w.values(roots)
	return w.Structure, w.known
}

type structureWriter struct {
	Structure
	numbers map[*Node]int // of what is written, from 1 on
	stack   []waiting
	known   bool
}

// waiting is a node that is written once its inputs are.
type waiting struct {
	node *Node
	leaf *Leaf   // its storage, looked at once: a cache may be filled meanwhile
	ins  []Value // those that have yet to be looked at
}

// from writes a node and all that it reads, inputs first, unless they are written. A graph has
// no circles, and what a filled cache was computed from is no part of it.
func (w *structureWriter) from(root *Node) {
	for w.push(root); len(w.stack) > 0 && w.known; {
		top := &w.stack[len(w.stack)-1]
		if len(top.ins) > 0 {
			in := top.ins[0]
			top.ins = top.ins[1:]
			w.push(in.node)
			continue
		}
		w.node(top.node, top.leaf)
		w.numbers[top.node] = len(w.numbers) + 1
		w.stack = w.stack[:len(w.stack)-1]
	}
}

func (w *structureWriter) push(n *Node) {
	if n == nil || w.numbers[n] != 0 {
		return
	}
	next := waiting{node: n, leaf: n.Stored()}
	if next.leaf == nil {
		_, input := n.op.(Input)
		w.known = w.known && !input && n.cache == nil
		next.ins = n.ins
	}
	w.stack = append(w.stack, next)
}

// What follows writes each thing such that it is plain where it ends: a type has its fields, and
// what has any number of parts begins with that number.

func (w *structureWriter) int(i int) { w.Key = binary.AppendVarint(w.Key, int64(i)) }

func (w *structureWriter) string(s string) {
	w.int(len(s))
	w.Key = append(w.Key, s...)
}

func (w *structureWriter) ints(list []int) {
	w.int(len(list))
	for _, i := range list {
		w.int(i)
	}
}

func (w *structureWriter) values(list []Value) {
	w.int(len(list))
	for _, v := range list {
		w.int(w.numbers[v.node]) // 0 for the zero Value
		w.int(v.index)
	}
}

func (w *structureWriter) node(n *Node, leaf *Leaf) {
	w.op(n.op)
	w.string(n.label)
	w.int(len(n.outs))
	for _, t := range n.outs {
		w.int(int(t.DType))
		w.ints(t.Shape)
	}
	if leaf == nil {
		w.values(n.ins)
		return
	}
	w.Leaves = append(w.Leaves, n)
	window := leaf.Window(n.outs[0])
	w.ints(window.Layout.Strides)
	w.int(window.Layout.Offset)
	if n.outs[0].Shape.Elems() == 1 {
		w.Key = append(w.Key, window.Data...)
	}
}

// op writes the type of o, by its address, and the attributes.
func (w *structureWriter) op(o Op) {
	w.Key = binary.AppendUvarint(w.Key, uint64(reflect.ValueOf(reflect.TypeOf(o)).Pointer()))
	w.attribute(reflect.ValueOf(o))
}

func (w *structureWriter) attribute(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			w.int(1)
		} else {
			w.int(0)
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		w.Key = binary.AppendVarint(w.Key, v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		w.Key = binary.AppendUvarint(w.Key, v.Uint())
	case reflect.Float32, reflect.Float64:
		w.Key = binary.LittleEndian.AppendUint64(w.Key, math.Float64bits(v.Float())) // which tells -0 from 0
	case reflect.String:
		w.string(v.String())
	case reflect.Slice, reflect.Array:
		w.int(v.Len())
		for i := range v.Len() {
			w.attribute(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			w.attribute(v.Field(i))
		}
	default:
		w.known = false
	}
}

// Window returns the part of the storage of a leaf of type t that its elements span, with the layout in that part.
func (l Leaf) Window(t Type) Leaf {
	lo, hi := l.Layout.Bounds()
	size := t.DType.Size()
	if l.Layout.Offset -= lo; lo == hi { // there is nothing to point at
		l.Layout.Offset = 0
	}
	l.Data = l.Data[lo*size : hi*size : hi*size]
	return l
}

// Detached returns roots of a graph of the same structure as that of roots, whose leaves, and nothing
// else of it, have no storage, in the order of [Structure.Leaves]: but for those of one element, each of which
// has a copy. Leaves has the leaves of the graph of roots.
func Detached(roots []Value, leaves []*Node) (detached []Value, standIns []*Node, err error) {
	r, err := NewRewriter(roots)
	if err != nil {
		return nil, nil, err
	}
	for _, n := range leaves {
		leaf := n.Stored().Window(n.outs[0])
		if n.outs[0].Shape.Elems() == 1 {
			leaf.Data = slices.Clone(leaf.Data)
		} else {
			leaf.Data = nil
		}
		standIn := *n
		standIn.id, standIn.ins, standIn.leaf, standIn.cache = lastID.Add(1), nil, &storedLeaf{Leaf: leaf}, nil
		standIns = append(standIns, &standIn)
		r.Replace(n.Output(0), standIn.Output(0))
	}
	if err := r.Walk(func(*Node) error { return nil }); err != nil {
		return nil, nil, err
	}
	return r.Roots(), standIns, nil
}
