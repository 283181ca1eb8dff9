package onnx

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/internal/op/ops"
	"github.com/berth-go/berth/internal/op/view"
	"github.com/berth-go/berth/internal/wire"
	"github.com/berth-go/berth/shape"
)

// A call is one node being converted: what a converter sees. Its methods do
// not return errors. One that fails unwinds to [call.convert], so that a
// converter reads like the operator's specification.
type call struct {
	imp     *importer
	node    *node
	space   int           // that the node is in
	in      []graph.Value // an absent optional input is the zero Value
	symbols []symbol      // the inputs of converters of values; see valueOps
	asked   []string      // the attributes that the converter asked for

	outs    []symbol      // of converters of values
	words   []graph.Value // outputs that are numbers of strings
	entered bool          // the outputs are made by nodes in the queue
}

// failure carries an error up to convert.
type failure struct{ err error }

// convert calls the node's converter, and refuses attributes that it does not
// know.
func (c *call) convert() (outs []symbol, err error) {
	defer func() {
		switch f := recover().(type) {
		case nil:
		case failure:
			err = f.err
		default:
			panic(f)
		}
	}()
	if c.node.function != nil {
		c.function()
		return nil, nil
	}
	if c.node.row.values {
		c.node.row.convert(c)
		return c.outs, c.unknownAttributes()
	}
	return c.onTensors(c.node.row.convert), c.unknownAttributes()
}

// onTensors returns what a converter of tensors makes of the inputs.
func (c *call) onTensors(convert converter) (outs []symbol) {
	text := c.tensors()
	for _, v := range convert(c) {
		var s symbol
		if !v.IsZero() {
			s = symbol{kind: tensor, tensor: v, text: text || slices.Contains(c.words, v)}
		}
		outs = append(outs, s)
	}
	return outs
}

// errWaits is the error of a converter that needs a value which is not there before the
// segment has run.
var errWaits = errors.New("waits for the host")

// tensors checks that the inputs are tensors, and reports whether the outputs are ones
// of strings.
func (c *call) tensors() (text bool) {
	for i, s := range c.symbols {
		switch {
		case s.kind == slotted:
			c.wait(i)
		case s.kind == sequence:
			c.failf("input %d %q is a sequence, the operator takes tensors", i, c.node.node.Inputs[i])
		case s.kind == noValue && i < c.node.row.min:
			c.failf("input %d names %q, which is absent", i, c.node.node.Inputs[i])
		}
		text = text || s.text
	}
	if !text {
		return false
	}
	rule, known := textOperators[opName(c.node.node)]
	if !known {
		c.failf("element %w by this operator: %v", ErrType, wire.String)
	}
	for i, s := range c.symbols {
		holds := rule.elements == nil || slices.Contains(rule.elements, i)
		if s.kind == tensor && s.text != holds {
			c.failf("input %d %q holds %s, beside %s", i, c.node.node.Inputs[i], textOrNumbers[s.text], textOrNumbers[!s.text])
		}
	}
	if rule.moves && c.text("reduction", "none") != "none" {
		c.failf("attribute \"reduction\" is %q, with elements that are strings", c.text("reduction", ""))
	}
	return rule.moves
}

var textOrNumbers = map[bool]string{true: "strings", false: "numbers"}

// A textRule says what an operator on tensors does with strings, of which it sees the
// numbers; see texts. One that moves does nothing but move elements, so that the outputs
// are strings too. Others look at shapes or whether elements are equal; which of their
// outputs are strings, their converters say in [call.words].
type textRule struct {
	moves    bool
	elements []int // the inputs that hold the elements, of which all are strings or none; nil: all inputs
}

var (
	movesFirst = textRule{true, []int{0}}
	looksFirst = textRule{false, []int{0}}
)

// textOperators are the operators on tensors that take strings as well.
var textOperators = map[string]textRule{
	"Concat":          {moves: true},
	"Where":           {true, []int{1, 2}},
	"OneHot":          {true, []int{2}},
	"Scatter":         {true, []int{0, 2}},
	"ScatterElements": {true, []int{0, 2}},
	"ScatterND":       {true, []int{0, 2}},
	"DepthToSpace":    movesFirst,
	"Expand":          movesFirst,
	"Flatten":         movesFirst,
	"Gather":          movesFirst,
	"GatherElements":  movesFirst,
	"GatherND":        movesFirst,
	"Reshape":         movesFirst,
	"ReverseSequence": movesFirst,
	"Slice":           movesFirst,
	"SpaceToDepth":    movesFirst,
	"Split":           movesFirst,
	"Squeeze":         movesFirst,
	"Tile":            movesFirst,
	"Transpose":       movesFirst,
	"Unsqueeze":       movesFirst,

	"Equal":           {moves: false},
	"Shape":           looksFirst,
	"Size":            looksFirst,
	"TfIdfVectorizer": looksFirst,

	mlDomain + ".ArrayFeatureExtractor": movesFirst,
	mlDomain + ".CategoryMapper":        looksFirst,
	mlDomain + ".LabelEncoder":          looksFirst,
	mlDomain + ".OneHotEncoder":         looksFirst,
}

