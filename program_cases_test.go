package berth_test

import (
	"github.com/berth-go/berth"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/conv"
	"github.com/berth-go/berth/internal/op/linear"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/internal/op/norm"
	"github.com/berth-go/berth/internal/op/pool"
	"github.com/berth-go/berth/internal/op/quant"
	"github.com/berth-go/berth/internal/op/recurrent"
	"github.com/berth-go/berth/internal/op/resample"
	"github.com/berth-go/berth/internal/op/signal"
	"github.com/berth-go/berth/internal/op/tabular"
	"github.com/berth-go/berth/internal/op/view"
)

// programCases holds a program for each op at least; what the ops compute is
// tested elsewhere.
var programCases = []programCase{
	{"map", []operand{x(n, 5)}, func(in ...*berth.Promise) []*berth.Promise {
		return one(in[0].Exp().Add(f32(5)).MulScalar(3))
	}},
	{"map of two inputs", []operand{x(n, 5), {"z", berth.Float32, -1, 1, []int{n, 1}}}, func(in ...*berth.Promise) []*berth.Promise {
		return one(in[0].Mul(in[1]).Tanh())
	}},
	{"map of types", []operand{x(n, 3), {"b", berth.Bool, 0, 1, []int{n, 3}}, {"k", berth.Int16, -9, 9, []int{n, 3}}}, func(in ...*berth.Promise) []*berth.Promise {
		return []*berth.Promise{in[1].Where(in[0], in[0].Neg()), in[2].Cast(berth.Float16).Exp(), in[0].MulScalar(9).Cast(berth.Uint8)}
	}},
	{"halves", []operand{{"x", berth.Float16, -1, 1, []int{n, 6}}, {"z", berth.BFloat16, -1, 1, []int{6, n}}}, func(in ...*berth.Promise) []*berth.Promise {
		return []*berth.Promise{in[0].Softmax(1).MatMul(in[0].Transpose()), in[1].Sum(0).Add(in[1].Index(0, 0))}
	}},
	{"wide map", []operand{x(n, 3000)}, func(in ...*berth.Promise) []*berth.Promise {
		return one(in[0].Sigmoid().Mul(in[0]))
	}},
	{"sum over rows", []operand{x(n, 40)}, func(in ...*berth.Promise) []*berth.Promise {
		return []*berth.Promise{in[0].Sum(0), in[0].Mean(1), in[0].LogSumExp(), in[0].MaxKeep(0), in[0].L2(0)}
	}},
	{"argmax", []operand{x(n, 7)}, func(in ...*berth.Promise) []*berth.Promise {
		return []*berth.Promise{in[0].ArgMax(1, false), in[0].ArgMin(0, true)}
	}},
	{"cumulative", []operand{x(n, 7)}, func(in ...*berth.Promise) []*berth.Promise {
		return []*berth.Promise{in[0].CumSum(0), in[0].CumProd(1)}
	}},
	{"top-k", []operand{x(n, 9)}, func(in ...*berth.Promise) []*berth.Promise {
		v, at := in[0].TopK(4, 1, true)
		return []*berth.Promise{v, at}
	}},
	{"softmax", []operand{x(n, 9)}, func(in ...*berth.Promise) []*berth.Promise {
		return []*berth.Promise{in[0].Softmax(1), in[0].Softmax(0), in[0].LogSoftmax(1)}
	}},
	{"determinants", []operand{x(n, 4, 4)}, func(in ...*berth.Promise) []*berth.Promise { return apply(linear.Det{}, in[0]) }},
	{"columns at taps that are moved", []operand{x(n, 2, 4, 4), {"at", berth.Float32, -2, 2, []int{n, 8, 3, 3}}}, func(in ...*berth.Promise) []*berth.Promise {
		return apply(conv.DeformColumns{KernelShape: []int{2, 2}}, in...)
	}},
	{"regions", []operand{x(n, 2, 4, 4), {"z", berth.Float32, 0, .9, []int{n, 5}}}, func(in ...*berth.Promise) []*berth.Promise {
		return apply(pool.MaxRoi{Height: 2, Width: 2, Scale: 4}, in...)
	}},
	{"runs of tokens", []operand{i(2, n, 9)}, func(in ...*berth.Promise) []*berth.Promise {
		return apply(tabular.NGrams{Least: 1, Most: 2, Skip: 1, Pool: []int{1, 1, 0}, Starts: []int{0, 1}, Columns: []int{1, 0}}, in[0])
	}},
	{"spectra", []operand{x(n, 12, 1)}, func(in ...*berth.Promise) []*berth.Promise {
		return append(apply(signal.DFT{Axis: 1, Length: 12, OneSided: true}, in[0]), apply(signal.DFT{Axis: 1, Length: 37}, in[0])...)
	}},
	{"hardmax", []operand{x(n, 9)}, func(in ...*berth.Promise) []*berth.Promise { return apply(norm.Hardmax{Axis: -1}, in[0]) }},
	{"layer norm", []operand{x(n, 3, 8)}, func(in ...*berth.Promise) []*berth.Promise {
		return one(in[0].LayerNorm(-1, f32(8), f32(8), 1e-5))
	}},
	{"rms norm", []operand{x(n, 8)}, func(in ...*berth.Promise) []*berth.Promise {
		return apply(norm.RMSNorm{Axis: -1, Epsilon: 1e-5}, in[0], f32(8))
	}},
	{"mean variance norm", []operand{x(n, 4, 3)}, func(in ...*berth.Promise) []*berth.Promise {
		return apply(norm.MeanVarianceNorm{Axes: []int{0, 2}, Epsilon: 1e-9}, in[0])
	}},
	{"lp norm", []operand{x(n, 8)}, func(in ...*berth.Promise) []*berth.Promise {
		return apply(norm.LpNorm{Axis: 1, P: 2}, in[0])
	}},
	{"batch norm", []operand{x(n, 3, 4, 5)}, func(in ...*berth.Promise) []*berth.Promise {
		return one(in[0].BatchNorm(f32(3), f32(3), f32(3), f32(3), 1e-5))
	}},
	{"batch norm that is given its scale", []operand{x(n, 3, 4, 5), {"scale", berth.Float32, -1, 1, []int{3}}}, func(in ...*berth.Promise) []*berth.Promise {
		return one(in[0].BatchNorm(in[1], f32(3), f32(3), f32(3), 1e-5))
	}},
	{"batch norm training", []operand{x(n, 3, 4)}, func(in ...*berth.Promise) []*berth.Promise {
		return apply(norm.BatchNormTraining{Epsilon: 1e-5, Momentum: 0.9}, in[0], f32(3), f32(3), f32(3), f32(3))
	}},
	{"instance norm", []operand{x(n, 3, 4)}, func(in ...*berth.Promise) []*berth.Promise {
		return apply(norm.InstanceNorm{Epsilon: 1e-5}, in[0], f32(3), f32(3))
	}},
	{"group norm", []operand{x(n, 4, 5)}, func(in ...*berth.Promise) []*berth.Promise {
		return apply(norm.GroupNorm{Groups: 2, Epsilon: 1e-5}, in[0], f32(4), f32(4))
	}},
	{"local response norm", []operand{x(n, 6, 3, 2)}, func(in ...*berth.Promise) []*berth.Promise {
		return apply(norm.LRN{Size: 3, Alpha: 1e-3, Beta: 0.75, Bias: 1}, in[0])
	}},
	{"rnn of any length", []operand{x(n, 3, 6), {"lens", berth.Int32, 0, 1, []int{3}}}, func(in ...*berth.Promise) []*berth.Promise {
		return apply(recurrent.RNN{}, in[0], f32(1, 6, 6), in[1])
	}},
	{"gru of any batch", []operand{x(4, n, 30), {"lens", berth.Int32, 0, 4, []int{n}}, {"h", berth.Float32, -1, 1, []int{2, n, 5}}}, func(in ...*berth.Promise) []*berth.Promise {
		return apply(recurrent.GRU{Direction: recurrent.Bidirectional}, in[0], f32(2, 15, 5), in[1], in[2])
	}},
	{"lstm of any batch", []operand{x(4, n, 20), {"lens", berth.Int32, 0, 4, []int{n}}, {"h", berth.Float32, -1, 1, []int{1, n, 5}}, {"c", berth.Float32, -1, 1, []int{1, n, 5}}}, func(in ...*berth.Promise) []*berth.Promise {
		return apply(recurrent.LSTM{Final: true}, in[0], f32(1, 20, 5), in[1], in[2], in[3], f32(1, 15))
	}},
	{"recurrence of any batch", []operand{x(n, 2, 4, 3)}, func(in ...*berth.Promise) []*berth.Promise {
		k := in[0].Slice(1, 0, 1, 1)
		state := k.Slice(2, 0, 3, 1)
		return apply(linear.Recurrence{}, in[0], k, k.MulScalar(2), state, k.AddScalar(-1), k.Sigmoid().Slice(3, 0, 1, 1).Squeeze(3))
	}},
	{"matmul", []operand{x(n, 20)}, func(in ...*berth.Promise) []*berth.Promise {
		return one(in[0].MatMul(f32(20, 30)).AddScalar(1).MatMul(f32(30, 3)))
	}},
	{"matmul with itself", []operand{x(n, 20)}, func(in ...*berth.Promise) []*berth.Promise {
		return []*berth.Promise{in[0].MatMul(in[0].Transpose()), in[0].Transpose().MatMul(in[0])}
	}},
	{"batched matmul", []operand{x(n, 4, 6)}, func(in ...*berth.Promise) []*berth.Promise {
		return one(in[0].MatMul(f32(6, 5)).Transpose().MatMul(in[0]))
	}},
	{"gemm", []operand{x(n, 10)}, func(in ...*berth.Promise) []*berth.Promise {
		return apply(linear.Gemm{Alpha: 0.5, Beta: 2, TransB: true}, in[0], f32(7, 10), f32(7))
	}},
	{"conv", []operand{x(n, 3, 9, 8)}, func(in ...*berth.Promise) []*berth.Promise {
		pad := &berth.ConvOptions{Window: berth.Window{Pads: []int{1, 1, 1, 1}}}
		p := in[0].Conv(f32(8, 3, 3, 3), f32(8), pad).Relu()
		depth := &berth.ConvOptions{Groups: 8, Window: berth.Window{Strides: []int{2, 2}}}
		return one(p.Conv(f32(8, 1, 3, 3), nil, depth).Conv(f32(4, 8, 1, 1), f32(4), nil))
	}},
	{"product of 8-bit numbers", []operand{{"x", berth.Uint8, 0, 255, []int{n, 5, 40}}}, func(in ...*berth.Promise) []*berth.Promise {
		w, zero, zeros := fixed(berth.Int8, -128, 127, 40, 9), fixed(berth.Uint8, 0, 255), fixed(berth.Int8, -4, 4, 9)
		sums := apply(quant.MatMul{}, in[0], w, zero, zeros)
		return append(sums, apply(quant.MatMul{To: berth.Uint8}, in[0], w, zero, zeros, fixed(berth.Float32, 0, 1e-3, 9), fixed(berth.Uint8, 0, 255))...)
	}},
	{"numbers of 8 bits and back", []operand{x(n, 5, 40)}, func(in ...*berth.Promise) []*berth.Promise {
		scale, zero := fixed(berth.Float32, 0.01, 0.1), fixed(berth.Uint8, 0, 255)
		q := apply(quant.Quantize{To: berth.Uint8}, in[0], scale, zero)[0]
		sum := apply(quant.Add{}, q, scale, zero, fixed(berth.Uint8, 0, 255, 40), scale, zero, scale, zero)[0]
		return append(apply(quant.Dequantize{}, sum, fixed(berth.Float32, 0, 1, 5, 1)), sum)
	}},
	{"bottleneck", []operand{x(n, 32, 16, 17)}, func(in ...*berth.Promise) []*berth.Promise {
		window := &berth.ConvOptions{Window: berth.Window{Pads: []int{1, 1, 1, 1}}, Groups: 192}
		p := in[0].Conv(f32(192, 32, 1, 1), f32(192), nil).Relu().Conv(f32(192, 1, 3, 3), f32(192), window).Relu()
		return one(p.Conv(f32(32, 192, 1, 1), f32(32), nil).Add(in[0]))
	}},
	{"conv of 8-bit numbers", []operand{{"x", berth.Int8, -128, 127, []int{n, 4, 9, 8}}}, func(in ...*berth.Promise) []*berth.Promise {
		o := quant.Conv{Pads: []int{1, 1, 1, 1}, Group: 2, To: berth.Int8}
		return apply(o, in[0], fixed(berth.Int8, -128, 127, 6, 2, 3, 3), fixed(berth.Int8, -9, 9), fixed(berth.Int8, -9, 9, 6), fixed(berth.Float32, 0, 1e-3, 6))
	}},
	{"conv of one axis", []operand{x(n, 2, 30)}, func(in ...*berth.Promise) []*berth.Promise {
		return one(in[0].Conv(f32(4, 2, 5), f32(4), &berth.ConvOptions{Window: berth.Window{Dilations: []int{2}}}))
	}},
	{"conv over rows", []operand{x(1, 2, n)}, func(in ...*berth.Promise) []*berth.Promise {
		return one(in[0].Conv(f32(3, 2, 3), nil, &berth.ConvOptions{Window: berth.Window{Pads: []int{1, 1}}}))
	}},
	{"transposed conv", []operand{x(n, 3, 5, 4)}, func(in ...*berth.Promise) []*berth.Promise {
		return apply(conv.ConvTranspose{Strides: []int{2, 1}}, in[0], f32(3, 2, 3, 3), f32(2))
	}},
	{"pools", []operand{x(n, 3, 9, 8)}, func(in ...*berth.Promise) []*berth.Promise {
		w := &berth.PoolOptions{Window: berth.Window{Strides: []int{2, 2}, Pads: []int{1, 1, 0, 0}}}
		return []*berth.Promise{in[0].MaxPool([]int{2, 3}, w), in[0].AveragePool([]int{3, 3}, w)}
	}},
	{"resize", []operand{x(n, 3, 4), {"z", berth.Float32, -1, 1, []int{3, 4, n}}}, func(in ...*berth.Promise) []*berth.Promise {
		return append(apply(resample.Resize{Mode: resample.Linear, Scales: []float64{1, 2, 1.5}}, in[0]),
			apply(resample.Resize{Scales: []float64{1, 0.5, 2}}, in[1])...)
	}},
	{"grid sample", []operand{x(n, 3, 4, 5), {"grid", berth.Float32, -1, 1, []int{n, 6, 7, 2}}}, func(in ...*berth.Promise) []*berth.Promise {
		return apply(resample.GridSample{Mode: resample.Linear}, in...)
	}},
	{"regions", []operand{x(2, 3, 9, 8), {"rois", berth.Float32, 0, 9, []int{n, 4}}, {"at", berth.Int64, 0, 1, []int{n}}}, func(in ...*berth.Promise) []*berth.Promise {
		return apply(resample.RoiAlign{Height: 2, Width: 3, SamplingRatio: 2, Scale: 1}, in...)
	}},
	{"global pool", []operand{x(n, 3, 9, 8)}, func(in ...*berth.Promise) []*berth.Promise {
		return apply(pool.GlobalPool{Kind: pool.Average}, in[0])
	}},
	{"gather", []operand{x(n, 6), i(5, 4)}, func(in ...*berth.Promise) []*berth.Promise {
		return []*berth.Promise{in[0].Gather(1, in[1]), f32(6, 3).Gather(0, in[1])}
	}},
	{"gather rows", []operand{{"i", berth.Int32, 0, 9, []int{n, 2}}}, func(in ...*berth.Promise) []*berth.Promise {
		return one(f32(10, 7).Gather(0, in[0]).Sum(1))
	}},
	{"gather elements", []operand{x(n, 6), i(5, n, 4)}, func(in ...*berth.Promise) []*berth.Promise {
		return one(in[0].GatherElements(1, in[1]))
	}},
	{"gather nd", []operand{x(n, 5, 4), {"i", berth.Int64, 0, 3, []int{n, 3, 2}}}, func(in ...*berth.Promise) []*berth.Promise {
		return apply(move.GatherND{BatchDims: 1}, in[0], in[1])
	}},
	{"scatter elements", []operand{x(n, 6), i(5, n, 3), {"u", berth.Float32, 0, 1, []int{n, 3}}}, func(in ...*berth.Promise) []*berth.Promise {
		return one(in[0].AddScalar(1).ScatterElements(1, in[1], in[2], berth.ScatterAdd))
	}},
	{"scatter nd", []operand{x(n, 4), {"i", berth.Int64, 0, 0, []int{3, 1}}}, func(in ...*berth.Promise) []*berth.Promise {
		return apply(move.ScatterND{Reduction: berth.ScatterMax}, in[0], in[1], f32(3, 4))
	}},
	{"tree ensemble", []operand{x(n, 3)}, func(in ...*berth.Promise) []*berth.Promise {
		leaf := func(target int) tabular.Node { return tabular.Node{Votes: []tabular.Vote{{Target: target, Weight: 2}}} }
		f := tabular.Forest{Roots: []int{0}, Nodes: []tabular.Node{{Mode: tabular.Less, Feature: 2, True: 1, False: 2}, leaf(0), leaf(1)}}
		t := must(f.Tables(3, 2, nil))
		reals := func(data []float64) *berth.Promise {
			return must(berth.FromSlice(data, len(data))).Promise().Cast(berth.Float32)
		}
		ints := func(data []int32, dims ...int) *berth.Promise { return must(berth.FromSlice(data, dims...)).Promise() }
		return apply(tabular.TreeEnsemble{Targets: 2}, in[0], ints(t.Nodes, 3, tabular.Columns), reals(t.Thresholds),
			ints(t.Roots, 1), ints(t.Targets, 2), reals(t.Weights))
	}},
	{"distances", []operand{x(n, 3)}, func(in ...*berth.Promise) []*berth.Promise {
		return apply(tabular.SquaredDistance{}, in[0], f32(4, 3))
	}},
	{"coupled pairs", []operand{x(n, 3)}, func(in ...*berth.Promise) []*berth.Promise {
		return apply(tabular.Couple{Classes: 3}, in[0].Sigmoid())
	}},
	{"lookup", []operand{i(6, n, 2)}, func(in ...*berth.Promise) []*berth.Promise {
		return apply(tabular.Lookup{}, in[0], must(berth.FromSlice([]int64{-3, 0, 2}, 3)).Promise())
	}},
	{"one-hot", []operand{i(4, n, 2)}, func(in ...*berth.Promise) []*berth.Promise {
		return apply(move.OneHot{Axis: -1, Depth: 5}, in[0], f32(2))
	}},
	{"reverse sequence", []operand{x(n, 5), {"i", berth.Int64, 0, 5, []int{n}}}, func(in ...*berth.Promise) []*berth.Promise {
		return apply(move.ReverseSequence{BatchAxis: 0, TimeAxis: 1}, in[0], in[1])
	}},
	{"triangles", []operand{x(n, 5, 6)}, func(in ...*berth.Promise) []*berth.Promise {
		return []*berth.Promise{in[0].Tril(1), in[0].Exp().Triu(0)}
	}},
	{"pad", []operand{x(n, 5)}, func(in ...*berth.Promise) []*berth.Promise {
		return []*berth.Promise{in[0].Pad(berth.PadZero, 1, 2, 0, 1), in[0].Pad(berth.PadReflect, 0, 2, 0, 1), in[0].Pad(berth.PadEdge, 2, 0, 1, 0)}
	}},
	{"tile", []operand{x(n, 5)}, func(in ...*berth.Promise) []*berth.Promise {
		return []*berth.Promise{in[0].Tile(2, 1), in[0].Exp().Tile(1, 3)}
	}},
	{"concat", []operand{x(n, 5)}, func(in ...*berth.Promise) []*berth.Promise {
		return []*berth.Promise{berth.Concat(1, in[0].Exp(), in[0], in[0].Neg()), berth.Concat(0, in[0], f32(3, 5), in[0]), berth.Stack(1, in[0].Exp(), in[0])}
	}},
	{"split", []operand{x(n, 6)}, func(in ...*berth.Promise) []*berth.Promise {
		parts := in[0].Exp().Split(1, 1, 2, 3)
		return []*berth.Promise{parts[0].Sum(1), parts[1].MatMul(f32(2, 4)), parts[2].Softmax(1)}
	}},
	{"views", []operand{x(n, 4, 6)}, func(in ...*berth.Promise) []*berth.Promise {
		y := in[0].Exp()
		return []*berth.Promise{
			y.Permute(2, 0, 1), y.Slice(1, -1, -5, -2), y.Reshape(-1, 24).Transpose(), y.Index(1, 2), y.Index(2, 0).Unsqueeze(1).Squeeze(1),
			y.Sum(1).Unsqueeze(0).Reshape(1, -1, 6), f32(1, 6).Add(y.Index(1, 0)), y.Flatten().Contiguous(), y.Slice(0, -1, -100, -1),
		}
	}},
	{"broadcast", []operand{x(n, 1)}, func(in ...*berth.Promise) []*berth.Promise {
		// A plain extent: the number of rows cannot be named in a promise.
		rows := in[0].Shape()[0]
		return []*berth.Promise{in[0].Exp().BroadcastTo(rows, 5), in[0].Exp().BroadcastTo(2, rows, 3).Contiguous()}
	}},
	{"packed", []operand{x(n, 4)}, func(in ...*berth.Promise) []*berth.Promise {
		return one(in[0].Exp().Transpose().Contiguous().Reshape(2, -1).Neg())
	}},
	{"diagonal", []operand{x(n, 4, 4)}, func(in ...*berth.Promise) []*berth.Promise {
		return one(apply(view.Diagonal{Axis1: 1, Axis2: 2}, in[0].Exp())[0].AddScalar(1))
	}},
	{"bitcast", []operand{x(n, 4)}, func(in ...*berth.Promise) []*berth.Promise {
		return one(apply(view.Bitcast{To: berth.Int32}, in[0].Exp())[0].AddScalar(1))
	}},
	{"contiguous", []operand{x(n, 4)}, func(in ...*berth.Promise) []*berth.Promise {
		return one(apply(graph.Contiguous{}, in[0].Transpose())[0].MatMul(in[0]))
	}},
	{"cache", []operand{x(n, 4)}, func(in ...*berth.Promise) []*berth.Promise {
		c := in[0].Exp().Transpose().Cache()
		return []*berth.Promise{c.MatMul(in[0]), c.Sum(0)}
	}},
	{"constants", []operand{x(n, 4)}, func(in ...*berth.Promise) []*berth.Promise {
		w := f32(4, 4).MatMul(f32(4, 4)).Cache()
		return []*berth.Promise{in[0].MatMul(w), w.AddScalar(1), f32(2)}
	}},
	{"no columns", []operand{x(n, 0)}, func(in ...*berth.Promise) []*berth.Promise {
		return []*berth.Promise{in[0].Exp(), in[0].Sum(1), in[0].Transpose().MatMul(in[0])}
	}},
	{"rank 1", []operand{x(n)}, func(in ...*berth.Promise) []*berth.Promise {
		return []*berth.Promise{in[0].Exp(), in[0].Sum(), in[0].Unsqueeze(1).MatMul(in[0].Unsqueeze(0)), in[0].MatMul(in[0])}
	}},
	{"rows inside", []operand{x(3, n, 2)}, func(in ...*berth.Promise) []*berth.Promise {
		return []*berth.Promise{in[0].Exp().Sum(1), in[0].Permute(1, 0, 2).Softmax(0), berth.Concat(2, in[0].Exp(), in[0].Neg())}
	}},
	{"rows twice", []operand{x(n, n)}, func(in ...*berth.Promise) []*berth.Promise {
		return []*berth.Promise{in[0].MatMul(in[0]), in[0].Add(in[0].Transpose()).Softmax(1), in[0].Flatten()}
	}},
}
