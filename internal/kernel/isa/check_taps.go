package isa

import "github.com/berth-go/berth/internal/kernel"

// tapLoops are a Tile's loops of depthwise convolutions and poolings in assembly. Rows, n and
// taps are above 0; where there is no bias it is nil.
type tapLoops[T kernel.Number] struct {
	rows   func(y *T, ldy, rows, n int, x *T, step int, offsets *int, weights *T, taps int, bias *T, add bool)
	of3x3  func(y *T, ldy, rows, n int, x *T, pitch, step int, offsets *int, weights, bias *T)
	copied func(dst, src *T, rows, dstStep, srcStep, n int)
	split  func(even, odd, x *T, rows, dstStep, srcStep, n int)
	max    func(y *T, ldy, rows, n int, x *T, step int, offsets *int, taps int)
	mean   func(y *T, n int, x *T, offsets *int, taps int, counts *float64, lines float64)
	behind int // elements of x that of3x3 may read behind the last it needs
}

// within panics unless rows of n elements, that begin step apart, lie in x.
func within[T any](x []T, rows, step, n int) {
	if step < 0 {
		panic("isa: rows out of range")
	}
	_ = x[(rows-1)*step+n-1]
}

func first[T any](x []T) *T {
	if len(x) == 0 {
		return nil
	}
	return &x[0]
}

func (l tapLoops[T]) checkedRows(y []T, ldy, rows, n int, x []T, step int, offsets []int, weights, bias []T, add bool) {
	if rows <= 0 || n <= 0 {
		return
	}
	within(y, rows, ldy, n)
	_ = weights[len(offsets)-1]
	for _, at := range offsets {
		within(x[at:], rows, step, n)
	}
	l.rows(&y[0], ldy, rows, n, &x[0], step, &offsets[0], &weights[0], len(offsets), first(bias), add)
}

func (l tapLoops[T]) checked3x3(y []T, ldy, rows, n int, x []T, pitch, step int, offsets *[3]int, weights, bias []T) {
	if rows <= 0 || n <= 0 {
		return
	}
	if step != 1 && step != 2 {
		panic("isa: step out of range")
	}
	within(y, rows, ldy, n)
	_ = weights[8]
	for _, at := range offsets {
		within(x[at:], (rows-1)*step+3, pitch, n+l.behind)
	}
	l.of3x3(&y[0], ldy, rows, n, &x[0], pitch, step, &offsets[0], &weights[0], first(bias))
}

func (l tapLoops[T]) checkedCopy(dst, src []T, rows, dstStep, srcStep, n int) {
	if rows <= 0 || n <= 0 {
		return
	}
	within(dst, rows, dstStep, n)
	within(src, rows, srcStep, n)
	l.copied(&dst[0], &src[0], rows, dstStep, srcStep, n)
}

func (l tapLoops[T]) checkedSplit(even, odd, x []T, rows, dstStep, srcStep, n int) {
	if rows <= 0 || n <= 0 {
		return
	}
	within(x, rows, srcStep, n)
	within(even, rows, dstStep, (n+1)/2)
	if n == 1 {
		odd = even // of which nothing is written
	}
	within(odd, rows, dstStep, max(n/2, 1))
	l.split(&even[0], &odd[0], &x[0], rows, dstStep, srcStep, n)
}

func (l tapLoops[T]) checkedMax(y []T, ldy, rows, n int, x []T, step int, offsets []int) {
	if rows <= 0 || n <= 0 {
		return
	}
	within(y, rows, ldy, n)
	for _, at := range offsets {
		within(x[at:], rows, step, n)
	}
	l.max(&y[0], ldy, rows, n, &x[0], step, &offsets[0], len(offsets))
}

func (l tapLoops[T]) checkedMean(y, x []T, offsets []int, counts []float64, lines float64) {
	if len(y) == 0 {
		return
	}
	_ = counts[len(y)-1]
	for _, at := range offsets {
		_ = x[at : at+len(y)]
	}
	l.mean(&y[0], len(y), &x[0], &offsets[0], len(offsets), &counts[0], lines)
}
