// Package kernel is the contract of kernels: the arithmetic of ops as loops
// over typed slices, bound once to element types, layouts and memory, and then
// run as often as one likes. The kernels themselves stand beside their ops,
// below internal/op; here is what they share.
//
// A constructor, such as [NewCopy], states the plain loop that its kernel
// equals, and fixes the element type and the attributes. [Kernel.Bind] fixes
// shapes, strides and where the operands are; [Kernel.Run] does one task, of
// which none waits for another. Kernels know nothing of graphs, and trust their
// callers: ops check types, shapes and attributes before.
//
// # Where to find what
//
//	kernel.go            the contract; bytes as elements; working memory
//	walk.go              several strided operands walked together; tasks
//	copy.go, copy_move.go
//	                     copies between any two layouts
//	each.go              loops over slices around a formula; fills
//	scalar.go            one element with its type: casts, text
//	cast.go, low.go, odd.go
//	                     conversions between element types; rounding in two
//	                     steps that equals rounding once
//	types.go             constraints of type parameters
//
// Package isa has the inner loops that are written for each instruction set.
// Package lines has the elements along some axes as lines, and accumulates
// them; package gemm has the blocks of products. Package kerneltest makes
// operands with awkward layouts and runs kernels on them, with each
// instruction set that the machine has.
package kernel
