package linear

import (
	"fmt"
	"math"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/shape"
)

// Recurrence is attention whose memory is one matrix S for each head of keys,
// which token after token changes and reads:
//
//	S = exp(decay)·S        row by row, where there is a decay
//	u = v                   or beta·(v - Sᵀk), where there is a beta
//	S = S + k·uᵀ
//	y = Sᵀq
//
// The inputs, of one floating-point type, are
//
//	q      [batch, heads, length, keySize]
//	k      [batch, groups, length, keySize]
//	v      [batch, groups, length, valueSize]
//	S      [batch, groups, keySize, valueSize]
//	decay  [batch, groups, length, keySize], may be absent
//	beta   [batch, groups, length], may be absent
//
// where heads/groups neighbouring heads of q read the same S. The outputs are y,
// of shape [batch, heads, length, valueSize], and S after the last token. Sums
// meet in the order of their terms.
type Recurrence struct{}

// Name returns "recurrence".
func (Recurrence) Name() string { return "recurrence" }

// Infer implements [graph.Op].
func (Recurrence) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := op.SameNumbers(in, 4, 6); err != nil {
		return nil, err
	}
	q, k, v, s := in[0], in[1].Shape, in[2].Shape, in[3].Shape
	if !q.DType.IsFloat() {
		return nil, fmt.Errorf("queries are %v, want a floating-point type", q)
	}
	if len(q.Shape) != 4 || len(k) != 4 {
		return nil, fmt.Errorf("queries %v and keys %v must have 4 axes", q.Shape, k)
	}
	batch, heads, length, keySize := q.Shape[0], q.Shape[1], q.Shape[2], q.Shape[3]
	groups := k[1]
	if !k.Equal(shape.Shape{batch, groups, length, keySize}) || groups < 1 || heads%groups != 0 {
		return nil, fmt.Errorf("queries %v and keys %v do not go together", q.Shape, k)
	}
	if len(v) != 4 || !v[:3].Equal(k[:3]) {
		return nil, fmt.Errorf("values %v and keys %v do not go together", v, k)
	}
	if want := (shape.Shape{batch, groups, keySize, v[3]}); !s.Equal(want) {
		return nil, fmt.Errorf("the state is %v, want %v", s, want)
	}
	if op.Given(in, 4) && !in[4].Shape.Equal(k) {
		return nil, fmt.Errorf("the decay is %v, want %v as the keys", in[4].Shape, k)
	}
	if op.Given(in, 5) && !in[5].Shape.Equal(k[:3]) {
		return nil, fmt.Errorf("beta is %v, want %v", in[5].Shape, k[:3])
	}
	y := graph.Type{DType: q.DType, Shape: shape.Shape{batch, heads, length, v[3]}}
	return []graph.Type{y, {DType: q.DType, Shape: s.Clone()}}, y.Check()
}

// Kernel implements [op.Computer].
func (Recurrence) Kernel(in, _ []graph.Type) kernel.Kernel {
	return kernel.OfFloat(in[0].DType, struct{}{}, recurrenceOf[float32], recurrenceOf[float64])
}

// DenseAxes returns 0: all strides will do.
func (Recurrence) DenseAxes(int, int) int { return 0 }

// ComputesInFloat32 implements [op.Widener].
func (Recurrence) ComputesInFloat32() {}

func recurrenceOf[F kernel.Float](struct{}) kernel.Kernel { return &recurrenceKernel[F]{} }

// recurrenceKernel is the loop that [Recurrence] states. A task is all tokens of
// one group, with the state in scratch memory.
type recurrenceKernel[F kernel.Float] struct{ in, out []*kernel.Operand }

func (k *recurrenceKernel[F]) Bind(in, out []*kernel.Operand) {
	k.in, k.out = append(k.in[:0], in...), append(k.out[:0], out...)
}

func (k *recurrenceKernel[F]) Tasks() int { return k.in[3].Shape[0] * k.in[3].Shape[1] }

func (k *recurrenceKernel[F]) Scratch() int {
	keySize, valueSize := k.in[3].Shape[2], k.in[3].Shape[3]
	return kernel.Carved[F](keySize*valueSize) + 2*kernel.Carved[F](valueSize)
}

func (k *recurrenceKernel[F]) Run(task int, scratch []byte) error {
	groups, keySize, valueSize := k.in[3].Shape[1], k.in[3].Shape[2], k.in[3].Shape[3]
	b, g := task/groups, task%groups
	state := kernel.Carve[F](&scratch, keySize*valueSize)
	update := kernel.Carve[F](&scratch, valueSize)
	sum := kernel.Carve[F](&scratch, valueSize)
	given := vectorOf[F](k.in[3], b, g)
	for i := range keySize {
		for j := range valueSize {
			state[i*valueSize+j] = given.matrix(i, j)
		}
	}
	heads := k.in[0].Shape[1] / groups
	for t := range k.in[0].Shape[2] {
		keys, values := vectorOf[F](k.in[1], b, g, t), vectorOf[F](k.in[2], b, g, t)
		if decay := k.optional(4); decay != nil {
			rate := vectorOf[F](decay, b, g, t)
			for i := range keySize {
				factor := F(math.Exp(float64(rate.at(i))))
				for j, s := range state[i*valueSize:][:valueSize] {
					state[i*valueSize+j] = factor * s
				}
			}
		}
		for j := range update {
			update[j] = values.at(j)
		}
		if beta := k.optional(5); beta != nil {
			read(sum, state, keys)
			rate := vectorOf[F](beta, b, g, t).at(0)
			for j, s := range sum {
				update[j] = rate * (update[j] - s)
			}
		}
		for i := range keySize {
			row, key := state[i*valueSize:][:valueSize], keys.at(i)
			for j, u := range update {
				row[j] += F(key * u)
			}
		}
		for h := g * heads; h < (g+1)*heads; h++ {
			read(sum, state, vectorOf[F](k.in[0], b, h, t))
			y := vectorOf[F](k.out[0], b, h, t)
			for j, s := range sum {
				y.data[y.start+j*y.step] = s
			}
		}
	}
	next := vectorOf[F](k.out[1], b, g)
	for i := range keySize {
		for j := range valueSize {
			next.data[next.start+i*next.rows+j*next.step] = state[i*valueSize+j]
		}
	}
	return nil
}

// optional returns an input that may be absent, or nil.
func (k *recurrenceKernel[F]) optional(i int) *kernel.Operand {
	if i < len(k.in) {
		return k.in[i]
	}
	return nil
}

// read sets sum to the rows of state, weighted by x and added up.
func read[F kernel.Float](sum, state []F, x vector[F]) {
	clear(sum)
	for i := range len(state) / max(len(sum), 1) {
		w := x.at(i)
		for j, s := range state[i*len(sum):][:len(sum)] {
			sum[j] += F(w * s)
		}
	}
}

// A vector is what is left of an operand once its first axes have an index: the
// last axis, or the last two.
type vector[F kernel.Float] struct {
	data              []F
	start, rows, step int
}

func vectorOf[F kernel.Float](o *kernel.Operand, index ...int) vector[F] {
	v := vector[F]{data: kernel.Slice[F](o), start: o.Offset}
	for axis, i := range index {
		v.start += i * o.Strides[axis]
	}
	if rank := len(o.Strides); rank > len(index) {
		v.rows, v.step = o.Strides[len(index)], o.Strides[rank-1]
	}
	return v
}

func (v vector[F]) at(i int) F        { return v.data[v.start+i*v.step] }
func (v vector[F]) matrix(i, j int) F { return v.data[v.start+i*v.rows+j*v.step] }
