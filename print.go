package berth

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
)

// The most elements that String prints in full, and how many it shows at each
// end of an axis of a larger tensor.
const (
	printAll  = 1000
	printEdge = 3
)

// String prints the element type, the shape and the elements, nested in
// brackets as NumPy does; of a tensor of more than 1000 elements only the
// ends of each axis.
func (t *Tensor) String() string {
	p := printer{t: t, cells: map[int]string{}}
	if t.Len() <= printAll {
		p.edge = max(t.Len(), 1)
	} else {
		p.edge = printEdge
	}
	p.measure(0, t.layout.Offset)
	p.b.WriteString(t.dtype.String() + t.layout.Shape.String() + " ")
	p.print(0, t.layout.Offset)
	return p.b.String()
}

type printer struct {
	t     *Tensor
	edge  int
	width int            // of the widest element shown
	cells map[int]string // by storage element
	b     strings.Builder
}

// shown calls f with each index of an axis that is printed; -1 stands for
// those left out.
func (p *printer) shown(axis int, f func(i int)) {
	d := p.t.layout.Shape[axis]
	for i := 0; i < d; i++ {
		if i == p.edge && d > 2*p.edge {
			f(-1)
			i = d - p.edge
		}
		f(i)
	}
}

func (p *printer) measure(axis, at int) {
	if axis == p.t.Rank() {
		if p.t.Len() > 0 {
			p.cells[at] = p.t.format(at)
			p.width = max(p.width, len(p.cells[at]))
		}
		return
	}
	p.shown(axis, func(i int) {
		if i >= 0 {
			p.measure(axis+1, at+i*p.t.layout.Strides[axis])
		}
	})
}

func (p *printer) print(axis, at int) {
	if axis == p.t.Rank() {
		fmt.Fprintf(&p.b, "%*s", p.width, p.cells[at])
		return
	}
	p.b.WriteByte('[')
	between := " "
	if axis < p.t.Rank()-1 {
		between = strings.Repeat("\n", p.t.Rank()-1-axis) + strings.Repeat(" ", axis+1)
	}
	first := true
	p.shown(axis, func(i int) {
		if !first {
			p.b.WriteString(between)
		}
		first = false
		if i < 0 {
			p.b.WriteString("...")
			return
		}
		p.print(axis+1, at+i*p.t.layout.Strides[axis])
	})
	p.b.WriteByte(']')
}

// format prints one element of the storage, floats in the shortest form with
// at most seven digits.
func (t *Tensor) format(at int) string {
	float := func(v float64) string { return strconv.FormatFloat(v, 'g', 7, 64) }
	switch t.dtype {
	case Bool:
		return strconv.FormatBool(t.data[at] != 0)
	case Uint8:
		return fmt.Sprint(t.data[at])
	case Uint16:
		return fmt.Sprint(kernel.Cast[uint16](t.data)[at])
	case Uint32:
		return fmt.Sprint(kernel.Cast[uint32](t.data)[at])
	case Uint64:
		return fmt.Sprint(kernel.Cast[uint64](t.data)[at])
	case Int8:
		return fmt.Sprint(int8(t.data[at]))
	case Int16:
		return fmt.Sprint(kernel.Cast[int16](t.data)[at])
	case Int32:
		return fmt.Sprint(kernel.Cast[int32](t.data)[at])
	case Int64:
		return fmt.Sprint(kernel.Cast[int64](t.data)[at])
	case Float16:
		return float(float64(kernel.Cast[dtype.F16](t.data)[at].Float32()))
	case BFloat16:
		return float(float64(kernel.Cast[dtype.BF16](t.data)[at].Float32()))
	case Float32:
		return float(float64(kernel.Cast[float32](t.data)[at]))
	}
	return float(kernel.Cast[float64](t.data)[at])
}
