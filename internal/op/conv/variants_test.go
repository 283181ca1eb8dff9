package conv

import (
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/gemm"
)

// variants returns a convolution built by build for each tile kernel that this
// processor can run, by the tile's name.
func variants(t dtype.Type, build func() kernel.Kernel) map[string]kernel.Kernel {
	switch t {
	case dtype.Float32:
		return variantsOf[float32](build)
	case dtype.Float64:
		return variantsOf[float64](build)
	}
	return map[string]kernel.Kernel{"go": build()}
}

func variantsOf[T kernel.Number](build func() kernel.Kernel) map[string]kernel.Kernel {
	all := map[string]kernel.Kernel{}
	for _, tile := range gemm.Tiles[T]() {
		k := build()
		switch k := k.(type) {
		case *conv[T]:
			k.gemm.Tile = tile
		case *convTranspose[T]:
			k.gemm.Tile = tile
		}
		all[tile.Name] = k
	}
	return all
}
