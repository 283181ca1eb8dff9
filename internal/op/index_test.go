package op_test

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/shape"
)

type operands = []*kernel.Operand

// leafOf returns a leaf that holds data.
func leafOf[T any](t *testing.T, dt dtype.Type, data []T, dims ...int) graph.Value {
	t.Helper()
	o := kerneltest.Of(dt, data, dims...)
	n, err := graph.NewConstant(graph.Type{DType: dt, Shape: o.Shape}, graph.Leaf{Layout: shape.Dense(o.Shape), Data: o.Data})
	if err != nil {
		t.Fatal(err)
	}
	return n.Output(0)
}

// computed computes a tree of views and computing ops over constants, each
// value into dense memory of its own.
func computed[T any](t *testing.T, v graph.Value) []T {
	t.Helper()
	return kerneltest.Values[T](evaluate(t, v))
}

func evaluate(t *testing.T, v graph.Value) *kernel.Operand {
	t.Helper()
	n := v.Node()
	if leaf := n.Leaf(); leaf != nil {
		return &kernel.Operand{DType: v.Type().DType, Shape: leaf.Layout.Shape, Strides: leaf.Layout.Strides, Offset: leaf.Layout.Offset, Data: leaf.Data}
	}
	in := make(operands, n.NumInputs())
	types := make([]graph.Type, len(in))
	for i := range in {
		if !n.Input(i).IsZero() {
			in[i], types[i] = evaluate(t, n.Input(i)), n.Input(i).Type()
		}
	}
	if view, ok := n.Op().(graph.Viewer); ok {
		if l, ok := view.View(shape.Layout{Shape: in[0].Shape, Strides: in[0].Strides, Offset: in[0].Offset}); ok {
			return &kernel.Operand{DType: in[0].DType, Shape: l.Shape, Strides: l.Strides, Offset: l.Offset, Data: in[0].Data}
		}
	}
	out := kerneltest.Dense(v.Type().DType, v.Type().Shape...)
	k, err := op.KernelOf(n.Op(), types, []graph.Type{v.Type()})
	if err != nil {
		t.Fatal(err)
	}
	if err := kerneltest.Run(rand.New(rand.NewPCG(1, 1)), k, in, operands{out}); err != nil {
		t.Fatal(err)
	}
	return out
}

