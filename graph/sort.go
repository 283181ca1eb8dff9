package graph

import (
	"errors"
	"fmt"
	"strings"
)

// ErrCycle is wrapped by the error of [Sort] when a node depends on itself.
var ErrCycle = errors.New("cycle")

// Sort returns every node reachable from roots, each once, inputs before the
// nodes that read them: the post-order of a depth-first walk that takes the
// roots, and the inputs of each node, in the order given. The walk keeps its
// own stack, so depth costs memory and nothing else.
//
// NumInputs and input describe the graph; input may report false to leave an
// input out. A node that depends on itself is an error that wraps [ErrCycle] and
// names the nodes on the way back to it, as the verb %v prints them.
func Sort[N comparable](roots []N, numInputs func(N) int, input func(n N, i int) (N, bool)) ([]N, error) {
	type frame struct {
		node N
		next int // the input to look at next
	}
	const open, done = 1, 2
	state := make(map[N]uint8)
	var order []N
	var stack []frame
	for _, root := range roots {
		if state[root] == done {
			continue
		}
		state[root] = open
		stack = append(stack, frame{node: root})
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.next == numInputs(top.node) {
				state[top.node] = done
				order = append(order, top.node)
				stack = stack[:len(stack)-1]
				continue
			}
			in, ok := input(top.node, top.next)
			top.next++
			if !ok {
				continue
			}
			switch state[in] {
			case open:
				var names []string
				for _, f := range stack {
					if len(names) > 0 || f.node == in {
						names = append(names, fmt.Sprint(f.node))
					}
				}
				return nil, fmt.Errorf("%w: %s", ErrCycle, circle(names))
			case 0:
				state[in] = open
				stack = append(stack, frame{node: in})
			}
		}
	}
	return order, nil
}

// Nodes returns every node that values are made of, each once, inputs before the
// nodes that read them, in the order of [Sort]: leaves, and what filled caches
// hide, among them. The zero Value is made of none.
func Nodes(values ...Value) []*Node {
	nodes, err := sortValues(values, (*Node).NumInputs)
	if err != nil {
		panic("graph: " + err.Error()) // a node can only read nodes that were there before it
	}
	return nodes
}

// sortValues is [Sort] of what values are made of, where a node has as many inputs
// as numInputs says.
func sortValues(values []Value, numInputs func(*Node) int) ([]*Node, error) {
	var roots []*Node
	for _, v := range values {
		if !v.IsZero() {
			roots = append(roots, v.node)
		}
	}
	return Sort(roots, numInputs, func(n *Node, i int) (*Node, bool) { return n.ins[i].node, !n.ins[i].IsZero() })
}

// circle says that each of the named nodes reads the next one, and the last the
// first. Of a long list it names the first few.
func circle(names []string) string {
	const shown = 8
	var b strings.Builder
	b.WriteString(names[0])
	if len(names) > 1 {
		b.WriteString(" reads " + names[1])
	}
	for _, name := range names[min(2, len(names)):min(shown, len(names))] {
		b.WriteString(", which reads " + name)
	}
	if more := len(names) - shown; more > 0 {
		fmt.Fprintf(&b, ", and so on over %d more", more)
	}
	if len(names) > 1 {
		b.WriteString(", which")
	}
	b.WriteString(" reads " + names[0])
	return b.String()
}
