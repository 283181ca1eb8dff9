package main

import (
	"slices"

	"github.com/berth-go/berth/internal/wire"
)

var linearGenerators = map[string]generator{
	"MatMul": {7, matMul}, "Gemm": {7, gemm}, "Conv": {7, conv}, "ConvTranspose": {7, convTranspose},
	"Det": {11, det}, "Einsum": {12, einsum},
}

// bounded has extremes left out of sums: how far these are off depends on the order in
// which they are added.
func (d *draw) bounded() {
	d.wild = false
	d.tol = sums
}

func matMul(d *draw) {
	d.bounded()
	t := one(d, wire.Float, wire.Float, wire.Double, wire.Float16, wire.Int32, wire.Int64, wire.Uint32, wire.Uint64)
	m, k, n := d.extent(), d.extent(), d.extent()
	batch := d.shape(0, 2)
	a, b := append(slices.Clone(batch), m, k), append(d.subshape(batch), k, n)
	switch d.IntN(6) {
	case 0:
		a = []int64{k}
	case 1:
		b = []int64{k}
	}
	d.input(t, a)
	d.input(t, b)
	d.output(t)
}

func gemm(d *draw) {
	d.bounded()
	t := one(d, wire.Float, wire.Float, wire.Double, wire.Float16, wire.Int32, wire.Int64)
	m, k, n := d.extent(), d.extent(), d.extent()
	a, b := []int64{m, k}, []int64{k, n}
	d.maybe(func() { d.int("transA", 1); a[0], a[1] = k, m })
	d.maybe(func() { d.int("transB", 1); b[0], b[1] = n, k })
	d.maybe(func() { d.float("alpha", one(d, 0.5, 2, 0)) })
	d.maybe(func() { d.float("beta", one(d, 0.5, 2, 0)) })
	d.input(t, a)
	d.input(t, b)
	if d.opset < 11 || d.coin() {
		d.input(t, d.subshape([]int64{m, n}))
	}
	d.output(t)
}

// window draws the attributes of a window over rank axes and returns the extents that it
// takes of an image, which are at least as large.
func (d *draw) window(rank int, kernel []int64, dilated bool) (image []int64) {
	strides, dilations, pads := make([]int64, rank), make([]int64, rank), make([]int64, 2*rank)
	for i := range rank {
		strides[i], dilations[i] = 1+d.Int64N(3), 1
	}
	if dilated {
		d.maybe(func() {
			for i := range dilations {
				dilations[i] = 1 + d.Int64N(2)
			}
			d.ints("dilations", dilations...)
		})
	}
	for i := range rank {
		image = append(image, dilations[i]*(kernel[i]-1)+1+d.Int64N(6))
	}
	d.maybe(func() { d.ints("strides", strides...) })
	switch d.IntN(4) {
	case 0:
		if slices.Max(dilations) == 1 {
			d.str("auto_pad", one(d, "SAME_UPPER", "SAME_LOWER", "VALID"))
		}
	case 1, 2:
		for i := range pads {
			pads[i] = d.Int64N(kernel[i%rank])
		}
		d.ints("pads", pads...)
	}
	return image
}

// kernel returns extents of a window.
func (d *draw) kernel(rank int) []int64 {
	k := make([]int64, rank)
	for i := range k {
		k[i] = 1 + d.Int64N(3)
	}
	return k
}

func conv(d *draw) {
	d.bounded()
	t := one(d, floats...)
	rank := 1 + d.IntN(3)
	kernel := d.kernel(rank)
	d.maybe(func() { d.ints("kernel_shape", kernel...) })
	group := one[int64](d, 1, 1, 2, 3)
	if group > 1 {
		d.int("group", group)
	}
	image := d.window(rank, kernel, true)
	in, out := 1+d.Int64N(3), group*(1+d.Int64N(3))
	d.input(t, append([]int64{d.extent(), group * in}, image...))
	d.input(t, append([]int64{out, in}, kernel...))
	d.maybe(func() { d.input(t, []int64{out}) })
	d.output(t)
}

func convTranspose(d *draw) {
	d.bounded()
	t := one(d, wire.Float, wire.Float, wire.Double)
	rank := 1 + d.IntN(2)
	kernel := d.kernel(rank)
	d.maybe(func() { d.ints("kernel_shape", kernel...) })
	group := one[int64](d, 1, 1, 2)
	if group > 1 {
		d.int("group", group)
	}
	image, strides, more := make([]int64, rank), make([]int64, rank), make([]int64, rank)
	for i := range image {
		image[i], strides[i] = 1+d.Int64N(5), 1+d.Int64N(3)
		more[i] = d.Int64N(strides[i])
	}
	d.ints("strides", strides...)
	switch d.IntN(5) {
	case 0:
		d.str("auto_pad", one(d, "SAME_UPPER", "SAME_LOWER", "VALID"))
	case 1:
		shape := make([]int64, rank)
		for i := range shape {
			shape[i] = strides[i]*(image[i]-1) + kernel[i]
		}
		d.ints("output_shape", shape...)
	default:
		d.maybe(func() { d.ints("output_padding", more...) })
	}
	in, out := group*(1+d.Int64N(3)), 1+d.Int64N(3)
	d.input(t, append([]int64{d.full(), in}, image...))
	d.input(t, append([]int64{in, out}, kernel...))
	d.maybe(func() { d.input(t, []int64{group * out}) })
	d.output(t)
}

func det(d *draw) {
	d.bounded()
	n := 1 + d.Int64N(5)
	d.input(wire.Float, append(d.shape(0, 2), n, n))
	d.output(wire.Float)
}

func einsum(d *draw) {
	d.bounded()
	t := one(d, wire.Float, wire.Double, wire.Int32, wire.Int64)
	equation := one(d, "ij,jk->ik", "bij,bjk->bik", "ij,jk", "ij->ji", "ii->i", "ii", "i,i", "i,j->ij", "ij->", "ij->j",
		"...ij,...jk->...ik", "bhqd,bhkd->bhqk", "ij,ij->ij", "ij,kj,k->i", "abc,cd->abd", "... j->j")
	size := make(map[rune]int64)
	var terms [][]int64
	dims := []int64{}
	batch := d.solid(1, 1)
	dots := 0
	for i, c := range equation {
		switch {
		case c == '-':
			terms = append(terms, dims)
			dims = nil
			goto done
		case c == ',':
			terms = append(terms, dims)
			dims = []int64{}
		case c == '.':
			if dots++; dots%3 == 0 {
				dims = append(dims, batch...)
			}
		case c >= 'a' && c <= 'z':
			if size[c] == 0 {
				size[c] = d.full()
			}
			dims = append(dims, size[c])
		}
		if i == len(equation)-1 {
			terms = append(terms, dims)
		}
	}
done:
	d.str("equation", equation)
	for _, dims := range terms {
		d.input(t, dims)
	}
	d.output(t)
}
