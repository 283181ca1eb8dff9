package onnx

import (
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/linear"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/internal/op/view"
)

// matMulNBits is the product of A and a matrix of K rows and N columns, of which each
// column is a row of blocks of codes with a scale and a zero point for each block:
//
//	w[k][n] = (code[n][k] - zero[n][k/block]) * scale[n][k/block]
//
// Codes of 2 or 4 bits are packed in the bytes of input B, from the least significant
// bits up. The weights are float32 once they are unpacked, which a program does before
// its first run.
func matMulNBits(c *call) []graph.Value {
	for _, name := range [...]string{"K", "N", "block_size"} {
		c.require(name)
	}
	k, n, block, bits := c.int("K", 0), c.int("N", 0), c.int("block_size", 0), c.int("bits", 4)
	c.int("accuracy_level", 0) // how much less precision would do
	c.unsupportedFlag("weight_prepacked")
	switch {
	case k <= 0 || n <= 0:
		c.failf("the weights have %d rows and %d columns", k, n)
	case block < 16 || block&(block-1) != 0:
		c.failf("block_size is %d, not a power of 2 from 16 on", block)
	case bits != 2 && bits != 4 && bits != 8:
		c.failf("%w for codes of %d bits, not 2, 4 or 8", ErrUnsupported, bits)
	case c.has(4):
		c.failf("%w with an order of groups (g_idx)", ErrUnsupported)
	}
	a := c.in[0]
	if s := c.shape(0); !a.Type().DType.IsFloat() || len(s) < 2 || s[len(s)-1] != k {
		c.failf("input 0 is %v, not a matrix of floating-point numbers with %d columns, which is K", a.Type(), k)
	}
	blocks := (k-1)/block + 1
	if s := c.shape(1); c.in[1].Type().DType != dtype.Uint8 || !s.Equal([]int{n, blocks, block / 8 * bits}) {
		c.failf("input 1 is %v, not uint8%v: the blocks of each column", c.in[1].Type(), []int{n, blocks, block / 8 * bits})
	}
	if s := c.shape(2); s.Elems() != n*blocks {
		c.failf("the scales have the shape %v, not [%d %d]", s, n, blocks)
	}
	w := c.castTo(c.unpacked(c.in[1], bits), dtype.Float32)
	w = c.elementwise(elementwise.Sub, nil, w, c.zeroPoints(n, blocks, bits))
	w = c.elementwise(elementwise.Mul, nil, w, c.castTo(c.reshape(c.in[2], n, blocks, 1), dtype.Float32))
	w = c.sliceAxis(c.reshape(w, n, blocks*block), 1, 0, k, 1)
	y := c.one(linear.MatMul{}, c.castTo(a, dtype.Float32), c.one(view.Permute{Perm: []int{1, 0}}, w))
	if c.has(5) {
		if s := c.shape(5); !s.Equal([]int{n}) {
			c.failf("the bias has the shape %v, not [%d]", s, n)
		}
		y = c.elementwise(elementwise.Add, nil, y, c.castTo(c.in[5], dtype.Float32))
	}
	return list(c.castTo(y, a.Type().DType))
}

// zeroPoints returns input 3 of MatMulNBits as float32[n blocks 1]. It holds numbers,
// or codes packed for each column; when it is absent it is the middle of the codes.
func (c *call) zeroPoints(n, blocks, bits int) graph.Value {
	if !c.has(3) {
		return constant([]float32{float32(int(1) << (bits - 1))})
	}
	zero, width := c.in[3], blocks
	if zero.Type().DType == dtype.Uint8 {
		width = (blocks*bits + 7) / 8
	}
	if s := c.shape(3); s.Elems() != n*width {
		c.failf("the zero points have the shape %v, not [%d %d]", s, n, width)
	}
	if zero = c.reshape(zero, n, width); zero.Type().DType == dtype.Uint8 {
		zero = c.sliceAxis(c.unpacked(zero, bits), 1, 0, blocks, 1)
	}
	return c.castTo(c.reshape(zero, n, blocks, 1), dtype.Float32)
}

// unpacked returns the codes of so many bits that the bytes of x hold, which follow
// each other on the last axis.
func (c *call) unpacked(x graph.Value, bits int) graph.Value {
	s := x.Type().Shape
	var parts []graph.Value
	for at := 0; at < 8; at += bits {
		part := c.withScalar(elementwise.BitAnd, c.withScalar(elementwise.ShiftRight, x, float64(at)), float64(int(1)<<bits-1))
		parts = append(parts, c.reshape(part, slices.Concat(s, []int{1})...))
	}
	last := len(s) - 1
	return c.reshape(c.one(move.Concat{Axis: -1}, parts...), slices.Concat(s[:last], []int{s[last] * len(parts)})...)
}
