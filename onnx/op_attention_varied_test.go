package onnx

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/wire"
)

// An operand is an input of a node whose extents may vary: each is a number or
// the name of a dimension. The zero operand is an absent input.
type operand struct {
	dtype dtype.Type
	dims  []any
	fill  func(rng *rand.Rand) float64
}

func normal(dims ...any) operand {
	return operand{dtype.Float32, dims, func(rng *rand.Rand) float64 { return rng.NormFloat64() }}
}

// below returns an operand of integers from 0 to n-1.
func below(t dtype.Type, n int, dims ...any) operand {
	return operand{t, dims, func(rng *rand.Rand) float64 { return float64(rng.IntN(n)) }}
}

func (o operand) in(t dtype.Type) operand {
	o.dtype = t
	return o
}

func (o operand) draw(rng *rand.Rand, extents berth.Extents) *berth.Tensor {
	if o.fill == nil {
		return nil
	}
	dims, n := make([]int, len(o.dims)), 1
	for i, d := range o.dims {
		name, _ := d.(string)
		dims[i], _ = d.(int)
		dims[i] += extents[name]
		n *= dims[i]
	}
	data := make([]float64, n)
	for i := range data {
		data[i] = o.fill(rng)
	}
	return tensorOf(o.dtype, data, dims...)
}

func (o operand) info(name string) wire.ValueInfo {
	shape := &wire.Shape{}
	for _, d := range o.dims {
		n, fixed := d.(int)
		param, _ := d.(string)
		shape.Dims = append(shape.Dims, wire.Dim{HasValue: fixed, Value: int64(n), Param: param})
	}
	return wire.ValueInfo{Name: name, Type: &wire.Type{Tensor: &wire.TensorType{Elem: wireType(o.dtype), Shape: shape}}}
}

// A variedTest is a node that is run at every one of some extents, alone and as
// one program for all of them.
type variedTest struct {
	op      string // as in nodeTest
	opset   int64
	attrs   []wire.Attribute
	in      []operand
	outs    string // y for each output that the node names, - for others
	vary    []berth.Dimension
	extents []berth.Extents
	// before are nodes that make values from inputs. Made names those that take
	// the place of inputs of the node; an input that it names - is for these
	// nodes alone.
	before []wire.Node
	made   map[int]string
	want   func(in []*berth.Tensor) []*berth.Tensor // nil: what a run of the node alone gives
}

