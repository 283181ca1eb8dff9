package quant

import (
	"fmt"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/shape"
)

// Quantize turns numbers into quantised ones:
//
//	y = saturate(round(x/scale) + zero)
//
// with halves rounded to even, and the least number for NaN. The inputs are x and the
// scale, of float32, and optionally the zero point. The last two broadcast to x.
type Quantize struct {
	To dtype.Type // int8 or uint8
}

// Dequantize turns quantised numbers into what they stand for:
//
//	y = float32(x - zero) * scale
//
// The inputs are x, of 8 bits or int32, the scale, and optionally the zero point. The last
// two broadcast to x.
type Dequantize struct{}

// Add is the sum of what quantised numbers stand for, quantised again:
//
//	y = saturate(round((float32(a-zeroA)*scaleA + float32(b-zeroB)*scaleB) / scaleY) + zeroY)
//
// with each operation rounded. The inputs are a, its scale and its zero point, the same
// of b, and the scale and the zero point of the result. A and b are broadcast; the others
// are one number each. Zero points may be absent.
type Add struct{}

// The inputs of Quantize and Dequantize.
const (
	inNumbers = iota
	inNumbersScale
	inNumbersZero
)

// The inputs of Add.
const (
	addLeft = iota
	addLeftScale
	addLeftZero
	addRight
	addRightScale
	addRightZero
	addScale
	addZero
)

// Name returns "quantize".
func (Quantize) Name() string { return "quantize" }

// Name returns "dequantize".
func (Dequantize) Name() string { return "dequantize" }

// Name returns "quant_add".
func (Add) Name() string { return "quant_add" }

// Infer implements [graph.Op].
func (q Quantize) Infer(in []graph.Type) ([]graph.Type, error) {
	if !is8(q.To) {
		return nil, fmt.Errorf("result of type %v: want int8 or uint8", q.To)
	}
	return inferReal(in, dtype.Float32, q.To, q.To)
}

// Infer implements [graph.Op].
func (Dequantize) Infer(in []graph.Type) ([]graph.Type, error) {
	if len(in) > 0 && !is8(in[0].DType) && in[0].DType != dtype.Int32 {
		return nil, fmt.Errorf("input %v: want int8, uint8 or int32", in[0])
	}
	return inferReal(in, dtype.Invalid, dtype.Invalid, dtype.Float32)
}

// inferReal checks the inputs of [Quantize] and [Dequantize]. Types that are not set are
// that of input 0.
func inferReal(in []graph.Type, x, zero, y dtype.Type) ([]graph.Type, error) {
	if err := op.Takes(in, 2, 3); err != nil {
		return nil, err
	}
	for i, want := range []dtype.Type{x, dtype.Float32, zero}[:len(in)] {
		if want == dtype.Invalid {
			want = in[inNumbers].DType
		}
		if !op.Given(in, i) {
			continue
		}
		if in[i].DType != want {
			return nil, fmt.Errorf("input %d %v: want %v", i, in[i], want)
		}
		if full, err := shape.Broadcast(in[i].Shape, in[inNumbers].Shape); err != nil || !full.Equal(in[inNumbers].Shape) {
			return nil, fmt.Errorf("input %d %v does not broadcast to %v", i, in[i], in[inNumbers].Shape)
		}
	}
	return []graph.Type{{DType: y, Shape: in[inNumbers].Shape}}, nil
}

// Infer implements [graph.Op].
func (Add) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := op.Takes(in, addLeftScale+1, addZero+1); err != nil {
		return nil, err
	}
	for _, i := range []int{addRight, addRightScale, addScale} {
		if !op.Given(in, i) {
			return nil, fmt.Errorf("input %d is absent", i)
		}
	}
	t := in[addLeft].DType
	if !is8(t) {
		return nil, fmt.Errorf("input 0 %v: want int8 or uint8", in[addLeft])
	}
	for i := range in {
		want, number := t, i != addLeft && i != addRight
		if i == addLeftScale || i == addRightScale || i == addScale {
			want = dtype.Float32
		}
		switch {
		case !op.Given(in, i):
		case in[i].DType != want:
			return nil, fmt.Errorf("input %d %v: want %v", i, in[i], want)
		case number && in[i].Shape.Elems() != 1:
			return nil, fmt.Errorf("input %d %v: want one number", i, in[i])
		}
	}
	s, err := shape.Broadcast(in[addLeft].Shape, in[addRight].Shape)
	if err != nil {
		return nil, err
	}
	return []graph.Type{{DType: t, Shape: s}}, nil
}

