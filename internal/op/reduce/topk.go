package reduce

import (
	"fmt"
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/lines"
	"github.com/berth-go/berth/shape"
)

// TopK returns the K smallest elements along an axis, or the largest, and as
// a second output their int64 indices along the axis. With K the extent of
// the axis and Sorted it sorts.
//
// Equal elements rank by their index, lower ones first. NaN ranks above every
// number. Without Sorted the order within the K is not specified. All element
// types are taken.
type TopK struct {
	K       int
	Axis    int // negative: from the end
	Largest bool
	Sorted  bool
}

// Name returns "top_k".
func (TopK) Name() string { return "top_k" }

// Infer returns the types of the values and the indices.
func (k TopK) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := takesOne(in); err != nil {
		return nil, err
	}
	x := in[0]
	axis, err := shape.Axis(k.Axis, len(x.Shape))
	if err != nil {
		return nil, fmt.Errorf("of %v: %w", x, err)
	}
	if k.K < 0 || k.K > x.Shape[axis] {
		return nil, fmt.Errorf("of %v: %d elements of axis %d, which has %d", x, k.K, axis, x.Shape[axis])
	}
	out := x.Shape.Clone()
	out[axis] = k.K
	return []graph.Type{{DType: x.DType, Shape: out}, {DType: dtype.Int64, Shape: out.Clone()}}, nil
}

// Kernel returns the selection.
func (k TopK) Kernel(in, _ []graph.Type) kernel.Kernel {
	axis, _ := shape.Axis(k.Axis, len(in[0].Shape))
	return newTopK(in[0].DType, axis, k.K, k.Largest, k.Sorted)
}

// DenseAxes returns 0: all strides will do.
func (TopK) DenseAxes(_, _ int) int { return 0 }

// newTopK returns a kernel with one input x and two outputs, values of the
// type of x and int64 indices, both with extent n along axis. For each index
// of the other axes they hold the n largest (or smallest) of the elements
// along axis, and where these were:
//
//	order the elements by value, largest (smallest) first, equal ones as they
//	lie; take the first n; values[i] = x[indices[i]]
//
// Zeros of both signs are equal, and NaN is larger than all numbers, as in
// NumPy's order. Without sorted, the n elements come in no particular order,
// but the same each time. All operands may have any strides. The axis must
// have at least n elements.
func newTopK(t dtype.Type, axis, n int, largest, sorted bool) kernel.Kernel {
	k := topK{axis: axis, n: n, largest: largest, sorted: sorted}
	switch t {
	case dtype.Float16:
		return &topKKernel[uint16]{topK: k, keys: halfKeys(0x7c00)}
	case dtype.BFloat16:
		return &topKKernel[uint16]{topK: k, keys: halfKeys(0x7f80)}
	}
	return kernel.OfNumber(t, k,
		topKOfIntegers[int8], topKOfIntegers[int16], topKOfIntegers[int32], topKOfIntegers[int64],
		topKOfIntegers[uint8], topKOfIntegers[uint16], topKOfIntegers[uint32], topKOfIntegers[uint64],
		topKOfFloats[float32], topKOfFloats[float64])
}

func topKOfIntegers[T kernel.Integer](k topK) kernel.Kernel {
	return &topKKernel[T]{topK: k, keys: integerKeys[T]}
}

func topKOfFloats[T kernel.Float](k topK) kernel.Kernel {
	return &topKKernel[T]{topK: k, keys: floatKeys[T]}
}

type topK struct {
	axis, n         int
	largest, sorted bool
}

type topKKernel[T kernel.Number] struct {
	topK
	// keys sets dst to numbers in the order of src[at], src[at+step] ...
	keys func(dst []uint64, src []T, at, step int)

	in, values, indices *kernel.Operand
	outer               kernel.Walk // over the lines of the three operands
	shape               []int
	strides             [3][]int
	length              int // elements of a line of the input
	along               [3]int
	tasks, each         int
}

// A ranked is an element of a line: smaller keys come first, and at equal
// keys smaller indices.
type ranked struct {
	key   uint64
	index int64
}

