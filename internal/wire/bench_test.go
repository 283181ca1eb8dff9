package wire

import (
	"fmt"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// largeModel is a model of about 50 MB: 100 layers, each with a weight of
// 512 KiB that the typed field holds when typed is set.
func largeModel(typed bool) []byte {
	g := &Graph{Name: "g"}
	for i := range 100 {
		w := Tensor{Name: fmt.Sprintf("w%d", i), DataType: Float, Dims: []int64{256, 512}}
		if data := make([]byte, 4*256*512); typed {
			w.FloatData = data
		} else {
			w.Raw = data
		}
		g.Initializers = append(g.Initializers, w)
		g.Nodes = append(g.Nodes, Node{
			Name: fmt.Sprintf("layer%d", i), OpType: "Conv",
			Inputs: []string{fmt.Sprintf("x%d", i), w.Name}, Outputs: []string{fmt.Sprintf("x%d", i+1)},
			Attributes: []Attribute{
				{Name: "kernel_shape", Kind: AttrInts, Ints: []int64{3, 3}},
				{Name: "group", Kind: AttrInt, Int: 1},
			},
		})
	}
	return AppendModel(nil, &Model{IRVersion: 10, Graph: g, OpsetImports: []OperatorSet{{"", 21}}})
}

func benchmarkDecode(b *testing.B, data []byte) {
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := DecodeModel(data, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	b.Run("50MB/raw_data", func(b *testing.B) { benchmarkDecode(b, largeModel(false)) })
	b.Run("50MB/float_data", func(b *testing.B) { benchmarkDecode(b, largeModel(true)) })
	b.Run("minilm", func(b *testing.B) {
		for _, name := range sharedFiles(b, "models", "model.onnx") {
			if filepath.Base(filepath.Dir(name)) == "minilm_l6_synth" {
				benchmarkDecode(b, readFile(b, name))
				return
			}
		}
		b.Skip("the model is absent")
	})
	for _, n := range []int{1_000, 10_000, 100_000} {
		nodes := make([]Node, n)
		for i := range nodes {
			nodes[i] = Node{Name: fmt.Sprint("n", i), OpType: "Relu", Inputs: []string{fmt.Sprint("x", i)}, Outputs: []string{fmt.Sprint("x", i+1)}}
		}
		data := AppendModel(nil, &Model{Graph: &Graph{Nodes: nodes}})
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) { benchmarkDecode(b, data) })
	}
}

func BenchmarkAppendModel(b *testing.B) {
	m, err := DecodeModel(largeModel(false), nil)
	if err != nil {
		b.Fatal(err)
	}
	buf := AppendModel(nil, m)
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		buf = AppendModel(buf[:0], m)
	}
}

// BenchmarkBytes converts a tensor of a million elements.
func BenchmarkBytes(b *testing.B) {
	const n = 1 << 20
	var ints, longs []byte
	for i := range n {
		ints = protowire.AppendVarint(ints, uint64(i&127))
		longs = protowire.AppendVarint(longs, uint64(i))
	}
	for _, t := range []*Tensor{
		{Name: "raw_data", DataType: Float, Dims: []int64{n}, Raw: make([]byte, 4*n)},
		{Name: "int32_data", DataType: Int8, Dims: []int64{n}, Int32Data: ints},
		{Name: "int64_data", DataType: Int64, Dims: []int64{n}, Int64Data: longs},
	} {
		b.Run(t.Name, func(b *testing.B) {
			b.SetBytes(int64(n * t.DataType.Bits() / 8))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := t.Bytes(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
