package onnx

import (
	"math"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
)

func TestCausalConvWithState(t *testing.T) {
	const channels, taps = 3, 4
	vary := []berth.Dimension{berth.Dim("batch", 1, 3), berth.Dim("seq", 1, 6)}
	extents := []berth.Extents{{"batch": 1, "seq": 1}, {"batch": 3, "seq": 6}, {"batch": 2, "seq": 2}}
	x, w, b, past := normal("batch", channels, "seq"), normal(channels, 1, taps), normal(channels), normal("batch", channels, taps-1)
	for _, c := range []struct {
		what string
		in   []operand
		silu bool
	}{
		{"nothing before", []operand{x, w}, false},
		{"a state", []operand{x, w, {}, past}, false},
		{"a bias and silu", []operand{x, w, b}, true},
		{"halves", []operand{x.in(dtype.Float16), w.in(dtype.Float16), b.in(dtype.Float16), past.in(dtype.Float16)}, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			list := attrs(attrText("activation", map[bool]string{false: "none", true: "silu"}[c.silu]))
			variedTest{op: "CausalConvWithState", opset: 27, attrs: list, in: c.in, outs: "yy", vary: vary, extents: extents, want: func(in []*berth.Tensor) []*berth.Tensor {
				for len(in) < 4 {
					in = append(in, nil)
				}
				batch, length := in[0].Shape()[0], in[0].Shape()[2]
				if in[3] == nil {
					in[3] = tensorOf(in[0].DType(), make([]float64, batch*channels*(taps-1)), batch, channels, taps-1)
				}
				all := joined(2, in[3], in[0])
				data, weights, out := numbers(all), numbers(in[1]), make([]float64, batch*channels*length)
				for row := range batch * channels {
					for i := range length {
						y := 0.
						if in[2] != nil {
							y = numbers(in[2])[row%channels]
						}
						for tap := range taps {
							y += data[row*(length+taps-1)+i+tap] * weights[row%channels*taps+tap]
						}
						if c.silu {
							y /= 1 + math.Exp(-y)
						}
						out[row*length+i] = y
					}
				}
				return []*berth.Tensor{tensorOf(in[0].DType(), out, batch, channels, length), made(all.Promise().Slice(2, length, length+taps-1, 1))}
			}}.run(t)
		})
	}
	line, one := counting(1, 1, 1, 2), f32([]float64{2}, 1, 1, 1)
	runNodeTests(t, []nodeTest{
		{"one tap", "CausalConvWithState", 27, nil, in{line, one}, in{f32([]float64{2, 4}, 1, 1, 2), tensorOf(dtype.Float32, nil, 1, 1, 0)}, ""},
		{"channels of others", "CausalConvWithState", 27, nil, in{line, counting(0, 2, 1, 2)}, nil, "the input has the shape [1 1 2] and the weights [2 1 2]"},
		{"no taps", "CausalConvWithState", 27, nil, in{line, tensorOf(dtype.Float32, nil, 1, 1, 0)}, nil, "the weights [1 1 0]"},
		{"a state of others", "CausalConvWithState", 27, nil, in{line, line, nil, line}, nil, "past_state has the shape [1 1 2], not [1 1 1]"},
		{"another activation", "CausalConvWithState", 27, attrs(attrText("activation", "relu")), in{line, one}, nil, `attribute "activation" is "relu"`},
	})
}

