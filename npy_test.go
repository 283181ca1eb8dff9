package berth_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
)

// npyFile returns a file by NumPy's rules: the header padded with spaces and
// a newline so that the elements start at a multiple of 64.
func npyFile(major byte, header string, elements any) []byte {
	size := 2
	if major > 1 {
		size = 4
	}
	before := 6 + 2 + size
	header += strings.Repeat(" ", 63-(before+len(header))%64) + "\n"
	var b bytes.Buffer
	b.WriteString("\x93NUMPY")
	b.Write([]byte{major, 0})
	if size == 2 {
		binary.Write(&b, binary.LittleEndian, uint16(len(header)))
	} else {
		binary.Write(&b, binary.LittleEndian, uint32(len(header)))
	}
	b.WriteString(header)
	if raw, ok := elements.([]byte); ok {
		b.Write(raw)
	} else if err := binary.Write(&b, binary.LittleEndian, elements); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func bigEndian(elements any) []byte {
	var b bytes.Buffer
	if err := binary.Write(&b, binary.BigEndian, elements); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// TestNPYRoundTrip writes and reads every type in shapes with and without
// elements, dense and not.
func TestNPYRoundTrip(t *testing.T) {
	shapes := [][]int{{}, {1}, {7}, {2, 3}, {0}, {3, 0, 2}, {1, 1, 1, 1, 1, 2}}
	for _, typ := range allTypes {
		for _, dims := range shapes {
			n := 0.0
			x := arrayOf(dims, func([]int) float64 { n++; return n }).tensor(typ)
			tensors := []*berth.Tensor{x}
			if x.Rank() > 1 {
				tensors = append(tensors, must(x.Transpose()), must(x.Slice(-1, -1, -100, -1)))
			}
			for _, x := range tensors {
				var b bytes.Buffer
				err := x.WriteNPY(&b)
				if typ == berth.BFloat16 || typ.IsLowPrecision() {
					wantError(t, typ.String(), err, typ.String())
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if start := b.Len() - x.Len()*typ.Size(); start%64 != 0 {
					t.Errorf("%v%v: the elements start at byte %d", typ, x.Shape(), start)
				}
				b.WriteString("what follows")
				y, err := berth.ReadNPY(&b)
				if err != nil {
					t.Fatal(err)
				}
				if !berth.Equal(x, y) {
					t.Errorf("wrote %v, read %v", x, y)
				}
				if b.String() != "what follows" {
					t.Errorf("%v%v: read on behind the tensor", typ, dims)
				}
			}
		}
	}
}

// TestWriteNPY compares a file with one laid out by the rules, byte for byte.
func TestWriteNPY(t *testing.T) {
	for _, c := range []struct {
		x    *berth.Tensor
		want []byte
	}{
		{list([]float64{1, 2, 3}, 3).tensor(berth.Int16),
			npyFile(1, "{'descr': '<i2', 'fortran_order': False, 'shape': (3,), }", []int16{1, 2, 3})},
		{must(ramp(2, 2).Transpose()),
			npyFile(1, "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 2), }", []int32{0, 2, 1, 3})},
		{berth.Scalar(true), npyFile(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (), }", []byte{1})},
		{must(berth.Zeros(berth.Uint64, 0, 2)), npyFile(1, "{'descr': '<u8', 'fortran_order': False, 'shape': (0, 2), }", []byte{})},
	} {
		var b bytes.Buffer
		if err := c.x.WriteNPY(&b); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b.Bytes(), c.want) {
			t.Errorf("wrote %q\nwant  %q", b.Bytes(), c.want)
		}
	}
	full := errors.New("no space left")
	err := ramp(1000).WriteNPY(failing{full})
	if !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
}

// failing is a writer that cannot.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestReadNPYByNumPy reads files that NumPy wrote.
func TestReadNPYByNumPy(t *testing.T) {
	files := must(filepath.Glob(filepath.Join("..", "shared", "models", "*", "data_0", "*.npy")))
	if len(files) == 0 {
		t.Skip("no ../shared/models")
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		x, err := berth.ReadNPY(bytes.NewReader(data))
		if err != nil {
			if strings.Contains(err.Error(), "is not one of Berth's") {
				continue // text
			}
			t.Errorf("%s: %v", file, err)
			continue
		}
		if elements := inside.Leaf(x).Data; len(elements) != x.Len()*x.DType().Size() || !bytes.HasSuffix(data, elements) {
			t.Errorf("%s: %v%v differs from its file", file, x.DType(), x.Shape())
		}
	}
}

// TestReadNPY reads files as NumPy lays them out.
func TestReadNPY(t *testing.T) {
	six := []int16{1, 2, 3, 4, 5, 6}
	for _, c := range []struct {
		name string
		file []byte
		typ  berth.DType
		want array
	}{
		{"version 1", npyFile(1, "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }", six),
			berth.Int16, list([]float64{1, 2, 3, 4, 5, 6}, 2, 3)},
		{"version 2", npyFile(2, "{'descr': '<i2', 'fortran_order': False, 'shape': (6,), }", six),
			berth.Int16, list([]float64{1, 2, 3, 4, 5, 6}, 6)},
		{"version 3", npyFile(3, "{'descr': '<i2', 'fortran_order': False, 'shape': (3, 2), }", six),
			berth.Int16, list([]float64{1, 2, 3, 4, 5, 6}, 3, 2)},
		{"fortran", npyFile(1, "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }", six),
			berth.Int16, list([]float64{1, 3, 5, 2, 4, 6}, 2, 3)},
		{"fortran cube", npyFile(1, "{'descr': '<i2', 'fortran_order': True, 'shape': (1, 2, 3), }", six),
			berth.Int16, list([]float64{1, 3, 5, 2, 4, 6}, 1, 2, 3)},
		{"fortran scalar", npyFile(1, "{'descr': '<i2', 'fortran_order': True, 'shape': (), }", six[:1]),
			berth.Int16, list([]float64{1})},
		{"big endian", npyFile(1, "{'descr': '>i2', 'fortran_order': False, 'shape': (2, 3), }", bigEndian(six)),
			berth.Int16, list([]float64{1, 2, 3, 4, 5, 6}, 2, 3)},
		{"big endian fortran", npyFile(1, "{'descr': '>f8', 'fortran_order': True, 'shape': (2, 2), }", bigEndian([]float64{1.5, 2, 3, 4})),
			berth.Float64, list([]float64{1.5, 3, 2, 4}, 2, 2)},
		{"big endian half", npyFile(1, "{'descr': '>f2', 'fortran_order': False, 'shape': (2,), }", bigEndian([]dtype.F16{dtype.ToF16(1), dtype.ToF16(-2)})),
			berth.Float16, list([]float64{1, -2}, 2)},
		{"scalar", npyFile(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (), }", []float32{2.5}),
			berth.Float32, list([]float64{2.5})},
		{"bytes", npyFile(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", []byte{1, 2, 255}),
			berth.Uint8, list([]float64{1, 2, 255}, 3)},
		{"bools", npyFile(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", []byte{1, 0}),
			berth.Bool, list([]float64{1, 0}, 2)},
		{"no elements", npyFile(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3), }", []byte{}),
			berth.Float64, list(nil, 0, 3)},
		{"any order of keys", npyFile(1, "{'shape': (2,), 'fortran_order': False, 'descr': '<i2'}", six[:2]),
			berth.Int16, list([]float64{1, 2}, 2)},
		{"double quotes", npyFile(1, `{"descr": "<i2", "fortran_order": False, "shape": (2,)}`, six[:2]),
			berth.Int16, list([]float64{1, 2}, 2)},
		{"long integers of old Python", npyFile(1, "{'descr': '<i2', 'fortran_order': False, 'shape': (2L, 3L), }", six),
			berth.Int16, list([]float64{1, 2, 3, 4, 5, 6}, 2, 3)},
	} {
		for _, r := range []io.Reader{bytes.NewReader(c.file), iotest.OneByteReader(bytes.NewReader(c.file))} {
			x, err := berth.ReadNPY(r)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			if err := berth.Close(x, c.want.tensor(c.typ), 0, 0); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
}

// hostile are files that must be refused, with a part of the error.
var hostile = []struct{ name, file, part string }{
	{"nothing", "", "header"},
	{"half a magic", "\x93NUM", "header"},
	{"other magic", "\x89PNG\r\n\x1a\n0000", "PNG"},
	{"version 0", "\x93NUMPY\x00\x00\x10\x00", "version 0"},
	{"version 9", "\x93NUMPY\x09\x00\x10\x00", "version 9"},
	{"no length", "\x93NUMPY\x01\x00\x10", "header"},
	{"short header", "\x93NUMPY\x01\x00\x40\x00{'descr'", "64 bytes"},
	{"huge header", "\x93NUMPY\x02\x00\xff\xff\xff\xff{", "4294967295"},
	{"no dictionary", string(npyFile(1, "hello", []byte{})), "hello"},
	{"no type", string(npyFile(1, "{'fortran_order': False, 'shape': (2,)}", []byte{})), "lacks"},
	{"no order", string(npyFile(1, "{'descr': '<f4', 'shape': (2,)}", []byte{})), "lacks"},
	{"no shape", string(npyFile(1, "{'descr': '<f4', 'fortran_order': False}", []byte{})), "lacks"},
	{"objects", string(npyFile(1, "{'descr': '|O', 'fortran_order': False, 'shape': (2,)}", []byte{})), `"|O"`},
	{"text", string(npyFile(1, "{'descr': '<U3', 'fortran_order': False, 'shape': (2,)}", []byte{})), `"<U3"`},
	{"complex", string(npyFile(1, "{'descr': '<c8', 'fortran_order': False, 'shape': (2,)}", []byte{})), `"<c8"`},
	{"empty type", string(npyFile(1, "{'descr': '', 'fortran_order': False, 'shape': (2,)}", []byte{})), `""`},
	{"record", string(npyFile(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", []byte{})), "lacks"},
	{"negative extent", string(npyFile(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", []byte{})), "-2"},
	{"extent that is none", string(npyFile(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, x)}", []byte{})), "x"},
	{"extent that overflows", string(npyFile(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", []byte{})), "99999999999999999999"},
	{"elements that overflow", string(npyFile(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296, 16)}", []byte{})), "more than"},
	{"too few elements", string(npyFile(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", []float64{1})), "only 8 are there"},
	{"no element at all", string(npyFile(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}", []byte{})), "8000000000000 bytes"},
	{"a bool of 2", string(npyFile(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}", []byte{0, 1, 2})), "element 2"},
}

// TestReadNPYHostile wants an error for each file, without large allocations.
func TestReadNPYHostile(t *testing.T) {
	for _, c := range hostile {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := berth.ReadNPY(strings.NewReader(c.file))
		runtime.ReadMemStats(&after)
		wantError(t, c.name, err, c.part)
		if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20 {
			t.Errorf("%s: allocated %d bytes for a file of %d", c.name, n, len(c.file))
		}
	}
	broken := errors.New("the disk is on fire")
	_, err := berth.ReadNPY(io.MultiReader(strings.NewReader(hostile[len(hostile)-2].file), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if _, err := berth.ReadNPY(strings.NewReader(hostile[len(hostile)-3].file)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
}

func FuzzReadNPY(f *testing.F) {
	for _, c := range hostile {
		f.Add([]byte(c.file))
	}
	f.Add(npyFile(1, "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }", []int16{1, 2, 3, 4, 5, 6}))
	f.Add(npyFile(2, "{'descr': '>f8', 'fortran_order': False, 'shape': (), }", []float64{1}))
	f.Fuzz(func(t *testing.T, file []byte) {
		x, err := berth.ReadNPY(bytes.NewReader(file))
		if err != nil {
			return
		}
		if x.Len()*x.DType().Size() > len(file) {
			t.Fatalf("%v%v of a file of %d bytes", x.DType(), x.Shape(), len(file))
		}
		var b bytes.Buffer
		if err := x.WriteNPY(&b); err != nil {
			t.Fatal(err)
		}
		y, err := berth.ReadNPY(&b)
		if err != nil {
			t.Fatal(err)
		}
		if !berth.Equal(x, y) {
			t.Fatalf("read %v, then %v", x, y)
		}
	})
}

func TestNPZ(t *testing.T) {
	tensors := map[string]*berth.Tensor{"x": ramp(2, 3), "y/z": berth.Scalar(true), "": must(berth.Zeros(berth.Float16, 0, 2))}
	var b bytes.Buffer
	if err := berth.WriteNPZ(&b, tensors); err != nil {
		t.Fatal(err)
	}
	file := bytes.Clone(b.Bytes())
	got, err := berth.ReadNPZ(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(tensors) {
		t.Errorf("read %d tensors, want %d", len(got), len(tensors))
	}
	for name, want := range tensors {
		if got[name] == nil || !berth.Equal(got[name], want) {
			t.Errorf("%q: read %v, want %v", name, got[name], want)
		}
	}
	b.Reset()
	if err := berth.WriteNPZ(&b, tensors); err != nil || !bytes.Equal(b.Bytes(), file) {
		t.Error("the same tensors give another file")
	}

	wantError(t, "bfloat16", berth.WriteNPZ(io.Discard, map[string]*berth.Tensor{"half": must(berth.Zeros(berth.BFloat16, 1))}), "half", "bfloat16")
	wantError(t, "nil", berth.WriteNPZ(io.Discard, map[string]*berth.Tensor{"none": nil}), "none", "nil")
	wantError(t, "no archive", second(berth.ReadNPZ(strings.NewReader("PK"), 2)), "npz", "zip")
	for _, c := range []struct {
		parts []string
		want  string
	}{
		{[]string{"a.npy", hostile[2].file}, `"a.npy"`},
		{[]string{"b.npy", string(file[:0]), "b.npy", ""}, `"b.npy"`},
	} {
		b.Reset()
		w := zip.NewWriter(&b)
		for i := 0; i < len(c.parts); i += 2 {
			part := must(w.Create(c.parts[i]))
			part.Write([]byte(c.parts[i+1]))
		}
		w.Close()
		_, err := berth.ReadNPZ(bytes.NewReader(b.Bytes()), int64(b.Len()))
		wantError(t, c.want, err, c.want)
	}

	// The same name twice is no archive that NumPy writes; other files are
	// passed over.
	one := npyFile(1, "{'descr': '<i2', 'fortran_order': False, 'shape': (), }", []int16{5})
	b.Reset()
	w := zip.NewWriter(&b)
	for _, name := range []string{"n.npy", "README"} {
		part := must(w.Create(name))
		part.Write(one)
	}
	w.Close()
	got, err = berth.ReadNPZ(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil || len(got) != 1 || got["n"] == nil {
		t.Errorf("read %v, %v", got, err)
	}
	b.Reset()
	w = zip.NewWriter(&b)
	for range 2 {
		part := must(w.Create("n.npy"))
		part.Write(one)
	}
	w.Close()
	wantError(t, "twice", second(berth.ReadNPZ(bytes.NewReader(b.Bytes()), int64(b.Len()))), `"n.npy"`, "twice")
}
