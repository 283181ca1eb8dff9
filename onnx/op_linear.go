package onnx

// linearOps lists the matrix products and convolutions.
var linearOps = []row{}
