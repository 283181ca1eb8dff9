package pool

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op/optest"
)

// TestMaxRoi has regions of an image of 4 by 6 elements, 0 to 23 in rows.
func TestMaxRoi(t *testing.T) {
	plane := make([]float32, 24)
	for i := range plane {
		plane[i] = float32(i)
	}
	image := kerneltest.Of(dtype.Float32, plane, 1, 1, 4, 6)
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range []struct {
		what string
		op   MaxRoi
		roi  [5]float32
		want []float32
	}{
		{"all of it", MaxRoi{1, 1, 1}, [5]float32{0, 0, 0, 5, 3}, []float32{23}},
		{"even bins", MaxRoi{2, 2, 1}, [5]float32{0, 0, 0, 5, 3}, []float32{8, 11, 20, 23}},
		{"bins that overlap", MaxRoi{1, 2, 1}, [5]float32{0, 1, 1, 3, 1}, []float32{8, 9}},
		{"scaled and rounded", MaxRoi{1, 1, .5}, [5]float32{0, 1, 2, 4.8, 5}, []float32{20}},
		{"one element, though its end is first", MaxRoi{1, 1, 1}, [5]float32{0, 2, 1, 0, 0}, []float32{8}},
		{"more bins than elements", MaxRoi{1, 3, 1}, [5]float32{0, 1, 0, 2, 0}, []float32{1, 2, 2}},
		{"partly outside", MaxRoi{1, 2, 1}, [5]float32{0, 4, 0, 7, 0}, []float32{5, 0}},
		{"far outside", MaxRoi{1, 1, 1}, [5]float32{0, -9e30, -inf, 9e30, 0}, []float32{0}},
		{"nowhere", MaxRoi{1, 1, 1}, [5]float32{0, nan, 0, 2, 0}, []float32{0}},
	} {
		out := optest.Compute(t, c.op, image, kerneltest.Of(dtype.Float32, c.roi[:], 1, 5))
		optest.WantValues(t, c.what, out[0], c.want...)
	}
}

// TestMaxRoiStrides runs over operands with gaps, of several images and channels.
func TestMaxRoiStrides(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	o := MaxRoi{2, 2, 1}
	x := kerneltest.StridedInput(rng, dtype.Float64, 0, 2, 3, 4, 4)
	rois := kerneltest.Of(dtype.Float64, []float64{1, 0, 0, 3, 3, 0, 0, 0, 3, 3}, 2, 5)
	y := kerneltest.StridedOutput(rng, dtype.Float64, 0, 2, 3, 2, 2)
	types := []graph.Type{optest.Type(dtype.Float64, 2, 3, 4, 4), optest.Type(dtype.Float64, 2, 5)}
	k := o.Kernel(types, nil)
	if err := kerneltest.All(rng, k, []*kernel.Operand{x, rois}, []*kernel.Operand{y}); err != nil {
		t.Fatal(err)
	}
	kerneltest.CheckAllocs(t, k, []*kernel.Operand{x, rois}, []*kernel.Operand{y})
	values, got := kerneltest.Floats(x), kerneltest.Floats(y)
	kerneltest.ForEachIndex([]int{2, 3, 2, 2}, func(index []int) {
		at := func(i, j int) float64 {
			return values[kerneltest.Flat([]int{2, 3, 4, 4}, []int{1 - index[0], index[1], 2*index[2] + i, 2*index[3] + j})]
		}
		if want := max(at(0, 0), at(0, 1), at(1, 0), at(1, 1)); got[kerneltest.Flat([]int{2, 3, 2, 2}, index)] != want {
			t.Errorf("element %v is not %v", index, want)
		}
	})
	rois = kerneltest.Of(dtype.Float64, []float64{2, 0, 0, 3, 3, -1, 0, 0, 3, 3}, 2, 5)
	if err := kerneltest.Run(rng, k, []*kernel.Operand{x, rois}, []*kernel.Operand{y}); err == nil {
		t.Error("regions of images that are not there give no error")
	}
}

func TestMaxRoiInfer(t *testing.T) {
	o := MaxRoi{2, 3, 1}
	x, rois := optest.Float32(1, 4, 5, 6), optest.Float32(7, 5)
	optest.Infers(t, o, []graph.Type{x, rois}, "float32[7 4 2 3]")
	optest.Refuses(t, o, []graph.Type{x, optest.Float32(7, 4)}, "want 5 numbers each")
	optest.Refuses(t, o, []graph.Type{rois, rois}, "want 4 axes")
	optest.Refuses(t, MaxRoi{0, 3, 1}, []graph.Type{x, rois}, "0 x 3 bins")
	optest.Refuses(t, MaxRoi{2, 3, math.Inf(1)}, []graph.Type{x, rois}, "scale +Inf is not finite")
}
