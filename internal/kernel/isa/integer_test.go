package isa

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestIntegerTiles: the loops over bytes of every set equal the portable ones for any
// bytes, and write nothing else.
func TestIntegerTiles(t *testing.T) {
	for _, s := range Sets() {
		rng := rand.New(rand.NewPCG(1, 5))
		for range 400 {
			testMulQuads(t, s, rng)
			testInterleave(t, s, rng)
			testTapQuads(t, s, rng)
			testRequantize(t, s, rng)
			testQuantize(t, s, rng)
		}
	}
}

// someBytes returns n bytes, of which many are extreme.
func someBytes(rng *rand.Rand, n int) []uint8 {
	x := make([]uint8, n)
	for i := range x {
		x[i] = uint8(rng.Uint32())
		if rng.IntN(3) == 0 {
			x[i] = []uint8{0, 127, 128, 255}[rng.IntN(4)]
		}
	}
	return x[:n:n]
}

func someSums(rng *rand.Rand, n int) []int32 {
	x := make([]int32, n)
	for i := range x {
		x[i] = int32(rng.Uint32()) >> rng.IntN(32)
	}
	return x
}

func same[T comparable](t *testing.T, set, loop string, got, want []T, args ...any) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%s: %s %v gives\n%v, want\n%v", set, loop, args, got, want)
	}
}

func testMulQuads(t *testing.T, s *Loops, rng *rand.Rand) {
	tile := s.Integer
	h, w, quads, add := 1+rng.IntN(tile.Rows), 1+rng.IntN(tile.Cols), 1+rng.IntN(40), rng.IntN(2) == 0
	// The left operand packed, in place, or the same everywhere; the right one too.
	row, step := 4, 4*tile.Rows
	switch rng.IntN(3) {
	case 0:
		row, step = 4*quads+rng.IntN(5), 4
	case 1:
		row, step = 0, 0
	}
	ldb, ldc := 4*tile.Cols, w+rng.IntN(3)
	if rng.IntN(4) == 0 {
		ldb = 0
	}
	a, b := someBytes(rng, (h-1)*row+(quads-1)*step+4), someBytes(rng, (quads-1)*ldb+4*tile.Cols)
	before := someSums(rng, (h-1)*ldc+w+3)
	for signed, mul := range []IntegerMul{tile.SignedRight, tile.SignedLeft} {
		got, want := slices.Clone(before), slices.Clone(before)
		for i := range h {
			for j := range w {
				sum := int32(0)
				for q := range quads {
					for e := range 4 {
						x, y := a[i*row+q*step+e], b[q*ldb+4*j+e]
						if signed == 1 {
							sum += int32(int8(x)) * int32(y)
						} else {
							sum += int32(x) * int32(int8(y))
						}
					}
				}
				if add {
					sum += want[i*ldc+j]
				}
				want[i*ldc+j] = sum
			}
		}
		mul(h, w, quads, a, row, step, b, ldb, got, ldc, add)
		same(t, s.Name, "product", got, want, signed, h, w, quads, row, step, ldb, add)
	}
}

func testInterleave(t *testing.T, s *Loops, rng *rand.Rand) {
	n, count, flip := rng.IntN(70), rng.IntN(5), uint8(rng.IntN(2)*128)
	dstStep, srcStep := 4*n+rng.IntN(9), n+rng.IntN(9)
	src := someBytes(rng, max(0, (4*count-1)*srcStep)+n)
	got := someBytes(rng, count*dstStep+3)
	want := slices.Clone(got)
	for g := range count {
		for i := range n {
			for e := range 4 {
				want[g*dstStep+4*i+e] = src[(4*g+e)*srcStep+i] ^ flip
			}
		}
	}
	s.Integer.Interleave(got, src, n, count, dstStep, srcStep, flip)
	same(t, s.Name, "interleave", got, want, n, count, dstStep, srcStep, flip)
}

func testTapQuads(t *testing.T, s *Loops, rng *rand.Rand) {
	n, stride, taps := rng.IntN(50), 1+rng.IntN(6), rng.IntN(6)
	offsets, last := make([]int, taps), 0
	for i := range offsets {
		offsets[i] = rng.IntN(100)
		last = max(last, offsets[i])
	}
	x, weights := someBytes(rng, last+max(0, n-1)*stride+TapSlack), someBytes(rng, 4*taps)
	got := someSums(rng, n+2)
	want := slices.Clone(got)
	for i := range n {
		want[i] = 0
		for tap, at := range offsets {
			for e := range 4 {
				want[i] += int32(int8(weights[4*tap+e])) * int32(x[i*stride+at+e])
			}
		}
	}
	s.Integer.TapQuads(got[:n], x, stride, offsets, weights)
	same(t, s.Name, "quads of taps", got, want, n, stride, offsets)
}

