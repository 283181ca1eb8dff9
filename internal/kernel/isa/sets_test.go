package isa

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth/internal/kernel"
)

// TestChoose: a set is chosen by name, the best without one, and a name that no
// set has is an error that lists what there is.
func TestChoose(t *testing.T) {
	fast, slow := &Loops{Name: "fast"}, &Loops{Name: "slow"}
	sets := []*Loops{fast, slow}
	for name, want := range map[string]*Loops{"": fast, "fast": fast, "slow": slow, "other": fast} {
		got, err := choose(name, sets)
		if got != want || (err != nil) != (name == "other") {
			t.Errorf("%q chooses %v, error %v", name, got.Name, err)
		}
		if err != nil && !strings.Contains(err.Error(), "BERTH_ISA=other: this machine has the instruction sets fast, slow") {
			t.Errorf("error %v", err)
		}
	}
	if all := Sets(); all[len(all)-1] != &Generic || !slices.Contains(all, Active()) {
		t.Errorf("the sets are %v, and %v is active", all, Active())
	}
}

// TestComplete: no set lacks a loop.
func TestComplete(t *testing.T) {
	for _, s := range Sets() {
		for _, tile := range []any{s.Float32, s.Float64} {
			v := reflect.ValueOf(tile)
			for _, f := range reflect.VisibleFields(v.Type()) {
				if v.FieldByIndex(f.Index).IsZero() && f.Name != "WideRows" {
					t.Errorf("%s: %v lacks %s", s.Name, v.Type(), f.Name)
				}
			}
		}
		if w := s.Winograd; w.InRows == nil || w.InCols == nil || w.OutRows == nil || w.OutCols == nil {
			t.Errorf("%s: transforms lack a loop: %+v", s.Name, w)
		}
		if s.Exp == nil {
			t.Errorf("%s has no exponential", s.Name)
		}
		if b := s.Integer; b.SignedLeft == nil || b.SignedRight == nil || b.Interleave == nil || b.TapQuads == nil || b.ShiftSums == nil || b.Requantize == nil ||
			b.Quantize == nil || b.Dequantize == nil || b.AddQuantized == nil {
			t.Errorf("%s: products of bytes lack a loop: %+v", s.Name, b)
		}
	}
}

// TestTiles: the loops of products equal the plain loops that they state, and
// read and write nothing else. Elements are small integers, so that no set
// rounds.
func TestTiles(t *testing.T) {
	for _, s := range Sets() {
		testTile(t, s.Name, s.Float32)
		testTile(t, s.Name, s.Float64)
	}
}

