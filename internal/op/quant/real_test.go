package quant

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/shape"
)

// nearest is the number of type t nearest to v, which is NaN or not, and zero more.
func nearest(t dtype.Type, v float32, zero float64) float64 {
	least := map[dtype.Type]float64{dtype.Uint8: 0, dtype.Int8: -128}[t]
	if v != v {
		return least
	}
	return min(max(math.RoundToEven(float64(v))+zero, least), least+255)
}

// scales draws scales of a shape.
func scales(rng *rand.Rand, s ...int) *kernel.Operand {
	o := kerneltest.StridedInput(rng, dtype.Float32, 0, s...)
	for i := range kernel.Slice[float32](o) {
		kernel.Slice[float32](o)[i] = float32(math.Exp2(rng.Float64()*8 - 4))
	}
	return o
}

// TestReal compares quantising, its reverse, and sums, with the formulas that they state,
// for operands with strides, some of them broadcast, and several tasks.
func TestReal(t *testing.T) {
	rng := rand.New(rand.NewPCG(40, 3))
	for range kerneltest.Rounds(150) {
		s := shape.Shape{kerneltest.Extent(rng, 4), 1 + rng.IntN(5), kerneltest.Extent(rng, 70)}
		if rng.IntN(20) == 0 {
			s[2] = 20000
		}
		each := []shape.Shape{{}, {1}, {s[1], 1}, {s[2]}}[rng.IntN(4)]
		kind := anEightBit(rng)
		zero := kerneltest.StridedInput(rng, kind, 0, each...)
		if rng.IntN(3) == 0 {
			zero = nil
		}
		numbers := []*kernel.Operand{kerneltest.StridedInput(rng, dtype.Float32, 0, s...), scales(rng, each...), zero}
		checkOp(t, rng, Quantize{To: kind}, numbers, func(index []int) float64 {
			return nearest(kind, float32(element(numbers[0], index...))/float32(element(numbers[1], index...)), element(zero, index...))
		})
		bytes := []*kernel.Operand{kerneltest.StridedInput(rng, kind, 0, s...), numbers[1], zero}
		value := func(x, scale, zero *kernel.Operand, index []int) float32 {
			return float32(element(x, index...)-element(zero, index...)) * float32(element(scale, index...))
		}
		checkOp(t, rng, Dequantize{}, bytes, func(index []int) float64 {
			return float64(value(bytes[0], bytes[1], zero, index))
		})

		right := s.Clone()
		if rng.IntN(3) == 0 {
			right[rng.IntN(3)] = 1
		}
		sum := []*kernel.Operand{
			bytes[0], scales(rng), kerneltest.StridedInput(rng, kind, 0),
			kerneltest.StridedInput(rng, kind, 0, right...), scales(rng, 1), nil,
			scales(rng), kerneltest.StridedInput(rng, kind, 0, 1),
		}
		checkOp(t, rng, Add{}, sum, func(index []int) float64 {
			a, b := value(sum[0], sum[1], sum[2], index), value(sum[3], sum[4], sum[5], index)
			v := a + b
			return nearest(kind, v/float32(element(sum[6], index...)), element(sum[7], index...))
		})
	}
}
