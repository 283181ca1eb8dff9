package move

import (
	"fmt"
	"math"
	"slices"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/shape"
)

// A PadMode says what stands outside a padded tensor.
type PadMode uint8

// The modes, for a row of elements a b c d. PadConstant puts the value input
// there, or zero.
const (
	PadConstant PadMode = iota // v v v | a b c d | v v v
	PadEdge                    // a a a | a b c d | d d d
	PadReflect                 // d c b | a b c d | c b a
	PadWrap                    // b c d | a b c d | a b c
)

var padModes = op.Enum{Kind: "pad mode", Names: []string{PadConstant: "constant", PadEdge: "edge", PadReflect: "reflect", PadWrap: "wrap"}}

// String returns the name of m.
func (m PadMode) String() string { return padModes.Text(uint8(m)) }

// MarshalText implements [encoding.TextMarshaler].
func (m PadMode) MarshalText() ([]byte, error) { return padModes.Marshal(uint8(m)) }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (m *PadMode) UnmarshalText(text []byte) error { return op.UnmarshalEnum(padModes, text, m) }

// Pad adds elements around its first input. An optional second input of one
// element, of the same type, is the value for the constant mode.
type Pad struct {
	Mode PadMode
	// Pads lists the elements to add before each axis, then those to add
	// behind each axis. Negative ones are removed, before anything is added.
	Pads []int
}

// Name returns "pad".
func (Pad) Name() string { return "pad" }

// Infer adds the pads to the extents.
func (o Pad) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := op.Takes(in, 1, 2); err != nil {
		return nil, err
	}
	data := in[0]
	if op.Given(in, 1) && (in[1].DType != data.DType || in[1].Shape.Elems() != 1) {
		return nil, fmt.Errorf("value is %v, want one element of %v", in[1], data.DType)
	}
	if err := padModes.Check(uint8(o.Mode)); err != nil {
		return nil, err
	}
	rank := len(data.Shape)
	if len(o.Pads) != 2*rank {
		return nil, fmt.Errorf("%d pads for %v, want %d", len(o.Pads), data, 2*rank)
	}
	out := graph.Type{DType: data.DType, Shape: make(shape.Shape, rank)}
	for a, d := range data.Shape {
		before, after := o.Pads[a], o.Pads[rank+a]
		if before > shape.MaxElems || after > shape.MaxElems {
			return nil, fmt.Errorf("pads %d and %d of axis %d are more than %d elements", before, after, a, shape.MaxElems)
		}
		if before < -d || after < -d || min(before, 0)+min(after, 0) < -d {
			return nil, fmt.Errorf("pads %d and %d remove more than the %d elements of axis %d of %v", before, after, d, a, data)
		}
		left := d + min(before, 0) + min(after, 0)
		out.Shape[a] = left + max(before, 0) + max(after, 0)
		if left == 0 && out.Shape[a] > 0 && o.Mode != PadConstant {
			return nil, fmt.Errorf("axis %d of %v has no element to pad from in mode %v", a, data, o.Mode)
		}
	}
	if slices.Max(append(out.Shape.Clone(), 0)) > maxPadAxis && !slices.Contains(out.Shape, 0) {
		return nil, fmt.Errorf("an axis of %v is longer than the %d elements that can be padded", out, maxPadAxis)
	}
	return []graph.Type{out}, nil
}

// maxPadAxis bounds the axes of the result; the kernel holds a table entry for
// each element of one.
const maxPadAxis = 1 << 28

// Kernel returns the padding.
func (o Pad) Kernel(in, _ []graph.Type) kernel.Kernel {
	return newPad(in[0].DType.Size(), o.Mode, o.Pads)
}

// Tune implements [op.Tuner].
func (o Pad) Tune(k kernel.Kernel) { k.(padder).setPads(o.Pads) }

// DenseAxes returns 0: every operand may have any strides.
func (Pad) DenseAxes(int, int) int { return 0 }

// WithChannelsLast implements [op.Layouter].
func (o Pad) WithChannelsLast(rank int) (graph.Op, int) {
	o.Pads = append(op.ChannelsLast(o.Pads[:rank]), op.ChannelsLast(o.Pads[rank:])...)
	return o, 1
}

// newPad returns a kernel of inputs data and, optionally, a value of one
// element (zero when it is absent), for elements of the given width in bytes.
// Pads lists how many elements to add before each axis and then how many
// behind each axis; negative numbers remove elements, before anything is
// added. All operands may have any strides. It equals the loop
//
//	for each index i of out: out[i] = data[j] where, on every axis a,
//		j[a] = the element that the mode puts at i[a] - pads[a]
//	or value where that is outside the data, in the constant mode
func newPad(width int, mode PadMode, pads []int) kernel.Kernel {
	pads = slices.Clone(pads)
	return kernel.OfWidth(width,
		&padKernel[uint8]{mode: mode, pads: pads}, &padKernel[uint16]{mode: mode, pads: pads},
		&padKernel[uint32]{mode: mode, pads: pads}, &padKernel[uint64]{mode: mode, pads: pads})
}

// A padder is a kernel of newPad.
type padder interface{ setPads(pads []int) }

type padKernel[T kernel.Word] struct {
	mode             PadMode
	pads             []int
	data, value, out *kernel.Operand

	axes   []padAxis // merged, outermost first; the last one is the row
	first  int       // the first element that is not cropped, from the data's offset
	table  []int     // for each axis and index of the output, where it is in the data
	rows   int
	blocks int // pieces of a row
	units  int
	tasks  int
	each   int
}

