package main

import (
	"slices"
	"strings"
)

// A joined function does in one pass what several functions of float32 do one after the
// other, each rounding as it does alone: the first on its operands, and the next on the
// result and operands of their own. So half types are rounded where they are computed.
type joined struct {
	names   []string
	scalars []int
}

// The last operand of most is the same for all lanes: a bias, a scale, a constant.
var joinedFunctions = []joined{
	{[]string{"mul", "add"}, []int{0, 0b110}},
	{[]string{"mul", "add", ""}, []int{0, 0b110}},
	{[]string{"add", ""}, []int{0, 0b10}},
	{[]string{"sub", ""}, []int{0, 0b10}},
	{[]string{"mul", ""}, []int{0, 0b10}},
	{[]string{"div", ""}, []int{0, 0b10}},
	{[]string{"relu", ""}, []int{0}},
	{[]string{"clip", ""}, []int{0, 0b110}},
}

// withJoined returns functions and those joined of them; an empty name stands for the
// rounding to each of the half types.
func withJoined(functions []function) []function {
	all := slices.Clone(functions)
	for _, j := range joinedFunctions {
		for _, half := range []string{"round_float16", "round_bfloat16"} {
			names := slices.Clone(j.names)
			if last := len(names) - 1; names[last] == "" {
				names[last] = half
			} else if half != "round_float16" {
				continue
			}
			all = append(all, join(functions, names, j.scalars))
		}
	}
	return all
}

// join returns the function that does those of the given names.
func join(functions []function, names []string, scalars []int) function {
	parts := make([]*function, len(names))
	f := function{name: strings.Join(names, "+"), widths: single, arity: 1, scalars: scalars, short: true}
	for i, name := range names {
		at := slices.IndexFunc(functions, func(f function) bool { return f.name == name })
		parts[i] = &functions[at]
		f.arity += parts[i].arity - 1
		f.short = f.short && parts[i].short
	}
	f.body = func(g *generator, v *vector, x []value) value {
		y, rest := x[0], x[1:]
		for _, part := range parts {
			y = part.body(g, v, append([]value{y}, rest[:part.arity-1]...))
			rest = rest[part.arity-1:]
		}
		return y
	}
	return f
}
