package onnx_test

import (
	"context"
	"fmt"
	"log"
	"slices"
	"strings"
	"sync"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/digits"
	"github.com/berth-go/berth/onnx"
)

// Classify images for many callers at a time: the model is loaded once, and each caller
// borrows one of four sessions, which share its weights.
func ExampleModel_NewPool() {
	ctx := context.Background()
	model, err := onnx.Load(digits.Files(), digits.ModelFile)
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	pool := model.NewPool(4, &onnx.SessionOptions{Workers: 1})
	defer pool.Close()

	classify := func(pixels []float32) (digit int, err error) {
		image, err := onnx.NewArray(pixels, 1, 1, 28, 28) // shares the memory of pixels
		if err != nil {
			return 0, err
		}
		outputs := map[string]onnx.Value{"probabilities": nil}
		if err := pool.Do(ctx, func(s *onnx.Session) error {
			return s.Run(ctx, map[string]onnx.Value{"image": image}, outputs)
		}); err != nil {
			return 0, err
		}
		p, err := onnx.Elements[float32](outputs["probabilities"].(*onnx.Array))
		if err != nil {
			return 0, err
		}
		return slices.Index(p, slices.Max(p)), nil
	}

	images, err := readImages()
	if err != nil {
		log.Fatal(err)
	}
	pixels, err := berth.Data[float32](images)
	if err != nil {
		log.Fatal(err)
	}
	read := make([]int, 10)
	var wg sync.WaitGroup
	for i := range read {
		wg.Go(func() {
			digit, err := classify(pixels[i*28*28:][:28*28])
			if err != nil {
				log.Print(err)
			}
			read[i] = digit
		})
	}
	wg.Wait()
	fmt.Println(read)
	// Output: [0 1 2 3 4 5 6 7 8 9]
}

