package graphtest

import (
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/internal/op/ops"
	"github.com/berth-go/berth/internal/op/view"
	"github.com/berth-go/berth/shape"
)

// A drawing makes nodes of one op.
type drawing struct {
	weight int // how often it is drawn, 1 at least
	// draw returns new values made of x and whatever else it picks; none, or an
	// error of the op, where x will not do.
	draw func(b *builder, x graph.Value) ([]graph.Value, error)
}

// draws has a drawing for each op, by the op's name.
var draws = map[string]drawing{
	"identity":     {1, func(b *builder, x graph.Value) ([]graph.Value, error) { return ops.Apply(graph.Identity{}, x) }},
	"contiguous":   {2, func(b *builder, x graph.Value) ([]graph.Value, error) { return ops.Apply(graph.Contiguous{}, x) }},
	"cache":        {1, func(b *builder, x graph.Value) ([]graph.Value, error) { return ops.Apply(graph.Cache{}, x) }},
	"reshape":      {3, reshape},
	"permute":      {3, permute},
	"slice_view":   {4, along(slice)},
	"broadcast_to": {1, broadcast},
	"diagonal":     {1, diagonal},
	"bitcast":      {1, bitcast},

	"map":    {8, mapped},
	"concat": {6, along(concat)},
	"tile":   {1, tile},
	"pad":    {1, pad},

	"gather":           {1, along(gather)},
	"gather_elements":  {1, along(gatherElements)},
	"gather_nd":        {1, gatherND},
	"scatter_elements": {3, along(scatterElements)},
	"scatter_nd":       {2, scatterND},
	"one_hot":          {1, oneHot},
	"trilu":            {1, trilu},
	"reverse_sequence": {1, reverseSequence},
	"fill":             {1, fill},
	"iota":             {1, ramp},
	"list":             {1, list},
	"eye":              {1, eye},

	"reduce":     {2, reduction},
	"arg_reduce": {1, argReduce},
	"cumulative": {1, cumulative},
	"top_k":      {1, along(topK)},

	"softmax":             {1, softmax},
	"hardmax":             {1, hardmax},
	"layer_norm":          {1, layerNorm},
	"rms_norm":            {1, rmsNorm},
	"mean_variance_norm":  {1, meanVarianceNorm},
	"lp_norm":             {1, lpNorm},
	"batch_norm":          {1, batchNorm},
	"batch_norm_training": {1, batchNormTraining},
	"instance_norm":       {1, instanceNorm},
	"group_norm":          {1, groupNorm},
	"lrn":                 {1, lrn},

	"matmul":         {2, matMul},
	"gemm":           {1, gemm},
	"recurrence":     {1, recurrence},
	"conv":           {1, convolution},
	"bottleneck":     {1, bottleneck},
	"conv_transpose": {1, convTranspose},
	"pool":           {1, pooling},
	"global_pool":    {1, globalPool},
	"quant_matmul":   {1, quantMatMul},
	"quant_conv":     {1, quantConv},
	"quantize":       {1, quantize},
	"dequantize":     {1, dequantize},
	"quant_add":      {2, quantAdd},

	"rnn":              {1, rnn},
	"gru":              {1, gru},
	"lstm":             {1, lstm},
	"resize":           {1, resize},
	"grid_sample":      {1, gridSample},
	"roi_align":        {1, roiAlign},
	"tree_ensemble":    {3, treeEnsemble},
	"lookup":           {1, lookup},
	"squared_distance": {2, squaredDistance},
	"couple":           {3, couple},
	"random_uniform":   {1, uniform},
	"random_normal":    {1, normal},
	"det":              {1, determinant},
	"deform_columns":   {1, deformColumns},
	"max_roi":          {1, maxRoi},
	"n_grams":          {1, nGrams},
	"dft":              {1, along(fourier)},
}

// along lets a drawing pick an axis of x, which has one at least.
func along(draw func(b *builder, x graph.Value, axis int) ([]graph.Value, error)) func(b *builder, x graph.Value) ([]graph.Value, error) {
	return func(b *builder, x graph.Value) ([]graph.Value, error) {
		if len(x.Type().Shape) == 0 {
			return nil, nil
		}
		return draw(b, x, b.axis(x.Type().Shape))
	}
}

func reshape(b *builder, x graph.Value) ([]graph.Value, error) {
	return ops.Apply(view.Reshape{Shape: b.reshaped(x.Type().Shape)}, x)
}

