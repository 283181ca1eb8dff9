package onnx

import (
	"fmt"
	"math"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/wire"
)

var contribDims = struct {
	vary    []berth.Dimension
	extents []berth.Extents
}{
	[]berth.Dimension{berth.Dim("batch", 1, 3), berth.Dim("seq", 1, 5), berth.Dim("past", 0, 6)},
	[]berth.Extents{{"batch": 1, "seq": 1, "past": 0}, {"batch": 3, "seq": 5, "past": 0}, {"batch": 3, "seq": 5, "past": 6}, {"batch": 2, "seq": 2, "past": 1}, {"batch": 2, "seq": 1, "past": 6}},
}

// withoutPast leaves out the dimension past.
func withoutPast() (vary []berth.Dimension, extents []berth.Extents) {
	for _, e := range contribDims.extents {
		extents = append(extents, berth.Extents{"batch": e["batch"], "seq": e["seq"]})
	}
	return contribDims.vary[:2], extents
}

// columns returns columns [from, to) of the last of three axes.
func columns(x *berth.Tensor, from, to int) *berth.Tensor {
	return made(x.Promise().Slice(-1, from, to, 1))
}

func added(x, y *berth.Tensor) *berth.Tensor { return made(x.Promise().Add(y.Promise())) }

// masked is a bias that is low where the mask, of so many columns, is 0.
func masked(mask *berth.Tensor, columns int) func(row, j int) float64 {
	data := numbers(mask)
	return func(row, j int) float64 {
		if data[row*columns+j] > 0 {
			return 0
		}
		return -10000
	}
}