func TestLinearAttention(t *testing.T) {
	const heads, groups, size, valueSize = 4, 2, 3, 5
	vary := []berth.Dimension{berth.Dim("batch", 1, 3), berth.Dim("seq", 1, 6)}
	extents := []berth.Extents{{"batch": 1, "seq": 1}, {"batch": 3, "seq": 6}, {"batch": 2, "seq": 2}}
	q, k, v := normal("batch", "seq", heads*size), normal("batch", "seq", groups*size), normal("batch", "seq", groups*valueSize)
	state := normal("batch", groups, size, valueSize)
	perHead, perElement, one := normal("batch", "seq", groups), normal("batch", "seq", groups*size), normal("batch", "seq", 1)
	half := func(o operand) operand { return o.in(dtype.Float16) }
	for _, c := range []struct {
		rule  string
		scale float32
		in    []operand
	}{
		{"linear", 0, []operand{q, k, v}},
		{"linear", .5, []operand{q, k, v, state}},
		{"linear", 0, []operand{half(q), half(k), half(v), state}},
		{"gated", 0, []operand{q, k, v, {}, perElement}},
		{"gated", 0, []operand{q, k, v, state, perHead}},
		{"delta", 0, []operand{q, k, v, state, {}, perHead}},
		{"gated_delta", 2, []operand{q, k, v, state, perHead, one}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			list := attrs(attrText("update_rule", c.rule), attrInt("q_num_heads", heads), attrInt("kv_num_heads", groups), attrFloat("scale", c.scale), attrInt("chunk_size", 2))
			variedTest{op: "LinearAttention", opset: 27, attrs: list, in: c.in, outs: "yy", vary: vary, extents: extents, want: func(in []*berth.Tensor) []*berth.Tensor {
				for len(in) < 6 {
					in = append(in, nil)
				}
				scale := float64(c.scale)
				if scale == 0 {
					scale = 1 / math.Sqrt(size)
				}
				return linearReference(in, heads, groups, size, valueSize, scale)
			}}.run(t)
		})
	}
	tokens, one1 := counting(0, 1, 2, 4), counting(1, 1, 2, 2)
	both := attrs(attrInt("q_num_heads", 2), attrInt("kv_num_heads", 2), attrText("update_rule", "linear"))
	runNodeTests(t, []nodeTest{
		{"no heads", "LinearAttention", 27, nil, in{tokens, tokens, tokens}, nil, `"q_num_heads" is missing`},
		{"no decay", "LinearAttention", 27, both[:2], in{tokens, tokens, tokens}, nil, "the update rule wants a decay: true, and beta: true, but they are there: false and false"},
		{"a beta too many", "LinearAttention", 27, both, in{tokens, tokens, tokens, nil, nil, one1}, nil, "wants a decay: false"},
		{"another rule", "LinearAttention", 27, attrs(attrInt("q_num_heads", 2), attrInt("kv_num_heads", 2), attrText("update_rule", "mean")), in{tokens, tokens, tokens}, nil, `"update_rule" is "mean"`},
		{"a state of others", "LinearAttention", 27, both, in{tokens, tokens, tokens, counting(0, 1, 2, 2, 3)}, nil, "the state is [1 2 2 3], want [1 2 2 2]"},
		{"heads that do not divide", "LinearAttention", 27, both, in{tokens, counting(0, 1, 2, 3), tokens}, nil, "key has the shape [1 2 3], whose last axis does not divide into 2 heads"},
		{"integers", "LinearAttention", 27, both, in{i64([]float64{1, 1}, 1, 1, 2), i64([]float64{1, 1}, 1, 1, 2), i64([]float64{1, 1}, 1, 1, 2)}, nil, "want floating-point types"},
	})
}

// linearReference steps the state of each head of keys with plain loops.
func linearReference(in []*berth.Tensor, heads, groups, size, valueSize int, scale float64) []*berth.Tensor {
	q, k, v := numbers(in[0]), numbers(in[1]), numbers(in[2])
	batch, length := in[0].Shape()[0], in[0].Shape()[1]
	state, out := make([]float64, batch*groups*size*valueSize), make([]float64, batch*length*heads*valueSize)
	stateType := in[0].DType()
	if in[3] != nil {
		copy(state, numbers(in[3]))
		stateType = in[3].DType()
	}
	// gate returns the element of a decay or a beta for element i of group g.
	gate := func(x *berth.Tensor, b, t, g, i int) float64 {
		width := x.Shape()[2]
		return numbers(x)[(b*length+t)*width+map[int]int{1: 0, groups: g, groups * size: g*size + i}[width]]
	}
	for b := range batch {
		for t := range length {
			for g := range groups {
				s := state[(b*groups+g)*size*valueSize:][:size*valueSize]
				key, value := k[((b*length+t)*groups+g)*size:][:size], v[((b*length+t)*groups+g)*valueSize:][:valueSize]
				for j := range valueSize {
					had, update := 0., value[j]
					for i := range size {
						if in[4] != nil {
							s[i*valueSize+j] *= math.Exp(gate(in[4], b, t, g, i))
						}
						had += s[i*valueSize+j] * key[i]
					}
					if in[5] != nil {
						update = gate(in[5], b, t, g, 0) * (value[j] - had)
					}
					for i := range size {
						s[i*valueSize+j] += key[i] * update
					}
					for h := g * heads / groups; h < (g+1)*heads/groups; h++ {
						at := (b*length+t)*heads + h
						for i := range size {
							out[at*valueSize+j] += scale * q[at*size+i] * s[i*valueSize+j]
						}
					}
				}
			}
		}
	}
	return []*berth.Tensor{tensorOf(in[0].DType(), out, batch, length, heads*valueSize), tensorOf(stateType, state, batch, groups, size, valueSize)}
}

func TestFlexAttention(t *testing.T) {
	const heads, groups, size, valueSize = 4, 2, 3, 5
	q, k, v := normal("batch", heads, "seq", size), normal("batch", groups, 4, size), normal("batch", groups, 4, valueSize)
	for _, typ := range []dtype.Type{dtype.Float32, dtype.Float64, dtype.Float16, dtype.BFloat16} {
		variedTest{op: "ai.onnx.preview.FlexAttention", opset: 1, attrs: attrs(attrFloat("scale", .5)), in: []operand{q.in(typ), k.in(typ), v.in(typ)}, outs: "y",
			vary: []berth.Dimension{berth.Dim("batch", 1, 3), berth.Dim("seq", 1, 6)}, extents: []berth.Extents{{"batch": 1, "seq": 1}, {"batch": 3, "seq": 6}},
			want: func(in []*berth.Tensor) []*berth.Tensor {
				y, _ := reference{heads, groups, .5, 0, func(int, int, int, int) float64 { return 0 }}.run(in[0], in[1], in[2])
				return []*berth.Tensor{y}
			}}.run(t)
	}
}
