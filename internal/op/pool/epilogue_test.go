package pool_test

import (
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/optest"
	"github.com/berth-go/berth/internal/op/pool"
)

func TestEpilogue(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 5))
	for _, dt := range []dtype.Type{dtype.Float32, dtype.Float64} {
		for _, kind := range []pool.Kind{pool.Max, pool.Average, pool.Lp} {
			for _, image := range [][]int{{2, 3, 9, 50}, {2, 40, 30}, {0, 3, 9, 9}} {
				taps := []int{2, 3}[:len(image)-2]
				optest.Finishes(t, rng, pool.Pool{Kind: kind, KernelShape: taps}, optest.Type(dt, image...))
				optest.Finishes(t, rng, pool.GlobalPool{Kind: kind}, optest.Type(dt, image...))
			}
		}
	}
	optest.Finishes(t, rng, pool.Pool{KernelShape: []int{2}}, optest.Type(dtype.Int16, 2, 3, 70))
	optest.Finishes(t, rng, pool.GlobalPool{}, optest.Float32(2, 2, 190, 190)) // a task for each plane
	image := optest.Float32(1, 2, 5, 5)
	optest.RefusesEpilogues(t, pool.Pool{KernelShape: []int{2, 2}}, image)
	optest.RefusesEpilogues(t, pool.GlobalPool{}, image)
	indexed := pool.Pool{KernelShape: []int{2, 2}, Indices: true}
	relu := elementwise.Program{{Code: elementwise.Relu, Args: [3]elementwise.Arg{elementwise.InputArg(0)}}}
	optest.Refuses(t, indexed.Finished(relu).(pool.Pool), []graph.Type{image}, "indices")
}
