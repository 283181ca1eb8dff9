package move_test

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/graphtest"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/internal/op/ops"
	"github.com/berth-go/berth/internal/op/optest"
	"github.com/berth-go/berth/internal/op/view"
	"github.com/berth-go/berth/shape"
)

func TestInferMovement(t *testing.T) {
	f32 := dtype.Float32
	for _, c := range []struct {
		op   graph.Op
		in   string
		want string // output types
	}{
		{move.Concat{Axis: 1}, "int8[2 3], int8[2 0], int8[2 4]", "int8[2 7]"},
		{move.Concat{Axis: -1}, "bool[5]", "bool[5]"},
		{move.Gather{Axis: 1}, "float32[2 3 4], int64[5 6]", "float32[2 5 6 4]"},
		{move.Gather{Axis: -1}, "float32[2 3], int32[]", "float32[2]"},
		{move.Gather{}, "float32[0], int32[0]", "float32[0]"},
		{move.GatherElements{Axis: 1}, "uint8[2 3], int64[1 9]", "uint8[1 9]"},
		{move.GatherND{}, "float32[2 3 4], int64[7 2]", "float32[7 4]"},
		{move.GatherND{BatchDims: 1}, "float32[2 3 4], int64[2 5 1]", "float32[2 5 4]"},
		{move.GatherND{}, "float32[2 3], int64[2]", "float32[]"},
		{move.GatherND{}, "float32[2 3], int64[7 0]", "float32[7 2 3]"},
		{move.ScatterElements{Axis: -1, Reduction: move.ReductionMax}, "float16[2 3], int64[2 9], float16[2 9]", "float16[2 3]"},
		{move.ScatterElements{}, "bool[3], int64[1], bool[1]", "bool[3]"},
		{move.ScatterND{Reduction: move.ReductionAdd}, "float32[2 3 4], int64[7 1], float32[7 3 4]", "float32[2 3 4]"},
		{move.ScatterND{}, "float32[], int64[7 0], float32[7]", "float32[]"},
		{move.Pad{Pads: []int{1, -2, 3, 4}}, "int16[2 3], int16[]", "int16[6 5]"},
		{move.Pad{Mode: move.PadWrap, Pads: []int{100, 0}}, "int16[1], _", "int16[101]"},
		{move.Pad{Pads: []int{0, 3}}, "int16[0]", "int16[3]"},
		{move.Pad{}, "int16[]", "int16[]"},
		{move.Tile{Repeats: []int{2, 0}}, "float64[3 4]", "float64[6 0]"},
		{move.Tile{}, "float64[]", "float64[]"},
		{move.OneHot{Axis: 1, Depth: 9}, "int32[2 3], bool[2]", "bool[2 9 3]"},
		{move.OneHot{Axis: -1}, "int64[], float32[2]", "float32[0]"},
		{move.Trilu{}, "float32[5 2 3]", "float32[5 2 3]"},
		{move.ReverseSequence{BatchAxis: 0, TimeAxis: -1}, "float32[2 3], int64[2]", "float32[2 3]"},
		{move.Fill{Shape: []int{2, 3}, Value: optest.Scalar(t, "7:uint8")}, "", "uint8[2 3]"},
		{move.Iota{N: 4, Start: optest.Scalar(t, "1:int64"), Delta: optest.Scalar(t, "-2:int64")}, "", "int64[4]"},
		{move.Eye{Rows: 2, Cols: 3, K: math.MinInt, DType: f32}, "", "float32[2 3]"},
		{view.Reshape{}, "int8[1 1]", "int8[]"},
		{view.Reshape{Shape: []int{0, 7}}, "int8[3 0]", "int8[0 7]"},
	} {
		out, err := c.op.Infer(parseTypes(t, c.in))
		if err != nil || len(out) != 1 || out[0].String() != c.want {
			t.Errorf("%s %+v of %s: %v, %v, want %s", c.op.Name(), c.op, c.in, out, err, c.want)
		}
	}
}