func testTile[T kernel.Float](t *testing.T, name string, tile Tile[T]) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 4))
	some := func(n int) []T {
		x := make([]T, n)
		for i := range x {
			x[i] = T(rng.IntN(9) - 4)
		}
		return x[:n:n]
	}
	check := func(what string, got, want []T, args ...int) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Fatalf("%s, %T: %s %v gives %v, want %v", name, got, what, args, got, want)
		}
	}
	for range 300 {
		h, w, k, add := 1+rng.IntN(tile.Rows), 1+rng.IntN(tile.Cols), 1+rng.IntN(20), rng.IntN(2) == 0
		if rng.IntN(4) == 0 {
			k += rng.IntN(4 * Chain)
		}
		ldb, ldc := tile.Cols+rng.IntN(3), w+rng.IntN(3)
		a, b, c := some(tile.Rows*k), some((k-1)*ldb+tile.Cols), some((h+1)*ldc)
		want := slices.Clone(c)
		for i := range h {
			for j := range w {
				var sum T
				for p := range k {
					sum += a[p*tile.Rows+i] * b[p*ldb+j]
				}
				if add {
					sum += want[i*ldc+j]
				}
				want[i*ldc+j] = sum
			}
		}
		again := slices.Clone(c)
		tile.Mul(h, w, k, a, b, ldb, c, ldc, add)
		check("mul", c, want, h, w, k)

		// The left matrix lies by rows, by columns, or somehow between; the right one may be
		// two strips, one behind the other or side by side.
		next := ldb*k + rng.IntN(9)
		wide := tile.WideRows > 0 && rng.IntN(2) == 0
		if wide {
			h, w = 1+rng.IntN(tile.WideRows), tile.Cols+1+rng.IntN(tile.Cols)
			if rng.IntN(2) == 0 {
				next, ldb = tile.Cols, 2*tile.Cols+rng.IntN(3)
			}
			ldc = w + rng.IntN(3)
			b, c, want = some(next+(k-1)*ldb+tile.Cols), some((h+1)*ldc), make([]T, (h+1)*ldc)
			again = slices.Clone(c)
			copy(want, c)
		}
		right := func(p, j int) T {
			if j >= tile.Cols {
				return b[next+p*ldb+j-tile.Cols]
			}
			return b[p*ldb+j]
		}
		rowA, colA := 1+rng.IntN(3*k), 1+rng.IntN(3*tile.Rows)
		left := some((h-1)*rowA + (k-1)*colA + 1)
		for i := range h {
			for j := range w {
				sum := again[i*ldc+j]
				if !add {
					sum = 0
				}
				for p := range k {
					sum += left[i*rowA+p*colA] * right(p, j)
				}
				want[i*ldc+j] = sum
			}
		}
		tile.MulFrom(h, w, k, left, rowA, colA, Strips[T]{b, ldb, next, b[rng.IntN(len(b)):]}, again, ldc, add)
		check("mul in place", again, want, h, w, k, rowA, colA)

		lanes, lane := 1+rng.IntN(tile.Cols), k+rng.IntN(3)
		width := lanes + rng.IntN(3)
		across, lines := some(k*width), some((lanes-1)*lane+k)
		want = slices.Clone(across)
		for l := range lanes {
			for p := range k {
				want[p*width+l] = lines[l*lane+p]
			}
		}
		tile.Transpose(across, lines, lanes, lane, k, width)
		check("transpose", across, want, lanes, lane, k, width)

		var taps Taps
		for range k {
			taps.Append(rng.IntN(100))
		}
		b, c = some(taps.last+kernel.CeilDiv(w, tile.Cols)*tile.Cols), some((h+1)*ldc)
		want = slices.Clone(c)
		for i := range h {
			for j := range w {
				var sum T
				for p, at := range taps.offsets {
					sum += a[p*tile.Rows+i] * b[at+j]
				}
				if add {
					sum += want[i*ldc+j]
				}
				want[i*ldc+j] = sum
			}
		}
		tile.MulTaps(h, w, a, b, taps, c, ldc, add)
		check("mul taps", c, want, h, w, k)

		if !wide {
			h = 1 + rng.IntN(tile.WindowRows)
		}
		row := rng.IntN(50)
		bias := some(w * rng.IntN(2))
		tiles := 1 + rng.IntN(3)
		left, b, c = some((h*tiles-1)*row+taps.last+1), some(2*k*tile.Cols), some((h*tiles+1)*ldc)
		want = slices.Clone(c)
		for i := range h * tiles {
			for j := range w {
				var sum T
				for p, at := range taps.offsets {
					sum += left[i*row+at] * b[(j/tile.Cols*k+p)*tile.Cols+j%tile.Cols]
				}
				if add {
					sum += want[i*ldc+j]
				}
				if len(bias) > 0 {
					sum += bias[j]
				}
				want[i*ldc+j] = sum
			}
		}
		tile.MulWindows(h, tiles, w, left, row, taps, Strips[T]{b, tile.Cols, k * tile.Cols, nil}, bias, c, ldc, add)
		check("mul windows", c, want, h, tiles, w, k, row)

		h = 1 + rng.IntN(tile.Rows)
		n := 1 + rng.IntN(100)
		dstStep, srcStep := n+rng.IntN(3), 2*n-1+rng.IntN(3)
		src, dst := some((h-1)*srcStep+2*n-1), some(h*dstStep)
		want = slices.Clone(dst)
		for r := range h {
			for i := range n {
				want[r*dstStep+i] = src[r*srcStep+2*i]
			}
		}
		tile.Pick(dst, src, h, dstStep, srcStep, n)
		check("pick", dst, want, h, n)

		n = 1 + rng.IntN(tile.Cols)
		to := 1 + rng.IntN(n)
		from := rng.IntN(to)
		dstStep, srcStep = n+rng.IntN(3), to-from+rng.IntN(3)
		src, dst = some((h-1)*srcStep+to-from), some(h*dstStep)
		want = slices.Clone(dst)
		for r := range h {
			for i := range n {
				want[r*dstStep+i] = 0
				if from <= i && i < to {
					want[r*dstStep+i] = src[r*srcStep+i-from]
				}
			}
		}
		tile.Spread(dst, src, h, dstStep, srcStep, from, to, n)
		check("spread", dst, want, h, from, to, n)
	}
}

// TestVectors: products of a vector and a matrix have the bits that [Tile.Mul] gives
// them, in every set, and write nothing else. The portable ones are the plain loops.
func TestVectors(t *testing.T) {
	for _, s := range Sets() {
		testVectors(t, s.Name, s.Float32)
		testVectors(t, s.Name, s.Float64)
	}
}

func testVectors[T kernel.Float](t *testing.T, name string, tile Tile[T]) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 5))
	some := func(n int) []T {
		x := make([]T, n)
		for i := range x {
			x[i] = T(rng.NormFloat64())
		}
		return x[:n:n]
	}
	for range 200 {
		n, k, add := 1+rng.IntN(3*tile.Cols), 1+rng.IntN(5*Chain), rng.IntN(2) == 0
		if rng.IntN(4) == 0 {
			n += 8 * tile.Cols
		}
		a, c := some(k), some(n+1)
		want := slices.Clone(c)
		ldb := n + rng.IntN(3)
		b := some((k-1)*ldb + n)
		strip := make([]T, k*tile.Cols)
		mul := func(element func(p, j int) T, add bool) {
			for j := 0; j < n; j += tile.Cols {
				w := min(tile.Cols, n-j)
				for p := range k {
					for l := range w {
						strip[p*tile.Cols+l] = element(p, j+l)
					}
				}
				tile.MulFrom(1, w, k, a, 0, 1, Strips[T]{Data: strip, Row: tile.Cols}, want[j:j+w], w, add)
			}
		}
		mul(func(p, j int) T { return b[p*ldb+j] }, add)
		tile.MulRow(n, k, a, b, ldb, c, add)
		if !slices.Equal(c, want) {
			t.Fatalf("%s, %T: a row by %d rows of %d gives %v, want %v", name, a, k, n, c, want)
		}

		ldb = k + rng.IntN(3)
		b = some((n-1)*ldb + k)
		mul(func(p, j int) T { return b[j*ldb+p] }, false)
		tile.Dots(n, k, a, b, ldb, c)
		if !slices.Equal(c, want) {
			t.Fatalf("%s, %T: %d dot products of %d terms are %v, want %v", name, a, n, k, c, want)
		}
	}
}

