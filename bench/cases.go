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
	{"ultraface", "models/ultraface/model.onnx", 0, "1×3×240×320"},
	{"fastestdet", "models/fastestdet/model.onnx", 0, "1×3×352×352"},
	{"ppocr_det", "models/ppocr_det/model.onnx", 0, "1×3×320×320"},
	{"ppocr_rec", "models/ppocr_rec/model.onnx", 0, "1×3×48×320"},
	{"mnist", "models/mnist/model.onnx", 0, "1×1×28×28"},
	{"minilm_l6_synth", "models/minilm_l6_synth/model.onnx", 0, "128 tokens"},
	{"gpt_char prompt", "models/gpt_char/model.onnx", 0, "36 tokens"},
	{"gpt_char step", "models/gpt_char/model.onnx", 2, "1 token after 37"},
	{"magika", "models/magika/model.onnx", 0, "1536 bytes"},
	{"byte_bilstm", "models/byte_bilstm/model.onnx", 0, "109 bytes"},
	{"basic_pitch", "models/basic_pitch/model.onnx", 0, "43844 samples"},
	{"melspectrogram", "models/melspectrogram/model.onnx", 0, "one signal"},
	{"silero_vad", "models/silero_vad/model.onnx", 0, "one chunk"},
	{"lgbm_tensor", "models/lgbm_tensor/model.onnx", 0, "rows of a table"},
	{"sklearn_randomforest", "models/sklearn_randomforest/model.onnx", 0, "rows of a table"},
	{"xgboost_trees", "models/xgboost_trees/model.onnx", 0, "rows of a table"},
	{"resnet50", "onnx-backend/light/light_resnet50.onnx", -1, "1×3×224×224"},
	{"densenet121", "onnx-backend/light/light_densenet121.onnx", -1, "1×3×224×224"},
	{"squeezenet", "onnx-backend/light/light_squeezenet.onnx", -1, "1×3×224×224"},
	{"shufflenet", "onnx-backend/light/light_shufflenet.onnx", -1, "1×3×224×224"},
	{"inception_v1", "onnx-backend/light/light_inception_v1.onnx", -1, "1×3×224×224"},
	{"inception_v2", "onnx-backend/light/light_inception_v2.onnx", -1, "1×3×224×224"},
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