func TestInferMovementErrors(t *testing.T) {
	const huge = math.MaxInt
	for _, c := range []struct {
		op   graph.Op
		in   string
		want string // in the error
	}{
		{move.Concat{}, "", "at least 1 input"},
		{move.Concat{}, "_", "input 0 is absent"},
		{move.Concat{}, "int8[]", "axis 0 is out of range"},
		{move.Concat{Axis: 2}, "int8[1 2]", "axis 2 is out of range"},
		{move.Concat{}, "int8[1 2], int16[1 2]", "input 1 is int16[1 2]"},
		{move.Concat{}, "int8[1 2], int8[1]", "input 1 is int8[1]"},
		{move.Concat{}, "int8[1 2], int8[1 3]", "differ at axis 1"},
		{move.Concat{}, fmt.Sprintf("int8[%d], int8[1]", shape.MaxElems), "more than"},
		{move.Gather{}, "int8[2]", "takes 2 inputs, got 1"},
		{move.Gather{}, "int8[2], _", "input 1 is absent"},
		{move.Gather{}, "int8[2], float32[1]", "float32[1], want int32 or int64"},
		{move.Gather{}, "int8[], int64[1]", "axis 0 is out of range"},
		{move.GatherElements{}, "int8[2 3], int64[1]", "indices int64[1] have 1 axes"},
		{move.GatherElements{}, "int8[2 3], int64[1 4]", "4 against 3 at axis 1"},
		{move.GatherND{}, "int8[2 3], int64[]", "0 batch axes do not fit"},
		{move.GatherND{}, "int8[2 3], int64[3]", "tuples of 3 indices"},
		{move.GatherND{BatchDims: 1}, "int8[2 3], int64[3 1]", "differ at batch axis 0"},
		{move.GatherND{BatchDims: 1}, "int8[2 3], int64[2 2]", "tuples of 2 indices"},
		{move.GatherND{BatchDims: -1}, "int8[2 3], int64[2 2]", "-1 batch axes"},
		{move.GatherND{BatchDims: 3}, "int8[2 3], int64[2 3 1 1]", "3 batch axes"},
		{move.ScatterElements{}, "int8[2], int64[1]", "takes 3 inputs, got 2"},
		{move.ScatterElements{}, "int8[2], int64[1], int8[2]", "updates are int8[2], want int8[1]"},
		{move.ScatterElements{}, "int8[2], int64[1], int16[1]", "updates are int16[1]"},
		{move.ScatterElements{Axis: 1}, "int8[2 3], int64[3 1], int8[3 1]", "3 against 2 at axis 0"},
		{move.ScatterElements{Reduction: move.ReductionAdd}, "bool[2], int64[1], bool[1]", "reduction add is not defined"},
		{move.ScatterElements{Reduction: 9}, "int8[2], int64[1], int8[1]", "no scatter reduction 9"},
		{move.ScatterND{}, "int8[2], int64[], int8[]", "tuples"},
		{move.ScatterND{}, "int8[2], int64[2], int8[]", "at most 1 indices"},
		{move.ScatterND{}, "int8[2 3], int64[5 1], int8[5 2]", "want int8[5 3]"},
		{move.ScatterND{Reduction: move.ReductionMin}, "bool[2], int64[1], bool[]", "reduction min is not defined"},
		{move.Pad{Pads: []int{1}}, "int8[2]", "1 pads for int8[2], want 2"},
		{move.Pad{Pads: []int{1, 1}}, "int8[2], int16[]", "value is int16[]"},
		{move.Pad{Pads: []int{1, 1}}, "int8[2], int8[2]", "value is int8[2]"},
		{move.Pad{Pads: []int{-2, -1}}, "int8[2]", "remove more than the 2 elements"},
		{move.Pad{Pads: []int{math.MinInt, math.MinInt}}, "int8[2]", "remove more than"},
		{move.Pad{Pads: []int{huge, huge}}, "int8[2]", "more than"},
		{move.Pad{Mode: move.PadEdge, Pads: []int{-1, 1}}, "int8[1]", "no element to pad from in mode edge"},
		{move.Pad{Mode: 7, Pads: []int{0, 0}}, "int8[1]", "no pad mode 7"},
		{move.Tile{Repeats: []int{1}}, "int8[]", "1 repeats for int8[], want 0"},
		{move.Tile{Repeats: []int{-1}}, "int8[3]", "-1 times"},
		{move.Tile{Repeats: []int{huge}}, "int8[3]", "more than"},
		{move.OneHot{Depth: -1}, "int64[3], int8[2]", "depth -1"},
		{move.OneHot{Depth: 1}, "int64[3], int8[3]", "values are int8[3]"},
		{move.OneHot{Axis: 2, Depth: 1}, "int64[3], int8[2]", "axis 2 is out of range"},
		{move.Trilu{}, "int8[3]", "fewer than 2 axes"},
		{move.ReverseSequence{}, "int8[3 4], int64[3]", "cannot be batch and time"},
		{move.ReverseSequence{TimeAxis: 2}, "int8[3 4], int64[3]", "axis 2 is out of range"},
		{move.ReverseSequence{TimeAxis: 1}, "int8[3 4], int64[4]", "each of the 3 sequences"},
		{move.Fill{Shape: []int{2}}, "", "invalid"},
		{move.Fill{Shape: []int{-2}, Value: optest.Scalar(t, "1:int8")}, "", "negative"},
		{move.Fill{Value: optest.Scalar(t, "1:int8")}, "int8[1]", "takes 0 inputs, got 1"},
		{move.Iota{N: -1, Start: optest.Scalar(t, "1:int8"), Delta: optest.Scalar(t, "1:int8")}, "", "negative"},
		{move.Iota{Start: optest.Scalar(t, "1:int8"), Delta: optest.Scalar(t, "1:int16")}, "", "of one type"},
		{move.Iota{Start: optest.Scalar(t, "1:bool"), Delta: optest.Scalar(t, "1:bool")}, "", "numbers"},
		{move.Iota{}, "", "not an element type"},
		{move.Eye{Rows: huge, Cols: huge, DType: dtype.Int8}, "", "more than"},
		{view.Reshape{Shape: []int{2, 4}}, "int8[2 3]", "6 elements, shape [2 4] has 8"},
		{view.Reshape{Shape: []int{-2, -3}}, "int8[2 3]", "negative"},
		{view.Reshape{Shape: []int{1 << (bits.UintSize / 2), 1 << (bits.UintSize / 2)}}, "int8[0]", "more than"},
		{view.Permute{Perm: []int{0}}, "int8[2 3]", "names 1 axes"},
		{view.Permute{Perm: []int{0, -2}}, "int8[2 3]", "not a permutation"},
		{view.SliceView{Axis: 2, N: 1, Step: 1}, "int8[2 3]", "axis 2"},
		{view.SliceView{N: 3, Step: 1}, "int8[2 3]", "does not lie in axis 0"},
		{view.SliceView{N: 1}, "int8[2 3]", "by 0"},
		{view.BroadcastTo{Shape: []int{2}}, "int8[2 3]", "more axes"},
		{view.BroadcastTo{Shape: []int{4, 3}}, "int8[2 3]", "2 against 4 at axis 0"},
		{view.Diagonal{}, "int8[2 3]", "same axis"},
		{view.Diagonal{Axis2: 2}, "int8[2 3]", "axis 2 is out of range"},
		{view.Permute{}, "", "takes 1 input, got 0"},
	} {
		out, err := c.op.Infer(parseTypes(t, c.in))
		if err == nil && len(out) == 1 {
			err = out[0].Check() // what a node's constructor does
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %+v of %s: %v, error %v, want one with %q", c.op.Name(), c.op, c.in, out, err, c.want)
		}
	}
}

