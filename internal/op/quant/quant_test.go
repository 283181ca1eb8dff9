package quant

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/race"
	"github.com/berth-go/berth/shape"
)

// eightBits are the types of quantised numbers.
var eightBits = []dtype.Type{dtype.Int8, dtype.Uint8}

func anEightBit(rng *rand.Rand) dtype.Type { return eightBits[rng.IntN(len(eightBits))] }

// element returns an element of o, 0 where it is absent, by the index of an output it broadcasts to.
func element(o *kernel.Operand, index ...int) float64 {
	if o == nil {
		return 0
	}
	at := o.Offset
	for axis, d := range o.Shape {
		if d != 1 {
			at += index[len(index)-len(o.Shape)+axis] * o.Strides[axis]
		}
	}
	return kernel.ScalarAt(o.DType, o.Data, at).Float64()
}

// quantised is what a result of type t is of the exact sum s, which wraps.
func quantised(t dtype.Type, s int64, scale float32, zero float64) float64 {
	if t == dtype.Int32 {
		return float64(int32(s))
	}
	least, most := 0., 255.
	if t == dtype.Int8 {
		least, most = -128, 127
	}
	v := math.RoundToEven(float64(float32(int32(s))*scale)) + zero
	if !(v >= least) {
		return least
	}
	return min(v, most)
}

// optional draws the inputs after the first two, absent ones among them. Shapes has
// those that each may have.
func optional(rng *rand.Rand, to, left, right dtype.Type, shapes [numInputs][]shape.Shape) []*kernel.Operand {
	in := make([]*kernel.Operand, numInputs)
	types := [numInputs]dtype.Type{inZeroLeft: left, inZeroRight: right, inScale: dtype.Float32, inZeroOut: to, inBias: dtype.Int32}
	for i := inZeroLeft; i < numInputs; i++ {
		quantised := i == inScale || i == inZeroOut
		if quantised && to == dtype.Invalid || i != inScale && rng.IntN(3) == 0 {
			continue
		}
		s := shapes[i][rng.IntN(len(shapes[i]))]
		in[i] = kerneltest.StridedInput(rng, types[i], 0, s...)
		if i == inScale {
			for k, v := range kernel.Slice[float32](in[i]) {
				kernel.Slice[float32](in[i])[k] = v * 1e-3
			}
		}
	}
	if b := in[inBias]; b != nil && rng.IntN(2) == 0 { // of the size of sums
		for k, v := range kernel.Slice[int32](b) {
			kernel.Slice[int32](b)[k] = v >> 16
		}
	}
	return in
}

func typesOf(in []*kernel.Operand) []graph.Type {
	types := make([]graph.Type, len(in))
	for i, o := range in {
		if o != nil {
			types[i] = graph.Type{DType: o.DType, Shape: o.Shape}
		}
	}
	return types
}

// checkOp runs o over operands with strides, prepacked and not, and compares each
// element of the result with want.
func checkOp(t *testing.T, rng *rand.Rand, o op.Strider, in []*kernel.Operand, want func(index []int) float64) {
	t.Helper()
	types := typesOf(in)
	out, err := o.Infer(types)
	if err != nil {
		t.Fatalf("%s of %v: %v", op.Format(o), types, err)
	}
	y := kerneltest.StridedOutput(rng, out[0].DType, op.DenseAxes(o, -1, len(out[0].Shape)), out[0].Shape...)
	outs := []*kernel.Operand{y}
	for set := range kerneltest.Sets() {
		k := o.Kernel(types, out)
		run := func(how string, in []*kernel.Operand) {
			t.Helper()
			what := fmt.Sprintf("%s, %s: %s of %v", set, how, op.Format(o), types)
			if err := kerneltest.All(rng, k, in, outs); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if race.Enabled {
				return // which is about tasks, and not about numbers
			}
			kerneltest.ForEachIndex(y.Shape, func(index []int) {
				if got, want := element(y, index...), want(index); got != want {
					t.Fatalf("%s: element %v is %v, want %v", what, index, got, want)
				}
			})
			kerneltest.CheckAllocs(t, k, in, outs)
		}
		run("plain", in)
		if _, ok := k.(kernel.Prepacker); ok {
			if without := kerneltest.Prepack(k, in, outs, inRight); without != nil {
				run("prepacked", without)
			}
		}
	}
}

