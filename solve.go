package berth

import (
	"fmt"
	"strings"

	"github.com/berth-go/berth/internal/compile"
	"github.com/berth-go/berth/internal/extent"
)

// A solver finds the extents of a run from the buffers that it is given.
type solver struct {
	prog  *compile.Program
	point extent.Point
	known uint64 // dimensions found, a bit for each
}

// inputs finds the dimensions from what the caller states and from the inputs,
// which it checks.
func (s *solver) inputs(extents Extents, inputs Values) error {
	if err := s.fix(extents); err != nil {
		return err
	}
	// What one input tells may be what another one needs to tell more.
	for before := ^s.known; before != s.known; {
		before = s.known
		for k := range s.prog.Inputs {
			if err := s.input(&s.prog.Inputs[k], inputs); err != nil {
				return err
			}
		}
	}
	return s.finish()
}

func (s *solver) input(port *compile.Port, inputs Values) error {
	x, tensor := inputs[port.Name].(*Tensor)
	data, t, err := buffer(inputs, port.Name, true)
	if err != nil {
		return fmt.Errorf("input %q: %w", port.Name, err)
	}
	if t != port.Type.DType {
		return fmt.Errorf("input %q holds %v, not %v", port.Name, port.Type.DType, t)
	}
	if !tensor {
		if n := len(data) / t.Size(); !s.equal(port.Elems, n) {
			return fmt.Errorf("input %q has %d elements, which %s does not have%s", port.Name, n, s.typeOf(port), s.with())
		}
		return nil
	}
	fits := len(x.layout.Shape) == len(port.Dims)
	for a := 0; fits && a < len(port.Dims); a++ {
		fits = s.equal(port.Dims[a], x.layout.Shape[a])
	}
	if !fits {
		return fmt.Errorf("input %q: the shape %v is not that of %s%s", port.Name, x.layout.Shape, s.typeOf(port), s.with())
	}
	return nil
}

// typeOf prints the type of a port with its dimensions, as in
// "float32[batch 784], batch 1 to 64".
func (s *solver) typeOf(port *compile.Port) string {
	space := s.prog.Space
	words := make([]string, len(port.Dims))
	uses := uint64(0)
	for a, f := range port.Dims {
		words[a] = space.String(f)
		uses |= space.Uses(f)
	}
	text := fmt.Sprintf("%v[%s]", port.Type.DType, strings.Join(words, " "))
	for i, d := range space.Dims() {
		if uses>>i&1 == 1 {
			text += fmt.Sprintf(", %s %d to %d", d.Name, d.Min, d.Max)
		}
	}
	return text
}

// with prints the dimensions that are known.
func (s *solver) with() string {
	text := ""
	for i, d := range s.prog.Space.Dims() {
		if s.known>>i&1 == 1 {
			text += fmt.Sprintf(" %s=%d", d.Name, s.point[i])
		}
	}
	if text == "" {
		return ""
	}
	return " with" + text
}

// fix takes the extents that the caller states.
func (s *solver) fix(extents Extents) error {
	dims := s.prog.Space.Dims()
	found := 0
	for i, d := range dims {
		n, ok := extents[d.Name]
		if !ok {
			continue
		}
		if n < d.Min || n > d.Max {
			return fmt.Errorf("%s is %d, the program runs %d to %d", d.Name, n, d.Min, d.Max)
		}
		s.set(i, n)
		found++
	}
	if found == len(extents) {
		return nil
	}
	for name := range extents {
		if !hasDim(dims, name) {
			return fmt.Errorf("the program has no dimension %q, but %v", name, dims)
		}
	}
	return nil
}

func hasDim(dims []extent.Dim, name string) bool {
	for _, d := range dims {
		if d.Name == name {
			return true
		}
	}
	return false
}

func (s *solver) set(dim, n int) {
	s.point[dim] = n
	s.known |= 1 << dim
}

// open returns the one dimension that f depends on and that is not known; -1 if
// there is none, -2 if there are several.
func (s *solver) open(f extent.Func) int {
	left := s.prog.Space.Uses(f) &^ s.known
	switch {
	case left == 0:
		return -1
	case left&(left-1) != 0:
		return -2
	}
	dim := 0
	for left>>dim != 1 {
		dim++
	}
	return dim
}

// equal takes it that f is n, as far as that tells a dimension. It reports false
// when f is not n for any extents of the dimensions that are open.
func (s *solver) equal(f extent.Func, n int) bool {
	dim := s.open(f)
	if dim == -1 {
		return s.prog.Space.At(f, s.point) == n
	}
	if dim < 0 {
		return true
	}
	// Sizes do not fall as a dimension grows.
	d := s.prog.Space.Dims()[dim]
	at := func(extent int) int {
		s.point[dim] = extent
		return s.prog.Space.At(f, s.point)
	}
	lo, hi := d.Min, d.Max
	for lo < hi {
		if mid := lo + (hi-lo)/2; at(mid) < n {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if at(lo) != n {
		return false
	}
	if lo < d.Max && at(lo+1) == n {
		return true // the size does not tell
	}
	s.set(dim, lo)
	return true
}

// finish returns an error when a dimension is not known.
func (s *solver) finish() error {
	for i, d := range s.prog.Space.Dims() {
		if s.known>>i&1 == 1 {
			continue
		}
		if d.Fixed() {
			s.set(i, d.Min)
			continue
		}
		return fmt.Errorf("the inputs do not tell %s, which is %d to %d: state it", d.Name, d.Min, d.Max)
	}
	return nil
}
