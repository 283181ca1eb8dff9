package conv

import (
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
)

// PackImage implements [gemm.ImagePacker]: the operand is the matrix whose column j
// is the window at position j of an image x, and whose row k is tap k%taps, in
// row-major order, of channel k/taps. Taps in the padding read 0.
//
// Positions are taken in runs that lie in one row and one strip. Where a tap
// meets the image along a run is the same in every channel, so it is found
// once for all of them.
func (k *conv[T]) PackImage(dst, x []T, j0, j1, k0, k1 int, tile *isa.Tile[T]) {
	s := &k.slide
	depth, width := k1-k0, tile.Cols
	row, col, lane := j0/s.Width, j0%s.Width, 0
	for j := j0; j < j1; {
		n := min(s.Width-col, width-lane, j1-j)
		strip := dst[lane:]
		for outer := range s.OuterTaps {
			base := s.Row(outer, row)
			for inner := range s.InnerTaps {
				// Channels [c, c+count) have this tap among the rows.
				tap := outer*s.InnerTaps + inner
				c := kernel.CeilDiv(max(k0-tap, 0), k.taps)
				count := kernel.CeilDiv(max(k1-tap, 0), k.taps) - c
				if count <= 0 {
					continue
				}
				to := strip[(c*k.taps+tap-k0)*width:]
				a := min(max(s.Lo[inner]-col, 0), n)
				b := min(s.Hi[inner]-col, n)
				if base < 0 || a >= b {
					clearLanes(to, count, k.taps*width, n)
					continue
				}
				from := x[c*s.PlaneIn+base+s.From[inner]+(col+a)*s.Step:]
				if s.Step == 1 {
					tile.Spread(to, from, count, k.taps*width, s.PlaneIn, a, b, n)
				} else {
					spreadSteps(to, from, count, k.taps*width, s.PlaneIn, s.Step, a, b, n)
				}
			}
		}
		j += n
		if col += n; col == s.Width {
			row, col = row+1, 0
		}
		if lane += n; lane == width && j < j1 {
			dst, lane = dst[depth*width:], 0
		}
	}
	if lane < width {
		clearLanes(dst[lane:], depth, width, width-lane)
	}
}

// clearLanes is dst[r*step+i] = 0 for r < count and i < n.
func clearLanes[T kernel.Number](dst []T, count, step, n int) {
	for r := range count {
		clear(dst[r*step : r*step+n])
	}
}

// spreadSteps is isa.Tile.Spread of every step-th element.
func spreadSteps[T kernel.Number](dst, src []T, count, dstStep, srcStep, step, a, b, n int) {
	for r := range count {
		to := dst[r*dstStep : r*dstStep+n]
		clear(to[:a])
		from := src[r*srcStep : r*srcStep+(b-a-1)*step+1]
		at := 0
		for i := a; i < b; i++ {
			to[i] = from[at]
			at += step
		}
		clear(to[b:])
	}
}