func TestContribAttention(t *testing.T) {
	const heads, size, valueSize, width = 2, 3, 4, 5
	vary, extents := withoutPast()
	num := attrInt("num_heads", heads)
	x, w, b := normal("batch", "seq", width), normal(width, 3*heads*size), normal(3*heads*size)
	product := func(in []*berth.Tensor, hidden, valueHidden int) (q, k, v *berth.Tensor) {
		all := in[0].Promise().MatMul(in[1].Promise())
		if in[2] != nil {
			all = all.Add(in[2].Promise())
		}
		qkv := made(all)
		return split(columns(qkv, 0, hidden), heads), split(columns(qkv, hidden, 2*hidden), heads), split(columns(qkv, 2*hidden, 2*hidden+valueHidden), heads)
	}
	t.Run("values of another size, causal", func(t *testing.T) {
		variedTest{op: "com.microsoft.Attention", opset: 1,
			attrs: attrs(num, attrInts("qkv_hidden_sizes", heads*size, heads*size, heads*valueSize), attrInt("unidirectional", 1), attrFloat("scale", .25)),
			in:    []operand{x, normal(width, heads*(2*size+valueSize)), {}}, outs: "y", vary: vary, extents: extents,
			want: func(in []*berth.Tensor) []*berth.Tensor {
				q, k, v := product(in, heads*size, heads*valueSize)
				y, _ := reference{heads, heads, .25, 0, func(_, _, i, j int) float64 { return never(j <= i) }}.run(q, k, v)
				return []*berth.Tensor{merged(y)}
			}}.run(t)
	})
	t.Run("a mask, past and a bias of the scores", func(t *testing.T) {
		variedTest{op: "com.microsoft.Attention", opset: 1, attrs: attrs(num, attrInt("unidirectional", 1)),
			in: []operand{x, w, b, below(dtype.Int32, 2, "batch", "past"), normal(2, "batch", heads, "past", size), normal(1, heads, "seq", "past"),
				below(dtype.Int32, 2, "batch", "seq"), normal(1, heads, "seq", "seq")},
			before: []wire.Node{joinedInputs(3, 6, "mask"), joinedInputs(5, 7, "bias")}, made: map[int]string{3: "mask", 5: "bias", 6: "-", 7: "-"},
			outs: "yy", vary: contribDims.vary, extents: contribDims.extents,
			want: func(in []*berth.Tensor) []*berth.Tensor {
				q, k, v := product(in, heads*size, heads*size)
				past := in[4].Shape()[3]
				of := func(i int) *berth.Tensor {
					s := in[4].Shape()
					return made(in[4].Promise().Slice(0, i, i+1, 1).Reshape(s[1:]...))
				}
				k, v = joined(2, of(0), k), joined(2, of(1), v)
				keys := k.Shape()[2]
				mask, bias, n := masked(joined(-1, in[3], in[6]), keys), numbers(joined(-1, in[5], in[7])), q.Shape()[2]
				y, _ := reference{heads, heads, 1 / math.Sqrt(size), 0, func(b, h, i, j int) float64 {
					return mask(b, j) + bias[(h*n+i)*keys+j] + never(j <= i+past)
				}}.run(q, k, v)
				s := append([]int{1}, k.Shape()...)
				present := made(berth.Concat(0, k.Promise().Reshape(s...), v.Promise().Reshape(s...)))
				return []*berth.Tensor{merged(y), present}
			}}.run(t)
	})
	for _, ends := range []int{1, 2} {
		t.Run(map[int]string{1: "ends", 2: "ends and beginnings"}[ends], func(t *testing.T) {
			const batch = 2
			variedTest{op: "com.microsoft.Attention", opset: 1, attrs: attrs(num),
				in: []operand{normal(batch, "seq", width), w, b, below(dtype.Int32, 3, ends*batch)}, outs: "y", vary: vary[1:], extents: []berth.Extents{{"seq": 1}, {"seq": 4}, {"seq": 3}, {"seq": 4}, {"seq": 4}},
				want: func(in []*berth.Tensor) []*berth.Tensor {
					q, k, v := product(in, heads*size, heads*size)
					at := numbers(in[3])
					y, _ := reference{heads, heads, 1 / math.Sqrt(size), 0, func(b, _, _, j int) float64 {
						if j >= int(at[b]) || ends == 2 && j < int(at[batch+b]) {
							return -10000
						}
						return 0
					}}.run(q, k, v)
					return []*berth.Tensor{merged(y)}
				}}.run(t)
		})
	}
	t.Run("a mask of the whole square", func(t *testing.T) {
		const most, past = 7, 2
		variedTest{op: "com.microsoft.Attention", opset: 1, attrs: attrs(num),
			in:   []operand{x, w, b, below(dtype.Int32, 2, "batch", 1, most, most), normal(2, "batch", heads, past, size)},
			outs: "y", vary: vary, extents: extents,
			want: func(in []*berth.Tensor) []*berth.Tensor {
				q, k, v := product(in, heads*size, heads*size)
				s := in[4].Shape()
				of := func(i int) *berth.Tensor { return made(in[4].Promise().Slice(0, i, i+1, 1).Reshape(s[1:]...)) }
				mask := masked(in[3], most)
				y, _ := reference{heads, heads, 1 / math.Sqrt(size), 0, func(b, _, i, j int) float64 { return mask(b*most+past+i, j) }}.run(q, joined(2, of(0), k), joined(2, of(1), v))
				return []*berth.Tensor{merged(y)}
			}}.run(t)
	})
}

// joinedInputs is a node that appends input y to input x along the last axis.
func joinedInputs(x, y int, out string) wire.Node {
	return wire.Node{OpType: "Concat", Inputs: []string{fmt.Sprint("x", x), fmt.Sprint("x", y)}, Outputs: []string{out}, Attributes: attrs(attrInt("axis", -1))}
}

