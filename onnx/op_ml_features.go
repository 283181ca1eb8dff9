package onnx

import (
	"cmp"
	"math"
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/internal/op/norm"
	"github.com/berth-go/berth/internal/op/reduce"
	"github.com/berth-go/berth/internal/op/tabular"
	"github.com/berth-go/berth/internal/wire"
	"github.com/berth-go/berth/shape"
)

// features returns the extent of the last axis of input 0.
func (c *call) features() int {
	s := c.shape(0)
	if len(s) == 0 {
		c.failf("input 0 is %v, want one axis at least", c.in[0].Type())
	}
	return s[len(s)-1]
}

// perFeature checks that an attribute has a number for each feature or one for all.
func (c *call) perFeature(name string, n int) {
	if f := c.features(); n != 1 && n != f {
		c.failf("attribute %q has %d numbers for %d features", name, n, f)
	}
}

// scaler is (x - offset) * scale.
func scaler(c *call) []graph.Value {
	x := c.in[0]
	if x.Type().DType != dtype.Float64 {
		x = c.castTo(x, dtype.Float32)
	}
	for _, a := range []struct {
		name string
		code elementwise.Code
	}{{"offset", elementwise.Sub}, {"scale", elementwise.Mul}} {
		if v := c.floats(a.name); v != nil {
			c.perFeature(a.name, len(v))
			x = c.elementwise(a.code, nil, x, reals(x.Type().DType, v, len(v)))
		}
	}
	return list(c.castTo(x, dtype.Float32))
}

// normalizer divides each row by its largest number, by the sum of its magnitudes, or
// by the root of the sum of its squares; by none of them that is 0.
func normalizer(c *call) []graph.Value {
	kind := choice(c, "norm", "MAX", map[string]int{"MAX": 0, "L1": 1, "L2": 2})
	x := c.table()
	var y graph.Value
	if kind > 0 {
		y = c.one(norm.LpNorm{Axis: 1, P: kind}, x) // which is 0 for a row of zeros
	} else {
		most := c.one(reduce.Reduce{Kind: reduce.Max, Axes: []int{1}, KeepDims: true}, x)
		y = c.elementwise(elementwise.Where, nil, c.withScalar(elementwise.Equal, most, 0), x, c.elementwise(elementwise.Div, nil, x, most))
	}
	return list(c.reshape(c.castTo(y, dtype.Float32), c.shape(0)...))
}

// binarizer gives 1 for what exceeds the threshold, and else 0. They are compared in
// float64, which has the threshold whatever the type of x.
func binarizer(c *call) []graph.Value {
	above := c.withScalar(elementwise.Greater, c.castTo(c.in[0], dtype.Float64), c.float("threshold", 0))
	return list(c.castTo(above, c.in[0].Type().DType))
}

// imputer puts other numbers in the place of one, which may be NaN.
func imputer(c *call) []graph.Value {
	x := c.in[0]
	t := x.Type().DType
	given := func(name string, other string) {
		if !c.hasAttr(name) || c.hasAttr(other) {
			c.failf("elements of %v ask for attribute %q, and not %q", t, name, other)
		}
	}
	var missing graph.Value // whether each element is to be replaced
	var numbers []kernel.Scalar
	const floats, ints = "imputed_value_floats", "imputed_value_int64s"
	switch {
	case t.IsFloat():
		given(floats, ints)
		replaced := c.float("replaced_value_float", 0)
		c.asked = append(c.asked, "replaced_value_int64")
		if math.IsNaN(replaced) {
			missing = c.elementwise(elementwise.IsNaN, nil, x)
		} else {
			missing = c.withScalar(elementwise.Equal, x, replaced)
		}
		for _, v := range c.floats(floats) {
			numbers = append(numbers, kernel.Float64Scalar(v))
		}
	case t.IsInteger():
		given(ints, floats)
		replaced := kernel.Int64Scalar(int64(c.int("replaced_value_int64", 0)))
		c.asked = append(c.asked, "replaced_value_float")
		missing = must(elementwise.WithScalar(elementwise.Equal, x, replaced, false))
		for _, v := range c.ints(ints) {
			numbers = append(numbers, kernel.Int64Scalar(int64(v)))
		}
	default:
		c.failf("input 0 is %v, not numbers", x.Type())
	}
	c.perFeature("imputed_value", len(numbers))
	return list(c.elementwise(elementwise.Where, nil, missing, c.scalarsOf(t, numbers), x))
}

// scalarsOf returns scalars as a constant of one axis and type t, which must have their
// values.
func (c *call) scalarsOf(t dtype.Type, scalars []kernel.Scalar) graph.Value {
	data := kernel.Alloc(len(scalars) * t.Size())
	for i, s := range scalars {
		must(s.Convert(t)).Put(data[i*t.Size():])
	}
	dims := shape.Shape{len(scalars)}
	return must(graph.NewConstant(graph.Type{DType: t, Shape: dims}, graph.Leaf{Layout: shape.Dense(dims), Data: data})).Output(0)
}