// isText reports whether input i is a tensor of strings.
func (c *call) isText(i int) bool { return c.symbols[i].text }

// wait has the node converted after the segment, with input i known by then.
func (c *call) wait(i int) {
	if s := c.symbols[i]; s.kind == slotted && s.opaque {
		c.failf("input %d %q is a map, which the operator does not take", i, c.node.node.Inputs[i])
	}
	check(errWaits)
}

// must returns v, unless there is an error: then it unwinds to convert.
func must[T any](v T, err error) T {
	check(err)
	return v
}

// check unwinds to convert if there is an error.
func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

func (c *call) failf(format string, args ...any) { check(fmt.Errorf(format, args...)) }

// opset returns the version of the operators that the node is from.
func (c *call) opset() int64 { return c.node.opset }

// input returns input i, or the zero Value when it is absent.
func (c *call) input(i int) graph.Value {
	if i < len(c.in) {
		return c.in[i]
	}
	return graph.Value{}
}

// has reports whether input i is there.
func (c *call) has(i int) bool { return !c.input(i).IsZero() }

// rank returns the number of axes of input i.
func (c *call) rank(i int) int { return len(c.in[i].Type().Shape) }

// shape returns the extents of input i, which must not be changed.
func (c *call) shape(i int) shape.Shape { return c.in[i].Type().Shape }

// axis returns a counted from 0 for the given rank.
func (c *call) axis(a, rank int) int { return must(shape.Axis(a, rank)) }

// axes returns a list of axes counted from 0. None may be there twice.
func (c *call) axes(list []int, rank int) []int {
	out := make([]int, len(list))
	for i, a := range list {
		if out[i] = c.axis(a, rank); slices.Contains(out[:i], out[i]) {
			c.failf("axes %v name axis %d twice", list, out[i])
		}
	}
	return out
}

// upTo returns the numbers 0 to n-1.
func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// wants reports whether output i is named, that is, used.
func (c *call) wants(i int) bool {
	return i < len(c.node.node.Outputs) && c.node.node.Outputs[i] != ""
}

// numOutputs returns how many outputs the node names.
func (c *call) numOutputs() int { return len(c.node.node.Outputs) }

// scalars returns the elements of input i, a list at most, in row-major order,
// because a shape depends on them.
func (c *call) scalars(i int) []kernel.Scalar {
	t := c.in[i].Type()
	if c.symbols[i].text {
		c.failf("input %d %q holds strings, not numbers", i, c.node.node.Inputs[i])
	}
	if n := t.Shape.Elems(); n > mostListed {
		c.failf("input %d has %d elements; a list has at most %d", i, n, mostListed)
	}
	known, err := c.imp.known(c.in[i])
	if err != nil {
		c.failf("input %d %q: %w", i, c.node.node.Inputs[i], err)
	}
	leaf := known.Node().Leaf()
	data := kernel.Compact(leaf.Data, leaf.Layout, t.DType.Size())
	out := make([]kernel.Scalar, t.Shape.Elems())
	for k := range out {
		out[k] = kernel.ScalarAt(t.DType, data, k)
	}
	return out
}

// known returns the elements of input i, which must be of type int64 or int32
// and of rank 0 or 1, because a shape depends on them.
func (c *call) known(i int) []int {
	t := c.in[i].Type()
	if len(t.Shape) > 1 {
		c.failf("input %d has shape %v, not a list", i, t.Shape)
	}
	if t.DType != dtype.Int64 && t.DType != dtype.Int32 {
		c.failf("input %d is of type %v, not int64 or int32", i, t.DType)
	}
	out := []int{}
	for _, s := range c.scalars(i) {
		out = append(out, c.toInt(s.Int64()))
	}
	return out
}

// knownOrNil is known, and nil where input i is absent.
func (c *call) knownOrNil(i int) []int {
	if !c.has(i) {
		return nil
	}
	return c.known(i)
}

// dims returns input i as a shape.
func (c *call) dims(i int) shape.Shape {
	dims := shape.Shape(c.known(i))
	check(dims.Check())
	return dims
}

