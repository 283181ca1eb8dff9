package onnx

import (
	"fmt"
	"slices"
	"strings"
)

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
	// Training alone.
	{"is_test", 1, 6, "BatchNormalization Dropout"},
	{"momentum", 1, newest, "BatchNormalization"},
	{"ratio", 1, 11, "Dropout"},
	{"seed", 12, newest, "Dropout"},
	// The precision of steps in between, which is never less.
	{"stash_type", 21, newest, "GroupNormalization"},
	{"stash_type", 23, newest, "RMSNormalization"},
	// What happens to numbers that 8-bit floating-point types cannot hold.
	{"saturate", 19, newest, "Cast CastLike"},
	{"round_mode", 24, newest, "Cast CastLike"},
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
