// Package digits holds the handwritten-digit classifier that ships with Berth, as files: a
// trained ONNX model, ten images of its test set, and their labels.
//
// The model has one input, "image", float32 [N, 1, 28, 28], pixels in 0..1 where 1 is ink, and
// one output, "probabilities", float32 [N, 10]; N is free. It has 29,738 weights and gets 989 of
// 997 test images right (99.20%), which no part of the training has seen. The program in the
// folder train makes all three files; NOTICE names the source of the images.
package digits

import (
	"embed"
	"io/fs"
)

// The names of the files in [Files].
const (
	// ModelFile is the model, ONNX operator set 17.
	ModelFile = "digits.onnx"
	// ImagesFile holds the images, float32 [10, 1, 28, 28] in the NumPy format.
	ImagesFile = "images.npy"
	// LabelsFile holds the digit on each image, int64 [10] in the NumPy format: 0 to 9 in order.
	LabelsFile = "labels.npy"
)

//go:embed digits.onnx images.npy labels.npy
var files embed.FS

// Files returns the embedded files, in a flat folder. Opening one fails only for another name.
func Files() fs.FS { return files }