// arrayFeatureExtractor takes some elements along the last axis. What has one axis
// becomes one row.
func arrayFeatureExtractor(c *call) []graph.Value {
	places := c.reshape(c.in[1], c.shape(1).Elems())
	y := c.one(move.Gather{Axis: -1}, c.in[0], places)
	if c.rank(0) == 1 {
		y = c.reshape(y, 1, y.Type().Shape[0])
	}
	return list(y)
}

// featureVectorizer lays rows side by side, each input cut off or filled up with zeros
// to as many columns as the attribute says.
func featureVectorizer(c *call) []graph.Value {
	widths := c.ints("inputdimensions")
	if widths != nil && len(widths) != len(c.in) {
		c.failf("attribute \"inputdimensions\" has %d numbers for %d inputs", len(widths), len(c.in))
	}
	parts := make([]graph.Value, len(c.in))
	for i, x := range c.in {
		if x.IsZero() {
			c.failf("input %d is absent", i)
		}
		s := c.shape(i)
		switch len(s) {
		case 1:
			x = c.reshape(x, 1, s[0])
		case 2:
		default:
			c.failf("input %d is %v, not rows of features", i, x.Type())
		}
		x = c.castTo(x, dtype.Float32)
		if n := x.Type().Shape[1]; widths != nil && widths[i] != n {
			if widths[i] < 0 {
				c.failf("attribute \"inputdimensions\" is %d for input %d", widths[i], i)
			}
			x = c.one(move.Pad{Pads: []int{0, 0, 0, widths[i] - n}}, x)
		}
		parts[i] = x
	}
	return list(c.one(move.Concat{Axis: 1}, parts...))
}

// places returns where the elements of x are among keys, of which the last of equal
// ones counts, and how many keys there are, which is the place of those that have none;
// see [tabular.Lookup]. The keys are those of the numbers in the order that is returned.
func (c *call) places(x graph.Value, keys []kernel.Scalar, required bool) (at graph.Value, order []int) {
	t := x.Type().DType
	compare := func(a, b kernel.Scalar) int {
		if t.IsFloat() {
			return -cmp.Compare(-a.Float64(), -b.Float64()) // NaN last
		}
		if t.Kind() == dtype.KindInt {
			return cmp.Compare(a.Int64(), b.Int64())
		}
		return cmp.Compare(a.Bits, b.Bits)
	}
	order = upTo(len(keys))
	slices.SortStableFunc(order, func(i, k int) int { return cmp.Or(compare(keys[i], keys[k]), k-i) })
	order = slices.CompactFunc(order, func(i, k int) bool { return compare(keys[i], keys[k]) == 0 })
	sorted := make([]kernel.Scalar, len(order))
	for i, k := range order {
		sorted[i] = keys[k]
	}
	return c.one(tabular.Lookup{Required: required}, x, c.scalarsOf(t, sorted)), order
}

// oneHotEncoder makes each element a line of the categories, with a 1 for its own.
func oneHotEncoder(c *call) []graph.Value {
	x := c.in[0]
	var keys []kernel.Scalar
	if c.isText(0) {
		c.hasAttr("cats_int64s")
		keys = idScalars(c.textIDs("cats_strings"))
	} else {
		c.hasAttr("cats_strings")
		x = c.castTo(x, dtype.Int64)
		for _, v := range c.ints("cats_int64s") {
			keys = append(keys, kernel.Int64Scalar(int64(v)))
		}
	}
	if len(keys) == 0 {
		c.failf("there are no categories of the type of the input, %s", symbolType(c.symbols[0]))
	}
	at, order := c.places(x, keys, !c.flag("zeros", true))
	own := make([]int64, len(order)+1)
	for i, k := range order {
		own[i] = int64(k)
	}
	own[len(order)] = int64(len(keys)) // out of the line
	at = c.one(move.Gather{}, constant(own, len(own)), at)
	return list(c.one(move.OneHot{Axis: -1, Depth: len(keys)}, at, constant([]float32{0, 1}, 2)))
}

// idScalars returns numbers of strings as scalars.
func idScalars(ids []int64) []kernel.Scalar {
	out := make([]kernel.Scalar, len(ids))
	for i, id := range ids {
		out[i] = kernel.Int64Scalar(id)
	}
	return out
}

// legacyLabelEncoder makes strings their places in a list, or places the strings.
func legacyLabelEncoder(c *call) []graph.Value {
	words := c.textIDs("classes_strings")
	places := make([]int64, len(words))
	for i := range places {
		places[i] = int64(i)
	}
	return c.mapped(words, places)
}

// categoryMapper makes strings integers, or integers strings.
func categoryMapper(c *call) []graph.Value {
	return c.mapped(c.textIDs("cats_strings"), attrOr(c, "cats_int64s", wire.AttrInts, nil, func(a *wire.Attribute) []int64 { return a.Ints }))
}