// anExtent is mostly small, now and then one that takes several tiles.
func anExtent(rng *rand.Rand) int {
	if rng.IntN(8) == 0 {
		return 1 + rng.IntN(80)
	}
	return kerneltest.Extent(rng, 12)
}

// TestMatMul compares with the sum that [product] states, of every element.
func TestMatMul(t *testing.T) {
	rng := rand.New(rand.NewPCG(40, 1))
	for range kerneltest.Rounds(300) {
		m, n, k := anExtent(rng), anExtent(rng), anExtent(rng)
		if rng.IntN(6) == 0 {
			k = 200 + rng.IntN(400) // several blocks of terms
		}
		if rng.IntN(5) == 0 {
			m = 1 // batches become rows
		}
		var batchA, batchB, batch []int
		for range rng.IntN(3) {
			d := kerneltest.Extent(rng, 4)
			batch = append(batch, d)
			da, db := d, d
			switch rng.IntN(4) {
			case 0:
				da = 1
			case 1:
				db = 1
			case 2:
				if len(batchB) == 0 {
					batchA = append(batchA, da)
					continue
				}
			}
			batchA, batchB = append(batchA, da), append(batchB, db)
		}
		to := []dtype.Type{dtype.Invalid, dtype.Int8, dtype.Uint8}[rng.IntN(3)]
		left, right := anEightBit(rng), anEightBit(rng)
		with := func(dims []int, more ...int) shape.Shape { return append(append(shape.Shape{}, dims...), more...) }
		of := func(m, n int) []shape.Shape {
			shapes := []shape.Shape{{}, {1}, {n}, {m, 1}, {m, n}, with(batch, m, n), with(batch, m, 1), with(batch, 1, n)}
			var fit []shape.Shape
			for _, s := range shapes {
				if full, err := shape.Broadcast(s, with(batch, m, n)); err == nil && full.Equal(with(batch, m, n)) {
					fit = append(fit, s)
				}
			}
			return fit
		}
		in := optional(rng, to, left, right, [numInputs][]shape.Shape{
			inZeroLeft: of(m, 1), inZeroRight: of(1, n), inScale: of(m, n), inZeroOut: of(m, n), inBias: of(m, n),
		})
		in[inLeft] = kerneltest.StridedInput(rng, left, 0, with(batchA, m, k)...)
		in[inRight] = kerneltest.StridedInput(rng, right, 0, with(batchB, k, n)...)
		want := func(index []int) float64 {
			last := len(index) - 1
			s := int64(element(in[inBias], index...))
			zeroA, zeroB := element(in[inZeroLeft], with(index[:last], 0)...), element(in[inZeroRight], with(index[:last-1], 0, index[last])...)
			for p := range k {
				a := element(in[inLeft], with(index[:last], p)...)
				b := element(in[inRight], with(index[:last-1], p, index[last])...)
				s += int64((a - zeroA) * (b - zeroB))
			}
			t := to
			if to == dtype.Invalid {
				t = dtype.Int32
			}
			return quantised(t, s, float32(element(in[inScale], index...)), element(in[inZeroOut], index...))
		}
		checkOp(t, rng, MatMul{To: to}, in, want)
	}
}

