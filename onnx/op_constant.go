package onnx

// constantOps lists the operators that make elements of attributes.
var constantOps = []row{}
