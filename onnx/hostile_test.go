package onnx

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/wire"
)

// A hostile is a file of a few bytes that asks for much.
type hostile struct {
	what  string
	opset int64
	nodes []wire.Node
	// want is part of the error of a run and of a compilation, or much, or ""
	// where there is none.
	want string
}

const (
	much = "an error that wraps berth.ErrMemory or berth.ErrBudget"
	// Parts of errors that come before a tensor has a place.
	work    = "more work than a shape may"
	tooLong = " elements"
	long    = "a list has at most"
	axis    = "elements that can be padded"
)

func hostiles() []hostile {
	const huge, large = 1 << 40, 1 << 33
	ints := func(out string, v ...int64) wire.Node {
		return nodeOf("Constant", nil, names{out}, attrInts("value_ints", v...))
	}
	number := func(out string, v int64) wire.Node {
		return nodeOf("Constant", nil, names{out}, attrInt("value_int", v))
	}
	// zeros is a constant of int64 zeros that takes no memory; made is the sum
	// of two of these, which does.
	zeros := func(out string, dims ...int64) []wire.Node {
		return []wire.Node{ints(out+"_dims", dims...),
			nodeOf("ConstantOfShape", names{out + "_dims"}, names{out}, wire.Attribute{Name: "value", Kind: wire.AttrTensor,
				Tensor: &wire.Tensor{DataType: wire.Int64, Dims: []int64{1}, Raw: make([]byte, 8)}})}
	}
	made := func(out string, dims ...int64) []wire.Node {
		return append(append(zeros(out+"_a", dims...), zeros(out+"_b", dims...)...), nodeOf("Add", names{out + "_a", out + "_b"}, names{out}))
	}
	ramp := func(out string, n int64) []wire.Node {
		return []wire.Node{number(out+"_0", 0), number(out+"_n", n), number(out+"_1", 1),
			nodeOf("Range", names{out + "_0", out + "_n", out + "_1"}, names{out})}
	}
	// image makes an image of x, 1 by 2, and one of w, 2 by 1.
	image := func(x, w string) []wire.Node {
		return []wire.Node{ints(x+"_dims", 1, 1, 1, 2), ints(w+"_dims", 1, 1, 2, 1),
			nodeOf("Reshape", names{"x", x + "_dims"}, names{x}), nodeOf("Reshape", names{"w", w + "_dims"}, names{w})}
	}
	return []hostile{
		{"a sum over what is made", 13, append(made("z", huge), nodeOf("ReduceSum", names{"z"}, names{"y"})), much},
		{"a range, of which one element is taken", 13, slices.Concat(ramp("r", huge), []wire.Node{ints("i", 5), ints("j", 6),
			nodeOf("Slice", names{"r", "i", "j"}, names{"y"})}), much},
		{"a range that is a shape", 13, slices.Concat(ramp("r", huge), []wire.Node{nodeOf("Reshape", names{"x", "r"}, names{"y"})}),
			long},
		{"an element of a range in a shape", 13, slices.Concat(ramp("r", huge), []wire.Node{ints("i", 5), ints("j", 6),
			nodeOf("Slice", names{"r", "i", "j"}, names{"s"}), nodeOf("Expand", names{"x", "s"}, names{"y"})}), work},
		{"a sum over much in a shape", 13, slices.Concat(zeros("z", huge), []wire.Node{
			nodeOf("ReduceMax", names{"z"}, names{"s"}), nodeOf("Expand", names{"x", "s"}, names{"y"})}), work},
		{"a product over much in a shape", 13, slices.Concat(zeros("a", 1, huge), zeros("b", huge, 1), []wire.Node{
			nodeOf("MatMul", names{"a", "b"}, names{"c"}), nodeOf("Squeeze", names{"c"}, names{"s"}), nodeOf("Expand", names{"x", "s"}, names{"y"})}),
			work},
		{"zeros that are a shape", 13, slices.Concat(zeros("z", huge), []wire.Node{nodeOf("Reshape", names{"x", "z"}, names{"y"})}),
			long},
		{"zeros that are pads", 13, slices.Concat(zeros("z", huge), []wire.Node{nodeOf("Pad", names{"x", "z"}, names{"y"})}),
			long},
		{"zeros that are bounds", 13, slices.Concat(zeros("z", huge), []wire.Node{nodeOf("Slice", names{"x", "z", "z"}, names{"y"})}),
			long},
		{"zeros that are parts", 13, slices.Concat(zeros("z", huge), []wire.Node{nodeOf("Split", names{"x", "z"}, names{"y"})}),
			long},
		{"zeros that are a range's end", 13, slices.Concat(zeros("z", huge), []wire.Node{nodeOf("Range", names{"z", "z", "z"}, names{"y"})}),
			"want one element"},
		{"many axes", 13, slices.Concat(zeros("z", 1<<15), []wire.Node{number("1", 1), nodeOf("Add", names{"z", "1"}, names{"s"}), ints("i", 0), ints("j", 1),
			nodeOf("Slice", names{"x", "i", "j"}, names{"e"}), nodeOf("Reshape", names{"e", "s"}, names{"y"})}), "there are 32768 axes"},
		{"a made tensor", 13, slices.Concat(made("z", huge), []wire.Node{nodeOf("Neg", names{"z"}, names{"y"})}), much},
		{"repeated memory", 13, slices.Concat(ramp("r", large/8), []wire.Node{
			nodeOf("Neg", names{"r"}, names{"a"}), nodeOf("Concat", names{"r", "a", "a", "r"}, names{"y"}, attrInt("axis", 0))}), much},
		{"a shape that overflows", 13, slices.Concat(zeros("z", huge, huge), []wire.Node{nodeOf("Neg", names{"z"}, names{"y"})}), tooLong},
		{"Expand", 13, []wire.Node{ints("s", huge, 2), nodeOf("Expand", names{"x", "s"}, names{"a"}), nodeOf("Relu", names{"a"}, names{"b"}),
			nodeOf("Neg", names{"b"}, names{"c"}), nodeOf("ReduceSum", names{"c"}, names{"y"})}, much},
		{"Expand of a constant", 13, []wire.Node{ints("s", huge, 2), nodeOf("Expand", names{"w", "s"}, names{"a"}), nodeOf("Relu", names{"a"}, names{"b"}),
			nodeOf("Softmax", names{"b"}, names{"c"}), nodeOf("ReduceSum", names{"c"}, names{"y"})}, much},
		{"Tile", 13, []wire.Node{ints("s", huge), nodeOf("Tile", names{"x", "s"}, names{"y"})}, much},
		{"Tile, overflowing", 13, []wire.Node{ints("s", 1<<62), nodeOf("Tile", names{"x", "s"}, names{"y"})}, tooLong},
		{"Pad", 13, []wire.Node{ints("s", huge, huge), nodeOf("Pad", names{"x", "s"}, names{"y"})}, axis},
		{"Pad, reflected", 13, []wire.Node{ints("s", huge, huge), nodeOf("Pad", names{"x", "s"}, names{"y"}, attrText("mode", "reflect"))}, axis},
		{"Pad in between", 13, []wire.Node{ints("s", huge, huge), nodeOf("Pad", names{"x", "s"}, names{"a"}), nodeOf("Softmax", names{"a"}, names{"b"}),
			nodeOf("ReduceSum", names{"b"}, names{"y"})}, axis},
		{"Pad of what is not there", 13, slices.Concat(zeros("z", 0, 2), []wire.Node{ints("s", 0, huge, 0, huge), nodeOf("Pad", names{"z", "s"}, names{"y"})}), ""},
		{"OneHot", 13, []wire.Node{ints("i", 1), number("d", huge), nodeOf("OneHot", names{"i", "d", "w"}, names{"y"})}, much},
		{"OneHot of an input", 13, []wire.Node{nodeOf("Cast", names{"x"}, names{"i"}, attrInt("to", 7)), number("d", huge),
			nodeOf("OneHot", names{"i", "d", "w"}, names{"y"})}, much},
		{"EyeLike", 13, slices.Concat(zeros("z", huge, 2), []wire.Node{nodeOf("EyeLike", names{"z"}, names{"y"})}), much},
		{"CenterCropPad", 18, []wire.Node{ints("s", huge), nodeOf("CenterCropPad", names{"x", "s"}, names{"y"})}, axis},
		{"Concat of broadcasts", 13, slices.Concat(zeros("a", huge), zeros("b", huge), []wire.Node{
			nodeOf("Concat", names{"a", "b"}, names{"y"}, attrInt("axis", 0))}), much},
		{"Concat of a thousand broadcasts", 13, slices.Concat(zeros("a", 1<<53), []wire.Node{
			nodeOf("Concat", slices.Repeat(names{"a"}, 1000), names{"y"}, attrInt("axis", 0))}), tooLong},
		{"outer product", 13, slices.Concat(zeros("a", 1<<25, 1), zeros("b", 1, 1<<25), []wire.Node{nodeOf("MatMul", names{"a", "b"}, names{"y"})}), much},
		{"outer product, overflowing", 13, slices.Concat(zeros("a", huge, 1), zeros("b", 1, huge), []wire.Node{nodeOf("MatMul", names{"a", "b"}, names{"y"})}),
			tooLong},
		{"Gather", 13, slices.Concat(zeros("i", huge), []wire.Node{nodeOf("Gather", names{"x", "i"}, names{"y"})}), much},
		{"GatherElements", 13, slices.Concat(zeros("i", huge), []wire.Node{nodeOf("GatherElements", names{"x", "i"}, names{"y"})}), much},
		{"GatherND", 13, slices.Concat(zeros("i", huge, 1), []wire.Node{nodeOf("GatherND", names{"x", "i"}, names{"y"})}), much},
		{"ScatterElements", 13, slices.Concat(zeros("z", huge), []wire.Node{ints("i", 1), ints("u", 1),
			nodeOf("ScatterElements", names{"z", "i", "u"}, names{"y"})}), much},
		{"TopK", 13, slices.Concat(zeros("z", huge), []wire.Node{ints("k", huge), nodeOf("TopK", names{"z", "k"}, names{"y", "i"})}), much},
		{"CumSum", 13, slices.Concat(zeros("z", huge), []wire.Node{number("k", 0), nodeOf("CumSum", names{"z", "k"}, names{"y"})}), much},
		{"Trilu", 14, slices.Concat(zeros("z", 1<<20, 1<<20), []wire.Node{nodeOf("Trilu", names{"z"}, names{"y"})}), much},
		{"Conv", 13, append(image("a", "b"), nodeOf("Conv", names{"a", "b"}, names{"y"}, attrInts("pads", 1<<25, 1<<25, 1<<25, 1<<25))), much},
		{"Conv with pads", 13, append(image("a", "b"), nodeOf("Conv", names{"a", "b"}, names{"y"}, attrInts("pads", huge, 0, huge, 0))), "is not in"},
		{"Conv with taps", 13, slices.Concat(zeros("z", 1, 1, 1, huge), image("a", "b"), []wire.Node{nodeOf("Cast", names{"z"}, names{"c"}, attrInt("to", 1)),
			nodeOf("Conv", names{"a", "c"}, names{"y"}, attrInts("pads", 0, huge, 0, huge))}), "is not in"},
		{"ConvTranspose", 13, append(image("a", "b"), nodeOf("ConvTranspose", names{"a", "b"}, names{"y"},
			attrInts("dilations", 1<<26, 1<<26), attrInts("strides", 1<<26, 1<<26))), much},
		{"AveragePool", 13, append(image("a", "b"), nodeOf("AveragePool", names{"a"}, names{"y"},
			attrInts("kernel_shape", 1<<20, 1<<20), attrInts("pads", 1<<20-1, 1<<20-1, 1<<20-1, 1<<20-1))), much},
		{"MaxPool", 13, append(image("a", "b"), nodeOf("MaxPool", names{"a"}, names{"y"}, attrInts("kernel_shape", huge, 1))), "is above"},
		{"MaxUnpool", 13, []wire.Node{ints("s", 1, 1, 2), nodeOf("Reshape", names{"x", "s"}, names{"a"}), nodeOf("Cast", names{"a"}, names{"i"}, attrInt("to", 7)),
			nodeOf("MaxUnpool", names{"a", "i"}, names{"y"}, attrInts("kernel_shape", 2), attrInts("strides", huge))}, much},
		{"Col2Im", 18, slices.Concat(zeros("z", 1, 1, large), []wire.Node{ints("im", large), ints("bl", 1),
			nodeOf("Col2Im", names{"z", "im", "bl"}, names{"y"})}), "out of range"},
		{"Col2Im, just in range", 18, slices.Concat(zeros("z", 64, 1, 1<<30), []wire.Node{ints("im", 1<<30), ints("bl", 1),
			nodeOf("Col2Im", names{"z", "im", "bl"}, names{"y"})}), much},
		{"TensorScatter", 24, slices.Concat(zeros("z", 1, huge, 1), []wire.Node{
			nodeOf("TensorScatter", names{"z", "z"}, names{"y"})}), much},
		{"a dropout's mask", 13, slices.Concat(zeros("z", huge), []wire.Node{nodeOf("Dropout", names{"z"}, names{"d", "y"})}), much},
		{"a dropout's ratio", 13, slices.Concat(zeros("z", huge), []wire.Node{nodeOf("Cast", names{"z"}, names{"r"}, attrInt("to", 1)),
			nodeOf("Constant", nil, names{"t"}, wire.Attribute{Name: "value", Kind: wire.AttrTensor, Tensor: &wire.Tensor{DataType: wire.Bool, Raw: []byte{1}}}),
			nodeOf("Dropout", names{"x", "r", "t"}, names{"y"})}), "want one element"},
		{"a sparse constant", 13, []wire.Node{nodeOf("Constant", nil, names{"y"}, wire.Attribute{Name: "sparse_value", Kind: wire.AttrSparseTensor,
			SparseTensor: &wire.SparseTensor{Dims: []int64{huge}, Values: &wire.Tensor{DataType: wire.Int64, Dims: []int64{1}, Raw: make([]byte, 8)},
				Indices: &wire.Tensor{DataType: wire.Int64, Dims: []int64{1}, Raw: make([]byte, 8)}}})}, much},
		{"an outer sum in Einsum", 13, slices.Concat(zeros("a", 1<<25), zeros("b", 1<<25), []wire.Node{
			nodeOf("Einsum", names{"a", "b"}, names{"y"}, attrText("equation", "i,j->ij"))}), much},
	}
}

