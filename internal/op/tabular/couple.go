package tabular

import (
	"fmt"
	"math"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/shape"
)

// Couple makes probabilities of classes out of those of pairs of classes. For each row,
// its input has the probability of class i among i and j for every i < j, in the order
// 01 02 .. 12 ..; the output has that of each of the Classes.
//
// It is the second method of T. Wu, C. Lin and R. Weng, "Probability estimates for
// multi-class classification by pairwise coupling" (2004), as LIBSVM has it: at most
// 100 rounds, or as many as there are classes, until no class is off by 0.005/Classes.
// It takes floating-point types.
type Couple struct{ Classes int }

// Name returns "couple".
func (Couple) Name() string { return "couple" }

// Infer returns the type of the probabilities, [rows, Classes].
func (c Couple) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := op.SameNumbers(in, 1, 1); err != nil {
		return nil, err
	}
	r := in[0]
	const most = 1 << 16 // of which the pairs are still a number
	switch {
	case !r.DType.IsFloat():
		return nil, fmt.Errorf("input 0 is %v, not of a floating-point type", r)
	case c.Classes < 2 || c.Classes > most:
		return nil, fmt.Errorf("there are %d classes, not 2 to %d", c.Classes, most)
	case len(r.Shape) != 2 || r.Shape[1] != c.Classes*(c.Classes-1)/2:
		return nil, fmt.Errorf("input 0 is %v, not rows of the pairs of %d classes", r, c.Classes)
	}
	p := shape.Shape{r.Shape[0], c.Classes}
	return []graph.Type{{DType: r.DType, Shape: p}}, p.Check()
}

// Kernel returns the rounds.
func (c Couple) Kernel(in, _ []graph.Type) kernel.Kernel {
	return kernel.OfFloat(in[0].DType, c, coupleOf[float32], coupleOf[float64])
}

func coupleOf[T kernel.Float](c Couple) kernel.Kernel { return &coupleKernel[T]{n: c.Classes} }

// DenseAxes returns 0: all strides will do.
func (Couple) DenseAxes(_, _ int) int { return 0 }

// ComputesInFloat32 marks the op.
func (Couple) ComputesInFloat32() {}

type coupleKernel[T kernel.Float] struct {
	n           int
	r, p        *kernel.Operand
	tasks, each int // of rows
}

func (k *coupleKernel[T]) Bind(in, out []*kernel.Operand) {
	k.r, k.p = in[0], out[0]
	const rounds = 8 // a guess
	k.tasks, k.each = kernel.Parts(k.p.Shape[0], rounds*k.n*k.n)
}

func (k *coupleKernel[T]) Tasks() int { return k.tasks }

func (k *coupleKernel[T]) Scratch() int {
	if k.tasks == 0 {
		return 0
	}
	return kernel.Carved[T](k.n*k.n) + 2*kernel.Carved[T](k.n)
}

func (k *coupleKernel[T]) Run(task int, scratch []byte) error {
	q, qp, p := kernel.Carve[T](&scratch, k.n*k.n), kernel.Carve[T](&scratch, k.n), kernel.Carve[T](&scratch, k.n)
	r, out := kernel.Slice[T](k.r), kernel.Slice[T](k.p)
	for row := task * k.each; row < min((task+1)*k.each, k.p.Shape[0]); row++ {
		// q[t, t] is the sum of the squares of r[j, t], q[t, j] is -r[j, t] r[t, j].
		clear(q)
		at := k.r.Offset + row*k.r.Strides[0]
		for i := range k.n {
			for j := i + 1; j < k.n; j++ {
				won := r[at]
				lost := 1 - won
				at += k.r.Strides[1]
				q[i*k.n+j], q[j*k.n+i] = T(-lost*won), T(-lost*won)
				q[i*k.n+i] += T(lost * lost)
				q[j*k.n+j] += T(won * won)
			}
		}
		k.couple(p, q, qp)
		to := k.p.Offset + row*k.p.Strides[0]
		for _, v := range p {
			out[to] = v
			to += k.p.Strides[1]
		}
	}
	return nil
}

// couple sets p to what makes p·q·p least among numbers whose sum is 1. qp is working
// memory for q·p.
func (k *coupleKernel[T]) couple(p, q, qp []T) {
	kernel.Fill(p, 1/T(k.n))
	for range max(100, k.n) {
		var pqp T
		for t := range p {
			qp[t] = 0
			for j, v := range q[t*k.n:][:k.n] {
				qp[t] += T(v * p[j])
			}
			pqp += T(p[t] * qp[t])
		}
		var off float64
		for _, v := range qp {
			off = max(off, math.Abs(float64(v-pqp)))
		}
		if off < 0.005/float64(k.n) {
			return
		}
		for t := range p {
			own := q[t*k.n+t]
			d := (pqp - qp[t]) / own
			p[t] += d
			pqp = (pqp + T(d*(T(d*own)+2*qp[t]))) / T((1+d)*(1+d))
			for j, v := range q[t*k.n:][:k.n] {
				qp[j] = (qp[j] + T(d*v)) / (1 + d)
				p[j] /= 1 + d
			}
		}
	}
}
