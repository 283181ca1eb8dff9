package kernel

// packImage packs columns [j0, j1) and rows [k0, k1) of the matrix whose
// column j is the window at position j of an image x, as [packRight] does: row
// k is tap k%taps, in row-major order, of channel k/taps. Taps in the padding
// read 0. The matrix itself is never made.
func packImage[T Number](dst, x []T, s *sliding, j0, j1, k0, k1, width int) {
	depth := k1 - k0
	taps := s.outerTaps * s.innerTaps
	c, outer, inner := k0/taps, k0%taps/s.innerTaps, k0%s.innerTaps
	row0, col0 := j0/s.width, j0%s.width
	for k := range depth {
		plane := x[c*s.planeIn : (c+1)*s.planeIn]
		lo, hi, from := s.lo[inner], s.hi[inner], s.from[inner]
		strip, lane := dst[k*width:], 0
		for row, col, j := row0, col0, j0; j < j1; row, col = row+1, 0 {
			end := min(s.width, col+j1-j)
			j += end - col
			base := s.row(outer, row)
			for col < end {
				n := min(end-col, width-lane)
				d := strip[lane : lane+n]
				if base < 0 {
					clear(d)
				} else {
					a := min(max(lo-col, 0), n)
					b := max(min(hi-col, n), a)
					clear(d[:a])
					clear(d[b:])
					f := base + from + (col+a)*s.step
					switch d := d[a:b]; {
					case len(d) == 0:
					case s.step == 1:
						copy(d, plane[f:f+len(d)])
					default:
						for i := range d {
							d[i] = plane[f+i*s.step]
						}
					}
				}
				col += n
				if lane += n; lane == width && (col < end || j < j1) {
					strip, lane = strip[depth*width:], 0
				}
			}
		}
		clear(strip[lane:width])
		if inner++; inner == s.innerTaps {
			inner = 0
			if outer++; outer == s.outerTaps {
				outer = 0
				c++
			}
		}
	}
}
