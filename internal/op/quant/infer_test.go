package quant_test

import (
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/optest"
	"github.com/berth-go/berth/internal/op/quant"
)

var (
	none = graph.Type{}
	u8   = func(dims ...int) graph.Type { return optest.Type(dtype.Uint8, dims...) }
	s8   = func(dims ...int) graph.Type { return optest.Type(dtype.Int8, dims...) }
	s32  = func(dims ...int) graph.Type { return optest.Type(dtype.Int32, dims...) }
	f32  = optest.Float32
)

func TestMatMulInfer(t *testing.T) {
	sums, to := quant.MatMul{}, quant.MatMul{To: dtype.Int8}
	optest.Infers(t, sums, []graph.Type{u8(2, 3), s8(3, 4)}, "int32[2 4]")
	optest.Infers(t, sums, []graph.Type{u8(7, 1, 2, 3), u8(5, 3, 4), u8(7, 5, 2, 1), none, none, none, s32(4)}, "int32[7 5 2 4]")
	optest.Infers(t, sums, []graph.Type{u8(2, 0), s8(0, 4), none, s8(4)}, "int32[2 4]")
	optest.Infers(t, to, []graph.Type{u8(2, 3), s8(3, 4), u8(2, 1), s8(1, 4), f32(2, 4), s8(2, 1), s32(2, 1)}, "int8[2 4]")
	optest.Infers(t, to, []graph.Type{u8(2, 3), s8(3, 4), none, none, f32()}, "int8[2 4]")

	optest.Refuses(t, sums, []graph.Type{u8(2, 3)}, "takes 2 to 7 inputs, got 1")
	optest.Refuses(t, sums, []graph.Type{u8(3), s8(3, 4)}, "left operand uint8[3]: want a matrix")
	optest.Refuses(t, sums, []graph.Type{u8(2, 3), s8(3)}, "right operand int8[3]: want a matrix")
	optest.Refuses(t, sums, []graph.Type{u8(2, 3), s8(4, 4)}, "3 columns against 4 rows")
	optest.Refuses(t, sums, []graph.Type{u8(2, 3), optest.Type(dtype.Bool, 3, 4)}, "right operand bool[3 4]: want int8 or uint8")
	optest.Refuses(t, sums, []graph.Type{u8(2, 3), s8(3, 4), none, u8()}, "right zero point uint8[]: want int8")
	optest.Refuses(t, sums, []graph.Type{u8(2, 3), s8(3, 4), u8(1, 4)}, "left zero point uint8[1 4] does not broadcast to [2 1]")
	optest.Refuses(t, sums, []graph.Type{u8(2, 3), s8(3, 4), none, s8(2, 1)}, "right zero point int8[2 1] does not broadcast to [1 4]")
	optest.Refuses(t, sums, []graph.Type{u8(2, 3), s8(3, 4), none, none, f32()}, "scale float32[]: the result is not quantised")
	optest.Refuses(t, sums, []graph.Type{u8(2, 3), s8(3, 4), none, none, none, u8()}, "zero point of the result uint8[]: the result is not quantised")
	optest.Refuses(t, sums, []graph.Type{u8(2, 3), s8(3, 4), none, none, none, none, s32(5, 2, 4)}, "bias int32[5 2 4] does not broadcast to [2 4]")
	optest.Refuses(t, to, []graph.Type{u8(2, 3), s8(3, 4)}, "the scale of a result of type int8 is absent")
	optest.Refuses(t, to, []graph.Type{u8(2, 3), s8(3, 4), none, none, f32(3)}, "scale float32[3] does not broadcast to [2 4]")
	optest.Refuses(t, to, []graph.Type{u8(2, 3), s8(3, 4), none, none, f32(), u8()}, "zero point of the result uint8[]: want int8")
	optest.Refuses(t, quant.MatMul{To: dtype.Int16}, []graph.Type{u8(2, 3), s8(3, 4), none, none, f32()}, "result of type int16: want int8 or uint8")
}