// TestConv compares with the sum over all taps that meet the image.
func TestConv(t *testing.T) {
	rng := rand.New(rand.NewPCG(40, 2))
	for range kerneltest.Rounds(250) {
		axes := 1 + rng.IntN(3)
		group := 1 + rng.IntN(3)
		each, deep := kerneltest.Extent(rng, 7), kerneltest.Extent(rng, 6)
		if rng.IntN(10) == 0 {
			each, deep = 20+rng.IntN(50), 20 // several blocks of rows
		}
		x, w := shape.Shape{kerneltest.Extent(rng, 3), group * deep}, shape.Shape{group * each, deep}
		c := Conv{Group: group, To: []dtype.Type{dtype.Invalid, dtype.Int8, dtype.Uint8}[rng.IntN(3)]}
		for range axes {
			taps, dilation := 1+rng.IntN(3), 1+rng.IntN(2)
			w = append(w, taps)
			c.Strides, c.Dilations = append(c.Strides, 1+rng.IntN(2)), append(c.Dilations, dilation)
			x = append(x, (taps-1)*dilation+rng.IntN(9))
		}
		for range 2 * axes {
			c.Pads = append(c.Pads, rng.IntN(3))
		}
		for i := range axes { // wide enough for one position
			x[2+i] = max(x[2+i]-c.Pads[i]-c.Pads[axes+i], (w[2+i]-1)*c.Dilations[i]+1-c.Pads[i]-c.Pads[axes+i], 0)
		}
		checkConv(t, rng, c, x, w)
	}
}

// TestConvBands has images that fall into several bands of rows.
func TestConvBands(t *testing.T) {
	rng := rand.New(rand.NewPCG(40, 4))
	for range 2 {
		to := []dtype.Type{dtype.Invalid, dtype.Int8, dtype.Uint8}[rng.IntN(3)]
		checkConv(t, rng, Conv{Pads: []int{1, 1, 1, 1}, To: to}, shape.Shape{1, 1, 70, 64}, shape.Shape{2, 1, 3, 3})
		checkConv(t, rng, Conv{Strides: []int{2, 2}, Pads: []int{0, 1, 3, 2}, To: to}, shape.Shape{1, 3, 70, 129}, shape.Shape{4, 3, 3, 3})
	}
}

// checkConv compares c of an image and weights of the given shapes, of any types, with the
// sum over all taps that meet the image.
func checkConv(t *testing.T, rng *rand.Rand, c Conv, x, w shape.Shape) {
	t.Helper()
	left, right := anEightBit(rng), anEightBit(rng)
	group, deep := max(c.Group, 1), w[1]
	each := w[0] / group
	one, channels := []shape.Shape{{}, {1}}, []shape.Shape{{}, {1}, {w[0]}}
	strides, dilations := c.Strides, c.Dilations
	if strides == nil {
		strides = []int{1, 1}
	}
	if dilations == nil {
		dilations = []int{1, 1}
	}
	in := optional(rng, c.To, left, right, [numInputs][]shape.Shape{
		inZeroLeft: one, inZeroRight: channels, inScale: channels, inZeroOut: one, inBias: channels,
	})
	in[inLeft] = kerneltest.StridedInput(rng, left, len(x)-1, x...)
	in[inRight] = kerneltest.StridedInput(rng, right, len(w), w...)
	want := func(index []int) float64 {
		m := index[1]
		zeroX, zeroW := element(in[inZeroLeft], 0), element(in[inZeroRight], m)
		s := int64(element(in[inBias], m))
		kerneltest.ForEachIndex(w[1:], func(tap []int) {
			at := []int{index[0], m/each*deep + tap[0]}
			for i, t := range tap[1:] {
				p := index[2+i]*strides[i] + t*dilations[i] - c.Pads[i]
				if p < 0 || p >= x[2+i] {
					return
				}
				at = append(at, p)
			}
			s += int64((element(in[inLeft], at...) - zeroX) * (element(in[inRight], append([]int{m}, tap...)...) - zeroW))
		})
		t := c.To
		if t == dtype.Invalid {
			t = dtype.Int32
		}
		return quantised(t, s, float32(element(in[inScale], m)), element(in[inZeroOut], 0))
	}
	checkOp(t, rng, c, in, want)
}
