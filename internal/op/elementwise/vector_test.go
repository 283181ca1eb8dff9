package elementwise

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
)

// TestVector compares vectors of all lengths about that of a block with a map, bit
// for bit: with results over an input, constants that are spread out, and results of
// another type in between.
func TestVector(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, text := range []string{
		"t0=add(x0,x1)",
		"t0=sigmoid(x0);t1=sub(1:float32,t0);t2=mul(t1,x1);t3=tanh(t2);t4=add(t3,x0)",
		"t0=ge(x0,0.5:float32);t1=where(t0,x1,0:float32)",
		"t0=clip(x0,-0.5:float32,0.5:float32);t1=atan2(2:float32,t0);t2=mul(t1,x1)",
	} {
		var p Program
		if err := p.UnmarshalText([]byte(text)); err != nil {
			t.Fatal(err)
		}
		v := VectorOf(p, dtype.Float32, 2)
		for _, n := range []int{0, 1, 2, 7, 64, v.kernel.block - 1, v.kernel.block, v.kernel.block + 1, 2*vectorBlock + 5} {
			a, b := kerneltest.StridedInput(rng, dtype.Float32, 1, n), kerneltest.StridedInput(rng, dtype.Float32, 1, n)
			want := kerneltest.Dense(dtype.Float32, n)
			typ := graph.Type{DType: dtype.Float32, Shape: []int{n}}
			m := Map{p}.Kernel([]graph.Type{typ, typ}, []graph.Type{typ})
			if err := kerneltest.Run(rng, m, []*kernel.Operand{a, b}, []*kernel.Operand{want}); err != nil {
				t.Fatal(err)
			}
			scratch := kernel.Alloc(v.Scratch())
			kernel.Fill(scratch, 0xff)
			in := [MaxInputs][]byte{kernel.Bytes(kernel.Slice[float32](a)[a.Offset:]), kernel.Bytes(kerneltest.Values[float32](b))}
			dst := in[1] // an input, of as many elements as the result
			if err := v.Run(dst, &in, scratch); err != nil {
				t.Fatal(err)
			}
			if got := kernel.Cast[float32](dst); !slices.Equal(got, kernel.Slice[float32](want)) {
				t.Errorf("%s of %d elements: %v, want %v", text, n, got, kernel.Slice[float32](want))
			}
		}
	}
}
