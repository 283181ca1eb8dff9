package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
)

// encodeNPY returns values, a slice of float32 or int64, as a NumPy file of format version 1.0
// with the given shape, in C order. The header is filled up so that the values start at a
// multiple of 64 bytes, as NEP 1 asks for the sake of readers that map the file.
func encodeNPY(descr string, shape []int, values any) ([]byte, error) {
	const preamble = len("\x93NUMPY") + 2 + 2 // magic, version, header length
	var dims strings.Builder
	for _, d := range shape {
		fmt.Fprintf(&dims, "%d, ", d)
	}
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }",
		descr, strings.TrimSuffix(dims.String(), " "))
	fill := 63 - (preamble+len(header))%64
	header += strings.Repeat(" ", fill) + "\n"

	var file bytes.Buffer
	file.WriteString("\x93NUMPY\x01\x00")
	var length [2]byte
	binary.LittleEndian.PutUint16(length[:], uint16(len(header)))
	file.Write(length[:])
	file.WriteString(header)
	if err := binary.Write(&file, binary.LittleEndian, values); err != nil {
		return nil, err
	}
	return file.Bytes(), nil
}
