package conv

import (
	"fmt"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
)

// checkWinograd reports inputs that a convolution by minimal filtering does not take.
func (c Conv) checkWinograd(in []graph.Type) error {
	x, w := in[0], in[1].Shape
	if x.DType != dtype.Float32 || len(w) != 4 {
		return fmt.Errorf("winograd: %v: want float32 with two spatial axes", x)
	}
	for i := range 2 {
		if w[2+i] != 3 || len(c.Strides) > 0 && c.Strides[i] != 1 || len(c.Dilations) > 0 && c.Dilations[i] != 1 {
			return fmt.Errorf("winograd: weights %v, strides %v, dilations %v: want 3×3 taps at steps of 1", w, c.Strides, c.Dilations)
		}
	}
	return nil
}

// WinogradPays reports whether c, with inputs and a result of the given types, is known
// to take less time with [Conv.Winograd] than without. What decides is the number of
// channels and of output maps in a group, and the positions of one image, never how many
// images there are.
//
//   - The maps share the transforms of the image, and the channels those of the result:
//     there must be some of both. With 16 of each, more than half of the time goes into
//     transforms. A result of few maps gains in spite of that, as a product of so few rows
//     is slow.
//   - Weights take 4 times the bytes, and are read for each band of an image. In images of
//     few tiles they have too little to do: 7×7 positions of 512 maps gain nothing.
//   - Tiles that reach far over the edge of an image are computed for nothing: what is left
//     must be at most half of the multiplications.
func (c Conv) WinogradPays(in []graph.Type, out graph.Type) bool {
	if c.Winograd || c.checkWinograd(in) != nil {
		return false
	}
	const leastDeep, leastMaps, leastTiles = 16, 8, 9
	deep, maps := in[1].Shape[1], in[1].Shape[0]/max(c.Group, 1)
	image := c.channelsFirst(out.Shape)
	h, w := image[2], image[3]
	n := kernel.CeilDiv(h, winogradTile) * kernel.CeilDiv(w, winogradTile)
	return deep >= leastDeep && maps >= leastMaps && n >= leastTiles && 2*winogradPoints*n <= 9*h*w
}
