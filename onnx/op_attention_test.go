package onnx

import (
	"fmt"
	"math"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/wire"
)

func TestAttention(t *testing.T) {
	const qHeads, kvHeads, size, valueSize = 4, 2, 3, 5
	batch, seq, past := berth.Dim("batch", 1, 3), berth.Dim("seq", 1, 6), berth.Dim("past", 0, 7)
	vary := []berth.Dimension{batch, seq, past}
	extents := []berth.Extents{{"batch": 1, "seq": 1, "past": 0}, {"batch": 3, "seq": 6, "past": 7}, {"batch": 2, "seq": 3, "past": 1}, {"batch": 2, "seq": 1, "past": 7}}
	heads := attrs(attrInt("q_num_heads", qHeads), attrInt("kv_num_heads", kvHeads))
	q4, k4, v4 := normal("batch", qHeads, "seq", size), normal("batch", kvHeads, "seq", size), normal("batch", kvHeads, "seq", valueSize)
	q3, k3, v3 := normal("batch", "seq", qHeads*size), normal("batch", "seq", kvHeads*size), normal("batch", "seq", kvHeads*valueSize)
	pastK, pastV := normal("batch", kvHeads, "past", size), normal("batch", kvHeads, "past", valueSize)
	free := func([]*berth.Tensor) func(b, h, i, j int) float64 {
		return func(int, int, int, int) float64 { return 0 }
	}
	causal := func(in []*berth.Tensor) func(b, h, i, j int) float64 {
		past := 0
		if in[4] != nil {
			past = in[4].Shape()[2]
		}
		return func(_, _, i, j int) float64 { return never(j <= i+past) }
	}
	for _, c := range []struct {
		what    string
		opset   int64
		attrs   []wire.Attribute
		in      []operand
		scale   float64
		softcap float64
		bias    func(in []*berth.Tensor) func(b, h, i, j int) float64
		mode    int
	}{
		{"four axes", 23, nil, []operand{q4, k4, v4}, 0, 0, free, 0},
		{"three axes", 23, heads, []operand{q3, k3, v3}, 0, 0, free, 0},
		{"scale and softcap", 23, attrs(attrFloat("scale", .5), attrFloat("softcap", 2)), []operand{q4, k4, v4}, .5, 2, free, 1},
		{"past", 23, heads, []operand{q3, k3, v3, {}, pastK, pastV}, 0, 0, free, 3},
		{"causal", 23, append(heads, attrInt("is_causal", 1)), []operand{q3, k3, v3}, 0, 0, causal, 2},
		{"causal with past", 24, attrs(attrInt("is_causal", 1)), []operand{q4, k4, v4, {}, pastK, pastV}, 0, 0, causal, 2},
		{"a float mask", 23, heads, []operand{q3, k3, v3, normal(1, qHeads, "seq", "seq")}, 0, 0, func(in []*berth.Tensor) func(b, h, i, j int) float64 {
			mask, n := numbers(in[3]), in[0].Shape()[1]
			return func(_, h, i, j int) float64 { return mask[(h*n+i)*n+j] }
		}, 2},
		{"a mask of truth values that allows nothing at times", 24, nil, []operand{q4, k4, v4, below(dtype.Bool, 2, "batch", 1, "seq", "seq")}, 0, 0, func(in []*berth.Tensor) func(b, h, i, j int) float64 {
			mask, n := numbers(in[3]), in[0].Shape()[2]
			return func(b, _, i, j int) float64 { return never(mask[(b*n+i)*n+j] != 0) }
		}, 3},
		{"lengths that leave queries before the first key", 24, attrs(attrInt("is_causal", 1)), []operand{q4, k4, v4, {}, {}, {}, below(dtype.Int64, 2, "batch")}, 0, 0, func(in []*berth.Tensor) func(b, h, i, j int) float64 {
			length, n := numbers(in[6]), in[0].Shape()[2]
			return func(b, _, i, j int) float64 { return never(j < int(length[b]) && j <= i+int(length[b])-n) }
		}, 3},
		{"a mask beside lengths", 24, nil, []operand{q4, k4, v4, normal("seq", "seq"), {}, {}, below(dtype.Int64, 2, "batch")}, 0, 0, func(in []*berth.Tensor) func(b, h, i, j int) float64 {
			mask, length, n := numbers(in[3]), numbers(in[6]), in[0].Shape()[2]
			return func(b, _, i, j int) float64 { return mask[i*n+j] + never(j < int(length[b])) }
		}, 2},
		{"a window", 25, attrs(attrInt("left_window_size", 1), attrInt("right_window_size", 2)), []operand{q4, k4, v4, {}, pastK, pastV}, 0, 0, func(in []*berth.Tensor) func(b, h, i, j int) float64 {
			past := in[4].Shape()[2]
			return func(_, _, i, j int) float64 { return never(i+past-j <= 1 && j-i-past <= 2) }
		}, 3},
		{"no room to the left", 25, attrs(attrInt("left_window_size", 0)), []operand{q4, k4, v4}, 0, 0, func(in []*berth.Tensor) func(b, h, i, j int) float64 {
			return func(_, _, i, j int) float64 { return never(j >= i) }
		}, 3},
	} {
		for _, typ := range []dtype.Type{dtype.Float32, dtype.Float64, dtype.Float16, dtype.BFloat16} {
			t.Run(fmt.Sprintf("%s/%v", c.what, typ), func(t *testing.T) {
				ins := append([]operand(nil), c.in...)
				outs := "yyyy"
				for i := range ins {
					if ins[i].dtype == dtype.Float32 {
						ins[i] = ins[i].in(typ)
					}
				}
				if len(ins) > 6 {
					outs = "y--y"
				}
				list := append(attrs(attrInt("qk_matmul_output_mode", int64(c.mode))), c.attrs...)
				used := vary
				if len(ins) < 5 || ins[4].fill == nil {
					used = vary[:2]
				}
				at := make([]berth.Extents, len(extents))
				for i, e := range extents {
					at[i] = berth.Extents{}
					for _, d := range used {
						at[i][d.Name] = e[d.Name]
					}
				}
				variedTest{op: "Attention", opset: c.opset, attrs: list, in: ins, outs: outs, vary: used, extents: at, want: func(in []*berth.Tensor) []*berth.Tensor {
					for len(in) < 7 {
						in = append(in, nil)
					}
					q, k, v := in[0], in[1], in[2]
					flat := len(q.Shape()) == 3
					if flat {
						q, k, v = split(q, qHeads), split(k, kvHeads), split(v, kvHeads)
					}
					if in[4] != nil {
						k, v = joined(2, in[4], k), joined(2, in[5], v)
					}
					r := reference{qHeads, kvHeads, c.scale, c.softcap, c.bias(in)}
					if r.scale == 0 {
						r.scale = 1 / math.Sqrt(size)
					}
					y, stages := r.run(q, k, v)
					if flat {
						y = merged(y)
					}
					return []*berth.Tensor{y, k, v, stages[c.mode]}
				}}.run(t)
			})
		}
	}
}

