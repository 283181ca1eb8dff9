package onnx

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/wire"
)

// attr returns the attribute of the given name, or nil, after checking its kind.
func (c *call) attr(name string, kind wire.AttrKind) *wire.Attribute {
	c.asked = append(c.asked, name)
	i := slices.IndexFunc(c.node.node.Attributes, func(a wire.Attribute) bool { return a.Name == name })
	if i < 0 {
		return nil
	}
	a := &c.node.node.Attributes[i]
	if a.Kind != kind {
		c.failf("attribute %q is of kind %v, not %v", name, a.Kind, kind)
	}
	return a
}

// hasAttr reports whether the node has an attribute, of any kind.
func (c *call) hasAttr(name string) bool {
	c.asked = append(c.asked, name)
	return slices.ContainsFunc(c.node.node.Attributes, func(a wire.Attribute) bool { return a.Name == name })
}

// require fails when the node lacks an attribute that has no default.
func (c *call) require(name string) {
	if !c.hasAttr(name) {
		c.failf("attribute %q is missing", name)
	}
}

// attrSince fails if the node has an attribute that its operator only has
// from a version on. Without it the node would silently mean something else.
func (c *call) attrSince(version int64, names ...string) {
	for _, name := range names {
		if c.opset() < version && c.hasAttr(name) {
			c.failf("attribute %s does not exist before version %d of the operator", name, version)
		}
	}
}

// attrUntil fails if the node has an attribute that its operator no longer
// has after a version.
func (c *call) attrUntil(version int64, names ...string) {
	for _, name := range names {
		if c.opset() > version && c.hasAttr(name) {
			c.failf("attribute %s does not exist after version %d of the operator", name, version)
		}
	}
}

// attrOr returns what get reads of an attribute, or def when it is absent.
func attrOr[T any](c *call, name string, kind wire.AttrKind, def T, get func(a *wire.Attribute) T) T {
	if a := c.attr(name, kind); a != nil {
		return get(a)
	}
	return def
}

// int returns an integer attribute, or def.
func (c *call) int(name string, def int) int {
	return attrOr(c, name, wire.AttrInt, def, func(a *wire.Attribute) int { return c.toInt(a.Int) })
}

// flag returns an integer attribute that stands for a truth value.
func (c *call) flag(name string, def bool) bool {
	return attrOr(c, name, wire.AttrInt, def, func(a *wire.Attribute) bool { return a.Int != 0 })
}

// ints returns a list of integers, or nil when the attribute is absent.
func (c *call) ints(name string) []int {
	return attrOr(c, name, wire.AttrInts, nil, func(a *wire.Attribute) []int { return c.toInts(a.Ints) })
}

// orAll returns a list of n integers, or n times def when the attribute is
// absent.
func (c *call) orAll(name string, n, def int) []int {
	v := c.ints(name)
	if v == nil {
		return slices.Repeat([]int{def}, n)
	}
	if len(v) != n {
		c.failf("attribute %s has %d numbers, want %d", name, len(v), n)
	}
	return v
}

// float returns a floating-point attribute, or def.
func (c *call) float(name string, def float64) float64 {
	return attrOr(c, name, wire.AttrFloat, def, func(a *wire.Attribute) float64 { return float64(a.Float) })
}

// floats returns a list of floating-point numbers, or nil.
func (c *call) floats(name string) []float64 {
	return attrOr(c, name, wire.AttrFloats, nil, func(a *wire.Attribute) []float64 {
		out := make([]float64, len(a.Floats))
		for i, f := range a.Floats {
			out[i] = float64(f)
		}
		return out
	})
}

// text returns a string attribute, or def.
func (c *call) text(name, def string) string {
	return attrOr(c, name, wire.AttrString, def, func(a *wire.Attribute) string { return string(a.Bytes) })
}

// texts returns a list of strings, or nil when the attribute is absent.
func (c *call) texts(name string) []string {
	return attrOr(c, name, wire.AttrStrings, nil, func(a *wire.Attribute) []string {
		out := make([]string, len(a.Strings))
		for i, s := range a.Strings {
			out[i] = string(s)
		}
		return out
	})
}