func TestConvInfer(t *testing.T) {
	sums, to := quant.Conv{}, quant.Conv{To: dtype.Uint8, Group: 2}
	optest.Infers(t, sums, []graph.Type{u8(2, 3, 5), s8(4, 3, 2), u8(1), s8(4), none, none, s32(4)}, "int32[2 4 4]")
	optest.Infers(t, to, []graph.Type{u8(2, 6, 5, 5), s8(4, 3, 2, 1), u8(), s8(), f32(4), u8(), s32(1)}, "uint8[2 4 4 5]")
	optest.Infers(t, to, []graph.Type{u8(0, 2, 1), s8(2, 1, 1), none, none, f32()}, "uint8[0 2 1]")

	optest.Refuses(t, sums, []graph.Type{u8(2, 3, 5), s8(4, 2, 2)}, "channels")
	optest.Refuses(t, sums, []graph.Type{u8(2, 3), s8(4, 3)}, "at least one spatial axis")
	optest.Refuses(t, sums, []graph.Type{u8(2, 3, 5), s8(4, 3, 2), u8(3)}, "left zero point uint8[3]: want one number")
	optest.Refuses(t, sums, []graph.Type{u8(2, 3, 5), s8(4, 3, 2), u8(1, 1)}, "left zero point uint8[1 1]: want one number")
	optest.Refuses(t, sums, []graph.Type{u8(2, 3, 5), s8(4, 3, 2), none, s8(3)}, "right zero point int8[3]: want one number, or [4]")
	optest.Refuses(t, sums, []graph.Type{u8(2, 3, 5), s8(4, 3, 2), none, s8(4, 1)}, "want one number, or [4]")
	optest.Refuses(t, to, []graph.Type{u8(2, 6, 5), s8(4, 3, 2), none, none, f32(2)}, "scale float32[2]: want one number, or [4]")
	optest.Refuses(t, to, []graph.Type{u8(2, 6, 5), s8(4, 3, 2), none, none, f32(), u8(4)}, "zero point of the result uint8[4]: want one number")
	optest.Refuses(t, quant.Conv{Strides: []int{0}}, []graph.Type{u8(2, 3, 5), s8(4, 3, 2)}, "strides")
	optest.Refuses(t, quant.Conv{Pads: []int{1}}, []graph.Type{u8(2, 3, 5), s8(4, 3, 2)}, "pads")
}

func TestRealInfer(t *testing.T) {
	q, d, add := quant.Quantize{To: dtype.Int8}, quant.Dequantize{}, quant.Add{}
	optest.Infers(t, q, []graph.Type{f32(2, 3), f32()}, "int8[2 3]")
	optest.Infers(t, q, []graph.Type{f32(2, 3), f32(2, 1), s8(3)}, "int8[2 3]")
	optest.Infers(t, d, []graph.Type{u8(2, 3), f32(3), u8(2, 1)}, "float32[2 3]")
	optest.Infers(t, add, []graph.Type{u8(2, 1), f32(), none, u8(3), f32(1), u8(), f32()}, "uint8[2 3]")

	optest.Refuses(t, quant.Quantize{}, []graph.Type{f32(2, 3), f32()}, "want int8 or uint8")
	optest.Refuses(t, q, []graph.Type{f32(2, 3), f32(), u8()}, "input 2 uint8[]: want int8")
	optest.Refuses(t, q, []graph.Type{f32(2, 3), f32(2)}, "input 1 float32[2] does not broadcast to [2 3]")
	optest.Refuses(t, q, []graph.Type{u8(2, 3), f32()}, "input 0 uint8[2 3]: want float32")
	optest.Infers(t, d, []graph.Type{s32(2, 3), f32(3)}, "float32[2 3]")
	optest.Refuses(t, d, []graph.Type{f32(2, 3), f32()}, "want int8, uint8 or int32")
	optest.Refuses(t, d, []graph.Type{u8(2, 3), f32(), s8()}, "input 2 int8[]: want uint8")
	optest.Refuses(t, add, []graph.Type{u8(2), f32(), none, u8(2), f32(), none}, "input 6 is absent")
	optest.Refuses(t, add, []graph.Type{u8(2), f32(), none, s8(2), f32(), none, f32()}, "input 3 int8[2]: want uint8")
	optest.Refuses(t, add, []graph.Type{u8(2), f32(2), none, u8(2), f32(), none, f32()}, "input 1 float32[2]: want one number")
	optest.Refuses(t, add, []graph.Type{u8(2), f32(), none, u8(3), f32(), none, f32()}, "2")
}
