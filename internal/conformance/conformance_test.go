package conformance

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/digits"
	"github.com/berth-go/berth/internal/wire"
	"github.com/berth-go/berth/onnx"
)

func TestSkipped(t *testing.T) {
	lacks := fmt.Errorf("node 3: %w at opset 7", onnx.ErrUnsupported)
	typed := fmt.Errorf("element %w: STRING", onnx.ErrType)
	broken := errors.New("axis 3 of a matrix")
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{onnx.ErrUnsupported, true},
		{onnx.ErrType, true},
		{lacks, true},
		{fmt.Errorf("m.onnx: %w", typed), true},
		{errors.Join(lacks, typed), true},
		{fmt.Errorf("m.onnx: %w", errors.Join(lacks, typed)), true},
		{fmt.Errorf("%w and %w", lacks, typed), true},
		{errors.Join(lacks, errors.Join(typed, lacks)), true},
		{broken, false},
		{fmt.Errorf("m.onnx: %w", broken), false},
		{errors.Join(lacks, broken), false},
		{fmt.Errorf("m.onnx: %w", errors.Join(lacks, errors.Join(typed, broken))), false},
		{fmt.Errorf("%w: %w", onnx.ErrUnsupported, broken), false},
		{fmt.Errorf("%v", onnx.ErrUnsupported), false}, // says so, and is not
		{onnx.ErrNeedsData, false},
		{io.EOF, false},
	} {
		if got := Skipped(c.err); got != c.want {
			t.Errorf("Skipped(%v) = %v, want %v", c.err, got, c.want)
		}
	}
}

