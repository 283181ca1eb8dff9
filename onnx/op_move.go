package onnx

// moveOps lists the operators that move elements.
var moveOps = []row{}
