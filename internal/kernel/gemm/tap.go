package gemm

import "github.com/berth-go/berth/internal/kernel"

func spreadLanes[T kernel.Number](dst, src []T, count, dstStep, srcStep, a, b, n int) {
	for r := range count {
		to, from := dst[r*dstStep:r*dstStep+n], src[r*srcStep:r*srcStep+b-a]
		for i := range a {
			to[i] = 0
		}
		for i, v := range from {
			to[a+i] = v
		}
		for i := b; i < n; i++ {
			to[i] = 0
		}
	}
}

func sumTaps[T kernel.Number](y, x []T, offsets []int, weights []T, bias T) {
	kernel.Fill(y, bias)
	for t, at := range offsets {
		w := weights[t]
		for i, v := range x[at : at+len(y)] {
			y[i] += w * v
		}
	}
}
