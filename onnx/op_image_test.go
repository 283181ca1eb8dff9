package onnx

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
)

// TestImageDecoder decodes a picture of two pixels, and files that are none.
func TestImageDecoder(t *testing.T) {
	picture := image.NewNRGBA(image.Rect(0, 0, 2, 1))
	picture.Set(0, 0, color.NRGBA{R: 10, G: 20, B: 30, A: 255})
	picture.Set(1, 0, color.NRGBA{R: 255, G: 255, B: 255, A: 255})
	var file bytes.Buffer
	if err := png.Encode(&file, picture); err != nil {
		t.Fatal(err)
	}
	bytesOf := func(data []byte) *berth.Tensor {
		x, err := berth.FromSlice(data, len(data))
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	whole := bytesOf(file.Bytes())
	pixels := func(v []float64, dims ...int) *berth.Tensor { return tensorOf(dtype.Uint8, v, dims...) }
	const op = "ImageDecoder"
	runNodeTests(t, []nodeTest{
		{"colours", op, 20, nil, in{whole}, in{pixels([]float64{10, 20, 30, 255, 255, 255}, 1, 2, 3)}, ""},
		{"colours from the last", op, 20, attrs(attrText("pixel_format", "BGR")), in{whole}, in{pixels([]float64{30, 20, 10, 255, 255, 255}, 1, 2, 3)}, ""},
		{"greys", op, 20, attrs(attrText("pixel_format", "Grayscale")), in{whole}, in{pixels([]float64{18, 255}, 1, 2, 1)}, ""},
		{"another format", op, 20, attrs(attrText("pixel_format", "CMYK")), in{whole}, nil, `"pixel_format" is "CMYK"`},
		{"no image", op, 20, nil, in{bytesOf([]byte("no image"))}, nil, "unknown format"},
		{"half an image", op, 20, nil, in{bytesOf(file.Bytes()[:50])}, nil, "not enough pixel data"},
		{"numbers", op, 20, nil, in{f32([]float64{1, 2})}, nil, "not bytes along one axis"},
	})
	// A header alone says that the image is large.
	header := []byte("GIF89a\xff\xff\xff\xff\x00\x00\x00")
	runNodeTests(t, []nodeTest{{"a large image", op, 20, nil, in{bytesOf(header)}, nil, "more than"}})
}