func testRequantize(t *testing.T, s *Loops, rng *rand.Rand) {
	n, signed := rng.IntN(300), rng.IntN(2) == 0
	sums, add, base, scale := someSums(rng, n), someSums(rng, max(n, 1)), someSums(rng, 1)[0], make([]float32, max(n, 1))
	for i := range scale {
		scale[i] = float32(math.Exp2(rng.Float64()*40 - 38))
		switch rng.IntN(8) {
		case 0:
			scale[i] = []float32{0, 0.5, -0.25, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), math.MaxFloat32}[rng.IntN(7)]
		case 1:
			scale[i] = 0.5 // halves
		}
	}
	if rng.IntN(2) == 0 {
		add = add[:1]
	}
	if rng.IntN(2) == 0 {
		scale = scale[:1]
	}
	shifted := slices.Clone(sums)
	s.Integer.ShiftSums(shifted, add, base)
	for i, v := range sums {
		if want := v + add[i%len(add)] + base; shifted[i] != want {
			t.Fatalf("%s: shifting sum %d of %d gives %d, want %d", s.Name, i, n, shifted[i], want)
		}
	}
	least, most := 0, 255
	if signed {
		least, most = -128, 127
	}
	zero := least + rng.IntN(256)
	got := someBytes(rng, n+2)
	want := slices.Clone(got)
	for i := range n {
		v := float64(float32(shifted[i]) * scale[i%len(scale)])
		y := math.Min(math.Max(math.RoundToEven(v)+float64(zero), float64(least)), float64(most))
		if v != v {
			y = float64(least)
		}
		want[i] = uint8(int(y))
	}
	s.Integer.Requantize(got[:n], sums, add, base, scale, int32(zero), signed)
	same(t, s.Name, "requantize", got, want, n, len(add), scale, zero, signed)
}

func testQuantize(t *testing.T, s *Loops, rng *rand.Rand) {
	n, signed := rng.IntN(70), rng.IntN(2) == 0
	least := map[bool]float64{true: -128, false: 0}[signed]
	number := func(b uint8) float64 {
		if signed {
			return float64(int8(b))
		}
		return float64(b)
	}
	nearest := func(v float32, zero float64) uint8 {
		if v != v {
			return uint8(int(least))
		}
		return uint8(int(math.Min(math.Max(math.RoundToEven(float64(v))+zero, least), least+255)))
	}
	x, scales, zeros := make([]float32, n), [3]float32{}, [3]float64{}
	for i := range scales {
		scales[i], zeros[i] = float32(math.Exp2(rng.Float64()*10-9)), least+float64(rng.IntN(256))
	}
	if rng.IntN(9) == 0 {
		scales[rng.IntN(3)] = []float32{0, float32(math.NaN()), float32(math.Inf(1)), -1}[rng.IntN(4)]
	}
	for i := range x {
		x[i] = float32(rng.NormFloat64() * 100)
		switch rng.IntN(9) {
		case 0:
			x[i] = float32(rng.IntN(64)) / 2 * scales[0] // halves among them
		case 1:
			x[i] = []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32}[rng.IntN(4)]
		}
	}
	scale, zero := scales[0], int32(zeros[0])
	got := someBytes(rng, n+2)
	want := slices.Clone(got)
	for i, v := range x {
		want[i] = nearest(v/scale, zeros[0])
	}
	s.Integer.Quantize(got[:n], x, scale, zero, signed)
	same(t, s.Name, "quantize", got, want, x, scale, zero, signed)

	a, b := someBytes(rng, n), someBytes(rng, n)
	y := make([]float32, n+2)
	s.Integer.Dequantize(y[:n], a, scale, zero, signed)
	for i, v := range a {
		if want := float32(number(v)-zeros[0]) * scale; math.Float32bits(y[i]) != math.Float32bits(want) && want == want {
			t.Fatalf("%s: dequantize %d by %v and %d, signed %v, gives %v, want %v", s.Name, v, scale, zero, signed, y[i], want)
		}
		left, right := float32(number(v)-zeros[0])*scales[0], float32(number(b[i])-zeros[1])*scales[1]
		sum := left + right
		want[i] = nearest(sum/scales[2], zeros[2])
	}
	if y[n] != 0 {
		t.Fatalf("%s: dequantize wrote beyond the end", s.Name)
	}
	s.Integer.AddQuantized(got[:n], a, b, scales[0], scales[1], scales[2], zero, int32(zeros[1]), int32(zeros[2]), signed)
	same(t, s.Name, "add", got, want, scales, zeros, signed)
}

// BenchmarkIntegerTile says how many multiplications of bytes a full tile does.
func BenchmarkIntegerTile(b *testing.B) {
	for _, s := range Sets() {
		b.Run(s.Name, func(b *testing.B) {
			tile, quads := s.Integer, 128
			a, x, c := make([]uint8, 4*tile.Rows*quads), make([]uint8, 4*tile.Cols*quads), make([]int32, tile.Rows*tile.Cols)
			for b.Loop() {
				tile.SignedLeft(tile.Rows, tile.Cols, quads, a, 4, 4*tile.Rows, x, 4*tile.Cols, c, tile.Cols, true)
			}
			b.ReportMetric(float64(tile.Rows*tile.Cols*4*quads)*float64(b.N)/1e9/b.Elapsed().Seconds(), "GMAC/s")
		})
	}
}