// TestExpShift: every set gives the bits of expShift32, for every kind of float32, and
// writes nothing else. These are within 1.2 units in the last place.
func TestExpShift(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 1 << 12
	x, shift, got := make([]float32, n), make([]float32, n), make([]float32, n+1)
	worst := 0.
	for range 50 {
		for i := range n {
			x[i], shift[i] = float32(rng.NormFloat64()*40), float32(rng.NormFloat64())
			switch rng.IntN(8) {
			case 0: // any number, NaN or infinity
				x[i], shift[i] = math.Float32frombits(rng.Uint32()), math.Float32frombits(rng.Uint32())
			case 1: // with the difference near where it is far from exact
				shift[i] = x[i] + float32(rng.NormFloat64())
			}
		}
		size := rng.IntN(n + 1)
		for _, s := range Sets() {
			for _, scalars := range []int{0, 0b10} {
				m := kernel.Bytes(shift[:max(size, 1)])
				if scalars != 0 {
					m = m[:4]
				}
				for _, inPlace := range []bool{false, true} {
					src := x[:size]
					if inPlace {
						src = append(got[:0], src...)
					}
					got[size] = 7
					s.Maps[MapKey{"exp_shift", 32, scalars}](kernel.Bytes(got[:size]), kernel.Bytes(src), m, nil, nil)
					for i := range size {
						by := shift[i]
						if scalars != 0 {
							by = shift[0]
						}
						want := expShift32(x[i], by)
						if math.Float32bits(got[i]) != math.Float32bits(want) && (got[i] == got[i] || want == want) {
							t.Fatalf("%s, shifts as %b: exp(%v - %v) is %v, expShift32 gives %v", s.Name, scalars, x[i], by, got[i], want)
						}
						exact := math.Exp(float64(x[i]) - float64(by))
						if math.IsNaN(exact) != (want != want) || (exact > math.MaxFloat32) != (want > math.MaxFloat32) {
							t.Fatalf("exp(%v - %v) is %v, want %v", x[i], by, want, exact)
						}
						if exact <= math.MaxFloat32 {
							unit := float64(math.Nextafter32(float32(exact), math.MaxFloat32)) - float64(float32(exact))
							worst = max(worst, math.Abs(float64(want)-exact)/unit)
						}
					}
					if got[size] != 7 {
						t.Fatalf("%s, shifts as %b: wrote beyond the end", s.Name, scalars)
					}
				}
			}
		}
	}
	if worst > 1.2 {
		t.Errorf("off by %v units in the last place, want at most 1.2", worst)
	}
}

// TestExp: every set gives the bits of exp64, for numbers of any size, and writes
// nothing else.
func TestExp(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	const n = 1 << 12
	x, got := make([]float64, n+1), make([]float64, n+1)
	edges := []float64{0, math.Copysign(0, -1), ExpRange, -ExpRange, math.Inf(1), math.Inf(-1), math.NaN(),
		math.Nextafter(ExpRange, 400), math.Nextafter(-ExpRange, -400), math.MaxFloat64, -math.MaxFloat64}
	for range 50 {
		for i := range n {
			switch x[i] = rng.NormFloat64() * 150; rng.IntN(8) {
			case 0:
				x[i] = math.Float64frombits(rng.Uint64())
			case 1:
				x[i] = edges[rng.IntN(len(edges))]
			}
		}
		size := rng.IntN(n + 1)
		for _, s := range Sets() {
			copy(got, x)
			s.Exp(got[:size])
			for i, v := range x[:size] {
				want := exp64(v)
				if math.Float64bits(got[i]) != math.Float64bits(want) && (got[i] == got[i] || want == want) {
					t.Fatalf("%s: exp(%v) is %v, exp64 gives %v", s.Name, v, got[i], want)
				}
			}
			for i, v := range x[size:n] {
				if math.Float64bits(got[size+i]) != math.Float64bits(v) {
					t.Fatalf("%s: wrote element %d of %d", s.Name, size+i, size)
				}
			}
		}
	}
}

// TestExpChunkStays: a buffer on the stack stays there.
func TestExpChunkStays(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() {
		var x [16]float64
		ExpChunk(x[:])
		if x[0] != 1 {
			t.Fatal(x)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
