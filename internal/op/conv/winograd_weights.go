package conv

import (
	"fmt"

	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
	"github.com/berth-go/berth/internal/op/slide"
)

// minimal is what convolutions by minimal filtering share, whatever the layout of images.
type minimal struct {
	params
	winogradWeights
	tile  isa.Tile[float32]
	loops isa.Winograd
	x, y  *kernel.Operand

	slide              slide.Binding
	images, rows, cols int // images, and the tiles of one
}

func newMinimal(p params) minimal {
	set := isa.Active()
	return minimal{params: p, tile: set.Float32, loops: set.Winograd}
}

// bind fixes the operands, of which x and y have their spatial axes from the given one on.
// The weights become strips of a number of maps, a multiple of unit.
func (k *minimal) bind(in, out []*kernel.Operand, axis, strip, unit int) {
	k.x, k.y = in[0], out[0]
	k.bindWeights(in[1], k.group, strip, unit)
	k.epilogue.Bind(k.y, in[2:]...)
	k.window.Taps = k.w.Shape[2:]
	k.slide.Bind(&k.window, k.x.Shape[axis:axis+2], k.y.Shape[axis:axis+2])
	k.images = k.x.Shape[0]
	k.rows, k.cols = kernel.CeilDiv(k.slide.Rows, winogradTile), kernel.CeilDiv(k.slide.Width, winogradTile)
}

// winogradWeights are the weights of a convolution by minimal filtering, [M, C/group, 3, 3],
// transformed and in strips of maps, as one operand of 36 products of matrices.
type winogradWeights struct {
	w                  *kernel.Operand
	groups, maps, deep int       // groups; output maps and input channels of one
	strip, unit        int       // maps of a strip, and what those of the last one are rounded up to
	prepacked          []float32 // an empty one stands for one that is to come; nil for none
}

// bindWeights fixes the weights, for strips of a number of maps, a multiple of unit.
func (k *winogradWeights) bindWeights(w *kernel.Operand, groups, strip, unit int) {
	k.w, k.groups, k.strip, k.unit = w, groups, strip, unit
	k.maps, k.deep = w.Shape[0]/groups, w.Shape[1]
}

// width returns the maps that the strip takes in memory which begins at map m, a multiple of
// strip.
func (k *winogradWeights) width(m int) int {
	return min(k.strip, kernel.CeilDiv(k.maps-m, k.unit)*k.unit)
}

// elems returns the elements of n maps.
func (k *winogradWeights) elems(n int) int { return winogradPoints * k.deep * n }

// size returns the elements of a group.
func (k *winogradWeights) size() int { return k.elems(kernel.CeilDiv(k.maps, k.unit) * k.unit) }

// beyond returns how many elements behind the last ones may be read, where the last strip is
// narrower than others.
func (k *winogradWeights) beyond() int { return k.strip - k.unit }

// from returns the prepacked strips of a group from map m on, a multiple of strip.
func (k *winogradWeights) from(group, m int) []float32 {
	return k.prepacked[group*k.size()+k.elems(m):]
}

// pack writes the strips of maps [m0, m1) of a group, m0 a multiple of strip: the element
// (m, c) of the matrix of point p, in a strip of a width, at [(p*deep+c)*width + m%strip].
// Missing maps of the last strip become 0.
func (k *winogradWeights) pack(dst []float32, group, m0, m1 int) {
	w := kernel.Slice[float32](k.w)[k.w.Offset:]
	var u [winogradPoints]float32
	for first := m0; first < m1; first += k.strip {
		strip, width := dst[k.elems(first-m0):], k.width(first)
		for m := range width {
			for c := range k.deep {
				u = [winogradPoints]float32{}
				if first+m < m1 {
					isa.WinogradWeights(&u, w[((group*k.maps+first+m)*k.deep+c)*9:])
				}
				for p, v := range u {
					strip[(p*k.deep+c)*width+m] = v
				}
			}
		}
	}
}

// PrepackedBytes implements [kernel.Prepacker].
func (k *winogradWeights) PrepackedBytes(input int) int {
	if input != 1 || k.size() == 0 {
		return 0
	}
	return (k.groups*k.size() + k.beyond()) * 4
}

// Expansion implements [kernel.Expander]: 36 points are made of 9 taps.
func (k *winogradWeights) Expansion(int) int { return winogradPoints / 9 }

// PrepackedForm implements [kernel.Prepacker].
func (k *winogradWeights) PrepackedForm(int) string {
	return fmt.Sprintf("%d groups in Winograd's 4×4 form in strips of %d maps, whole %ds", k.groups, k.strip, k.unit)
}

// Prepack implements [kernel.Prepacker].
func (k *winogradWeights) Prepack(input int, dst []byte) {
	if k.PrepackedBytes(input) == 0 {
		return
	}
	to := kernel.Cast[float32](dst)
	for group := range k.groups {
		k.pack(to[group*k.size():], group, 0, k.maps)
	}
	clear(to[k.groups*k.size():])
}

// UsePrepacked implements [kernel.Prepacker].
func (k *winogradWeights) UsePrepacked(input int, prepacked []byte) {
	if input == 1 {
		k.prepacked = nil
		if prepacked != nil {
			k.prepacked = kernel.Cast[float32](prepacked)
		}
	}
}
