package recurrent_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/op/recurrent"
)

// A sample is an op with operands, and what the plain definition needs to know of it.
type sample struct {
	op                  op.Computer
	gates, params       int
	cells, final        bool
	direction           recurrent.Direction
	steps, rows, size   int
	in                  []*kernel.Operand // params are the last of all
	step                func(s *sample, layer int, x, h, c, p []float64, r func(gate int, h []float64) []float64) (h2, c2 []float64)
	clip                float64
	linear, inputForget bool
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// bounded is x between the bounds of clip.
func (s *sample) bounded(x float64) float64 {
	if s.clip == 0 {
		return x
	}
	return max(-s.clip, min(s.clip, x))
}

// draw returns an op of a kind, 0 to 2, with random attributes and operands.
func draw(rng *rand.Rand, kind int, t dtype.Type) *sample {
	s := &sample{
		direction: recurrent.Direction(rng.IntN(3)), final: rng.IntN(3) == 0,
		steps: kerneltest.Extent(rng, 5), rows: kerneltest.Extent(rng, 30), size: kerneltest.Extent(rng, 40),
	}
	if rng.IntN(2) == 0 {
		s.clip = 0.5
	}
	layers := s.direction.Layers()
	s.linear, s.inputForget = rng.IntN(2) == 0, rng.IntN(2) == 0
	states := 1
	switch kind {
	case 0:
		s.gates, s.step = 1, rnnStep
		s.op = recurrent.RNN{Direction: s.direction, Clip: s.clip, Final: s.final}
	case 1:
		s.gates, s.step = 3, gruStep
		if s.linear {
			s.params = 1
		}
		s.op = recurrent.GRU{Direction: s.direction, Clip: s.clip, Final: s.final, LinearBeforeReset: s.linear}
	case 2:
		s.gates, s.step, s.params, s.cells, states = 4, lstmStep, 3, true, 2
		s.op = recurrent.LSTM{Direction: s.direction, Clip: s.clip, Final: s.final, InputForget: s.inputForget}
	}
	operand := func(dims ...int) *kernel.Operand { return kerneltest.StridedInput(rng, t, 1, dims...) }
	maybe := func(dims ...int) *kernel.Operand {
		if rng.IntN(3) == 0 {
			return nil
		}
		return operand(dims...)
	}
	s.in = []*kernel.Operand{operand(s.steps, s.rows, layers*s.gates*s.size), operand(layers, s.gates*s.size, s.size), nil}
	if rng.IntN(2) == 0 {
		lens := make([]int32, s.rows)
		for i := range lens {
			lens[i] = int32(rng.IntN(s.steps + 1))
		}
		s.in[2] = kerneltest.Of(dtype.Int32, lens, s.rows)
	}
	for range states {
		s.in = append(s.in, maybe(layers, s.rows, s.size))
	}
	if s.params > 0 {
		s.in = append(s.in, maybe(layers, s.params*s.size))
	}
	return s
}

func (s *sample) types() (in, out []graph.Type, err error) {
	for _, o := range s.in {
		if o == nil {
			in = append(in, graph.Type{})
		} else {
			in = append(in, graph.Type{DType: o.DType, Shape: o.Shape})
		}
	}
	out, err = s.op.Infer(in)
	return in, out, err
}

func rnnStep(s *sample, layer int, x, h, _, _ []float64, r func(gate int, h []float64) []float64) (h2, c2 []float64) {
	product := r(0, h)
	for i := range h {
		h2 = append(h2, math.Tanh(s.bounded(x[i]+product[i])))
	}
	return h2, nil
}

func gruStep(s *sample, _ int, x, h, _, p []float64, r func(gate int, h []float64) []float64) (h2, c2 []float64) {
	n := len(h)
	z, k, kept := r(0, h), r(1, h), make([]float64, n)
	for i := range h {
		z[i] = sigmoid(s.bounded(x[i] + z[i]))
		k[i] = sigmoid(s.bounded(x[n+i] + k[i]))
		kept[i] = k[i] * h[i]
	}
	linear, reset := r(2, h), r(2, kept)
	for i := range h {
		a := x[2*n+i]
		switch {
		case !s.linear:
			a += reset[i]
		case p != nil:
			a += k[i] * (linear[i] + p[i])
		default:
			a += k[i] * linear[i]
		}
		h2 = append(h2, (1-z[i])*math.Tanh(s.bounded(a))+z[i]*h[i])
	}
	return h2, nil
}

func lstmStep(s *sample, _ int, x, h, c, p []float64, r func(gate int, h []float64) []float64) (h2, c2 []float64) {
	n := len(h)
	if p == nil {
		p = make([]float64, 3*n)
	}
	ri, ro, rf, rc := r(0, h), r(1, h), r(2, h), r(3, h)
	for i := range h {
		in := sigmoid(s.bounded(x[i] + ri[i] + p[i]*c[i]))
		forget := sigmoid(s.bounded(x[2*n+i] + rf[i] + p[2*n+i]*c[i]))
		if s.inputForget {
			forget = 1 - in
		}
		c2 = append(c2, forget*c[i]+in*math.Tanh(s.bounded(x[3*n+i]+rc[i])))
		h2 = append(h2, sigmoid(s.bounded(x[n+i]+ro[i]+p[n+i]*c2[i]))*math.Tanh(c2[i]))
	}
	return h2, c2
}

// plain returns the outputs by the plain definition, and all of them: y, h and c.
func (s *sample) plain() (y, h, c []float64) {
	layers, n := s.direction.Layers(), s.size
	floats := make([][]float64, len(s.in))
	for i, o := range s.in {
		if o != nil {
			floats[i] = kerneltest.Floats(o)
		}
	}
	at := func(i, start, n int) []float64 {
		if i < 0 || floats[i] == nil {
			return nil
		}
		return floats[i][start:][:n]
	}
	y = make([]float64, s.steps*layers*s.rows*n)
	for layer := range layers {
		r := func(gate int, h []float64) []float64 {
			w := at(1, (layer*s.gates+gate)*n*n, n*n)
			out := make([]float64, n)
			for i := range out {
				for j, v := range h {
					out[i] += w[i*n+j] * v
				}
			}
			return out
		}
		params := -1
		if s.params > 0 {
			params = len(s.in) - 1
		}
		for row := range s.rows {
			length := s.steps
			if s.in[2] != nil {
				length = int(kernel.Slice[int32](s.in[2])[row])
			}
			place := (layer*s.rows + row) * n
			state := func(i int) []float64 {
				if v := at(i, place, n); v != nil {
					return v
				}
				return make([]float64, n)
			}
			hs := state(3)
			var cs []float64
			if s.cells {
				cs = state(4)
			}
			for i := range length {
				step := i
				if s.direction == recurrent.Reverse || layer == 1 {
					step = length - 1 - i
				}
				x := at(0, (step*s.rows+row)*layers*s.gates*n+layer*s.gates*n, s.gates*n)
				hs, cs = s.step(s, layer, x, hs, cs, at(params, layer*s.params*n, s.params*n), r)
				copy(y[((step*layers+layer)*s.rows+row)*n:], hs)
			}
			h, c = append(h, hs...), append(c, cs...)
		}
	}
	return y, h, c
}

// TestPlain compares the ops with their plain definition: all attributes, absent
// operands, strides, empty extents, every instruction set; and runs again, runs on
// several workers, dense operands and prepacked weights, bit for bit.
func TestPlain(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for set := range kerneltest.Sets() {
		for i := range kerneltest.Rounds(240) {
			dt := []dtype.Type{dtype.Float32, dtype.Float64}[i/3%2]
			s := draw(rng, i%3, dt)
			in, out, err := s.types()
			if err != nil {
				t.Fatal(err)
			}
			var outs []*kernel.Operand
			for _, typ := range out {
				outs = append(outs, kerneltest.StridedOutput(rng, dt, 1, typ.Shape...))
			}
			name := fmt.Sprintf("%s: %s of %v", set, op.Format(s.op), in)
			if err := kerneltest.SameBits(rng, s.op.Kernel(in, out), s.in, outs); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			y, h, c := s.plain()
			want := [][]float64{y, h, c}
			if s.final {
				want = want[1:]
			}
			eps := map[dtype.Type]float64{dtype.Float32: 2e-5, dtype.Float64: 1e-13}[dt]
			for j, o := range outs {
				got := kerneltest.Floats(o)
				for e, v := range got {
					if !(math.Abs(v-want[j][e]) <= eps) {
						t.Fatalf("%s: element %d of output %d is %v, want %v", name, e, j, v, want[j][e])
					}
				}
			}
			k := s.op.Kernel(in, out)
			if prepacked := kerneltest.Prepack(k, s.in, outs, 1); prepacked != nil {
				again := make([]*kernel.Operand, len(outs))
				for j, o := range outs {
					again[j] = kerneltest.Dense(dt, o.Shape...)
				}
				if err := kerneltest.Run(rng, k, prepacked, again); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				for j, o := range outs {
					if !bytes.Equal(kerneltest.Bytes(o), kerneltest.Bytes(again[j])) {
						t.Fatalf("%s: output %d is another with prepacked weights", name, j)
					}
				}
			}
		}
	}
}
