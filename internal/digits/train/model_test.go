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
	"github.com/berth-go/berth/internal/wire"
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
	// changed is the model with its last tensor changed.
	changed := func(change func(t *wire.Tensor)) []byte {
		m, err := wire.DecodeModel(whole, nil)
		if err != nil {
			t.Fatal(err)
		}
		change(&m.Graph.Initializers[len(m.Graph.Initializers)-1])
		return wire.AppendModel(nil, m)
	}
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "there is no graph"},
		{"cut", whole[:len(whole)/2], "EOF"},
		{"no weights", wire.AppendModel(nil, &wire.Model{Graph: new(wire.Graph)}), `tensor "conv1.weight" is missing`},
		{"one weight twice", changed(func(t *wire.Tensor) {
			t.Name, t.Dims, t.Raw = "conv2.bias", []int64{channels2}, make([]byte, 4*channels2)
		}), `tensor "dense2.bias" is missing`},
		{"no name", changed(func(t *wire.Tensor) { t.Name = "" }), `tensor "" is not`},
		{"other tensor", changed(func(t *wire.Tensor) { t.Name = "dense9.bias" }), `"dense9.bias" is not of this network`},
		{"other shape", changed(func(t *wire.Tensor) { t.Dims = []int64{classes, 1} }), `"dense2.bias" has shape [10 1], want [10]`},
		{"other type", changed(func(t *wire.Tensor) { t.DataType = wire.Int32 }), `"dense2.bias" holds INT32, want FLOAT`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := decodeModel(c.file)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}
