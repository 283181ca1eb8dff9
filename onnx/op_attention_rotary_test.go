package onnx

import (
	"fmt"
	"math"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/wire"
)

// turnedHeads turns the pairs of elements of heads, of shape
// [batch, heads, length, size], by plain loops.
func turnedHeads(x *berth.Tensor, dim int, interleaved bool, scale float64, cos, sin func(b, s, pair int) float64) *berth.Tensor {
	d := x.Shape()
	data := numbers(x)
	for b := range d[0] {
		for h := range d[1] {
			for s := range d[2] {
				head := data[((b*d[1]+h)*d[2]+s)*d[3]:][:d[3]]
				for pair := range dim / 2 {
					i, j := pair, dim/2+pair
					if interleaved {
						i, j = 2*pair, 2*pair+1
					}
					u, v := head[i], head[j]
					head[i] = scale * (cos(b, s, pair)*u - sin(b, s, pair)*v)
					head[j] = scale * (sin(b, s, pair)*u + cos(b, s, pair)*v)
				}
			}
		}
	}
	return tensorOf(x.DType(), data, d...)
}

// anglesOf returns the elements of a table of cosines or sines: those of each
// token, or those at the positions of the tokens.
func anglesOf(table, positions *berth.Tensor) func(b, s, pair int) float64 {
	data, d := numbers(table), table.Shape()
	if positions == nil {
		return func(b, s, pair int) float64 { return data[(b*d[1]+s)*d[2]+pair] }
	}
	at, length := numbers(positions), positions.Shape()[1]
	return func(b, s, pair int) float64 { return data[int(at[b*length+s])*d[1]+pair] }
}

func TestRotaryEmbedding(t *testing.T) {
	const heads, size, most = 3, 8, 9
	vary := []berth.Dimension{berth.Dim("batch", 1, 3), berth.Dim("seq", 1, 6)}
	extents := []berth.Extents{{"batch": 1, "seq": 1}, {"batch": 3, "seq": 6}, {"batch": 2, "seq": 5}}
	ids := below(dtype.Int64, most, "batch", "seq")
	for _, flat := range []bool{false, true} {
		for _, interleaved := range []bool{false, true} {
			for _, dim := range []int{0, 4} {
				for _, given := range []bool{false, true} {
					for _, typ := range []dtype.Type{dtype.Float32, dtype.Float16, dtype.BFloat16} {
						turn := dim
						if turn == 0 {
							turn = size
						}
						list := attrs(attrInt("rotary_embedding_dim", int64(dim)), attrInt("num_heads", heads))
						if interleaved {
							list = append(list, attrInt("interleaved", 1))
						}
						x, table := normal("batch", heads, "seq", size), normal("batch", "seq", turn/2)
						if flat {
							x = normal("batch", "seq", heads*size)
						}
						ins := []operand{x.in(typ), table.in(typ), table.in(typ)}
						if given {
							table = normal(most, turn/2).in(typ)
							ins = []operand{x.in(typ), table, table, ids}
						}
						t.Run(fmt.Sprintf("flat=%v/interleaved=%v/dim=%d/ids=%v/%v", flat, interleaved, dim, given, typ), func(t *testing.T) {
							variedTest{op: "RotaryEmbedding", opset: 23, attrs: list, in: ins, outs: "y", vary: vary, extents: extents, want: func(in []*berth.Tensor) []*berth.Tensor {
								var at *berth.Tensor
								if given {
									at = in[3]
								}
								x := in[0]
								if flat {
									x = split(x, heads)
								}
								y := turnedHeads(x, turn, interleaved, 1, anglesOf(in[1], at), anglesOf(in[2], at))
								if flat {
									y = merged(y)
								}
								return []*berth.Tensor{y}
							}}.run(t)
						})
					}
				}
			}
		}
	}
}

func TestRotaryEmbeddingErrors(t *testing.T) {
	x, flat := counting(0, 1, 1, 1, 4), counting(0, 1, 1, 4)
	table, row := counting(0, 1, 1, 2), counting(0, 1, 2)
	dim := func(n int64) []wire.Attribute { return attrs(attrInt("rotary_embedding_dim", n)) }
	runNodeTests(t, []nodeTest{
		{"a quarter turn", "RotaryEmbedding", 23, nil, in{x, f32([]float64{0, 1}, 1, 1, 2), f32([]float64{1, 0}, 1, 1, 2)}, in{f32([]float64{-2, 1, 0, 3}, 1, 1, 1, 4)}, ""},
		{"no tokens", "RotaryEmbedding", 23, nil, in{tensorOf(dtype.Float32, nil, 1, 1, 0, 4), tensorOf(dtype.Float32, nil, 1, 0, 2), tensorOf(dtype.Float32, nil, 1, 0, 2)}, in{tensorOf(dtype.Float32, nil, 1, 1, 0, 4)}, ""},
		{"NaN beside what is turned", "RotaryEmbedding", 23, dim(2), in{f32([]float64{1, 2, math.NaN(), 4}, 1, 1, 1, 4), f32([]float64{0}, 1, 1, 1), f32([]float64{1}, 1, 1, 1)}, in{f32([]float64{-2, 1, math.NaN(), 4}, 1, 1, 1, 4)}, ""},
		{"no heads", "RotaryEmbedding", 23, nil, in{flat, table, table}, nil, `"num_heads" is missing`},
		{"two axes", "RotaryEmbedding", 23, nil, in{row, table, table}, nil, "has the shape [1 2], want 3 or 4 axes"},
		{"an odd number", "RotaryEmbedding", 23, dim(3), in{x, table, table}, nil, "3 elements of heads of 4"},
		{"more than there are", "RotaryEmbedding", 23, dim(6), in{x, table, table}, nil, "6 elements of heads of 4"},
		{"a negative number", "RotaryEmbedding", 23, dim(-2), in{x, table, table}, nil, "-2 elements of heads of 4"},
		{"angles of others", "RotaryEmbedding", 23, nil, in{x, counting(0, 1, 1, 3), table}, nil, "have the shape [1 1 3], want [1 1 2]"},
		{"positions of others", "RotaryEmbedding", 23, nil, in{x, row, row, i64([]float64{0, 0}, 1, 2)}, nil, "have the shape [1 2 2], want [1 1 2]"},
		{"a list of positions", "RotaryEmbedding", 23, nil, in{x, row, row, i64([]float64{0})}, nil, "position_ids have the shape [1]"},
		{"a position beyond the table", "RotaryEmbedding", 23, nil, in{x, row, row, i64([]float64{1}, 1, 1)}, nil, "1"},
	})
}