// mapped puts in the place of each string the integer that goes with it, and in the place
// of each integer the string.
func (c *call) mapped(words, numbers []int64) []graph.Value {
	if len(words) != len(numbers) {
		c.failf("there are %d strings and %d integers", len(words), len(numbers))
	}
	keys, values := words, numbers
	other := c.textID(c.text("default_string", unusedLabel))
	if c.isText(0) {
		other = int64(c.int("default_int64", -1))
	} else {
		c.hasAttr("default_int64")
		keys, values = numbers, words
	}
	if t := c.in[0].Type().DType; t != dtype.Int64 {
		c.failf("the elements are of type %v, not strings or int64", t)
	}
	at, order := c.places(c.in[0], idScalars(keys), false)
	found := make([]int64, 0, len(order)+1)
	for _, k := range order {
		found = append(found, values[k])
	}
	y := c.one(move.Gather{}, constant(append(found, other), len(found)+1), at)
	if !c.isText(0) {
		c.words = append(c.words, y)
	}
	return list(y)
}

// labelEncoder puts the value of a key in the place of each element that is the key,
// and a default in the place of others.
func labelEncoder(c *call) []graph.Value {
	x := c.in[0]
	keys, values := c.pairs("keys"), c.pairs("values")
	switch t := x.Type().DType; {
	case len(keys.scalars) != len(values.scalars):
		c.failf("there are %d keys and %d values", len(keys.scalars), len(values.scalars))
	case len(keys.scalars) == 0:
		c.failf("there are no keys")
	case keys.text != c.isText(0) || keys.scalars[0].DType != t:
		c.failf("keys are of type %v, elements of type %s", keys, symbolType(c.symbols[0]))
	}
	other := c.otherwise(values)
	at, order := c.places(x, keys.scalars, false)
	found := make([]kernel.Scalar, 0, len(order)+1)
	for _, k := range order {
		found = append(found, values.scalars[k])
	}
	y := c.one(move.Gather{}, c.scalarsOf(other.DType, append(found, other)), at)
	if values.text {
		c.words = append(c.words, y)
	}
	return list(y)
}

// symbolType names the element type of a tensor.
func symbolType(s symbol) string {
	if s.text {
		return "string"
	}
	return s.tensor.Type().DType.String()
}

// labels are elements of an attribute: numbers, or those of strings.
type labels struct {
	scalars []kernel.Scalar
	text    bool
}

// String names the element type.
func (l labels) String() string {
	if l.text {
		return "string"
	}
	return l.scalars[0].DType.String()
}

// pairs returns the elements of the one attribute that begins with a prefix, "keys" or
// "values".
func (c *call) pairs(prefix string) (out labels) {
	given := 0
	has := func(suffix string) bool {
		name := prefix + suffix
		yes := c.hasAttr(name)
		given += int(kernel.Truth(yes))
		return yes
	}
	if has("_strings") {
		out = labels{idScalars(c.textIDs(prefix + "_strings")), true}
	}
	if has("_int64s") {
		for _, v := range c.ints(prefix + "_int64s") {
			out.scalars = append(out.scalars, kernel.Int64Scalar(int64(v)))
		}
	}
	if has("_floats") {
		for _, v := range c.floats(prefix + "_floats") {
			out.scalars = append(out.scalars, kernel.Float64Scalar(v).Cast(dtype.Float32))
		}
	}
	c.attrSince(4, prefix+"_tensor")
	if c.opset() >= 4 && has("_tensor") {
		out = c.elements(prefix + "_tensor")
	}
	if given != 1 {
		c.failf("%d attributes hold the %s, want one", given, prefix)
	}
	return out
}

// elements returns the elements of an attribute, a tensor.
func (c *call) elements(name string) labels {
	s := must(c.imp.model.constant(c.attr(name, wire.AttrTensor).Tensor))
	t := s.tensor.Type()
	out := make([]kernel.Scalar, t.Shape.Elems())
	for i := range out {
		out[i] = kernel.ScalarAt(t.DType, s.tensor.Node().Stored().Data, i)
	}
	return labels{out, s.text}
}

// otherwise returns what a LabelEncoder with such values puts where there is no key: -0 of
// floating point, -1, and "_Unused".
func (c *call) otherwise(values labels) kernel.Scalar {
	t := values.scalars[0].DType
	c.asked = append(c.asked, "default_string", "default_int64", "default_float")
	c.attrSince(4, "default_tensor")
	switch {
	case c.opset() >= 4 && c.hasAttr("default_tensor"):
		list := c.elements("default_tensor")
		if len(list.scalars) != 1 || list.text != values.text || list.scalars[0].DType != t {
			c.failf("attribute \"default_tensor\" has %d elements, want one of type %v", len(list.scalars), values)
		}
		return list.scalars[0]
	case values.text:
		return kernel.Int64Scalar(c.textID(c.text("default_string", unusedLabel)))
	case t.IsFloat():
		return kernel.Float64Scalar(c.float("default_float", math.Copysign(0, -1))).Cast(t)
	}
	return kernel.Int64Scalar(int64(c.int("default_int64", -1))).Cast(t)
}
