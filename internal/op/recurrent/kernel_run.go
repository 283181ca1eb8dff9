package recurrent

import (
	"fmt"

	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/gemm"
	"github.com/berth-go/berth/internal/op/elementwise"
)

// A run is what one task works with.
type run[T kernel.Float] struct {
	*layerKernel[T]
	dir         int // 0, or 1 for the second of a bidirectional layer
	first, rows int // rows [first, first+rows) of the batch

	gateRows, hiddenRows, cellRows, resetRows []T
	packed                                    []T // the weights of the direction
	rest                                      []byte
}

// Run implements [kernel.Kernel].
func (k *layerKernel[T]) Run(task int, scratch []byte) error {
	first := task % k.blocks() * k.rows
	w := run[T]{
		layerKernel: k, dir: task / k.blocks(), first: first, rows: min(k.rows, k.batch-first),
		gateRows:   kernel.Carve[T](&scratch, k.rows*k.gates*k.size),
		hiddenRows: kernel.Carve[T](&scratch, k.rows*k.size),
		cellRows:   kernel.Carve[T](&scratch, k.rows*k.size),
		resetRows:  kernel.Carve[T](&scratch, k.rows*k.size),
	}
	longest, err := w.longest()
	if err != nil {
		return err
	}
	size := k.packedSize()
	if k.prepacked != nil {
		w.packed = k.prepacked[w.dir*size:]
	} else {
		w.packed = kernel.Carve[T](&scratch, size)
		k.pack(w.packed, w.dir)
	}
	w.rest = scratch
	w.load(w.hiddenRows, k.in[inHidden])
	if k.cells {
		w.load(w.cellRows, k.in[inCells])
	}
	for i := range k.steps {
		step := i
		if k.direction == Reverse || w.dir == 1 {
			step = k.steps - 1 - i
		}
		if step < longest {
			if err := w.step(step); err != nil {
				return err
			}
		}
		if k.y != nil {
			w.emit(step)
		}
	}
	w.store(k.out[0], w.hiddenRows)
	if k.cells {
		w.store(k.out[1], w.cellRows)
	}
	return nil
}

// length returns the number of steps that a row has.
func (w *run[T]) length(row int) int {
	lens := w.in[inLens]
	if lens == nil {
		return w.steps
	}
	return int(kernel.Slice[int32](lens)[lens.Offset+(w.first+row)*lens.Strides[0]])
}

// longest returns the largest length of a row.
func (w *run[T]) longest() (int, error) {
	most := 0
	for row := range w.rows {
		n := w.length(row)
		if n < 0 || n > w.steps {
			return 0, fmt.Errorf("row %d has a length of %d, of %d steps", w.first+row, n, w.steps)
		}
		most = max(most, n)
	}
	return most, nil
}

// state returns row of an operand with a state for each direction and row.
func (w *run[T]) state(o *kernel.Operand, row int) []T {
	return kernel.Slice[T](o)[o.Offset+w.dir*o.Strides[0]+(w.first+row)*o.Strides[1]:][:w.size]
}

// load sets states to those of o, or to zeros where that is absent.
func (w *run[T]) load(states []T, o *kernel.Operand) {
	if o == nil {
		clear(states)
		return
	}
	for row := range w.rows {
		copy(states[row*w.size:], w.state(o, row))
	}
}

// store sets those of o to states.
func (w *run[T]) store(o *kernel.Operand, states []T) {
	for row := range w.rows {
		copy(w.state(o, row), states[row*w.size:])
	}
}

// emit writes the hidden states after a step to y.
func (w *run[T]) emit(step int) {
	y := w.y
	data := kernel.Slice[T](y)
	at := y.Offset + step*y.Strides[0] + w.dir*y.Strides[1] + w.first*y.Strides[2]
	for row := range w.rows {
		to := data[at+row*y.Strides[2]:][:w.size]
		if step < w.length(row) {
			copy(to, w.hiddenRows[row*w.size:])
		} else {
			clear(to)
		}
	}
}

// step takes a step with the rows that have it.
func (w *run[T]) step(step int) error {
	packed, vectors := w.packed, w.vectors[w.dir]
	for i := range w.phases[w.dir] {
		p := &w.phases[w.dir][i]
		w.multiply(i, p, packed)
		packed = packed[w.packedOf(i):]
		for row := range w.rows {
			if step >= w.length(row) {
				continue
			}
			w.addInput(p, step, row)
			for j := range p.updates {
				if err := w.update(&p.updates[j], vectors[j], step, row); err != nil {
					return err
				}
			}
		}
		vectors = vectors[len(p.updates):]
	}
	return nil
}

// multiply makes the gates of phase i of all rows.
func (w *run[T]) multiply(i int, p *phase, packed []T) {
	g := &w.products[i]
	left := w.hiddenRows
	if p.left == reset {
		left = w.resetRows
	}
	a := gemm.Left[T]{Matrix: gemm.Matrix[T]{Data: left, Row: w.size, Col: 1}}
	b := gemm.Right[T]{Prepacked: packed}
	pitch := w.gates * w.size
	for task := range g.Tasks() {
		i0, i1, j0, j1 := g.Block(task)
		if i1 = min(i1, w.rows); i0 < i1 {
			g.Multiply(i0, i1, j0, j1, w.rest, &a, &b, w.gateRows[i0*pitch+p.from*w.size+j0:], pitch)
		}
	}
}

// addInput adds x to the gates of a row.
func (w *run[T]) addInput(p *phase, step, row int) {
	if p.added <= p.from {
		return
	}
	gates := w.at(gate(p.from), step, row)[:(p.added-p.from)*w.size]
	x := w.at(xGate(p.from), step, row)[:len(gates)]
	for i, v := range x {
		gates[i] += v
	}
}

// update does an update of a row.
func (w *run[T]) update(u *update, v *elementwise.Vector, step, row int) error {
	var in [elementwise.MaxInputs][]byte
	for i, s := range u.from {
		in[i] = kernel.Bytes(w.at(s, step, row))
	}
	return v.Run(kernel.Bytes(w.at(u.to, step, row)[:w.size]), &in, w.rest)
}

// at returns the memory from a source of a row on.
func (w *run[T]) at(s source, step, row int) []T {
	block := s.block * w.size
	switch s.in {
	case gateBlocks:
		return w.gateRows[row*w.gates*w.size+block:]
	case xBlocks:
		x := w.in[inX]
		block += w.dir * w.gates * w.size
		return kernel.Slice[T](x)[x.Offset+step*x.Strides[0]+(w.first+row)*x.Strides[1]+block:]
	case cellState:
		return w.cellRows[row*w.size:]
	case resetState:
		return w.resetRows[row*w.size:]
	case paramBlocks:
		return kernel.Slice[T](w.p)[w.p.Offset+w.dir*w.p.Strides[0]+block:]
	}
	return w.hiddenRows[row*w.size:]
}
