package main

import (
	"bytes"

	"github.com/berth-go/berth"
)

// encodeNPY returns values as a NumPy file with the given shape.
func encodeNPY[T berth.Element](values []T, shape ...int) ([]byte, error) {
	t, err := berth.FromSlice(values, shape...)
	if err != nil {
		return nil, err
	}
	var file bytes.Buffer
	err = t.WriteNPY(&file)
	return file.Bytes(), err
}
