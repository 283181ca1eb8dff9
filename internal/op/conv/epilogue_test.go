package conv_test

import (
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/conv"
	"github.com/berth-go/berth/internal/op/optest"
)

func TestEpilogue(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	for _, dt := range []dtype.Type{dtype.Float32, dtype.Float64, dtype.Int32} {
		image, bias := optest.Type(dt, 2, 6, 13, 40), optest.Type(dt, 6)
		padded := conv.Conv{Pads: []int{1, 1, 1, 1}}
		grouped, depthwise := padded, padded
		grouped.Group, depthwise.Group = 2, 6
		optest.Finishes(t, rng, padded, image, optest.Type(dt, 50, 6, 3, 3))
		optest.Finishes(t, rng, padded, image, optest.Type(dt, 6, 6, 3, 3), bias)
		optest.Finishes(t, rng, grouped, image, optest.Type(dt, 6, 3, 3, 3), bias)
		optest.Finishes(t, rng, depthwise, image, optest.Type(dt, 6, 1, 3, 3), bias)
		optest.Finishes(t, rng, depthwise, image, optest.Type(dt, 12, 1, 3, 3))
		optest.Finishes(t, rng, conv.Conv{Group: 2}, optest.Type(dt, 2, 2, 5, 4, 3), optest.Type(dt, 2, 1, 2, 2, 2)) // tap by tap
		optest.Finishes(t, rng, conv.Conv{}, optest.Type(dt, 1, 3, 9), optest.Type(dt, 5, 3, 1))
		optest.Finishes(t, rng, conv.Conv{}, optest.Type(dt, 0, 3, 9), optest.Type(dt, 5, 3, 1))
		last := conv.Conv{ChannelsLast: true, Pads: []int{1, 1, 1, 1}}
		optest.Finishes(t, rng, last, optest.Type(dt, 2, 13, 40, 6), optest.Type(dt, 50, 6, 3, 3))
		optest.Finishes(t, rng, last, optest.Type(dt, 2, 13, 40, 6), optest.Type(dt, 6, 6, 3, 3), bias)
		pointwise := conv.Conv{ChannelsLast: true}
		optest.Finishes(t, rng, pointwise, optest.Type(dt, 2, 3, 40, 6), optest.Type(dt, 450, 6, 1, 1)) // parts of the maps
		last.Group = 2
		optest.Finishes(t, rng, last, optest.Type(dt, 2, 13, 40, 6), optest.Type(dt, 6, 3, 3, 3), bias)
		if dt.IsFloat() {
			image := optest.Type(dt, 2, 13, 40, 6)
			expand, filter, project := optest.Type(dt, 70, 6, 1, 1), optest.Type(dt, 70, 1, 3, 3), optest.Type(dt, 9, 70, 1, 1)
			optest.Finishes(t, rng, conv.Bottleneck{Pads: []int{1, 1, 1, 1}}, image, expand, graph.Type{}, filter, graph.Type{}, project)
			optest.Finishes(t, rng, conv.Bottleneck{Strides: []int{2, 2}}, image, expand, graph.Type{}, filter, optest.Type(dt, 70))
		}
		transposed := conv.ConvTranspose{Strides: []int{2, 2}}
		optest.Finishes(t, rng, transposed, image, optest.Type(dt, 6, 5, 3, 3))
		transposed.Group = 2
		optest.Finishes(t, rng, transposed, image, optest.Type(dt, 6, 3, 3, 3), bias)
	}
	in := optest.Float32(1, 2, 5, 5)
	winograd := conv.Conv{Winograd: true, Pads: []int{1, 1, 1, 1}}
	for _, image := range []graph.Type{optest.Float32(2, 6, 13, 40), optest.Float32(1, 6, 5, 300)} { // bands of whole rows and of parts
		optest.Finishes(t, rng, winograd, image, optest.Float32(50, 6, 3, 3))
		optest.Finishes(t, rng, winograd, image, optest.Float32(6, 6, 3, 3), optest.Float32(6))
	}
	winograd.ChannelsLast = true
	optest.Finishes(t, rng, winograd, optest.Float32(2, 13, 40, 6), optest.Float32(300, 6, 3, 3))
	optest.Finishes(t, rng, winograd, optest.Float32(2, 13, 40, 6), optest.Float32(6, 6, 3, 3), optest.Float32(6))
	optest.RefusesEpilogues(t, conv.Conv{}, in, optest.Float32(3, 2, 2, 2))
	optest.RefusesEpilogues(t, conv.ConvTranspose{}, in, optest.Float32(2, 3, 2, 2))
}