func TestMultiHeadAttention(t *testing.T) {
	const heads, size, valueSize = 2, 3, 4
	vary, extents := withoutPast()
	num := attrInt("num_heads", heads)
	free := func(int, int, int, int) float64 { return 0 }
	plain := reference{heads, heads, 1 / math.Sqrt(size), 0, free}
	q, k, v := normal("batch", "seq", heads*size), normal("batch", "seq", heads*size), normal("batch", "seq", heads*valueSize)
	t.Run("a bias of the projections", func(t *testing.T) {
		variedTest{op: "com.microsoft.MultiHeadAttention", opset: 1, attrs: attrs(num), in: []operand{q, k, v, normal(heads * (2*size + valueSize))}, outs: "yyy", vary: vary, extents: extents,
			want: func(in []*berth.Tensor) []*berth.Tensor {
				b := in[3]
				q, k := split(added(in[0], columns(b, 0, heads*size)), heads), split(added(in[1], columns(b, heads*size, 2*heads*size)), heads)
				v := split(added(in[2], columns(b, 2*heads*size, heads*(2*size+valueSize))), heads)
				y, _ := plain.run(q, k, v)
				return []*berth.Tensor{merged(y), k, v}
			}}.run(t)
	})
	t.Run("past, a mask and halves", func(t *testing.T) {
		half := func(o operand) operand { return o.in(dtype.Float16) }
		variedTest{op: "com.microsoft.MultiHeadAttention", opset: 1, attrs: attrs(num, attrInt("unidirectional", 1)),
			in: []operand{half(q), half(k), half(v), {}, below(dtype.Int32, 2, "batch", "seq", "past"), {}, half(normal("batch", heads, "past", size)), half(normal("batch", heads, "past", valueSize)),
				below(dtype.Int32, 2, "batch", "seq", "seq")},
			before: []wire.Node{joinedInputs(4, 8, "mask")}, made: map[int]string{4: "mask", 8: "-"},
			outs: "yyy", vary: contribDims.vary, extents: contribDims.extents,
			want: func(in []*berth.Tensor) []*berth.Tensor {
				q, k, v := split(in[0], heads), joined(2, in[6], split(in[1], heads)), joined(2, in[7], split(in[2], heads))
				n, keys, past := q.Shape()[2], k.Shape()[2], in[6].Shape()[2]
				mask := masked(joined(-1, in[4], in[8]), keys)
				y, _ := reference{heads, heads, 1 / math.Sqrt(size), 0, func(b, _, i, j int) float64 { return mask(b*n+i, j) + never(j <= i+past) }}.run(q, k, v)
				return []*berth.Tensor{merged(y), k, v}
			}}.run(t)
	})
	t.Run("all packed", func(t *testing.T) {
		variedTest{op: "com.microsoft.MultiHeadAttention", opset: 1, attrs: attrs(num), in: []operand{normal("batch", "seq", heads, 3, size)}, outs: "y", vary: vary, extents: extents,
			want: func(in []*berth.Tensor) []*berth.Tensor {
				of := func(i int) *berth.Tensor {
					s := in[0].Shape()
					return made(in[0].Promise().Slice(3, i, i+1, 1).Reshape(s[0], s[1], heads, size).Permute(0, 2, 1, 3))
				}
				y, _ := plain.run(of(0), of(1), of(2))
				return []*berth.Tensor{merged(y)}
			}}.run(t)
	})
	t.Run("keys and values packed", func(t *testing.T) {
		variedTest{op: "com.microsoft.MultiHeadAttention", opset: 1, attrs: attrs(num), in: []operand{q, normal("batch", 4, heads, 2, size)}, outs: "y", vary: vary, extents: extents,
			want: func(in []*berth.Tensor) []*berth.Tensor {
				of := func(i int) *berth.Tensor {
					s := in[1].Shape()
					return made(in[1].Promise().Slice(3, i, i+1, 1).Reshape(s[0], s[1], heads, size).Permute(0, 2, 1, 3))
				}
				y, _ := plain.run(split(in[0], heads), of(0), of(1))
				return []*berth.Tensor{merged(y)}
			}}.run(t)
	})
	t.Run("keys and values with heads apart", func(t *testing.T) {
		variedTest{op: "com.microsoft.MultiHeadAttention", opset: 1, attrs: attrs(num), in: []operand{q, normal("batch", heads, 4, size), normal("batch", heads, 4, valueSize), normal(heads * size)}, outs: "y", vary: vary, extents: extents,
			want: func(in []*berth.Tensor) []*berth.Tensor {
				y, _ := plain.run(split(added(in[0], in[3]), heads), in[1], in[2])
				return []*berth.Tensor{merged(y)}
			}}.run(t)
	})
}

