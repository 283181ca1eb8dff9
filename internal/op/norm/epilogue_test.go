package norm_test

import (
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/norm"
	"github.com/berth-go/berth/internal/op/optest"
)

func TestEpilogue(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, dt := range []dtype.Type{dtype.Float32, dtype.Float64} {
		for range 3 { // with other strides each time
			for _, s := range [][]int{{3, 4, 5, 60}, {2, 6, 7}, {40, 8, 1, 1}, {0, 4, 3}, {1, 2, 300}} {
				x, last, channels := optest.Type(dt, s...), optest.Type(dt, s[len(s)-1]), optest.Type(dt, s[1])
				optest.Finishes(t, rng, norm.LayerNorm{Axis: -1, Epsilon: 1e-5}, x, last)
				optest.Finishes(t, rng, norm.LayerNorm{Axis: 1, Epsilon: 1e-5}, x, last, last)
				optest.Finishes(t, rng, norm.RMSNorm{Axis: -1, Epsilon: 1e-5}, x)
				optest.Finishes(t, rng, norm.RMSNorm{Axis: 2, Epsilon: 1e-5}, x, last)
				optest.Finishes(t, rng, norm.MeanVarianceNorm{Axes: []int{0, 2}, Epsilon: 1e-5}, x)
				optest.Finishes(t, rng, norm.LpNorm{Axis: 1, P: 2}, x)
				optest.Finishes(t, rng, norm.InstanceNorm{Epsilon: 1e-5}, x, channels, channels)
				optest.Finishes(t, rng, norm.GroupNorm{Groups: 2, Epsilon: 1e-5}, x, channels, channels)
				optest.Finishes(t, rng, norm.BatchNorm{Epsilon: 10}, x, channels, channels, channels, channels)
			}
			one := optest.Type(dt, 1)
			optest.Finishes(t, rng, norm.BatchNorm{Epsilon: 10}, optest.Type(dt, 50), one, one, one, one)
		}
	}
	x, c := optest.Float32(2, 4, 3), optest.Float32(4)
	optest.RefusesEpilogues(t, norm.LayerNorm{}, x)
	optest.RefusesEpilogues(t, norm.RMSNorm{}, x)
	optest.RefusesEpilogues(t, norm.MeanVarianceNorm{}, x)
	optest.RefusesEpilogues(t, norm.LpNorm{P: 1}, x)
	optest.RefusesEpilogues(t, norm.InstanceNorm{}, x, c, c)
	optest.RefusesEpilogues(t, norm.GroupNorm{Groups: 2}, x, c, c)
	optest.RefusesEpilogues(t, norm.BatchNorm{}, x, c, c, c, c)
	relu := elementwise.Program{{Code: elementwise.Relu, Args: [3]elementwise.Arg{elementwise.InputArg(0)}}}
	optest.Refuses(t, norm.LayerNorm{Stats: true, Epilogue: relu}, []graph.Type{x, {}, {}}, "statistics")
}
