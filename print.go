package berth

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/shape"
)

// The most elements that String prints in full, how many it shows at each end
// of an axis of a larger tensor, and the most that it shows of one.
const (
	printAll     = 1000
	printEdge    = 3
	printExcerpt = 2000
)

// String prints the element type, the shape and the elements, nested in
// brackets as NumPy does; of a tensor of more than 1000 elements only the
// ends of each axis, and of one with very many axes only the first element of
// the outer ones.
func (t *Tensor) String() string {
	if t.usable() != nil {
		return "no tensor"
	}
	if t.Len() == 0 {
		return t.describe() + " []"
	}
	p := printer{t: t, ends: excerpt(t.layout.Shape)}
	p.print(0, t.layout.Offset)
	var b strings.Builder
	b.WriteString(t.describe())
	if t.Rank() > 1 {
		b.WriteByte('\n') // so that the rows stand below each other
	} else {
		b.WriteByte(' ')
	}
	for i, word := range append(p.words, p.text) {
		if i%2 == 1 {
			fmt.Fprintf(&b, "%*s", p.width, word)
		} else {
			b.WriteString(word)
		}
	}
	return b.String()
}

// ends is how many indices of an axis are printed at its beginning and at its
// end.
type ends struct{ first, last int }

// excerpt returns what is printed of each axis of a shape.
func excerpt(s shape.Shape) []ends {
	out, all := make([]ends, len(s)), s.Elems() <= printAll
	cells := 1
	for axis, d := range s {
		out[axis].first = d
		if !all && d > 2*printEdge {
			out[axis] = ends{printEdge, printEdge}
		}
		cells *= out[axis].first + out[axis].last
	}
	for axis := 0; axis < len(s) && cells > printExcerpt; axis++ {
		cells /= out[axis].first + out[axis].last
		out[axis] = ends{first: 1}
	}
	return out
}

type printer struct {
	t     *Tensor
	ends  []ends   // by axis
	words []string // by turns what stands before an element, and the element
	width int      // of the widest element
	text  string   // that stands behind the last element
}

// shown returns the indices of an axis that are printed; -1 stands for those left
// out.
func (p *printer) shown(axis int) (indices []int) {
	d, e := p.t.layout.Shape[axis], p.ends[axis]
	for i := range e.first {
		indices = append(indices, i)
	}
	if e.first+e.last < d {
		indices = append(indices, -1)
	}
	for i := d - e.last; i < d; i++ {
		indices = append(indices, i)
	}
	return indices
}

func (p *printer) print(axis, at int) {
	if axis == p.t.Rank() {
		cell := p.t.format(at)
		p.width = max(p.width, len(cell))
		p.words, p.text = append(p.words, p.text, cell), ""
		return
	}
	p.text += "["
	between := " "
	if axis < p.t.Rank()-1 {
		between = strings.Repeat("\n", p.t.Rank()-1-axis) + strings.Repeat(" ", axis+1)
	}
	for k, i := range p.shown(axis) {
		if k > 0 {
			p.text += between
		}
		if i < 0 {
			p.text += "..."
			continue
		}
		p.print(axis+1, at+i*p.t.layout.Strides[axis])
	}
	p.text += "]"
}

// format prints one element of the storage, floats in the shortest form with
// at most seven digits.
func (t *Tensor) format(at int) string {
	s := kernel.ScalarAt(t.dtype, t.data, at)
	if t.dtype.Wide().IsFloat() {
		return strconv.FormatFloat(s.Float64(), 'g', 7, 64)
	}
	return fmt.Sprint(goValue(s))
}