type padAxis struct {
	n, before, total int // elements of the data, added before, of the output
	from, to         int // strides
	table            int // where the axis begins in the table
}

// outside marks an index that the data has nothing for.
const outside = math.MinInt

// setPads gives the kernel other pads, as many as before, for its next Bind.
func (k *padKernel[T]) setPads(pads []int) { copy(k.pads, pads) }

func (k *padKernel[T]) Bind(in, out []*kernel.Operand) {
	k.data, k.value, k.out = in[0], nil, out[0]
	if len(in) > 1 {
		k.value = in[1]
	}
	k.axes, k.table, k.first = k.axes[:0], k.table[:0], 0
	if slices.Contains(k.out.Shape, 0) {
		// The extents beside the 0 may be far too large for a table.
		k.rows, k.units, k.tasks = 0, 0, 0
		return
	}
	rank := len(k.data.Shape)
	for a, n := range k.data.Shape {
		before, after := k.pads[a], k.pads[rank+a]
		cropped := max(n-max(-before, 0)-max(-after, 0), 0)
		if cropped > 0 {
			k.first += max(-before, 0) * k.data.Strides[a]
		}
		k.add(padAxis{
			n: cropped, before: max(before, 0), total: k.out.Shape[a],
			from: k.data.Strides[a], to: k.out.Strides[a],
		})
	}
	if len(k.axes) == 0 {
		k.axes = append(k.axes, padAxis{n: 1, total: 1, from: 1, to: 1})
	}
	k.rows = 1
	for i := range k.axes {
		x := &k.axes[i]
		x.table = len(k.table)
		for j := range x.total {
			k.table = append(k.table, x.source(k.mode, j))
		}
		if i < len(k.axes)-1 {
			k.rows *= x.total
		}
	}
	row := &k.axes[len(k.axes)-1]
	k.blocks = kernel.CeilDiv(row.total, kernel.MoveGrain)
	k.units = k.rows * k.blocks
	k.tasks, k.each = kernel.Parts(k.units, min(row.total, kernel.MoveGrain))
}

// add appends an axis, merged into the one before it where they are one.
func (k *padKernel[T]) add(x padAxis) {
	plain := x.n == x.total
	if plain && x.n == 1 {
		return
	}
	if last := len(k.axes) - 1; last >= 0 && plain && x.n > 0 {
		p := &k.axes[last]
		if p.from == x.from*x.n && p.to == x.to*x.n && (k.mode == PadConstant || p.n == p.total) {
			*p = padAxis{n: p.n * x.n, before: p.before * x.n, total: p.total * x.n, from: x.from, to: x.to}
			return
		}
	}
	k.axes = append(k.axes, x)
}

// source returns where the data has element j of the output's axis, or
// outside.
func (x *padAxis) source(mode PadMode, j int) int {
	i := j - x.before
	switch {
	case i >= 0 && i < x.n:
	case mode == PadConstant || x.n == 0:
		return outside
	case mode == PadEdge || x.n == 1:
		i = min(max(i, 0), x.n-1)
	case mode == PadReflect:
		period := 2 * (x.n - 1)
		if i = ((i % period) + period) % period; i >= x.n {
			i = period - i
		}
	case mode == PadWrap:
		i = ((i % x.n) + x.n) % x.n
	}
	return i * x.from
}

func (k *padKernel[T]) Tasks() int   { return k.tasks }
func (k *padKernel[T]) Scratch() int { return 0 }

func (k *padKernel[T]) Run(task int, _ []byte) error {
	dst, src := kernel.Slice[T](k.out), kernel.Slice[T](k.data)
	var value T
	if k.value != nil {
		value = kernel.Slice[T](k.value)[k.value.Offset]
	}
	outer, row := k.axes[:len(k.axes)-1], &k.axes[len(k.axes)-1]
	for unit := task * k.each; unit < min((task+1)*k.each, k.units); unit++ {
		lo := unit % k.blocks * kernel.MoveGrain
		hi := min(lo+kernel.MoveGrain, row.total)
		rest := unit / k.blocks
		d, s := k.out.Offset, k.data.Offset+k.first
		inside := true
		for a := len(outer) - 1; a >= 0; a-- {
			x := &outer[a]
			j := rest % x.total
			rest /= x.total
			d += j * x.to
			if from := k.table[x.table+j]; from == outside {
				inside = false
			} else {
				s += from
			}
		}
		if !inside {
			kernel.FillStrided(dst, d+lo*row.to, row.to, hi-lo, value)
			continue
		}
		// The row: what is added before, the data, what is added behind.
		from, to := min(max(row.before, lo), hi), max(min(row.before+row.n, hi), lo)
		to = max(to, from)
		k.border(dst, d, src, s, lo, from, value)
		if from < to {
			kernel.MoveStrided(dst, d+from*row.to, row.to, src, s+(from-row.before)*row.from, row.from, to-from)
		}
		k.border(dst, d, src, s, to, hi, value)
	}
	return nil
}

// border writes the added elements [lo, hi) of the row that is at dst[d] and
// comes from src[s].
func (k *padKernel[T]) border(dst []T, d int, src []T, s, lo, hi int, value T) {
	row := &k.axes[len(k.axes)-1]
	if lo >= hi {
		return
	}
	if k.mode == PadConstant || row.n == 0 {
		kernel.FillStrided(dst, d+lo*row.to, row.to, hi-lo, value)
		return
	}
	for j, from := range k.table[row.table+lo : row.table+hi] {
		dst[d+(lo+j)*row.to] = src[s+from]
	}
}