// TestHostile compiles and runs files of a few bytes that ask for tensors of
// terabytes: that is an error, and it comes before memory is taken for them.
func TestHostile(t *testing.T) {
	for _, h := range hostiles() {
		t.Run(h.what, func(t *testing.T) {
			m, err := Parse(addModel(func(m *wire.Model) {
				m.OpsetImports[0].Version = h.opset
				m.Graph.Nodes = h.nodes
			}))
			if err != nil {
				t.Fatal(err)
			}
			taken := allocated(func() {
				_, err = m.Run(t.Context(), map[string]*berth.Tensor{"x": counting(0, 2)})
				h.check(t, "run", err)
				_, err = m.Compile(t.Context(), nil)
				h.check(t, "compile", err)
			})
			if taken > 64<<20 {
				t.Errorf("took %d MB", taken>>20)
			}
		})
	}
}

func (h hostile) check(t *testing.T, what string, err error) {
	t.Helper()
	good := err != nil && strings.Contains(err.Error(), h.want)
	switch h.want {
	case "":
		good = err == nil
	case much:
		good = errors.Is(err, berth.ErrMemory) || errors.Is(err, berth.ErrBudget)
	}
	if !good {
		t.Errorf("%s: got %v, want %q", what, err, h.want)
	}
}

// allocated returns the bytes that f allocated, whether or not they are free
// again.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