// Kernel implements [op.Computer].
func (q Quantize) Kernel(_, _ []graph.Type) kernel.Kernel {
	tile, signed := &isa.Active().Integer, q.To == dtype.Int8
	return &realKernel{inputs: inNumbersZero + 1, elements: []int{inNumbers}, buffer: kernel.Carved[float32](chunk), run: func(k *realKernel, at []int, n int, scratch []byte) {
		x := chunkOf[float32](k, inNumbers, at, n, &scratch)
		tile.Quantize(kernel.Slice[uint8](k.y)[at[len(k.in)]:][:n], x, k.scale(inNumbersScale, at), k.zero(inNumbersZero, at, signed), signed)
	}}
}

// Kernel implements [op.Computer].
func (Dequantize) Kernel(in, _ []graph.Type) kernel.Kernel {
	if in[inNumbers].DType == dtype.Int32 {
		return &realKernel{inputs: inNumbersZero + 1, elements: []int{inNumbers}, buffer: kernel.Carved[int32](chunk), run: dequantizeSums}
	}
	tile, signed := &isa.Active().Integer, in[inNumbers].DType == dtype.Int8
	return &realKernel{inputs: inNumbersZero + 1, elements: []int{inNumbers}, buffer: kernel.Carved[uint8](chunk), run: func(k *realKernel, at []int, n int, scratch []byte) {
		x := chunkOf[uint8](k, inNumbers, at, n, &scratch)
		tile.Dequantize(kernel.Slice[float32](k.y)[at[len(k.in)]:][:n], x, k.scale(inNumbersScale, at), k.zero(inNumbersZero, at, signed), signed)
	}}
}

// dequantizeSums is the run of a [Dequantize] of int32.
func dequantizeSums(k *realKernel, at []int, n int, scratch []byte) {
	zero, scale := int32(0), k.scale(inNumbersScale, at)
	if z := k.in[inNumbersZero]; z != nil {
		zero = kernel.Slice[int32](z)[at[inNumbersZero]]
	}
	y := kernel.Slice[float32](k.y)[at[len(k.in)]:][:n]
	for i, v := range chunkOf[int32](k, inNumbers, at, n, &scratch) {
		y[i] = float32(v-zero) * scale
	}
}

// Kernel implements [op.Computer].
func (Add) Kernel(in, _ []graph.Type) kernel.Kernel {
	tile, signed := &isa.Active().Integer, in[addLeft].DType == dtype.Int8
	return &realKernel{inputs: addZero + 1, elements: []int{addLeft, addRight}, buffer: 2 * kernel.Carved[uint8](chunk), run: func(k *realKernel, at []int, n int, scratch []byte) {
		a, b := chunkOf[uint8](k, addLeft, at, n, &scratch), chunkOf[uint8](k, addRight, at, n, &scratch)
		tile.AddQuantized(kernel.Slice[uint8](k.y)[at[len(k.in)]:][:n], a, b,
			k.scale(addLeftScale, at), k.scale(addRightScale, at), k.scale(addScale, at),
			k.zero(addLeftZero, at, signed), k.zero(addRightZero, at, signed), k.zero(addZero, at, signed), signed)
	}}
}

// DenseAxes implements [op.Strider].
func (Quantize) DenseAxes(operand, rank int) int { return realDenseAxes(operand, rank) }

// DenseAxes implements [op.Strider].
func (Dequantize) DenseAxes(operand, rank int) int { return realDenseAxes(operand, rank) }

// DenseAxes implements [op.Strider].
func (Add) DenseAxes(operand, rank int) int { return realDenseAxes(operand, rank) }

func realDenseAxes(operand, rank int) int {
	if operand >= 0 {
		return 0
	}
	return min(rank, 1)
}

// Streams implements [op.Streamer].
func (Quantize) Streams() {}

// Streams implements [op.Streamer].
func (Dequantize) Streams() {}

// Streams implements [op.Streamer].
func (Add) Streams() {}
