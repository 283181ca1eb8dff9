package graphtest

import (
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/conv"
	"github.com/berth-go/berth/internal/op/linear"
	"github.com/berth-go/berth/internal/op/norm"
	"github.com/berth-go/berth/internal/op/ops"
	"github.com/berth-go/berth/internal/op/pool"
	"github.com/berth-go/berth/internal/op/reduce"
	"github.com/berth-go/berth/internal/op/slide"
	"github.com/berth-go/berth/internal/op/view"
	"github.com/berth-go/berth/shape"
)

const epsilon = 1e-3

func reduction(b *builder, x graph.Value) ([]graph.Value, error) {
	axes := b.rng.Perm(len(x.Type().Shape))
	if len(axes) > 0 {
		axes = axes[:b.rng.IntN(len(axes)+1)]
	}
	return ops.Apply(reduce.Reduce{Kind: reduce.Kind(b.rng.IntN(12)), Axes: axes, NoopIfEmpty: b.oneIn(2), KeepDims: b.oneIn(2)}, x)
}

func argReduce(b *builder, x graph.Value) ([]graph.Value, error) {
	o := reduce.ArgReduce{Max: b.oneIn(2), Axis: b.axis(x.Type().Shape), KeepDims: b.oneIn(2), SelectLast: b.oneIn(2)}
	return ops.Apply(o, x)
}

func cumulative(b *builder, x graph.Value) ([]graph.Value, error) {
	kind := []reduce.Kind{reduce.Sum, reduce.Prod}[b.rng.IntN(2)]
	return b.tame(ops.Apply(reduce.Cumulative{Kind: kind, Axis: b.axis(x.Type().Shape), Exclusive: b.oneIn(2), Reverse: b.oneIn(2)}, x))
}

func topK(b *builder, x graph.Value, axis int) ([]graph.Value, error) {
	return ops.Apply(reduce.TopK{K: b.rng.IntN(x.Type().Shape[axis] + 1), Axis: axis, Largest: b.oneIn(2), Sorted: true}, x)
}

func softmax(b *builder, x graph.Value) ([]graph.Value, error) {
	return ops.Apply(norm.Softmax{Axis: b.axis(x.Type().Shape), Log: b.oneIn(2)}, b.float(x))
}

func hardmax(b *builder, x graph.Value) ([]graph.Value, error) {
	return ops.Apply(norm.Hardmax{Axis: b.axis(x.Type().Shape)}, b.float(x))
}

// scale returns what a normalisation over the axes of x from axis on may be
// scaled by: a value of all of these axes, of all of x, or none.
func (b *builder) scale(x graph.Value, axis int) graph.Value {
	t := x.Type()
	if b.oneIn(2) {
		t.Shape = t.Shape[max(axis, 0):]
	}
	return b.maybe(t)
}

func layerNorm(b *builder, x graph.Value) ([]graph.Value, error) {
	x = b.float(x)
	axis := b.axis(x.Type().Shape)
	o := norm.LayerNorm{Axis: axis, Epsilon: epsilon, Stats: b.oneIn(2)}
	return ops.Apply(o, x, b.scale(x, axis), b.scale(x, axis))
}

func rmsNorm(b *builder, x graph.Value) ([]graph.Value, error) {
	x = b.float(x)
	axis := b.axis(x.Type().Shape)
	return ops.Apply(norm.RMSNorm{Axis: axis, Epsilon: epsilon}, x, b.scale(x, axis))
}

func meanVarianceNorm(b *builder, x graph.Value) ([]graph.Value, error) {
	axes := b.rng.Perm(len(x.Type().Shape))
	if len(axes) > 0 {
		axes = axes[:1+b.rng.IntN(len(axes))]
	}
	return ops.Apply(norm.MeanVarianceNorm{Axes: axes, Epsilon: epsilon}, b.float(x))
}

func lpNorm(b *builder, x graph.Value) ([]graph.Value, error) {
	return ops.Apply(norm.LpNorm{Axis: b.axis(x.Type().Shape), P: 1 + b.rng.IntN(2)}, b.float(x))
}

// image returns x, or what else there is, as [samples, channels, spatial...].
func (b *builder) image(x graph.Value) graph.Value {
	x = b.float(x)
	if rank := len(x.Type().Shape); rank >= 3 && rank <= 4 {
		return x
	}
	s := shape.Shape{1 + b.rng.IntN(2), 1 + b.rng.IntN(4), 1 + b.rng.IntN(5), 1 + b.rng.IntN(5)}
	return b.of(graph.Type{DType: x.Type().DType, Shape: s[:3+b.rng.IntN(2)]})
}

