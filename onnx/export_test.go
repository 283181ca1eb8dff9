package onnx

// RaceDetector is raceDetector for the tests outside of the package.
const RaceDetector = raceDetector
