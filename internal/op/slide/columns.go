package slide

import (
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
)

// PackColumns packs columns [j0, j1) and rows [k0, k1) of a matrix that is made of
// the image x into strips of tile, as [gemm.ImagePacker] states. Column j of the
// matrix is the window at position j, and row k is tap k%taps, in row-major order, of
// channel k/taps. Taps in the padding read pad.
//
// Positions are taken in runs that lie in one row and one strip. Where a tap
// meets the image along a run is the same in every channel, so it is found
// once for all of them.
func PackColumns[T kernel.Number](s *Binding, dst, x []T, j0, j1, k0, k1 int, tile *isa.Tile[T], pad T) {
	taps := s.OuterTaps * s.InnerTaps
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
				c := kernel.CeilDiv(max(k0-tap, 0), taps)
				count := kernel.CeilDiv(max(k1-tap, 0), taps) - c
				if count <= 0 {
					continue
				}
				to := strip[(c*taps+tap-k0)*width:]
				a := min(max(s.Lo[inner]-col, 0), n)
				b := min(s.Hi[inner]-col, n)
				if base < 0 || a >= b {
					fillLanes(to, count, taps*width, n, pad)
					continue
				}
				from := x[c*s.PlaneIn+base+s.From[inner]+(col+a)*s.Step:]
				if s.Step == 1 && pad == 0 {
					tile.Spread(to, from, count, taps*width, s.PlaneIn, a, b, n)
				} else {
					spreadSteps(to, from, count, taps*width, s.PlaneIn, s.Step, a, b, n, pad)
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
		fillLanes(dst[lane:], depth, width, width-lane, pad)
	}
}

// fillLanes is dst[r*step+i] = v for r < count and i < n.
func fillLanes[T kernel.Number](dst []T, count, step, n int, v T) {
	for r := range count {
		kernel.Fill(dst[r*step:r*step+n], v)
	}
}

// spreadSteps is isa.Tile.Spread of every step-th element, with pad for 0.
func spreadSteps[T kernel.Number](dst, src []T, count, dstStep, srcStep, step, a, b, n int, pad T) {
	for r := range count {
		to := dst[r*dstStep : r*dstStep+n]
		kernel.Fill(to[:a], pad)
		from := src[r*srcStep : r*srcStep+(b-a-1)*step+1]
		at := 0
		for i := a; i < b; i++ {
			to[i] = from[at]
			at += step
		}
		kernel.Fill(to[b:], pad)
	}
}
