package onnx_test

import (
	"context"
	"fmt"
	"log"
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/digits"
	"github.com/berth-go/berth/onnx"
)

// Load a model, look at what it takes, and run it step by step. The files may
// lie in any [io/fs.FS]; here they are a classifier of handwritten digits and a
// picture of each digit.
func Example() {
	model, err := onnx.Load(digits.Files(), digits.ModelFile)
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	fmt.Println("takes", model.Inputs()[0])
	fmt.Println("gives", model.Outputs()[0])

	images, err := readImages()
	if err != nil {
		log.Fatal(err)
	}
	out, err := model.Run(context.Background(), map[string]*berth.Tensor{"image": images})
	if err != nil {
		log.Fatal(err)
	}
	probabilities, err := berth.Data[float32](out["probabilities"])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(likeliestDigits(probabilities))
	// Output:
	// takes image FLOAT [N 1 28 28]
	// gives probabilities FLOAT [N 10]
	// [0 1 2 3 4 5 6 7 8 9]
}

// Compile a model for up to ten rows, when it is clear what memory it takes,
// and run it for three and for ten: each time in the same arena, with buffers
// of the caller.
func ExampleModel_Compile() {
	ctx := context.Background()
	model, err := onnx.Load(digits.Files(), digits.ModelFile)
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	prog, err := model.Compile(ctx, &onnx.Options{Rows: 10})
	if err != nil {
		log.Fatal(err)
	}
	mem := prog.Memory()
	fmt.Println("the arena is as small as can be:", mem.Arena == mem.LowerBound)

	inst, err := prog.NewInstance(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer inst.Close()
	images, err := readImages()
	if err != nil {
		log.Fatal(err)
	}
	pixels, err := berth.Data[float32](images)
	if err != nil {
		log.Fatal(err)
	}
	probabilities := make([]float32, 10*10)
	outputs := berth.Values{"probabilities": probabilities}
	for _, rows := range []int{3, 10} {
		if err := inst.Run(ctx, berth.Values{"image": pixels[:rows*28*28]}, outputs); err != nil {
			log.Fatal(err)
		}
		fmt.Println(likeliestDigits(probabilities[:rows*10]))
	}
	// Output:
	// the arena is as small as can be: true
	// [0 1 2]
	// [0 1 2 3 4 5 6 7 8 9]
}

func readImages() (*berth.Tensor, error) {
	f, err := digits.Files().Open(digits.ImagesFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return berth.ReadNPY(f)
}

// likeliestDigits returns the digit with the highest of each ten probabilities.
func likeliestDigits(probabilities []float32) []int {
	var digits []int
	for row := range slices.Chunk(probabilities, 10) {
		digits = append(digits, slices.Index(row, slices.Max(row)))
	}
	return digits
}
