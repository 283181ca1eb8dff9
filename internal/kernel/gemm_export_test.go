package kernel

import "github.com/berth-go/berth/dtype"

// Variants returns a kernel built by build for each tile kernel that this
// processor can run, by the tile's name. build's kernel must be one of those
// that multiply matrices.
func Variants(t dtype.Type, build func() Kernel) map[string]Kernel {
	switch t {
	case dtype.Float32:
		return variants[float32](build)
	case dtype.Float64:
		return variants[float64](build)
	}
	return map[string]Kernel{"go": build()}
}

func variants[T Number](build func() Kernel) map[string]Kernel {
	all := map[string]Kernel{}
	for _, tl := range tiles[T]() {
		k := build()
		switch k := k.(type) {
		case *matMul[T]:
			k.gemm.tile = tl
		case *conv[T]:
			k.gemm.tile = tl
		case *convTranspose[T]:
			k.gemm.tile = tl
		}
		all[tl.name] = k
	}
	return all
}
