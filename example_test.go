package berth_test

import (
	"context"
	"fmt"
	"log"

	"github.com/berth-go/berth"
)

func Example() {
	x, err := berth.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	if err != nil {
		log.Fatal(err)
	}
	y := x.Promise().MulScalar(2).AddScalar(1) // one node: 2x+1
	z := y.MatMul(y.Transpose())               // nothing has run yet
	out, err := z.Materialize(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	data, err := berth.Data[float32](out)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(out.Shape(), data)
	// Output: [2 2] [83 173 173 371]
}

func ExamplePromise_Plan() {
	a, _ := berth.FromSlice([]float32{1, 2, 3, 4}, 4)
	b, _ := berth.FromSlice([]float32{5, 6, 7, 8}, 4)
	sum := a.Promise().Add(b.Promise())
	p, err := sum.Sum().Plan()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(p)
	// Output:
	// step 0: add(leaf0, leaf1) -> %0 float32[4] allocate slot 0
	// step 1: reduce(%0) -> %1 float32[] allocate slot 1; drop 0
	// slot 0: 16 bytes, steps 0 to 1
	// slot 1: 4 bytes, steps 1 to kept
	// result %1: float32[] in slot 1
	// peak 20 bytes, 20 without reuse
}

func ExamplePromise_Err() {
	a, _ := berth.Zeros(berth.Float32, 2, 3)
	b, _ := berth.Zeros(berth.Float32, 4)
	broken := a.Promise().Add(b.Promise()).Exp()
	fmt.Println(broken.Err() != nil)
	// Output: true
}

func ExampleTensor_String() {
	t, _ := berth.Range[int64](0, 6, 1)
	m, err := t.Promise().Reshape(2, 3).Materialize(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m)
	// Output:
	// int64[2 3]
	// [[0 1 2]
	//  [3 4 5]]
}