// scalar returns the only element of a list of known values of input i.
func (c *call) scalar(i int) int {
	list := c.known(i)
	if len(list) != 1 {
		c.failf("input %d has %d elements, not 1", i, len(list))
	}
	return list[0]
}

// knownScalar returns the only element of input i, of any type, because a
// shape depends on it.
func (c *call) knownScalar(i int) kernel.Scalar {
	t := c.in[i].Type()
	if t.Shape.Elems() != 1 {
		c.failf("input %d has shape %v, want one element", i, t.Shape)
	}
	return c.scalars(i)[0]
}

// knownInt returns the only element of input i, of any type of number, as an
// integer.
func (c *call) knownInt(i int) int {
	s := c.knownScalar(i)
	n, err := s.Convert(dtype.Int64)
	if err != nil {
		c.failf("input %d: %w", i, err)
	}
	return c.toInt(n.Int64())
}

// knownFlag returns the only element of input i, a truth value.
func (c *call) knownFlag(i int) bool {
	s := c.knownScalar(i)
	if s.DType != dtype.Bool {
		c.failf("input %d is of type %v, not a truth value", i, s.DType)
	}
	return s.Bits != 0
}

// one returns the only output of a new node.
func (c *call) one(o graph.Op, in ...graph.Value) graph.Value { return must(ops.One(o, in...)) }

// all returns the outputs of a new node.
func (c *call) all(o graph.Op, in ...graph.Value) []graph.Value { return must(ops.Apply(o, in...)) }

// elementwise returns code applied to the inputs, which broadcast.
func (c *call) elementwise(code elementwise.Code, attrs []float64, in ...graph.Value) graph.Value {
	return must(elementwise.Apply(code, attrs, in...))
}

// withScalar returns code applied to v and s, of the type of v.
func (c *call) withScalar(code elementwise.Code, v graph.Value, s float64) graph.Value {
	return must(elementwise.WithScalar(code, v, kernel.Float64Scalar(s), false))
}

// castTo returns v converted to another element type; see [elementwise.CastTo].
func (c *call) castTo(v graph.Value, t dtype.Type) graph.Value { return must(elementwise.CastTo(v, t)) }

// reshape returns v in another shape with as many elements.
func (c *call) reshape(v graph.Value, dims ...int) graph.Value {
	if v.Type().Shape.Equal(dims) {
		return v
	}
	return c.one(view.Reshape{Shape: dims}, v)
}

// along returns all elements of v along one of so many axes; the others have
// extent 1.
func (c *call) along(v graph.Value, axis, rank int) graph.Value {
	dims := slices.Repeat([]int{1}, rank)
	dims[axis] = v.Type().Shape.Elems()
	return c.reshape(v, dims...)
}

// ramp returns the numbers 0, step, 2*step and so on, n of them, along one of
// so many axes. They are made when they are needed: n may be any number that a
// file gives.
func (c *call) ramp(n, step, axis, rank int) graph.Value {
	return c.along(c.one(move.Iota{N: n, Start: int64Scalar(0), Delta: int64Scalar(step)}), axis, rank)
}

// extents returns extents as data: they may follow the dimensions of a program,
// as a constant may not.
func (c *call) extents(dims []int) graph.Value {
	return c.one(move.List{Elems: slices.Clone(dims)})
}

// constant returns a leaf over the given elements.
func constant[T dtype.Element](data []T, dims ...int) graph.Value {
	return must(graph.NewConstant(
		graph.Type{DType: dtype.Of[T](), Shape: dims},
		graph.Leaf{Layout: shape.Dense(dims), Data: kernel.Bytes(data)})).Output(0)
}

// charge fails where finding something among the elements of input i takes more
// work than what depends on the file alone may. Factors are multiplied.
func (c *call) charge(i int, factors ...int) {
	if c.symbols[i].kind != tensor || c.imp.dependsOnInput(c.in[i]) {
		return
	}
	work := int64(1)
	for _, f := range factors {
		work *= int64(min(max(f, 1), foldWork))
		work = min(work, foldWork)
	}
	if work >= c.imp.work {
		c.failf("input %d: %w", i, errWork)
	}
	c.imp.work -= work
}

func zeroOf(t dtype.Type) kernel.Scalar { return kernel.Int64Scalar(0).Cast(t) }

func int64Scalar(n int) kernel.Scalar { return kernel.Int64Scalar(int64(n)) }

// list returns a value as the only output.
func list(v ...graph.Value) []graph.Value { return v }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
