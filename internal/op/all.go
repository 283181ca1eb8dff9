package op

import "github.com/berth-go/berth/graph"

// All returns a zero value of every op of this package, and of the structural
// ops of package graph that are no leaves: what [Parse] knows.
func All() []graph.Op {
	return []graph.Op{
		graph.Identity{}, graph.Contiguous{}, graph.Cache{},
		// Views.
		Reshape{}, Permute{}, SliceView{}, BroadcastTo{}, Diagonal{}, Bitcast{},
		// Elementwise maps.
		Map{},
		// Data movement.
		Concat{}, Tile{}, Pad{},
		Gather{}, GatherElements{}, GatherND{}, ScatterElements{}, ScatterND{},
		OneHot{}, Trilu{}, ReverseSequence{},
		Fill{}, Iota{}, Eye{},
		// Reductions and order.
		Reduce{}, ArgReduce{}, Cumulative{}, TopK{},
		// Normalisations.
		Softmax{}, Hardmax{}, LayerNorm{}, RMSNorm{}, MeanVarianceNorm{}, LpNorm{},
		BatchNorm{}, BatchNormTraining{}, InstanceNorm{}, GroupNorm{}, LRN{},
		// Products, convolutions, pooling.
		MatMul{}, Gemm{}, Conv{}, ConvTranspose{}, Pool{}, GlobalPool{},
	}
}

// Parse returns the op that [Format] prints as text, if it is one of [All].
func Parse(text string) (graph.Op, error) { return ParseOne(text, All()) }
