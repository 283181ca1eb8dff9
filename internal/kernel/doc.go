// Package kernel is the arithmetic: loops over typed slices, bound once to
// element types, layouts and memory, and then run as often as one likes.
//
// A constructor, such as [NewSoftmax], states the plain loop that its kernel
// equals, and fixes the element type and the attributes. [Kernel.Bind] fixes
// shapes, strides and where the operands are; [Kernel.Run] does one task, of
// which none waits for another. The package knows nothing of graphs, and trusts
// its callers: package op checks types, shapes and attributes before.
//
// # Where to find what
//
// What all kernels stand on:
//
//	kernel.go            the contract, and bytes as elements
//	walk.go              several strided operands walked together; tasks
//	reduce_lines.go      the elements along some axes, as lines, for any strides
//	types.go             constraints of type parameters
//	map_scalar.go        one element with its type: casts, text
//	exp*.go, .s          the exponential function of float32
//	odd.go               rounding in two steps that equals rounding once
//
// Elementwise programs:
//
//	map_code.go          the table of instructions: arity, types, attributes
//	map_program.go       programs, and what makes one valid
//	map_lower.go         a program as a list of typed loops; halves as float32
//	map.go, map_run.go   loops bound to blocks of operands and registers; a task
//	map_select.go        which loop computes an instruction for a type
//	map_loop.go          the one signature of loops, and adapters to it
//	map_arith.go, map_integer.go, map_float.go, map_activation.go, map_cast.go
//	                     the loops, by the arithmetic that they share
//	map_fast*.go         functions of float32, faster than by package math
//
// Data movement:
//
//	copy.go, copymove.go copies between any two layouts
//	concat.go, tile.go, pad.go, fill.go
//	gather.go, index.go  by index: gather, one-hot, triangles, reversal
//	scatter*.go          the other way round
//
// Reductions, order and normalisation:
//
//	reduce.go            the kinds of reductions
//	reduce_fold.go, reduce_sum.go, reduce_max.go, reduce_load.go
//	                     folding lines in a fixed order, and what is folded
//	argreduce.go, cumulative.go, topk.go
//	softmax.go, norm*.go
//
// Products, convolution and pooling:
//
//	matmul.go            NumPy's products, and the general one of matrices
//	gemm*.go, .s         packing and tiles; gemmgen writes the assembly
//	conv*.go, im2col.go  convolution as a product, depthwise and transposed
//	pool*.go
//
// Assembly has a twin in Go, with which tests compare it, and which replaces it
// under the build tag purego and on other processors. The two give the same
// bits, but for products: there the assembly fuses multiplications with
// additions. Package kerneltest makes operands with awkward layouts and runs
// kernels on them.
package kernel
