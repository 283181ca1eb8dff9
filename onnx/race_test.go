//go:build race

package onnx

// raceDetector tells that the tests run under the race detector, in which
// large networks take minutes.
const raceDetector = true
