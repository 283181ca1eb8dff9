package onnx

// shapeOps lists the operators that describe their input anew, or its shape.
var shapeOps = []row{}
