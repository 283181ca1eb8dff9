package digits_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"math"
	"slices"
	"testing"

	"github.com/berth-go/berth"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/berth-go/berth/internal/digits"
)

// The files are made by a program and never edited. After a new training run these sums change,
// and with them the accuracy that the documentation states.
func TestFilesAreTheMeasuredOnes(t *testing.T) {
	for _, f := range []struct{ name, sum string }{
		{digits.ModelFile, "ac8fe71a886ea60a79e5953af451583bf9c3cb0d767c1a9c1aa689d81e55d4cd"},
		{digits.ImagesFile, "0b0e873266b0b0e7ba56ce3b4991db35fe1a1b14ed590211f9a9a89cfa08cf86"},
		{digits.LabelsFile, "f314ddddf18999d4890f4fec8bb6539fc62b6f41861fa85e1c04c98a03097dda"},
	} {
		sum := sha256.Sum256(read(t, f.name))
		if got := hex.EncodeToString(sum[:]); got != f.sum {
			t.Errorf("%s has SHA-256 %s, want %s", f.name, got, f.sum)
		}
	}
}

// The model is part of every binary that shows it, so it must stay small.
func TestModelIsSmall(t *testing.T) {
	const limit = 200_000
	if n := len(read(t, digits.ModelFile)); n > limit {
		t.Errorf("%s has %d bytes, more than %d", digits.ModelFile, n, limit)
	}
}

func TestModelIsOneWellFormedMessage(t *testing.T) {
	model := read(t, digits.ModelFile)
	var got []protowire.Number
	for rest := model; len(rest) > 0; {
		field, _, n := protowire.ConsumeField(rest)
		if n < 0 {
			t.Fatalf("at byte %d: %v", len(model)-len(rest), protowire.ParseError(n))
		}
		got = append(got, field)
		rest = rest[n:]
	}
	// ir_version, producer_name, doc_string, graph, opset_import, metadata_props twice.
	if want := []protowire.Number{1, 2, 6, 7, 8, 14, 14}; !slices.Equal(got, want) {
		t.Errorf("fields %v, want %v", got, want)
	}
	if want := []byte("989 of 997 test images (99.20%)"); !bytes.Contains(model, want) {
		t.Errorf("the model does not state the accuracy that the documentation does, %q", want)
	}
}

func TestImagesAreOneOfEachDigit(t *testing.T) {
	labels, shape := readNPY[int64](t, digits.LabelsFile)
	if !slices.Equal(shape, []int{10}) {
		t.Errorf("labels have shape %v, want [10]", shape)
	}
	if want := []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}; !slices.Equal(labels, want) {
		t.Errorf("labels %v, want %v", labels, want)
	}

	images, shape := readNPY[float32](t, digits.ImagesFile)
	if !slices.Equal(shape, []int{10, 1, 28, 28}) {
		t.Fatalf("images have shape %v, want [10 1 28 28]", shape)
	}
	const pixels = 28 * 28
	for i := range labels {
		ink := float32(0)
		for j, v := range images[i*pixels:][:pixels] {
			if level := float64(v) * 255; v < 0 || v > 1 || math.Abs(level-math.Round(level)) > 1e-4 {
				t.Fatalf("image %d: pixel %d is %g, not one of 0/255 to 255/255", i, j, v)
			}
			ink += v
		}
		if ink < 20 || ink > 300 {
			t.Errorf("image %d has %g pixels of ink, too little or too much for a digit", i, ink)
		}
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := fs.ReadFile(digits.Files(), name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func readNPY[T berth.Element](t *testing.T, name string) (values []T, shape []int) {
	t.Helper()
	x, err := berth.ReadNPY(bytes.NewReader(read(t, name)))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if values, err = berth.Data[T](x); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return values, x.Shape()
}