// typed parses types such as "float32[2 3]"; "_" is an absent input.
func typed(t *testing.T, text string) []graph.Type {
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

func element(t *testing.T, text string) op.Scalar {
	t.Helper()
	var e op.Scalar
	if err := e.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return e
}

func TestInferMovement(t *testing.T) {
	f32 := dtype.Float32
	for _, c := range []struct {
		op   graph.Op
		in   string
		want string // output types
	}{
		{op.Concat{Axis: 1}, "int8[2 3], int8[2 0], int8[2 4]", "int8[2 7]"},
		{op.Concat{Axis: -1}, "bool[5]", "bool[5]"},
		{op.Gather{Axis: 1}, "float32[2 3 4], int64[5 6]", "float32[2 5 6 4]"},
		{op.Gather{Axis: -1}, "float32[2 3], int32[]", "float32[2]"},
		{op.Gather{}, "float32[0], int32[0]", "float32[0]"},
		{op.GatherElements{Axis: 1}, "uint8[2 3], int64[1 9]", "uint8[1 9]"},
		{op.GatherND{}, "float32[2 3 4], int64[7 2]", "float32[7 4]"},
		{op.GatherND{BatchDims: 1}, "float32[2 3 4], int64[2 5 1]", "float32[2 5 4]"},
		{op.GatherND{}, "float32[2 3], int64[2]", "float32[]"},
		{op.GatherND{}, "float32[2 3], int64[7 0]", "float32[7 2 3]"},
		{op.ScatterElements{Axis: -1, Reduction: op.ReductionMax}, "float16[2 3], int64[2 9], float16[2 9]", "float16[2 3]"},
		{op.ScatterElements{}, "bool[3], int64[1], bool[1]", "bool[3]"},
		{op.ScatterND{Reduction: op.ReductionAdd}, "float32[2 3 4], int64[7 1], float32[7 3 4]", "float32[2 3 4]"},
		{op.ScatterND{}, "float32[], int64[7 0], float32[7]", "float32[]"},
		{op.Pad{Pads: []int{1, -2, 3, 4}}, "int16[2 3], int16[]", "int16[6 5]"},
		{op.Pad{Mode: op.PadWrap, Pads: []int{100, 0}}, "int16[1], _", "int16[101]"},
		{op.Pad{Pads: []int{0, 3}}, "int16[0]", "int16[3]"},
		{op.Pad{}, "int16[]", "int16[]"},
		{op.Tile{Repeats: []int{2, 0}}, "float64[3 4]", "float64[6 0]"},
		{op.Tile{}, "float64[]", "float64[]"},
		{op.OneHot{Axis: 1, Depth: 9}, "int32[2 3], bool[2]", "bool[2 9 3]"},
		{op.OneHot{Axis: -1}, "int64[], float32[2]", "float32[0]"},
		{op.Trilu{}, "float32[5 2 3]", "float32[5 2 3]"},
		{op.ReverseSequence{BatchAxis: 0, TimeAxis: -1}, "float32[2 3], int64[2]", "float32[2 3]"},
		{op.Fill{Shape: []int{2, 3}, Value: element(t, "7:uint8")}, "", "uint8[2 3]"},
		{op.Iota{N: 4, Start: element(t, "1:int64"), Delta: element(t, "-2:int64")}, "", "int64[4]"},
		{op.Eye{Rows: 2, Cols: 3, K: math.MinInt, DType: f32}, "", "float32[2 3]"},
		{op.Reshape{}, "int8[1 1]", "int8[]"},
		{op.Reshape{Shape: []int{0, 7}}, "int8[3 0]", "int8[0 7]"},
	} {
		out, err := c.op.Infer(typed(t, c.in))
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
		{op.Concat{}, "", "at least 1 input"},
		{op.Concat{}, "_", "input 0 is absent"},
		{op.Concat{}, "int8[]", "axis 0 is out of range"},
		{op.Concat{Axis: 2}, "int8[1 2]", "axis 2 is out of range"},
		{op.Concat{}, "int8[1 2], int16[1 2]", "input 1 is int16[1 2]"},
		{op.Concat{}, "int8[1 2], int8[1]", "input 1 is int8[1]"},
		{op.Concat{}, "int8[1 2], int8[1 3]", "differ at axis 1"},
		{op.Concat{}, fmt.Sprintf("int8[%d], int8[1]", shape.MaxElems), "more than"},
		{op.Gather{}, "int8[2]", "takes 2 inputs, got 1"},
		{op.Gather{}, "int8[2], _", "input 1 is absent"},
		{op.Gather{}, "int8[2], float32[1]", "float32[1], want int32 or int64"},
		{op.Gather{}, "int8[], int64[1]", "axis 0 is out of range"},
		{op.GatherElements{}, "int8[2 3], int64[1]", "indices int64[1] have 1 axes"},
		{op.GatherElements{}, "int8[2 3], int64[1 4]", "4 against 3 at axis 1"},
		{op.GatherND{}, "int8[2 3], int64[]", "0 batch axes do not fit"},
		{op.GatherND{}, "int8[2 3], int64[3]", "tuples of 3 indices"},
		{op.GatherND{BatchDims: 1}, "int8[2 3], int64[3 1]", "differ at batch axis 0"},
		{op.GatherND{BatchDims: 1}, "int8[2 3], int64[2 2]", "tuples of 2 indices"},
		{op.GatherND{BatchDims: -1}, "int8[2 3], int64[2 2]", "-1 batch axes"},
		{op.GatherND{BatchDims: 3}, "int8[2 3], int64[2 3 1 1]", "3 batch axes"},
		{op.ScatterElements{}, "int8[2], int64[1]", "takes 3 inputs, got 2"},
		{op.ScatterElements{}, "int8[2], int64[1], int8[2]", "updates are int8[2], want int8[1]"},
		{op.ScatterElements{}, "int8[2], int64[1], int16[1]", "updates are int16[1]"},
		{op.ScatterElements{Axis: 1}, "int8[2 3], int64[3 1], int8[3 1]", "3 against 2 at axis 0"},
		{op.ScatterElements{Reduction: op.ReductionAdd}, "bool[2], int64[1], bool[1]", "reduction add is not defined"},
		{op.ScatterElements{Reduction: 9}, "int8[2], int64[1], int8[1]", "no scatter reduction 9"},
		{op.ScatterND{}, "int8[2], int64[], int8[]", "tuples"},
		{op.ScatterND{}, "int8[2], int64[2], int8[]", "at most 1 indices"},
		{op.ScatterND{}, "int8[2 3], int64[5 1], int8[5 2]", "want int8[5 3]"},
		{op.ScatterND{Reduction: op.ReductionMin}, "bool[2], int64[1], bool[]", "reduction min is not defined"},
		{op.Pad{Pads: []int{1}}, "int8[2]", "1 pads for int8[2], want 2"},
		{op.Pad{Pads: []int{1, 1}}, "int8[2], int16[]", "value is int16[]"},
		{op.Pad{Pads: []int{1, 1}}, "int8[2], int8[2]", "value is int8[2]"},
		{op.Pad{Pads: []int{-2, -1}}, "int8[2]", "remove more than the 2 elements"},
		{op.Pad{Pads: []int{math.MinInt, math.MinInt}}, "int8[2]", "remove more than"},
		{op.Pad{Pads: []int{huge, huge}}, "int8[2]", "more than"},
		{op.Pad{Mode: op.PadEdge, Pads: []int{-1, 1}}, "int8[1]", "no element to pad from in mode edge"},
		{op.Pad{Mode: 7, Pads: []int{0, 0}}, "int8[1]", "no pad mode 7"},
		{op.Tile{Repeats: []int{1}}, "int8[]", "1 repeats for int8[], want 0"},
		{op.Tile{Repeats: []int{-1}}, "int8[3]", "-1 times"},
		{op.Tile{Repeats: []int{huge}}, "int8[3]", "more than"},
		{op.OneHot{Depth: -1}, "int64[3], int8[2]", "depth -1"},
		{op.OneHot{Depth: 1}, "int64[3], int8[3]", "values are int8[3]"},
		{op.OneHot{Axis: 2, Depth: 1}, "int64[3], int8[2]", "axis 2 is out of range"},
		{op.Trilu{}, "int8[3]", "fewer than 2 axes"},
		{op.ReverseSequence{}, "int8[3 4], int64[3]", "cannot be batch and time"},
		{op.ReverseSequence{TimeAxis: 2}, "int8[3 4], int64[3]", "axis 2 is out of range"},
		{op.ReverseSequence{TimeAxis: 1}, "int8[3 4], int64[4]", "each of the 3 sequences"},
		{op.Fill{Shape: []int{2}}, "", "invalid"},
		{op.Fill{Shape: []int{-2}, Value: element(t, "1:int8")}, "", "negative"},
		{op.Fill{Value: element(t, "1:int8")}, "int8[1]", "takes 0 inputs, got 1"},
		{op.Iota{N: -1, Start: element(t, "1:int8"), Delta: element(t, "1:int8")}, "", "negative"},
		{op.Iota{Start: element(t, "1:int8"), Delta: element(t, "1:int16")}, "", "of one type"},
		{op.Iota{Start: element(t, "1:bool"), Delta: element(t, "1:bool")}, "", "numbers"},
		{op.Iota{}, "", "not an element type"},
		{op.Eye{Rows: huge, Cols: huge, DType: dtype.Int8}, "", "more than"},
		{op.Reshape{Shape: []int{2, 4}}, "int8[2 3]", "6 elements, shape [2 4] has 8"},
		{op.Reshape{Shape: []int{-2, -3}}, "int8[2 3]", "negative"},
		{op.Reshape{Shape: []int{1 << (bits.UintSize / 2), 1 << (bits.UintSize / 2)}}, "int8[0]", "more than"},
		{op.Permute{Perm: []int{0}}, "int8[2 3]", "names 1 axes"},
		{op.Permute{Perm: []int{0, -2}}, "int8[2 3]", "not a permutation"},
		{op.SliceView{Axis: 2, N: 1, Step: 1}, "int8[2 3]", "axis 2"},
		{op.SliceView{N: 3, Step: 1}, "int8[2 3]", "does not lie in axis 0"},
		{op.SliceView{N: 1}, "int8[2 3]", "by 0"},
		{op.BroadcastTo{Shape: []int{2}}, "int8[2 3]", "more axes"},
		{op.BroadcastTo{Shape: []int{4, 3}}, "int8[2 3]", "2 against 4 at axis 0"},
		{op.Diagonal{}, "int8[2 3]", "same axis"},
		{op.Diagonal{Axis2: 2}, "int8[2 3]", "axis 2 is out of range"},
		{op.Permute{}, "", "takes 1 inputs, got 0"},
	} {
		out, err := c.op.Infer(typed(t, c.in))
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
	x := leafOf(t, dtype.Int32, []int32{1, 2, 3, 4, 5, 6}, 2, 3)
	ids := leafOf(t, dtype.Int64, []int64{-1, 0}, 2)
	for _, c := range []struct {
		op   graph.Op
		in   []graph.Value
		want []int32
	}{
		{op.Concat{Axis: -1}, []graph.Value{x, x}, []int32{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}},
		{op.Gather{Axis: -1}, []graph.Value{x, ids}, []int32{3, 1, 6, 4}},
		{op.GatherElements{Axis: -2}, []graph.Value{x, leafOf(t, dtype.Int32, []int32{1, 0, -1}, 1, 3)}, []int32{4, 2, 6}},
		{op.GatherND{BatchDims: 1}, []graph.Value{x, leafOf(t, dtype.Int32, []int32{1, 2}, 2, 1)}, []int32{2, 6}},
		{op.ScatterElements{Axis: -1, Reduction: op.ReductionMul}, []graph.Value{x, leafOf(t, dtype.Int32, []int32{1, 1}, 2, 1), leafOf(t, dtype.Int32, []int32{10, 20}, 2, 1)}, []int32{1, 20, 3, 4, 100, 6}},
		{op.ScatterND{Reduction: op.ReductionMin}, []graph.Value{x, leafOf(t, dtype.Int32, []int32{1}, 1), leafOf(t, dtype.Int32, []int32{9, 0, 9}, 3)}, []int32{1, 2, 3, 4, 0, 6}},
		{op.ScatterND{}, []graph.Value{x, leafOf(t, dtype.Int32, []int32{0, -1}, 2), leafOf(t, dtype.Int32, []int32{9})}, []int32{1, 2, 9, 4, 5, 6}},
		{op.Pad{Mode: op.PadReflect, Pads: []int{0, 1, -1, 0}}, []graph.Value{x}, []int32{2, 1, 2, 3}},
		{op.Pad{Pads: []int{0, 0, 0, 1}}, []graph.Value{x, leafOf(t, dtype.Int32, []int32{7})}, []int32{1, 2, 3, 7, 4, 5, 6, 7}},
		{op.Tile{Repeats: []int{1, 2}}, []graph.Value{x}, []int32{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}},
		{op.OneHot{Axis: -1, Depth: 3}, []graph.Value{ids, leafOf(t, dtype.Int32, []int32{5, 7}, 2)}, []int32{5, 5, 7, 7, 5, 5}},
		{op.Trilu{Upper: true, K: 1}, []graph.Value{x}, []int32{0, 2, 3, 0, 0, 6}},
		{op.ReverseSequence{TimeAxis: -1}, []graph.Value{x, leafOf(t, dtype.Int32, []int32{2, 3}, 2)}, []int32{2, 1, 3, 6, 5, 4}},
		{op.Fill{Shape: []int{2}, Value: element(t, "-3:int32")}, nil, []int32{-3, -3}},
		{op.Iota{N: 3, Start: element(t, "5:int32"), Delta: element(t, "-4:int32")}, nil, []int32{5, 1, -3}},
		{op.Eye{Rows: 2, Cols: 2, K: -1, DType: dtype.Int32}, nil, []int32{0, 0, 1, 0}},
	} {
		v, err := op.One(c.op, c.in...)
		if err != nil {
			t.Fatal(err)
		}
		got := computed[int32](t, v)
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