func permute(b *builder, x graph.Value) ([]graph.Value, error) {
	return ops.Apply(view.Permute{Perm: b.rng.Perm(len(x.Type().Shape))}, x)
}

// slice takes a part of an axis in steps, or cuts the axis in two.
func slice(b *builder, x graph.Value, axis int) ([]graph.Value, error) {
	extent := x.Type().Shape[axis]
	if b.oneIn(2) {
		at := b.rng.IntN(extent + 1)
		head, err := ops.One(view.SliceView{Axis: axis, N: at, Step: 1}, x)
		if err != nil {
			return nil, err
		}
		tail, err := ops.One(view.SliceView{Axis: axis, Start: at, N: extent - at, Step: 1}, x)
		return []graph.Value{head, tail}, err
	}
	if extent == 0 {
		return nil, nil
	}
	start, end, step := b.rng.IntN(extent), b.rng.IntN(extent+1), []int{1, 1, 2, -1, -2}[b.rng.IntN(5)]
	if step < 0 {
		end -= extent + 1
	}
	first, n, err := view.SliceRange(start, end, step, extent)
	if err != nil || n == 0 && !b.oneIn(8) {
		return nil, err
	}
	return ops.Apply(view.SliceView{Axis: axis, Start: first, N: n, Step: step}, x)
}

func broadcast(b *builder, x graph.Value) ([]graph.Value, error) {
	s := x.Type().Shape
	to := append(shape.Shape{1 + b.rng.IntN(3)}, s...)
	for i, e := range s {
		if e == 1 {
			to[i+1] = 1 + b.rng.IntN(3)
		}
	}
	return ops.Apply(view.BroadcastTo{Shape: to[b.rng.IntN(2):]}, x)
}

func diagonal(b *builder, x graph.Value) ([]graph.Value, error) {
	rank := len(x.Type().Shape)
	if rank < 2 {
		return nil, nil
	}
	axes := b.rng.Perm(rank)
	return ops.Apply(view.Diagonal{Axis1: axes[0], Axis2: axes[1], Offset: b.rng.IntN(3) - 1}, x)
}

func bitcast(b *builder, x graph.Value) ([]graph.Value, error) {
	// Bits of integers would be floating-point numbers of any size.
	to := map[int]dtype.Type{1: dtype.Int8, 2: dtype.Int16, 4: dtype.Int32, 8: dtype.Int64}[x.Type().DType.Size()]
	if x.Type().DType == dtype.Bool {
		return nil, nil
	}
	return ops.Apply(view.Bitcast{To: to}, x)
}

// arithmetic are the codes that keep small numbers small, or nearly so.
var arithmetic = []elementwise.Code{elementwise.Add, elementwise.Sub, elementwise.Mul, elementwise.Minimum, elementwise.Maximum}

// mapped draws any code, or a program of a few instructions that reads its
// inputs at different times.
func mapped(b *builder, x graph.Value) ([]graph.Value, error) {
	d := x.Type().DType
	if d != dtype.Bool && b.oneIn(3) {
		return b.program(x)
	}
	if b.oneIn(4) {
		return []graph.Value{b.cast(x, b.typ(types))}, nil
	}
	code := arithmetic[b.rng.IntN(len(arithmetic))]
	if d == dtype.Bool || b.oneIn(3) {
		for code = 0; !code.Valid() || code == elementwise.Cast; {
			code = elementwise.Code(b.rng.IntN(256))
		}
	}
	args := []graph.Value{x, b.like(x), b.like(x)}[:code.Arity()]
	if code == elementwise.Where {
		args[0] = b.of(graph.Type{DType: dtype.Bool, Shape: x.Type().Shape})
	}
	v, err := elementwise.Apply(code, nil, args...)
	if b.oneIn(2) {
		return b.tame([]graph.Value{v}, err)
	}
	return []graph.Value{v}, err
}

