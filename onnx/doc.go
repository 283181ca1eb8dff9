// Package onnx reads ONNX models and runs them with Berth.
//
// [LoadFile] decodes a file, puts its nodes in order and looks up every
// operator; whatever is unsupported or refers to something that is not there
// is reported at once, in one error. [Model.Run] binds inputs and computes.
//
// What a file says of itself, [Inspect] tells whether or not it can be run. An
// operator that the file defines itself is converted in place at each call
// (function.go). [Operators] lists the others.
//
// A model becomes a graph when the shapes of its inputs are known: import.go
// walks the nodes in order and calls for each the function that table.go names
// for its operator and opset version; that function (op_*.go) checks
// attributes and builds graph nodes. What a node computes from shapes alone is
// folded on the way, within bounds (fold.go), so that the shapes of all values
// are known.
//
// A model file is untrusted: what it asks for is checked before memory is taken
// for it, and an attribute that an operator does not have is an error
// (attributes.go), as it is to other runtimes.
package onnx
