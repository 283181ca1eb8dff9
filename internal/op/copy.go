package op

import (
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
)

// CopyKernel returns a kernel that copies a value of type t into memory with
// any strides, from any strides. It is what [graph.Contiguous], [graph.Cache]
// and a [Reshape] that is no view run. Input and output may differ in shape
// when they have the same number of elements; the row-major order is kept.
func CopyKernel(t graph.Type) kernel.Kernel { return kernel.NewCopy(t.DType.Size()) }
