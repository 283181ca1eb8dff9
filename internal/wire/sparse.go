package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A SparseTensor is a SparseTensorProto: Values of shape [nnz], at Indices of
// shape [nnz] (linear, row-major) or [nnz, rank], in a tensor of shape Dims
// that is zero elsewhere. Its name is that of Values. Indices may be nil when
// there are no values.
type SparseTensor struct {
	Values  *Tensor `onnx:"1 values"`
	Indices *Tensor `onnx:"2 indices"`
	Dims    []int64 `onnx:"3 dims ranked"`
}

// settle reports parts of s that do not fit together. The index values are
// checked by [SparseTensor.Linear], since they may be in an external file.
func (s *SparseTensor) settle(fieldSet) error {
	if s.Values == nil {
		return errors.New("no values")
	}
	if _, err := numElements(s.Dims); err != nil {
		return err
	}
	if len(s.Values.Dims) != 1 {
		return fmt.Errorf("values have dims %v, want rank 1", s.Values.Dims)
	}
	nnz := s.Values.Dims[0]
	if s.Indices == nil {
		if nnz > 0 {
			return fmt.Errorf("no indices for %d values", nnz)
		}
		return nil
	}
	if s.Indices.DataType != Int64 {
		return fmt.Errorf("indices are %v, want %v", s.Indices.DataType, Int64)
	}
	d := s.Indices.Dims
	linear := len(d) == 1 && d[0] == nnz
	tuples := len(d) == 2 && d[0] == nnz && d[1] == int64(len(s.Dims))
	if !linear && !tuples {
		return fmt.Errorf("indices have dims %v, want [%d] or [%d %d]", d, nnz, nnz, len(s.Dims))
	}
	return nil
}

// Linear returns the row-major position of each value in the dense tensor:
// strictly ascending and below the product of Dims, whichever of its two
// forms the file uses. l reads indices that are in an external file; it may
// be nil for a model without any.
//
// The dense tensor may be far larger than the file; its size is for the
// caller to bound.
func (s *SparseTensor) Linear(l *Loader) ([]int64, error) {
	if s.Indices == nil {
		return nil, nil
	}
	b, err := l.Bytes(s.Indices)
	if err != nil {
		return nil, fmt.Errorf("sparse tensor %s: indices: %w", quote(s.Values.Name), err)
	}
	dims := s.Dims
	if len(s.Indices.Dims) == 1 {
		total, _ := numElements(dims) // checked when s was read
		dims = []int64{total}         // a linear index is a tuple of one
	}
	out := make([]int64, s.Values.Dims[0])
	last := int64(-1)
	for i := range out {
		pos := int64(0)
		for _, d := range dims {
			x := int64(binary.LittleEndian.Uint64(b))
			b = b[8:]
			if x < 0 || x >= d {
				return nil, fmt.Errorf("sparse tensor %s: index %d has %d, out of range for dims %v",
					quote(s.Values.Name), i, x, dims)
			}
			pos = pos*d + x // at most total-1, which fits
		}
		if pos <= last {
			return nil, fmt.Errorf("sparse tensor %s: index %d is %d, want more than %d",
				quote(s.Values.Name), i, pos, last)
		}
		out[i], last = pos, pos
	}
	return out, nil
}
