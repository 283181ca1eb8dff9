// Package ops is where all ops come together: their list, their text, and the
// making of nodes.
//
// # Where to find what
//
//	all.go    the list of all ops: a new one is added here; ops from text
//	apply.go  nodes of ops
package ops

import (
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/op/conv"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/linear"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/internal/op/norm"
	"github.com/berth-go/berth/internal/op/pool"
	"github.com/berth-go/berth/internal/op/quant"
	"github.com/berth-go/berth/internal/op/random"
	"github.com/berth-go/berth/internal/op/recurrent"
	"github.com/berth-go/berth/internal/op/reduce"
	"github.com/berth-go/berth/internal/op/resample"
	"github.com/berth-go/berth/internal/op/signal"
	"github.com/berth-go/berth/internal/op/tabular"
	"github.com/berth-go/berth/internal/op/view"
)

// All returns a zero value of every op of the families, and of the structural ops
// of package graph that are no leaves: what [Parse] knows.
func All() []graph.Op {
	return []graph.Op{
		graph.Identity{}, graph.Contiguous{}, graph.Cache{},
		// Views.
		view.Reshape{}, view.Permute{}, view.SliceView{}, view.BroadcastTo{}, view.Diagonal{}, view.Bitcast{},
		// Elementwise maps.
		elementwise.Map{},
		// Data movement.
		move.Concat{}, move.Tile{}, move.Pad{},
		move.Gather{}, move.GatherElements{}, move.GatherND{}, move.ScatterElements{}, move.ScatterND{},
		move.OneHot{}, move.Trilu{}, move.ReverseSequence{},
		move.Fill{}, move.Iota{}, move.List{}, move.Eye{},
		// Reductions and order.
		reduce.Reduce{}, reduce.ArgReduce{}, reduce.Cumulative{}, reduce.TopK{},
		// Normalisations.
		norm.Softmax{}, norm.Hardmax{}, norm.LayerNorm{}, norm.RMSNorm{}, norm.MeanVarianceNorm{}, norm.LpNorm{},
		norm.BatchNorm{}, norm.BatchNormTraining{}, norm.InstanceNorm{}, norm.GroupNorm{}, norm.LRN{},
		// Products, convolutions, pooling.
		linear.MatMul{}, linear.Gemm{}, linear.Recurrence{}, linear.Det{}, quant.MatMul{}, quant.Conv{},
		quant.Quantize{}, quant.Dequantize{}, quant.Add{},
		conv.Conv{}, conv.Bottleneck{}, conv.ConvTranspose{}, conv.DeformColumns{}, pool.Pool{}, pool.GlobalPool{}, pool.MaxRoi{},
		// Layers with a state.
		recurrent.RNN{}, recurrent.GRU{}, recurrent.LSTM{},
		// Images between their elements.
		resample.Resize{}, resample.GridSample{}, resample.RoiAlign{},
		// Models of tables.
		tabular.TreeEnsemble{}, tabular.Lookup{}, tabular.SquaredDistance{}, tabular.Couple{}, tabular.NGrams{},
		// Signals.
		signal.DFT{},
		// Numbers drawn.
		random.Uniform{}, random.Normal{},
	}
}

// Parse returns the op that [op.Format] prints as text, if it is one of [All].
func Parse(text string) (graph.Op, error) { return op.Parse(text, All()) }
