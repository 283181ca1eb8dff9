package graph

import (
	"errors"
	"fmt"
)

// ErrCycle is wrapped by the error of [Sort] when a node depends on itself.
var ErrCycle = errors.New("cycle")

// Sort returns every node reachable from roots, each once, inputs before the
// nodes that read them: the post-order of a depth-first walk that takes the
// roots, and the inputs of each node, in the order given. The walk keeps its
// own stack, so depth costs memory and nothing else.
//
// NumInputs and input describe the graph; input may report false to leave an
// input out. A node that depends on itself is an error that wraps [ErrCycle].
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
				return nil, fmt.Errorf("%w: %v depends on itself", ErrCycle, in)
			case 0:
				state[in] = open
				stack = append(stack, frame{node: in})
			}
		}
	}
	return order, nil
}
