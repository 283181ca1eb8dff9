package berth

import (
	"fmt"
	"math/bits"
	"slices"
	"sort"
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

func (p *Program) newSolver() *solver {
	return &solver{prog: p.prog, point: make(extent.Point, len(p.prog.Space.Dims()))}
}

// solve finds the extents of a run on inputs, which it checks and returns as
// values.
func (p *Program) solve(inputs map[string]*Tensor) (extent.Point, Values, error) {
	if err := p.usable(); err != nil {
		return nil, nil, err
	}
	if err := checkNames(p, "input", inputs); err != nil {
		return nil, nil, err
	}
	values := make(Values, len(inputs))
	for name, t := range inputs {
		values[name] = t
	}
	s := p.newSolver()
	if err := s.inputs(nil, values); err != nil {
		return nil, nil, fmt.Errorf("berth: %w", err)
	}
	return s.point, values, nil
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
	if x, tensor := inputs[port.Name].(*Tensor); tensor {
		return s.tensor(port, x)
	}
	data, t, err := buffer(inputs, port.Name, true)
	if err != nil {
		return fmt.Errorf("input %q: %w", port.Name, err)
	}
	if t != port.Type.DType {
		return fmt.Errorf("input %q holds %v, not %v", port.Name, port.Type.DType, t)
	}
	if n := len(data) / t.Size(); !s.equal(port.Elems, n) {
		return fmt.Errorf("input %q has %d elements, which %s does not have%s", port.Name, n, s.typeOf(port), s.with())
	}
	return nil
}

// tensor takes a tensor of any layout for an input.
func (s *solver) tensor(port *compile.Port, x *Tensor) error {
	if err := x.usable(); err != nil {
		return fmt.Errorf("input %q: %w", port.Name, err)
	}
	if x.dtype != port.Type.DType {
		return fmt.Errorf("input %q holds %v, not %v", port.Name, port.Type.DType, x.dtype)
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
		if !slices.ContainsFunc(dims, func(d extent.Dim) bool { return d.Name == name }) {
			return fmt.Errorf("the program has no dimension %q, but %v", name, dims)
		}
	}
	return nil
}

func (s *solver) set(dim, n int) {
	s.point[dim] = n
	s.known |= 1 << dim
}

// equal takes it that f is n, as far as that tells a dimension. It reports false
// when f is not n for any extents of the dimensions that are open.
func (s *solver) equal(f extent.Func, n int) bool {
	open := s.prog.Space.Uses(f) &^ s.known
	switch bits.OnesCount64(open) {
	case 0:
		return s.prog.Space.At(f, s.point) == n
	case 1:
	default:
		return true // several are open, which f does not tell apart
	}
	dim := bits.TrailingZeros64(open)
	// Sizes do not fall as a dimension grows.
	d := s.prog.Space.Dims()[dim]
	at := func(extent int) int {
		s.point[dim] = extent
		return s.prog.Space.At(f, s.point)
	}
	least := d.Min + sort.Search(d.Max-d.Min, func(k int) bool { return at(d.Min+k) >= n })
	if at(least) != n {
		return false
	}
	if least == d.Max || at(least+1) != n { // else the size does not tell
		s.set(dim, least)
	}
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
