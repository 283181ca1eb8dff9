package onnx

import (
	"math"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/internal/op/view"
	"github.com/berth-go/berth/internal/wire"
	"github.com/berth-go/berth/shape"
)

// constantOps are the operators that make elements of attributes and of
// shapes alone.
var constantOps = []row{
	{"", "Constant", 1, 0, 0, convertConstant},
	{"", "ConstantOfShape", 9, 1, 1, convertConstantOfShape},
	{"", "Range", 11, 3, 3, convertRange},
	{"", "EyeLike", 9, 1, 1, convertEyeLike},
}

// convertConstant returns the one attribute that holds a value. Its number
// and text forms came with version 12, the sparse form with 11.
func convertConstant(c *call) []graph.Value {
	if n := len(c.node.node.Attributes); n != 1 {
		c.failf("has %d attributes, want one that holds the value", n)
	}
	a := &c.node.node.Attributes[0]
	since := map[string]int64{
		"value": 1, "sparse_value": 11,
		"value_float": 12, "value_floats": 12, "value_int": 12, "value_ints": 12,
		"value_string": 12, "value_strings": 12,
	}[a.Name]
	if since == 0 || since > c.opset() {
		c.failf("attribute %q does not exist at opset %d", a.Name, c.opset())
	}
	switch a.Name {
	case "value":
		if t := c.attr(a.Name, wire.AttrTensor).Tensor; t.DataType == wire.String {
			return c.constantWords(must(c.imp.model.constant(t)).tensor)
		}
		return list(c.tensor("value"))
	case "sparse_value":
		return list(c.sparse(c.attr(a.Name, wire.AttrSparseTensor).SparseTensor))
	case "value_float":
		c.attr(a.Name, wire.AttrFloat)
		return list(constant([]float32{a.Float}))
	case "value_floats":
		c.attr(a.Name, wire.AttrFloats)
		return list(constant(a.Floats, len(a.Floats)))
	case "value_int":
		c.attr(a.Name, wire.AttrInt)
		return list(constant([]int64{a.Int}))
	case "value_ints":
		c.attr(a.Name, wire.AttrInts)
		return list(constant(a.Ints, len(a.Ints)))
	}
	if a.Name == "value_string" {
		return c.constantWords(constant([]int64{c.textID(c.text(a.Name, ""))}))
	}
	ids := c.textIDs(a.Name)
	return c.constantWords(constant(ids, len(ids)))
}

// constantWords returns a constant that has the numbers of strings.
func (c *call) constantWords(v graph.Value) []graph.Value {
	c.words = append(c.words, v)
	return list(v)
}

// sparse returns a sparse tensor as a dense one: its values scattered over
// zeros.
func (c *call) sparse(s *wire.SparseTensor) graph.Value {
	at, values := must(s.Linear(nil)), must(decoded(s.Values))
	dims := shape.Shape(c.toInts(s.Dims))
	check(dims.Check())
	zeros := c.one(move.Fill{Shape: []int{dims.Elems()}, Value: zeroOf(values.Type().DType)})
	dense := c.one(move.ScatterElements{}, zeros, constant(at, len(at)), values)
	return c.reshape(dense, dims...)
}

// convertConstantOfShape repeats one element, which takes no memory.
func convertConstantOfShape(c *call) []graph.Value {
	value := c.tensor("value")
	if value.IsZero() {
		value = constant([]float32{0})
	}
	if value.Type().Shape.Elems() != 1 {
		c.failf("attribute value has shape %v, want one element", value.Type().Shape)
	}
	return list(c.one(view.BroadcastTo{Shape: c.dims(0)}, c.reshape(value)))
}

// convertRange counts from start in steps of delta to before limit. Element i
// is start + i*delta, computed in a type wide enough and rounded once.
func convertRange(c *call) []graph.Value {
	start, limit, delta := c.knownScalar(0), c.knownScalar(1), c.knownScalar(2)
	if start.DType != limit.DType || start.DType != delta.DType {
		c.failf("start is %v, limit %v and delta %v, want one type", start.DType, limit.DType, delta.DType)
	}
	var n int
	switch t := start.DType; {
	case t.IsInteger():
		n = c.countInts(start.Int64(), limit.Int64(), delta.Int64())
	case t.IsFloat():
		n = c.countFloats(start.Float64(), limit.Float64(), delta.Float64())
	default:
		c.failf("start is of type %v, want a number", t)
	}
	return list(c.one(move.Iota{N: n, Start: start, Delta: delta}))
}

// countInts returns max(ceil((limit-start)/delta), 0).
func (c *call) countInts(start, limit, delta int64) int {
	// Distances are taken without sign, because they may exceed an int64.
	var distance, step uint64
	switch {
	case delta == 0:
		c.failf("delta is 0")
	case delta > 0 && start < limit:
		distance, step = uint64(limit)-uint64(start), uint64(delta)
	case delta < 0 && start > limit:
		distance, step = uint64(start)-uint64(limit), -uint64(delta)
	default:
		return 0
	}
	n := (distance-1)/step + 1
	if n > shape.MaxElems {
		c.failf("the range from %d to %d in steps of %d has more than %d elements", start, limit, delta, int64(shape.MaxElems))
	}
	return int(n)
}

func (c *call) countFloats(start, limit, delta float64) int {
	n := math.Ceil((limit - start) / delta)
	if delta == 0 || math.IsNaN(n) || n > shape.MaxElems {
		c.failf("the range from %v to %v in steps of %v has no length, or more than %d elements", start, limit, delta, int64(shape.MaxElems))
	}
	return int(max(n, 0))
}

// convertEyeLike returns a matrix of the shape of its input with ones on one
// diagonal.
func convertEyeLike(c *call) []graph.Value {
	in := c.in[0].Type()
	if len(in.Shape) != 2 {
		c.failf("input %v is not a matrix", in)
	}
	return list(c.one(move.Eye{
		Rows: in.Shape[0], Cols: in.Shape[1],
		K:     c.int("k", 0),
		DType: c.dtype("dtype", in.DType),
	}))
}
