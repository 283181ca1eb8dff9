package tabular

import (
	"fmt"
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/shape"
)

// NGrams counts runs of tokens in sequences. The input, int32 or int64, is one
// sequence [n] or several [rows, n]; the output is float32, [columns] or
// [rows, columns], with as many columns as Columns asks for.
//
// The tokens of a run are next to each other, or so many apart as Skip says at most:
// with a Skip of 1, the runs of two tokens in 1 2 3 4 are 12 23 34 and 13 24. Single
// tokens are counted once.
type NGrams struct {
	// Least and Most are the lengths of the runs that are counted.
	Least, Most int
	Skip        int
	// Pool holds all runs, one behind the other, the shorter ones first. Those of
	// length i+1 begin at Starts[i].
	Pool, Starts []int
	// Columns are the columns of the output that runs are counted in, in their order
	// in Pool.
	Columns []int
	// Once counts a run once, however often it is there.
	Once bool
	// Weights, unless empty, are what the columns of the output are multiplied by.
	Weights []float64
}

// Name returns "n_grams".
func (NGrams) Name() string { return "n_grams" }

// maxColumns bounds the columns of the output, which a file gives by a number.
const maxColumns = 1 << 24

// Infer implements [graph.Op].
func (o NGrams) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := op.Takes(in, 1, 1); err != nil {
		return nil, err
	}
	x := in[0]
	if x.DType != dtype.Int32 && x.DType != dtype.Int64 || len(x.Shape) < 1 || len(x.Shape) > 2 {
		return nil, fmt.Errorf("input 0 is %v, want int32 or int64 of 1 or 2 axes", x)
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	y := graph.Type{DType: dtype.Float32, Shape: x.Shape.Clone()}
	y.Shape[len(y.Shape)-1] = slices.Max(o.Columns) + 1
	return []graph.Type{y}, y.Check()
}

// check reports attributes that do not fit each other.
func (o NGrams) check() error {
	switch {
	case o.Least < 1 || o.Most < o.Least || o.Most > len(o.Starts):
		return fmt.Errorf("runs of %d to %d tokens are counted, the pool has those of 1 to %d", o.Least, o.Most, len(o.Starts))
	case o.Skip < 0:
		return fmt.Errorf("skips of up to %d tokens", o.Skip)
	case len(o.Columns) == 0:
		return fmt.Errorf("there are no columns")
	case slices.Min(o.Columns) < 0 || slices.Max(o.Columns) >= maxColumns:
		return fmt.Errorf("columns from %d to %d are not in [0, %d)", slices.Min(o.Columns), slices.Max(o.Columns), maxColumns)
	case len(o.Weights) > 0 && len(o.Weights) <= slices.Max(o.Columns):
		return fmt.Errorf("there are %d weights for %d columns", len(o.Weights), slices.Max(o.Columns)+1)
	}
	runs := 0
	for i := range o.Starts {
		from, to := o.span(i + 1)
		if from < 0 || to < from || to > len(o.Pool) || (to-from)%(i+1) != 0 {
			return fmt.Errorf("runs of %d tokens from %d to %d in a pool of %d", i+1, from, to, len(o.Pool))
		}
		runs += (to - from) / (i + 1)
	}
	if runs > len(o.Columns) {
		return fmt.Errorf("there are %d runs, and columns for %d", runs, len(o.Columns))
	}
	return nil
}

// span returns where the runs of a length lie in the pool, half open.
func (o NGrams) span(length int) (from, to int) {
	if length == len(o.Starts) {
		return o.Starts[length-1], len(o.Pool)
	}
	return o.Starts[length-1], o.Starts[length]
}

// Kernel implements [op.Computer].
func (o NGrams) Kernel(in, _ []graph.Type) kernel.Kernel {
	k := &ngramsKernel{NGrams: o, next: make(map[branch]int32), column: []int32{-1}}
	run := 0
	for length := 1; length <= o.Most; length++ {
		from, to := o.span(length)
		for ; from < to; from += length {
			if length >= o.Least {
				k.add(o.Pool[from:from+length], o.Columns[run])
			}
			run++
		}
	}
	return k
}

// A ngramsKernel has the runs as a tree: a node is a beginning of a run, and has a
// column when it is one itself.
type ngramsKernel struct {
	NGrams
	next   map[branch]int32 // node 0 is the root
	column []int32          // of each node; -1: none
	x, y   *kernel.Operand
	rows   int
	length int // of a row of x
	width  int // of a row of y
	tasks  int
	each   int
}

// A branch leads from a node to that of a run with one token more.
type branch struct {
	node  int32
	token int64
}

func (k *ngramsKernel) add(run []int, column int) {
	node := int32(0)
	for _, token := range run {
		b := branch{node, int64(token)}
		child, ok := k.next[b]
		if !ok {
			child = int32(len(k.column))
			k.next[b] = child
			k.column = append(k.column, -1)
		}
		node = child
	}
	if k.column[node] < 0 {
		k.column[node] = int32(column)
	}
}

func (k *ngramsKernel) Bind(in, out []*kernel.Operand) {
	k.x, k.y = in[0], out[0]
	last := len(k.x.Shape) - 1
	k.rows, k.length, k.width = shape.Shape(k.x.Shape[:last]).Elems(), k.x.Shape[last], k.y.Shape[last]
	k.tasks, k.each = kernel.Parts(k.rows, k.width+k.length*k.Most*16)
}

func (k *ngramsKernel) Tasks() int   { return k.tasks }
func (k *ngramsKernel) Scratch() int { return 0 }

func (k *ngramsKernel) Run(task int, _ []byte) error {
	y := kernel.Slice[float32](k.y)[k.y.Offset:]
	for row := task * k.each; row < min((task+1)*k.each, k.rows); row++ {
		counts := y[row*k.width:][:k.width]
		clear(counts)
		least := k.Least
		for step := 1; step-1 <= k.Skip && least <= k.Most && step <= k.length; step++ {
			for start := 0; start+(least-1)*step < k.length; start++ {
				k.count(counts, row*k.length+start, (row+1)*k.length, step, least)
			}
			least = max(least, 2) // single tokens are the same at all distances
		}
		for i, w := range k.Weights[:min(len(k.Weights), k.width)] {
			counts[i] *= float32(w)
		}
	}
	return nil
}

// count counts the runs of at least so many tokens that begin at an element of the
// input, step elements apart and before end.
func (k *ngramsKernel) count(counts []float32, at, end, step, least int) {
	node := int32(0)
	for length := 1; length <= k.Most && at < end; length++ {
		next, ok := k.next[branch{node, k.token(at)}]
		if !ok {
			return
		}
		node, at = next, at+step
		if column := k.column[node]; column >= 0 && length >= least {
			if counts[column]++; k.Once {
				counts[column] = 1
			}
		}
	}
}

// token returns element i of the input, which is dense.
func (k *ngramsKernel) token(i int) int64 {
	if k.x.DType == dtype.Int32 {
		return int64(kernel.Slice[int32](k.x)[k.x.Offset+i])
	}
	return kernel.Slice[int64](k.x)[k.x.Offset+i]
}