// TestMovementKernels runs each op once through its own kernel, to see that
// attributes reach it; the kernels have tests of their own.
func TestMovementKernels(t *testing.T) {
	x := optest.LeafOf(t, dtype.Int32, []int32{1, 2, 3, 4, 5, 6}, 2, 3)
	ids := optest.LeafOf(t, dtype.Int64, []int64{-1, 0}, 2)
	for _, c := range []struct {
		op   graph.Op
		in   []graph.Value
		want []int32
	}{
		{move.Concat{Axis: -1}, []graph.Value{x, x}, []int32{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}},
		{move.Gather{Axis: -1}, []graph.Value{x, ids}, []int32{3, 1, 6, 4}},
		{move.GatherElements{Axis: -2}, []graph.Value{x, optest.LeafOf(t, dtype.Int32, []int32{1, 0, -1}, 1, 3)}, []int32{4, 2, 6}},
		{move.GatherND{BatchDims: 1}, []graph.Value{x, optest.LeafOf(t, dtype.Int32, []int32{1, 2}, 2, 1)}, []int32{2, 6}},
		{move.ScatterElements{Axis: -1, Reduction: move.ReductionMul}, []graph.Value{x, optest.LeafOf(t, dtype.Int32, []int32{1, 1}, 2, 1), optest.LeafOf(t, dtype.Int32, []int32{10, 20}, 2, 1)}, []int32{1, 20, 3, 4, 100, 6}},
		{move.ScatterND{Reduction: move.ReductionMin}, []graph.Value{x, optest.LeafOf(t, dtype.Int32, []int32{1}, 1), optest.LeafOf(t, dtype.Int32, []int32{9, 0, 9}, 3)}, []int32{1, 2, 3, 4, 0, 6}},
		{move.ScatterND{}, []graph.Value{x, optest.LeafOf(t, dtype.Int32, []int32{0, -1}, 2), optest.LeafOf(t, dtype.Int32, []int32{9})}, []int32{1, 2, 9, 4, 5, 6}},
		{move.Pad{Mode: move.PadReflect, Pads: []int{0, 1, -1, 0}}, []graph.Value{x}, []int32{2, 1, 2, 3}},
		{move.Pad{Pads: []int{0, 0, 0, 1}}, []graph.Value{x, optest.LeafOf(t, dtype.Int32, []int32{7})}, []int32{1, 2, 3, 7, 4, 5, 6, 7}},
		{move.Tile{Repeats: []int{1, 2}}, []graph.Value{x}, []int32{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}},
		{move.OneHot{Axis: -1, Depth: 3}, []graph.Value{ids, optest.LeafOf(t, dtype.Int32, []int32{5, 7}, 2)}, []int32{5, 5, 7, 7, 5, 5}},
		{move.Trilu{Upper: true, K: 1}, []graph.Value{x}, []int32{0, 2, 3, 0, 0, 6}},
		{move.ReverseSequence{TimeAxis: -1}, []graph.Value{x, optest.LeafOf(t, dtype.Int32, []int32{2, 3}, 2)}, []int32{2, 1, 3, 6, 5, 4}},
		{move.Fill{Shape: []int{2}, Value: optest.Scalar(t, "-3:int32")}, nil, []int32{-3, -3}},
		{move.Iota{N: 3, Start: optest.Scalar(t, "5:int32"), Delta: optest.Scalar(t, "-4:int32")}, nil, []int32{5, 1, -3}},
		{move.Eye{Rows: 2, Cols: 2, K: -1, DType: dtype.Int32}, nil, []int32{0, 0, 1, 0}},
	} {
		v, err := ops.One(c.op, c.in...)
		if err != nil {
			t.Fatal(err)
		}
		got := graphtest.Computed[int32](t, v)
		if len(got) != len(c.want) {
			t.Fatalf("%s: %v, want %v", c.op.Name(), got, c.want)
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s %+v: %v, want %v", c.op.Name(), c.op, got, c.want)
				break
			}
		}
	}
}

func TestPadModeText(t *testing.T) { optest.Enum(t, move.PadWrap) }

func TestReductionText(t *testing.T) { optest.Enum(t, move.ReductionMin) }

// parseTypes parses types such as "float32[2 3]"; "_" is an absent input.
func parseTypes(t *testing.T, text string) []graph.Type {
	t.Helper()
	var types []graph.Type
	for word := range strings.SplitSeq(text, ", ") {
		var typ graph.Type
		if word != "_" && word != "" {
			name, dims, ok := strings.Cut(strings.TrimSuffix(word, "]"), "[")
			dt, err := dtype.Parse(name)
			if err != nil || !ok {
				t.Fatalf("type %q: %v", word, err)
			}
			typ = graph.Type{DType: dt, Shape: shape.Shape{}}
			for d := range strings.FieldsSeq(dims) {
				n := 0
				for _, c := range d {
					n = n*10 + int(c-'0')
				}
				typ.Shape = append(typ.Shape, n)
			}
		}
		if word != "" {
			types = append(types, typ)
		}
	}
	return types
}
