package main

import (
	"math"
	"slices"

	"github.com/berth-go/berth/internal/wire"
)

// A scheme is a way to quantise a model. Weights are int8 with zero point 0, or uint8 with
// zero point 128 where only those are multiplied; activations are uint8 with any zero point.
type scheme struct {
	static    bool // ranges of activations are constants, measured before; else each run measures its own
	channels  bool // each output channel of a weight has its own scale
	operators bool // operators compute with integers; else float operators stand between dequantised values
}

func schemes() (all []scheme) {
	for i := range 8 {
		all = append(all, scheme{i&4 == 0, i&2 != 0, i&1 != 0})
	}
	return all
}

func (s scheme) String() string {
	either := func(b bool, yes, no string) string {
		if b {
			return yes
		}
		return no
	}
	return either(s.static, "static", "dynamic") + ", per " + either(s.channels, "channel", "tensor") + ", " +
		either(s.operators, "operators", "QDQ")
}

// A quantizer rewrites the nodes of a model. The value of a quantised operator keeps its
// name, and is what its integers dequantise to.
type quantizer struct {
	scheme
	ranges    map[string]interval     // of activations, where the scheme is static
	constants map[string]*wire.Tensor // by name
	readers   map[string][]*wire.Node // by the name of what they read
	integers  map[string]string       // the quantised form of a value, by its name
	float     map[string]string       // the dequantised form of a value, by its name
	named     map[string]bool         // constants that were added
	out       []wire.Node
	weights   []wire.Tensor
}

// An interval is closed, and holds 0.
type interval struct{ least, most float64 }

func (r interval) with(x float64) interval { return interval{min(r.least, x), max(r.most, x)} }

// step returns the scale of uint8 numbers over the interval, and their zero point.
func (r interval) step() (scale, zero float64) {
	scale = float64(float32((r.most - r.least) / 255))
	if scale == 0 {
		return 1, 0
	}
	return scale, min(max(math.RoundToEven(-r.least/scale), 0), 255)
}

// quantized returns a quantised form of a model whose activations have the given ranges.
func quantized(m *wire.Model, ranges map[string]interval, s scheme) *wire.Model {
	q := &quantizer{scheme: s, ranges: ranges, constants: constantsOf(m.Graph), readers: make(map[string][]*wire.Node),
		integers: make(map[string]string), float: make(map[string]string), named: make(map[string]bool)}
	for i := range m.Graph.Nodes {
		n := &m.Graph.Nodes[i]
		for _, name := range n.Inputs {
			q.readers[name] = append(q.readers[name], n)
		}
	}
	for i := range m.Graph.Nodes {
		q.rewrite(&m.Graph.Nodes[i])
	}
	quantized, graph := *m, *m.Graph
	graph.Nodes, graph.Initializers = q.out, append(slices.Clone(graph.Initializers), q.weights...)
	quantized.Graph = &graph
	if s.operators {
		quantized.OpsetImports = append(slices.Clone(m.OpsetImports), wire.OperatorSet{Domain: "com.microsoft", Version: 1})
	}
	return &quantized
}

// simplified returns a model with products and sums in place of Gemm, as far as it has
// neither factors nor a transposed first operand.
func simplified(m *wire.Model) *wire.Model {
	model, graph := *m, *m.Graph
	model.Graph = &graph
	constants := constantsOf(m.Graph)
	graph.Nodes = nil
	for _, n := range m.Graph.Nodes {
		given := make(map[string]wire.Attribute)
		for _, a := range n.Attributes {
			given[a.Name] = a
		}
		w := (*wire.Tensor)(nil)
		if n.OpType == "Gemm" && len(n.Inputs) == 3 && given["transA"].Int == 0 && given["transB"].Int == 1 &&
			(given["alpha"].Name == "" || given["alpha"].Float == 1) && (given["beta"].Name == "" || given["beta"].Float == 1) {
			w = constants[n.Inputs[1]]
		}
		if w == nil {
			graph.Nodes = append(graph.Nodes, n)
			continue
		}
		graph.Initializers = append(slices.Clip(graph.Initializers), transposed(w))
		product := n.Outputs[0] + "_product"
		graph.Nodes = append(graph.Nodes,
			wire.Node{OpType: "MatMul", Inputs: []string{n.Inputs[0], w.Name + "_transposed"}, Outputs: []string{product}},
			wire.Node{OpType: "Add", Inputs: []string{product, n.Inputs[2]}, Outputs: n.Outputs})
	}
	return &model
}

