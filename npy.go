package berth

import (
	"archive/zip"
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/shape"
)

// The .npy format: the magic string, two version bytes, the length of the
// header, the header (a Python dictionary padded with spaces), the elements.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
const npyMagic = "\x93NUMPY"

// maxNPYHeader bounds the header, which names one type and one shape.
const maxNPYHeader = 1 << 16

// descriptors pairs each element type with NumPy's code for it, without the
// byte order. NumPy has none for bfloat16 and the types of low precision.
var descriptors = map[dtype.Type]string{
	Bool: "b1", Uint8: "u1", Uint16: "u2", Uint32: "u4", Uint64: "u8",
	Int8: "i1", Int16: "i2", Int32: "i4", Int64: "i8",
	Float16: "f2", Float32: "f4", Float64: "f8",
}

// ReadNPY reads a tensor in NumPy's .npy format, of version 1, 2 or 3, either
// byte order, in C or Fortran order (which becomes strides). It reads no
// further than the tensor goes, and allocates no more than is really there.
func ReadNPY(r io.Reader) (*Tensor, error) {
	if r == nil {
		return nil, errors.New("berth: npy: the reader is nil")
	}
	t, fortran, swap, err := readNPYHeader(r)
	if err != nil {
		return nil, fmt.Errorf("berth: npy: %w", err)
	}
	data, err := readAligned(r, t.Bytes())
	if err != nil {
		return nil, fmt.Errorf("berth: npy: %v has %d bytes of elements: %w", t, t.Bytes(), err)
	}
	if size := t.DType.Size(); swap && size > 1 {
		for at := 0; at < len(data); at += size {
			slices.Reverse(data[at : at+size])
		}
	}
	if t.DType == Bool {
		for i, b := range data {
			if b > 1 {
				return nil, fmt.Errorf("berth: npy: element %d of %v is %d", i, t, b)
			}
		}
	}
	layout := shape.Dense(t.Shape)
	if fortran {
		backwards := t.Shape.Clone()
		slices.Reverse(backwards)
		layout = shape.Dense(backwards)
		slices.Reverse(layout.Shape)
		slices.Reverse(layout.Strides)
	}
	return &Tensor{t.DType, layout, data}, nil
}

// readAligned reads n bytes into aligned storage that grows with what comes.
func readAligned(r io.Reader, n int) ([]byte, error) {
	const first = 1 << 20
	data := kernel.Alloc(min(n, first))
	for have := 0; have < n; {
		if have == len(data) {
			more := kernel.Alloc(min(n, 2*have))
			copy(more, data)
			data = more
		}
		got, err := io.ReadFull(r, data[have:])
		have += got
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return nil, fmt.Errorf("only %d are there: %w", have, io.ErrUnexpectedEOF)
			}
			return nil, err
		}
	}
	return data, nil
}

func readNPYHeader(r io.Reader) (t graph.Type, fortran, swap bool, err error) {
	var head [len(npyMagic) + 2]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return t, false, false, fmt.Errorf("no header: %w", err)
	}
	if string(head[:len(npyMagic)]) != npyMagic {
		return t, false, false, fmt.Errorf("the file starts with %q, not %q", head[:len(npyMagic)], npyMagic)
	}
	var length uint32
	switch major := head[len(npyMagic)]; major {
	case 1:
		var short uint16
		err = binary.Read(r, binary.LittleEndian, &short)
		length = uint32(short)
	case 2, 3:
		err = binary.Read(r, binary.LittleEndian, &length)
	default:
		return t, false, false, fmt.Errorf("version %d is not known", major)
	}
	if err != nil {
		return t, false, false, fmt.Errorf("no header: %w", err)
	}
	if length > maxNPYHeader {
		return t, false, false, fmt.Errorf("a header of %d bytes is longer than %d", length, maxNPYHeader)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return t, false, false, fmt.Errorf("the header has %d bytes: %w", length, err)
	}
	return parseNPYHeader(string(text))
}

// An entry of the header dictionary; keys come in any order.
var npyEntry = regexp.MustCompile(`['"](descr|fortran_order|shape)['"]\s*:\s*(?:['"]([^'"]*)['"]|(True|False)|\(([^)]*)\))`)

