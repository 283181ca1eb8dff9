package tabular

import (
	"cmp"
	"fmt"
	"sort"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
)

// Lookup finds each element of its first input among the keys, its second one: the
// output is the int64 place of the equal key, or the number of keys where there is
// none. With Required, an element without a key is an error of the run.
//
// Keys are of the type of x, all different, and in ascending order, NaN behind all
// numbers; a NaN is equal to another. All types of numbers are taken.
type Lookup struct{ Required bool }

// Name returns "lookup".
func (Lookup) Name() string { return "lookup" }

// Infer returns int64 of the shape of x.
func (Lookup) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := op.SameNumbers(in, 2, 2); err != nil {
		return nil, err
	}
	if len(in[1].Shape) != 1 {
		return nil, fmt.Errorf("input 1, the keys, is %v, not a list", in[1])
	}
	return []graph.Type{{DType: dtype.Int64, Shape: in[0].Shape.Clone()}}, nil
}

// Kernel returns the search.
func (l Lookup) Kernel(in, _ []graph.Type) kernel.Kernel {
	return kernel.OfNumber(in[0].DType, l,
		lookupOf[int8], lookupOf[int16], lookupOf[int32], lookupOf[int64],
		lookupOf[uint8], lookupOf[uint16], lookupOf[uint32], lookupOf[uint64],
		lookupOf[float32], lookupOf[float64])
}

func lookupOf[T kernel.Number](l Lookup) kernel.Kernel { return &lookupKernel[T]{Lookup: l} }

// DenseAxes returns 0, but for the keys, which lie dense.
func (Lookup) DenseAxes(operand, _ int) int {
	if operand == 1 {
		return 1
	}
	return 0
}

// ComputesInFloat32 marks the op.
func (Lookup) ComputesInFloat32() {}

// lookupKernel is a kernel of x and keys, and places of the shape of x. It equals
//
//	places[i] = the first k with keys[k] == x[i], or len(keys)
//
// by bisection.
type lookupKernel[T kernel.Number] struct {
	Lookup
	x, keys, places *kernel.Operand
	walk            kernel.Walk
	tasks, each     int
}

func (k *lookupKernel[T]) Bind(in, out []*kernel.Operand) {
	k.x, k.keys, k.places = in[0], in[1], out[0]
	k.walk.Bind(k.x.Shape, k.x.Strides, k.places.Strides)
	const perElement = 8 // a guess at the length of a search
	k.tasks, k.each = kernel.Parts(k.walk.Rows*k.walk.Len, perElement)
}

func (k *lookupKernel[T]) Tasks() int   { return k.tasks }
func (k *lookupKernel[T]) Scratch() int { return 0 }

func (k *lookupKernel[T]) Run(task int, _ []byte) error {
	x, keys, places := kernel.Slice[T](k.x), dense[T](k.keys), kernel.Slice[int64](k.places)
	var at [2]int
	end := min((task+1)*k.each, k.walk.Rows*k.walk.Len)
	for elem := task * k.each; elem < end; {
		n := k.walk.Locate(elem, end, at[:])
		from, to := k.x.Offset+at[0], k.places.Offset+at[1]
		for range n {
			v := x[from]
			place, found := sort.Find(len(keys), func(i int) int { return compare(v, keys[i]) })
			if !found {
				if k.Required {
					return fmt.Errorf("%v is not among the %d keys", v, len(keys))
				}
				place = len(keys)
			}
			places[to] = int64(place)
			from += k.walk.Inner[0]
			to += k.walk.Inner[1]
		}
		elem += n
	}
	return nil
}

// compare orders numbers, NaN behind all others.
func compare[T kernel.Number](a, b T) int {
	switch {
	case a == a && b == b:
		return cmp.Compare(a, b)
	case a == a:
		return -1
	case b == b:
		return 1
	}
	return 0
}
