package view_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/graphtest"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op/optest"
	"github.com/berth-go/berth/internal/op/view"
	"github.com/berth-go/berth/shape"
)

// places lists where the elements of l lie, in row-major order.
func places(l shape.Layout) []int {
	out := []int{}
	index := make([]int, len(l.Shape))
	var nest func(axis int)
	nest = func(axis int) {
		if axis == len(l.Shape) {
			out = append(out, l.At(index...))
			return
		}
		for index[axis] = range l.Shape[axis] {
			nest(axis + 1)
		}
	}
	nest(0)
	return out
}

// picked lists where the elements of a view lie: for each index of the
// output, where the input has the element that from names.
func picked(in shape.Layout, out shape.Shape, from func(index []int) []int) []int {
	var at []int
	for n := range out.Elems() {
		index := make([]int, len(out))
		for a := len(out) - 1; a >= 0; a-- {
			index[a] = n % out[a]
			n /= out[a]
		}
		at = append(at, in.At(from(index)...))
	}
	return at
}

func stridedLayout(rng *rand.Rand, dims []int) shape.Layout {
	o := kerneltest.StridedInput(rng, dtype.Uint8, 0, dims...)
	return shape.Layout{Shape: o.Shape, Strides: o.Strides, Offset: o.Offset}
}

// checkView compares what a view does to types and to layouts with a list of
// places.
func checkView(t *testing.T, v graph.Viewer, in shape.Layout, wantShape shape.Shape, from func(index []int) []int) {
	t.Helper()
	types, err := v.Infer([]graph.Type{{DType: dtype.Int16, Shape: in.Shape}})
	if err != nil {
		t.Fatalf("%+v of %v: %v", v, in, err)
	}
	if len(types) != 1 || types[0].DType != dtype.Int16 || !types[0].Shape.Equal(wantShape) {
		t.Fatalf("%+v of %v: types %v, want shape %v", v, in, types, wantShape)
	}
	out, ok := v.View(in)
	if !ok || !out.Shape.Equal(wantShape) {
		t.Fatalf("%+v of %v: view %v, %v, want shape %v", v, in, out, ok, wantShape)
	}
	if got, want := places(out), picked(in, wantShape, from); !slices.Equal(got, want) {
		t.Fatalf("%+v of %v is %v: elements at %v, want %v", v, in, out, got, want)
	}
}

func TestPermute(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		in := stridedLayout(rng, kerneltest.Shape(rng, 4, 4))
		perm := rng.Perm(len(in.Shape))
		want := make(shape.Shape, len(perm))
		given := slices.Clone(perm)
		for i, p := range perm {
			want[i] = in.Shape[p]
			if rng.IntN(2) == 0 {
				given[i] -= len(perm)
			}
		}
		checkView(t, view.Permute{Perm: given}, in, want, func(index []int) []int {
			from := make([]int, len(index))
			for i, p := range perm {
				from[p] = index[i]
			}
			return from
		})
	}
}

func TestSliceView(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		in := stridedLayout(rng, append(kerneltest.Shape(rng, 2, 4), kerneltest.Extent(rng, 6)))
		rank := len(in.Shape)
		axis := rng.IntN(rank)
		start, end, step := rng.IntN(19)-9, rng.IntN(19)-9, rng.IntN(7)-3
		if step == 0 {
			step = 1
		}
		first, n, err := view.SliceRange(start, end, step, in.Shape[axis])
		if err != nil {
			t.Fatal(err)
		}
		want := in.Shape.Clone()
		want[axis] = n
		checkView(t, view.SliceView{Axis: axis - rank*rng.IntN(2), Start: first, N: n, Step: step}, in, want, func(index []int) []int {
			index[axis] = first + index[axis]*step
			return index
		})
	}
}

// TestSliceRange compares with the elements that the slice names, taken one
// by one as Python's documentation of range describes them.
func TestSliceRange(t *testing.T) {
	far := []int{math.MinInt, math.MaxInt}
	for extent := range 6 {
		for _, step := range append([]int{-7, -3, -2, -1, 1, 2, 3, 7}, far...) {
			bounds := append([]int{-8, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 8}, far...)
			for _, start := range bounds {
				for _, end := range bounds {
					want := slice(start, end, step, extent)
					first, n, err := view.SliceRange(start, end, step, extent)
					if err != nil || n != len(want) || n > 0 && first != want[0] {
						t.Fatalf("%d:%d:%d of %d elements: %d elements from %d, %v, want %v", start, end, step, extent, n, first, err, want)
					}
				}
			}
		}
	}
	if _, _, err := view.SliceRange(0, 1, 0, 3); err == nil {
		t.Error("no error for step 0")
	}
}

// slice lists the elements of start:end:step.
func slice(start, end, step, extent int) []int {
	bound := func(b int) int {
		if b < 0 {
			b += extent
		}
		lo, hi := 0, extent
		if step < 0 {
			lo, hi = -1, extent-1
		}
		return min(max(b, lo), hi)
	}
	var at []int
	for i, last := bound(start), bound(end); step > 0 && i < last || step < 0 && i > last; {
		at = append(at, i)
		next := i + step
		if (next > i) != (step > 0) {
			break // overflow
		}
		i = next
	}
	return at
}

func TestBroadcastTo(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for range 1000 {
		in := stridedLayout(rng, kerneltest.Shape(rng, 3, 4))
		want := shape.Shape(append(kerneltest.Shape(rng, 2, 4), in.Shape...))
		lead := len(want) - len(in.Shape)
		for a, d := range in.Shape {
			if d == 1 {
				want[lead+a] = kerneltest.Extent(rng, 4)
			}
		}
		checkView(t, view.BroadcastTo{Shape: want}, in, want, func(index []int) []int {
			from := index[lead:]
			for a, d := range in.Shape {
				if d == 1 {
					from[a] = 0
				}
			}
			return from
		})
	}
}

