package berth_test

import (
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth"
)

// A trap is an expression over two square matrices at which a planner that
// overwrites its operands or shares buffers may go wrong, and what it is.
type trap struct {
	name  string
	build func(a, b *berth.Promise) []*berth.Promise
	want  func(a, b array) []array
}

// store has a value computed into a buffer of its own, which later steps may
// overwrite: the product with the unit matrix.
func store(p *berth.Promise) *berth.Promise {
	return p.MatMul(must(berth.Identity[float32](p.Shape()[1])).Promise())
}

func each2(a, b array, f func(x, y float64) float64) array {
	return arrayOf(a.dims, func(i []int) float64 { return f(a.at(i...), b.at(i...)) })
}

func flipped(a array) array {
	return arrayOf([]int{a.dims[1], a.dims[0]}, func(i []int) float64 { return a.at(i[1], i[0]) })
}

func minus(x, y float64) float64 { return x - y }
func plus(x, y float64) float64  { return x + y }

var traps = []trap{
	{"only the second operand may be overwritten", func(a, b *berth.Promise) []*berth.Promise {
		return one(a.Sub(store(b)))
	}, func(a, b array) []array { return []array{each2(a, b, minus)} }},
	{"only the first operand may be overwritten", func(a, b *berth.Promise) []*berth.Promise {
		s, r := store(a), store(b)
		return []*berth.Promise{s.Sub(r), r}
	}, func(a, b array) []array { return []array{each2(a, b, minus), b} }},
	{"a tensor and itself", func(a, b *berth.Promise) []*berth.Promise {
		s := store(a)
		return []*berth.Promise{s.Add(s), store(b).Sub(store(b))}
	}, func(a, b array) []array { return []array{each2(a, a, plus), each2(b, b, minus)} }},
	{"a tensor and its transpose", func(a, b *berth.Promise) []*berth.Promise {
		s := store(a)
		return []*berth.Promise{s.Sub(s.Transpose()), s.Transpose().Sub(s)}
	}, func(a, b array) []array {
		return []array{each2(a, flipped(a), minus), each2(flipped(a), a, minus)}
	}},
	{"a reversed operand", func(a, b *berth.Promise) []*berth.Promise {
		s := store(a)
		return one(s.Slice(0, -1, -100, -1).Sub(s))
	}, func(a, b array) []array {
		return []array{arrayOf(a.dims, func(i []int) float64 { return a.at(a.dims[0]-1-i[0], i[1]) - a.at(i...) })}
	}},
	{"a broadcast operand", func(a, b *berth.Promise) []*berth.Promise {
		row := store(a).Index(0, 1)
		return []*berth.Promise{row.Sub(store(b)), row.Neg().BroadcastTo(2, a.Shape()[1])}
	}, func(a, b array) []array {
		return []array{
			arrayOf(b.dims, func(i []int) float64 { return a.at(1, i[1]) - b.at(i...) }),
			arrayOf([]int{2, a.dims[1]}, func(i []int) float64 { return -a.at(1, i[1]) }),
		}
	}},
	{"two views of one buffer, of which one is overwritten", func(a, b *berth.Promise) []*berth.Promise {
		s := store(a)
		top, bottom := s.Slice(0, 0, 2, 1), s.Slice(0, 1, 3, 1)
		return []*berth.Promise{top.Neg(), bottom.MulScalar(2), top.Sub(bottom)}
	}, func(a, b array) []array {
		part := func(f func(i []int) float64) array { return arrayOf([]int{2, a.dims[1]}, f) }
		return []array{
			part(func(i []int) float64 { return -a.at(i...) }), part(func(i []int) float64 { return 2 * a.at(i[0]+1, i[1]) }),
			part(func(i []int) float64 { return a.at(i...) - a.at(i[0]+1, i[1]) }),
		}
	}},
	{"a view of a buffer that is read elsewhere", func(a, b *berth.Promise) []*berth.Promise {
		s := store(a)
		return []*berth.Promise{s.Transpose().Exp().Log().Round(), s.Sub(b), s}
	}, func(a, b array) []array { return []array{flipped(a), each2(a, b, minus), a} }},
	{"transposed, packed, shifted", func(a, b *berth.Promise) []*berth.Promise {
		transposed := store(a).Transpose()
		packed, shifted := transposed.Contiguous(), transposed.AddScalar(1)
		return []*berth.Promise{packed.Sub(b), shifted, packed.Reshape(-1)}
	}, func(a, b array) []array {
		f := flipped(a)
		return []array{each2(f, b, minus), each2(f, f, func(x, _ float64) float64 { return x + 1 }), {[]int{len(f.data)}, f.data}}
	}},
	{"shifted, transposed, packed", func(a, b *berth.Promise) []*berth.Promise {
		transposed := store(a).Transpose()
		shifted, packed := transposed.AddScalar(1), transposed.Contiguous()
		return []*berth.Promise{shifted.Sub(packed), packed.Add(shifted)}
	}, func(a, b array) []array {
		f := flipped(a)
		return []array{each2(f, f, func(x, _ float64) float64 { return 1 }), each2(f, f, func(x, _ float64) float64 { return 2*x + 1 })}
	}},
	{"packed twice, through a cache, and of two promises", func(a, b *berth.Promise) []*berth.Promise {
		view := store(a).Transpose()
		return []*berth.Promise{view.Contiguous().Sub(view.Contiguous()), view.Cache().Add(view.Contiguous()), view.Cache().Contiguous().Neg().Sub(b)}
	}, func(a, b array) []array {
		f := flipped(a)
		return []array{each2(f, f, minus), each2(f, f, plus), each2(f, b, func(x, y float64) float64 { return -x - y })}
	}},
	{"a view over a packing over a view", func(a, b *berth.Promise) []*berth.Promise {
		return one(store(a).Transpose().Contiguous().Transpose().Contiguous().Transpose().Sub(b))
	}, func(a, b array) []array { return []array{each2(flipped(a), b, minus)} }},
	{"one value as two results, and a view of it", func(a, b *berth.Promise) []*berth.Promise {
		s := store(a).Sub(b)
		return []*berth.Promise{s, s, s.Transpose(), s.Neg()}
	}, func(a, b array) []array {
		d := each2(a, b, minus)
		return []array{d, d, flipped(d), each2(d, d, func(x, _ float64) float64 { return -x })}
	}},
	{"a result that nobody reads beside one that many do", func(a, b *berth.Promise) []*berth.Promise {
		values, _ := store(a).TopK(1, 1, true) // the indices go nowhere
		return one(values.Sub(values.Transpose()))
	}, func(a, b array) []array {
		top := func(r int) float64 { return reductions["Max"].want(lineOf(a, []int{r, 0}, 1)) }
		return []array{arrayOf(a.dims, func(i []int) float64 { return top(i[0]) - top(i[1]) })}
	}},
	{"widths that differ", func(a, b *berth.Promise) []*berth.Promise {
		s := store(a)
		small := s.Cast(berth.Int8)
		return []*berth.Promise{small.Cast(berth.Float32).Sub(b), small.Cast(berth.Float64).Cast(berth.Float32), s.Greater(b).Cast(berth.Float32)}
	}, func(a, b array) []array {
		return []array{each2(a, b, minus), a, each2(a, b, func(x, y float64) float64 { return truth(x > y) })}
	}},
}