// Turn sentences into vectors, any batch up to 8 and any length up to 32 words: one
// program, one arena, buffers of the caller.
func ExampleModel_Compile_sentenceEmbedder() {
	ctx := context.Background()
	model, err := onnx.Load(embedderFiles(), "embedder.onnx")
	if err != nil {
		log.Fatal(err)
	}
	prog, err := model.Compile(ctx, &onnx.Options{Vary: []berth.Dimension{berth.Dim("batch", 1, 8), berth.Dim("seq", 1, 32)}})
	if err != nil {
		log.Fatal(err)
	}
	inst, err := prog.NewInstance(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer inst.Close()

	vocabulary := map[string]int64{"the": 1, "cat": 2, "dog": 3, "ship": 4, "boat": 5}
	sentences := []string{"the cat", "the dog", "boat"}
	const seq = 2 // words of the longest
	ids, mask := make([]int64, len(sentences)*seq), make([]int64, len(sentences)*seq)
	for i, sentence := range sentences {
		for k, word := range strings.Fields(sentence) {
			ids[i*seq+k], mask[i*seq+k] = vocabulary[word], 1
		}
	}
	vectors := make([]float32, len(sentences)*2)
	err = inst.RunAt(ctx, berth.Extents{"batch": len(sentences), "seq": seq},
		berth.Values{"ids": ids, "mask": mask}, berth.Values{"embedding": vectors})
	if err != nil {
		log.Fatal(err)
	}
	likeness := func(i, k int) float32 { return vectors[2*i]*vectors[2*k] + vectors[2*i+1]*vectors[2*k+1] }
	fmt.Printf("cat and dog %.1f, cat and boat %.1f\n", likeness(0, 1), likeness(0, 2))
	// Output: cat and dog 1.0, cat and boat 0.3
}

// Write a text with a language model whose cache grows in place: the program extends past
// by present in one buffer, so that a step costs as much as its own letters do.
func ExampleModel_Compile_generation() {
	ctx := context.Background()
	model, err := onnx.Load(writerFiles(), "writer.onnx")
	if err != nil {
		log.Fatal(err)
	}
	opt := &onnx.Options{Vary: []berth.Dimension{berth.Dim("seq", 1, 4), berth.Dim("past", 0, 15)}}
	opt.Program.Extends = map[string]string{"present": "past"}
	prog, err := model.Compile(ctx, opt)
	if err != nil {
		log.Fatal(err)
	}
	inst, err := prog.NewInstance(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer inst.Close()
	cache, err := prog.NewBuffer("present") // as large as it may become
	if err != nil {
		log.Fatal(err)
	}

	const letters = "behrt"
	logits := make([]float32, 4*len(letters))
	text, past := "b", 0
	for ids := []int64{0}; len(text) < len(letters); {
		if err := inst.RunAt(ctx, berth.Extents{"seq": len(ids), "past": past},
			berth.Values{"ids": ids}, berth.Values{"logits": logits, "present": cache}); err != nil {
			log.Fatal(err)
		}
		past += len(ids)
		last := logits[(len(ids)-1)*len(letters):][:len(letters)]
		next := slices.Index(last, slices.Max(last))
		text += letters[next : next+1]
		ids = append(ids[:0], int64(next))
	}
	fmt.Println(text)
	// Output: berth
}

// Write a text in a session, which takes a cache of any length. What one step gives as
// present the next one takes as past; two arrays change places.
func ExampleSession_generation() {
	ctx := context.Background()
	model, err := onnx.Load(writerFiles(), "writer.onnx")
	if err != nil {
		log.Fatal(err)
	}
	session, err := model.NewSession(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	const letters = "behrt"
	ids := []int64{0, 1} // the prompt
	past, err := onnx.NewArray([]float32{}, 0, len(letters))
	if err != nil {
		log.Fatal(err)
	}
	present, logits := &onnx.Array{}, &onnx.Array{}
	text := "be"
	for len(text) < len(letters) {
		in, err := onnx.NewArray(ids, len(ids))
		if err != nil {
			log.Fatal(err)
		}
		if err := session.Run(ctx, map[string]onnx.Value{"ids": in, "past": past},
			map[string]onnx.Value{"logits": logits, "present": present}); err != nil {
			log.Fatal(err)
		}
		past, present = present, past
		scores, err := onnx.Elements[float32](logits)
		if err != nil {
			log.Fatal(err)
		}
		last := scores[len(scores)-len(letters):]
		next := slices.Index(last, slices.Max(last))
		text += letters[next : next+1]
		ids = []int64{int64(next)}
	}
	fmt.Println(text, past.Shape())
	// Output: berth [4 5]
}

// Hear voices in a stream, chunk by chunk. The session runs a model with an If at whatever
// rate comes; its state is carried from one chunk to the next in two arrays that change
// places.
func ExampleSession_voiceDetector() {
	ctx := context.Background()
	model, err := onnx.Load(detectorFiles(), "detector.onnx")
	if err != nil {
		log.Fatal(err)
	}
	session, err := model.NewSession(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	chunk := make([]float32, 16)
	samples, err := onnx.NewArray(chunk, len(chunk)) // the same memory
	if err != nil {
		log.Fatal(err)
	}
	rate, err := onnx.NewArray([]int64{16000})
	if err != nil {
		log.Fatal(err)
	}
	state, err := onnx.NewArray(make([]float32, 2), 2, 1, 1)
	if err != nil {
		log.Fatal(err)
	}
	next, probability := &onnx.Array{}, &onnx.Array{}
	inputs := map[string]onnx.Value{"samples": samples, "rate": rate}
	outputs := map[string]onnx.Value{"probability": probability}
	for _, loudness := range []float32{0, .5, .4, 0, 0, 0, 0, 0, 0} {
		for i := range chunk {
			chunk[i] = loudness * float32(1-2*(i%2))
		}
		inputs["state"], outputs["next_state"] = state, next
		if err := session.Run(ctx, inputs, outputs); err != nil {
			log.Fatal(err)
		}
		state, next = next, state
		p, err := onnx.Elements[float32](probability)
		if err != nil {
			log.Fatal(err)
		}
		if p[0] > 0.5 {
			fmt.Print("voice ")
		} else {
			fmt.Print("- ")
		}
	}
	fmt.Println(len(session.Describe().Segments), "segments")
	// Output: - voice voice voice voice voice - - - 2 segments
}

// Classify rows of a table. The labels are strings, and the probabilities of each row a
// map by label, as scikit-learn's converter writes them.
func ExampleModel_RunValues() {
	ctx := context.Background()
	model, err := onnx.Load(irisFiles(), "iris.onnx")
	if err != nil {
		log.Fatal(err)
	}
	petals, err := onnx.NewArray([]float32{1.4, 0.2, 4.7, 1.4, 6.0, 2.5}, 3, 2) // cm
	if err != nil {
		log.Fatal(err)
	}
	outputs, err := model.RunValues(ctx, nil, map[string]onnx.Value{"features": petals})
	if err != nil {
		log.Fatal(err)
	}
	labels, err := outputs["label"].(*onnx.Array).Strings()
	if err != nil {
		log.Fatal(err)
	}
	for i, row := range outputs["probabilities"].(onnx.Sequence) {
		names, err := row.(*onnx.Map).Keys.Strings()
		if err != nil {
			log.Fatal(err)
		}
		p, err := onnx.Elements[float32](row.(*onnx.Map).Values)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s %.2f\n", labels[i], p[slices.Index(names, labels[i])])
	}
	// Output:
	// setosa 1.00
	// versicolor 0.90
	// virginica 0.98
}