// program returns a map in which each instruction reads the result before and
// an input or a scalar.
func (b *builder) program(x graph.Value) ([]graph.Value, error) {
	inputs := []graph.Value{x}
	for range b.rng.IntN(3) {
		if y := b.like(x); !slices.Contains(inputs, y) || b.oneIn(2) {
			inputs = append(inputs, y)
		}
	}
	var program elementwise.Program
	add := func(arg elementwise.Arg) {
		code := arithmetic[b.rng.IntN(len(arithmetic))]
		program = append(program, elementwise.Instr{Code: code, Args: [3]elementwise.Arg{elementwise.ResultArg(len(program) - 1), arg}})
	}
	program = append(program, elementwise.Instr{Code: elementwise.Abs, Args: [3]elementwise.Arg{elementwise.InputArg(0)}})
	for i := range inputs {
		add(elementwise.InputArg(i))
	}
	for range b.rng.IntN(4) {
		add(elementwise.InputArg(b.rng.IntN(len(inputs))))
	}
	add(elementwise.ScalarArg(kernel.Int64Scalar(3).Cast(x.Type().DType)))
	return b.tame(ops.Apply(elementwise.Map{Program: program}, inputs...))
}

// concat joins views of x, parts of it, other values, and what is computed of
// these for the purpose, and so may be written into its place. It may go on and
// join the result, along any axis.
func concat(b *builder, x graph.Value, axis int) ([]graph.Value, error) {
	var parts []graph.Value
	for range 1 + b.rng.IntN(4) {
		part := b.view(x)
		switch extent := x.Type().Shape[axis]; b.rng.IntN(4) {
		case 0:
			if extent > 0 {
				start := b.rng.IntN(extent)
				part = b.one(view.SliceView{Axis: axis, Start: start, N: 1 + b.rng.IntN(extent-start), Step: 1}, part)
			}
		case 1, 2:
			s := x.Type().Shape.Clone()
			s[axis] = b.extent()
			part = b.of(graph.Type{DType: x.Type().DType, Shape: s})
		}
		if b.oneIn(2) {
			part = b.fresh(part)
		}
		parts = append(parts, part)
	}
	outs, err := ops.Apply(move.Concat{Axis: axis}, parts...)
	if err == nil && b.oneIn(2) && outs[0].Type().Shape.Elems() < most/4 {
		more, err := along(concat)(b, outs[0])
		return append(outs, more...), err
	}
	return outs, err
}

// fresh returns a value computed of x, by a node that nothing else reads.
func (b *builder) fresh(x graph.Value) graph.Value {
	code := elementwise.Abs
	if x.Type().DType == dtype.Bool {
		code = elementwise.Not
	}
	return b.one(elementwise.Map{Program: elementwise.Program{{Code: code, Args: [3]elementwise.Arg{elementwise.InputArg(0)}}}}, x)
}

func tile(b *builder, x graph.Value) ([]graph.Value, error) {
	repeats := make([]int, len(x.Type().Shape))
	for i := range repeats {
		if repeats[i] = 1; b.oneIn(2) {
			repeats[i] = b.rng.IntN(4)
		}
	}
	return ops.Apply(move.Tile{Repeats: repeats}, x)
}

func pad(b *builder, x graph.Value) ([]graph.Value, error) {
	pads := make([]int, 2*len(x.Type().Shape))
	for i := range pads {
		pads[i] = b.rng.IntN(4) - 1
	}
	o := move.Pad{Mode: move.PadMode(b.rng.IntN(4)), Pads: pads}
	return ops.Apply(o, x, b.maybe(graph.Type{DType: x.Type().DType, Shape: shape.Shape{}}))
}

func gather(b *builder, x graph.Value, axis int) ([]graph.Value, error) {
	s := make(shape.Shape, b.rng.IntN(3))
	for i := range s {
		s[i] = b.rng.IntN(4)
	}
	at := b.index(s, x.Type().Shape[axis])
	return ops.Apply(move.Gather{Axis: axis}, x, at)
}

// beside returns a shape of indices into an axis of s: no larger than s on the
// other axes, of any extent on the axis itself.
func (b *builder) beside(s shape.Shape, axis int) shape.Shape {
	s = s.Clone()
	for i, e := range s {
		if i == axis {
			s[i] = b.rng.IntN(e + 2)
		} else if e > 0 && b.oneIn(3) {
			s[i] = 1 + b.rng.IntN(e)
		}
	}
	return s
}

func gatherElements(b *builder, x graph.Value, axis int) ([]graph.Value, error) {
	at := b.index(b.beside(x.Type().Shape, axis), x.Type().Shape[axis])
	return ops.Apply(move.GatherElements{Axis: axis}, x, at)
}

// tuples returns the shape of index tuples of the given length, and how far
// each of their indices may go in data of shape s.
func (b *builder) tuples(s shape.Shape) (dims shape.Shape, extent int) {
	n := 1 + b.rng.IntN(len(s))
	dims = make(shape.Shape, 1+b.rng.IntN(2))
	for i := range dims {
		dims[i] = b.rng.IntN(4)
	}
	return append(dims, n), slices.Min(s[:n])
}