func (c variedTest) run(t *testing.T) {
	t.Helper()
	n := operatorNode(c.op, c.attrs)
	g := wire.Graph{Name: "varied"}
	for i, o := range c.in {
		name := ""
		if o.fill != nil {
			name = fmt.Sprint("x", i)
			g.Inputs = append(g.Inputs, o.info(name))
		}
		switch given := c.made[i]; given {
		case "":
		case "-":
			continue
		default:
			name = given
		}
		n.Inputs = append(n.Inputs, name)
	}
	for i, named := range c.outs {
		name := ""
		if named == 'y' {
			name = fmt.Sprint("y", i)
			g.Outputs = append(g.Outputs, wire.ValueInfo{Name: name})
		}
		n.Outputs = append(n.Outputs, name)
	}
	g.Nodes = append(c.before, n)
	opsets := []wire.OperatorSet{{Domain: n.Domain, Version: c.opset}}
	if n.Domain != "" {
		opsets = append(opsets, wire.OperatorSet{Version: 20})
	}
	m, err := Parse(wire.AppendModel(nil, &wire.Model{IRVersion: 8, OpsetImports: opsets, Graph: &g}))
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Compile(context.Background(), &Options{Vary: c.vary, RowDim: "-"})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for _, extents := range c.extents {
		inputs, list := make(map[string]*berth.Tensor), make([]*berth.Tensor, len(c.in))
		for i, o := range c.in {
			if list[i] = o.draw(rng, extents); list[i] != nil {
				inputs[fmt.Sprint("x", i)] = list[i]
			}
		}
		got, err := m.Run(context.Background(), inputs)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Bind(p, inputs, &berth.InstanceOptions{Poison: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		results, err := b.Results()
		if err != nil {
			t.Fatal(err)
		}
		b.Close()
		for i, named := range c.outs {
			name := fmt.Sprint("y", i)
			if named != 'y' {
				continue
			}
			if c.want != nil {
				if err := near(got[name], c.want(list)[i]); err != nil {
					t.Errorf("%v, output %d: %v", extents, i, err)
				}
			}
			if err := sameTensor(results[name], got[name]); err != nil {
				t.Errorf("%v, output %d, as a program: %v", extents, i, err)
			}
		}
	}
}

// near is sameTensor with room for the sums of float32 and for one rounding to
// a half.
func near(got, want *berth.Tensor) error {
	if !want.DType().IsHalf() {
		if err := sameTensor(got, want); err == nil {
			return nil
		}
	}
	rtol := map[dtype.Type]float64{dtype.Float16: 1e-3, dtype.BFloat16: 8e-3}[want.DType()]
	return berth.Close(got, want, max(rtol, 1e-4), max(rtol, 1e-5))
}

// A reference is the attention of one query, written plainly:
// scale*q·k, capped, plus bias, through the softmax, times v.
type reference struct {
	heads, groups  int
	scale, softcap float64
	// bias returns what is added to the score of query i and key j.
	bias func(b, h, i, j int) float64
}

// Run returns the result and the stages of the scores.
func (r reference) run(q, k, v *berth.Tensor) (y *berth.Tensor, stages [4]*berth.Tensor) {
	batch, queries, keys := q.Shape()[0], q.Shape()[2], k.Shape()[2]
	size, valueSize := q.Shape()[3], v.Shape()[3]
	qs, ks, vs := numbers(q), numbers(k), numbers(v)
	out := make([]float64, batch*r.heads*queries*valueSize)
	var scores [4][]float64
	for s := range scores {
		scores[s] = make([]float64, batch*r.heads*queries*keys)
	}
	for b := range batch {
		for h := range r.heads {
			g := b*r.groups + h/(r.heads/r.groups)
			for i := range queries {
				row := (b*r.heads+h)*queries + i
				most, sum, seen := math.Inf(-1), 0., false
				for j := range keys {
					s := 0.
					for d := range size {
						s += qs[row*size+d] * ks[(g*keys+j)*size+d]
					}
					at := row*keys + j
					scores[0][at] = s * r.scale
					scores[1][at] = scores[0][at]
					if r.softcap != 0 {
						scores[1][at] = r.softcap * math.Tanh(scores[0][at]/r.softcap)
					}
					bias := r.bias(b, h, i, j)
					seen = seen || !math.IsInf(bias, -1)
					scores[2][at] = scores[1][at] + bias
					if q.DType() != dtype.Float64 {
						// Beside a bias of thousands this is no small matter.
						scores[2][at] = float64(float32(scores[1][at]) + float32(bias))
					}
					most = max(most, scores[2][at])
				}
				for j := range keys {
					sum += math.Exp(scores[2][row*keys+j] - most)
				}
				for j := range keys {
					if !seen {
						continue
					}
					p := math.Exp(scores[2][row*keys+j]-most) / sum
					scores[3][row*keys+j] = p
					for d := range valueSize {
						out[row*valueSize+d] += p * vs[(g*keys+j)*valueSize+d]
					}
				}
			}
		}
	}
	for s := range scores {
		stages[s] = tensorOf(q.DType(), scores[s], batch, r.heads, queries, keys)
	}
	return tensorOf(q.DType(), out, batch, r.heads, queries, valueSize), stages
}

// never is -Inf unless ok.
func never(ok bool) float64 {
	if ok {
		return 0
	}
	return math.Inf(-1)
}

// turned returns x with axes 1 and 2 exchanged, in another shape; joined
// appends b to a along an axis.
func turned(x *berth.Tensor, from, to []int) *berth.Tensor {
	return made(x.Promise().Reshape(from...).Permute(0, 2, 1, 3).Reshape(to...))
}

func joined(axis int, list ...*berth.Tensor) *berth.Tensor {
	p := make([]*berth.Promise, len(list))
	for i, x := range list {
		p[i] = x.Promise()
	}
	return made(berth.Concat(axis, p...))
}

func made(p *berth.Promise) *berth.Tensor {
	x, err := p.Materialize(context.Background())
	if err != nil {
		panic(err)
	}
	return x
}

// split is the heads of x apart, and merged the reverse.
func split(x *berth.Tensor, heads int) *berth.Tensor {
	s := x.Shape()
	return turned(x, []int{s[0], s[1], heads, s[2] / heads}, []int{s[0], heads, s[1], s[2] / heads})
}

func merged(x *berth.Tensor) *berth.Tensor {
	s := x.Shape()
	return turned(x, s, []int{s[0], s[2], s[1] * s[3]})
}

// varying returns numbers from most down to two less, but not below 0.
func varying(most float64) func(*rand.Rand) float64 {
	return func(rng *rand.Rand) float64 { return max(most-float64(rng.IntN(3)), 0) }
}
