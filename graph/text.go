package graph

import (
	"fmt"
	"strconv"
	"strings"
)

// Format prints the graph that outs are values of, in the form that [Parse]
// reads: a line for each node, inputs before the nodes that read them, and a
// line for each of outs. The function op prints an op with its attributes.
//
//	n1 = input "x" float32[2 3]
//	n2 = constant float32[2 3] strides=[1 2] data=[1 2 3 4 5 6]
//	n3 = map{program="t0=add(x0,x1)"} n1 n2 : float32[2 3] "sum"
//	n4 = top_k{k=1} n3 : float32[2 1], int64[2 1]
//	out n4.1
//
// Nodes are numbered in the order of the text, so that the same graph prints
// the same whenever it was built. "n4.1" is output 1 of n4, "_" an input that
// is absent, the types behind the colon are those of the outputs, and a label
// stands at the end in quotes.
// What a cache holds is not printed.
//
// A constant states strides and offset where its layout is not dense at
// offset 0, and the elements of its storage that the layout spans: one by
// one, in the forms of generated data that [Parse] describes where they are
// the same to the last bit, or else as base64.
func Format(outs []Value, op func(Op) string) string {
	w := textWriter{op: op, numbers: make(map[*Node]int)}
	for i, n := range Nodes(outs...) {
		w.numbers[n] = i + 1
		w.node(n)
	}
	for _, v := range outs {
		w.WriteString("out ")
		w.value(v)
		w.WriteByte('\n')
	}
	return w.String()
}

type textWriter struct {
	strings.Builder
	op      func(Op) string
	numbers map[*Node]int
}

func (w *textWriter) value(v Value) {
	switch {
	case v.IsZero():
		w.WriteByte('_')
	case v.index == 0:
		fmt.Fprintf(w, "n%d", w.numbers[v.node])
	default:
		fmt.Fprintf(w, "n%d.%d", w.numbers[v.node], v.index)
	}
}

func (w *textWriter) node(n *Node) {
	fmt.Fprintf(w, "n%d = ", w.numbers[n])
	label := n.label
	switch o := n.op.(type) {
	case Input:
		fmt.Fprintf(w, "input %s %v", strconv.Quote(o.Key), n.outs[0])
		if label == o.Key {
			label = ""
		}
	case Constant:
		w.constant(n)
	default:
		w.WriteString(w.op(n.op))
		for _, in := range n.ins {
			w.WriteByte(' ')
			w.value(in)
		}
		sep := " : "
		for _, t := range n.outs {
			w.WriteString(sep)
			w.WriteString(t.String())
			sep = ", "
		}
	}
	if label != "" {
		w.WriteByte(' ')
		w.WriteString(strconv.Quote(label))
	}
	w.WriteByte('\n')
}

func (w *textWriter) constant(n *Node) {
	t, l := n.outs[0], n.leaf.Layout
	fmt.Fprintf(w, "constant %v", t)
	lo, hi := l.Bounds()
	l.Offset -= lo
	switch {
	case lo == hi: // nothing is stored
		l.Offset = 0
	case !l.IsDense():
		fmt.Fprintf(w, " strides=%v", l.Strides)
		if l.Offset != 0 {
			fmt.Fprintf(w, " offset=%d", l.Offset)
		}
	}
	size := t.DType.Size()
	w.WriteString(" data=")
	w.elements(t, n.leaf.Data[lo*size:hi*size])
}