// choice returns what a string attribute stands for, or what its default does.
func choice[T any](c *call, name, def string, among map[string]T) T {
	text := c.text(name, def)
	v, ok := among[text]
	if !ok {
		c.failf("attribute %q is %q, not one of %q at opset %d", name, text, sortedKeys(among), c.opset())
	}
	return v
}

// dtype returns an attribute that names an element type, or def.
func (c *call) dtype(name string, def dtype.Type) dtype.Type {
	a := c.attr(name, wire.AttrInt)
	if a == nil {
		return def
	}
	if a.Int < math.MinInt32 || a.Int > math.MaxInt32 {
		c.failf("attribute %q: %d is not an element type", name, a.Int)
	}
	return must(elementType(wire.DataType(a.Int)))
}

// tensor returns a tensor attribute as a constant, or the zero Value.
func (c *call) tensor(name string) graph.Value {
	a := c.attr(name, wire.AttrTensor)
	if a == nil {
		return graph.Value{}
	}
	return must(c.imp.model.leaf(a.Tensor))
}

func (c *call) toInt(v int64) int {
	n := int(v)
	if int64(n) != v {
		c.failf("%d does not fit this machine's int", v)
	}
	return n
}

func (c *call) toInts(list []int64) []int {
	out := make([]int, len(list))
	for i, v := range list {
		out[i] = c.toInt(v)
	}
	return out
}

// An errAttributes is the error about attributes that an operator does not
// have. Whoever wrote them meant something by it, which would silently be lost.
type errAttributes struct{ names []string }

func (e *errAttributes) Error() string {
	if len(e.names) == 1 {
		return fmt.Sprintf("the operator has no attribute %q", e.names[0])
	}
	return fmt.Sprintf("the operator has no attributes %q", e.names)
}

// ignored lists the attributes that operators have and that change nothing
// here, or only change something beside others, so that a converter need not
// ask for them. The last opset is that of the last version of the operator with
// the attribute.
var ignored = []struct {
	attribute string
	first     int64
	last      int64
	operators string
}{
	// Which inputs may be overwritten: a hint to executors.
	{"consumed_inputs", 1, 5, "Abs Add BatchNormalization Ceil Clip Div Dropout Elu Exp Floor HardSigmoid InstanceNormalization " +
		"LeakyRelu Log Max Mean Min Mul Neg PRelu Reciprocal Relu Reshape Selu Sigmoid Sqrt Sub Sum Tanh"},
	// Where the second operand begins, asked for when it broadcasts.
	{"axis", 1, 6, "Add And Div Equal Greater Less Mul Or Pow Sub Xor"},
	// Whether there is an output, which its name says as well.
	{"output_sequence", 1, 6, "GRU LSTM RNN"},
	// Training alone.
	{"is_test", 1, 6, "BatchNormalization Dropout"},
	{"momentum", 1, newest, "BatchNormalization"},
	{"ratio", 1, 11, "Dropout"},
	{"seed", 12, newest, "Dropout"},
	// The precision of steps in between, which is never less.
	{"stash_type", 21, newest, "GroupNormalization"},
	{"stash_type", 23, newest, "RMSNormalization"},
}

// newest stands for the last opset there will be.
const newest = 1 << 62

// unknownAttributes returns an error about the attributes of the node that its
// converter, which has run, did not ask for, and that are not ignored rightly.
// Names that begin with two underscores are notes of other programs, which the
// ONNX checker lets pass as well.
func (c *call) unknownAttributes() error {
	var unknown []string
	for i := range c.node.node.Attributes {
		name := c.node.node.Attributes[i].Name
		if slices.Contains(c.asked, name) || strings.HasPrefix(name, "__") || isIgnored(name, c.node.row.name, c.opset()) {
			continue
		}
		unknown = append(unknown, name)
	}
	if unknown == nil {
		return nil
	}
	return &errAttributes{unknown}
}

func isIgnored(attribute, operator string, opset int64) bool {
	for _, g := range ignored {
		if g.attribute == attribute && g.first <= opset && opset <= g.last &&
			slices.Contains(strings.Fields(g.operators), operator) {
			return true
		}
	}
	return false
}