func TestDiagonal(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 4))
	for range 2000 {
		in := stridedLayout(rng, append(kerneltest.Shape(rng, 2, 4), kerneltest.Extent(rng, 5), kerneltest.Extent(rng, 5)))
		rank := len(in.Shape)
		axes := rng.Perm(rank)
		a, b := axes[0], axes[1]
		offset := rng.IntN(13) - 6
		if rng.IntN(20) == 0 {
			offset = []int{math.MinInt, math.MaxInt}[rng.IntN(2)]
		}
		var want shape.Shape
		for x, d := range in.Shape {
			if x != a && x != b {
				want = append(want, d)
			}
		}
		var line [][2]int
		for i := range in.Shape[a] {
			for j := range in.Shape[b] {
				if j-i == offset {
					line = append(line, [2]int{i, j})
				}
			}
		}
		want = append(want, len(line))
		checkView(t, view.Diagonal{Axis1: a - rank*rng.IntN(2), Axis2: b, Offset: offset}, in, want, func(index []int) []int {
			at := line[index[len(index)-1]]
			var from []int
			for x, rest := 0, index; x < rank; x++ {
				switch x {
				case a:
					from = append(from, at[0])
				case b:
					from = append(from, at[1])
				default:
					from, rest = append(from, rest[0]), rest[1:]
				}
			}
			return from
		})
	}
}

func TestReshape(t *testing.T) {
	in := []graph.Type{{DType: dtype.Bool, Shape: shape.Shape{2, 6}}}
	o := view.Reshape{Shape: []int{3, 4}}
	out, err := o.Infer(in)
	if err != nil || out[0].String() != "bool[3 4]" {
		t.Fatalf("%v, %v", out, err)
	}
	if l, ok := o.View(shape.Dense(in[0].Shape)); !ok || !l.Equal(shape.Dense(shape.Shape{3, 4})) {
		t.Errorf("view of a dense layout: %v, %v", l, ok)
	}
	// Rows with gaps: no strides do, and the kernel copies.
	rng := rand.New(rand.NewPCG(1, 5))
	x := kerneltest.StridedInput(rng, dtype.Bool, 1, 2, 6)
	x.Strides = []int{7, 1}
	x.Data = append(x.Data, make([]byte, 32)...)
	kerneltest.Randomize(rng, x)
	if l, ok := o.View(shape.Layout{Shape: x.Shape, Strides: x.Strides}); ok {
		t.Errorf("view of rows with gaps: %v", l)
	}
	y := kerneltest.Dense(dtype.Bool, 3, 4)
	if err := kerneltest.Run(rng, o.Kernel(in, out), kerneltest.Operands{x}, kerneltest.Operands{y}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(kerneltest.Bytes(x), kerneltest.Bytes(y)) {
		t.Error("the kernel lost the order of elements")
	}
}

// TestBlocks compares depth-to-space with its definition, element by element,
// and space-to-depth with the inverse.
func TestBlocks(t *testing.T) {
	const n, c, h, w, b = 2, 12, 3, 2, 2
	data := make([]int32, n*c*h*w)
	for i := range data {
		data[i] = int32(i)
	}
	x := optest.LeafOf(t, dtype.Int32, data, n, c, h, w)
	depth := c / (b * b)
	for _, columnsFirst := range []bool{false, true} {
		y, err := view.DepthToSpace(x, b, columnsFirst)
		if err != nil {
			t.Fatal(err)
		}
		got := graphtest.Computed[int32](t, y)
		for i, v := range got {
			col, row, ch, img := i%(w*b), i/(w*b)%(h*b), i/(w*b*h*b)%depth, i/(w*b*h*b*depth)
			from := (row%b*b+col%b)*depth + ch
			if columnsFirst {
				from = ch*b*b + row%b*b + col%b
			}
			if want := int32(((img*c+from)*h+row/b)*w + col/b); v != want {
				t.Fatalf("columns first %v: element %d is %d, want %d", columnsFirst, i, v, want)
			}
		}
		if !columnsFirst {
			back, err := view.SpaceToDepth(y, b)
			if err != nil {
				t.Fatal(err)
			}
			if got := graphtest.Computed[int32](t, back); !slices.Equal(got, data) {
				t.Error("space to depth does not undo depth to space")
			}
		}
	}
	for _, f := range []func() error{
		func() error { _, err := view.DepthToSpace(x, 5, false); return err },
		func() error { _, err := view.DepthToSpace(x, 0, false); return err },
		func() error { _, err := view.DepthToSpace(x, math.MaxInt, false); return err },
		func() error { _, err := view.SpaceToDepth(x, 4); return err },
		func() error {
			_, err := view.SpaceToDepth(optest.LeafOf(t, dtype.Int32, data, len(data)), 2)
			return err
		},
		func() error {
			_, err := view.SpaceToDepth(optest.LeafOf(t, dtype.Int32, []int32{}, 1, 0, 0, 0), math.MaxInt)
			return err
		},
		func() error {
			_, err := view.DepthToSpace(optest.LeafOf(t, dtype.Int32, []int32{}, 1, 0, 3, 0), math.MaxInt, true)
			return err
		},
	} {
		if f() == nil {
			t.Error("no error for blocks that do not fit")
		}
	}
}
