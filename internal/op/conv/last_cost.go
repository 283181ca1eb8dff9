package conv

import (
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/shape"
)

// LastGain returns what c, with inputs and a result of the given types and channels
// first, gains by [Conv.ChannelsLast], in multiplications at the peak of the machine. It
// is negative where the convolution is slower so. The numbers are those of measurements
// with AVX-512, whose registers hold 16 elements.
//
//   - Depthwise convolutions run at 0.25 of the peak with channels first. With channels last
//     they need no copies of the image and run at 0.45 of it, if channels fill registers.
//   - Minimal filtering is slower the fewer channels there are, and so is it with few maps.
//   - Others run at 0.6 of the peak with channels first, and at 0.5 where steps leave
//     elements of the image out, or where its maps are so small that registers are
//     filled in part. With channels last, maps fill two registers; a rest that fills one is
//     slower by a quarter. A tile takes the time of 12 terms beside its sums.
func (c Conv) LastGain(in []graph.Type, out graph.Type) float64 {
	const (
		register = 16
		small    = 256 // positions
	)
	w := in[1].Shape
	group := max(c.Group, 1)
	maps, terms := w[0]/group, float64(w[1:].Elems())
	positions := shape.Shape(out.Shape[2:]).Elems()
	products := float64(c.Products(in, []graph.Type{out}))
	switch {
	case w[1] == 1 && maps == 1:
		filled := float64(kernel.CeilDiv(group, register)*register) / float64(group)
		return float64(products/0.25) - float64(products*filled/0.45)
	case c.WinogradPays(in, out):
		return -products * 10 / min(float64(w[1]), float64(2*maps))
	}
	first := products / 0.6
	if positions <= small || positions < in[0].Shape[2:].Elems() {
		first = products / 0.5
	}
	registers := kernel.CeilDiv(maps, register)
	filled := float64(registers/2*2*register) + float64(1.25*float64(registers%2*register))
	last := float64(out.Shape[0]*positions*group) * filled * (terms + 12) / 0.9
	return first - last
}