func (a ranked) compare(b ranked) int {
	switch {
	case a.key < b.key || a.key == b.key && a.index < b.index:
		return -1
	case a == b:
		return 0
	}
	return 1
}

func (k *topKKernel[T]) Bind(in, out []*kernel.Operand) {
	k.in, k.values, k.indices = in[0], out[0], out[1]
	k.shape = k.shape[:0]
	for i, o := range [...]*kernel.Operand{k.in, k.values, k.indices} {
		k.strides[i] = k.strides[i][:0]
		k.strides[i] = append(append(k.strides[i], o.Strides[:k.axis]...), o.Strides[k.axis+1:]...)
		k.along[i] = o.Strides[k.axis]
	}
	k.length = k.in.Shape[k.axis]
	k.shape = append(append(k.shape, k.in.Shape[:k.axis]...), k.in.Shape[k.axis+1:]...)
	k.outer.Bind(k.shape, k.strides[0], k.strides[1], k.strides[2])
	k.tasks, k.each = kernel.Parts(k.outer.Rows*k.outer.Len, 4*k.length)
	if k.n == 0 {
		k.tasks = 0
	}
}

func (k *topKKernel[T]) Tasks() int { return k.tasks }

// whole says that so many elements are wanted that all of them are put in
// order; otherwise the best so far are kept in a heap.
func (k *topKKernel[T]) whole() bool { return k.n > k.length/4 }

func (k *topKKernel[T]) Scratch() int {
	entries := k.n
	if k.whole() {
		entries = k.length
	}
	return kernel.Carved[uint64](lines.BlockLen) + kernel.Carved[ranked](entries)
}

func (k *topKKernel[T]) Run(task int, scratch []byte) error {
	keys := kernel.Carve[uint64](&scratch, lines.BlockLen)
	entries := kernel.Cast[ranked](scratch)
	src, values, indices := kernel.Slice[T](k.in), kernel.Slice[T](k.values), kernel.Slice[int64](k.indices)
	var at [3]int
	for line := task * k.each; line < min((task+1)*k.each, k.outer.Rows*k.outer.Len); line++ {
		k.outer.Locate(line, line+1, at[:])
		from, toValues, toIndices := k.in.Offset+at[0], k.values.Offset+at[1], k.indices.Offset+at[2]
		for _, e := range k.best(entries, keys, src, from) {
			values[toValues] = src[from+int(e.index)*k.along[0]]
			indices[toIndices] = e.index
			toValues += k.along[1]
			toIndices += k.along[2]
		}
	}
	return nil
}

// best returns the wanted elements of the line that begins at src[from], in
// the memory of entries.
func (k *topKKernel[T]) best(entries []ranked, keys []uint64, src []T, from int) []ranked {
	entries = entries[:0]
	limit := k.n
	if k.whole() {
		limit = k.length
	}
	for pos := 0; pos < k.length; pos += len(keys) {
		keys = keys[:min(len(keys), k.length-pos)]
		k.keys(keys, src, from+pos*k.along[0], k.along[0])
		for i, key := range keys {
			if k.largest {
				key = ^key
			}
			e := ranked{key, int64(pos + i)}
			switch {
			case len(entries) < limit:
				entries = append(entries, e)
				if len(entries) == limit && !k.whole() {
					for i := limit/2 - 1; i >= 0; i-- {
						sink(entries, i)
					}
				}
			case key < entries[0].key: // at equal keys the earlier element stays
				entries[0] = e
				sink(entries, 0)
			}
		}
	}
	if k.sorted || k.whole() {
		slices.SortFunc(entries, ranked.compare)
	}
	return entries[:k.n]
}

// sink restores the heap order, the last element of the ranking on top,
// below entry i.
func sink(heap []ranked, i int) {
	for {
		child := 2*i + 1
		if child >= len(heap) {
			return
		}
		if child+1 < len(heap) && heap[child].compare(heap[child+1]) < 0 {
			child++
		}
		if heap[i].compare(heap[child]) >= 0 {
			return
		}
		heap[i], heap[child] = heap[child], heap[i]
		i = child
	}
}