func parseNPYHeader(text string) (t graph.Type, fortran, swap bool, err error) {
	seen := map[string]bool{}
	for _, m := range npyEntry.FindAllStringSubmatch(text, -1) {
		seen[m[1]] = true
		switch m[1] {
		case "descr":
			if t.DType, swap, err = parseDescriptor(m[2]); err != nil {
				return t, false, false, err
			}
		case "fortran_order":
			fortran = m[3] == "True"
		case "shape":
			t.Shape = shape.Shape{}
			for word := range strings.SplitSeq(m[4], ",") {
				word = strings.TrimSuffix(strings.TrimSpace(word), "L")
				if word == "" {
					continue
				}
				d, err := strconv.Atoi(word)
				if err != nil {
					return t, false, false, fmt.Errorf("shape (%s): %w", m[4], err)
				}
				t.Shape = append(t.Shape, d)
			}
		}
	}
	if len(seen) < 3 {
		return t, false, false, fmt.Errorf("the header %q lacks a type, a shape or an order that can be read", text)
	}
	return t, fortran, swap, t.Check()
}

func parseDescriptor(descr string) (t dtype.Type, swap bool, err error) {
	order, code := "|", descr
	if descr != "" && strings.ContainsAny(descr[:1], "<>|=") {
		order, code = descr[:1], descr[1:]
	}
	for t, known := range descriptors {
		if known == code {
			return t, order == ">", nil
		}
	}
	return 0, false, fmt.Errorf("element type %q is not one of Berth's", descr)
}

// WriteNPY writes the tensor in NumPy's .npy format, version 1, little endian,
// C order. NumPy has neither bfloat16 nor types of low precision: cast such a
// tensor first.
func (t *Tensor) WriteNPY(w io.Writer) error {
	if err := t.usable(); err != nil {
		return err
	}
	if w == nil {
		return errors.New("berth: npy: the writer is nil")
	}
	code, ok := descriptors[t.dtype]
	if !ok {
		return fmt.Errorf("berth: npy: NumPy has no element type %v", t.dtype)
	}
	order := "<"
	if t.dtype.Size() == 1 {
		order = "|"
	}
	dims := make([]string, t.Rank())
	for i, d := range t.layout.Shape {
		dims[i] = strconv.Itoa(d)
	}
	tuple := strings.Join(dims, ", ")
	if len(dims) == 1 {
		tuple += ","
	}
	header := fmt.Sprintf("{'descr': '%s%s', 'fortran_order': False, 'shape': (%s), }", order, code, tuple)
	const before = len(npyMagic) + 2 + 2
	pad := 63 - (before+len(header))%64 // with the newline, the elements start at a multiple of 64
	header += strings.Repeat(" ", pad) + "\n"
	if len(header) > maxNPYHeader-1 {
		return fmt.Errorf("berth: npy: %d axes do not fit in a header", t.Rank())
	}
	out := bufio.NewWriter(w)
	out.WriteString(npyMagic + "\x01\x00")
	binary.Write(out, binary.LittleEndian, uint16(len(header)))
	out.WriteString(header)
	out.Write(t.bytes())
	return out.Flush() // reports the first error of the writes before it
}

// ReadNPZ reads the tensors of a .npz file, by name without ".npy".
func ReadNPZ(r io.ReaderAt, size int64) (map[string]*Tensor, error) {
	if r == nil {
		return nil, errors.New("berth: npz: the reader is nil")
	}
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("berth: npz: %w", err)
	}
	tensors := make(map[string]*Tensor)
	for _, f := range archive.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			continue
		}
		if tensors[name] != nil {
			return nil, fmt.Errorf("berth: npz: %q is there twice", f.Name)
		}
		part, err := f.Open()
		if err != nil {
			return nil, fmt.Errorf("berth: npz: %q: %w", f.Name, err)
		}
		tensors[name], err = ReadNPY(part)
		part.Close()
		if err != nil {
			return nil, fmt.Errorf("berth: npz: %q: %w", f.Name, err)
		}
	}
	return tensors, nil
}

// WriteNPZ writes tensors as a compressed .npz file, in the order of their names.
func WriteNPZ(w io.Writer, tensors map[string]*Tensor) error {
	if w == nil {
		return errors.New("berth: npz: the writer is nil")
	}
	archive := zip.NewWriter(w)
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		part, err := archive.Create(name + ".npy")
		if err != nil {
			return fmt.Errorf("berth: npz: %q: %w", name, err)
		}
		if err := tensors[name].WriteNPY(part); err != nil {
			return fmt.Errorf("berth: npz: %q: %w", name, err)
		}
	}
	return archive.Close()
}