func TestGroupQueryAttention(t *testing.T) {
	const heads, groups, size, most = 4, 2, 4, 16
	num := attrs(attrInt("num_heads", heads), attrInt("kv_num_heads", groups))
	q, k, v := normal("batch", "seq", heads*size), normal("batch", "seq", groups*size), normal("batch", "seq", groups*size)
	pastK, pastV := normal("batch", groups, "past", size), normal("batch", groups, "past", size)
	table := normal(most, size/2)
	// The total length is an extent of a mask, as exporters write it.
	before := []wire.Node{
		joinedInputs(6, 9, "mask"),
		{OpType: "Shape", Inputs: []string{"mask"}, Outputs: []string{"dims"}, Attributes: attrs(attrInt("start", 1), attrInt("end", 2))},
		{OpType: "Cast", Inputs: []string{"dims"}, Outputs: []string{"total"}, Attributes: attrs(attrInt("to", int64(wire.Int32)))},
	}
	for _, c := range []struct {
		what   string
		attrs  []wire.Attribute
		packed bool
		rotary bool
		window int
	}{
		{"plain", num, false, false, most},
		{"packed", num, true, false, most},
		{"rotary and a window", append(num, attrInt("do_rotary", 1), attrInt("local_window_size", 2), attrInt("rotary_interleaved", 1)), false, true, 2},
	} {
		t.Run(c.what, func(t *testing.T) {
			// Elements of the batch have up to two tokens fewer than there is
			// room for.
			lengths := operand{dtype.Int32, []any{"batch"}, nil}
			ins := []operand{q, k, v, pastK, pastV, lengths, normal("batch", "past"), {}, {}, normal("batch", "seq")}
			if c.packed {
				ins[0], ins[1], ins[2] = normal("batch", "seq", (heads+2*groups)*size), operand{}, operand{}
			}
			if c.rotary {
				ins[7], ins[8] = table, table
			}
			for _, e := range contribDims.extents {
				full := float64(e["past"] + e["seq"] - 1)
				ins[5].fill = varying(full)
				variedTest{op: "com.microsoft.GroupQueryAttention", opset: 1, attrs: c.attrs, in: ins, outs: "yyy",
					vary: contribDims.vary, extents: []berth.Extents{e}, before: before, made: map[int]string{6: "total", 9: "-"},
					want: func(in []*berth.Tensor) []*berth.Tensor {
						return groupedReference(in, heads, groups, size, c.window, c.rotary)
					}}.run(t)
			}
		})
	}
}

// groupedReference writes keys and values into the past of each element of the
// batch, and attends to what is up to each query and in the window.
func groupedReference(in []*berth.Tensor, heads, groups, size, window int, turn bool) []*berth.Tensor {
	var q, k, v *berth.Tensor
	if in[1] == nil {
		q, k, v = columns(in[0], 0, heads*size), columns(in[0], heads*size, (heads+groups)*size), columns(in[0], (heads+groups)*size, (heads+2*groups)*size)
	} else {
		q, k, v = in[0], in[1], in[2]
	}
	q, k, v = split(q, heads), split(k, groups), split(v, groups)
	batch, length, past := q.Shape()[0], q.Shape()[2], in[3].Shape()[2]
	start := make([]int, batch)
	for b, n := range numbers(in[5]) {
		start[b] = max(int(n)+1-length, 0)
	}
	if turn {
		cos, sin := numbers(in[7]), numbers(in[8])
		angle := func(table []float64) func(b, s, pair int) float64 {
			return func(b, s, pair int) float64 { return table[(start[b]+s)*size/2+pair] }
		}
		q, k = turnedHeads(q, size, true, 1, angle(cos), angle(sin)), turnedHeads(k, size, true, 1, angle(cos), angle(sin))
	}
	total := past + length
	write := func(cache, x *berth.Tensor) *berth.Tensor {
		from, to, out := numbers(cache), numbers(x), make([]float64, batch*groups*total*size)
		for row := range batch * groups {
			copy(out[row*total*size:], from[row*past*size:][:past*size])
			copy(out[(row*total+start[row/groups])*size:], to[row*length*size:][:length*size])
		}
		return tensorOf(x.DType(), out, batch, groups, total, size)
	}
	k, v = write(in[3], k), write(in[4], v)
	y, _ := reference{heads, groups, 1 / math.Sqrt(float64(size)), 0, func(b, _, i, j int) float64 {
		return never(j <= start[b]+i && j > start[b]+i-window)
	}}.run(q, k, v)
	return []*berth.Tensor{merged(y), k, v}
}
