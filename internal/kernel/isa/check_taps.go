package isa

import "github.com/berth-go/berth/internal/kernel"

// tapLoops are a Tile's loops of depthwise convolutions and poolings in assembly. No
// extent of a grid and no number of taps is 0; where there is no bias it is nil.
type tapLoops[T kernel.Number] struct {
	rows   func(y, x *T, g *Grid, offsets *int, weights *T, taps, planeW int, bias *T, add bool)
	of3x3  func(y, x *T, g *Grid, offsets *int, weights *T, pitch, step int, bias *T)
	copied func(y, x *T, g *Grid)
	split  func(even, odd, x *T, g *Grid)
	max    func(y, x *T, g *Grid, offsets *int, taps int)
	mean   func(y, x *T, g *Grid, offsets *int, taps int, counts, lines *float64)
	behind int // elements of x that of3x3 may read behind the last it needs
}

// empty reports whether a grid has no positions. It panics if it steps backwards.
func (g *Grid) empty() bool {
	if g.PlaneY < 0 || g.RowY < 0 || g.PlaneX < 0 || g.RowX < 0 {
		panic("isa: grid out of range")
	}
	return g.Planes <= 0 || g.Rows <= 0 || g.Cols <= 0
}

// y returns the elements of y that a grid reaches over where a row has n of them.
func (g *Grid) y(n int) int { return (g.Planes-1)*g.PlaneY + (g.Rows-1)*g.RowY + n }

// x returns those of x.
func (g *Grid) x() int { return (g.Planes-1)*g.PlaneX + (g.Rows-1)*g.RowX + g.Cols }

func first[T any](x []T) *T {
	if len(x) == 0 {
		return nil
	}
	return &x[0]
}

func (l tapLoops[T]) checkedRows(y, x []T, g *Grid, offsets []int, weights []T, planeW int, bias []T, add bool) {
	if g.empty() {
		return
	}
	_ = y[g.y(g.Cols)-1]
	_ = weights[(g.Planes-1)*planeW:][len(offsets)-1]
	for _, at := range offsets {
		_ = x[at:][g.x()-1]
	}
	if len(bias) > 0 {
		_ = bias[g.Planes-1]
	}
	l.rows(&y[0], &x[0], g, &offsets[0], &weights[0], len(offsets), planeW, first(bias), add)
}

func (l tapLoops[T]) checked3x3(y, x []T, g *Grid, pitch, step int, offsets *[3]int, weights, bias []T) {
	if g.empty() {
		return
	}
	if step != 1 && step != 2 || g.RowX != step*pitch {
		panic("isa: step out of range")
	}
	_ = y[g.y(g.Cols)-1]
	_ = weights[9*g.Planes-1]
	for _, at := range offsets {
		_ = x[at:][g.x()+2*pitch+l.behind-1]
	}
	if len(bias) > 0 {
		_ = bias[g.Planes-1]
	}
	l.of3x3(&y[0], &x[0], g, &offsets[0], &weights[0], pitch, step, first(bias))
}

func (l tapLoops[T]) checkedCopy(y, x []T, g *Grid) {
	if g.empty() {
		return
	}
	_ = y[g.y(g.Cols)-1]
	_ = x[g.x()-1]
	l.copied(&y[0], &x[0], g)
}

func (l tapLoops[T]) checkedSplit(even, odd, x []T, g *Grid) {
	if g.empty() {
		return
	}
	_ = even[g.y((g.Cols+1)/2)-1]
	if g.Cols == 1 {
		odd = even // of which nothing is written
	}
	_ = odd[g.y(max(g.Cols/2, 1))-1]
	_ = x[g.x()-1]
	l.split(&even[0], &odd[0], &x[0], g)
}

func (l tapLoops[T]) checkedMax(y, x []T, g *Grid, offsets []int) {
	if g.empty() {
		return
	}
	_ = y[g.y(g.Cols)-1]
	for _, at := range offsets {
		_ = x[at:][g.x()-1]
	}
	l.max(&y[0], &x[0], g, &offsets[0], len(offsets))
}

func (l tapLoops[T]) checkedMean(y, x []T, g *Grid, offsets []int, counts, lines []float64) {
	if g.empty() {
		return
	}
	_ = y[g.y(g.Cols)-1]
	for _, at := range offsets {
		_ = x[at:][g.x()-1]
	}
	_, _ = counts[g.Cols-1], lines[g.Rows-1]
	l.mean(&y[0], &x[0], g, &offsets[0], len(offsets), &counts[0], &lines[0])
}
