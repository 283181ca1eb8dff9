package onnx

import (
	"slices"
	"strconv"
	"strings"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/linear"
	"github.com/berth-go/berth/internal/op/reduce"
	"github.com/berth-go/berth/internal/op/view"
)

// A label names an axis in an Einsum equation: a letter, or for the axes of an
// ellipsis a negative number, -1 being the innermost.
type label int

// A labelled is a value whose axes have distinct labels.
type labelled struct {
	value graph.Value
	axes  []label
}

// convertEinsum sums products over labelled axes. An axis of extent 1 stands for
// one of any extent that the label has elsewhere. Operands are combined from
// left to right, each pair by a matrix product: axes that both have and that
// are still needed are batches, those that are not needed are the depth.
func convertEinsum(c *call) []graph.Value {
	terms, out, explicit := c.equation()
	operands := make([]labelled, len(terms))
	for i, term := range terms {
		operands[i] = c.labelled(i, term)
	}
	result := outputLabels(operands, terms)
	if explicit {
		result = c.explicitLabels(operands, out)
	}
	needed := func(l label, from int) bool {
		return slices.Contains(result, l) ||
			slices.ContainsFunc(operands[from:], func(o labelled) bool { return slices.Contains(o.axes, l) })
	}
	acc := operands[0]
	for i, next := range operands[1:] {
		later := i + 2
		acc = c.sumOut(acc, func(l label) bool { return needed(l, i+1) })
		next = c.sumOut(next, func(l label) bool { return slices.Contains(acc.axes, l) || needed(l, later) })
		acc = c.contract(acc, next, func(l label) bool { return needed(l, later) })
	}
	acc = c.sumOut(acc, func(l label) bool { return slices.Contains(result, l) })
	return list(c.arrange(acc, result).value)
}

// equation splits the attribute into a term for each input and the output
// term, if it has one.
func (c *call) equation() (terms []string, out string, explicit bool) {
	text := strings.ReplaceAll(c.text("equation", ""), " ", "")
	left, out, explicit := strings.Cut(text, "->")
	terms = strings.Split(left, ",")
	if len(terms) != len(c.in) {
		c.failf("equation %q has %d terms for %d inputs", text, len(terms), len(c.in))
	}
	for _, term := range append(slices.Clone(terms), out) {
		letters := strings.Replace(term, "...", "", 1)
		for _, r := range letters {
			if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
				c.failf("equation %q: %q in the term %q", text, r, term)
			}
		}
	}
	return terms, out, explicit
}

// labels returns the labels of a term over rank axes. The ellipsis stands for
// those axes that the letters leave.
func (c *call) labels(term string, rank int) []label {
	head, tail, dots := strings.Cut(term, "...")
	more := rank - len(head) - len(tail)
	if more < 0 || more > 0 && !dots {
		c.failf("the term %q does not fit %d axes", term, rank)
	}
	var out []label
	for _, r := range head {
		out = append(out, label(r))
	}
	for i := range more {
		out = append(out, label(i-more))
	}
	for _, r := range tail {
		out = append(out, label(r))
	}
	return out
}

// labelled returns input i with its labels. Axes with the same label become
// their diagonal.
func (c *call) labelled(i int, term string) labelled {
	if !c.has(i) {
		c.failf("input %d is missing", i)
	}
	v := labelled{c.in[i], c.labels(term, c.rank(i))}
	for {
		a, b := twice(v.axes)
		if b < 0 {
			return v
		}
		s := v.value.Type().Shape
		if s[a] != s[b] {
			c.failf("input %d has shape %v, whose axes for %v have the extents %d and %d", i, c.shape(i), v.axes[a], s[a], s[b])
		}
		l := v.axes[a]
		v.value = c.one(view.Diagonal{Axis1: a, Axis2: b}, v.value)
		v.axes = append(slices.Delete(slices.Delete(v.axes, b, b+1), a, a+1), l)
	}
}

// twice returns the places of the first label that is there twice.
func twice(axes []label) (a, b int) {
	for a, l := range axes {
		if b := slices.Index(axes[a+1:], l); b >= 0 {
			return a, a + 1 + b
		}
	}
	return -1, -1
}

// outputLabels returns the labels of the output of an equation that does not
// state them: those of the ellipses, and then the letters that are there once
// in all terms together, in alphabetical order.
func outputLabels(operands []labelled, terms []string) []label {
	out := dotLabels(operands)
	letters := strings.ReplaceAll(strings.Join(terms, ""), "...", "")
	for r := 'A'; r <= 'z'; r++ {
		if strings.Count(letters, string(r)) == 1 {
			out = append(out, label(r))
		}
	}
	return out
}

