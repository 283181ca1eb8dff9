// Package wire reads and writes the protocol buffer encoding of ONNX models
// and test data as plain Go structs.
//
// The field numbers and their meaning come from the published schema
// (onnx.proto3 of the ONNX project, IR versions 1 to 13). Each message is a Go
// struct whose tags give the number and the name of each field, which reading and
// writing both follow. The encoding itself is that of
// [google.golang.org/protobuf/encoding/protowire]. Generated
// messages are not used: they copy every weight, they refuse files whose
// names are not UTF-8, and two packages that register the same message names
// cannot be linked together.
//
// # Ownership
//
// Weights are never copied. [Tensor.Raw], the packed fields of a tensor and
// the byte strings of attributes alias the slice given to [DecodeModel],
// which the caller must keep unchanged for as long as the result is in use.
// Names and other short strings are copied.
//
// # Hostile input
//
// A file is untrusted. Every length is compared with the bytes that are
// there before anything is allocated for it, the memory of the decoded
// structs is charged to a budget proportional to the input ([Limits]), and
// recursion is bounded. Errors are of type [*Error] and say which part of the
// model is wrong, at which byte.
//
// Where this reader is stricter than the protocol buffer rules, it is so that
// no two programs can read one file in two ways: a known field with an
// unexpected wire type, an integer that does not fit its field, a singular message
// given twice, two members of a oneof (a type of two kinds, a dimension that is a
// number and a variable) and a tensor with two kinds of contents are errors rather
// than skipped, cut, merged or chosen from.
//
// The package checks each message on its own. What spans messages, such as
// the order of nodes, the names they refer to, operators and opset versions,
// is for the importer on top.
package wire
