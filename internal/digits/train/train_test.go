package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The gradient of every tensor agrees with differences of the loss itself.
func TestBackwardIsTheSlopeOfTheLoss(t *testing.T) {
	_, _, images := stored(t)
	net, grad, p := newWeights(), newWeights(), newPass()
	net.randomise(newRandom(7, streamWeights))
	random := newRandom(11, 0)
	for _, bias := range [][]float32{net.bias1, net.bias2, net.offset1} {
		// At a bias of zero, all the paper of an image sits on the kink of the rectifier.
		for j := range bias {
			bias[j] = 0.2 + 0.2*random.Float32()
		}
	}
	image := images[5]
	loss := func() float64 { return -math.Log(float64(p.forward(net, image.pixels)[image.label])) }
	loss()
	p.backward(net, grad, image.label)

	netWindows, gradWindows := net.windows(), grad.windows()
	for i, q := range parameters() {
		values, slopes := *netWindows[i], *gradWindows[i]
		checked, off := 0, 0
		for range 2000 {
			j := random.IntN(len(values))
			if math.Abs(float64(slopes[j])) < 1e-2 {
				continue // the loss is float32: differences of it say nothing about less
			}
			const step = 2e-3
			old := values[j]
			values[j] = old + step
			above := loss()
			values[j] = old - step
			below := loss()
			values[j] = old
			slope := (above - below) / (2 * step)
			checked++
			if math.Abs(slope-float64(slopes[j])) > 0.03*math.Abs(slope)+2e-3 {
				off++ // a step may cross a kink of a rectifier or a pool, so a few may
				t.Logf("%s[%d]: gradient %g, difference quotient %g", q.name, j, slopes[j], slope)
			}
			if checked == 40 {
				break
			}
		}
		if checked < 5 || off > checked/10 {
			t.Errorf("%s: %d of %d gradients are off", q.name, off, checked)
		}
	}
}

// A few epochs on ten images suffice to know them, distorted as they are.
func TestTrainingLearns(t *testing.T) {
	_, _, images := stored(t)
	net := newWeights()
	net.randomise(newRandom(1, streamWeights))
	tr := trainer{net: net, images: images, epochs: 40, seed: 1}
	first, _ := tr.epoch(0)
	last := first
	for epoch := 1; epoch < tr.epochs; epoch++ {
		last, _ = tr.epoch(epoch)
	}
	if correct := countCorrect(net, images); correct != len(images) || last > first/5 {
		t.Errorf("%d of %d images right, loss from %g to %g", correct, len(images), first, last)
	}
}

func TestTrainingRepeats(t *testing.T) {
	_, _, images := stored(t)
	run := func(seed uint64) []float32 {
		net := newWeights()
		net.randomise(newRandom(seed, streamWeights))
		tr := trainer{net: net, images: images, epochs: 3, seed: seed}
		for epoch := range tr.epochs {
			tr.epoch(epoch)
		}
		return net.all
	}
	a := run(3)
	if !slices.Equal(a, run(3)) {
		t.Error("the same seed gave other weights")
	}
	if slices.Equal(a, run(4)) {
		t.Error("another seed gave the same weights")
	}
}

// Distortion keeps about as much ink as there was, and moves some of it.
func TestDistort(t *testing.T) {
	_, _, images := stored(t)
	dst := make([]float32, pixels)
	random := newRandom(1, streamDistort)
	for _, d := range images {
		distort(dst, d.pixels, random)
		var before, after float32
		for i, v := range d.pixels {
			before += v
			after += dst[i]
			if dst[i] < 0 || dst[i] > 1 {
				t.Fatalf("digit %d: pixel %d is %g", d.label, i, dst[i])
			}
		}
		if ratio := after / before; ratio < 0.7 || ratio > 1.4 {
			t.Errorf("digit %d: %g times the ink", d.label, ratio)
		}
		if slices.Equal(dst, d.pixels) {
			t.Errorf("digit %d: nothing moved", d.label)
		}
	}
}

// load takes every tenth image of a digit for the test set and puts rounded pixels on the grid.
func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write := func(label int, text string) {
		t.Helper()
		name := filepath.Join(dir, "src", "digits", fmt.Sprintf("%d.json", label))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// Twelve images of each digit; all pixels of image i are i/255, to three decimals.
	var b strings.Builder
	for i := range 12 * pixels {
		fmt.Fprintf(&b, ",%.3f", float64(i/pixels)/255)
	}
	good := `{"data":[` + b.String()[1:] + `]}`
	for label := range classes {
		write(label, good)
	}
	training, test, err := load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(training) != 11*classes || len(test) != classes {
		t.Fatalf("%d training and %d test images, want %d and %d", len(training), len(test), 11*classes, classes)
	}
	if d := test[3]; d.label != 3 || d.pixels[0] != float32(9)/255 {
		t.Errorf("test image 3 is a %d of level %g, want a 3 of 9", d.label, d.pixels[0]*255)
	}

	for _, c := range []struct{ name, text, want string }{
		{"not JSON", "{", "4.json"},
		{"part of an image", `{"data":[0,0,0]}`, "3 values"},
		{"out of range", strings.Replace(good, "0.004", "1.004", 1), "1.004"},
	} {
		write(4, c.text)
		if _, _, err := load(dir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
	if _, _, err := load(filepath.Join(dir, "missing")); err == nil || !strings.Contains(err.Error(), "-data") {
		t.Errorf("no folder: error %v, want one that names the flag", err)
	}
}

// countCorrect counts the images that the network gets right.
func countCorrect(w *weights, images []digit) int {
	p, correct := newPass(), 0
	for i := range images {
		if argmax(p.forward(w, images[i].pixels)) == images[i].label {
			correct++
		}
	}
	return correct
}

// The stored model says that it gets 989 of 997 images right, which is not what
// it gets of ten.
func TestMeasure(t *testing.T) {
	_, _, images := stored(t)
	dir := t.TempDir()
	folder := filepath.Join(dir, "src", "digits")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for label, d := range images {
		pixels, err := json.Marshal(map[string]any{"data": slices.Repeat(d.pixels, testEvery)})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%d.json", label)), pixels, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var log strings.Builder
	err := measure(&log, dir, "..")
	if err == nil || !strings.Contains(err.Error(), "989 of 997") || log.String() != "10 of 10 test images (100.00%)\n" {
		t.Errorf("printed %q, error %v", log.String(), err)
	}
}