// dotLabels returns the labels of the ellipses, outermost first.
func dotLabels(operands []labelled) []label {
	most := 0
	for _, o := range operands {
		for _, l := range o.axes {
			most = max(most, -int(l))
		}
	}
	out := make([]label, most)
	for i := range out {
		out[i] = label(i - most)
	}
	return out
}

// explicitLabels returns the labels of the output term.
func (c *call) explicitLabels(operands []labelled, term string) []label {
	dots := dotLabels(operands)
	if len(dots) > 0 && !strings.Contains(term, "...") {
		c.failf("the output term %q leaves out the ellipsis", term)
	}
	rank := len(strings.ReplaceAll(term, "...", "")) + len(dots)
	out := c.labels(term, rank)
	if _, again := twice(out); again >= 0 {
		c.failf("the output term %q has %v twice", term, out[again])
	}
	for _, l := range out {
		if !slices.ContainsFunc(operands, func(o labelled) bool { return slices.Contains(o.axes, l) }) {
			c.failf("the output term %q has %v, which no input has", term, l)
		}
	}
	return out
}

// extent returns the extent of an axis of v, or -1 when v does not have it.
func (v labelled) extent(l label) int {
	if axis := slices.Index(v.axes, l); axis >= 0 {
		return v.value.Type().Shape[axis]
	}
	return -1
}

// sumOut sums over the axes whose labels are not needed.
func (c *call) sumOut(v labelled, needed func(label) bool) labelled {
	var axes []int
	var kept []label
	for axis, l := range v.axes {
		if needed(l) {
			kept = append(kept, l)
		} else {
			axes = append(axes, axis)
		}
	}
	if len(axes) == 0 {
		return v
	}
	return labelled{c.one(reduce.Reduce{Kind: reduce.Sum, Axes: axes}, v.value), kept}
}

// arrange puts the axes in the order of labels, all of which v has.
func (c *call) arrange(v labelled, labels []label) labelled {
	perm := make([]int, len(labels))
	for i, l := range labels {
		perm[i] = slices.Index(v.axes, l)
	}
	if slices.IsSorted(perm) {
		return v
	}
	return labelled{c.one(view.Permute{Perm: perm}, v.value), labels}
}

// contract multiplies a and b and sums over the axes that both have and that
// are not needed. An extent of 1 stands for any. The result has the batch axes
// first, then those of a alone, then those of b alone.
func (c *call) contract(a, b labelled, needed func(label) bool) labelled {
	// Where an axis to be summed has the extent 1 in one of the two, the factor
	// does not vary along it, and only the other one has to be summed.
	stretched := func(l label) bool {
		m, n := a.extent(l), b.extent(l)
		return !needed(l) && m != n && (m == 1 && n >= 0 || n == 1 && m >= 0)
	}
	a, b = c.sumOut(a, func(l label) bool { return !stretched(l) }), c.sumOut(b, func(l label) bool { return !stretched(l) })
	var batch, depth, rows, cols []label
	for _, l := range a.axes {
		switch {
		case !slices.Contains(b.axes, l):
			rows = append(rows, l)
		case needed(l):
			batch = append(batch, l)
		default:
			depth = append(depth, l)
		}
	}
	for _, l := range b.axes {
		if !slices.Contains(a.axes, l) {
			cols = append(cols, l)
		}
	}
	a = c.arrange(a, slices.Concat(batch, rows, depth))
	b = c.arrange(b, slices.Concat(batch, depth, cols))
	as, bs := a.value.Type().Shape, b.value.Type().Shape
	for i, l := range batch {
		if as[i] != bs[i] && as[i] != 1 && bs[i] != 1 {
			c.failf("extents %d and %d are not the same for %v", as[i], bs[i], l)
		}
	}
	for i, l := range depth {
		if m, n := as[len(batch)+len(rows)+i], bs[len(batch)+i]; m != n {
			c.failf("extents %d and %d are not the same for %v", m, n, l)
		}
	}
	free := slices.Concat(as[len(batch):len(batch)+len(rows)], bs[len(batch)+len(depth):])
	matrix := func(v labelled, rows int) graph.Value {
		s := v.value.Type().Shape
		outer, inner := s[len(batch):len(batch)+rows], s[len(batch)+rows:]
		return c.reshape(v.value, append(s[:len(batch):len(batch)], outer.Elems(), inner.Elems())...)
	}
	product := c.one(linear.MatMul{}, matrix(a, len(rows)), matrix(b, len(depth)))
	s := product.Type().Shape
	return labelled{
		c.reshape(product, slices.Concat(s[:len(batch)], free)...),
		slices.Concat(batch, rows, cols),
	}
}

// String returns the letter in quotes, or the place in an ellipsis.
func (l label) String() string {
	if l < 0 {
		return "axis " + strconv.Itoa(int(l)) + " of the ellipsis"
	}
	return strconv.QuoteRune(rune(l))
}
