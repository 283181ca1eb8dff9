// Package onnx reads ONNX models and runs them with Berth.
//
// # Where to find what
//
//	LoadFile, Load, Parse         decode a model and check it; what is not supported is one error
//	Inspect, Operators            what a file says of itself, what there is to run it with
//	Model.Run, Model.RunValues    compute once, or now and then
//	Model.Compile                 a program for stated shapes or bounds: memory known before any run
//	Model.NewSession              any shapes, control flow, strings; allocates nothing at shapes seen before
//	Model.NewPool                 sessions for many callers
//	Session.Describe              the segments of a run, and where all of its values lie
//	Value                         what runs take and give: Array, Sequence, Map
//	Model.WithWeights             the weights of another training run
//	ReadTensor, Model.ReadInput   test data and other files of single values
//
// [Model.Compile] is for a service that knows its shapes, or their bounds: the program has
// one arena whose size is exact before the first run. [Model.NewSession] is for everything
// else, such as models with loops or results as long as the data says.
//
// A model is immutable and may be used by many goroutines. A session and an instance run
// once at a time; [Model.NewPool] lends them.
//
// # How it works
//
// [LoadFile] decodes a file, puts its nodes in order and looks up every
// operator; whatever is unsupported or refers to something that is not there
// is reported at once, in one error. An operator that the file defines itself is
// converted in place at each call (function.go).
//
// A model becomes a graph when the shapes of its inputs are known: import.go
// walks the nodes in order and calls for each the function that table.go names
// for its operator and opset version; that function (op_*.go) checks
// attributes and builds graph nodes. What a node computes from shapes alone is
// folded on the way, within bounds (fold.go), so that the shapes of all values
// are known.
//
// What no single graph holds, such as loops, strings and sizes that depend on data, a
// [Session] runs on the host, between segments that are compiled in full: stage.go says
// how a run goes from one to the next.
//
// A model file is untrusted: what it asks for is checked before memory is taken
// for it, and an attribute that an operator does not have is an error
// (attributes.go), as it is to other runtimes.
package onnx
