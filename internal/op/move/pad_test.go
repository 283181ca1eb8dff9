package move

import (
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op/optest"
	"github.com/berth-go/berth/shape"
)

// padded returns the elements of one axis of n elements after cropping and
// padding, each as an index into the axis, or -1 for the constant. It builds
// the axis step by step, away from the arithmetic of the kernel.
func padded(n int, mode PadMode, before, after int) []int {
	var axis []int
	for i := range n {
		if i >= -before && i < n-max(-after, 0) {
			axis = append(axis, i)
		}
	}
	core := len(axis)
	// Walk outwards from both ends over the core.
	left := walker(core, mode, 0, -1)
	right := walker(core, mode, core-1, 1)
	out := make([]int, 0, max(before, 0)+core+max(after, 0))
	for range max(before, 0) {
		out = append(out, left())
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	for i := range core {
		out = append(out, i)
	}
	for range max(after, 0) {
		out = append(out, right())
	}
	for i, x := range out {
		if x >= 0 {
			out[i] = axis[x]
		}
	}
	return out
}

// walker returns successive elements outside a core of n elements, from its
// element at on in direction step.
func walker(n int, mode PadMode, at, step int) func() int {
	return func() int {
		switch {
		case mode == PadConstant:
			return -1
		case mode == PadReflect && n > 1:
			if at == 0 && step == -1 || at == n-1 && step == 1 {
				step = -step // bounce
			}
			at += step
		case mode == PadWrap:
			at += step
			if at < 0 {
				at = n - 1
			} else if at >= n {
				at = 0
			}
		}
		return at
	}
}

func TestPadded(t *testing.T) {
	for _, c := range []struct {
		mode PadMode
		want string
	}{{PadConstant, "vvvvvabcdvvvvv"}, {PadEdge, "aaaaaabcdddddd"}, {PadReflect, "bcdcbabcdcbabc"}, {PadWrap, "dabcdabcdabcda"}} {
		got := ""
		for _, x := range padded(4, c.mode, 5, 5) {
			got += "vabcd"[x+1 : x+2]
		}
		// Both the reference and, through it, the kernel follow NumPy.
		if got != c.want {
			t.Errorf("mode %d: %s, want %s", c.mode, got, c.want)
		}
	}
}

func TestPadLaysOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	x := optest.Float32(2, 5, 3, 4)
	for _, pads := range [][]int{{0, 0, 1, 2, 0, 0, 3, -1}, {1, 2, 0, 0, 0, 3, 0, -2}} {
		optest.LaysOut(t, rng, Pad{Pads: pads}, x, optest.Float32())
		optest.LaysOut(t, rng, Pad{Pads: pads, Mode: PadEdge}, x)
	}
	optest.LaysOut(t, rng, Pad{Pads: []int{0, 1, 2, 0, 0, 1}}, optest.Float32(2, 3, 4))
}

// Without elements there is no work, however far the other axes extend.
func TestPadOfNothing(t *testing.T) {
	x := &kernel.Operand{DType: dtype.Bool, Shape: []int{0, shape.MaxElems}, Strides: []int{shape.MaxElems, 1}}
	out := &kernel.Operand{DType: dtype.Bool, Shape: []int{0, shape.MaxElems + 1}, Strides: []int{shape.MaxElems + 1, 1}}
	k := newPad(1, PadConstant, []int{0, 1, 0, 0})
	k.Bind([]*kernel.Operand{x}, []*kernel.Operand{out})
	if n := k.Tasks(); n != 0 {
		t.Errorf("%d tasks for an output without elements", n)
	}
}

func TestPad(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	modes := []PadMode{PadConstant, PadEdge, PadReflect, PadWrap}
	for n := range 2500 {
		dt := anyType(rng)
		mode := modes[rng.IntN(len(modes))]
		dims := kerneltest.Shape(rng, 4, 6)
		if n%500 == 0 {
			dims = []int{2, 2 + rng.IntN(2), 20000}
		}
		rank := len(dims)
		pads := make([]int, 2*rank)
		axes := make([][]int, rank)
		to := make([]int, rank)
		for a, d := range dims {
			if rng.IntN(3) > 0 {
				pads[a], pads[rank+a] = rng.IntN(6), rng.IntN(6)
			}
			if d > 0 && rng.IntN(4) == 0 {
				pads[a] = -rng.IntN(d)
			}
			if d > 0 && rng.IntN(4) == 0 {
				pads[rank+a] = -rng.IntN(d + min(pads[a], 0))
			}
			if d == 0 && mode != PadConstant {
				pads[a], pads[rank+a] = 0, 0
			}
			axes[a] = padded(d, mode, pads[a], pads[rank+a])
			to[a] = len(axes[a])
		}
		data := kerneltest.StridedInput(rng, dt, 0, dims...)
		in := kerneltest.Operands{data, nil}
		var value uint64
		if rng.IntN(2) == 0 {
			in[1] = kerneltest.StridedInput(rng, dt, 0)
			value = tableOf(in[1]).bits[0]
		}
		want, d := newTable(to), tableOf(data)
		eachIndex(to, func(i []int) {
			from := make([]int, rank)
			for a, j := range i {
				if from[a] = axes[a][j]; from[a] < 0 {
					want.set(i, value)
					return
				}
			}
			want.set(i, d.at(from))
		})
		out := kerneltest.StridedOutput(rng, dt, 0, to...)
		check(t, rng, newPad(dt.Size(), mode, pads), in, out, want)
	}
}

func TestTile(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 2))
	for range kerneltest.Rounds(1500) {
		dt := anyType(rng)
		dims := kerneltest.Shape(rng, 4, 6)
		to := make([]int, len(dims))
		for a, d := range dims {
			to[a] = d * kerneltest.Extent(rng, 4)
		}
		in := kerneltest.StridedInput(rng, dt, 0, dims...)
		want, d := newTable(to), tableOf(in)
		eachIndex(to, func(i []int) {
			from := make([]int, len(i))
			for a := range i {
				from[a] = i[a] % dims[a]
			}
			want.set(i, d.at(from))
		})
		check(t, rng, newTile(dt.Size()), kerneltest.Operands{in}, kerneltest.StridedOutput(rng, dt, 0, to...), want)
	}
}

func BenchmarkPad(b *testing.B) {
	in, out := kerneltest.Dense(dtype.Float32, 64, 56, 56), kerneltest.Dense(dtype.Float32, 64, 58, 58)
	k := newPad(4, PadConstant, []int{0, 1, 1, 0, 1, 1})
	k.Bind(kerneltest.Operands{in}, kerneltest.Operands{out})
	b.SetBytes(int64(len(out.Data)))
	for b.Loop() {
		for task := range k.Tasks() {
			if err := k.Run(task, nil); err != nil {
				b.Fatal(err)
			}
		}
	}
}
