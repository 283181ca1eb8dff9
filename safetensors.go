package berth

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/shape"
)

// The safetensors format: the length of the header as 8 bytes, little-endian; the
// header, a JSON object with an entry for each tensor; the elements of all tensors,
// without anything between them.
// https://huggingface.co/docs/safetensors
var safetensorsTypes = map[string]dtype.Type{
	"BOOL": Bool, "U8": Uint8, "U16": Uint16, "U32": Uint32, "U64": Uint64,
	"I8": Int8, "I16": Int16, "I32": Int32, "I64": Int64,
	"F16": Float16, "BF16": BFloat16, "F32": Float32, "F64": Float64,
}

// safetensorsNotes is the entry of the header that is no tensor.
const safetensorsNotes = "__metadata__"

// A safetensorsEntry is what the header says of a tensor: its elements are those
// bytes behind the header from the first offset to before the second.
type safetensorsEntry struct {
	DType   string  `json:"dtype"`
	Shape   []int64 `json:"shape"`
	Offsets []int64 `json:"data_offsets"`
	name    string
}

// ReadSafetensors reads a file in the safetensors format: its tensors by name, and
// the notes that the file holds beside them. Tensors share data where its alignment
// allows that, so that it must not change any more. Every byte must belong to
// just one tensor, as the format wants it.
func ReadSafetensors(data []byte) (tensors map[string]*Tensor, notes map[string]string, err error) {
	entries, notes, elements, err := parseSafetensorsHeader(data)
	if err != nil {
		return nil, nil, fmt.Errorf("berth: safetensors: %w", err)
	}
	tensors = make(map[string]*Tensor, len(entries))
	end := int64(0)
	for _, e := range entries {
		t, err := e.tensor(elements, end)
		if err != nil {
			return nil, nil, fmt.Errorf("berth: safetensors: tensor %q: %w", e.name, err)
		}
		tensors[e.name], end = t, e.Offsets[1]
	}
	if end != int64(len(elements)) {
		return nil, nil, fmt.Errorf("berth: safetensors: there are %d bytes behind the header, the tensors take %d", len(elements), end)
	}
	return tensors, notes, nil
}

// parseSafetensorsHeader returns the entries of a header in the order of their
// bytes, and the bytes of all elements.
func parseSafetensorsHeader(data []byte) (entries []safetensorsEntry, notes map[string]string, elements []byte, err error) {
	fail := func(format string, args ...any) ([]safetensorsEntry, map[string]string, []byte, error) {
		return nil, nil, nil, fmt.Errorf(format, args...)
	}
	const lengthBytes = 8
	if len(data) < lengthBytes {
		return fail("%d bytes are too few for a header", len(data))
	}
	length := binary.LittleEndian.Uint64(data)
	data = data[lengthBytes:]
	if length > uint64(len(data)) {
		return fail("the header has %d bytes, of which %d are there", length, len(data))
	}
	header, elements := data[:length], data[length:]
	if !utf8.Valid(header) {
		return fail("the header is not UTF-8")
	}
	decoder := json.NewDecoder(bytes.NewReader(header))
	decoder.DisallowUnknownFields()
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return fail("the header is no JSON object: %w", cmp.Or(err, fmt.Errorf("it begins with %v", open)))
	}
	seen := make(map[string]bool)
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return fail("the header: %w", err)
		}
		name := key.(string) // as keys of objects are
		if seen[name] {
			return fail("two entries are named %q", name)
		}
		seen[name] = true
		if name == safetensorsNotes {
			err = decoder.Decode(&notes)
		} else {
			e := safetensorsEntry{name: name}
			err = decoder.Decode(&e)
			entries = append(entries, e)
		}
		if err != nil {
			return fail("entry %q: %w", name, err)
		}
	}
	if _, err := decoder.Token(); err != nil {
		return fail("the header: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return fail("there is more in the header than one object")
	}
	for _, e := range entries {
		if len(e.Offsets) != 2 {
			return fail("tensor %q: data_offsets %v are not two", e.name, e.Offsets)
		}
	}
	slices.SortFunc(entries, func(a, b safetensorsEntry) int {
		return cmp.Or(slices.Compare(a.Offsets, b.Offsets), cmp.Compare(a.name, b.name))
	})
	return entries, notes, elements, nil
}

// tensor returns the tensor of an entry whose elements must begin at a given one
// of the bytes behind the header.
func (e *safetensorsEntry) tensor(elements []byte, begin int64) (*Tensor, error) {
	typ, known := safetensorsTypes[e.DType]
	if !known {
		return nil, fmt.Errorf("element type %q is not supported", e.DType)
	}
	if e.Shape == nil {
		return nil, errors.New("there is no shape")
	}
	t := graph.Type{DType: typ, Shape: make(shape.Shape, len(e.Shape))}
	for axis, n := range e.Shape {
		if t.Shape[axis] = int(n); int64(t.Shape[axis]) != n {
			return nil, fmt.Errorf("extent %d does not fit this machine's int", n)
		}
	}
	if err := t.Check(); err != nil {
		return nil, err
	}
	from, to := e.Offsets[0], e.Offsets[1]
	switch {
	case from != begin:
		return nil, fmt.Errorf("the elements begin at byte %d; those before end at %d", from, begin)
	case to < from || to > int64(len(elements)):
		return nil, fmt.Errorf("bytes %d to %d are not among the %d behind the header", from, to, len(elements))
	case to-from != int64(t.Bytes()):
		return nil, fmt.Errorf("%v has %d bytes of elements, bytes %d to %d are %d", t, t.Bytes(), from, to, to-from)
	}
	data := elements[from:to:to]
	if typ == Bool {
		if i := slices.IndexFunc(data, func(b byte) bool { return b > 1 }); i >= 0 {
			return nil, fmt.Errorf("element %d is %d, not a truth value", i, data[i])
		}
	}
	if !kernel.Aligned(data, typ.Size()) {
		aligned := kernel.Alloc(len(data))
		copy(aligned, data)
		data = aligned
	}
	return &Tensor{typ, shape.Dense(t.Shape), data}, nil
}