// constantsOf returns the constants of a graph by name.
func constantsOf(g *wire.Graph) map[string]*wire.Tensor {
	constants := make(map[string]*wire.Tensor)
	for i := range g.Initializers {
		constants[g.Initializers[i].Name] = &g.Initializers[i]
	}
	for i := range g.Nodes {
		if n := &g.Nodes[i]; n.OpType == "Constant" && n.Attributes[0].Kind == wire.AttrTensor {
			constants[n.Outputs[0]] = n.Attributes[0].Tensor
		}
	}
	return constants
}

// activations returns the names of the values whose ranges a quantised form may need.
func activations(m *wire.Model) (names []string) {
	constants := constantsOf(m.Graph)
	for i := range m.Graph.Nodes {
		switch n := &m.Graph.Nodes[i]; n.OpType {
		case "Conv", "MatMul", "Add", "GlobalAveragePool", "Relu", "Clip":
			for _, name := range slices.Concat(n.Inputs, n.Outputs) {
				if name != "" && constants[name] == nil && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

func (q *quantizer) node(opType string, attributes []wire.Attribute, output string, inputs ...string) string {
	n := wire.Node{OpType: opType, Inputs: inputs, Outputs: []string{output}, Attributes: attributes}
	if opType == "QLinearAdd" || opType == "QLinearGlobalAveragePool" {
		n.Domain = "com.microsoft"
	}
	q.out = append(q.out, n)
	return output
}

func (q *quantizer) constant(name string, t wire.DataType, dims []int64, values ...float64) string {
	if !q.named[name] {
		q.named[name] = true
		w := wire.Tensor{Name: name, DataType: t, Dims: dims}
		for _, x := range values {
			w.Raw = appendElement(w.Raw, t, x)
		}
		q.weights = append(q.weights, w)
	}
	return name
}

// scalesOf returns the names of the scale and the zero point of an activation.
func (q *quantizer) scalesOf(name string) (scale, zero string) {
	scale, zero = name+"_scale", name+"_zero"
	if q.static {
		s, z := q.ranges[name].step()
		q.constant(scale, wire.Float, []int64{}, s)
		q.constant(zero, wire.Uint8, []int64{}, z)
	}
	return scale, zero
}

// quantised returns the name of the integers of an activation.
func (q *quantizer) quantised(name string) string {
	if q.integers[name] != "" {
		return q.integers[name]
	}
	scale, zero := q.scalesOf(name)
	q.integers[name] = name + "_quantized"
	if q.static {
		return q.node("QuantizeLinear", nil, name+"_quantized", name, scale, zero)
	}
	q.out = append(q.out, wire.Node{OpType: "DynamicQuantizeLinear", Inputs: []string{name},
		Outputs: []string{name + "_quantized", scale, zero}})
	return name + "_quantized"
}

// dequantised returns the name of what the integers of an activation dequantise to.
func (q *quantizer) dequantised(name string) string {
	if q.float[name] == "" {
		scale, zero := q.scalesOf(name)
		q.float[name] = q.node("DequantizeLinear", nil, name+"_dequantized", q.quantised(name), scale, zero)
	}
	return q.float[name]
}

// A quantizedWeight holds the names of integers, scale and zero point of a weight.
type quantizedWeight struct {
	values, scale, zero string
	scales              []float64 // one, or one of each channel
	axis                int64     // of the channels
}

// weight quantises a constant, each channel along an axis with a scale of its own or all
// with one.
func (q *quantizer) weight(w *wire.Tensor, axis int, channelwise, unsigned bool) quantizedWeight {
	numbers, inner := numbersIn(w), 1
	for _, d := range w.Dims[axis+1:] {
		inner *= int(d)
	}
	channels, n := 1, elements(w)
	if channelwise {
		channels = int(w.Dims[axis])
	}
	channel := func(i int) int { return i / inner % int(w.Dims[axis]) % channels }
	largest := make([]float64, channels)
	for i := range n {
		largest[channel(i)] = max(largest[channel(i)], math.Abs(numbers[i]))
	}
	weight := quantizedWeight{axis: int64(axis)}
	for _, x := range largest {
		weight.scales = append(weight.scales, max(float64(float32(x/127)), 1e-12))
	}
	kind, offset := wire.Int8, 0.
	if unsigned {
		kind, offset = wire.Uint8, 128
	}
	values := make([]float64, n)
	for i := range n {
		values[i] = offset + math.RoundToEven(numbers[i]/weight.scales[channel(i)])
	}
	dims := []int64{}
	if channelwise {
		dims = []int64{int64(channels)}
	}
	weight.values = q.constant(w.Name+"_quantized", kind, w.Dims, values...)
	weight.scale = q.constant(w.Name+"_scale", wire.Float, dims, weight.scales...)
	weight.zero = q.constant(w.Name+"_zero", kind, dims, slices.Repeat([]float64{offset}, channels)...)
	return weight
}

// restored returns the name of what a weight dequantises to.
func (q *quantizer) restored(w quantizedWeight) string {
	var attributes []wire.Attribute
	if len(w.scales) > 1 {
		attributes = []wire.Attribute{{Name: "axis", Kind: wire.AttrInt, Int: w.axis}}
	}
	return q.node("DequantizeLinear", attributes, w.values+"_float", w.values, w.scale, w.zero)
}

// rewrite adds what a node becomes.
func (q *quantizer) rewrite(n *wire.Node) {
	isWeight := func(i int) *wire.Tensor {
		if w := q.constants[n.Inputs[i]]; w != nil && w.DataType == wire.Float && len(w.Dims) >= 2 {
			w.Name = n.Inputs[i]
			return w
		}
		return nil
	}
	switch n.OpType {
	case "Conv":
		if w := isWeight(1); w != nil {
			q.conv(n, w)
			return
		}
	case "MatMul":
		if w := isWeight(1); w != nil && len(w.Dims) == 2 {
			q.matmul(n.Outputs[0], n.Inputs[0], w)
			return
		}
		if q.static && q.constants[n.Inputs[0]] == nil && q.constants[n.Inputs[1]] == nil {
			q.pair(n, "QLinearMatMul")
			return
		}
	case "Gather":
		if w := isWeight(0); w != nil && len(w.Dims) == 2 {
			q.gather(n, w)
			return
		}
	case "Add":
		if q.static && q.ranged(n.Inputs[0]) && q.ranged(n.Inputs[1]) {
			q.pair(n, "QLinearAdd")
			return
		}
	case "GlobalAveragePool":
		if q.static {
			q.average(n)
			return
		}
	case "Relu", "Clip":
		// The range of the result, which starts from 0, stands in for the operator.
		if from := n.Inputs[0]; q.static && q.integers[from] != "" && q.ranges[from] == q.ranges[n.Outputs[0]] {
			q.node("Identity", nil, n.Outputs[0], from)
			q.integers[n.Outputs[0]], q.float[n.Outputs[0]] = q.integers[from], from
			q.scalesOf(n.Outputs[0])
			return
		}
	}
	q.out = append(q.out, *n)
}

// ranged reports whether a value is an activation whose range was measured.
func (q *quantizer) ranged(name string) bool {
	_, ok := q.ranges[name]
	return ok && q.constants[name] == nil
}

func transposed(w *wire.Tensor) wire.Tensor {
	raw, err := w.Bytes()
	if err != nil {
		panic(err)
	}
	rows, columns := int(w.Dims[0]), int(w.Dims[1])
	t := wire.Tensor{Name: w.Name + "_transposed", DataType: w.DataType, Dims: []int64{w.Dims[1], w.Dims[0]}}
	for j := range columns {
		for i := range rows {
			t.Raw = append(t.Raw, raw[4*(i*columns+j):4*(i*columns+j)+4]...)
		}
	}
	return t
}

// narrow lets the range of a value be that of the bound which alone reads it.
func (q *quantizer) narrow(name string) {
	if r := q.readers[name]; len(r) == 1 && (r[0].OpType == "Relu" || r[0].OpType == "Clip") {
		q.ranges[name] = q.ranges[r[0].Outputs[0]]
	}
}

// settle adds what follows a static quantised operator, whose result is the integers of
// the value or, between dequantised values, what they are made of.
func (q *quantizer) settle(name, result string) {
	scale, zero := q.scalesOf(name)
	if !q.operators {
		q.node("QuantizeLinear", nil, name+"_quantized", result, scale, zero)
	}
	q.integers[name], q.float[name] = name+"_quantized", name
	q.node("DequantizeLinear", nil, name, name+"_quantized", scale, zero)
}

func (q *quantizer) conv(n *wire.Node, w *wire.Tensor) {
	name, x := n.Outputs[0], n.Inputs[0]
	q.narrow(name)
	weight := q.weight(w, 0, q.channels, !q.static && q.operators)
	switch {
	case !q.static && q.operators:
		integers := q.quantised(x)
		scale, zero := q.scalesOf(x)
		// ONNX Runtime wants one zero point for all channels.
		shared := q.constant(w.Name+"_shared_zero", wire.Uint8, []int64{}, 128)
		sum := q.node("ConvInteger", n.Attributes, name+"_sum", integers, weight.values, zero, shared)
		scales := weight.scale
		if q.channels {
			scales = q.constant(w.Name+"_scales", wire.Float, channelDims(w), weight.scales...)
		}
		q.rescale(name, sum, scale, scales, q.bias(n, channelDims(w)))
	case !q.static:
		q.node("Conv", n.Attributes, name, append([]string{q.dequantised(x), q.restored(weight)}, n.Inputs[2:]...)...)
	default:
		bias := q.integerBias(n, weight)
		if !q.operators {
			inputs := []string{q.dequantised(x), q.restored(weight)}
			if bias.values != "" {
				inputs = append(inputs, q.restored(bias))
			}
			q.settle(name, q.node("Conv", n.Attributes, name+"_result", inputs...))
			return
		}
		integers := q.quantised(x)
		xs, xz := q.scalesOf(x)
		ys, yz := q.scalesOf(name)
		inputs := []string{integers, xs, xz, weight.values, weight.scale, weight.zero, ys, yz}
		if bias.values != "" {
			inputs = append(inputs, bias.values)
		}
		q.settle(name, q.node("QLinearConv", n.Attributes, name+"_quantized", inputs...))
	}
}

// channelDims returns the extents of a number for each channel of the result of a
// convolution with weight w.
func channelDims(w *wire.Tensor) []int64 {
	dims := slices.Repeat([]int64{1}, len(w.Dims)-1)
	dims[0] = w.Dims[0]
	return dims
}

// bias returns the name of the bias of a convolution as an operand of Add; "" if it has none.
func (q *quantizer) bias(n *wire.Node, dims []int64) string {
	if len(n.Inputs) < 3 {
		return ""
	}
	return q.constant(n.Inputs[2]+"_operand", wire.Float, dims, numbersIn(q.constants[n.Inputs[2]])...)
}

// integerBias quantises the bias of a convolution to int32 with the scales of its sums.
func (q *quantizer) integerBias(n *wire.Node, w quantizedWeight) (bias quantizedWeight) {
	if len(n.Inputs) < 3 {
		return bias
	}
	scale, _ := q.ranges[n.Inputs[0]].step()
	for _, s := range w.scales {
		bias.scales = append(bias.scales, float64(float32(scale*s)))
	}
	values := numbersIn(q.constants[n.Inputs[2]])
	for i := range values {
		values[i] = math.RoundToEven(values[i] / bias.scales[i%len(bias.scales)])
	}
	dims := []int64{int64(len(values))}
	bias.values = q.constant(n.Inputs[2]+"_quantized", wire.Int32, dims, values...)
	if len(bias.scales) == 1 {
		dims = []int64{}
	}
	bias.scale = q.constant(bias.values+"_scale", wire.Float, dims, bias.scales...)
	bias.zero = q.constant(bias.values+"_zero", wire.Int32, dims, make([]float64, len(bias.scales))...)
	return bias
}

func numbersIn(w *wire.Tensor) []float64 {
	raw, err := w.Bytes()
	if err != nil {
		panic(err)
	}
	values := make([]float64, elements(w))
	for i := range values {
		values[i] = element(raw, w.DataType, i)
	}
	return values
}

// matmul adds the product of an activation and a weight.
func (q *quantizer) matmul(name, x string, w *wire.Tensor) {
	q.narrow(name)
	weight := q.weight(w, 1, q.channels, false)
	switch {
	case !q.static && q.operators:
		integers := q.quantised(x)
		scale, zero := q.scalesOf(x)
		q.rescale(name, q.node("MatMulInteger", nil, name+"_sum", integers, weight.values, zero, weight.zero), scale, weight.scale, "")
	case !q.static:
		q.node("MatMul", nil, name, q.dequantised(x), q.restored(weight))
	case !q.operators:
		q.settle(name, q.node("MatMul", nil, name+"_result", q.dequantised(x), q.restored(weight)))
	default:
		integers := q.quantised(x)
		xs, xz := q.scalesOf(x)
		ys, yz := q.scalesOf(name)
		q.settle(name, q.node("QLinearMatMul", nil, name+"_quantized", integers, xs, xz, weight.values, weight.scale, weight.zero, ys, yz))
	}
}

// rescale turns sums of integers into the numbers they stand for, and adds a bias.
func (q *quantizer) rescale(name, sum, scale, scales, bias string) {
	float := q.node("Cast", []wire.Attribute{{Name: "to", Kind: wire.AttrInt, Int: int64(wire.Float)}}, name+"_numbers", sum)
	factor := q.node("Mul", nil, name+"_factor", scale, scales)
	if bias == "" {
		q.node("Mul", nil, name, float, factor)
		return
	}
	q.node("Add", nil, name, q.node("Mul", nil, name+"_product", float, factor), bias)
}

// pair adds a static operator of two activations.
func (q *quantizer) pair(n *wire.Node, integer string) {
	name := n.Outputs[0]
	q.narrow(name)
	if !q.operators {
		q.settle(name, q.node(n.OpType, nil, name+"_result", q.dequantised(n.Inputs[0]), q.dequantised(n.Inputs[1])))
		return
	}
	var inputs []string
	for _, x := range n.Inputs {
		integers := q.quantised(x)
		scale, zero := q.scalesOf(x)
		inputs = append(inputs, integers, scale, zero)
	}
	scale, zero := q.scalesOf(name)
	q.settle(name, q.node(integer, nil, name+"_quantized", append(inputs, scale, zero)...))
}

// gather adds the lookup of rows of a weight, which has one scale.
func (q *quantizer) gather(n *wire.Node, w *wire.Tensor) {
	weight := q.weight(w, 1, false, false)
	if !q.operators {
		q.node("Gather", n.Attributes, n.Outputs[0], q.restored(weight), n.Inputs[1])
		return
	}
	integers := q.node("Gather", n.Attributes, n.Outputs[0]+"_integers", weight.values, n.Inputs[1])
	q.node("DequantizeLinear", nil, n.Outputs[0], integers, weight.scale, weight.zero)
}

func (q *quantizer) average(n *wire.Node) {
	name, x := n.Outputs[0], n.Inputs[0]
	q.narrow(name)
	if !q.operators {
		q.settle(name, q.node(n.OpType, nil, name+"_result", q.dequantised(x)))
		return
	}
	integers := q.quantised(x)
	xs, xz := q.scalesOf(x)
	ys, yz := q.scalesOf(name)
	q.settle(name, q.node("QLinearGlobalAveragePool", nil, name+"_quantized", integers, xs, xz, ys, yz))
}