// withChannels returns x and n values with an element for each of its channels.
func (b *builder) withChannels(x graph.Value, n int) []graph.Value {
	t := graph.Type{DType: x.Type().DType, Shape: shape.Shape{1}}
	if len(x.Type().Shape) > 1 {
		t.Shape = shape.Shape{x.Type().Shape[1]}
	}
	list := []graph.Value{x}
	for range n {
		list = append(list, b.of(t))
	}
	return list
}

// batchNorm is of any rank: x with one axis has one channel.
func batchNorm(b *builder, x graph.Value) ([]graph.Value, error) {
	return ops.Apply(norm.BatchNorm{Epsilon: 10}, b.withChannels(b.float(x), 4)...)
}

func batchNormTraining(b *builder, x graph.Value) ([]graph.Value, error) {
	return ops.Apply(norm.BatchNormTraining{Epsilon: epsilon, Momentum: 0.75}, b.withChannels(b.image(x), 4)...)
}

func instanceNorm(b *builder, x graph.Value) ([]graph.Value, error) {
	return ops.Apply(norm.InstanceNorm{Epsilon: epsilon}, b.withChannels(b.image(x), 2)...)
}

func groupNorm(b *builder, x graph.Value) ([]graph.Value, error) {
	return ops.Apply(norm.GroupNorm{Groups: 1 + b.rng.IntN(2), Epsilon: epsilon}, b.withChannels(b.image(x), 2)...)
}

func lrn(b *builder, x graph.Value) ([]graph.Value, error) {
	return ops.Apply(norm.LRN{Size: 1 + b.rng.IntN(4), Alpha: 0.5, Beta: 0.75, Bias: 1}, b.image(x))
}

// matMul multiplies x by its own transpose, or by what else fits.
func matMul(b *builder, x graph.Value) ([]graph.Value, error) {
	s := x.Type().Shape
	if len(s) == 0 {
		return nil, nil
	}
	y := x
	if b.oneIn(2) || len(s) < 2 {
		y = b.of(graph.Type{DType: x.Type().DType, Shape: shape.Shape{s[len(s)-1], b.extent()}})
	} else {
		y = b.transposed(x)
	}
	return b.tame(ops.Apply(linear.MatMul{}, x, y))
}

func gemm(b *builder, x graph.Value) ([]graph.Value, error) {
	if s := x.Type().Shape; len(s) != 2 {
		rows := 1
		if len(s) > 2 {
			rows = s[0]
		}
		x = b.one(view.Reshape{Shape: []int{rows, s.Elems() / max(rows, 1)}}, x)
	}
	s, d := x.Type().Shape, x.Type().DType
	o := linear.Gemm{Alpha: float64(b.rng.IntN(3)), Beta: float64(b.rng.IntN(2)), TransA: b.oneIn(2), TransB: b.oneIn(2)}
	m, k, n := s[0], s[1], b.extent()
	if o.TransA {
		m, k = k, m
	}
	right := shape.Shape{k, n}
	if o.TransB {
		right = shape.Shape{n, k}
	}
	c := []shape.Shape{{m, n}, {n}, {m, 1}, {}}[b.rng.IntN(4)]
	return b.tame(ops.Apply(o, x, b.of(graph.Type{DType: d, Shape: right}), b.maybe(graph.Type{DType: d, Shape: c})))
}

// recurrence takes x for the values.
func recurrence(b *builder, x graph.Value) ([]graph.Value, error) {
	x = b.float(x)
	s, d := x.Type().Shape, x.Type().DType
	batch := 1
	if len(s) > 1 {
		batch = s[0]
	}
	length := 1
	if len(s) > 2 {
		length = s[1]
	}
	of := func(dims ...int) graph.Type { return graph.Type{DType: d, Shape: dims} }
	keySize, valueSize := b.extent(), s.Elems()/max(batch*length, 1)
	v := b.one(view.Reshape{Shape: []int{batch, 1, length, valueSize}}, x)
	outs, err := b.tame(ops.Apply(linear.Recurrence{}, b.of(of(batch, 2, length, keySize)), b.of(of(batch, 1, length, keySize)), v,
		b.of(of(batch, 1, keySize, valueSize)), b.maybe(of(batch, 1, length, keySize)), b.maybe(of(batch, 1, length))))
	if err == nil {
		outs[1] = b.mod(outs[1], 7)
	}
	return outs, err
}

// sliding draws the attributes that convolutions and poolings have in common,
// for a number of spatial axes.
func (b *builder) sliding(axes int) (taps, strides, pads, dilations []int) {
	for range axes {
		taps, strides, dilations = append(taps, 1+b.rng.IntN(3)), append(strides, 1+b.rng.IntN(2)), append(dilations, 1+b.rng.IntN(2))
	}
	for range 2 * axes {
		pads = append(pads, b.rng.IntN(2))
	}
	return taps, strides, pads, dilations
}

