package onnx

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	_ "image/gif"
	_ "image/jpeg"
	_ "image/png"

	_ "golang.org/x/image/bmp"
	_ "golang.org/x/image/tiff"
	_ "golang.org/x/image/webp"

	"github.com/berth-go/berth/dtype"
)

// imageOps are the operators that decode images.
var imageOps = []row{
	{"", "ImageDecoder", 20, 1, 1, hosted(imageDecoder)},
}

// A pixel writes a colour as the bytes of an element of the last axis.
type pixel struct {
	channels int
	put      func(dst []byte, c color.RGBA)
}

var pixels = map[string]pixel{
	"RGB": {3, func(dst []byte, c color.RGBA) { dst[0], dst[1], dst[2] = c.R, c.G, c.B }},
	"BGR": {3, func(dst []byte, c color.RGBA) { dst[0], dst[1], dst[2] = c.B, c.G, c.R }},
	"Grayscale": {1, func(dst []byte, c color.RGBA) {
		dst[0] = color.GrayModel.Convert(c).(color.Gray).Y
	}},
}

// imageDecoder decodes a file of BMP, GIF, JPEG, PNG, TIFF or WebP to [height, width,
// channels].
func imageDecoder(c *call) hostFunc {
	format := choice(c, "pixel_format", "RGB", pixels)
	return func(h *hostCall) error {
		x, err := h.array(0)
		if err != nil {
			return err
		}
		if x.typ != dtype.Uint8 || len(x.dims) != 1 {
			return fmt.Errorf("the file is %s, not bytes along one axis", TypeOf(x))
		}
		// A few bytes can say that an image is of any size.
		info, kind, err := image.DecodeConfig(bytes.NewReader(x.data))
		if err != nil {
			return err
		}
		dims := []int{info.Height, info.Width, format.channels}
		if err := h.options.room(dtype.Float64, dims); err != nil { // with what decoding takes
			return fmt.Errorf("%s image: %w", kind, err)
		}
		picture, _, err := image.Decode(bytes.NewReader(x.data))
		if err != nil {
			return err
		}
		y, err := h.result(0, dtype.Uint8, false, dims...)
		if err != nil {
			return err
		}
		at, area := 0, picture.Bounds()
		for row := area.Min.Y; row < area.Max.Y; row++ {
			for col := area.Min.X; col < area.Max.X; col++ {
				format.put(y.data[at:], color.RGBAModel.Convert(picture.At(col, row)).(color.RGBA))
				at += format.channels
			}
		}
		return nil
	}
}
