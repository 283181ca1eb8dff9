package pack_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/berth-go/berth/pack"
)

// Three tensors of a small network: x is read by both steps, h and y only meet
// in the second.
func Example() {
	buffers := []pack.Buffer{
		{ID: "x", Start: 0, End: 2, Size: 400},
		{ID: "h", Start: 0, End: 2, Size: 1000},
		{ID: "t", Start: 0, End: 1, Size: 200},
		{ID: "y", Start: 1, End: 3, Size: 200},
	}
	pl, err := pack.Place(context.Background(), buffers, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("arena", pl.Arena, "optimal", pl.Optimal)
	fmt.Println("t and y share bytes:", pl.Offsets[2] == pl.Offsets[3])
	// Output:
	// arena 1600 optimal true
	// t and y share bytes: true
}

// A buffer that grows: its second half is only written in step 2, and until then
// another buffer may lie there.
func ExamplePart() {
	buffers := []pack.Buffer{
		{ID: "cache", Start: 0, End: 4, Size: 512, Parts: []pack.Part{
			{Start: 0, End: 2, Lower: 0, Upper: 256},
			{Start: 2, End: 4, Lower: 0, Upper: 512},
		}},
		{ID: "scratch", Start: 0, End: 2, Size: 256},
	}
	pl, err := pack.Place(context.Background(), buffers, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(pl.Arena, pl.Offsets)
	// Output: 512 [0 256]
}

// A capacity that is too small is an error with the figures in it.
func ExampleCapacityError() {
	buffers := []pack.Buffer{
		{Start: 0, End: 2, Size: 600},
		{Start: 1, End: 3, Size: 600},
	}
	_, err := pack.Place(context.Background(), buffers, &pack.Options{Capacity: 1000})
	var ce *pack.CapacityError
	if errors.As(err, &ce) {
		fmt.Println(ce.Required, "of", ce.Capacity, "bytes; proven:", ce.Proven)
	}
	// Output: 1200 of 1000 bytes; proven: true
}

func ExampleReadCSV() {
	buffers, _, err := pack.ReadCSV(strings.NewReader("id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	pl, err := pack.Place(context.Background(), buffers, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	pack.WriteCSV(os.Stdout, buffers, pl.Offsets)
	// Output:
	// id,lower,upper,size,offset
	// b1,0,3,4,0
	// b2,3,9,4,0
}
