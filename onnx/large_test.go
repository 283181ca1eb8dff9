package onnx

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/filemap"
	"github.com/berth-go/berth/internal/wire"
)

// TestLarge runs a model whose weights are in a file of more than 4 GiB: one weight
// lies behind that mark, another takes more than 2 GiB itself. The file is a hole
// but for its ends, and mapped, so that it takes neither disk nor memory.
func TestLarge(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("such files cannot be mapped")
	}
	const size, large = int64(5 << 30), int64(3 << 30)
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "w.bin"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(size); err != nil {
		t.Skip(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if _, unmap, ok := filemap.Map(f, info.Size()); !ok {
		t.Skip("files are not mapped on this system")
	} else if err := unmap(); err != nil {
		t.Fatal(err)
	}
	for at, data := range map[int64][]byte{size - 8: {0, 0, 128, 63, 0, 0, 0, 64}, large - 1: {7}} { // 1 and 2, as float32
		if _, err := f.WriteAt(data, at); err != nil {
			t.Fatal(err)
		}
	}
	external := func(name string, elem wire.DataType, n, offset int64) wire.Tensor {
		return wire.Tensor{Name: name, DataType: elem, Dims: []int64{n}, External: true,
			ExternalData: []wire.Entry{{Key: "location", Value: "w.bin"}, {Key: "offset", Value: strconv.FormatInt(offset, 10)}}}
	}
	name := filepath.Join(dir, "model.onnx")
	err = os.WriteFile(name, addModel(func(m *wire.Model) {
		m.Graph.Initializers = []wire.Tensor{external("w", wire.Float, 2, size-8), external("bytes", wire.Uint8, large, 0)}
		m.Graph.Nodes = append(m.Graph.Nodes,
			nodeOf("Constant", nil, names{"at"}, attrInts("value_ints", large-1)),
			nodeOf("Gather", names{"bytes", "at"}, names{"z"}))
		m.Graph.Outputs = append(m.Graph.Outputs, wire.ValueInfo{Name: "z"})
	}), 0o666)
	if err != nil {
		t.Fatal(err)
	}
	m, err := LoadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if got := m.Info(); got.Parameters != large+2 || got.WeightBytes != large+8 {
		t.Errorf("%d parameters, %d bytes", got.Parameters, got.WeightBytes)
	}
	in := map[string]*berth.Tensor{"x": f32([]float64{10, 20}, 2)}
	want := map[string]*berth.Tensor{"y": f32([]float64{11, 22}, 2)}
	if want["z"], err = berth.FromSlice([]uint8{7}, 1); err != nil {
		t.Fatal(err)
	}
	step, err := m.Run(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Compile(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := p.RunOnce(t.Context(), in, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range want {
		if !berth.Equal(step[name], x) || !berth.Equal(whole[name], x) {
			t.Errorf("%s is %v step by step and %v as a program, want %v", name, step[name], whole[name], x)
		}
	}
}
