package main

import (
	"bufio"
	"bytes"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/berth-go/berth"

	"github.com/berth-go/berth/internal/digits"
)

// stored returns the embedded model and its images as digits 0 to 9.
func stored(t testing.TB) (file []byte, net *weights, images []digit) {
	t.Helper()
	read := func(name string) []byte {
		b, err := fs.ReadFile(digits.Files(), name)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	file = read(digits.ModelFile)
	net, _, err := decodeModel(file)
	if err != nil {
		t.Fatal(err)
	}
	samples, err := berth.ReadNPY(bytes.NewReader(read(digits.ImagesFile)))
	if err != nil {
		t.Fatal(err)
	}
	all, err := berth.Data[float32](samples)
	if err != nil {
		t.Fatal(err)
	}
	for label := range classes {
		images = append(images, digit{label, all[label*pixels:][:pixels]})
	}
	return file, net, images
}

// The expected probabilities come from another implementation, running the file itself: so this
// holds the graph in the file to be what forward computes, padding and pooling included.
func TestForwardEqualsONNXRuntime(t *testing.T) {
	f, err := os.Open(filepath.Join("..", "testdata", "onnxruntime.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var want [][]float64
	for s := bufio.NewScanner(f); s.Scan(); {
		if strings.HasPrefix(s.Text(), "#") {
			continue
		}
		var row []float64
		for field := range strings.FieldsSeq(s.Text()) {
			v, err := strconv.ParseFloat(field, 64)
			if err != nil {
				t.Fatal(err)
			}
			row = append(row, v)
		}
		want = append(want, row)
	}

	_, net, images := stored(t)
	if len(want) != len(images) {
		t.Fatalf("%d lines of probabilities, %d images", len(want), len(images))
	}
	p := newPass()
	for i, image := range images {
		got := p.forward(net, image.pixels)
		if label := argmax(got); label != image.label {
			t.Errorf("image %d is read as %d", i, label)
		}
		if len(want[i]) != classes {
			t.Fatalf("image %d: %d expected probabilities, want %d", i, len(want[i]), classes)
		}
		for j, v := range got {
			// Logits differ in the last bits, so small probabilities agree in proportion.
			if diff := math.Abs(float64(v) - want[i][j]); diff > 1e-6+1e-4*want[i][j] {
				t.Errorf("image %d: probability of %d is %g, want %g", i, j, v, want[i][j])
			}
		}
	}
}

// Encoding what was decoded gives the stored file again: it is what this program writes.
func TestStoredModelIsWhatEncodeModelWrites(t *testing.T) {
	file, net, _ := stored(t)
	if got := encodeModel(net, result{correct: 989, images: 997}); !bytes.Equal(got, file) {
		t.Errorf("encoding the stored weights gives %d other bytes than the stored %d", len(got), len(file))
	}
}

func TestDecodeModelNamesWhatIsWrong(t *testing.T) {
	whole := encodeModel(newWeights(), result{1, 2})
	if _, accuracy, err := decodeModel(whole); err != nil || accuracy != "1 of 2 test images (50.00%)" {
		t.Fatalf("accuracy %q, error %v", accuracy, err)
	}
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, `tensor "conv1.weight" is missing`},
		{"cut", whole[:len(whole)/2], "EOF"},
		// The field number of the name, 8, becomes 9.
		{"no name", bytes.Replace(whole, []byte("\x42\x0bdense2.bias"), []byte("\x4a\x0bdense2.bias"), 1), `tensor "" is not`},
		{"other tensor", bytes.ReplaceAll(whole, []byte("dense2.bias"), []byte("dense9.bias")), `"dense9.bias" is not of this network`},
		{"other shape", bytes.Replace(whole, []byte{0x0a, 1, classes, 0x10, 1}, []byte{0x0a, 1, classes + 1, 0x10, 1}, 1), `"dense2.bias" has shape [11]`},
		{"other type", bytes.Replace(whole, []byte{0x0a, 1, classes, 0x10, 1}, []byte{0x0a, 1, classes, 0x10, 7}, 1), "element type 7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := decodeModel(c.file)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}