// digitsFolder makes a test folder of the classifier in package digits: its
// model and one data set with an image, and the wanted output, stored as
// TensorProto. Edit, which may be nil, changes files before they are written.
func digitsFolder(t *testing.T, edit func(files map[string][]byte)) string {
	t.Helper()
	dir := t.TempDir()
	m, err := onnx.Load(digits.Files(), digits.ModelFile)
	if err != nil {
		t.Fatal(err)
	}
	model, err := fs.ReadFile(digits.Files(), digits.ModelFile)
	if err != nil {
		t.Fatal(err)
	}
	image := make([]float32, 28*28)
	for i := range image {
		image[i] = float32(i%7) / 7
	}
	x, err := berth.FromSlice(image, 1, 1, 28, 28)
	if err != nil {
		t.Fatal(err)
	}
	y, err := m.Run(t.Context(), map[string]*berth.Tensor{"image": x})
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{
		"model.onnx":                  model,
		"test_data_set_0/input_0.pb":  floatProto(t, x),
		"test_data_set_0/output_0.pb": floatProto(t, y["probabilities"]),
	}
	if edit != nil {
		edit(files)
	}
	for name, data := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// floatProto encodes x as a TensorProto.
func floatProto(t *testing.T, x *berth.Tensor) []byte {
	t.Helper()
	data, err := berth.Data[float32](x)
	if err != nil {
		t.Fatal(err)
	}
	proto := &wire.Tensor{DataType: wire.Float}
	for _, d := range x.Shape() {
		proto.Dims = append(proto.Dims, int64(d))
	}
	for _, v := range data {
		proto.Raw = binary.LittleEndian.AppendUint32(proto.Raw, math.Float32bits(v))
	}
	return wire.AppendTensor(nil, proto)
}

// TestTolerance asks of outputs that differ a little whether a tolerance admits it.
func TestTolerance(t *testing.T) {
	m, err := onnx.Load(digits.Files(), digits.ModelFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tol       Tolerance
		got, want float32
		ok        bool
	}{
		{Upstream, 1, 1, true},
		{Upstream, 1.0009, 1, true},
		{Upstream, -1.0009, -1, true},
		{Upstream, 1.0011, 1, false},
		{Upstream, 9e-8, 0, true},
		{Upstream, 1.1e-7, 0, false},
		{Network, 9e-8, 0, true},
		{Network, 1.1e-7, 0, false},
		{Network, 10.01009, 10, true}, // 0.01 + 1e-5*10
		{Network, 10.01011, 10, false},
		{Tolerance{Rel: 0.5}, 0, 1, false},
		{Tolerance{Rel: 0.5}, 1, 1.9, true},
		{Tolerance{Abs: 0.5}, 1.4, 1, true},
	} {
		got, want := berth.Scalar(c.got), berth.Scalar(c.want)
		err := DifferAll(m, c.tol, map[string]*berth.Tensor{"probabilities": got}, []*berth.Tensor{want})
		if (err == nil) != c.ok {
			t.Errorf("%v: %v for %v: %v", c.tol, c.got, c.want, err)
		}
	}
}

func TestFind(t *testing.T) {
	root := t.TempDir()
	for _, file := range []string{"b/model.onnx", "a/deep/model.onnx", "a/deep/test_data_set_0/model.onnx", "a/note.txt", "c/other.onnx"} {
		name := filepath.Join(root, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for dir, want := range map[string][]string{".": {"a/deep", "b"}, "b": {"b"}, "a": {"a/deep"}, "c": {"c"}} {
		tests, err := Find(filepath.Join(root, dir))
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range want {
			want[i] = filepath.Join(root, filepath.FromSlash(w))
		}
		if !slices.Equal(tests, want) {
			t.Errorf("%s: %q, want %q", dir, tests, want)
		}
	}
	if _, err := Find(filepath.Join(root, "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing folder: %v", err)
	}
}

func TestRun(t *testing.T) {
	const in, out = "test_data_set_0/input_0.pb", "test_data_set_0/output_0.pb"
	for _, c := range []struct {
		what string
		edit func(files map[string][]byte)
		err  string // part of it; "" where none is wanted
	}{
		{"as stored", nil, ""},
		{"no model", func(f map[string][]byte) { delete(f, "model.onnx") }, "model.onnx"},
		{"a broken model", func(f map[string][]byte) { f["model.onnx"] = []byte{0xff} }, "model.onnx"},
		{"no data set", func(f map[string][]byte) { delete(f, in); delete(f, out) }, "has no test_data_set_*"},
		{"a file by the name of a set", func(f map[string][]byte) {
			delete(f, in)
			delete(f, out)
			f["test_data_set_0"] = nil
		}, "has no test_data_set_*"},
		{"no output", func(f map[string][]byte) { delete(f, out) }, "test_data_set_0: 0 outputs are stored, the model has 1"},
		{"no input", func(f map[string][]byte) { delete(f, in) }, "is missing"},
		{"too many inputs", func(f map[string][]byte) { f["test_data_set_0/input_1.pb"] = f[in] }, "2 inputs are stored, the model has 1"},
		{"too many outputs", func(f map[string][]byte) { f["test_data_set_0/output_1.pb"] = f[out] }, "2 outputs are stored, the model has 1"},
		{"a broken input", func(f map[string][]byte) { f[in] = f[in][:7] }, "input_0.pb"},
		{"another output", func(f map[string][]byte) {
			f[out] = append([]byte{}, f[out]...)
			f[out][len(f[out])-1] = 0x42 // the exponent of the last element
		}, `output 0 "probabilities": berth: 1 of 10 elements`},
		{"a second set", func(f map[string][]byte) {
			f["test_data_set_1/input_0.pb"] = f[in]
			f["test_data_set_1/output_0.pb"] = f[in]
		}, "test_data_set_1: output 0"},
	} {
		t.Run(c.what, func(t *testing.T) {
			_, err := Run(t.Context(), digitsFolder(t, c.edit), Upstream, berth.RunOptions{})
			switch {
			case c.err == "" && err != nil:
				t.Error(err)
			case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
				t.Errorf("got %v, want %q", err, c.err)
			case Skipped(err):
				t.Errorf("%v counts as skipped", err)
			case Differs(err) != strings.Contains(c.err, "output 0"):
				t.Errorf("%v: counts as a difference: %v", err, Differs(err))
			}
		})
	}
	if _, err := Run(t.Context(), filepath.Join(t.TempDir(), "missing"), Upstream, berth.RunOptions{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing folder: %v", err)
	}
}