func convolution(b *builder, x graph.Value) ([]graph.Value, error) {
	x = b.image(x)
	s, d := x.Type().Shape, x.Type().DType
	taps, strides, pads, dilations := b.sliding(len(s) - 2)
	group := 1
	if b.oneIn(3) {
		group = max(s[1], 1)
	}
	out := group * (1 + b.rng.IntN(3))
	weights := b.of(graph.Type{DType: d, Shape: append(shape.Shape{out, s[1] / group}, taps...)})
	o := conv.Conv{Strides: strides, Pads: pads, Dilations: dilations, Group: group}
	if b.oneIn(4) {
		o.Pads, o.AutoPad = nil, slide.SameUpper
	}
	bias := b.maybe(graph.Type{DType: d, Shape: shape.Shape{out}})
	if b.oneIn(2) {
		o.Winograd = true
		if _, err := o.Infer([]graph.Type{x.Type(), weights.Type()}); err != nil {
			o.Winograd = false
		}
	}
	return b.tame(ops.Apply(o, x, weights, bias))
}

// bottleneck takes x for an image with its channels last where that has as many axes.
func bottleneck(b *builder, x graph.Value) ([]graph.Value, error) {
	if x = b.float(x); x.Type().DType.IsHalf() {
		x = b.cast(x, dtype.Float32)
	}
	d := x.Type().DType
	of := func(dims ...int) graph.Type { return graph.Type{DType: d, Shape: dims} }
	if s := x.Type().Shape; len(s) != 4 || s.Elems() == 0 {
		x = b.of(of(1+b.rng.IntN(2), 1+b.rng.IntN(4), 1+b.rng.IntN(4), 1+b.rng.IntN(3)))
	}
	taps, strides, pads, dilations := b.sliding(2)
	in := x.Type().Shape[3]
	channels, out := in, 1+b.rng.IntN(3)
	var expand, expandBias, project, projectBias graph.Value
	kind := b.rng.IntN(3)
	if kind != 0 {
		channels = 1 + b.rng.IntN(4)
		expand, expandBias = b.of(of(channels, in, 1, 1)), b.maybe(of(channels))
	}
	if kind != 1 {
		project, projectBias = b.of(of(out, channels, 1, 1)), b.maybe(of(out))
	}
	o := conv.Bottleneck{Strides: strides, Pads: pads, Dilations: dilations}
	filter := b.of(of(channels, 1, taps[0], taps[1]))
	return b.tame(ops.Apply(o, x, expand, expandBias, filter, b.maybe(of(channels)), project, projectBias))
}

func convTranspose(b *builder, x graph.Value) ([]graph.Value, error) {
	x = b.image(x)
	s, d := x.Type().Shape, x.Type().DType
	taps, strides, pads, dilations := b.sliding(len(s) - 2)
	out := 1 + b.rng.IntN(3)
	weights := b.of(graph.Type{DType: d, Shape: append(shape.Shape{s[1], out}, taps...)})
	o := conv.ConvTranspose{Strides: strides, Pads: pads, Dilations: dilations}
	return b.tame(ops.Apply(o, x, weights, b.maybe(graph.Type{DType: d, Shape: shape.Shape{out}})))
}

func pooling(b *builder, x graph.Value) ([]graph.Value, error) {
	x = b.image(x)
	taps, strides, pads, dilations := b.sliding(len(x.Type().Shape) - 2)
	o := pool.Pool{
		Kind: pool.Kind(b.rng.IntN(3)), KernelShape: taps, Strides: strides, Pads: pads, Dilations: dilations,
		CeilMode: b.oneIn(2), CountIncludePad: b.oneIn(2),
	}
	o.Indices = o.Kind == pool.Max && b.oneIn(2)
	return ops.Apply(o, x)
}

// determinant takes matrices out of x, or others of its type.
func determinant(b *builder, x graph.Value) ([]graph.Value, error) {
	x = b.float(x)
	s := x.Type().Shape
	if len(s) < 2 || s[len(s)-1] != s[len(s)-2] {
		n := b.rng.IntN(4)
		x = b.of(graph.Type{DType: x.Type().DType, Shape: shape.Shape{b.extent(), n, n}})
	}
	return b.tame(ops.Apply(linear.Det{}, x))
}

func globalPool(b *builder, x graph.Value) ([]graph.Value, error) {
	return ops.Apply(pool.GlobalPool{Kind: pool.Kind(b.rng.IntN(3))}, b.image(x))
}