func gatherND(b *builder, x graph.Value) ([]graph.Value, error) {
	if len(x.Type().Shape) == 0 {
		return nil, nil
	}
	dims, extent := b.tuples(x.Type().Shape)
	at := b.index(dims, extent)
	return ops.Apply(move.GatherND{}, x, at)
}

// scatterElements scatters onto x, or onto a value made of it that is its own
// index.
func scatterElements(b *builder, x graph.Value, axis int) ([]graph.Value, error) {
	s := x.Type().Shape
	dims := s
	if b.oneIn(2) {
		dims = b.beside(s, axis)
	}
	at := b.index(dims, s[axis])
	if x.Type().DType.IsInteger() && s[axis] > 0 && b.oneIn(2) {
		x = b.mod(b.cast(x, dtype.Int64), s[axis])
		at = b.view(x)
		dims = s
	}
	updates := b.of(graph.Type{DType: x.Type().DType, Shape: dims})
	if dims.Equal(s) && b.oneIn(2) {
		updates = b.view(x)
	}
	return ops.Apply(move.ScatterElements{Axis: axis, Reduction: move.Reduction(b.rng.IntN(5))}, x, at, updates)
}

func scatterND(b *builder, x graph.Value) ([]graph.Value, error) {
	s := x.Type().Shape
	if len(s) == 0 {
		return nil, nil
	}
	dims, extent := b.tuples(s)
	if b.oneIn(2) { // a tuple for each element of the first axis, as many as there are
		dims, extent = shape.Shape{s[0], 1}, s[0]
	}
	last := len(dims) - 1
	at := b.index(dims, extent)
	want := append(dims[:last:last], s[dims[last]:]...)
	updates := b.of(graph.Type{DType: x.Type().DType, Shape: want})
	if want.Equal(s) && b.oneIn(2) {
		updates = b.view(x)
	}
	return ops.Apply(move.ScatterND{Reduction: move.Reduction(b.rng.IntN(5))}, x, at, updates)
}

func oneHot(b *builder, x graph.Value) ([]graph.Value, error) {
	if d := x.Type().DType; d != dtype.Int64 && d != dtype.Int32 {
		x = b.cast(x, dtype.Int64)
	}
	o := move.OneHot{Axis: b.rng.IntN(len(x.Type().Shape) + 1), Depth: b.rng.IntN(5)}
	return ops.Apply(o, x, b.of(graph.Type{DType: b.typ(types), Shape: shape.Shape{2}}))
}

func trilu(b *builder, x graph.Value) ([]graph.Value, error) {
	return ops.Apply(move.Trilu{Upper: b.oneIn(2), K: b.rng.IntN(5) - 2}, x)
}

func reverseSequence(b *builder, x graph.Value) ([]graph.Value, error) {
	s := x.Type().Shape
	if len(s) < 2 {
		return nil, nil
	}
	axes := b.rng.Perm(len(s))
	lengths := b.numbers(graph.Type{DType: dtype.Int64, Shape: shape.Shape{s[axes[0]]}}, 0, s[axes[1]]+1)
	return ops.Apply(move.ReverseSequence{BatchAxis: axes[0], TimeAxis: axes[1]}, x, lengths)
}

func fill(b *builder, x graph.Value) ([]graph.Value, error) {
	return ops.Apply(move.Fill{Shape: x.Type().Shape, Value: kernel.Int64Scalar(int64(b.rng.IntN(7))).Cast(x.Type().DType)})
}

func ramp(b *builder, x graph.Value) ([]graph.Value, error) {
	scalar := func() kernel.Scalar { return kernel.Int64Scalar(int64(b.rng.IntN(3))).Cast(x.Type().DType) }
	return ops.Apply(move.Iota{N: b.extent(), Start: scalar(), Delta: scalar()})
}

func list(b *builder, _ graph.Value) ([]graph.Value, error) {
	elems := make([]int, b.extent())
	for i := range elems {
		elems[i] = b.rng.IntN(7)
	}
	return ops.Apply(move.List{Elems: elems})
}

func eye(b *builder, x graph.Value) ([]graph.Value, error) {
	return ops.Apply(move.Eye{Rows: b.extent(), Cols: b.extent(), K: b.rng.IntN(3) - 1, DType: x.Type().DType})
}
