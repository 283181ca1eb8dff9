package main

import (
	"os"
	"path/filepath"
	"strconv"
)

// A benchCase is a model and what it is run on: a stored data set, or random
// numbers where there is none.
type benchCase struct {
	name  string
	model string // below the folder of shared data
	set   int    // number of the data set; -1 where there is none
	note  string
}

var cases = []benchCase{
	{"mobilenet_v2", "models/mobilenet_v2/model.onnx", 0, "1×3×224×224"},
	{"super_resolution", "models/super_resolution/model.onnx", 0, "1×1×224×224"},
	{"minilm_l6_synth", "models/minilm_l6_synth/model.onnx", 0, "128 tokens"},
	{"gpt_char prompt", "models/gpt_char/model.onnx", 0, "36 tokens"},
	{"gpt_char step", "models/gpt_char/model.onnx", 2, "1 token after 37"},
	{"resnet50", "onnx-backend/light/light_resnet50.onnx", -1, "1×3×224×224"},
	{"densenet121", "onnx-backend/light/light_densenet121.onnx", -1, "1×3×224×224"},
	{"squeezenet", "onnx-backend/light/light_squeezenet.onnx", -1, "1×3×224×224"},
}

// present reports whether the model and its data are there.
func (c *benchCase) present(shared string) bool {
	for _, path := range []string{c.path(shared), c.folder(shared, "test_data_set_"), c.folder(shared, "data_")} {
		if path == "" {
			continue
		}
		if _, err := os.Stat(path); err != nil {
			return false
		}
	}
	return true
}

func (c *benchCase) path(shared string) string {
	return filepath.Join(shared, filepath.FromSlash(c.model))
}

// folder returns the data set of a kind, by the prefix of its name: "data_" for
// .npy files, "test_data_set_" for protocol buffers. It returns "" where there
// is none.
func (c *benchCase) folder(shared, prefix string) string {
	if c.set < 0 {
		return ""
	}
	return filepath.Join(filepath.Dir(c.path(shared)), prefix+strconv.Itoa(c.set))
}