func TestAttentionErrors(t *testing.T) {
	q, k := counting(0, 1, 2, 3, 4), counting(0, 1, 2, 5, 4)
	flat := counting(0, 1, 3, 8)
	heads := attrs(attrInt("q_num_heads", 2), attrInt("kv_num_heads", 2))
	past := counting(0, 1, 2, 1, 4)
	lengths := i64([]float64{1})
	none := tensorOf(dtype.Float32, nil, 1, 2, 0, 4)
	zeros := tensorOf(dtype.Float32, make([]float64, 24), 1, 2, 3, 4)
	runNodeTests(t, []nodeTest{
		{"no keys", "Attention", 23, nil, in{q, none, none}, in{zeros}, ""},
		{"no keys under a mask", "Attention", 24, nil, in{q, none, none, tensorOf(dtype.Bool, nil, 3, 0)}, in{zeros}, ""},
		{"no queries", "Attention", 23, nil, in{none, k, k}, in{none}, ""},
		{"a mask of one column", "Attention", 24, nil, in{q, k, k, truth([]float64{1, 0, 1}, 3, 1)},
			in{f32([]float64{0, 1, 2, 3, 0, 0, 0, 0, 0, 1, 2, 3, 20, 21, 22, 23, 0, 0, 0, 0, 20, 21, 22, 23}, 1, 2, 3, 4)}, ""},
		{"a window behind the last key", "Attention", 25, attrs(attrInt("left_window_size", 0)), in{counting(0, 1, 1, 3, 1), f32([]float64{5}, 1, 1, 1, 1), f32([]float64{7}, 1, 1, 1, 1)}, in{f32([]float64{7, 0, 0}, 1, 1, 3, 1)}, ""},
		{"values of another type", "Attention", 23, nil, in{f32([]float64{1}, 1, 1, 1, 1), f32([]float64{1}, 1, 1, 1, 1), tensorOf(dtype.Float16, []float64{3}, 1, 1, 1, 1)},
			in{f32([]float64{3}, 1, 1, 1, 1), f32([]float64{1}, 1, 1, 1, 1), tensorOf(dtype.Float16, []float64{3}, 1, 1, 1, 1)}, ""},
		{"scores rounded before the softmax", "Attention", 23, attrs(attrInt("softmax_precision", int64(wire.BFloat16)), attrFloat("scale", 1)),
			in{f32([]float64{1}, 1, 1, 1, 1), f32([]float64{256, 257}, 1, 1, 2, 1), f32([]float64{0, 1}, 1, 1, 2, 1)}, in{f32([]float64{.5}, 1, 1, 1, 1)}, ""},
		{"no heads", "Attention", 23, nil, in{flat, flat, flat}, nil, `"q_num_heads" is missing`},
		{"heads that do not divide", "Attention", 23, attrs(attrInt("q_num_heads", 3), attrInt("kv_num_heads", 1)), in{flat, flat, flat}, nil, "Q has the shape [1 3 8], whose last axis does not divide into 3 heads"},
		{"heads of others", "Attention", 23, attrs(attrInt("q_num_heads", 1)), in{q, k, k}, nil, "q_num_heads and kv_num_heads are 1 and 0, but the inputs have 2 and 2"},
		{"unlike ranks", "Attention", 23, heads, in{flat, k, k}, nil, "K has the shape [1 2 5 4], want 3 axes"},
		{"groups that do not divide", "Attention", 23, nil, in{counting(0, 1, 3, 3, 4), k, k}, nil, "3 heads of queries do not divide into groups for 2 heads"},
		{"sizes that differ", "Attention", 23, nil, in{counting(0, 1, 2, 3, 5), k, k}, nil, "do not go together"},
		{"past keys alone", "Attention", 23, nil, in{q, q, q, nil, past}, nil, "keys without values"},
		{"a past of three axes", "Attention", 23, nil, in{q, q, q, nil, flat, flat}, nil, "input 4, past keys or values, has the shape [1 3 8]"},
		{"lengths beside a past", "Attention", 24, nil, in{q, q, q, nil, past, past, lengths}, nil, "nonpad_kv_seqlen does not go with past"},
		{"lengths too early", "Attention", 23, nil, in{q, q, q, nil, nil, nil, lengths}, nil, "takes at most 6"},
		{"lengths for others", "Attention", 24, nil, in{q, q, q, nil, nil, nil, i64([]float64{1, 2})}, nil, "nonpad_kv_seqlen has the shape [2], not [1]"},
		{"a mask of integers", "Attention", 24, nil, in{q, k, k, i64([]float64{1})}, nil, "neither of truth values nor of floating-point numbers"},
		{"a short mask too early", "Attention", 23, nil, in{q, k, k, truth([]float64{1, 1})}, nil, "broadcast"},
		{"a mask for more heads", "Attention", 24, nil, in{counting(0, 1, 1, 3, 4), counting(0, 1, 1, 5, 4), counting(0, 1, 1, 5, 4), counting(0, 7, 1, 1, 5)}, nil, "does not broadcast to the scores"},
		{"an unknown mode", "Attention", 24, attrs(attrInt("qk_matmul_output_mode", 4)), in{q, k, k}, nil, "qk_matmul_output_mode is 4"},
		{"an integer precision", "Attention", 24, attrs(attrInt("softmax_precision", int64(wire.Int64))), in{q, k, k}, nil, "softmax_precision is int64"},
		{"a window too early", "Attention", 24, attrs(attrInt("left_window_size", 1)), in{q, k, k}, nil, "left_window_size does not exist before version 25"},
		{"a negative window", "Attention", 25, attrs(attrInt("right_window_size", -2)), in{q, k, k}, nil, "are -1 and -2"},
		{"integers", "Attention", 23, nil, in{i64([]float64{1}, 1, 1, 1, 1), i64([]float64{1}, 1, 1, 1, 1), i64([]float64{1}, 1, 1, 1, 1)}, nil, "want floating-point types"},
	})
}
