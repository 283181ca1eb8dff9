// Package berth computes with tensors. An expression over promises says what
// to compute; before anything runs it is checked and planned, so that every
// intermediate result has its place in memory, from the step that writes it
// to the last step that reads it.
//
// A [Tensor] is storage plus a layout, computed already and immutable. A
// [Promise] is a computation that has not run; its methods build bigger ones.
// [Promise.Materialize] plans and runs one, [Promise.Plan] shows the plan.
//
// [Compile] makes a [Program], whose every offset is decided for good. An [Instance] is
// one arena of it and runs once at a time; a [Pool] lends instances to many callers.
package berth
