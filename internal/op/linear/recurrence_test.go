package linear_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/op/linear"
	"github.com/berth-go/berth/internal/op/optest"
)

func TestRecurrenceAllocs(t *testing.T) {
	in, types := make([]*kernel.Operand, 6), make([]graph.Type, 6)
	for i, d := range [][]int{{2, 4, 3, 5}, {2, 2, 3, 5}, {2, 2, 3, 6}, {2, 2, 5, 6}, {2, 2, 3, 5}, {2, 2, 3}} {
		in[i], types[i] = kerneltest.Dense(dtype.Float32, d...), optest.Float32(d...)
	}
	k, err := op.KernelOf(linear.Recurrence{}, types, nil)
	if err != nil {
		t.Fatal(err)
	}
	kerneltest.CheckAllocs(t, k, in, []*kernel.Operand{kerneltest.Dense(dtype.Float32, 2, 4, 3, 6), kerneltest.Dense(dtype.Float32, 2, 2, 5, 6)})
}

// TestRecurrence compares with a state of float64 that is stepped element by
// element.
func TestRecurrence(t *testing.T) {
	for _, dt := range []dtype.Type{dtype.Float32, dtype.Float64} {
		rng := rand.New(rand.NewPCG(11, uint64(dt)))
		for range kerneltest.Rounds(60) {
			batch, groups, share := 1+rng.IntN(2), 1+rng.IntN(2), 1+rng.IntN(3)
			length, keySize, valueSize := rng.IntN(5), rng.IntN(4), rng.IntN(4)
			heads := groups * share
			dims := [][]int{{batch, heads, length, keySize}, {batch, groups, length, keySize}, {batch, groups, length, valueSize},
				{batch, groups, keySize, valueSize}, {batch, groups, length, keySize}, {batch, groups, length}}
			in, types := make([]*kernel.Operand, len(dims)), make([]graph.Type, len(dims))
			for i, d := range dims {
				if i >= 4 && rng.IntN(2) == 0 {
					continue
				}
				in[i], types[i] = kerneltest.StridedInput(rng, dt, 0, d...), optest.Type(dt, d...)
			}
			y, next := kerneltest.StridedOutput(rng, dt, 0, batch, heads, length, valueSize), kerneltest.StridedOutput(rng, dt, 0, batch, groups, keySize, valueSize)
			k, err := op.KernelOf(linear.Recurrence{}, types, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := kerneltest.SameBits(rng, k, in, []*kernel.Operand{y, next}); err != nil {
				t.Fatalf("%v%v: %v", dt, dims, err)
			}
			values := make([][]float64, len(in))
			for i, o := range in {
				if o != nil {
					values[i] = kerneltest.Floats(o)
				}
			}
			wantY, wantS := steps(values, batch, groups, share, length, keySize, valueSize)
			for i, pair := range [][2][]float64{{kerneltest.Floats(y), wantY}, {kerneltest.Floats(next), wantS}} {
				for j, got := range pair[0] {
					if want := pair[1][j]; math.Abs(got-want) > 1e-3*(1+math.Abs(want)) {
						t.Fatalf("%v%v: output %d, element %d: got %v, want %v", dt, dims, i, j, got, want)
					}
				}
			}
		}
	}
}

func steps(in [][]float64, batch, groups, share, length, keySize, valueSize int) (y, state []float64) {
	q, k, v, decay, beta := in[0], in[1], in[2], in[4], in[5]
	state = append([]float64(nil), in[3]...)
	y = make([]float64, batch*groups*share*length*valueSize)
	for row := range batch * groups {
		for t := range length {
			token := row*length + t
			for j := range valueSize {
				column := func(i int) *float64 { return &state[(row*keySize+i)*valueSize+j] }
				had := 0.
				for i := range keySize {
					if decay != nil {
						*column(i) *= math.Exp(decay[token*keySize+i])
					}
					had += *column(i) * k[token*keySize+i]
				}
				update := v[token*valueSize+j]
				if beta != nil {
					update = beta[token] * (update - had)
				}
				for i := range keySize {
					*column(i) += k[token*keySize+i] * update
				}
				for h := range share {
					at := (row*share+h)*length + t
					for i := range keySize {
						y[at*valueSize+j] += q[at*keySize+i] * *column(i)
					}
				}
			}
		}
	}
	return y, state
}

func TestRecurrenceTypes(t *testing.T) {
	q, k, v, s := optest.Float32(2, 4, 3, 5), optest.Float32(2, 2, 3, 5), optest.Float32(2, 2, 3, 6), optest.Float32(2, 2, 5, 6)
	absent := graph.Type{}
	types := func(list ...graph.Type) []graph.Type { return list }
	optest.Infers(t, linear.Recurrence{}, types(q, k, v, s), "float32[2 4 3 6] float32[2 2 5 6]")
	optest.Infers(t, linear.Recurrence{}, types(q, k, v, s, absent, optest.Float32(2, 2, 3)), "float32[2 4 3 6] float32[2 2 5 6]")
	optest.Infers(t, linear.Recurrence{}, types(q, k, v, s, k), "float32[2 4 3 6] float32[2 2 5 6]")
	optest.Refuses(t, linear.Recurrence{}, types(q, k, v), "3")
	optest.Refuses(t, linear.Recurrence{}, types(optest.Float32(2, 3, 3, 5), k, v, s), "do not go together")
	optest.Refuses(t, linear.Recurrence{}, types(q, optest.Float32(2, 0, 3, 5), v, s), "do not go together")
	optest.Refuses(t, linear.Recurrence{}, types(optest.Float32(2, 4, 3), k, v, s), "must have 4 axes")
	optest.Refuses(t, linear.Recurrence{}, types(q, k, optest.Float32(2, 2, 4, 6), s), "values [2 2 4 6]")
	optest.Refuses(t, linear.Recurrence{}, types(q, k, v, optest.Float32(2, 2, 6, 5)), "the state is [2 2 6 5], want [2 2 5 6]")
	optest.Refuses(t, linear.Recurrence{}, types(q, k, v, s, optest.Float32(2, 2, 3, 1)), "the decay is [2 2 3 1]")
	optest.Refuses(t, linear.Recurrence{}, types(q, k, v, s, absent, optest.Float32(2, 2, 3, 1)), "beta is [2 2 3 1]")
	optest.Refuses(t, linear.Recurrence{}, types(q, k, v, optest.Type(dtype.Float64, 2, 2, 5, 6)), "element types")
	i := func(g graph.Type) graph.Type { g.DType = dtype.Int32; return g }
	optest.Refuses(t, linear.Recurrence{}, types(i(q), i(k), i(v), i(s)), "want a floating-point type")
}
