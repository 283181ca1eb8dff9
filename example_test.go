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
	y := x.Promise().MulScalar(2).AddScalar(1) // one step: 2x+1
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

func ExampleCompile() {
	ctx := context.Background()
	weights, _ := berth.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 3, 2)
	x := berth.Input("x", berth.Float32, berth.Dim("n", 1, 64), 3) // 1 to 64 rows
	y := x.MatMul(weights.Promise()).Relu()
	program, err := berth.Compile(ctx, berth.Outputs{"y": y}, nil)
	if err != nil {
		log.Fatal(err)
	}
	instance, err := program.NewInstance(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer instance.Close()
	out := make([]float32, 2*2)
	// Two rows, told by the length of the input. A run allocates nothing.
	err = instance.Run(ctx, berth.Values{"x": []float32{1, 0, 0, 0, -1, 0}}, berth.Values{"y": out})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(out)
	// Output: [1 2 0 0]
}

func ExampleTensor_Slice() {
	t, _ := berth.Range[int32](0, 10, 1)
	every3rd, _ := t.Slice(0, 1, 9, 3)
	reversed, _ := t.Slice(0, -1, -100, -1)
	fmt.Println(every3rd)
	fmt.Println(reversed)
	// Output:
	// int32[3] [1 4 7]
	// int32[10] [9 8 7 6 5 4 3 2 1 0]
}

func ExampleClose() {
	got, _ := berth.FromSlice([]float32{1, 2.5, 3}, 3)
	want, _ := berth.FromSlice([]float32{1, 2, 3}, 3)
	fmt.Println(berth.Close(got, want, 0, 0.1))
	// Output: berth: 1 of 3 elements of float32[3] differ; the one at [1] is 2.5, want 2
}
