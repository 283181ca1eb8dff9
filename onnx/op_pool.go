package onnx

// poolOps lists the pooling.
var poolOps = []row{}
