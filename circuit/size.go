package circuit

import (
	"errors"
	"fmt"
	"math"

	"github.com/berth-go/berth/dtype"
)

// An extent is the size of a stored edge at the largest value of every dimension.
type extent struct {
	rows  int64
	width int64 // bytes of a row
	bytes int64 // rows * width
}

// extents sizes every stored edge for maxRows rows and the largest value of every
// other dimension.
func (a *analysis) extents(maxRows int64) ([]extent, error) {
	if maxRows < 1 {
		return nil, &PlanError{Kind: ErrNegative, Detail: fmt.Sprintf("the most rows are %d, fewer than 1", maxRows)}
	}
	dims := make(map[string]int64, len(a.c.Dims)+1)
	for _, d := range a.c.Dims {
		dims[d.Name] = d.Max
	}
	dims[RowsName] = maxRows
	lookup := func(name string) (int64, bool) {
		v, ok := dims[name]
		return v, ok
	}
	sizes := make([]extent, len(a.c.Edges))
	for i, stored := range a.stored {
		if !stored {
			continue
		}
		var err error
		if sizes[i], err = measure(&a.c.Edges[i], a.formats[i], lookup); err != nil {
			return nil, err
		}
	}
	return sizes, nil
}

// measure sizes one edge stored in a format.
func measure(e *Edge, format dtype.Format, lookup func(string) (int64, bool)) (extent, error) {
	fault := func(kind Kind, err error) (extent, error) {
		return extent{}, &PlanError{Kind: kind, Edge: e.Name, Err: err}
	}
	if err := format.Validate(); err != nil {
		return fault(ErrNoSize, err)
	}
	rows, err := e.Rows.Eval(lookup)
	if err != nil {
		return fault(kindOf(err), fmt.Errorf("rows: %w", err))
	}
	dim, err := e.Dim.Eval(lookup)
	if err != nil {
		return fault(kindOf(err), fmt.Errorf("dim: %w", err))
	}
	width, err := format.RowBytes(dim)
	if _, ok := errors.AsType[*dtype.GroupError](err); ok {
		return fault(ErrGroup, err)
	} else if errors.Is(err, dtype.ErrRowOverflow) {
		return fault(ErrOverflow, err)
	} else if err != nil {
		return fault(ErrNoSize, err)
	}
	bytes, ok := mul(rows, width)
	if !ok {
		return fault(ErrOverflow, fmt.Errorf("%d rows of %d bytes", rows, width))
	}
	return extent{rows, width, bytes}, nil
}

// kindOf returns the kind that an error of [Expr.Eval] wraps.
func kindOf(err error) Kind {
	kind, _ := errors.AsType[Kind](err)
	return kind
}

// alignUp rounds a size up to a multiple of [Align], unless that overflows.
func alignUp(bytes int64) (int64, bool) {
	if bytes > math.MaxInt64-(Align-1) {
		return 0, false
	}
	return (bytes + Align - 1) / Align * Align, true
}

// add adds two sizes that are not negative, unless the sum overflows.
func add(a, b int64) (int64, bool) {
	return a + b, a <= math.MaxInt64-b
}

// mul multiplies two sizes that are not negative, unless the product overflows.
func mul(a, b int64) (int64, bool) {
	product, kind := opMul.apply(a, b)
	return product, kind == ""
}
