package linear_test

import (
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/op/linear"
	"github.com/berth-go/berth/internal/op/optest"
)

func TestEpilogue(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	for _, dt := range []dtype.Type{dtype.Float32, dtype.Float64, dtype.Int32, dtype.Uint8} {
		for _, c := range [][2][]int{
			{{3, 5}, {5, 7}},
			{{100, 60}, {60, 450}},
			{{2, 3, 30, 8}, {8, 50}}, // more rows of one product
			{{2, 3, 30, 8}, {3, 8, 50}},
			{{2, 4, 8}, {2, 8, 1}}, // computed as a row times the transposed matrix
			{{60, 300}, {300}},
			{{300}, {2, 300, 40}},
			{{300}, {300}},
			{{0, 3}, {3, 4}},
			{{2, 0}, {0, 4}},
		} {
			optest.Finishes(t, rng, linear.MatMul{}, optest.Type(dt, c[0]...), optest.Type(dt, c[1]...))
		}
		a, b := optest.Type(dt, 20, 33), optest.Type(dt, 40, 20)
		g := linear.Gemm{Alpha: 1, Beta: 1, TransA: true, TransB: true}
		optest.Finishes(t, rng, g, a, b)
		optest.Finishes(t, rng, g, a, b, optest.Type(dt, 40))
		g.Alpha, g.Beta = 3, -2
		optest.Finishes(t, rng, g, a, b, optest.Type(dt, 33, 1))
		optest.Finishes(t, rng, g, a, b)
	}
	optest.RefusesEpilogues(t, linear.MatMul{}, optest.Float32(2, 3), optest.Float32(3, 4))
	optest.RefusesEpilogues(t, linear.Gemm{Alpha: 1}, optest.Float32(2, 3), optest.Float32(3, 4))
}