// TestTraps materialises each expression with poison, as a whole and result by
// result, and runs it as a program.
func TestTraps(t *testing.T) {
	for _, c := range traps {
		t.Run(c.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(11, 1))
			a, b := random(rng, 1, 9, 3, 3), random(rng, 1, 9, 3, 3)
			wants := c.want(a, b)
			for i, p := range c.build(a.promise(berth.Float32), b.promise(berth.Float32)) {
				expect(t, label("result ", i), p, berth.Float32, wants[i])
			}
			whole := must(berth.MaterializeWith(t.Context(), berth.RunOptions{Poison: true}, c.build(a.promise(berth.Float32), b.promise(berth.Float32))...))
			outputs := make(berth.Outputs)
			in := []*berth.Promise{berth.Input("a", berth.Float32, 3, 3), berth.Input("b", berth.Float32, 3, 3)}
			for i, p := range c.build(in[0], in[1]) {
				outputs[label(i)] = p
			}
			p := must(berth.Compile(t.Context(), outputs, nil))
			inputs := make(map[string]*berth.Tensor)
			for _, in := range p.Inputs() { // some need a alone
				inputs[in.Name] = map[string]array{"a": a, "b": b}[in.Name].tensor(berth.Float32)
			}
			got := must(p.RunOnce(t.Context(), inputs, 2))
			for i, want := range wants {
				for what, out := range map[string]*berth.Tensor{"materialised": whole[i], "program": got[label(i)]} {
					if err := berth.Close(out, want.tensor(berth.Float32), 1e-5, 1e-5); err != nil {
						t.Errorf("%s, result %d: %v", what, i, err)
					}
				}
			}
		})
	}
}
