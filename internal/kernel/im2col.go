package kernel

// packImage implements [imagePacker]: the operand is the matrix whose column j
// is the window at position j of an image x, and whose row k is tap k%taps, in
// row-major order, of channel k/taps. Taps in the padding read 0.
//
// Positions are taken in runs that lie in one row and one strip. Where a tap
// meets the image along a run is the same in every channel, so it is found
// once for all of them.
func (k *conv[T]) packImage(dst, x []T, j0, j1, k0, k1 int, tl *tile[T]) {
	s := &k.slide
	depth, width := k1-k0, tl.cols
	taps := s.outerTaps * s.innerTaps
	row, col, lane := j0/s.width, j0%s.width, 0
	for j := j0; j < j1; {
		n := min(s.width-col, width-lane, j1-j)
		strip := dst[lane:]
		for outer := range s.outerTaps {
			base := s.row(outer, row)
			for inner := range s.innerTaps {
				// Channels [c, c+count) have this tap among the rows.
				tap := outer*s.innerTaps + inner
				c := ceilDiv(max(k0-tap, 0), taps)
				count := ceilDiv(max(k1-tap, 0), taps) - c
				if count <= 0 {
					continue
				}
				to := strip[(c*taps+tap-k0)*width:]
				a := min(max(s.lo[inner]-col, 0), n)
				b := min(s.hi[inner]-col, n)
				if base < 0 || a >= b {
					clearLanes(to, count, taps*width, n)
					continue
				}
				from := x[c*s.planeIn+base+s.from[inner]+(col+a)*s.step:]
				if s.step == 1 {
					tl.spread(to, from, count, taps*width, s.planeIn, a, b, n)
				} else {
					spreadSteps(to, from, count, taps*width, s.planeIn, s.step, a, b, n)
				}
			}
		}
		j += n
		if col += n; col == s.width {
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
func clearLanes[T Number](dst []T, count, step, n int) {
	for r := range count {
		to := dst[r*step : r*step+n]
		for i := range to {
			to[i] = 0
		}
	}
}

// spreadSteps is tile.spread of every step-th element.
func spreadSteps[T Number](dst, src []T, count, dstStep, srcStep, step, a, b, n int) {
	for r := range count {
		to := dst[r*dstStep : r*dstStep+n]
		for i := range a {
			to[i] = 0
		}
		from := src[r*srcStep : r*srcStep+(b-a-1)*step+1]
		at := 0
		for i := a; i < b; i++ {
			to[i] = from[at]
			at += step
		}
		for i := b; i < n; i++ {
			to[i] = 0
		}
	}
}
